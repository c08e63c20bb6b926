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
from bytepair._io.files import check_writable, read, refuse_no_name, write
from bytepair._io.temporary import TemporaryFolder
from bytepair._labels import argument
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.analyze._compare import torture
from bytepair.analyze._compare.extension import check
from bytepair.analyze._compare.faults import id_faults
from bytepair.analyze._compare.huggingface import faults_of_huggingface, is_installed
from bytepair.analyze._compare.made_texts import made_texts
from bytepair.analyze._compare.own_texts import whole_characters
from bytepair.analyze._compare.pairing import Pairing
from bytepair.analyze._compare.publishing import publish
from bytepair.analyze._compare.verifying import Terms, difference_on_texts
from bytepair.errors import FileError, FormatError, TokenizerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair._io.files import StrPath
    from bytepair.analyze._compare.faults import Fault

    from ._surgery import Surgery

__all__ = ["Proof", "rehearse", "save"]

OWN_SUFFIXES = (".bytepair", ".bytepair-compiled")


@dataclass(frozen=True, repr=False)
class Proof(Result):
    """The file that was written, and the extent of the proof.

    Attributes
    ----------
    files
        The files that were written.
    format
        Their format.
    is_copy
        Whether they have the bytes of the base's file because nothing was changed.
    n_ids, n_texts
        How many ids and texts have been compared. The texts contain the tokens of the base and the new ones.
    read_by
        The libraries that read the files back: ``bytepair``, and perhaps ``tokenizers``.
    """

    files: tuple[Path, ...]
    format: str
    is_copy: bool
    n_ids: int
    n_texts: int
    read_by: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The proof in lines, for a reader."""
        readers = " and ".join(self.read_by)
        ids, texts = amount(self.n_ids, "id"), amount(self.n_texts, "text")
        lines = [f"read back by {readers}: {ids} and {texts} compared"]
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
    target, name = _checked(path, format_name)
    _check_beside(surgery.tokenizer, target, path)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        try:
            saving.save(surgery.tokenizer, draft, name, ids_may_change=ids_may_change)
        except FormatError as error:
            raise _without_reserved(surgery, error) from error
        is_copy = _copy_base(surgery, draft, name)
        again = Tokenizer.from_file(draft)
        texts = _texts(surgery)
        _compare(surgery.tokenizer, again, path, texts)
        _compare_base(surgery, again, draft, path, has_texts=not ids_may_change)
        readers = ["bytepair"]
        if name == "huggingface" and is_installed():
            whole = [text for text in texts if isinstance(text, str)]
            _refuse_if(path, faults_of_huggingface(surgery.tokenizer, draft, whole))
            readers.append("tokenizers")
        files = publish(draft, target, others)
    n_ids = surgery.tokenizer.n_vocab
    return Proof(tuple(files), name, is_copy, n_ids, len(texts), tuple(readers))


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
    """Suggest what to do if a format cannot hold the tokens that reserve ids."""
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
    target, name = _checked(path, format_name)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        saving.save(base, draft, name, ids_may_change=ids_may_change)
        _compare_ids(base, Tokenizer.from_file(draft), path)


def _checked(path: StrPath, format_name: str | None) -> tuple[Path, str]:
    """Return where to write, and the format; refuse a path that cannot be written."""
    refuse_no_name(path)
    target = Path(os.path.abspath(path))  # noqa: PTH100 -- a link is kept
    name = saving.format_of(Path(path), format_name)
    if target.exists() and target.is_dir() != (name == "gpt2"):
        kind = "folder" if target.is_dir() else "file"
        message = f"{target} is a {kind}; this format needs another path"
        raise FileError(message)
    check_writable(target if target.is_dir() else target.parent)
    return target, name


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


def _texts(surgery: Surgery[Any]) -> list[str | bytes]:
    """List texts of all tokens of the base, and each new token, also if it is part of a character."""
    pairing = Pairing(surgery.base, surgery.tokenizer)
    texts = [*torture.TEXTS, *made_texts(pairing, has_all=True)]
    new = [surgery.tokenizer.decode_bytes([id_]) for id_ in pairing.new_ids]
    return [*texts, *(text for text in new if whole_characters(text) != text)]


def _compare(
    tokenizer: Tokenizer, again: Tokenizer, path: StrPath, texts: list[str | bytes]
) -> None:
    """Refuse a file that gives a token another id, or a text other ids.

    Raises
    ------
    FormatError
        It does.
    """
    _compare_ids(tokenizer, again, path)
    terms = Terms(has_decoded_text=False, has_refusals=False)
    found = difference_on_texts(tokenizer, again, texts, terms)
    if found is not None:
        _refuse(path, f"the file would read back differently, {found}")


def _compare_ids(tokenizer: Tokenizer, again: Tokenizer, path: StrPath) -> None:
    """Refuse a file that gives a token another id, or has one more."""
    pairing = Pairing(tokenizer, again)
    _refuse_if(path, id_faults(pairing))
    for id_ in pairing.new_ids:
        token = again.vocabulary[id_]
        _refuse(path, f"there would be another token, {token!r}, at the id {id_:,}")


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
        _refuse(path, f"{fault.about}: {fault.message}")


def _refuse(path: StrPath, problem: str) -> NoReturn:
    message = f"{os.fspath(path)}: {problem}; nothing is written"
    if Path(path).suffix not in OWN_SUFFIXES:
        message += ". A .bytepair file holds every tokenizer"
    raise FormatError(message)
