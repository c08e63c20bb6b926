"""Arguments that begin with tokenizers: separating these from the rest, and naming them."""

from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import click

from bytepair import Tokenizer, TokenizerError
from bytepair._io import hub, published
from bytepair._io.loading import is_missing, is_tokenizer
from bytepair._io.recognising import names_of

from .command import Option
from .problems import remark

__all__ = [
    "TOKENIZERS",
    "TokenizerPath",
    "load_all",
    "short_names",
    "told_apart",
]


class TokenizerPath(click.ParamType[Path]):
    """The path or the name of a tokenizer, whose files are fetched if they are not there."""

    name = "tokenizer"

    def convert(
        self,
        value: str | Path,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the path."""
        return fetched(Path(value))


def fetched(path: Path) -> Path:
    """Return the path; fetch a model of the Hugging Face Hub with this name, if there is no such file."""
    name = path.as_posix()
    is_absent = is_missing(path) and published.find(name) is None
    if (
        is_absent
        and published.HUB_NAME.fullmatch(name)
        and find_spec("huggingface_hub")
    ):
        remark(f"fetching {name} from the Hugging Face Hub")
        hub.download(name, revision=None, local_files_only=False)
    return path


TOKENIZERS = Option(
    "--tokenizer TOKENIZER...",
    "A tokenizer; all arguments are then files of the corpus. May be repeated.",
    name="tokenizers",
    type=TokenizerPath(),
    reads=True,
)


def told_apart(
    arguments: list[str],
    tokenizers: list[Path] | None,
    *,
    may_be_nothing: bool = False,
) -> tuple[list[Path], list[str]]:
    """Split arguments into tokenizers and the rest, a corpus or a text.

    The first argument is a tokenizer, and so are the next ones, up to the first that is not.
    """
    if tokenizers:
        return list(map(fetched, tokenizers)), arguments
    first, *others = arguments or [""]
    if first in ("", "-"):
        message = f"{first!r} is not a tokenizer; tokenizers come first"
        raise TokenizerError(message)
    more = list(takewhile(lambda name: is_tokenizer(Path(name)), others))
    paths, rest = [fetched(Path(first)), *map(Path, more)], others[len(more) :]
    if not is_tokenizer(paths[0]):
        Tokenizer.from_file(first)  # says why it is none
        message = f"{first}: not a tokenizer; tokenizers come first"
        raise TokenizerError(message)
    if not rest and not may_be_nothing:
        message = (
            "give the files of a corpus after the tokenizers; if these files are tokenizers "
            "themselves, give the tokenizers with --tokenizer"
        )
        raise TokenizerError(message)
    return paths, rest


def short_names(paths: list[Path]) -> list[str]:
    """Return these names, or refuse a tokenizer that is named twice."""
    names = names_of(paths)
    if len(set(names)) == len(names):
        return names
    message = "a tokenizer is named twice"
    raise TokenizerError(message)


def load_all(paths: list[Path]) -> dict[str, Tokenizer]:
    """Load tokenizers, by their short names."""
    return dict(zip(short_names(paths), map(Tokenizer.from_file, paths), strict=True))
