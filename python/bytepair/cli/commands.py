"""The commands: their names, their groups and their summaries, a line for each.

The command ``count-pieces`` is the function ``count_pieces`` of its module: ``count_pieces.py`` in this folder, or the
module that its entry names. A module is imported only when its command runs or its help is shown, so that no command
waits for the imports of another. Therefore the summary is repeated here; it is the first sentence of the function's
docstring.
"""

from importlib import import_module
from typing import NamedTuple

import click

__all__ = ["COMMANDS", "Entry"]

TRAIN = "Train"
USE = "Use"
LOOK = "Look inside"
VOCABULARY = "Change a vocabulary"
CHANGE = "Convert and check"


class Entry(NamedTuple):
    """A command in the list of commands."""

    name: str
    group: str
    summary: str
    module: str = ""
    """Its module, if that is not the one of its name beside this one."""

    def load(self) -> click.Command:
        """Import the command."""
        name = self.name.replace("-", "_")
        module = import_module(self.module or f"bytepair.cli.{name}")
        command: click.Command = getattr(module, name)
        return command


COMMANDS = (
    Entry("train", TRAIN, "Train a tokenizer on text files and save it."),
    Entry("count-pieces", TRAIN, "Count the pieces of a corpus, for training without the corpus."),
    Entry("demo", TRAIN, "Train on Python's own sources, then save, load, encode and decode."),
    Entry("encode", USE, "Encode text: one line of ids for the whole input, or one for each line."),
    Entry("decode", USE, "Decode ids to text: all ids at once, or each line of ids to a line of text."),
    Entry("shard", USE, "Tokenize a corpus into shards; running it again continues an interrupted run."),
    Entry("segment", USE, "Split words with subword-nmt or fastBPE codes: low@@ er."),
    Entry("info", LOOK, "Show the parts of a tokenizer and what it loses."),
    Entry("show", LOOK, "Show a text in tokens, a row for each tokenizer.", "bytepair.analyze._show.command"),
    Entry("trace", LOOK, "Show how a text becomes tokens: normalizing, splitting and each merge.", "bytepair.analyze._trace.command"),
    Entry("stats", LOOK, "Measure tokenizers on a corpus, side by side.", "bytepair.analyze._stats.command"),
    Entry("count-tokens", LOOK, "Count the tokens of a text, or of each file and in total."),
    Entry("compare", LOOK, "Compare two tokenizers: vocabularies, merges, parts, and the tokens of a corpus.", "bytepair.analyze._compare.command"),
    Entry("report", LOOK, "Write a report about tokenizers as one HTML file.", "bytepair.analyze._report.command"),
    Entry("playground", LOOK, "Encode, trace and train in the browser; nothing leaves your machine."),
    Entry("extend", VOCABULARY, "Add tokens from a corpus, a list of strings or another tokenizer; all old ids stay."),
    Entry("prune", VOCABULARY, "Remove the tokens that a corpus needs least."),
    Entry("remove", VOCABULARY, "Remove tokens, such as glitch tokens, and the tokens built on them."),
    Entry("convert", CHANGE, "Write a tokenizer in another format, read it back, and compare both."),
    Entry("doctor", CHANGE, "Find faults in a tokenizer; the exit code is 1 if there are any.", "bytepair.analyze.doctor._command"),
)  # fmt: skip
