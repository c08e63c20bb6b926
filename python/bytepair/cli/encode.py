"""``bytepair encode``: text to ids.

Without ``--lines`` the input is one text: it is read whole, unless raw numbers go to a
file, which takes bounded memory for each thread. With it, memory holds a few megabytes of
lines at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from bytepair import Tokenizer, TokenizerError, _core
from bytepair._added import names_of
from bytepair._numpy import np
from bytepair._plurals import amount

from .ids import RAW, check_width, format_ids
from .options import (
    Added,
    AddedTokens,
    Input,
    Lines,
    NumberFormat,
    Output,
    TokenizerPath,
)
from .pieces import Pieces
from .problems import remark
from .spreading import spread
from .streams import (
    line_batches,
    name_of,
    naming,
    reading,
    refuse_no_text,
    writing_to,
)
from .transfer import Transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["encode"]


@spread
def encode(
    tokenizer_path: TokenizerPath,
    file: Input = "-",
    *,
    output: Output = "-",
    number_format: Annotated[
        NumberFormat | None,
        typer.Option(
            "--format",
            help="Space-separated numbers, tokens as text (pieces), a JSON array, or raw "
            "little-endian numbers; by default raw numbers wide enough for all ids if the output "
            "ends in .npy or .bin, else text. Pieces show a space as ▁ and invisible "
            "characters as escapes; decode --format pieces reads them.",
            show_default=False,
        ),
    ] = None,
    lines: Lines = False,
    add_special_tokens: Annotated[
        bool,
        typer.Option(
            "--add-special-tokens",
            help="Add the special tokens that the tokenizer puts around a text.",
        ),
    ] = False,
    allowed_special: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A special token to find in the text, or 'all'; other special tokens are plain "
            "text. May be repeated.",
            show_default=False,
        ),
    ] = None,
    added_tokens: AddedTokens = Added.FIND,
) -> None:
    """Encode text: one line of ids for the whole input, or one for each line."""
    is_array = Path(output).suffix == ".npy"
    is_raw = number_format in RAW or (
        number_format is None and (is_array or Path(output).suffix == ".bin")
    )
    if lines and is_raw:
        message = "raw numbers do not show where a line ends; use --format text or --format json"
        raise typer.BadParameter(message, param_hint="--lines")
    if add_special_tokens and is_raw and (is_array or number_format is None):
        message = "give --format uint16 or --format uint32, and an output that does not end in .npy"
        raise typer.BadParameter(message, param_hint="--add-special-tokens")
    refuse_no_text(file)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    if add_special_tokens and adds_nothing(tokenizer):
        message = "has no effect: this tokenizer puts no tokens around a text, and neither cuts nor pads it"
        raise typer.BadParameter(message, param_hint="--add-special-tokens")
    names = allowed_special or []
    if names and added_tokens is Added.TEXT:
        message = "with --added-tokens text no token is found in the text; leave it out"
        raise typer.BadParameter(message, param_hint="--allowed-special")
    options: dict[str, Any] = {
        "allowed_special": "all" if "all" in names else names,
        "added_tokens": added_tokens.value,
    }
    held = Held(tokenizer if added_tokens is Added.TEXT else None)
    if number_format is not None:
        check_width(tokenizer, number_format)
    tokenizer.count("", **options)  # refuses bad names before any text is read
    transfer = Transfer("encoding", file, output)
    if is_raw and output != "-" and not add_special_tokens:
        dtype: Any = number_format.value if number_format else None
        tell = transfer.tell if transfer.is_shown else None
        done = tokenizer.encode_file(
            file, output, dtype=dtype, progress=tell, **options
        )
        if Path(file).is_file():
            held.look_at_file(file)
        transfer.finish(done.n_bytes, done.n_tokens)
        held.tell("text")
        return
    options["add_special_tokens"] = add_special_tokens
    write = writer(tokenizer, number_format or NumberFormat.TEXT)
    with reading(file) as source, writing_to(output) as target:
        if lines:
            batches = held.looked_at(transfer.counted(line_batches(source)))
            n_tokens = write_lines(
                tokenizer, batches, target, write, options, name_of(file)
            )
        else:
            with naming(name_of(file)):
                [text] = next(held.looked_at([[source.read()]]))
                transfer.begin(len(text))
                ids = tokenizer.encode_to_numpy(text, **options)
            n_tokens = len(ids)
            target.write(write(ids))
    transfer.finish(transfer.n_bytes, n_tokens)
    held.tell("line" if lines else "text")


def adds_nothing(tokenizer: Tokenizer) -> bool:
    """Tell whether a text gets the same ids with special tokens as without them.

    >>> import bytepair
    >>> adds_nothing(bytepair.train_from_iterator(["low"], vocab_size=256))
    True
    """
    around = (
        tokenizer.inspect().settings["template"],
        tokenizer.inspect().settings["truncation"],
        tokenizer.inspect().settings["padding"],
    )
    return around == (
        tokenizer.with_template(None).inspect().settings["template"],
        None,
        None,
    )


def writer(
    tokenizer: Tokenizer, number_format: NumberFormat
) -> Callable[["NDArray[np.uint32]"], bytes]:
    """Choose how the ids of a text are written."""
    if number_format is NumberFormat.PIECES:
        pieces = Pieces(tokenizer)
        return lambda ids: pieces.written(ids.tolist())
    return lambda ids: format_ids(ids, number_format)


class Held:
    """Counts the texts that hold the content of an added token, where that is text.

    Tokens that are white space are left out: nearly every text has some.
    """

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        names = ([], []) if tokenizer is None else names_of(tokenizer.added_tokens)
        self.names = [name for some in names for name in some]
        self.n_texts = 0

    def looked_at(
        self, batches: Iterable[Sequence[bytes]]
    ) -> Iterator[Sequence[bytes]]:
        """Give batches of texts, and count in passing."""
        for batch in batches:
            if self.names:
                data = np.frombuffer(b"".join(batch), np.uint8)
                self._look_at(data, [0, *accumulate(map(len, batch))])
            yield batch

    def look_at_file(self, path: str) -> None:
        """Count a file as one text."""
        n_bytes = Path(path).stat().st_size
        if self.names and n_bytes:
            self._look_at(np.memmap(path, np.uint8, "r"), [0, n_bytes])

    def _look_at(self, data: "NDArray[np.uint8]", ends: list[int]) -> None:
        offsets = np.array(ends, np.int64)
        column = data, offsets
        self.n_texts += _core.count_rows_holding(column, [self.names])[0]

    def tell(self, kind: str) -> None:
        """Say how many there were, if there were any."""
        if self.n_texts:
            found = f"{amount(self.n_texts, kind)} with the text of an added token"
            remark(f"{found}, encoded as plain text")


def write_lines(
    tokenizer: Tokenizer,
    batches: Iterable[Sequence[bytes]],
    target: BinaryIO,
    write: Callable[["NDArray[np.uint32]"], bytes],
    options: dict[str, Any],
    name: str,
) -> int:
    """Write the ids of each line as a line, and give their number."""
    n_lines = n_tokens = 0
    for batch in batches:
        try:
            ids, starts = tokenizer.encode_batch_to_numpy(batch, **options)
        except TokenizerError:
            for number, line in enumerate(batch, n_lines + 1):
                with naming(f"{name}: line {number}"):
                    tokenizer.count(line, **options)
            raise
        for start, end in pairwise(starts):
            target.write(write(ids[start:end]))
        n_lines += len(batch)
        n_tokens += len(ids)
    return n_tokens
