"""Resolving the tokens that a user names: ids, texts, bytes, or findings of the doctor.

A text names the token that stands for it, or the token that files write this way (``Ġthe``). If these
are two tokens, the name is refused. Findings hold ids and texts, which must match this tokenizer.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from bytepair import _core
from bytepair._ranges import check_whole
from bytepair.errors import TokenizerError

from ._own_texts import SPACE_MARK

if TYPE_CHECKING:
    from bytepair._tokenizer import Tokenizer
    from bytepair.analyze.doctor import Diagnosis, Finding, FoundToken

__all__ = [
    "GLITCHES",
    "Named",
    "Token",
    "Tokens",
    "Typed",
    "names_of",
    "quoted",
    "resolve",
    "tokens_of",
]

GLITCHES = ("BP101", "BP603")
"""The findings of a whole diagnosis that are used by default: tokens that no text is encoded with, and
candidates for glitch tokens."""

OneToken: TypeAlias = Union[int, str, bytes, "FoundToken", "Finding"]
Tokens: TypeAlias = Union[
    OneToken, "Diagnosis", Mapping[str, Any], Iterable[Union[OneToken, "Diagnosis"]]
]
"""Tokens as a user names them; a mapping is the output of ``bytepair doctor --json``."""


@dataclass(frozen=True)
class Token:
    """A token, as passed to a function that chooses tokens.

    Attributes
    ----------
    id
        Its id.
    bytes
        Its text, without marks.
    written
        How files of Hugging Face write it, such as ``Ġthe``.
    """

    id: int
    bytes: bytes
    written: str

    @property
    def text(self) -> str:
        """The text, with ``U+FFFD`` for bytes that are no whole character."""
        return self.bytes.decode(errors="replace")


@dataclass(frozen=True)
class Typed:
    """What a command was given to name tokens, with the option that was typed."""

    option: str
    value: Any


@dataclass(frozen=True)
class Named:
    """Tokens that a user named.

    Attributes
    ----------
    ids
        The tokens, each once, in the order in which they were named.
    staying
        Tokens of findings that must stay, each with the reason.
    """

    ids: tuple[int, ...]
    staying: tuple[tuple[int, str], ...] = ()


def tokens_of(tokenizer: Tokenizer, ids: Iterable[int]) -> list[Token]:
    """Describe each token."""
    tokens = tokenizer.inspect().tokens(list(ids))
    return [Token(token.id, token.bytes, token.written) for token in tokens]


def quoted(text: str) -> str:
    r"""Write a token of :func:`names_of` in quotes, with escapes of bytes as they are.

    >>> quoted(" the"), quoted("\\xe4"), quoted("\n")
    ("' the'", "'\\xe4'", "'\\n'")
    """
    return repr(text).replace("\\\\", "\\")


def names_of(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    """Write tokens as text, with marks; bytes that are no character are escaped."""
    vocabulary = tokenizer.vocabulary
    found = (vocabulary[id_] for id_ in ids)
    return [
        token.decode(errors="backslashreplace") if isinstance(token, bytes) else token
        for token in found
    ]


def resolve(
    tokenizer: Tokenizer,
    tokens: Tokens,
    *,
    select: Iterable[str] | None = None,
    option: str = "tokens",
) -> Named:
    """Give the ids of tokens that a user named.

    ``option`` is the option that names them, for messages; what a command passes says it itself.

    Raises
    ------
    TokenizerError
        There is no such token, a text names two, a token must stay, or findings are of another
        tokenizer.
    """
    if isinstance(select, str):
        select = [select]
    if isinstance(tokens, (set, frozenset)):  # has another order in each process
        tokens = sorted(tokens, key=repr)
    given = [
        item if isinstance(item, Typed) else Typed(option, item)
        for item in _flat(tokens)
    ]
    found: dict[int, str | None] = {}  # by id: the option, unless a finding names it
    is_of_findings = False
    for typed in given:
        option, item = typed.option, typed.value
        if isinstance(item, (str, bytes)):
            found[_id_of(tokenizer, item, option)] = option
        elif _is_number(item):
            found[_checked(tokenizer, int(item), option)] = option
        else:
            is_of_findings = True
            for id_ in _ids_of_findings(tokenizer, item, select):
                found.setdefault(id_, None)
    if select is not None and not is_of_findings:
        message = "select= chooses among findings, and none is given"
        raise TokenizerError(message)
    if not given:
        message = f"{option}: no token is named"
        raise TokenizerError(message)
    reasons = dict(zip(found, _core.why_it_stays(tokenizer, list(found)), strict=True))
    refused = [id_ for id_, option in found.items() if option and reasons[id_]]
    if refused:
        first = found[refused[0]]
        of_option = [id_ for id_ in refused if found[id_] == first]
        raise TokenizerError(_must_stay(tokenizer, of_option, reasons, str(first)))
    ids = tuple(id_ for id_ in found if not reasons[id_])
    return Named(ids, tuple((i, why) for i, why in reasons.items() if why))


def _must_stay(
    tokenizer: Tokenizer, ids: list[int], reasons: Mapping[int, str | None], option: str
) -> str:
    """Name tokens that must stay, and why."""
    names = zip(ids, names_of(tokenizer, ids), strict=True)
    each = [f"{quoted(name)} (id {id_}) is {reasons[id_]}" for id_, name in names]
    more = f", and {len(each) - 5:,} more" if len(each) > 5 else ""
    listed = ", ".join(each[:5]) + more
    must = " and must stay" if len(each) == 1 else "; these must stay"
    return f"{option}: {listed}{must}"


def _flat(tokens: Any) -> Iterable[Any]:  # noqa: ANN401 -- what a user gives
    """List what was named one by one; a diagnosis stays whole."""
    if isinstance(tokens, (str, bytes, Mapping, Typed)) or _is_number(tokens):
        return [tokens]
    if hasattr(tokens, "findings") or hasattr(tokens, "tokens"):
        return [tokens]
    if isinstance(tokens, Iterable):
        return tokens
    return [tokens]


def _is_number(item: object) -> bool:
    """Tell whether something is one whole number; arrays of numpy have the method, too."""
    if isinstance(item, bool):
        return False
    try:
        operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _checked(tokenizer: Tokenizer, id_: int, option: str) -> int:
    """Refuse an id that no token has."""
    check_whole(**{option: id_})
    vocabulary = tokenizer.n_vocab
    if not 0 <= id_ < vocabulary:
        message = f"{option}: no token has the id {id_}; ids are 0 to {vocabulary - 1}"
        raise TokenizerError(message)
    try:
        tokenizer.token_bytes(id_)
    except TokenizerError:
        message = f"{option}: no token has the id {id_}"
        raise TokenizerError(message) from None
    return id_


def _id_of(tokenizer: Tokenizer, token: str | bytes, option: str) -> int:
    """Find the token that a text names."""
    by_text, written = tokenizer.token_to_id(token), None
    if isinstance(token, str):
        written = _core.id_of_written(tokenizer, token)
        if by_text is None and written is None:
            by_text = tokenizer.token_to_id(token.replace(" ", SPACE_MARK.decode()))
    if by_text is not None and written not in (None, by_text):
        message = (
            f"{option}: {token!r} is the text of the token {by_text}, and files write the token "
            f"{written} like this; give the id"
        )
        raise TokenizerError(message)
    id_ = written if by_text is None else by_text
    if id_ is None:
        message = f"{option}: no token is {token!r}{_hint(tokenizer, token)}"
        raise TokenizerError(message)
    return id_


def _hint(tokenizer: Tokenizer, token: str | bytes) -> str:
    """Say what a text that is not a token is encoded to."""
    try:
        ids = tokenizer.encode(token)
    except TokenizerError:
        return ""
    if not 1 < len(ids) <= 8:
        return ""
    return f"; it is encoded to {', '.join(map(quoted, names_of(tokenizer, ids)))}"


# Findings


def _ids_of_findings(
    tokenizer: Tokenizer,
    item: Any,  # noqa: ANN401 -- a diagnosis, a finding, one of its tokens, or their JSON
    select: Iterable[str] | None,
) -> list[int]:
    """Give the ids that findings name, and refuse those of another tokenizer."""
    from bytepair.analyze.doctor._codes import chosen
    from bytepair.analyze.doctor._finding import Diagnosis, Finding, FoundToken

    wanted = chosen(GLITCHES if select is None else select)
    if isinstance(item, FoundToken):
        pairs = [(item.id, item.text)]
    elif isinstance(item, Finding):
        pairs = [(token.id, token.text) for token in item.tokens]
    elif isinstance(item, Diagnosis):
        found = (finding for finding in item.findings if finding.code in wanted)
        pairs = [(token.id, token.text) for one in found for token in one.tokens]
    elif isinstance(item, Mapping):
        pairs = _pairs_of(item, wanted)
    else:
        message = f"expected ids, texts, bytes or findings, not {type(item).__name__}"
        raise TypeError(message)
    rows = [(id_, text) for id_, text in pairs if id_ is not None]
    _compare(tokenizer, rows)
    return [id_ for id_, _ in rows]


def _pairs_of(report: Mapping[str, Any], wanted: set[str]) -> list[tuple[Any, Any]]:
    """Read the output of ``bytepair doctor --json``."""
    try:
        found = [one for one in report["findings"] if one["code"] in wanted]
        pairs = [(one["id"], one["text"]) for f in found for one in f["tokens"]]
        for id_, _ in pairs:
            check_whole(id=id_)
    except (KeyError, TypeError) as error:
        message = "findings: this is not what bytepair doctor --json writes"
        raise TokenizerError(message) from error
    return pairs


def _compare(tokenizer: Tokenizer, rows: list[tuple[int, str]]) -> None:
    """Refuse findings about another tokenizer."""
    from bytepair.analyze.doctor._subject import plain

    vocabulary = tokenizer.vocabulary
    for id_, text in rows:
        here = vocabulary[id_] if 0 <= id_ < len(vocabulary) else None
        if here is None or plain(here) != text:
            found = "no token here" if here is None else f"{plain(here)!r} here"
            message = (
                f"findings: the id {id_} is {text!r} there and {found}; they are of "
                "another tokenizer"
            )
            raise TokenizerError(message)
