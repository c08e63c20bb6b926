"""Proving a file: it is read back before it appears, by bytepair and by Hugging Face's library.

The file must hold the tokenizer with its ids. If the tokenizer keeps all ids of its base, the file must
also extend the base, as :func:`bytepair.surgery.verify_extension` checks it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair._io import recognising, saving
from bytepair._io.beside import added_beside
from bytepair._io.files import (
    check_writable,
    read,
    refuse_no_name,
    write,
    write_together,
)
from bytepair._io.temporary import TemporaryFolder
from bytepair._labels import argument
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FileError, FormatError, TokenizerError

from ._extends import Pairing, check, faults_of_theirs, id_faults, is_installed, is_text
from ._own_texts import encoded, own_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytepair._io.files import StrPath

    from ._extends import Fault
    from ._surgery import Surgery

__all__ = ["Proof", "rehearse", "save"]

OWN_SUFFIXES = (".bytepair", ".bytepair-compiled")

MOST_GONE = 10_000
"""At most this many removed tokens are encoded."""


@dataclass(frozen=True, repr=False)
class Proof(Result):
    """What was written, and how it was proven.

    Attributes
    ----------
    files
        The files that were written.
    format
        Their format.
    is_copy
        Whether they have the bytes of the base's file because nothing was changed.
    n_ids, n_new, n_gone
        How many ids have been compared, and how many texts of new tokens and of removed ones have been
        encoded.
    read_by
        The libraries that read the files back: ``bytepair``, and perhaps ``tokenizers``.
    """

    files: tuple[Path, ...]
    format: str
    is_copy: bool
    n_ids: int
    n_new: int
    n_gone: int
    read_by: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What was proven, for a reader."""
        encoded = [
            amount(number, noun)
            for number, noun in (
                (self.n_new, "new token"),
                (self.n_gone, "removed token"),
            )
            if number
        ]
        texts = f", {' and '.join(encoded)} encoded" if encoded else ""
        readers = " and ".join(self.read_by)
        lines = [f"read back by {readers}: {amount(self.n_ids, 'id')} compared{texts}"]
        if self.is_copy:
            lines.append("the same bytes as the file of the base")
        return tuple(lines)


def save(
    surgery: Surgery[Any],
    path: StrPath,
    format_name: str | None = None,
    *,
    ids_may_change: bool = False,
    others: Mapping[Path, bytes] | None = None,
) -> Proof:
    """See :meth:`bytepair.surgery.Surgery.save`.

    Other files appear together with those of the tokenizer, or none does.
    """
    refuse_no_name(path)
    target = Path(os.path.abspath(path))  # noqa: PTH100 -- a link is kept
    name = saving.format_of(Path(path), format_name)
    check_target(target, name)
    _check_beside(surgery.tokenizer, target, path)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        try:
            saving.save(
                surgery.tokenizer,
                draft,
                name,
                ids_may_change=ids_may_change,
            )
        except FormatError as error:
            raise _without_reserved(surgery, error) from error
        is_copy = _copy_base(surgery, draft, name)
        again = Tokenizer.from_file(draft)
        new, gone = _texts_of_new(surgery), _texts_of_gone(surgery)
        _compare(surgery.tokenizer, again, path, [*new, *gone])
        _compare_base(surgery, again, draft, path, has_texts=not ids_may_change)
        readers = ["bytepair"]
        if name == "huggingface" and is_installed():
            texts = [text.decode() for text in (*new, *gone) if is_text(text)]
            _refuse_if(path, faults_of_theirs(surgery.tokenizer, draft, texts))
            readers.append("tokenizers")
        files = dict(_targets(draft, target))
        written = {file: read(source) for source, file in files.items()}
        write_together({**(others or {}), **written}, makes_folders=name == "gpt2")
    n_ids = surgery.tokenizer.n_vocab
    n_texts = len(new), len(gone)
    return Proof(tuple(files.values()), name, is_copy, n_ids, *n_texts, tuple(readers))


def _check_beside(tokenizer: Tokenizer, target: Path, path: StrPath) -> None:
    """Refuse a folder whose settings contradict the ids of this tokenizer.

    transformers takes the ids of added tokens from there.
    """
    names = {added.content: id_ for id_, added in tokenizer.added_tokens.items()}
    vocabulary = tokenizer.vocabulary
    for token in added_beside(target):
        here = names.get(token.content, token.id)
        is_free = token.id >= len(vocabulary) or vocabulary[token.id] is None
        if here != token.id or not (token.content in names or is_free):
            where = f"has it at {here:,}" if here != token.id else "has another there"
            _refuse(
                path,
                f"settings in this folder give {token.content!r} the id {token.id:,}, and the "
                f"tokenizer {where}; write elsewhere, or write the new ids into the settings first",
            )


def _without_reserved(surgery: Surgery[Any], error: FormatError) -> FormatError:
    """Say what to do if a format cannot hold the tokens that reserve ids."""
    if getattr(surgery.report, "numbering", None) != "reserved":
        return error
    ways = " and ".join(argument("numbering", way) for way in ("holes", "compact"))
    message = f"{error}; {ways} reserve no ids"
    return FormatError(message)


def rehearse(
    base: Tokenizer,
    path: StrPath,
    format_name: str | None = None,
    *,
    ids_may_change: bool = False,
) -> None:
    """Refuse a path or a format that could not hold an extension, before any work.

    Raises
    ------
    FormatError
        The format cannot even hold the base.
    FileError
        The path cannot be written.
    """
    refuse_no_name(path)
    target = Path(os.path.abspath(path))  # noqa: PTH100 -- a link is kept
    name = saving.format_of(Path(path), format_name)
    check_target(target, name)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        saving.save(base, draft, name, ids_may_change=ids_may_change)
        _compare_ids(base, Tokenizer.from_file(draft), path)


