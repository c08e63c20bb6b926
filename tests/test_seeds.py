"""The five seeds: small programs and texts that this project grew from.

Each test holds one claim of a seed, on every implementation. Expected merges are
learned anew by :func:`learn` below, which shares no code with the project.
"""

# ruff: noqa: RUF001 -- the texts of the seeds are in many scripts

import json
from collections import Counter
from itertools import pairwise

import pytest

import bytepair


def learn(words, n_merges=1000, min_count=1):
    """Learn ``[(pair, count), ...]`` from ``[(symbols, count), ...]``, first pair first."""
    learned = []
    while len(learned) < n_merges:
        counts = Counter()
        for symbols, n_words in words:
            for pair in pairwise(symbols):
                counts[pair] += n_words
        best = max(counts, key=counts.get, default=None)
        if best is None or counts[best] < min_count:
            break
        learned.append((best, counts[best]))
        words = [(replace(symbols, *best), n_words) for symbols, n_words in words]
    return learned


def replace(symbols, left, right):
    """Join each ``left, right`` in a tuple of symbols, from left to right."""
    for i in range(len(symbols) - 1):
        if symbols[i : i + 2] == (left, right):
            rest = replace(symbols[i + 2 :], left, right)
            return (*symbols[:i], left + right, *rest)
    return symbols


def marked(text, mark):
    """Count the words of a text as tuples of characters and an end mark."""
    return [((*word, mark), n) for word, n in Counter(text.split()).items()]


def joined(tokenizer):
    """Write each merge as the token that it makes."""
    return [left + right for left, right in tokenizer.merges]


def counts(tokenizer):
    """List the pair counts of the merges."""
    return [count for _, _, _, count in tokenizer.inspect().merge_log]


# Seed 0: letters and digits apart.

NOVELS = "corpora/spanish-novels.txt"


def test_seed_0_splits_a_sentence(implementation):
    """Letters, digits and the rest never share a piece; one space leads a word."""
    tokenizer = implementation.train_from_iterator(
        ["a"], merges=0, dialect="letters-digits"
    )
    pieces = tokenizer.split("Let's see how this w0rks!")
    assert "|".join(pieces) == "Let|'|s| see| how| this| w|0|rks|!"


@pytest.mark.slow
def test_seed_0_learns_from_novels(implementation, shared):
    """The first merges of 20 MB of novels, and 1.01 characters per token after one.

    The seed counts line ends as characters, but its pattern drops them from the
    tokens. They are tokens here, so the ratio of all text is lower, 1.00.
    """
    text = shared(NOVELS).read_bytes()
    tokenizer = implementation.train_from_iterator(
        [text], dialect="letters-digits", merges=3
    )
    assert tokenizer.merges == [(b" ", b" "), (b"  ", b"  "), (b" ", b"d")]
    assert tokenizer.inspect().merge_log == [
        (32, 32, 256, 952_776),
        (256, 256, 257, 433_080),
        (32, 100, 258, 309_669),
    ]
    pieces = Counter(tokenizer.split(text))
    n_bytes = sum(len(piece) * n for piece, n in pieces.items())
    assert n_bytes == len(text)
    n_merged = sum(piece.count(b"  ") * n for piece, n in pieces.items())
    n_tokens = n_bytes - n_merged
    n_characters = len(text.decode())
    assert f"{n_characters / (n_tokens - text.count(10)):.2f}" == "1.01"
    assert f"{n_characters / n_tokens:.2f}" == "1.00"


@pytest.mark.slow
def test_seed_0_prints_progress_and_ratio(shared):
    """A thousand merges: 1.01 characters per token after one, 2.84 at the end, with times.

    As the seed counts, which drops line ends from the tokens but not from the text.
    With line ends as tokens, which loses nothing, the ratio ends at 2.77.
    """
    ratios = {}
    for unmatched in ("drop", "keep"):
        steps = []
        tokenizer = bytepair.train(
            shared(NOVELS),
            dialect="letters-digits",
            merges=1000,
            unmatched=unmatched,
            progress=steps.append,
        )
        merging = [step for step in steps if step.phase == "merge"]
        assert (merging[0].done, merging[0].total) == (1, 1000)
        assert all(step.seconds_left is not None for step in merging)
        assert len(tokenizer.merges) == steps[-1].done == 1000
        ends = (merging[0], steps[-1])
        ratios[unmatched] = [f"{step.characters_per_token:.2f}" for step in ends]
    assert ratios == {"drop": ["1.01", "2.84"], "keep": ["1.00", "2.77"]}


