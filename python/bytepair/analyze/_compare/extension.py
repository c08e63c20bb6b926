"""Checking whether one tokenizer extends another, as :func:`bytepair.surgery.extend` guarantees it.

The ids of all tokens, the merges, the added tokens and all other parts of the base are compared. Each new
token must be reachable, and texts must be encoded to the old ids with some neighbours joined. If the
tokenizer is a ``tokenizer.json``, Hugging Face's library must agree.

Left out: settings beside a file, except added tokens to which they give the ids of new tokens.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._expected import loaded
from bytepair._io import recognising
from bytepair._io.beside import added_beside
from bytepair._names import refuse_set
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FormatError

from . import torture
from .faults import (
    Case,
    Fault,
    added_faults,
    fault_of,
    id_faults,
    merge_faults,
    other_parts,
    part_faults,
)
from .huggingface import faults_of_huggingface, is_installed
from .joining import NO_TEXTS, Joined, Joining
from .made_texts import made_texts
from .own_texts import own_texts, whole_characters
from .pairing import Pairing, token_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytepair._io.files import StrPath

__all__ = [
    "ExtensionCheck",
    "check",
    "unreached_of",
    "verify_extension",
]


@dataclass(frozen=True, repr=False)
class ExtensionCheck(Result):
    """Whether a tokenizer extends another, and if not, why.

    It is true if it does.

    Attributes
    ----------
    faults
        What is wrong; empty if the tokenizer extends the base.
    n_ids, n_merges, n_added
        The ids, merges and added tokens of the base.
    new_ids
        The ids of new tokens.
    new_added
        The new tokens that are added tokens, which are found before text is cut and merged.
    unreached
        The new tokens that no text is encoded with.
    within_others
        The new tokens whose own text is not encoded with them, since it is incomplete; see
        :class:`bytepair.surgery.ExtensionReport`.
    told_otherwise
        The parts that the two formats describe differently. They were compared by texts that contain
        all tokens.
    sample, texts
        The texts that were compared: the built-in ones, and those that were given.
    read_by
        The libraries that read the tokenizer: ``bytepair``, and perhaps ``tokenizers``.
    """

    faults: tuple[Fault, ...]
    n_ids: int
    n_merges: int
    n_added: int
    new_ids: tuple[int, ...] = ()
    new_added: tuple[int, ...] = ()
    unreached: tuple[int, ...] = ()
    within_others: tuple[int, ...] = ()
    told_otherwise: tuple[str, ...] = ()
    sample: Joined = NO_TEXTS
    texts: Joined = NO_TEXTS
    read_by: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is no fault."""
        return not self.faults

    @property
    def lines(self) -> tuple[str, ...]:
        """The result in lines, for a reader."""
        if self.faults:
            return tuple(f"{fault.about}: {fault.message}" for fault in self.faults)
        ids, merges = amount(self.n_ids, "id"), amount(self.n_merges, "merge")
        added = amount(self.n_added, "added token")
        same = f"as in the base: {ids}, {merges}, {added}"
        return (same, *self._new(), *self._texts())

    def _new(self) -> Iterator[str]:
        if not self.new_ids:
            yield "no new token"
            return
        n_within, n_added = len(self.within_others), len(self.new_added)
        within = f", {n_within:,} of them only within longer texts" if n_within else ""
        yield f"{amount(len(self.new_ids), 'new token')}, each reached{within}"
        if n_added:
            yield f"{amount(n_added, 'new token')} found before text is cut and merged"
        if self.told_otherwise:
            parts = ", ".join(self.told_otherwise)
            yield f"described differently by the formats, compared by texts: {parts}"

    def _texts(self) -> Iterator[str]:
        for which, joined in (("built-in ", self.sample), ("", self.texts)):
            if joined.n_texts:
                texts = amount(joined.n_texts, f"{which}text")
                tokens = f"{joined.tokens_before:,} → {joined.tokens_after:,} tokens"
                yield f"{texts}: {tokens}, only joined"
        yield f"read by {' and '.join(self.read_by)}"

    def to_json(self) -> dict[str, Any]:
        """Return the attributes as JSON holds them, and whether it extends the base."""
        return {"extends": bool(self), **asdict(self)}


def verify_extension(
    base: Tokenizer | StrPath,
    new: Tokenizer | StrPath,
    *,
    texts: Iterable[str] = (),
) -> ExtensionCheck:
    """Return whether a tokenizer extends another, whatever tool made it.

    The ids, merges, added tokens and all other parts of the base must be unchanged, each new token must
    be reachable, and the ids of texts must be the old ones with some neighbours joined.

    Parameters
    ----------
    base, new
        The tokenizers, or their paths. With the path of a ``tokenizer.json``, Hugging Face's library
        must read ``new`` in the same way, if it is installed. Added tokens that only the settings
        beside the path of ``base`` name must also keep their ids.
    texts
        Texts to compare, in addition to those made from the tokens.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=3)
    >>> check = surgery.verify_extension(base, found.tokenizer)
    >>> bool(check), check.lines[0]
    (True, 'as in the base: 258 ids, 2 merges, 0 added tokens')
    >>> surgery.verify_extension(found.tokenizer, base).faults[0].message
    "missing: 'de' 258, 'ide' 259, 'wide' 260"

    Raises
    ------
    FileError, FormatError
        The path of the base is not that of a tokenizer, or the path of ``new`` is not that of a file.
    """
    base, base_path = _loaded(base)
    try:
        new, new_path = _loaded(new)
    except FormatError as error:
        fault = Fault("file", str(error))
        numbers = base.n_vocab, len(base.merges), len(_core.added_tokens(base))
        return ExtensionCheck((fault,), *numbers)
    return check(base, new, texts, base_path, new_path)


