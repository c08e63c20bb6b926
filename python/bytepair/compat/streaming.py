"""Text from ids that come one after the other, behind a prompt: for servers.

The ids of a prompt are decoded first, because what a token looks like can depend on those
before it (a leading space that is stripped, a character whose bytes are spread over
tokens). After each id the text is exact: what is returned never changes later, and what
is incomplete, such as half a character, waits. An id that no token has gives no text: models
often have more rows of embeddings than their tokenizer has tokens.

``IncrementalDetokenizer`` is our own shape; ``DecodeStream`` is that of ``tokenizers``.

Cost: the prompt once, then each id once.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bytepair
from bytepair import Tokenizer
from bytepair.errors import UnknownTokenError

if TYPE_CHECKING:
    from ._roles import Roles
    from .tokenizers import Tokenizer as Backend

__all__ = ["DecodeStream", "IncrementalDetokenizer"]


class IncrementalDetokenizer:
    """Decode a generation id by id.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    >>> ids = tokenizer.encode("ab…c")
    >>> detokenizer = IncrementalDetokenizer(tokenizer, ids[:2])
    >>> [detokenizer.push(id) for id in ids[2:]]
    ['', '', '…', 'c']
    >>> detokenizer.prompt_text, detokenizer.text
    ('ab', '…c')
    """

    __slots__ = ("_is_finished", "_parts", "_stream", "ids", "prompt_text")

    def __init__(
        self,
        tokenizer: Tokenizer,
        prompt_ids: Iterable[int] = (),
        *,
        skip_special_tokens: bool = True,
    ) -> None:
        self._stream = tokenizer.decode_stream(skip_special_tokens=skip_special_tokens)
        self._parts: list[str] = []
        self._is_finished = False
        self.ids: list[int] = []
        """The ids that came after the prompt."""
        self.prompt_text = "".join(_pushed(self._stream, id_) for id_ in prompt_ids)
        """The text of the prompt; the end of an incomplete character is not in it."""

    @property
    def text(self) -> str:
        """All text that is complete by now, the prompt left out."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def push(self, id: int) -> str:
        """Add an id; give the text that it completes, often empty.

        Raises
        ------
        ValueError
            The generation is finished.
        """
        if self._is_finished:
            message = "this generation is finished; begin another"
            raise ValueError(message)
        part = _pushed(self._stream, id)
        self.ids.append(id)
        if part:
            self._parts.append(part)
        return part

    def finish(self) -> str:
        """Give what is left: U+FFFD for a character that never became complete."""
        if self._is_finished:
            return ""
        self._is_finished = True
        part = self._stream.finish()
        self._parts.append(part)
        return part


class DecodeStream:
    """Decode a generation id by id, as ``tokenizers.decoders.DecodeStream`` does.

    ``ids`` are those of the prompt, whose text is not given. A step gives ``None`` where no
    text is complete.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    >>> stream = DecodeStream()
    >>> [stream.step(tokenizer, id) for id in tokenizer.encode("a…")]
    ['a', None, None, '…']
    """

    def __init__(
        self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False
    ) -> None:
        self._prompt = list(ids or ())
        self._skip_special_tokens = skip_special_tokens
        self._stream: bytepair.DecodeStream | None = None

    def step(
        self, tokenizer: "Tokenizer | Roles | Backend", id: int | Sequence[int]
    ) -> str | None:
        """Add an id or several; give the text that is complete with them."""
        if self._stream is None:
            native: Any = getattr(tokenizer, "tokenizer", tokenizer)
            skip = self._skip_special_tokens
            self._stream = native.decode_stream(skip_special_tokens=skip)
            for one in self._prompt:
                _pushed(self._stream, one)
        ids = [id] if isinstance(id, int) else id
        return "".join(_pushed(self._stream, one) for one in ids) or None


def _pushed(stream: bytepair.DecodeStream, id: int) -> str:
    """Add an id to a stream; one that no token has gives nothing."""
    try:
        return stream.push(id)
    except UnknownTokenError:
        return ""