def test_seed_0_stops_when_no_pair_occurs_twice(implementation):
    """Training ends by itself when no pair is found more than once."""
    texts = ["abcd abcd efg"]
    tokenizer = implementation.train_from_iterator(
        texts, dialect="letters-digits", vocab_size=1000
    )
    assert joined(tokenizer) == [b"ab", b"abc", b"abcd"]


def test_seed_0_round_trip(implementation):
    """Text with signs of many ranges comes back unchanged.

    The seed's printed ids are no golden: it encodes without splitting.
    """
    text = "this is a test to see if it works °å^○ⁿ·"
    tokenizer = implementation.train_from_iterator(
        [text] * 2, dialect="letters-digits", merges=20
    )
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) < len(text.encode())


# Seed 1: a stream of bytes.

FLAGS = "\u200c".join("🇺🇳🇮🇨🇴🇩🇪")
UNICODE_PARAGRAPH = (
    f"Ｕｎｉｃｏｄｅ! 🅤🅝🅘🅒🅞🅓🅔‽ {FLAGS}! 😄 The very name strikes fear and awe into the "
    "hearts of programmers worldwide. We all know we ought to “support Unicode” in our "
    "software (whatever that means—like using wchar_t for all the strings, right?). But "
    "Unicode can be abstruse, and diving into the thousand-page Unicode Standard plus "
    "its dozens of supplementary annexes, reports, and notes can be more than a little "
    "intimidating. I don’t blame programmers for still finding the whole thing "
    "mysterious even 30 years after Unicode’s inception."
)


def test_seed_1_merges_a_paragraph(implementation):
    """Sixty merges of the paragraph, with counts, and ids from 256 on, as counting again gives them.

    The seed prints ids that are one too high from the second merge on. Its copy of
    the paragraph lost six U+200C, which stand between the regional indicators.
    """
    assert len(UNICODE_PARAGRAPH) == 532
    tokenizer = implementation.train_from_iterator(
        [UNICODE_PARAGRAPH], dialect="byte-stream", merges=60
    )
    assert tokenizer.inspect().merge_log[:6] == [
        (101, 32, 256, 20),
        (240, 159, 257, 15),
        (226, 128, 258, 12),
        (105, 110, 259, 12),
        (115, 32, 260, 11),
        (97, 110, 261, 10),
    ]
    symbols = tuple(bytes([byte]) for byte in UNICODE_PARAGRAPH.encode())
    expected = learn([(symbols, 1)], 60)
    assert list(zip(tokenizer.merges, counts(tokenizer), strict=True)) == expected


def test_seed_1_steps_can_be_shown_one_by_one(implementation):
    """The log replays training: applying its first ``n`` steps gives ``n`` merges' ids."""
    ids = tuple((byte,) for byte in UNICODE_PARAGRAPH.encode())
    for n_merges in range(1, 8):
        tokenizer = implementation.train_from_iterator(
            [UNICODE_PARAGRAPH], dialect="byte-stream", merges=n_merges
        )
        left, right, new_id, count = tokenizer.inspect().merge_log[-1]
        assert sum(pair == ((left,), (right,)) for pair in pairwise(ids)) == count
        merged = replace(ids, (left,), (right,))
        ids = tuple((new_id,) if len(token) == 2 else token for token in merged)
        assert [(id_,) for id_ in tokenizer.encode(UNICODE_PARAGRAPH)] == list(ids)


# Seed 2: words with an end mark.

SENNRICH_WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
SONG = """
Lay lady lay,
Lay across my big brass bed
Lay lady lay
Lay across my big brass bed
"""


