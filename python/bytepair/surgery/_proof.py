"""The proof of a file: it is read back before it appears, by us and by Hugging Face's library.

That library gives an added token that is not in the vocabulary of the model the next free id, so that
tokens of the model that are appended move it. Therefore our writer puts every added token into that
vocabulary, at its own id, and here it is seen to.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair._io import formats
from bytepair._io.files import (
    check_writable,
    read,
    refuse_no_name,
    write,
    write_together,
)
from bytepair._io.temporary import MARK, TemporaryFolder
from bytepair._plurals import amount
from bytepair._tokenizer import Tokenizer
from bytepair.errors import FileError, FormatError, TokenizerError

from ._own_texts import encoded, own_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair._io.files import StrPath

    from ._surgery import Surgery

__all__ = ["Proof", "rehearse", "save"]

MOST_GONE = 10_000
"""How many tokens that went are encoded at most."""


@dataclass(frozen=True)
class Proof:
    """What was written, and how it was proven.

    Attributes
    ----------
    files
        The files that were written.
    format
        Their format.
    is_copy
        Whether they have the bytes of the base's file, as nothing was changed.
    n_ids, n_new, n_gone
        How many ids have been compared, and how many texts of new tokens and of removed ones have been
        encoded.
    read_by
        What read the files back: ``bytepair``, and perhaps ``tokenizers``.
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
) -> Proof:
    """See :meth:`bytepair.surgery.Surgery.save`."""
    refuse_no_name(path)
    target = Path(os.path.abspath(path))  # noqa: PTH100 -- a link is kept
    name = formats.format_of(Path(path), format_name)
    check_target(target, name)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        try:
            formats.save(surgery.tokenizer, draft, name, ids_may_change=ids_may_change)
        except FormatError as error:
            raise _without_reserved(surgery, error) from error
        is_copy = _copy_base(surgery, draft, name)
        again = Tokenizer.from_file(draft)
        new, gone = _texts_of_new(surgery), _texts_of_gone(surgery)
        _compare(surgery.tokenizer, again, path, [*new, *gone])
        readers = ["bytepair"]
        if name == "huggingface" and _has_tokenizers():
            _compare_theirs(surgery.tokenizer, draft, path, [*new, *gone])
            readers.append("tokenizers")
        files = dict(_targets(draft, target))
        written = {file: read(source) for source, file in files.items()}
        write_together(written, makes_folders=name == "gpt2")
    n_ids = surgery.tokenizer.n_vocab
    n_texts = len(new), len(gone)
    return Proof(tuple(files.values()), name, is_copy, n_ids, *n_texts, tuple(readers))


def _without_reserved(surgery: Surgery[Any], error: FormatError) -> FormatError:
    """Say what to do where a format does not hold the tokens that reserve ids."""
    if getattr(surgery.report, "numbering", None) != "reserved":
        return error
    message = f'{error}; numbering="holes" and numbering="compact" reserve no ids'
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
        The format does not hold even the base.
    FileError
        The path cannot be written.
    """
    refuse_no_name(path)
    target = Path(os.path.abspath(path))  # noqa: PTH100 -- a link is kept
    name = formats.format_of(Path(path), format_name)
    check_target(target, name)
    with TemporaryFolder() as folder:
        draft = Path(folder) / target.name
        formats.save(base, draft, name, ids_may_change=ids_may_change)


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
        if path.name != MARK:
            yield path, target.parent / path.relative_to(draft.parent)


def _copy_base(surgery: Surgery[Any], draft: Path, format_name: str) -> bool:
    """Write the bytes of the base's file over the draft, if they hold the same tokenizer."""
    if surgery.source is None or surgery.tokenizer != surgery.base:
        return False
    source = surgery.source
    try:
        source = formats.file_in(source) if source.is_dir() else source
        # Settings beside it, which another place has not, may belong to it.
        if formats.format_of_file(source) != format_name:
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
    kinds = zip(new, tokenizer._tokens_of(new), strict=True)
    new = [id_ for id_, (kind, *_rest) in kinds if kind != "added"]
    return [
        tokenizer.decode_bytes([id_]) if text is None else text
        for id_, text in own_texts(tokenizer, new)
    ]


