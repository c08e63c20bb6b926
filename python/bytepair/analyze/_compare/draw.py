"""A comparison of two tokenizers: for a terminal, and as an object for JSON.

Tokens are in brackets; with colours, different tokens are coloured. Invisible characters, and
bytes that are not part of a character, are written as escapes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair._added import AddedToken
from bytepair._io.recognising import names_of
from bytepair._plurals import amount
from bytepair.analyze._stats.verdict import Count, verdict
from bytepair.views._runs import PART_TITLES, Line, Run

from .comparing import MergeAt
from .pairing import merge_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .comparing import (
        AddedComparison,
        Comparison,
        ListComparison,
        MovedMerge,
        TokenAt,
    )
    from .corpus import CorpusComparison, TextComparison

__all__ = ["as_lines", "as_object"]

Token: TypeAlias = "str | bytes"

COLUMN_LEN = 22
FIRST, SECOND = "first", "second"
"""The styles of entries that are only in A or only in B, as in a diff."""


def as_lines(found: Comparison, names: tuple[str, str], n_shown: int) -> Iterator[Line]:
    """Write a comparison for a terminal, with a limited number of entries of each kind."""
    if found.corpus is not None:
        short_names = names_of(list(map(Path, names)))
        sentences = verdict(_counts(found, found.corpus, short_names))
        yield from ([Run(plain(sentence), "heading")] for sentence in sentences)
        if sentences:
            yield []
    yield _row("A", names[0], FIRST)
    yield _row("B", names[1], SECOND)
    if found.is_same:
        yield from _title("no difference in vocabulary, merges and parts")
    yield from _vocabulary_lines(found, n_shown)
    if not found.merges.is_same:
        yield from _merge_lines(found.merges, n_shown)
    if found.added:
        yield from _added_lines(found.added, n_shown)
    for part in found.parts:
        yield from _title(PART_TITLES.get(part.name, part.name))
        yield _row("  A", part.first or "none", FIRST)
        yield _row("  B", part.second or "none", SECOND)
    if found.corpus is not None:
        yield from _corpus_lines(found.corpus, n_shown)


def _counts(
    found: Comparison, corpus: CorpusComparison, names: Sequence[str]
) -> list[Count]:
    parts = {part.name: (str(part.first), str(part.second)) for part in found.parts}
    loses = parts.get("loses", ("nothing", "nothing"))
    tokens = corpus.first_tokens, corpus.second_tokens
    missing = corpus.first_missing, corpus.second_missing
    unknown = corpus.first_unknown, corpus.second_unknown
    rows = zip(names, tokens, missing, unknown, loses, strict=True)
    return [Count(*row) for row in rows]


def _vocabulary_lines(found: Comparison, n_shown: int) -> Iterator[Line]:
    vocabulary = found.vocabulary
    yield from _title("vocabulary")
    yield _row("  ids", _two(*found.n_vocab))
    yield _row("  tokens", _two(vocabulary.n_first, vocabulary.n_second))
    yield _row("  merges", _two(found.merges.n_first, found.merges.n_second))
    moved = f"{vocabulary.n_moved:,}" if vocabulary.n_moved else "none"
    yield _row("  in both", f"{vocabulary.n_common:,}, {moved} with different ids")
    for token in vocabulary.moved[:n_shown]:
        first, second = (
            ", ".join(map(str, ids)) for ids in (token.first_ids, token.second_ids)
        )
        yield _row("", f"{shown(token.token)} {first} → {second}")
    if not vocabulary.is_same:
        yield from _only_lines(vocabulary, n_shown)
        yield _row("  compared by", found.basis)


def _merge_lines(
    merges: ListComparison[MergeAt, MovedMerge], n_shown: int
) -> Iterator[Line]:
    yield from _title("merges")
    moved = f"{merges.n_moved:,}" if merges.n_moved else "none"
    yield _row("  in both", f"{merges.n_common:,}, {moved} in another order")
    for first, second, left, right in merges.moved[:n_shown]:
        merge = merge_name(left, right, shown)
        yield _row("", f"{merge} rank {first:,} → {second:,}")
    yield from _only_lines(merges, n_shown)


def _only_lines(found: ListComparison[Any, Any], n_shown: int) -> Iterator[Line]:
    """Write the entries that only one side has: their number, and the first of them."""
    for side, entries, style in (
        ("A", found.only_in_first, FIRST),
        ("B", found.only_in_second, SECOND),
    ):
        line = [_column(f"  only in {side}"), Run(f"{len(entries):,}")]
        texts = map(_entry, entries[:n_shown])
        if entries and n_shown:
            line += [Run(": "), Run(", ".join(texts), style)]
            line.append(Run(", …" if len(entries) > n_shown else ""))
        yield line


def _entry(entry: TokenAt | MergeAt) -> str:
    if isinstance(entry, MergeAt):
        return f"{merge_name(entry.left, entry.right, shown)} rank {entry.rank:,}"
    return f"{shown(entry.token)} {entry.id}"


def _added_lines(added: Sequence[AddedComparison], n_shown: int) -> Iterator[Line]:
    yield from _title("added tokens that differ")
    for token in added[:n_shown]:
        yield _row(f"  {shown(token.content)}", " → ".join(token.sides()))
    if len(added) > n_shown:
        yield _row("", f"and {amount(len(added) - n_shown, 'other')}")


def _corpus_lines(corpus: CorpusComparison, n_shown: int) -> Iterator[Line]:
    yield from _title("corpus")
    yield _row(
        "  texts", f"{amount(corpus.n_texts, 'text')}, {amount(corpus.n_bytes, 'byte')}"
    )
    if corpus.n_bad:
        yield _row("", f"{amount(corpus.n_bad, 'bad line')} skipped")
    tokens = corpus.first_tokens, corpus.second_tokens
    yield _row("  tokens", f"{_two(*tokens)} {growth(*tokens)}")
    missing = corpus.first_missing, corpus.second_missing
    if any(missing):
        yield _row("  without a token", f"{_two(*missing)} characters")
    share = corpus.n_changed / corpus.n_texts if corpus.n_texts else 0.0
    yield _row(
        "  texts that differ",
        f"{amount(corpus.n_changed, 'text')}, {100 * share:.2f} %",
    )
    if len(corpus.files) > 1:
        for file in corpus.files[:n_shown]:
            numbers = file.first_tokens, file.second_tokens
            yield [Run(f"  {plain(file.path)}")]
            yield _row("", f"{_two(*numbers)} {growth(*numbers)}")
        if len(corpus.files) > n_shown:
            yield _row("", f"and {amount(len(corpus.files) - n_shown, 'other file')}")
    if corpus.first_changed is not None:
        yield from _title("first text that differs")
        yield from _text_lines(corpus.first_changed)
    if corpus.n_changed > 1 and n_shown:
        yield from _title("texts that differ most")
        for text in corpus.most[:n_shown]:
            yield from _text_lines(text)


def _text_lines(text: TextComparison) -> Iterator[Line]:
    path = f"{plain(text.path)}, " if text.path else ""
    change = text.second_tokens - text.first_tokens
    numbers = amount(text.second_tokens, "token")
    if change:
        numbers = f"{text.first_tokens:,} → {numbers} ({change:+,})"
    alike = _alike(text.difference.n_alike)
    yield [Run(f"  {path}text {text.number:,}: {numbers}, {alike}")]
    before = text.difference.before
    for side, tokens, style in (
        ("A", text.difference.first, FIRST),
        ("B", text.difference.second, SECOND),
    ):
        is_cut = text.difference.n_alike > len(before)
        yield [
            Run(f"    {side}  " + ("…" if is_cut else "")),
            Run(bracketed(before), "note"),
            Run(bracketed(tokens) or "(end)", style),
            Run("" if text.difference.is_whole else "…"),
        ]


def _alike(n_alike: int) -> str:
    """Describe how many tokens are the same before the first difference.

    >>> _alike(0), _alike(1), _alike(1200)
    ('none the same', 'the first 1 the same', 'the first 1,200 the same')
    """
    return f"the first {n_alike:,} the same" if n_alike else "none the same"


def growth(first: int, second: int) -> str:
    """Write the growth of a number in percent.

    >>> growth(200, 210), growth(3, 2), growth(7, 7), growth(0, 1)
    ('+5.00 %', '-33.33 %', 'in both', '')
    """
    if first == second:
        return "in both"
    return f"{100 * (second - first) / first:+.2f} %" if first else ""


def bracketed(tokens: Iterable[Token]) -> str:
    r"""Write tokens one after the other, each in brackets.

    >>> bracketed([b"low", " er", b"\xe4"])
    '[low][ er][\\xe4]'
    """
    return "".join(f"[{plain(token)}]" for token in tokens)


def plain(token: Token) -> str:
    r"""Write a token as text, with escapes for invisible characters.

    >>> plain(b"caf\xc3\xa9"), plain(b"\xc3\n")
    ('café', '\\xc3\\n')
    """
    text = token if isinstance(token, str) else token.decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(token: Token) -> str:
    r"""Write a token alone, in quotes if it has spaces or quotes.

    >>> shown(b"low"), shown(b" low"), shown(b"'s")
    ('low', "' low'", '"\'s"')
    """
    text = plain(token)
    if "'" in text:
        return f'"{text}"'
    return f"'{text}'" if " " in text or not text else text


def _two(first: int, second: int) -> str:
    return f"{first:,} → {second:,}" if first != second else f"{first:,}"


def _title(text: str) -> Iterator[Line]:
    yield []
    yield [Run(text, "heading")]


def _row(name: str, text: str, style: str = "") -> Line:
    return [_column(name), Run(plain(text), style)]


def _column(name: str) -> Run:
    return Run(f"{name:<{COLUMN_LEN}} ")


LISTS = {"only_in_first", "only_in_second", "moved", "most"}
"""The attributes that are cut to a limited number of entries; other attributes have totals."""


def as_object(value: Any, n_listed: int) -> Any:  # noqa: ANN401 -- a result, or a value in one
    """Return a comparison for a program: an object with the attributes of the result."""
    if isinstance(value, bytes):
        return plain(value)
    if isinstance(value, AddedToken):
        return value.properties()
    if is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        named = value._asdict()
    elif isinstance(value, tuple):
        return [as_object(entry, n_listed) for entry in value]
    else:
        return value
    return {
        name: as_object(entry[:n_listed] if name in LISTS else entry, n_listed)
        for name, entry in named.items()
    }