def test_seed_2_learns_from_counted_words(implementation):
    """The paper's four words, counted or in a text, give fifteen merges, ties in the order of the text."""
    tokenizer = implementation.train_from_counts(SENNRICH_WORDS, dialect="sennrich")
    assert " ".join(joined(tokenizer)) == (
        "es est est</w> lo low ne new newest</w> low</w> wi wid widest</w> "
        "lowe lower lower</w>"
    )
    assert counts(tokenizer) == [9, 9, 9, 7, 7, 6, 6, 6, 5, 3, 3, 3, 2, 2, 2]
    text = " ".join(f"{word} " * n for word, n in SENNRICH_WORDS.items())
    from_text = implementation.train_from_iterator([text], dialect="sennrich")
    assert from_text.inspect().merge_log == tokenizer.inspect().merge_log
    expected = learn(marked(text, "</w>"), min_count=2)
    assert list(zip(from_text.merges, counts(from_text), strict=True)) == expected


def test_seed_2_learns_a_song(implementation):
    """The song gives 22 merges; the seed's typed table leaves three words unsplit."""
    tokenizer = implementation.train_from_iterator([SONG], dialect="sennrich")
    expected = learn(marked(SONG, "</w>"), min_count=2)
    assert list(zip(tokenizer.merges, counts(tokenizer), strict=True)) == expected
    assert len(tokenizer.merges) == 22
    learned = dict(zip(joined(tokenizer), counts(tokenizer), strict=True))
    some = {"y</w>": 9, "ay</w>": 5, "Lay</w>": 4, "ss": 4}
    assert some.items() <= learned.items()


def test_seed_2_shows_token_frequencies_after_each_step(implementation):
    """Each step takes from both halves what it gives to the new token."""
    before = Counter(
        character for word in SONG.split() for character in (*word, "</w>")
    )
    n_merges = len(
        implementation.train_from_iterator([SONG], dialect="sennrich").merges
    )
    for n in range(1, n_merges + 1):
        tokenizer = implementation.train_from_iterator(
            [SONG], dialect="sennrich", merges=n
        )
        after = Counter(tokenizer.tokenize(SONG))
        (left, right), count = tokenizer.merges[-1], counts(tokenizer)[-1]
        taken, given = Counter([left, right] * count), Counter({left + right: count})
        assert after == before - taken + given
        before = after


# Seed 3: a learner and a segmenter.

JURAFSKY_CORPUS = "low " * 5 + "lowest " * 2 + "newer " * 6 + "wider " * 3 + "new " * 2


def test_seed_3_learns_until_every_word_is_a_token(implementation):
    """The course's corpus gives sixteen merges and then has no pair left; ``lower`` falls into two of its tokens."""
    tokenizer = implementation.train_from_iterator(
        [JURAFSKY_CORPUS], dialect="jurafsky-martin"
    )
    assert " ".join(joined(tokenizer)) == (
        "er er_ ne new lo low newer_ low_ wi wid wider_ lowe lowes lowest lowest_ new_"
    )
    expected = learn(marked(JURAFSKY_CORPUS, "_"))
    assert list(zip(tokenizer.merges, counts(tokenizer), strict=True)) == expected
    assert tokenizer.tokenize("lower") == ["low", "er_"]


def test_seed_3_segments_a_sentence(implementation):
    """The eight printed segmentations, lower case in training only as in the seed."""
    tokenizer = implementation.train_from_iterator(
        [JURAFSKY_CORPUS], dialect="jurafsky-martin", lowercase="training"
    )
    segmented = {
        "Yes,": "Y e s , _",
        "they": "t h e y _",
        "said": "s a i d _",
        "we": "w e _",
        "need": "ne e d _",
        "to": "t o _",
        "lower": "low er_",
        "it.": "i t . _",
    }
    for word, tokens in segmented.items():
        assert tokenizer.tokenize(word) == tokens.split()
    sentence = "Yes, they said we need to lower it."
    assert tokenizer.tokenize(sentence) == " ".join(segmented.values()).split()


def test_seed_3_never_takes_an_underscore_for_the_end_mark(implementation):
    """The mark is no character: a corpus full of underscores learns no confusion."""
    tokenizer = implementation.train_from_iterator(
        ["a_ a_ a a a"], dialect="jurafsky-martin"
    )
    assert (
        tokenizer.inspect().merge_log[0][3] == 3
    )  # "a" + mark, not "a" + "_" (2 times)
    assert tokenizer.decode(tokenizer.encode("a_ a a_")) == "a_ a a_"


# Seed 4: unknown and special tokens.

