"""``bytepair encode``: text to ids.

Without ``--lines`` the input is one text. It is read whole, unless raw numbers are written
to a file; then each thread uses bounded memory. With ``--lines``, a few megabytes of lines
are in memory at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from bytepair import Tokenizer, TokenizerError, _core
from bytepair._added import names_of
from bytepair._numpy import np
from bytepair._plurals import amount

from .command import Option, command
from .ids import RAW, check_width, format_ids
from .options import (
    ADDED_TOKENS,
    ALLOWED_SPECIAL,
    LINES,
    NUMBER_FORMATS,
    OUTPUT,
    TOKENIZER,
)
from .pieces import Pieces
from .problems import remark
from .streams import line_batches, naming, writing_to
from .texts import TEXT, TEXT_OPTION, source_of
from .transfer import Transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["encode"]


@command(
    TOKENIZER,
    TEXT,
    TEXT_OPTION,
    OUTPUT,
    Option(
        f"--format {NUMBER_FORMATS}",
        "Space-separated numbers, tokens as text (pieces), a JSON array, or raw little-endian "
        "numbers; by default raw numbers wide enough for all ids if the output ends in .npy or "
        ".bin, else text. Pieces show a space as ▁ and invisible characters as escapes; decode "
        "--format pieces reads them.",
    ),
    LINES,
    Option(
        "--add-special-tokens",
        "Add the special tokens that the tokenizer puts around a text.",
    ),
    ALLOWED_SPECIAL,
    ADDED_TOKENS,
)
def encode(
    tokenizer_path: Path,
    arguments: list[str] | None = None,
    *,
    text: str | None = None,
    output: str = "-",
    format: str | None = None,
    lines: bool = False,
    add_special_tokens: bool = False,
    **options: Any,
) -> None:
    """Encode text: one line of ids for the whole input, or one for each line.

    $ bytepair encode tokenizer.json "Hello world"
    $ bytepair encode tokenizer.json corpus.txt -o ids.npy
    $ bytepair encode tokenizer.json --lines --format json < corpus.txt
    """
    is_array = Path(output).suffix == ".npy"
    is_raw = format in RAW or (
        format is None and (is_array or Path(output).suffix == ".bin")
    )
    problem = None
    if lines and is_raw:
        problem = (
            "--lines: raw numbers do not show where a line ends; use --format text or "
            "--format json"
        )
    if add_special_tokens and is_raw and (is_array or format is None):
        problem = (
            "--add-special-tokens: give --format uint16 or --format uint32, and an output that "
            "does not end in .npy"
        )
    is_text = options.get("added_tokens") == "text"
    if is_text and "allowed_special" in options:
        problem = (
            "--allowed-special: with --added-tokens text no token is found in the text; leave "
            "it out"
        )
    if problem is not None:
        raise click.UsageError(problem)
    source = source_of(arguments or [], text, output)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    if add_special_tokens and adds_nothing(tokenizer):
        message = (
            "--add-special-tokens has no effect: this tokenizer puts no tokens around a text, "
            "and neither cuts nor pads it"
        )
        raise click.UsageError(message)
    counter = AddedTextCounter(tokenizer if is_text else None)
    if format is not None:
        check_width(tokenizer, format)
    tokenizer.count("", **options)  # refuses bad names before any text is read
    transfer = Transfer("encoding", [source.path], output)
    if is_raw and output != "-" and not add_special_tokens:
        tell = transfer.tell if transfer.line.is_shown else None
        dtype: Any = format
        with source.as_file() as file:
            done = tokenizer.encode_file(
                file, output, dtype=dtype, progress=tell, **options
            )
            if Path(file).is_file():
                counter.count_file(file)
        transfer.finish(done.n_bytes, done.n_tokens)
        counter.report("text")
        return
    options["add_special_tokens"] = add_special_tokens
    write = writer(tokenizer, format or "text")
    with source.opened() as file, writing_to(output) as target:
        if lines:
            batches = counter.counted(transfer.counted(line_batches(file)))
            n_tokens = write_lines(
                tokenizer, batches, target, write, options, source.name
            )
        else:
            with naming(source.name):
                [data] = next(counter.counted([[file.read()]]))
                transfer.begin(len(data))
                ids = tokenizer.encode_to_numpy(data, **options)
            n_tokens = len(ids)
            target.write(write(ids))
    transfer.finish(transfer.n_bytes, n_tokens)
    counter.report("line" if lines else "text")


def adds_nothing(tokenizer: Tokenizer) -> bool:
    """Return whether a text has the same ids with and without ``--add-special-tokens``.

    >>> import bytepair
    >>> adds_nothing(bytepair.train_from_iterator(["low"], vocab_size=256))
    True
    """
    settings = tokenizer.inspect().settings
    plain = tokenizer.with_template(None).inspect().settings
    around = settings["template"], settings["truncation"], settings["padding"]
    return around == (plain["template"], None, None)


def writer(
    tokenizer: Tokenizer, number_format: str
) -> Callable[["NDArray[np.uint32]"], bytes]:
    """Return the function that writes the ids of a text."""
    if number_format == "pieces":
        pieces = Pieces(tokenizer)
        return lambda ids: pieces.written(ids.tolist())
    return lambda ids: format_ids(ids, number_format)


class AddedTextCounter:
    """Counts texts that contain an added token, where added tokens are plain text.

    Tokens of white space are left out, since nearly every text contains some.
    """

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        names = ([], []) if tokenizer is None else names_of(tokenizer.added_tokens)
        self.names = [name for some in names for name in some]
        self.n_texts = 0

    def counted(self, batches: Iterable[Sequence[bytes]]) -> Iterator[Sequence[bytes]]:
        """Yield batches of texts, and count their texts."""
        for batch in batches:
            if self.names:
                data = np.frombuffer(b"".join(batch), np.uint8)
                self._count(data, [0, *accumulate(map(len, batch))])
            yield batch

    def count_file(self, path: str) -> None:
        """Count a file as one text."""
        n_bytes = Path(path).stat().st_size
        if self.names and n_bytes:
            self._count(np.memmap(path, np.uint8, "r"), [0, n_bytes])

    def _count(self, data: "NDArray[np.uint8]", ends: list[int]) -> None:
        offsets = np.array(ends, np.int64)
        column = data, offsets
        self.n_texts += _core.count_rows_holding(column, [self.names])[0]

    def report(self, kind: str) -> None:
        """Report the number of these texts, if there are any."""
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
    """Write the ids of each line as a line, and return the number of ids."""
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
