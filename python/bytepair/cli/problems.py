"""Errors and remarks on standard error; an error begins with ``bytepair:`` and says what to do.

On a terminal the beginning is red. Control characters in both, such as in names of
files, are written as escapes.
"""

import re
import sys

import click

from bytepair._labels import harmless
from bytepair._terminal import has_colours, paint

__all__ = ["INSTEAD", "remark", "tell", "tell_usage"]

OTHER_NAMES = {
    "compare": "diff",
    "convert": "export import save",
    "count-tokens": "tokens wc",
    "decode": "detokenize untokenize",
    "demo": "example quickstart",
    "doctor": "check lint test validate",
    "extend": "add",
    "info": "describe dump inspect list merges vocab",
    "playground": "gui serve ui web",
    "remove": "delete drop",
    "report": "html",
    "segment": "apply-bpe apply_bpe split",
    "shard": "pretokenize preprocess",
    "show": "color colour view visualize viz",
    "stats": "analyze bench eval evaluate fertility measure metrics",
    "trace": "debug explain why",
    "train": "fit learn learn-bpe learn_bpe spm_train",
}
"""Names that people try for a command."""
OTHER_OPTIONS = {
    "--add-special-tokens": "--add-bos --add-eos --bos --eos",
    "--dialect": "--model-type",
    "--merges": "--num-merges --num-symbols --symbols -s",
    "--min-count": "--min-freq --min-frequency",
    "--output": "--model-prefix --out --output-dir --save",
    "--pattern": "--pre-tokenizer --regex --split",
    "--special": "--control-symbols --special-tokens --user-defined-symbols",
    "--to": "--keep",
    "--vocab-size, --add or --to": "--size --vocab-size",
    "2>/dev/null": "--quiet -q",
    "the file of merges as the first argument": "--codes -c",
    "the names of the files": "--corpus --data --dataset --files --input",
    "the tokenizer as the first argument": "--model --tokenizer -m -t",
}
"""Names that people try for an option or an argument."""
INSTEAD = (
    {
        other: f"bytepair {name}"
        for name, others in OTHER_NAMES.items()
        for other in others.split()
    }
    | {
        other: instead
        for instead, others in OTHER_OPTIONS.items()
        for other in others.split()
    }
    | {
        "chat": "bytepair.chat in Python, or bytepair count-tokens",
        "count": "bytepair count-tokens, or bytepair count-pieces for training",
        "download": "bytepair info ORGANIZATION/MODEL",
        "fetch": "bytepair info ORGANIZATION/MODEL",
        "help": "bytepair --help",
        "tokenize": "bytepair encode, or bytepair shard for a corpus",
        "version": "bytepair --version",
        "verify": "bytepair compare A B --exit-code",
        "merge-vocabularies": "bytepair extend BASE --from OTHER",
        "completion": "_BYTEPAIR_COMPLETE=bash_source bytepair",
        "merge": "bytepair extend BASE --from OTHER",
        "plot": "bytepair report TOKENIZER --log LOG -o OUT.html",
        "--corpus-format": "--input-format",
        "--mark-at": "--begin-of-document or --end-of-document",
        "--to": "--format",
        "--lines": "--input-format lines",
        "--document-separator": "JSON lines",
        "--separator": "--document-separator, or JSON lines",
        "--skip-bad": "a corpus without these lines, or bytepair count-pieces --skip-bad",
        "--dry-run": "the command without --output, which writes nothing",
        "--embedding-rows": "embedding_map(rows=...) in Python",
        "--threads": "taskset --cpu-list 0-3 bytepair …",
        "--memory-limit": "bytepair count-pieces --memory-limit first",
        "--format": "--json, or bytepair convert",
        "--ids-may-change": "bytepair convert --ids-may-change",
        "--embedding-kind": "embedding_map in Python",
        "--embedding-side": "embedding_map in Python",
        "--embedding-multiple-of": "embedding_map in Python",
        "--csv": "-o FILE.csv",
        "--added-tokens": 'added_tokens="text" in Python',
        "--parallel": "--baseline GROUP",
        "--metric": "-o FILE.csv, which has every metric by group",
        "--text": "the name of a file; for bytepair convert, --corpus FILE",
        "--color": "FORCE_COLOR=1 bytepair …",
        "--json": "--format json",
        "--verbose": "the command alone: a terminal shows what it does",
        "-i": "the name of the file",
        "--file": "the name of the file, or - < FILE",
        "--exit-zero": "|| true",
        "--install-completion": "_BYTEPAIR_COMPLETE=bash_source bytepair",
        "--show-completion": "_BYTEPAIR_COMPLETE=bash_source bytepair",
        "--max-changed-texts": "n_changed of bytepair compare --json",
        "--same-vocabulary": "bytepair compare A B --exit-code or --extends",
    }
)
"""What to use instead of commands that do not exist and options that a command does not have."""
RED = "1;31"


def tell(message: str) -> None:
    """Write an error."""
    begin = paint("bytepair:", RED, is_painted=has_colours(sys.stderr))
    over = "\r\x1b[K" if sys.stderr.isatty() else ""  # clears the progress line
    shown = harmless(message, kept="\n")
    print(f"{over}{begin} {shown}", file=sys.stderr)


def remark(*lines: str) -> None:
    """Write lines of a summary, such as the file that was saved."""
    print("\n".join(map(harmless, lines)), file=sys.stderr)


def tell_usage(error: click.UsageError) -> None:
    """Write an error of wrong usage, the usage of the command, and how to get its help."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        dashed = name.replace("_", "-")
        if dashed in (error.possibilities or ()):
            message = f"No such option '{name}'. Use {dashed}."
        elif instead := _instead_of(dashed, error.ctx):
            message = f"No such option '{name}'. Use {instead}."
        elif error.possibilities and [*error.possibilities] == ["--help"]:
            message = error.message  # --help is named below
    tell(message)
    if error.ctx is not None:
        print(f"\n{error.ctx.get_usage()}", file=sys.stderr)
        print(f"For more, see: {error.ctx.command_path} --help", file=sys.stderr)


def _instead_of(option: str, context: click.Context | None) -> str:
    """Return what to use instead of an option; of other options, only those that the command has."""
    instead = INSTEAD.get(option, "")
    if context is None or not instead.startswith("--"):
        return instead
    own = {name for parameter in context.command.params for name in parameter.opts}
    several = re.split(", (?:or )?| or ", instead)
    return " or ".join(
        one for one in several if one[:2] != "--" or one.split()[0] in own
    )
