"""Choosing tokens: by ids, texts, bytes, a regular expression, a function, or findings of the doctor.

A text names the token that stands for it, or the token that files write this way (``Ġthe``). If these
are two tokens, the name is refused. Findings hold ids and texts, which must match this tokenizer.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from bytepair import _core
from bytepair._labels import argument
from bytepair._ranges import check_whole
from bytepair.analyze._compare.pairing import SPACE_MARK
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from bytepair._tokenizer import Tokenizer
    from bytepair.analyze.doctor import Diagnosis, Finding, FoundToken

__all__ = ["GLITCHES", "Named", "Tokens", "names_of", "quoted", "resolve"]

GLITCHES = ("BP101", "BP603")
"""The findings of a whole diagnosis that are used by default: tokens that no text is encoded with, and
candidates for glitch tokens."""

Rule: TypeAlias = Union["re.Pattern[str]", Callable[[_core.Token], object]]
Findings: TypeAlias = Union["FoundToken", "Finding", "Diagnosis", Mapping[str, Any]]
OneToken: TypeAlias = int | str | bytes | Rule | Findings
Tokens: TypeAlias = OneToken | Iterable[OneToken]
"""Tokens as a user names them; a mapping is the output of ``bytepair doctor --json``."""


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


def quoted(text: str) -> str:
    r"""Write a token of :func:`names_of` in quotes, with escapes of bytes as they are.

    >>> quoted(" the"), quoted("\\xe4"), quoted("\n")
    ("' the'", "'\\xe4'", "'\\n'")
    """
    return repr(text).replace("\\\\", "\\")


def names_of(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    """Write tokens as text, with marks; bytes that are no character are escaped."""
    return [str(token) for token in tokenizer.inspect().tokens(list(ids))]


def resolve(
    tokenizer: Tokenizer, tokens: Tokens, *, select: Iterable[str] | None = None
) -> Named:
    """Return the ids of the tokens that a user chose.

    Raises
    ------
    TokenizerError
        There is no such token, a text names two, a token must stay, or findings are of another
        tokenizer.
    """
    named: dict[int, None] = {}
    found: dict[int, None] = {}
    is_of_findings = False
    for item in _flat(tokens):
        if isinstance(item, (str, bytes)):
            named[_id_of(tokenizer, item)] = None
        elif isinstance(item, re.Pattern) or callable(item):
            named |= dict.fromkeys(_chosen(tokenizer, item))
        elif _is_number(item):
            tokenizer.token_bytes(item)  # refuses an id that no token has
            named[int(item)] = None
        else:
            is_of_findings = True
            found |= dict.fromkeys(_ids_of_findings(tokenizer, item, select))
    if not is_of_findings and select is not None:
        message = f"{argument('select', '')} chooses among findings, and none is given"
        raise TokenizerError(message)
    if not is_of_findings and not named:
        message = "no token that may be removed is named"
        raise TokenizerError(message)
    ids = list(named | found)
    reasons = dict(zip(ids, _core.why_it_stays(tokenizer, ids), strict=True))
    _refuse_staying(tokenizer, {id_: reasons[id_] for id_ in named if reasons[id_]})
    staying = tuple((id_, why) for id_, why in reasons.items() if why)
    return Named(tuple(id_ for id_ in ids if not reasons[id_]), staying)


def _refuse_staying(tokenizer: Tokenizer, reasons: Mapping[int, str | None]) -> None:
    """Refuse tokens that must stay, and say why."""
    if not reasons:
        return
    names = zip(reasons.items(), names_of(tokenizer, reasons), strict=True)
    each = [f"{quoted(name)} (id {id_}) is {why}" for (id_, why), name in names]
    more = f", and {len(each) - 5:,} more" if len(each) > 5 else ""
    must = " and must stay" if len(each) == 1 else "; these must stay"
    raise TokenizerError(", ".join(each[:5]) + more + must)


def _chosen(tokenizer: Tokenizer, rule: Rule) -> list[int]:
    """Return the tokens that a rule chooses of those that may be removed; added tokens are left out."""
    tokens = [token for token in tokenizer.inspect().tokens() if token.kind != "none"]
    reasons = _core.why_it_stays(tokenizer, [token.id for token in tokens])
    added = tokenizer.added_tokens
    free = [
        token
        for token, reason in zip(tokens, reasons, strict=True)
        if reason is None and token.id not in added
    ]
    if not isinstance(rule, re.Pattern):
        return [token.id for token in free if rule(token)]
    found = [token.id for token in free if rule.search(token.text)]
    if not found:
        message = f"no token that may be removed matches {rule.pattern!r}"
        raise TokenizerError(message)
    return found


def _flat(tokens: Any) -> Iterable[Any]:  # noqa: ANN401 -- what a user gives
    """List what was named one by one; a diagnosis stays whole."""
    is_one = isinstance(tokens, (str, bytes, Mapping, re.Pattern)) or callable(tokens)
    if (
        is_one
        or _is_number(tokens)
        or hasattr(tokens, "findings")
        or hasattr(tokens, "tokens")
    ):
        return [tokens]
    if isinstance(tokens, (set, frozenset)):  # has another order in each process
        return sorted(tokens, key=repr)
    return tokens if isinstance(tokens, Iterable) else [tokens]


def _is_number(item: object) -> bool:
    """Whether something is one whole number; arrays of numpy have the method, too."""
    if isinstance(item, bool):
        return False
    try:
        operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _id_of(tokenizer: Tokenizer, token: str | bytes) -> int:
    """Find the token that a text names."""
    by_text, written = tokenizer.token_to_id(token), None
    if isinstance(token, str):
        written = _core.id_of_written(tokenizer, token)
        if by_text is None and written is None:
            by_text = tokenizer.token_to_id(token.replace(" ", SPACE_MARK.decode()))
    if by_text is not None and written not in (None, by_text):
        message = (
            f"{token!r} is the text of the token {by_text}, and files write the token "
            f"{written} like this; give the id"
        )
        raise TokenizerError(message)
    id_ = written if by_text is None else by_text
    if id_ is None:
        message = f"no token is {token!r}{_hint(tokenizer, token)}"
        raise TokenizerError(message)
    return id_


def _hint(tokenizer: Tokenizer, token: str | bytes) -> str:
    """Name a token that differs in a space or in case, or describe the encoding of the text."""
    if isinstance(token, str):
        variants = (f" {token}", token.strip(), token.capitalize(), token.lower())
        near = [text for text in variants if tokenizer.token_to_id(text) is not None]
        if near:
            return f"; did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
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
    """Return the ids that findings name, and refuse those of another tokenizer."""
    from bytepair.analyze.doctor._codes import chosen
    from bytepair.analyze.doctor._finding import Diagnosis, Finding, FoundToken

    select = [select] if isinstance(select, str) else select
    wanted = chosen(GLITCHES if select is None else select)
    if isinstance(item, Diagnosis):
        item = item.as_object()
    if isinstance(item, Mapping):
        pairs = _pairs_of(item, wanted)
    elif isinstance(item, (Finding, FoundToken)):
        found = item.tokens if isinstance(item, Finding) else [item]
        pairs = [(token.id, token.text) for token in found]
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
        check_whole(**{str(place): id_ for place, (id_, _) in enumerate(pairs)})
    except (KeyError, TypeError) as error:
        message = (
            f"{argument('findings')}: this is not what bytepair doctor --json writes"
        )
        raise TokenizerError(message) from error
    return pairs


def _compare(tokenizer: Tokenizer, rows: list[tuple[int, str]]) -> None:
    """Refuse findings about another tokenizer."""
    tokens = tokenizer.inspect().tokens()
    for id_, text in rows:
        is_here = 0 <= id_ < len(tokens) and tokens[id_].kind != "none"
        if not is_here or str(tokens[id_]) != text:
            here = f"{str(tokens[id_])!r} here" if is_here else "no token here"
            message = (
                f"{argument('findings')}: the id {id_} is {text!r} there and {here}; they are of "
                "another tokenizer"
            )
            raise TokenizerError(message)
