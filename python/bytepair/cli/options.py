"""Arguments that several commands share."""

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bytepair import Tokenizer, dialects, encodings, patterns
from bytepair._io.loading import Options
from bytepair._io.saving import FORMATS

from .help_pages import DISPLAY, LOADING

__all__ = [
    "Added",
    "AddedTokens",
    "Format",
    "Input",
    "Json",
    "Lines",
    "LoadingOptions",
    "NewTokenizer",
    "NewTokenizerOrNone",
    "NumberFormat",
    "Output",
    "Quiet",
    "Texts",
    "TokenizerPath",
]


class NumberFormat(str, enum.Enum):
    """How ids are written."""

    TEXT = "text"
    PIECES = "pieces"
    JSON = "json"
    UINT16 = "uint16"
    UINT32 = "uint32"


class Added(str, enum.Enum):
    """What becomes of added tokens that a text contains."""

    FIND = "find"
    TEXT = "text"


AddedTokens = Annotated[
    Added,
    typer.Option(
        help="Find added tokens in the text (special ones only if allowed), or treat all of "
        "them as plain text."
    ),
]
TokenizerPath = Annotated[
    Path,
    typer.Argument(
        metavar="TOKENIZER",
        help="A tokenizer.json, .bytepair or .tiktoken file, or a folder with "
        "vocab.json and merges.txt.",
        show_default=False,
    ),
]
Input = Annotated[
    str, typer.Argument(metavar="[FILE]", help="The file to read; - is standard input.")
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file to write; - is standard output.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Show no progress and no summary.",
        rich_help_panel=DISPLAY,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Write the result as JSON to standard output.",
        rich_help_panel=DISPLAY,
    ),
]
Lines = Annotated[
    bool, typer.Option("--lines", help="Treat each line as a separate text.")
]
DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        autocompletion=dialects,
        help="The dialect of a .tiktoken file without its sidecar .tiktoken.json.",
        show_default=False,
        rich_help_panel=LOADING,
    ),
]
SplitPattern = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        metavar="REGEX",
        autocompletion=patterns,
        help="The split pattern of such a .tiktoken file, of a .gguf file or of vocab.json with "
        "merges.txt, in place of one that these name: a regular expression or the name of a pattern; '' splits nothing. May be "
        "repeated; patterns apply one after the other.",
        show_default=False,
        rich_help_panel=LOADING,
    ),
]
SpecialIds = Annotated[
    list[str] | None,
    typer.Option(
        "--special",
        metavar="TOKEN=ID",
        help="With --dialect or --pattern: a special token of a .tiktoken file, and its id. "
        "May be repeated.",
        show_default=False,
        rich_help_panel=LOADING,
    ),
]
EncodingName = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        autocompletion=encodings,
        help="The encoding, such as o200k_harmony, if several encodings share a published rank "
        "file.",
        show_default=False,
        rich_help_panel=LOADING,
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="FILE",
        help="A text to compare, in addition to the built-in ones. May be repeated.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        autocompletion=lambda: list(FORMATS),
        help="The format to write, if the extension does not determine it: "
        f"{', '.join(FORMATS)}.",
        show_default=False,
    ),
]


WHERE = typer.Option(
    "--output",
    "-o",
    metavar="OUT",
    help="Where to save. The extension sets the format: .json (Hugging Face), .bytepair, "
    ".bytepair-compiled, .tiktoken or .model (SentencePiece); a name without one is a "
    "folder for vocab.json and merges.txt. bytepair convert --format writes others.",
    show_default=False,
)
NewTokenizer = Annotated[Path, WHERE]
NewTokenizerOrNone = Annotated[Path | None, WHERE]


@dataclass(frozen=True)
class LoadingOptions:
    """What a file of a tokenizer leaves out, for commands that describe or convert it."""

    dialect: DialectName = None
    pattern: SplitPattern = None
    special: SpecialIds = None
    encoding: EncodingName = None

    def options(self) -> Options:
        """Give them as :meth:`bytepair.Tokenizer.from_file` takes them."""
        special = None if self.special is None else dict(map(token_id, self.special))
        pattern = "" if self.pattern == [""] else self.pattern
        return Options(self.dialect, pattern, special, self.encoding)

    def load(self, path: Path) -> Tokenizer:
        """Load a tokenizer."""
        return Tokenizer.from_file(path, **self.options()._asdict())


def token_id(text: str) -> tuple[str, int]:
    """Read ``TOKEN=ID``.

    >>> token_id("<|end|>=100257"), token_id("a=b=7")
    (('<|end|>', 100257), ('a=b', 7))
    """
    token, equals, number = text.rpartition("=")
    if not (equals and token and number.isascii() and number.isdigit()):
        message = f"{text!r} is not TOKEN=ID, such as '<|end|>=100257'"
        raise typer.BadParameter(message, param_hint="--special")
    return token, int(number)
