"""Requests to train and to trace in the playground, and the comparison of each step with Python and the reference.

The page is asked as its views ask it. Left out: what is drawn.
"""

import dataclasses
import json
from collections import Counter

from tests import slow_steps

import bytepair
from bytepair import reference
from bytepair.analyze import trace, training_steps
from bytepair.analyze._trace.trace import Added
from bytepair.reference import DIALECTS
from bytepair.reference.tokenizer import cut_pieces

WALK = """async ([request, text, words, special]) => {
  const payload = new TextEncoder().encode(text);
  let name;
  try {
    name = await playground.train("walked", {op: "train", ...request, payload});
  } catch (error) {
    return {refused: error.message};
  }
  const {core, nSteps} = playground.named(name);
  const plain = ({payload: _bytes, ...fields}) => fields;
  const walks = [];
  for (const [from, to] of [[0, 3], [3, nSteps]]) walks.push(plain(await core.ask({op: "steps", from, to})));
  const traces = [];
  for (const word of words) {
    const bytes = new TextEncoder().encode(word);
    const parts = [];
    for (let at = 0; at < bytes.length; ) {
      const part = await core.ask({op: "trace", at, special, payload: bytes.slice()}).then(plain, (error) => ({refused: error.message}));
      parts.push([at, part]);
      at = Math.max(at + 1, (part.end ?? 0) - 1); // the first byte of each piece, and the last
    }
    traces.push([word, parts]);
  }
  playground.remove(name);
  return {nSteps, walks, traces};
}"""
SPECIAL = ["<s>", "<|end|>", "[UNK]"]
TEXTS = [
    "aaaa aaaaa aa a aaa",
    "abc abd cab dab bcd abc abd",
    "low lower lowest newest widest low LOW",
    "東京は東京 नमस्ते नम 😀😃 e\u0301é ﬁ \uff21",
    "سلام سلام שלום \u202eabc\u202c abc",
    "<s>a b<|end|><|end|>a b<s>[UNK] a b <s",
    "  \n\n\t  \r\n  ▁▁ ▁a  ",
    "ab",
    "\x00\x00\x01\ufeff\u2028x</w>_ _</w>",
]
COUNTS = [
    "low\t5\nlower\t2\nnewest\t6\nwidest\t3",
    "ba\t1\nab\t1\nba\t3\naaaa\t2\n\t4\nb\n\nzero\t0\nzzzz\t0",
    "low est\t2\r\ntab\tin\t3\n東京\t1099511627776\n é\t1",
]
WORDS = ["lowest aaaa ab", "東京😀 e\u0301 \u202eنمسلم", "a<s>b [UNK]", ""]
PATTERN = r" ?\p{L}+|\p{N}|\s+"


def requests():
    """Give what the page's form can ask for with each text, but for named patterns."""
    for text in TEXTS:
        yield {}, text
        yield {"merges": 4, "special_tokens": SPECIAL}, text
        yield {"pattern": "", "merges": 5}, text
        yield {"pattern": PATTERN, "special_tokens": ["<s>"]}, text
    for text in COUNTS:
        yield {"counts": True}, text
        yield {"counts": True, "merges": 2, "special_tokens": ["<s>", "low"]}, text
    for size in (0, 1, 10**9):
        yield {"merges": size}, TEXTS[1]
    for size in (0, 5, 260, 1000):
        yield {"vocab_size": size, "special_tokens": ["<s>"]}, TEXTS[1]
    yield {"counts": True, "special_tokens": ["<s>", "<s>"]}, COUNTS[0]
    yield {}, ""
    yield {}, " "


def counts_as_written(text):
    """Read pieces with their counts, a line each; one without a count occurs once, and nothing is no piece."""
    found = Counter()
    for line in map(str.rstrip, text.split("\n")):
        piece, tab, count = line.rpartition("\t")
        found[(piece if tab else line).encode()] += int(count) if tab else 1
    return {piece: count for piece, count in found.items() if piece and count}


def by_python(dialect, request, text):
    """Train as the package does; give the error if it refuses."""
    options = {name: value for name, value in request.items() if name != "counts"}
    try:
        if request.get("counts"):
            counts = counts_as_written(text)
            return bytepair.train_from_counts(counts, dialect=dialect, **options)
        return bytepair.train_from_iterator([text], dialect=dialect, **options)
    except bytepair.TokenizerError as error:
        return error


def by_the_reference(dialect, request, text, pieces=None):
    """Train as the reference does, on given pieces if it has no such pattern; give its pieces with their counts, too."""
    chosen, names = DIALECTS[dialect], request.get("special_tokens", [])
    if pieces is None and "pattern" in request:
        stages = [(request["pattern"], "keep")] if request["pattern"] else []
        chosen = dataclasses.replace(chosen, split=tuple(stages))
    if request.get("counts"):
        counts = counts_as_written(text)
    else:
        cut = pieces or cut_pieces(text, chosen, special_tokens=names, training=True)
        counts = Counter(cut)
    options = {n: request[n] for n in ("merges", "vocab_size") if n in request}
    options |= {"dialect": chosen, "special_tokens": names}
    return reference.train_from_counts(counts, **options), counts


