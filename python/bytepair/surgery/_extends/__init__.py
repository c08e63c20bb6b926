"""Checking whether one tokenizer extends another, as :func:`bytepair.surgery.extend` guarantees it.

The ids of all tokens, the merges, the added tokens and all other parts of the base are compared. Each new
token must be reachable, and texts must be encoded to the old ids with some neighbours joined. If the
tokenizer is a ``tokenizer.json``, Hugging Face's library must agree.

Left out: settings beside a file, except added tokens to which they give the ids of new tokens.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._expected import loaded
from bytepair._io import recognising
from bytepair._io.beside import added_beside
from bytepair._names import refuse_set
from bytepair._plurals import amount
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FormatError
from bytepair.surgery._own_texts import own_texts, whole_characters

from . import _agreement as agreement
from ._agreement import id_faults
from ._coarsening import Coarsening, Joined
from ._faults import Fault, listed
from ._pairing import Pairing
from ._sample import sample
from ._theirs import faults_of_theirs, is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytepair._io.files import StrPath

__all__ = [
    "ExtensionCheck",
    "Fault",
    "Pairing",
    "check",
    "faults_of_theirs",
    "id_faults",
    "is_installed",
    "is_text",
    "unreached_of",
    "unreadable",
    "verify_extension",
]


@dataclass(frozen=True)
class ExtensionCheck:
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
    new_ids: tuple[int, ...]
    new_added: tuple[int, ...]
    unreached: tuple[int, ...]
    within_others: tuple[int, ...]
    told_otherwise: tuple[str, ...]
    sample: Joined
    texts: Joined
    read_by: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is no fault."""
        return not self.faults

    @property
    def lines(self) -> tuple[str, ...]:
        """What was found, for a reader."""
        if self.faults:
            return tuple(f"{fault.about}: {fault.message}" for fault in self.faults)
        old = ", ".join(
            (
                amount(self.n_ids, "id"),
                amount(self.n_merges, "merge"),
                amount(self.n_added, "added token"),
            )
        )
        return (f"as in the base: {old}", *self._new(), *self._texts())

    def _new(self) -> Iterator[str]:
        if not self.new_ids:
            yield "no new token"
            return
        n_within, n_added = len(self.within_others), len(self.new_added)
        within = f", {n_within:,} only within longer texts" if n_within else ""
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
        """Give it as JSON holds it."""
        return {
            "extends": bool(self),
            "faults": [fault.to_json() for fault in self.faults],
            "ids": self.n_ids,
            "merges": self.n_merges,
            "added_tokens": self.n_added,
            "new_ids": list(self.new_ids),
            "new_added_tokens": list(self.new_added),
            "unreached": list(self.unreached),
            "within_others": list(self.within_others),
            "told_otherwise": list(self.told_otherwise),
            "sample": self.sample._asdict(),
            "texts": self.texts._asdict(),
            "read_by": list(self.read_by),
        }


def verify_extension(
    base: Tokenizer | StrPath,
    new: Tokenizer | StrPath,
    *,
    texts: Iterable[str] = (),
) -> ExtensionCheck:
    """Tell whether a tokenizer extends another, whatever tool made it.

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
    "3 tokens are gone: 'de' 258, 'ide' 259, 'wide' 260"

    Raises
    ------
    FileError, FormatError
        The path of the base is not that of a tokenizer, or the path of ``new`` is not that of a file.
    """
    base, base_path = _loaded(base)
    try:
        new, new_path = _loaded(new)
    except FormatError as error:
        return unreadable(base, error)
    return check(base, new, texts, base_path, new_path)


