"""Chat templates: messages to one text, by the model's own Jinja template.

Needs ``jinja2``. The template runs in Jinja's sandbox with what transformers gives it:
``raise_exception``, ``strftime_now``, ``tojson``, loop controls, ``{% generation %}``
blocks, and blocks without the lines that they stand on. It runs within the bounds of `_bounds`.

Left out: schemas of tools that are functions; pass the schema.
"""

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from bytepair.errors import TokenizerError

__all__ = ["Messages", "Rendered", "is_chat", "render"]

Messages: TypeAlias = Sequence[Mapping[str, Any]]

MARK = "\ue000CONTINUED HERE\ue000 "
"""Stands at the end of the message that is continued; a template may trim its space."""
REASONING = ("reasoning_content", "thinking", "reasoning")


class Rendered(NamedTuple):
    """A chat as text, and where what the model itself writes begins and ends."""

    text: str
    generated: list[tuple[int, int]]


def render(
    template: str,
    messages: Messages,
    variables: Mapping[str, Any] | None = None,
    *,
    continued: bool | str = False,
    place: Callable[[], str] = str,
) -> Rendered:
    """Render messages; ``continued`` leaves the last one open, or a field of it.

    ``place`` says where the template stands: what errors begin with.

    Raises
    ------
    TokenizerError
        The template refuses the messages, or is no template, or goes beyond a limit, or what
        is to be continued is not in the chat.
    ImportError
        ``jinja2`` is not installed.
    """
    chat = [_plain(message) for message in messages]
    field = continued if isinstance(continued, str) else "content"
    last = _mark_end(chat, field) if continued else ""
    blocks: list[str] = []
    generated: list[tuple[int, int]] = []
    from ._bounds import bounded

    try:
        with bounded():
            compiled = _compiled(template)
            tracker = {"_bytepair_blocks": blocks, "_bytepair_generated": generated}
            given = {"messages": chat, **(variables or {}), **tracker}
            for block in compiled.generate(given):
                blocks.append(block)  # noqa: PERF402 -- a block asks for those before it
    except Exception as error:
        message = f"{place()}chat template{_line_of(error)}: {_reason(error)}"
        raise TokenizerError(message) from error
    text = "".join(blocks)
    return Rendered(_cut_at_mark(text, last) if continued else text, generated)


def _line_of(error: Exception) -> str:
    """Say in which line of a template something went wrong, if that is known."""
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}" if line else ""


def _reason(error: Exception) -> str:
    """Say what went wrong; what Python raises in a template is told with its kind."""
    import jinja2

    if isinstance(error, RecursionError):
        return "calls or brackets are nested without end"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, (TokenizerError, jinja2.exceptions.TemplateError)):
        return str(error)
    return f"{type(error).__name__}: {error}"


def is_chat(conversation: Sequence[Any]) -> bool:
    """Tell one chat, a list of messages, from a list of chats.

    >>> is_chat([{"role": "user"}]), is_chat([[{"role": "user"}]])
    (True, False)
    """
    first = conversation[0]
    return not (isinstance(first, (list, tuple)) or hasattr(first, "messages"))


def _as_data(value: Any) -> Any:  # noqa: ANN401 -- of any class
    """Read objects of any depth as mappings: data classes, and those with ``model_dump``."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _as_data(getattr(value, one.name)) for one in fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return _as_data(value.model_dump())
    if isinstance(value, Mapping):
        return {name: _as_data(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_data(one) for one in value]
    return value


def _plain(message: Any) -> dict[str, Any]:  # noqa: ANN401 -- what a caller passed
    """Take what a message says; reasoning is known by two names."""
    message = _as_data(message)
    if not isinstance(message, Mapping):
        error = f"expected messages with a role and a content, not {message!r:.80}"
        raise TokenizerError(error)
    found = {k: v for k, v in message.items() if v is not None}
    reasoning = next((found[name] for name in REASONING if name in found), None)
    if reasoning is None:
        return found
    return {"thinking": reasoning, **found, "reasoning_content": reasoning}


def _mark_end(chat: list[dict[str, Any]], field: str) -> str:
    """Mark the end of the last message; gives its text."""
    found = chat[-1].get(field) if chat else None
    if isinstance(found, str):
        names = [k for k in REASONING if chat[-1].get(k) == found]
        for name in names if field in REASONING else [field]:
            chat[-1][name] = found + MARK
        return found
    blocks: list[Any] = [dict(block) for block in found or []]
    for block in reversed(blocks):
        if "text" in block:
            text = str(block["text"])
            block["text"] = text + MARK
            chat[-1][field] = blocks
            return text
    message = f"continue_final_message: the last message has no {field!r} to continue"
    raise TokenizerError(message)


def _cut_at_mark(text: str, last: str) -> str:
    place = text.rfind(MARK.strip())
    if place < 0 or last.strip() not in text:
        message = "continue_final_message: the template does not write the last message as it is"
        raise TokenizerError(message)
    before = text[:place]
    return before if text.startswith(MARK, place) else before.rstrip()


@lru_cache(maxsize=8)
def _compiled(template: str) -> Any:  # noqa: ANN401 -- jinja2 may be absent
    from jinja2.ext import loopcontrols

    from ._bounds import BoundedEnvironment, check_length

    check_length(template)
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _generation()]
    )
    environment.add_filter("tojson", _to_json)
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = _now
    return environment.from_string(template)


def _generation() -> Any:  # noqa: ANN401 -- jinja2 may be absent
    """Make the extension that notes where ``{% generation %}`` blocks stand."""
    import jinja2
    from jinja2 import ext, nodes

    class Generation(ext.Extension):
        tags = {"generation"}  # noqa: RUF012 -- as jinja2 has it

        def parse(self, parser: Any) -> Any:  # noqa: ANN401
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            call = self.call_method("_note", [nodes.ContextReference()])
            return nodes.CallBlock(call, [], [], body).set_lineno(line)

        @staticmethod
        def _note(context: jinja2.runtime.Context, caller: Any) -> str:  # noqa: ANN401
            text = str(caller())
            start = sum(map(len, context["_bytepair_blocks"]))
            context["_bytepair_generated"].append((start, start + len(text)))
            return text

    return Generation


def _to_json(
    value: object,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002 -- as templates call it
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message: str) -> None:
    import jinja2

    raise jinja2.exceptions.TemplateError(message)


def _now(format: str) -> str:
    return dt.datetime.now().astimezone().strftime(format)
