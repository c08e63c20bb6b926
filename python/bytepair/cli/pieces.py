r"""Tokens as text, separated by spaces: ``low ▁lower \n``; and back.

A byte-level token is written as its text, with ``▁`` for a space. A character-level token is
written as in its vocabulary, where ``▁`` is a mark. Escapes stand for ``\\``, ``\n``, ``\r`` and
``\t``, for bytes that are not part of a character and invisible characters (``\xe4``), and, in
byte-level tokens, for the character ``▁`` itself (``\u2581``). So each token can be read again. If
several ids have the same text, the lowest is read.
"""

import re

from bytepair import FormatError, Tokenizer

__all__ = ["Pieces", "escaped", "unescaped"]

Token = str | bytes

NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
MARK = "▁"
ESCAPED_MARK = r"\u2581"
_PART = re.compile(r"\\(?:x[0-9a-f]{2}|u2581|[\\nrt])|[^\\]+|\\")
_SURROGATES = range(0xDC80, 0xDD00)
"""The surrogates by which ``surrogateescape`` replaces bytes that are not characters."""


class Pieces:
    """Writes and reads the tokens of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.texts = [
            "" if token is None else escaped(token) for token in tokenizer.vocabulary
        ]
        self.ids: dict[str, int] = {}

    def written(self, ids: list[int]) -> bytes:
        """Return ids as a line of tokens."""
        texts = self.texts
        return " ".join([texts[id_] for id_ in ids]).encode() + b"\n"

    def read(self, data: bytes) -> list[int]:
        """Return the ids of tokens, on one or more lines.

        Raises
        ------
        FormatError
            A token is not in the vocabulary; the message has its position.
        """
        if not self.ids:
            pairs = reversed(list(enumerate(self.texts)))
            self.ids = {text: id_ for id_, text in pairs if text}
        try:
            words = data.decode().removeprefix("\ufeff").replace("\n", " ").split(" ")
        except UnicodeDecodeError as error:
            message = f"byte {error.start} of the input is not UTF-8; expected tokens as text in UTF-8"
            raise FormatError(message) from error
        found = [word for word in words if word]
        for place, word in enumerate(found):
            if word not in self.ids:
                message = (
                    f"word {place} of the input is not a token of this tokenizer: {word[:40]!r}; "
                    "expected tokens as encode --format pieces writes them"
                )
                raise FormatError(message)
        return [self.ids[word] for word in found]


def escaped(token: Token) -> str:
    r"""Return a token as text without spaces and line ends.

    >>> escaped(b" low"), escaped("▁low"), escaped(b"\xe4\n"), escaped("▁".encode())
    ('▁low', '▁low', '\\xe4\\n', '\\u2581')
    """
    if isinstance(token, str):
        return "".join(map(_escaped_character, token)).replace(" ", r"\x20")
    text = token.decode(errors="surrogateescape")
    plain = "".join(map(_escaped_character, text))
    return plain.replace(MARK, ESCAPED_MARK).replace(" ", MARK)


def unescaped(text: str, *, is_of_bytes: bool) -> Token:
    r"""Return the token that :func:`escaped` wrote.

    >>> unescaped("▁low", is_of_bytes=True), unescaped(r"\xe4\n", is_of_bytes=True)
    (b' low', b'\xe4\n')
    >>> unescaped("▁low", is_of_bytes=False)
    '▁low'
    """
    names = {written: plain for plain, written in NAMED.items()}
    parts = []
    for part in _PART.findall(text):
        if part.startswith(r"\x"):
            parts.append(bytes([int(part[2:], 16)]))
        elif part == ESCAPED_MARK:
            parts.append(MARK.encode())
        elif part in names:
            parts.append(names[part].encode())
        else:
            parts.append((part.replace(MARK, " ") if is_of_bytes else part).encode())
    data = b"".join(parts)
    return data if is_of_bytes else data.decode()


def _escaped_character(character: str) -> str:
    if character in NAMED:
        return NAMED[character]
    if ord(character) in _SURROGATES:
        return f"\\x{ord(character) - 0xDC00:02x}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode())
