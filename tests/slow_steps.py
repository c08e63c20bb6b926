"""Every step of training and of encoding, from the reference alone: what fast code that shows steps must agree with.

Ids, pairs, counts, ties and ranks are worked out by counting and joining tokens of `bytepair.reference`; the core has no
part in it. Left out: limits of tokens, and places in a text that normalizing changes.
"""

from itertools import pairwise

from bytepair.reference import Tokenizer
from bytepair.reference.encode import resolve
from bytepair.reference.tokenizer import cut_segments, segment_pieces
from bytepair.reference.train import count_pairs, merge
from bytepair.reference.units import join, symbols


def training(tokenizer: Tokenizer, counts: dict[bytes, int]) -> list[dict]:
    """Give what is before the first merge, and each merge with all pairs and what became of the pieces."""
    ids, units = tokenizer.ids, tokenizer.dialect.units
    words = [(symbols(piece, units), count) for piece, count in counts.items()]
    found = [{"number": 0, **_state(words, ids)}]
    for number, (left, right, count) in enumerate(tokenizer.learned, 1):
        chosen, token = (ids[left], ids[right]), ids[join(left, right)]
        pairs = [(ids[a], ids[b], n) for (a, b), n in count_pairs(words).items()]
        pairs.sort(key=lambda pair: (-pair[2], pair[:2] != chosen, pair))
        words = [(merge(word, (left, right)), n_pieces) for word, n_pieces in words]
        tied = [pair[:2] for pair in pairs[1:] if pair[2] == count]
        step = {"number": number, "left": chosen[0], "right": chosen[1], "token": token}
        step |= {"count": count, "pairs": pairs, "tied": tied, "passed_over": []}
        step["rule"] = tokenizer.dialect.ties
        found.append({**step, **_state(words, ids)})
    return found


def _state(words, ids) -> dict:
    return {
        "n_tokens": sum(len(word) * count for word, count in words),
        "pieces": [([ids[token] for token in word], count) for word, count in words],
    }


def pieces_of(tokenizer: Tokenizer, text: str, special=()) -> list[str | bytes]:
    """Give the pieces of a text, and the names of special tokens that are found in it."""
    found: list[str | bytes] = []
    for segment in cut_segments(text, tokenizer.dialect.units, special):
        if segment.is_special:
            found.append(segment.text)
        else:
            found.extend(segment_pieces(segment, tokenizer.dialect))
    return found


def encoding(tokenizer: Tokenizer, piece: bytes) -> dict:
    """Give the units of a piece, and each merge with all neighbours at that time; a unit without an id has none."""
    units = tokenizer.dialect.units
    cut = resolve(symbols(piece, units), tokenizer.ids, units)
    row = list(enumerate(cut))
    steps = []
    while True:
        others = [_neighbours(tokenizer, left, right) for left, right in pairwise(row)]
        ranked = [other for other in others if other[3] is not None]
        if not ranked:
            break
        chosen = min(ranked, key=lambda other: (other[3], other[0]))
        place, left, right, rank, token = chosen
        step = {"place": place, "merge": rank, "rank": rank, "left": left}
        step |= {"right": right, "token": token, "others": others}
        steps.append({**step, "count": tokenizer.learned[rank].n_pairs})
        at = others.index(chosen)
        row[at : at + 2] = [(place, join(row[at][1], row[at + 1][1]))]
    return {
        "symbols": [tokenizer.ids.get(token) for token in cut],
        "steps": steps,
        "tokens": [tokenizer.ids.get(token) for _place, token in row],
    }


def _neighbours(tokenizer, left, right):
    """Give the place and the ids of two neighbours, the rank of the merge that joins them, and what it makes."""
    (place, one), (_, other) = left, right
    rank = tokenizer.ranks.get((one, other))
    token = None if rank is None else tokenizer.ids[join(one, other)]
    return (place, tokenizer.ids.get(one), tokenizer.ids.get(other), rank, token)
