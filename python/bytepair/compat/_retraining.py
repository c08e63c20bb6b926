"""A tokenizer that is trained anew, with the parts of another: ``train_new_from_iterator``.

Special tokens get the first ids, then comes the alphabet, then what is learned, as in
transformers; ids and merges are those that it learns, but where it lets the order of a
hash table decide (marks of words). Other added tokens are left out.

The alphabet has each character of the texts as it is, and marked as it begins or ends words.
Bytes are characters too, by the letters that stand for them, so all of them are in it.

Left out: an alphabet of less than all bytes, and ``max_token_length``, which there limits
pairs, by what their printable form has in UTF-8, and only those that come up later.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bytepair import Tokenizer, train_from_counts, train_from_iterator
from bytepair._added import AddedToken, added_token
from bytepair._names import refuse_set
from bytepair.errors import TokenizerError, TrainingError

__all__ = ["retrained"]

N_BYTES = 256
MARKS = ("end_of_word_suffix", "continuing_subword_prefix")
KNOWN = ("min_frequency", "show_progress")
ALPHABET = ("initial_alphabet", "limit_alphabet")
NO_VALUE = object()
"""Is the mark of a name that is none."""


class Alphabet(NamedTuple):
    """What is said of the characters that get ids."""

    initial: frozenset[str] = frozenset()
    """They get ids, whether texts have them or not."""
    limit: int | None = None


class Learned(NamedTuple):
    """The tokens in the order of their ids, behind special ones, and the merges."""

    tokens: list[str]
    merges: list[Any]


class Course(NamedTuple):
    """What is learned, and how."""

    vocab_size: int
    special_tokens: list[AddedToken]
    new_names: Mapping[str, str]
    """By its name: the new name of a special token."""
    options: Mapping[str, Any]
    """Those of the training."""
    alphabet: "Alphabet"

    @property
    def n_left(self) -> int:
        """How many tokens there may be beside special ones."""
        return self.vocab_size - len(self.special_tokens)


def retrained(
    tokenizer: Tokenizer,
    texts: Iterable[Any],
    vocab_size: int,
    new_special_tokens: Sequence[Any] | None,
    special_tokens_map: Mapping[str, str] | None,
    trainer_options: Mapping[str, Any],
) -> Tokenizer:
    """Train a tokenizer with the parts of another.

    Raises
    ------
    TrainingError
        Nothing can be learned, or a learned token is written as a special one.
    FormatError
        No ``tokenizer.json`` can hold the parts.
    """
    document = json.loads(tokenizer.to_bytes(format="huggingface"))
    new_names = special_tokens_map or {}
    special = [_renamed(token, new_names) for token in document["added_tokens"]]
    special = [token for token in special if token.special]
    special += [added_token(token, special=True) for token in new_special_tokens or ()]
    is_bytes = _is_byte_level(document["pre_tokenizer"])
    marks = [document["model"].get(name) or "" for name in MARKS]
    options, alphabet = _options(
        trainer_options, dict(zip(MARKS, marks, strict=True)), is_bytes=is_bytes
    )
    course = Course(
        vocab_size,
        list({token.content: token for token in special}.values()),
        new_names,
        options,
        alphabet,
    )
    empty = _emptied(document, is_bytes=is_bytes)
    if is_bytes and not any(marks):
        learned = _learn_bytes(empty, _flat(texts), course)
    else:
        pieces = _pieces(empty, _flat(texts), is_bytes=is_bytes)
        learned = _learn_characters(pieces, marks, course)
    return Tokenizer.from_bytes(_written(document, learned, course))


def _learn_bytes(empty: Tokenizer, texts: Iterator[str], course: Course) -> Learned:
    """Learn merges of bytes; there are none where the vocabulary has no room for any."""
    n_left = course.n_left - N_BYTES
    return _read(
        train_from_iterator(
            texts, resume=empty, merges=max(n_left, 0), **course.options
        )
    )


def _read(tokenizer: Tokenizer) -> Learned:
    model = json.loads(tokenizer.to_bytes(format="huggingface"))["model"]
    return Learned(sorted(model["vocab"], key=model["vocab"].get), model["merges"])


def _pieces(empty: Tokenizer, texts: Iterator[str], *, is_bytes: bool) -> Counter[str]:
    """Count the pieces into which texts are cut, bytes by the letters that stand for them."""
    pieces: Counter[str] = Counter()
    for text in texts:
        pieces.update(empty.split(text))
    if not is_bytes:
        return pieces
    letters = list(_byte_characters())
    spelled: Counter[str] = Counter()
    for piece, count in pieces.items():
        spelled["".join(letters[byte] for byte in piece.encode())] += count
    return spelled


def _limited(pieces: Counter[str], alphabet: Alphabet) -> Counter[str]:
    """Leave characters out that the alphabet has no room for; their neighbours meet."""
    if alphabet.limit is None:
        return pieces
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for character in piece:
            counts[character] += count
    wanted = sorted(counts.keys() | alphabet.initial)
    wanted.sort(key=lambda one: (one not in alphabet.initial, -counts[one]))
    kept = set(wanted[: alphabet.limit])
    limited: Counter[str] = Counter()
    for piece, count in pieces.items():
        limited["".join(one for one in piece if one in kept)] += count
    del limited[""]
    return limited


def _learn_characters(
    pieces: Counter[str], marks: Sequence[str], course: Course
) -> Learned:
    """Learn an alphabet and merges of pieces.

    The alphabet comes first, then its characters with marks, then what is merged.
    """
    if course.n_left <= 0:
        message = (
            f"vocab_size is {course.vocab_size}, but there are "
            f"{len(course.special_tokens)} special tokens"
        )
        raise TrainingError(message)
    pieces = _limited(pieces, course.alphabet)
    plain = sorted(set().union(*pieces) | course.alphabet.initial)
    suffix, prefix = marks
    marked = {
        _marked(piece, place, marks) for piece in pieces for place in range(len(piece))
    }
    others = sorted(marked.difference(plain))
    learned = _read(
        train_from_counts(
            pieces,
            merges=max(course.n_left - len(plain) - len(others), 0),
            dialect="subword-nmt",
            normalize=[],
            pattern="",
            end_mark=suffix or None,
            continuing_prefix=prefix or None,
            **course.options,
        )
    )
    merged = [token for token in learned.tokens if token not in marked]
    return Learned([*plain, *others, *merged], learned.merges)


def _marked(piece: str, place: int, marks: Sequence[str]) -> str:
    """Write a character as it stands in a piece: at its end, or behind its beginning."""
    suffix, prefix = marks
    before = prefix if place else ""
    return f"{before}{piece[place]}{suffix if place == len(piece) - 1 else ''}"


def _renamed(token: Mapping[str, Any], new_names: Mapping[str, str]) -> AddedToken:
    found = added_token(token)
    return replace(found, content=new_names.get(found.content, found.content))


def _options(
    options: Mapping[str, Any], marks: Mapping[str, str], *, is_bytes: bool
) -> tuple[dict[str, Any], Alphabet]:
    """Translate the options of a trainer, and refuse those that have no equal."""
    found: dict[str, Any] = {"ties": "smallest_ids", "min_count": 1}
    initial = frozenset(one[0] for one in options.get("initial_alphabet") or () if one)
    alphabet = Alphabet(initial, options.get("limit_alphabet"))
    _check_alphabet(alphabet, is_bytes=is_bytes, is_marked=any(marks.values()))
    if is_bytes:
        alphabet = Alphabet(frozenset(_byte_characters()))
    for name, value in options.items():
        if name == "min_frequency":
            found["min_count"] = max(value, 1)
        elif name == "show_progress":
            found["progress"] = bool(value)
        elif name not in ALPHABET and (value or "") != marks.get(name, NO_VALUE):
            known = ", ".join([*KNOWN, *ALPHABET])
            message = (
                f"train_new_from_iterator does not take {name}={value!r:.40}; it takes {known}, "
                "and bytepair.train more"
            )
            raise TypeError(message)
    return found, alphabet


def _check_alphabet(alphabet: Alphabet, *, is_bytes: bool, is_marked: bool) -> None:
    """Refuse an alphabet that nothing can be learned with, or not as in transformers."""
    initial, limit = alphabet
    if is_bytes and initial:
        message = "initial_alphabet has no effect: the alphabet of this tokenizer is all bytes"
        raise TypeError(message)
    if limit is None:
        return
    if is_bytes and limit < N_BYTES:
        message = f"limit_alphabet={limit}: the alphabet of this tokenizer is all {N_BYTES} bytes"
        raise TypeError(message)
    if is_marked and not is_bytes:
        message = (
            f"limit_alphabet={limit} is not supported for tokenizers with word marks"
        )
        raise TypeError(message)
    if limit < max(len(initial), 1):
        message = f"limit_alphabet={limit} is less than 1, or than the initial alphabet"
        raise TrainingError(message)


def _is_byte_level(stage: Mapping[str, Any] | None) -> bool:
    """Tell whether a stage of cutting makes bytes of the text."""
    if stage is None:
        return False
    stages = stage.get("pretokenizers", [])
    return stage["type"] == "ByteLevel" or any(map(_is_byte_level, stages))


def _emptied(document: Mapping[str, Any], *, is_bytes: bool) -> Tokenizer:
    """Give a tokenizer with the same parts, but only the bytes of its alphabet, if any."""
    alphabet: list[str] = []
    if is_bytes:
        alphabet = [chr(number) for number in sorted(map(ord, _byte_characters()))]
    model = {
        **document["model"],
        "vocab": {character: id_ for id_, character in enumerate(alphabet)},
        "merges": [],
    }
    if not is_bytes:
        model["unk_token"] = None
    parts = {
        **document,
        "model": model,
        "added_tokens": [],
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }
    return Tokenizer.from_bytes(json.dumps(parts).encode())


def _byte_characters() -> Iterator[str]:
    """Give the character that stands for each byte: itself, or one from U+0100 on."""
    n_others = 0
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174:
            yield chr(byte)
        else:
            yield chr(256 + n_others)
            n_others += 1


def _flat(texts: Iterable[Any]) -> Iterator[str]:
    """Give the texts of an iterator of texts, or of batches of texts."""
    refuse_set("texts", texts, "the result")
    for text in texts:
        refuse_set("texts", text, "the result")
        if isinstance(text, str):
            yield text
        else:
            yield from text


def _written(document: Mapping[str, Any], learned: Learned, course: Course) -> bytes:
    """Write what was learned into the file of the tokenizer that it began with."""
    vocab = {token.content: id_ for id_, token in enumerate(course.special_tokens)}
    for id_, token in enumerate(learned.tokens, len(vocab)):
        if token in vocab:
            message = (
                f"a learned token has the text of the special token {token!r}; "
                "remove special tokens from the texts"
            )
            raise TrainingError(message)
        vocab[token] = id_
    added = [
        {"id": id_, "content": token.content, **token.properties()}
        for id_, token in enumerate(course.special_tokens)
    ]
    unknown = document["model"]["unk_token"]
    model = {
        **document["model"],
        "unk_token": course.new_names.get(unknown, unknown),
        "vocab": vocab,
        "merges": learned.merges,
    }
    changed = {
        **document,
        "added_tokens": added,
        "model": model,
        "post_processor": _moved(document["post_processor"], vocab, course.new_names),
    }
    return json.dumps(changed).encode()


def _moved(part: Any, vocab: Mapping[str, int], new_names: Mapping[str, str]) -> Any:
    """Give a template its special tokens with their new names and ids."""
    if not isinstance(part, Mapping):
        return part
    found = dict(part)
    if "processors" in part:
        found["processors"] = [
            _moved(one, vocab, new_names) for one in part["processors"]
        ]
    for name in ("cls", "sep"):
        if name in part:
            token = new_names.get(part[name][0], part[name][0])
            found[name] = [token, _id(token, vocab)]
    for name, special in (part.get("special_tokens") or {}).items():
        tokens = [new_names.get(token, token) for token in special["tokens"]]
        ids = [_id(token, vocab) for token in tokens]
        moved = {**special, "tokens": tokens, "ids": ids}
        found["special_tokens"] = {**found["special_tokens"], name: moved}
    return found


def _id(token: str, vocab: Mapping[str, int]) -> int:
    if token not in vocab:
        message = f"the template has {token!r}, which is no longer a special token"
        raise TokenizerError(message)
    return vocab[token]