def check(page, dialect, request, text, special="text"):
    """Train in the page, and compare all that it tells of steps. Gives the number of merges."""
    words = [*WORDS, text[:30], text[::-1][:30]]
    found = page.evaluate(WALK, [{"dialect": dialect, **request}, text, words, special])
    python = by_python(dialect, request, text)
    if isinstance(python, Exception):
        assert "refused" in found, python
        return 0
    assert "refused" not in found, found
    has_name = request.get("pattern") in bytepair.patterns()
    pieces = [piece.encode() for piece in python.split(text)] if has_name else None
    own, counts = by_the_reference(dialect, request, text, pieces)
    check_walk(found["walks"], own, counts, python)
    for word, parts in found["traces"]:
        check_traces(word, parts, own, python, special, knows_pieces=not has_name)
    return found["nSteps"]


def check_walk(walks, own, counts, python):
    """Every step is that of the reference and of Python, and each token that is shown has its name."""
    start, *steps = slow_steps.training(own, counts)
    assert walks[0]["start"] | {"number": 0} == as_page(start)
    shown = [step for walk in walks for step in walk["steps"]]
    assert shown == [as_page(step) for step in steps]
    walked = training_steps(python, list(counts.items()), ties=own.dialect.ties)
    assert [as_reference(step) for step in walked] == steps
    for walk in walks:
        check_known(walk["known"], own)
        for step in walk["steps"]:
            pairs = [pair[:2] for pair in step["pairs"]]
            rows = [*pairs, *(piece["ids"] for piece in step["pieces"])]
            assert {str(id_) for row in rows for id_ in row} <= walk["known"].keys()


def as_page(step):
    """Write a step of the reference as the page is told: the first pairs and pieces, and how many there are."""
    pieces = [{"ids": ids, "count": count} for ids, count in step["pieces"]]
    shown = {**step, "pieces": pieces[:200], "n_pieces": len(pieces)}
    shown.pop("passed_over", None)  # the page trains without limits
    for name in {"pairs", "tied"} & step.keys():
        shown |= {name: step[name][:40], f"n_{name}": len(step[name])}
    return json.loads(json.dumps(shown))


def as_reference(step):
    """Write a step of Python as the reference does."""

    def rows(pairs):
        return [(pair.left, pair.right, pair.count) for pair in pairs]

    return {
        "number": step.number,
        "left": step.chosen.left,
        "right": step.chosen.right,
        "token": step.token,
        "count": step.chosen.count,
        "pairs": rows(step.pairs),
        "tied": [row[:2] for row in rows(step.tied)],
        "passed_over": rows(step.passed_over),
        "rule": step.ties,
        "n_tokens": step.n_tokens,
        "pieces": [(list(piece.ids), piece.count) for piece in step.pieces],
    }


def check_known(known, own):
    """Tokens have the bytes, the kind and the name of the reference."""
    units = own.dialect.units
    for id_, token in known.items():
        text, form = own.tokens[int(id_)]
        assert bytes(token["bytes"]) == (text[:-1] if form[-1] == "e" else text)
        is_unknown = text.decode(errors="replace") == units.unknown_token
        kinds = {"x": "byte", "s": "unknown" if is_unknown else "added"}
        assert token["kind"] == kinds.get(form[0], "text")
        if units.kind == "character":
            assert token["name"] == own.vocabulary[int(id_)]


def check_traces(word, parts, own, python, special, *, knows_pieces):
    """At each place, the page has the piece of Python and of the reference, with each merge and what waited."""
    allowed = list(own.special_tokens) if special == "tokens" else []
    course = trace(python, word, allowed_special=allowed)
    texts = slow_steps.pieces_of(own, word, allowed) if knows_pieces else None
    for at, part in parts:
        here = [n for n, one in enumerate(course.flat) if one.start <= at < one.end]
        if min(course.ids, default=0) < 0 or not here:
            assert "refused" in part  # as encoding refuses it
            continue
        one = course.flat[here[0]]
        assert (part["start"], part["end"]) == (one.start, one.end)
        check_known(part["known"], own)
        if isinstance(one, Added):
            assert (part["kind"], part["id"]) == ("added", one.id)
            assert texts is None or texts[here[0]] == own.tokens[one.id].text.decode()
            continue
        assert texts is None or texts[here[0]] == one.text
        check_piece(part, one, own)


def check_piece(part, one, own):
    """Compare the symbols, the merges with all neighbours, and the tokens of a piece."""
    assert bytes(part["bytes"]) == one.text
    assert not part["is_whole"]
    found = {
        "symbols": [id_ for id_, _start, _end in part["symbols"]],
        "steps": part["steps"],
        "tokens": [id_ for id_, _start, _end in part["tokens"]],
    }
    expected = slow_steps.encoding(own, one.text)
    assert found == json.loads(json.dumps(expected))
    symbols = [[s.id, s.start, s.end] for s in one.symbols]
    assert part["symbols"] == symbols
    steps = [dataclasses.asdict(step) for step in one.steps]
    others = [step["others"] for step in part["steps"]]
    ours = [{**step, "others": a} for step, a in zip(steps, others, strict=True)]
    assert part["steps"] == ours
    assert found["tokens"] == list(one.ids)
