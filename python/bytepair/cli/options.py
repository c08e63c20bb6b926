"""Arguments and options that several commands share."""

from collections.abc import Sequence
from pathlib import Path

import click

from bytepair import dialects, encodings, patterns
from bytepair._io.saving import FORMATS

from .command import DISPLAY, LOADING, Argument, Option, completing
from .tokenizers_first import TokenizerPath

NUMBER_FORMATS = "[text|pieces|json|uint16|uint32]"
"""How ids are written."""
ADDED_TOKENS = Option(
    "--added-tokens [find|text]",
    "Find added tokens in the text (special ones only if allowed), or treat all of them as plain "
    "text. The default is find.",
)
ALLOWED_SPECIAL = Option(
    "--allowed-special TOKEN...",
    "A special token to find in the text, or 'all'; other special tokens are plain text. May be "
    "repeated.",
    parse=lambda names: "all" if "all" in names else names,
)
TOKENIZER = Argument(
    "tokenizer_path",
    "TOKENIZER",
    "A file (tokenizer.json, .bytepair, .tiktoken, .model, tekken.json, .gguf, codes), a folder with such "
    "files, or the name of a published tokenizer: gpt-4o, cl100k_base, openai/gpt-oss-20b.",
    type=TokenizerPath(),
    reads=True,
)
OUTPUT = Option(
    "-o, --output FILE",
    "The file to write; - is standard output, which is the default.",
    writes=True,
)
QUIET = Option("-q, --quiet", "Show no progress and no summary.", group=DISPLAY)
JSON = Option(
    "--json",
    "Write the result as JSON to standard output.",
    name="as_json",
    group=DISPLAY,
)
LINES = Option("--lines", "Treat each line as a separate text.")
FORMAT = Option(
    "--format FORMAT",
    "The format to write, if the extension does not determine it: "
    f"{', '.join(FORMATS)}.",
    shell_complete=completing(lambda: FORMATS),
)


def new_tokenizer(*, required: bool = True) -> Option:
    """Declare the option that says where a new tokenizer is saved."""
    return Option(
        "-o, --output OUT",
        "Where to save. The extension sets the format: .json (Hugging Face), .bytepair, "
        ".bytepair-compiled, .tiktoken or .model (SentencePiece); a name without one is a "
        "folder for vocab.json and merges.txt. bytepair convert --format writes others.",
        required=required,
        type=Path,
        writes=True,
    )


def one_pattern(patterns: Sequence[str]) -> str | Sequence[str]:
    """Return the patterns of an option; a single empty one splits nothing."""
    return "" if patterns == ("",) else patterns


def codes_of(typed: Sequence[str]) -> list[str]:
    """Return codes of findings, which may be separated by commas.

    >>> codes_of(["BP1,bp203", "BP5"])
    ['BP1', 'BP203', 'BP5']
    """
    return [code.strip().upper() for codes in typed for code in codes.split(",")]


def special_ids(values: Sequence[str]) -> dict[str, int]:
    """Return the id of each token from values ``TOKEN=ID``.

    >>> special_ids(["<|end|>=100257", "a=b=7"])
    {'<|end|>': 100257, 'a=b': 7}
    """
    found = {}
    for value in values:
        token, _, number = value.rpartition("=")
        if not (token and number.isascii() and number.isdigit()):
            message = f"{value!r} is not TOKEN=ID, such as '<|end|>=100257'"
            raise click.BadParameter(message)
        found[token] = int(number)
    return found


LOADING_OPTIONS = (
    Option(
        "--dialect NAME",
        "The dialect of a .tiktoken file without its sidecar .tiktoken.json.",
        shell_complete=completing(dialects),
        group=LOADING,
    ),
    Option(
        "--pattern REGEX...",
        "The split pattern of such a .tiktoken file, of a .gguf file or of vocab.json with "
        "merges.txt, in place of the one that they name: a regular expression or the name of a "
        "pattern; '' splits nothing. May be repeated; patterns apply one after the other.",
        parse=one_pattern,
        shell_complete=completing(patterns),
        group=LOADING,
    ),
    Option(
        "--special TOKEN=ID...",
        "With --dialect or --pattern: a special token of a .tiktoken file, and its id. May be "
        "repeated.",
        name="special_tokens",
        parse=special_ids,
        group=LOADING,
    ),
    Option(
        "--encoding NAME",
        "The encoding, such as o200k_harmony, if several encodings share a published rank file.",
        shell_complete=completing(encodings),
        group=LOADING,
    ),
)
"""Options for what a tokenizer file leaves out, as for :meth:`bytepair.Tokenizer.from_file`."""
