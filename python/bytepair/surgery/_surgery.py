"""The tokenizer to change, and the result: a tokenizer, where each old id went, and what was done.

The rows of embedding matrices and the proof of what is written have modules of their own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, Union

from bytepair._io.beside import added_beside, with_added_beside
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer

from ._reports import Removed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair import _core
    from bytepair._io.files import StrPath

    from ._embeddings import EmbeddingMap
    from ._proof import Proof

__all__ = ["Base", "Given", "Kind", "Side", "Surgery"]

Kind = Literal["mean", "copy", "exponential", "bytes"]
Side = Literal["input", "output"]
Given: TypeAlias = Union[Tokenizer, "StrPath", "Base"]
"""What functions of this package take as a tokenizer."""

SomeReport = TypeVar("SomeReport", bound=Result)
SomeRemoved = TypeVar("SomeRemoved", bound=Removed)


@dataclass(frozen=True)
class Base:
    """A tokenizer to change, and the file that it was read from, if any."""

    tokenizer: Tokenizer
    source: Path | None = None

    @classmethod
    def of(cls, given: Given) -> Base:
        """Read a tokenizer, with the added tokens that only files beside it name."""
        if isinstance(given, Base):
            return given
        if isinstance(given, Tokenizer):
            return cls(given)
        if not isinstance(given, (str, os.PathLike)):
            message = f"expected a tokenizer or its path, not {type(given).__name__}"
            raise TypeError(message)
        path = Path(given)
        tokenizer = Tokenizer.from_file(path)
        if beside := added_beside(path):
            tokenizer = Tokenizer(with_added_beside(tokenizer, path, beside))
        return cls(tokenizer, path)

    def extended(self, tokenizer: Tokenizer, report: SomeReport) -> Surgery[SomeReport]:
        """Return the result of an operation that keeps all ids."""
        ids = tuple(range(self.tokenizer.n_vocab))
        return Surgery(tokenizer, self.tokenizer, ids, report, self.source)

    def reduced(
        self, renumbered: tuple[_core.Tokenizer, list[int]], report: SomeRemoved
    ) -> Surgery[SomeRemoved]:
        """Return the result of an operation that removes tokens."""
        core, ids = renumbered
        new, is_compact = Tokenizer(core), report.numbering == "compact"
        return Surgery(new, self.tokenizer, tuple(ids), report, self.source, is_compact)


@dataclass(frozen=True, repr=False)
class Surgery(Result, Generic[SomeReport]):
    """A changed tokenizer, together with what changed.

    Attributes
    ----------
    tokenizer
        The new tokenizer.
    base
        The tokenizer that it was made from.
    id_map
        By old id: the new one, or -1 if its token is gone. Ids without a token are included, since a
        model may have rows for them.
    report
        What was done and why.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=3)
    >>> found
    <bytepair.surgery.Surgery: 258 ids to 261, 258 unchanged>
    >>> found.tokenizer.tokenize("low wide")
    ['low', ' ', 'wide']
    """

    tokenizer: Tokenizer
    base: Tokenizer
    id_map: tuple[int, ...]
    report: SomeReport
    source: Path | None = field(default=None)
    """The file of the base, if it was read from one."""
    is_compact: bool = field(default=False)
    """Whether ids were renumbered without gaps, and the rows of matrices with them."""

    def embedding_map(
        self,
        kind: Kind = "mean",
        side: Side = "input",
        *,
        rows: int | None = None,
        multiple_of: int = 1,
    ) -> EmbeddingMap:
        """Return the rows of a new embedding matrix as combinations of those of the old one.

        The row of a kept token is copied. The row of a new token is a combination of the rows of the
        tokens that the old tokenizer encodes it to.

        Parameters
        ----------
        kind
            The weights of these rows: ``"mean"``, all the same; ``"copy"``, a single row, that of
            the last token for the input side and of the first for the output side;
            ``"exponential"``, e²ⁱ for the input side, so that the last token counts most, and
            e⁻²ⁱ for the output side, so that the first does; ``"bytes"``, the lengths of the
            tokens in bytes.
        side
            ``"input"`` for the embedding matrix, even if the output shares it; ``"output"`` for the
            matrix of the language-model head.
        rows
            How many rows the old matrix has, if it has more than the old tokenizer has ids:
            Qwen 3 has 151,936 for 151,669. Rows that no new token takes are copied.
        multiple_of
            The number of new rows is the smallest multiple of this that holds all ids, and all old
            rows too unless ``numbering="compact"``: then the rows of removed tokens are dropped, and
            old rows that no id had fill up the multiple. Rows that belong to no token and are not in
            the old matrix are 0.

        >>> import bytepair
        >>> from bytepair import surgery
        >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=1)
        >>> rows = found.embedding_map("mean")
        >>> found.tokenizer.vocabulary[258], rows.row(258)
        (b'de', ([67, 68], [0.5, 0.5]))

        Raises
        ------
        TokenizerError
            ``rows`` is smaller than the number of ids, or an option has an unknown value.
        """
        from ._embeddings import embedding_map

        return embedding_map(self, kind, side, rows=rows, multiple_of=multiple_of)

    def save(
        self,
        path: StrPath,
        *,
        format: str | None = None,
        ids_may_change: bool = False,
    ) -> Proof:
        """Write the tokenizer, after proving that the file has every id in its place.

        The file is read back, by Hugging Face's library too if it is a ``tokenizer.json`` and the
        library is installed: every token and every added token has its id, and each new token
        encodes to what it encodes to in memory. Only then does it appear. If nothing was changed and
        the base was read from a file of the same format, the new file has the same bytes.

        The arguments are those of :meth:`bytepair.Tokenizer.save`.

        Raises
        ------
        FormatError
            The format cannot hold the tokenizer with its ids; nothing is written.
        FileError
            The file cannot be written.
        """
        from ._proof import save

        return save(self, path, format, ids_may_change=ids_may_change)

    def __repr__(self) -> str:
        before, after = self.base.n_vocab, self.tokenizer.n_vocab
        n_same = sum(old == new for old, new in enumerate(self.id_map))
        return (
            f"<bytepair.surgery.Surgery: {before:,} ids to {after:,}, "
            f"{n_same:,} unchanged>"
        )

    def _texts(self) -> Iterable[str]:
        return self.report._texts()
