"""What libraries that constrain a model by a grammar need of a tokenizer: llguidance, xgrammar and outlines-core.

None of these libraries is imported. Costs a pass over the vocabulary.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from bytepair._tokenizer import Tokenizer
from bytepair.errors import SpecialTokenError, TokenizerError

from ._tokens import KINDS, TokenBytes

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
        kinds = enumerate(self.table.kinds.tolist())
        return [id for id, kind in kinds if KINDS[kind] in ("special", "unknown")]

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each id, for llguidance: a special token is the byte 0xFF and its name."""
        tokens = list(self.table)
        for id in self.special_token_ids:
            tokens[id] = b"\xff" + self.table.tokenizer.token_bytes(id)
        return tokens

    def __call__(self, text: str | bytes) -> list[int]:
        """Return the ids of a text within a longer one, as llguidance asks for.

        They are those of ``encode``. A vocabulary may put a space before a text; then they are those after a line break.
        If these have other bytes, too, each is the longest token, up to where there is none.
        """
        encode = self.table.tokenizer.encode
        data = text.encode() if isinstance(text, str) else text
        for before in (b"", b"\n"):
            # A character may have no token. In llguidance, an error would end the answer.
            with suppress(TokenizerError):
                ids = encode(before + data)[len(encode(before)) :]
                if b"".join(map(self.table.__getitem__, ids)) == data:
                    return ids
        ids = []
        while within := self.table._within(data):
            n_bytes = max(within)
            ids.append(within[n_bytes][0])
            data = data[n_bytes:]
        return ids


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
        message = f"{option}: {name!r} is not a special token of this tokenizer"
        raise SpecialTokenError(message)
    return tokenizer.special_tokens[name]