def _texts_of_gone(surgery: Surgery[Any]) -> list[bytes]:
    """Give a text for each token that went; of very many, for some from all over the vocabulary."""
    base = surgery.base
    tokens = enumerate(zip(base.vocabulary, surgery.id_map, strict=True))
    gone = [id_ for id_, (token, new) in tokens if new < 0 and token is not None]
    chosen = gone[:: -(-len(gone) // MOST_GONE) or 1]
    return [base.decode_bytes([id_]) for id_ in chosen]


def _compare(
    tokenizer: Tokenizer, again: Tokenizer, path: StrPath, texts: list[bytes]
) -> None:
    """Refuse a file that gives a token another id, or encodes a text to others.

    Raises
    ------
    FormatError
        It does.
    """
    found, wanted = again.vocabulary, tokenizer.vocabulary
    if found != wanted:
        pairs = enumerate(zip(wanted, found, strict=False))
        id_ = next((i for i, (a, b) in pairs if a != b), min(len(wanted), len(found)))
        token = wanted[id_] if id_ < len(wanted) else found[id_]
        _refuse(path, f"the id {id_:,} of {token!r} would be another")
    _compare_added(tokenizer, again, path)
    for text in texts:
        if encoded(again, text) != encoded(tokenizer, text):
            _refuse(path, f"{text!r} would be encoded to other ids")


def _compare_added(tokenizer: Tokenizer, again: Tokenizer, path: StrPath) -> None:
    """Refuse a file in which an added token is not found, or is another.

    Formats may tell of added tokens in different ways, so that what is compared is texts that hold
    them.
    """
    for _id, content, _flags in tokenizer._added_tokens:
        for text in (content, f"a {content} b", f"a{content}b"):
            ids = [_with_added(one, text) for one in (tokenizer, again)]
            if ids[0] != ids[1]:
                _refuse(path, f"the added token {content!r} would be found otherwise")


def _with_added(tokenizer: Tokenizer, text: str) -> list[int] | None:
    try:
        return tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return None


def _has_tokenizers() -> bool:
    return importlib.util.find_spec("tokenizers") is not None


def _compare_theirs(
    tokenizer: Tokenizer, draft: Path, path: StrPath, texts: list[bytes]
) -> None:
    """Refuse a file in which Hugging Face's library finds another id."""
    import tokenizers

    try:
        theirs = tokenizers.Tokenizer.from_file(os.fspath(draft))
    except Exception as error:
        _refuse(path, f"Hugging Face's library does not read it: {error}")
    theirs.no_truncation()
    theirs.no_padding()
    if getattr(theirs.model, "dropout", None):
        theirs.model.dropout = None
    ids = theirs.get_vocab(with_added_tokens=True)
    for token, id_ in tokenizer.get_vocab().items():
        if ids.get(token) != id_:
            found = ids.get(token)
            where = "none" if found is None else f"{found:,}"
            _refuse(
                path,
                f"the id {id_:,} of {token!r} is {where} in Hugging Face's library",
            )
    for text in texts:
        wanted = encoded(tokenizer, text)
        plain = text.decode(errors="replace")
        if wanted is None or plain.encode() != text:
            continue
        if _with_added(tokenizer, plain) != wanted:  # it holds an added token
            continue
        if theirs.encode(plain, add_special_tokens=False).ids != wanted:
            _refuse(path, f"{plain!r} has other ids in Hugging Face's library")


def _refuse(path: StrPath, problem: str) -> NoReturn:
    message = (
        f"{os.fspath(path)}: {problem}; nothing is written. A .bytepair file holds every "
        "tokenizer"
    )
    raise FormatError(message)