def check_target(target: Path, format_name: str) -> None:
    """Refuse a path that cannot be written, or is a folder where the format is a file."""
    if target.exists() and target.is_dir() != (format_name == "gpt2"):
        kind = "folder" if target.is_dir() else "file"
        message = f"{target} is a {kind}; this format needs another path"
        raise FileError(message)
    check_writable(target if target.is_dir() else target.parent)


def _targets(draft: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """Give each file that was written, with where it goes; a tokenizer's own file comes last."""
    files = (path for path in draft.parent.rglob("*") if path.is_file())
    for path in sorted(files, key=lambda path: (path == draft, path)):
        yield path, target.parent / path.relative_to(draft.parent)


def _copy_base(surgery: Surgery[Any], draft: Path, format_name: str) -> bool:
    """Write the bytes of the base's file over the draft, if they hold the same tokenizer."""
    if surgery.source is None or surgery.tokenizer != surgery.base:
        return False
    source = surgery.source
    try:
        source = recognising.file_in(source) if source.is_dir() else source
        # Settings beside it, which another place has not, may belong to it.
        if recognising.format_of_file(source) != format_name:
            return False
        if Tokenizer.from_file(source) != surgery.base:
            return False
    except TokenizerError:  # options say what the file leaves out
        return False
    pairs = [(source, draft)]
    if format_name == "gpt2":
        names = ("vocab.json", "merges.txt")
        pairs = [(source.with_name(name), draft / name) for name in names]
    if not all(path.is_file() for path, _ in pairs):  # named in an older way
        return False
    for path, copy in pairs:
        write(copy, read(path))
    return True


def _texts_of_new(surgery: Surgery[Any]) -> list[bytes]:
    """Give a text for each new token of text."""
    tokenizer = surgery.tokenizer
    kept = {new for new in surgery.id_map if new >= 0}
    new = [i for i, t in enumerate(tokenizer.vocabulary) if t and i not in kept]
    tokens = tokenizer.inspect().tokens(new)
    new = [token.id for token in tokens if token.kind != "added"]
    return [
        tokenizer.decode_bytes([id_]) if text is None else text
        for id_, text in own_texts(tokenizer, new)
    ]


def _texts_of_gone(surgery: Surgery[Any]) -> list[bytes]:
    """Give a text for each removed token; for a sample of them if there are very many."""
    base = surgery.base
    tokens = enumerate(zip(base.vocabulary, surgery.id_map, strict=True))
    gone = [id_ for id_, (token, new) in tokens if token is not None and new < 0]
    chosen = gone[:: -(-len(gone) // MOST_GONE) or 1]
    return [base.decode_bytes([id_]) for id_ in chosen]


def _compare(
    tokenizer: Tokenizer, again: Tokenizer, path: StrPath, texts: list[bytes]
) -> None:
    """Refuse a file that gives a token another id, or encodes a text to other ids.

    Raises
    ------
    FormatError
        It does.
    """
    _compare_ids(tokenizer, again, path)
    _compare_added(tokenizer, again, path)
    for text in texts:
        ids = encoded(tokenizer, text)
        if ids is not None and encoded(again, text) != ids:
            _refuse(path, f"{text!r} would be encoded to different ids")


def _compare_ids(tokenizer: Tokenizer, again: Tokenizer, path: StrPath) -> None:
    """Refuse a file that gives a token another id, or has one more."""
    pairing = Pairing(tokenizer, again)
    _refuse_if(path, id_faults(pairing))
    for id_ in pairing.new_ids:
        token = again.vocabulary[id_]
        _refuse(path, f"there would be another token, {token!r}, at the id {id_:,}")


def _compare_added(tokenizer: Tokenizer, again: Tokenizer, path: StrPath) -> None:
    """Refuse a file in which an added token is not found, or is another.

    Formats may describe added tokens in different ways, so texts that contain them are compared. A
    text that the tokenizer refuses is skipped.
    """
    for added in tokenizer.added_tokens.values():
        content = added.content
        for text in (content, f"a {content} b", f"a{content}b"):
            ids = [_with_added(one, text) for one in (tokenizer, again)]
            if ids[0] is not None and ids[0] != ids[1]:
                _refuse(path, f"the added token {content!r} would be found differently")


def _with_added(tokenizer: Tokenizer, text: str) -> list[int] | None:
    try:
        return tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return None


def _compare_base(
    surgery: Surgery[Any],
    again: Tokenizer,
    draft: Path,
    path: StrPath,
    *,
    has_texts: bool,
) -> None:
    """Refuse a file that does not extend the base, if all ids of the base were kept."""
    if surgery.id_map != tuple(range(surgery.base.n_vocab)):
        return
    found = check(surgery.base, again, (), surgery.source, draft, is_own=True)
    faults = (fault for fault in found.faults if has_texts or fault.about != "texts")
    _refuse_if(path, faults)


def _refuse_if(path: StrPath, faults: Iterable[Fault]) -> None:
    for fault in faults:
        _refuse(path, fault.message)


def _refuse(path: StrPath, problem: str) -> NoReturn:
    message = f"{os.fspath(path)}: {problem}; nothing is written"
    if Path(path).suffix not in OWN_SUFFIXES:
        message += ". A .bytepair file holds every tokenizer"
    raise FormatError(message)
