"""A comparison of two tokenizers: for a terminal, and as an object for JSON.

Tokens are in brackets; with colours, different tokens are coloured. Invisible characters, and
bytes that are not part of a character, are written as escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._plurals import amount

from ._rich import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.analyze import Comparison
    from bytepair.analyze._compare import (
        AddedComparison,
        MergeAt,
        MergeComparison,
        Moved,
        TokenAt,
    )
    from bytepair.analyze._compare_texts import CorpusComparison, TextComparison

__all__ = ["as_lines", "as_object"]

Token = str | bytes

COLUMN_LEN = 22
TITLE = "bold"
FIRST, SECOND = "red", "green"
"""The colours of what is only in A and only in B, as in a diff."""


def as_lines(found: Comparison, names: tuple[str, str], n_shown: int) -> Iterator[Text]:
    """Write a comparison for a terminal, with a limited number of entries of each kind."""
    yield _row("A", names[0], FIRST)
    yield _row("B", names[1], SECOND)
    if found.is_same:
        yield Text("\nno difference in vocabulary, merges and parts", TITLE)
    yield from _vocabulary_lines(found, n_shown)
    if not found.merges.is_same:
        yield from _merge_lines(found.merges, n_shown)
    if found.added:
        yield from _added_lines(found.added, n_shown)
    for part in found.parts:
        yield Text(f"\n{part.name}", TITLE)
        yield _row("  A", part.first or "none", FIRST)
        yield _row("  B", part.second or "none", SECOND)
    if found.corpus is not None:
        yield from _corpus_lines(found.corpus, n_shown)


def _vocabulary_lines(found: Comparison, n_shown: int) -> Iterator[Text]:
    vocabulary = found.vocabulary
    yield Text("\nvocabulary", TITLE)
    yield _row("  ids", _two(*found.n_vocab))
    yield _row("  tokens", _two(vocabulary.n_first, vocabulary.n_second))
    yield _row("  merges", _two(found.merges.n_first, found.merges.n_second))
    if vocabulary.is_same:
        yield _row("  in both", f"{vocabulary.n_common:,}, with the same ids")
        return
    n_moved = len(vocabulary.moved)
    with_others = (
        f", {n_moved:,} with different ids" if n_moved else ", with the same ids"
    )
    yield _row("  in both", f"{vocabulary.n_common:,}{with_others}")
    for moved in vocabulary.moved[:n_shown]:
        yield _row("", _moved(moved))
    yield from _only_lines("A", vocabulary.only_in_first, n_shown, FIRST)
    yield from _only_lines("B", vocabulary.only_in_second, n_shown, SECOND)
    yield _row("  compared by", vocabulary.basis)


def _moved(moved: Moved) -> str:
    first, second = (
        ", ".join(map(str, ids)) for ids in (moved.first_ids, moved.second_ids)
    )
    return f"{shown(moved.token)} {first} → {second}"


def _only_lines(
    side: str, tokens: Sequence[TokenAt], n_shown: int, style: str
) -> Iterator[Text]:
    line = Text.assemble(*_column(f"  only in {side}"), f"{len(tokens):,}")
    if tokens and n_shown:
        line.append(": ")
        for token, id_ in tokens[:n_shown]:
            line.append(f"{shown(token)} ", style).append(f"{id_}  ", "dim")
        if len(tokens) > n_shown:
            line.append("…")
    line.rstrip()
    yield line


def _merge_lines(merges: MergeComparison, n_shown: int) -> Iterator[Text]:
    yield Text("\nmerges", TITLE)
    yield _row("  same, from the first", f"{merges.n_alike:,}")
    first, second = merges.first_difference
    yield _row("  then in A", _merge(first), FIRST)
    yield _row("  then in B", _merge(second), SECOND)
    other = f", {merges.n_other_order:,} in another order"
    yield _row("  in both", f"{merges.n_common:,}{other}")
    for side, some, style in (
        ("A", merges.only_in_first, FIRST),
        ("B", merges.only_in_second, SECOND),
    ):
        line = Text.assemble(*_column(f"  only in {side}"), f"{len(some):,}")
        if some and n_shown:
            line.append(": ")
            line.append(", ".join(map(_merge, some[:n_shown])), style)
            line.append(", …" if len(some) > n_shown else "")
        yield line


def _merge(merge: MergeAt | None) -> str:
    if merge is None:
        return "no more"
    return f"rank {merge.rank:,} {shown(merge.left)} + {shown(merge.right)}"


def _added_lines(added: Sequence[AddedComparison], n_shown: int) -> Iterator[Text]:
    yield Text("\nadded tokens that differ", TITLE)
    for token in added[:n_shown]:
        yield _row(f"  {shown(token.content)}", _change(token))
    if len(added) > n_shown:
        yield _row("", f"and {amount(len(added) - n_shown, 'other')}")


def _change(token: AddedComparison) -> str:
    """Name the differences of an added token."""
    if token.first is None or token.second is None:
        side, id_ = ("A", token.first_id) if token.first else ("B", token.second_id)
        return f"only in {side}, {id_}"
    changes = []
    if token.first_id != token.second_id:
        changes.append(f"{token.first_id} → {token.second_id}")
    here, there = token.first.properties(), token.second.properties()
    changes += [
        f"{name} {_word(here[name])} → {_word(there[name])}"
        for name in here
        if here[name] != there[name]
    ]
    return ", ".join(changes)


def _word(is_so: bool) -> str:  # noqa: FBT001 -- a value, no option
    return "yes" if is_so else "no"


def _corpus_lines(corpus: CorpusComparison, n_shown: int) -> Iterator[Text]:
    yield Text("\ncorpus", TITLE)
    yield _row(
        "  texts", f"{amount(corpus.n_texts, 'text')}, {amount(corpus.n_bytes, 'byte')}"
    )
    if corpus.n_bad:
        yield _row("", f"{amount(corpus.n_bad, 'bad line')} skipped")
    tokens = corpus.first_tokens, corpus.second_tokens
    yield _row("  tokens", f"{_two(*tokens)} {growth(*tokens)}")
    if missing := _missing(corpus):
        yield _row("  without a token", f"{missing} characters")
    share = corpus.n_changed / corpus.n_texts if corpus.n_texts else 0.0
    yield _row(
        "  texts that differ",
        f"{amount(corpus.n_changed, 'text')}, {100 * share:.2f} %",
    )
    if len(corpus.files) > 1:
        for file in corpus.files[:n_shown]:
            numbers = file.first_tokens, file.second_tokens
            yield Text(f"  {plain(file.path)}")
            yield _row("", f"{_two(*numbers)} {growth(*numbers)}")
        if len(corpus.files) > n_shown:
            yield _row("", f"and {amount(len(corpus.files) - n_shown, 'other file')}")
    if corpus.first_changed is not None:
        yield Text("\nfirst text that differs", TITLE)
        yield from _text_lines(corpus.first_changed)
    if corpus.n_changed > 1 and n_shown:
        yield Text("\ntexts that differ most", TITLE)
        for text in corpus.most[:n_shown]:
            yield from _text_lines(text)


def _missing(corpus: CorpusComparison) -> str:
    """Write how many characters no token stands for, if any."""
    missing = corpus.first_missing, corpus.second_missing
    return _two(*missing) if any(missing) else ""


def _text_lines(text: TextComparison) -> Iterator[Text]:
    place = (
        f"{plain(text.path)}, text {text.number:,}"
        if text.path
        else f"text {text.number:,}"
    )
    change = text.second_tokens - text.first_tokens
    numbers = amount(text.second_tokens, "token")
    if change:
        numbers = f"{text.first_tokens:,} → {numbers} ({change:+,})"
    yield Text(f"  {place}: {numbers}, {_alike(text.difference.n_alike)}")
    before = text.difference.before
    for side, tokens, style in (
        ("A", text.difference.first, FIRST),
        ("B", text.difference.second, SECOND),
    ):
        line = Text(
            f"    {side}  " + ("…" if text.difference.n_alike > len(before) else "")
        )
        line.append(bracketed(before), "dim")
        line.append(bracketed(tokens) or "(end)", style)
        yield line.append("" if text.difference.is_whole else "…")


def _alike(n_alike: int) -> str:
    """Say how many tokens are the same before the first difference.

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
    r"""Write tokens beside each other.

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


def _row(name: str, text: str, style: str = "") -> Text:
    return Text.assemble(*_column(name), (plain(text), style))


def _column(name: str) -> list[str]:
    return [f"{name:<{COLUMN_LEN}} "]


def as_object(
    found: Comparison, names: tuple[str, str], n_shown: int
) -> dict[str, Any]:
    """Give a comparison for a program; lists have the same limit, but totals count everything."""
    vocabulary, merges = found.vocabulary, found.merges
    return {
        "a": {"path": names[0], "n_vocab": found.n_vocab[0], "fingerprint": found.fingerprints[0]},
        "b": {"path": names[1], "n_vocab": found.n_vocab[1], "fingerprint": found.fingerprints[1]},
        "same_vocabulary": found.has_same_vocabulary,
        "tokens": {
            "compared_by": vocabulary.basis,
            "n_a": vocabulary.n_first,
            "n_b": vocabulary.n_second,
            "n_common": vocabulary.n_common,
            "n_only_in_a": len(vocabulary.only_in_first),
            "n_only_in_b": len(vocabulary.only_in_second),
            "n_other_ids": len(vocabulary.moved),
            "only_in_a": _token_objects(vocabulary.only_in_first[:n_shown]),
            "only_in_b": _token_objects(vocabulary.only_in_second[:n_shown]),
            "other_ids": [
                {"token": plain(token), "ids_a": list(first), "ids_b": list(second)}
                for token, first, second in vocabulary.moved[:n_shown]
            ],
        },
        "merges": {
            "n_a": merges.n_first,
            "n_b": merges.n_second,
            "n_common": merges.n_common,
            "n_other_order": merges.n_other_order,
            "n_alike": merges.n_alike,
            "n_only_in_a": len(merges.only_in_first),
            "n_only_in_b": len(merges.only_in_second),
            "only_in_a": [_merge_object(m) for m in merges.only_in_first[:n_shown]],
            "only_in_b": [_merge_object(m) for m in merges.only_in_second[:n_shown]],
            "first_difference": None
            if merges.is_same
            else dict(zip("ab", map(_merge_object, merges.first_difference), strict=True)),
        },
        "added_tokens": [_added_object(token) for token in found.added],
        "parts": [
            {"name": part.name, "a": part.first, "b": part.second} for part in found.parts
        ],
        "corpus": None if found.corpus is None else _corpus_object(found.corpus, n_shown),
    }  # fmt: skip


def _token_objects(tokens: Iterable[TokenAt]) -> list[dict[str, Any]]:
    return [{"token": plain(token), "id": id_} for token, id_ in tokens]


def _merge_object(merge: MergeAt | None) -> dict[str, Any] | None:
    if merge is None:
        return None
    return {"rank": merge.rank, "pair": [plain(merge.left), plain(merge.right)]}


def _added_object(token: AddedComparison) -> dict[str, Any]:
    sides = (("a", token.first, token.first_id), ("b", token.second, token.second_id))
    return {
        "content": token.content,
        **{
            side: None if one is None else {"id": id_, **one.properties()}
            for side, one, id_ in sides
        },
    }


def _corpus_object(corpus: CorpusComparison, n_shown: int) -> dict[str, Any]:
    first = corpus.first_changed
    return {
        "n_texts": corpus.n_texts,
        "n_bytes": corpus.n_bytes,
        "n_bad": corpus.n_bad,
        "tokens_a": corpus.first_tokens,
        "tokens_b": corpus.second_tokens,
        "ratio": corpus.ratio,
        **_missing_object(corpus),
        "n_changed": corpus.n_changed,
        "first_changed": None if first is None else _text_object(first),
        "most": [_text_object(text) for text in corpus.most[:n_shown]],
        "files": [
            {
                "path": file.path,
                "n_texts": file.n_texts,
                "n_changed": file.n_changed,
                "tokens_a": file.first_tokens,
                "tokens_b": file.second_tokens,
            }
            for file in corpus.files
        ],
    }


def _missing_object(corpus: CorpusComparison) -> dict[str, int]:
    """Give the numbers of characters that no token stands for, if any."""
    if not _missing(corpus):
        return {}
    return {"missing_a": corpus.first_missing, "missing_b": corpus.second_missing}


def _text_object(text: TextComparison) -> dict[str, Any]:
    n_alike, before, first, second, is_whole = text.difference
    return {
        "path": text.path,
        "number": text.number,
        "tokens_a": text.first_tokens,
        "tokens_b": text.second_tokens,
        "difference": {
            "n_alike": n_alike,
            "before": list(map(plain, before)),
            "a": list(map(plain, first)),
            "b": list(map(plain, second)),
            "is_whole": is_whole,
        },
    }
