"""What libraries that constrain a model by a grammar need of a tokenizer: llguidance, xgrammar and outlines-core.

None of these libraries is imported. Costs a pass over the vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from bytepair._tokenizer import Tokenizer
from bytepair.errors import SpecialTokenError

from ._tokens import TokenBytes

__all__ = ["GrammarVocabulary", "grammar_vocabulary"]

END_TOKENS = (
    "</s>",
    "<eos>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|return|>",
    "<|end▁of▁sentence|>",
    "<\uff5cend▁of▁sentence\uff5c>",
)
"""Names of special tokens that end an answer in published models."""


@dataclass(frozen=True)
class GrammarVocabulary:
    """A tokenizer as libraries for grammars want it; made by ``grammar_vocabulary``.

    A special token has no bytes of text, so no grammar allows its id where it allows its name as text.

    Parameters
    ----------
    table
        The bytes of each token.
    eos_token_id
        The id that ends an answer.
    bos_token_id
        The id that begins a text, or ``None``.
    """

    table: TokenBytes
    eos_token_id: int
    bos_token_id: int | None = None

    @cached_property
    def special_token_ids(self) -> list[int]:
        """The ids of special and unknown tokens, ascending."""
        special = (self.table.ids(kind).tolist() for kind in ("special", "unknown"))
        return sorted(id for ids in special for id in ids)

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each id, for llguidance: a special token is the byte 0xFF and its name."""
        tokens = list(self.table)
        for id in self.special_token_ids:
            tokens[id] = b"\xff" + self.table.tokenizer.token_bytes(id)
        return tokens

    @cached_property
    def encoded_vocab(self) -> list[bytes]:
        """The bytes of each id, for xgrammar, which never allows an id without bytes inside a text."""
        return list(self.table)

    @cached_property
    def ids_of_bytes(self) -> dict[bytes, list[int]]:
        """All ids by their bytes, for outlines-core."""
        ids: dict[bytes, list[int]] = {}
        for id, token in enumerate(self.table):
            if token and id != self.eos_token_id:
                ids.setdefault(token, []).append(id)
        return ids

    def __call__(self, text: str | bytes) -> list[int]:
        """Return ids whose bytes are exactly ``text``, as llguidance asks for.

        They are those of ``encode`` where the text is at the beginning, or after a line break, as in vocabularies that
        put a space before a text. Otherwise each is the longest token, up to where there is none.
        """
        data = text.encode() if isinstance(text, str) else text
        for context in (b"", b"\n"):
            ids = self.table.tokenizer.encode(context + data)
            ids = self._last(ids, len(data))
            if b"".join(map(self._bytes_of, ids)) == data:
                return ids
        return self._longest_tokens(data)

    def _last(self, ids: list[int], n_bytes: int) -> list[int]:
        """Return the last ids that have so many bytes together, or more."""
        first = len(ids)
        while first and n_bytes > 0:
            first -= 1
            n_bytes -= len(self.encoded_vocab[ids[first]])
        return ids[first:]

    def _longest_tokens(self, data: bytes) -> list[int]:
        longest = max(map(len, self.ids_of_bytes), default=0)
        ids: list[int] = []
        while data:
            ends = range(min(longest, len(data)), 0, -1)
            end = next((end for end in ends if data[:end] in self.ids_of_bytes), 0)
            if not end:
                break
            ids.append(self.ids_of_bytes[data[:end]][0])
            data = data[end:]
        return ids

    @property
    def _bytes_of(self) -> Callable[[int], bytes]:
        return self.encoded_vocab.__getitem__


def grammar_vocabulary(
    tokenizer: Tokenizer, *, eos: str | None = None, bos: str | None = None
) -> GrammarVocabulary:
    r"""Return a tokenizer as llguidance, xgrammar and outlines-core want it.

    >>> import bytepair
    >>> from bytepair import serving
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"], vocab_size=259, special_tokens=["</s>"]
    ... )
    >>> vocabulary = serving.grammar_vocabulary(tokenizer)
    >>> vocabulary.eos_token_id, vocabulary.tokens[258], vocabulary("low")
    (258, b'\xff</s>', [257])

    Parameters
    ----------
    tokenizer
        The tokenizer of the model.
    eos
        The special token that ends an answer. By default the only one with a name that published models use, such as
        ``</s>`` or ``<|im_end|>``.
    bos
        The special token that begins a text, for llguidance.

    Raises
    ------
    SpecialTokenError
        ``eos`` or ``bos`` is not a special token, or ``eos`` is not given and none or several are likely.
    TokenizerError
        As for ``TokenBytes``.
    """
    table = TokenBytes(tokenizer)
    eos_token_id = _special_id(tokenizer, "eos", eos or _only_end(tokenizer))
    bos_token_id = None if bos is None else _special_id(tokenizer, "bos", bos)
    return GrammarVocabulary(table, eos_token_id, bos_token_id)


def _only_end(tokenizer: Tokenizer) -> str:
    found = [name for name in END_TOKENS if name in tokenizer.special_tokens]
    if len(found) == 1:
        return found[0]
    which = f"it may be {' or '.join(found)}" if found else "no name is a usual one"
    message = (
        f"the special token that ends an answer is not certain: {which}; pass eos="
    )
    raise SpecialTokenError(message)


def _special_id(tokenizer: Tokenizer, option: str, name: str) -> int:
    if name not in tokenizer.special_tokens:
        names = ", ".join(list(tokenizer.special_tokens)[:5]) or "none"
        message = f"{option}: {name!r} is not a special token of this tokenizer, which has {names}"
        raise SpecialTokenError(message)
    return tokenizer.special_tokens[name]
