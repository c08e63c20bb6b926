"""BP401, BP402 and BP407: ids without a token, and ids that other libraries do not keep.

Hugging Face's libraries ignore the id of an added token that is not in the model's vocabulary:
such tokens get the next ids, in order. Their ids are worked out from the files alone; the
libraries are not used.
"""

from collections.abc import Iterator

from bytepair import Tokenizer
from bytepair._io.beside import ADDED_TO, added_beside
from bytepair._io.recognising import MERGES_OF

from ._finding import Finding, FoundToken
from ._subject import BYTE, HOLE, Subject, plain, read_json

__all__ = ["after_ranks", "holes", "listed", "listed_beside"]

ADDED_TOKENS = "added_tokens.json"


def holes(subject: Subject) -> Iterator[Finding]:
    """Look for ids without a token."""
    tokens = enumerate(subject.tokens)
    found = [FoundToken(id_, "") for id_, (kind, _) in tokens if kind == HOLE]
    yield Finding("BP401", tuple(found))


def listed(subject: Subject) -> Iterator[Finding]:
    """Compare the ids that files list with those that the tokens get when the files are read."""
    ids = {}
    name = subject.file.name if subject.file else ""
    if subject.file and name in MERGES_OF:
        name = ADDED_TOKENS
        ids = read_json(subject.file.parent / name)
    tokens = (subject.document or {}).get("added_tokens")
    for token in tokens if isinstance(tokens, list) else ():
        if isinstance(token, dict):
            ids[str(token.get("content"))] = token.get("id")
    found = [
        FoundToken(id_, token.content, f"{name} lists {ids[token.content]}")
        for id_, token in subject.added.items()
        if ids.get(token.content, id_) != id_
    ]
    yield Finding("BP402", tuple(found))


def listed_beside(subject: Subject) -> Iterator[Finding]:
    """Compare ids that only settings beside a file list with the ids in transformers."""
    file = subject.file
    if file is None or file.name not in ADDED_TO:
        return
    alone = Tokenizer.from_file(file)
    names = {token.content for token in alone.added_tokens.values()}
    next_id = alone.n_vocab
    if subject.document is None:
        names |= set(map(plain, alone.vocabulary))
    else:
        vocab = subject.document["model"].get("vocab")
        if isinstance(vocab, dict):
            names |= vocab.keys()
            next_id = max(len(vocab), max(alone.added_tokens, default=-1) + 1)
    if names.issuperset(token.content for token in subject.added.values()):
        return
    found = []
    for token in added_beside(file.parent):
        if token.content in names:
            continue
        own = subject.added.get(token.id)
        is_kept = token.id == next_id
        if own is not None and own.content == token.content and not is_kept:
            detail = f"{next_id} in transformers"
            found.append(FoundToken(token.id, token.content, detail))
        next_id += 1
    yield Finding("BP402", tuple(found))


def after_ranks(subject: Subject) -> Iterator[Finding]:
    """Compare the ids of special tokens with the next ids after the ranks, which converters use."""
    file = subject.file
    if file is None or not (
        file.suffix == ".tiktoken" or file.name == "tiktoken.model"
    ):
        return
    ranks = {id_ for id_, (kind, _) in enumerate(subject.tokens) if kind < BYTE}
    taken, moved = [], []
    for next_id, id_ in enumerate(sorted(subject.added.keys() - ranks), len(ranks)):
        detail = f"{next_id} in transformers"
        if next_id in ranks and next_id != id_:
            other = subject.written[next_id]
            taken.append(subject.found(id_, f"{detail}, which {other!r} has"))
        elif next_id != id_:
            moved.append(subject.found(id_, detail))
    yield Finding("BP402", tuple(taken))
    yield Finding("BP407", tuple(moved))