def check(
    base: Tokenizer,
    new: Tokenizer,
    texts: Iterable[str] = (),
    base_path: Path | None = None,
    new_path: Path | None = None,
    *,
    is_own: bool = False,
) -> ExtensionCheck:
    """See :func:`verify_extension`; the paths are those that the tokenizers were read from.

    A file of our own writer, which compares what it wrote, needs fewer texts and no other program.
    """
    refuse_set("texts", texts, "the result")
    pairing = Pairing(base, new)
    new_format = _format_of(new_path)
    faults = list(id_faults(pairing))
    told_otherwise: list[str] = []
    of_merges = list(merge_faults(pairing))
    if _format_of(base_path) == new_format:
        faults += [*of_merges, *added_faults(pairing), *part_faults(base, new)]
    else:
        told_otherwise = other_parts(base, new) + ["merges"] * bool(of_merges)
    if base_path is not None:
        faults += _faults_beside(base, base_path, new)
    added = {id_ for id_, _content, _flags in _core.added_tokens(new)}
    own = dict(own_texts(new, [id_ for id_ in pairing.new_ids if id_ not in added]))
    unreached = unreached_of(new, own)
    names = zip(token_names(new, unreached), unreached, strict=True)
    cases = (Case(name, None, id_) for name, id_ in names)
    faults += fault_of("new tokens", "unreachable", cases)
    joining = Joining(pairing)
    has_all = bool(told_otherwise) and not is_own
    built_in = [*torture.TEXTS, *made_texts(pairing, has_all=has_all)]
    on_sample = joining.add(built_in)
    given = list(texts)
    on_texts = joining.add(given)
    faults += joining.faults()
    readers = ["bytepair"]
    is_theirs = new_format is not None and new_format[0] == "huggingface"
    if new_path is not None and is_theirs and not is_own and is_installed():
        readers.append("tokenizers")
        all_texts = [*built_in, *given]
        faults += faults_of_huggingface(new, _file(new_path), all_texts)
    never = set(unreached)
    within = [id_ for id_, text in own.items() if text is None and id_ not in never]
    return ExtensionCheck(
        faults=tuple(faults),
        n_ids=base.n_vocab,
        n_merges=len(base.merges),
        n_added=len(_core.added_tokens(base)),
        new_ids=tuple(pairing.new_ids),
        new_added=tuple(id_ for id_ in pairing.new_ids if id_ in added),
        unreached=tuple(unreached),
        within_others=tuple(within),
        told_otherwise=tuple(told_otherwise),
        sample=on_sample,
        texts=on_texts,
        read_by=tuple(readers),
    )


def _loaded(tokenizer: Tokenizer | StrPath) -> tuple[Tokenizer, Path | None]:
    if isinstance(tokenizer, (str, os.PathLike)):
        return Tokenizer.from_file(tokenizer), Path(tokenizer)
    tokenizer = loaded(tokenizer)
    return tokenizer, None


def _file(path: Path) -> Path:
    return recognising.file_in(path) if path.is_dir() else path


def _format_of(path: Path | None) -> tuple[str, bool] | None:
    """Return the format of a file, and whether another beside it says how it splits."""
    if path is None:
        return None
    file = _file(path)
    return recognising.format_of_file(file), recognising.sidecar_of(file).is_file()


def _faults_beside(base: Tokenizer, path: Path, new: Tokenizer) -> Iterator[Fault]:
    """Find ids of added tokens that only settings name, and that another token has now."""
    known, vocabulary = base.vocabulary, new.vocabulary
    cases = []
    for token in added_beside(path):
        if token.id < len(known) and known[token.id] is not None:
            continue  # it is compared as a token of the base
        if token.id >= len(vocabulary) or vocabulary[token.id] is None:
            continue
        [name] = token_names(new, [token.id])
        if name != repr(token.content):
            cases.append(Case(f"{token.content!r} and {name}", None, token.id))
    yield from fault_of("ids", "also of a token in settings beside the base", cases)


def unreached_of(new: Tokenizer, own: Mapping[int, bytes | None]) -> list[int]:
    """List the tokens of which it is proven that no text is encoded with them."""
    left = [id_ for id_, text in own.items() if text is None]
    unmade, unplaced = map(set, _core.unreached(new))
    found = {id_ for id_ in left if id_ in unmade or id_ in unplaced}
    # A token may occur where its text does not.
    if new.inspect().settings["drops_missing"]:
        return sorted(found)
    # What no text contains is in no longer one, either: parts of characters beside it do not matter.
    tokens = new.inspect().tokens(left)
    wholes = {token.id: whole_characters(token.bytes) for token in tokens}
    wholes = {id_: text for id_, text in wholes.items() if text}
    reasons = _core.why_in_no_piece(new, list(wholes.values()))
    found |= {id_ for id_, why in zip(wholes, reasons, strict=True) if why}
    return sorted(found)
