"""``bytepair report``: tokenizers side by side, as one file of HTML."""

from pathlib import Path
from typing import Annotated

import typer

from bytepair import FormatError
from bytepair._files import check_writable, refuse_no_name, write

from .options import LoadingOptions
from .spreading import spread

__all__ = ["report"]

Arguments = Annotated[
    list[Path],
    typer.Argument(
        metavar="TOKENIZER",
        help="One tokenizer or several, which stand side by side.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to save the report: an .html file.",
        show_default=False,
    ),
]


@spread
def report(
    arguments: Arguments,
    *,
    output: Output,
    loading: LoadingOptions,
) -> None:
    """Write what is known of tokenizers as one HTML file."""
    from bytepair.analyze import describe
    from bytepair.views.report import check_libraries, render

    check_output(output)
    check_libraries()
    tokenizers = loading.load_all(arguments)
    names = map(str, arguments)
    page = render(describe(dict(zip(names, tokenizers, strict=True))))
    write(output, page.encode())


def check_output(path: Path) -> None:
    """Refuse a path that is no page, or cannot be written."""
    refuse_no_name(path)
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"{path}: a report is an .html file; name one"
        raise FormatError(message)
    check_writable(path.parent)