def unreadable(base: Tokenizer, error: FormatError) -> ExtensionCheck:
    """Report that a file is not a tokenizer, and why."""
    nothing = Joined(0, 0, 0)
    numbers = (base.n_vocab, len(base.merges), len(_core.added_tokens(base)))
    fault = Fault("file", str(error))
    return ExtensionCheck((fault,), *numbers, (), (), (), (), (), nothing, nothing, ())


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
    base_format, new_format = map(_format_of, (base_path, new_path))
    is_same_format = base_format == new_format
    faults = list(id_faults(pairing))
    told_otherwise: list[str] = []
    of_merges = list(agreement.merge_faults(pairing))
    if is_same_format:
        faults += of_merges
        faults += agreement.added_faults(pairing)
        faults += agreement.part_faults(base, new)
    else:
        told_otherwise = agreement.other_parts(base, new)
        told_otherwise += ["merges"] if of_merges else []
    if base_path is not None:
        faults += _faults_beside(base, base_path, new)
    added = {id_ for id_, _content, _flags in _core.added_tokens(new)}
    model_ids = [id_ for id_ in pairing.new_ids if id_ not in added]
    own = dict(own_texts(new, model_ids))
    unreached = unreached_of(new, own)
    faults += _faults_of_unreached(new, unreached)
    coarsening = Coarsening(pairing)
    has_all = bool(told_otherwise) and not is_own
    built_in = sample(base, new, pairing.new_ids, has_all=has_all)
    on_sample = coarsening.add(built_in)
    given = list(texts)
    on_texts = coarsening.add(given)
    faults += coarsening.faults()
    readers = ["bytepair"]
    is_theirs = new_format is not None and new_format[0] == "huggingface"
    if new_path is not None and is_theirs and not is_own and is_installed():
        readers.append("tokenizers")
        wholes = [text.decode() for text in own.values() if text and is_text(text)]
        faults += faults_of_theirs(new, _file(new_path), [*wholes, *built_in, *given])
    within = [id_ for id_, text in own.items() if text is None and id_ not in unreached]
    return ExtensionCheck(
        faults=tuple(faults),
        n_ids=base.n_vocab,
        n_merges=len(base.merges),
        n_added=len(_core.added_tokens(base)),
        new_ids=tuple(pairing.new_ids),
        new_added=tuple(id_ for id_ in pairing.new_ids if id_ in added),
        unreached=tuple(sorted(unreached)),
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
    """Give the format of a file, and whether another beside it says how it splits."""
    if path is None:
        return None
    file = _file(path)
    return recognising.format_of_file(file), recognising.sidecar_of(file).is_file()


def is_text(content: bytes) -> bool:
    """Tell whether bytes are whole characters."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _faults_beside(base: Tokenizer, path: Path, new: Tokenizer) -> Iterator[Fault]:
    """Find ids of added tokens that only settings name, and that another token has now."""
    known, vocabulary = base.vocabulary, new.vocabulary
    taken = []
    for token in added_beside(path):
        if token.id < len(known) and known[token.id] is not None:
            continue  # it is compared as a token of the base
        if token.id >= len(vocabulary) or vocabulary[token.id] is None:
            continue
        [name] = agreement.names_of(new, [token.id])
        if name != token.content:
            taken.append((token, name))
    if taken:
        rows = [
            f"{token.id:,} of {token.content!r} is {name!r}" for token, name in taken
        ]
        message = (
            f"settings beside the base give ids to added tokens, but {listed(rows)}"
        )
        cases = ({"token": t.content, "base_id": t.id, "now": n} for t, n in taken)
        yield Fault("ids", message, tuple(cases))


def unreached_of(new: Tokenizer, own: Mapping[int, bytes | None]) -> set[int]:
    """Choose the tokens of which it is proven that no text is encoded with them."""
    left = [id_ for id_, text in own.items() if text is None]
    unmade, unplaced = map(set, _core.unreached(new))
    found = {id_ for id_ in left if id_ in unmade or id_ in unplaced}
    # A token may occur where its text does not.
    if new.inspect().settings["drops_missing"]:
        return found
    # What no text contains is in no longer one, either: parts of characters beside it do not matter.
    tokens = new.inspect().tokens(left)
    wholes = {token.id: whole_characters(token.bytes) for token in tokens}
    wholes = {id_: text for id_, text in wholes.items() if text}
    reasons = _core.why_in_no_piece(new, list(wholes.values()))
    return found | {id_ for id_, why in zip(wholes, reasons, strict=True) if why}


def _faults_of_unreached(new: Tokenizer, unreached: set[int]) -> Iterator[Fault]:
    if not unreached:
        return
    ids = sorted(unreached)
    rows = [
        f"{name} {id_:,}"
        for name, id_ in zip(agreement.shown(new, ids), ids, strict=True)
    ]
    names = agreement.names_of(new, ids)
    cases = ({"token": n, "id": i} for n, i in zip(names, ids, strict=True))
    are = "is" if len(ids) == 1 else "are"
    message = f"{amount(len(ids), 'new token')} {are} unreachable: {listed(rows)}"
    yield Fault("new tokens", message, tuple(cases))
