"""Text from ids that come one after the other, behind a prompt: for servers.

The ids of a prompt are decoded first, because what a token looks like can depend on those
before it (a leading space that is stripped, a character whose bytes are spread over
tokens). After each id the text is exact: what is returned never changes later, and what
is incomplete, such as half a character, waits.

Cost: the prompt once, then each id once.
"""

from collections.abc import Iterable

from bytepair import Tokenizer

__all__ = ["IncrementalDetokenizer"]


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
        self.prompt_text = self._stream.push(list(prompt_ids))
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
        UnknownTokenError
            No token has this id. Nothing is changed, and the next id may be added.
        ValueError
            The generation is finished.
        """
        if self._is_finished:
            message = "this generation is finished; begin another"
            raise ValueError(message)
        part = self._stream.push(id)
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