HUG_WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
PERSIAN = [
    "این یک عبارت برای تست روش مورد بررسی است.",
    "در این مدل سعی در توکنایز کردن این عبارت داریم.",
]
# What the seed prints from its second right merge on.
PERSIAN_MERGES = (
    "ای+ن ا+ر ع+ب عب+ار عبار+ت ب+ر س+ت ر+د د+ر ی+ک بر+ای ت+ست ر+و رو+ش م+و مو+رد بر+ر "
    "برر+س بررس+ی ا+ست م+د مد+ل س+ع سع+ی ت+و تو+ک توک+ن توکن+ای توکنای+ز ک+رد"
)


def test_seed_4_learns_three_merges(implementation):
    """Five counted words give ``ug``, ``un``, ``hug``, and ``m`` and ``t``, which they lack, are unknown."""
    tokenizer = implementation.train_from_counts(
        HUG_WORDS, dialect="unknown-token", merges=3
    )
    assert joined(tokenizer) == ["ug", "un", "hug"]
    assert counts(tokenizer) == [20, 16, 15]
    assert tokenizer.tokenize("bug") == ["b", "ug"]
    assert tokenizer.tokenize("mug") == ["[UNK]", "ug"]
    assert tokenizer.tokenize("thug") == ["[UNK]", "hug"]
    ids = tokenizer.encode("thug")
    assert [tokenizer.vocabulary[id_] for id_ in ids] == ["[UNK]", "hug"]


def test_seed_4_learns_from_persian(implementation):
    """Two sentences at a vocabulary of 50 give 33 merges.

    The seed forces a first merge that never applies, and so lists its product three
    times; without that mistake there is room for two merges more.
    """
    tokenizer = implementation.train_from_iterator(
        PERSIAN,
        dialect="unknown-token",
        vocab_size=50,
        unknown_token=None,
        special_tokens=["<|endoftext|>"],
    )
    printed = [tuple(pair.split("+")) for pair in PERSIAN_MERGES.split()]
    assert len(tokenizer.vocabulary) == 50
    assert tokenizer.vocabulary[-1] == "<|endoftext|>"
    assert len(tokenizer.merges) == 33
    assert tokenizer.merges[0] == ("ا", "ی")
    assert tokenizer.merges[1:-2] == printed
    words = [word for text in PERSIAN for word in text.replace(".", " .").split()]
    expected = learn([(tuple(word), n) for word, n in Counter(words).items()], 33)
    assert list(zip(tokenizer.merges, counts(tokenizer), strict=True)) == expected


def test_seed_4_tokenizes_persian(implementation):
    """The seed's last sentence falls into the five words that it prints."""
    tokenizer = implementation.train_from_iterator(
        PERSIAN, dialect="unknown-token", merges=33
    )
    tokens = ["این", "یک", "عبارت", "است", "."]
    assert tokenizer.tokenize("این یک عبارت است.") == tokens


@pytest.mark.slow
def test_seed_4_reads_gpt2(implementation, shared):
    """GPT-2's own files give its ids for a sample sentence."""
    tokenizer = load_gpt2(implementation, shared("vocabularies/gpt2"))
    ids = tokenizer.encode("This is a sample sentence.")
    assert ids == [1212, 318, 257, 6291, 6827, 13]
    assert tokenizer.decode(ids) == "This is a sample sentence."


def load_gpt2(implementation, folder):
    """Load ``vocab.json`` and ``merges.txt``; the reference is put together by hand."""
    if hasattr(implementation.Tokenizer, "from_file"):
        return implementation.Tokenizer.from_file(folder / "vocab.json")
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    order = visible + [byte for byte in range(256) if byte not in visible]
    letters = [*map(chr, visible), *map(chr, range(256, 256 + 256 - len(visible)))]
    byte_of = dict(zip(letters, order, strict=True))

    def token(name):
        if name == "<|endoftext|>":
            return implementation.Token(name.encode(), "s")
        text = bytes(byte_of[letter] for letter in name)
        return implementation.Token(text, "u" * len(text))

    names = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    pairs = [[token(name) for name in line.split(" ")] for line in lines if line]
    return implementation.Tokenizer(
        implementation.DIALECTS["gpt2"],
        tuple(token(name) for name in sorted(names, key=names.get)),
        tuple(implementation.Merge(*pair, 0) for pair in pairs),
    )
