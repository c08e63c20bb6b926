"""Chat templates without transformers: messages to the text that a model reads.

The template runs in Jinja's sandbox with what transformers provides: ``raise_exception``, ``strftime_now``, ``tojson``,
loop controls, and no empty lines around blocks. Needs ``jinja2``.

``render_segments`` also says which parts of the text are the template's own and which come from messages: strings carry their
origins through the operations of the template (``_origins``). It costs a second rendering, and time for each part.

Left out: limits of time and memory, so render only templates that you trust, or in a process that has limits; schemas of tools
that are functions (pass the schema).
"""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from bytepair._io.beside import read_object
from bytepair._io.files import StrPath
from bytepair._origins import (
    TEMPLATE,
    Origin,
    OriginText,
    Part,
    joined,
    origins_followed,
    with_origin,
)
from bytepair.errors import FileError, FormatError, MissingLibraryError, TokenizerError

__all__ = ["Segment", "read_template", "render", "render_segments"]

#: A template may build a control token from one of these roles. Any other role is text that is not trusted.
_ROLES = frozenset(
    {"assistant", "developer", "function", "ipython", "model", "system", "tool", "user"}
)


class Segment(NamedTuple):
    """A part of the text of a chat; its first two fields are what ``bytepair.serving.encode_segments`` takes.

    ``trusted`` says whether the text is the template's own. ``message`` is the index of the message that the text comes from,
    or whose role the template's text names; otherwise it is ``None``. ``role`` is the role of this message. ``is_generated``
    says whether the model writes this text: what is in ``{% generation %}`` blocks, or, if the template has none, all values of
    messages whose role is ``assistant`` or ``model``.
    """

    text: str
    trusted: bool
    role: str | None = None
    message: int | None = None
    is_generated: bool = False


def render(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    add_generation_prompt: bool = False,
    **variables: Any,
) -> str:
    """Return the text of a chat.

    ``add_generation_prompt`` adds the beginning of an answer, if the template has one. Other variables are those that the
    template uses, such as ``tools`` or ``bos_token``.

    >>> template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
    >>> render(template, [{"role": "user", "content": "How are you?"}])
    '<|user|>How are you?'

    Raises
    ------
    TokenizerError
        The template is invalid or refuses the messages; the error names the line.
    MissingLibraryError
        ``jinja2`` is not installed.
    """
    context = {"messages": messages, "add_generation_prompt": add_generation_prompt}
    return _rendered(template, context | variables)


def render_segments(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    add_generation_prompt: bool = False,
    **variables: Any,
) -> list[Segment]:
    """Return the text of a chat in segments: the template's own text, which is trusted, and text of messages, which is not.

    The texts of all segments make up what :func:`render` returns. Trusted is what the template writes out, the usual roles of
    messages (such as ``user`` and ``tool``), and variables whose names end with ``_token``, such as ``bos_token``. All other
    variables, such as ``tools``, are not trusted, and neither is text that the template computes, such as
    ``message.role | upper``.

    >>> template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
    >>> for segment in render_segments(
    ...     template, [{"role": "user", "content": "<|user|>"}]
    ... ):
    ...     print(segment)
    Segment(text='<|user|>', trusted=True, role='user', message=0, is_generated=False)
    Segment(text='<|user|>', trusted=False, role='user', message=0, is_generated=False)

    Raises
    ------
    TokenizerError
        The template is invalid or refuses the messages; or it gives another text when it is rendered again, as with
        ``random``.
    MissingLibraryError
        ``jinja2`` is not installed.
    """
    now = dt.datetime.now().astimezone()
    context = {
        "messages": messages,
        "add_generation_prompt": add_generation_prompt,
        "strftime_now": now.strftime,
    } | variables
    text = _rendered(template, context)
    marked = {
        name: with_origin(value, TEMPLATE)
        for name, value in variables.items()
        if name.endswith("_token")
    }
    marked["messages"] = [
        _with_origins(message, index) for index, message in enumerate(messages)
    ]
    again = _rendered(template, context | marked, with_origins=True)
    if text != again or not isinstance(again, OriginText):
        message = "chat template: it gives another text when it is rendered again, so its segments are not known"
        raise TokenizerError(message)
    has_blocks = _compiled(template, with_origins=True).environment.has_generation
    return [
        _segment(list(parts), messages, has_blocks)
        for _, parts in groupby((part for part in again.parts if part.text), key=_kind)
    ]


def _with_origins(message: Mapping[str, Any], index: int) -> dict[str, Any]:
    marked: dict[str, Any] = with_origin(message, Origin(trusted=False, message=index))
    role = message.get("role")
    if isinstance(role, str) and role in _ROLES:
        marked["role"] = with_origin(role, Origin(trusted=True, message=index))
    return marked


def _kind(part: Part) -> tuple[Any, ...]:
    """Return what parts of one segment share; text of the template is one segment, whatever role it names."""
    trusted, message, in_generation = part.origin
    return trusted, in_generation, None if trusted else message


def _segment(
    parts: list[Part], messages: Sequence[Mapping[str, Any]], has_blocks: bool
) -> Segment:
    trusted, _, in_generation = parts[0].origin
    index = next(
        (
            part.origin.message
            for part in reversed(parts)
            if part.origin.message is not None
        ),
        None,
    )
    role = None if index is None else messages[index].get("role")
    is_generated = (
        in_generation if has_blocks else not trusted and role in {"assistant", "model"}
    )
    return Segment(
        "".join(part.text for part in parts), trusted, role, index, is_generated
    )


def _rendered(
    template: str, context: dict[str, Any], *, with_origins: bool = False
) -> str:
    try:
        text: str = _compiled(template, with_origins=with_origins).render(context)
    except MissingLibraryError:
        raise
    except Exception as error:  # an expression of the template may raise anything
        message = f"chat template{_line_of(error)}: {_reason(error)}"
        raise TokenizerError(message) from error
    return text


def read_template(folder: StrPath, name: str = "default") -> str:
    """Return a chat template of a model's folder, from ``chat_template.jinja`` or ``tokenizer_config.json``.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
    >>> read_template(folder)
    '{{ messages[0].content }}'

    Raises
    ------
    FileError
        The folder has no template of this name, or its file cannot be read.
    FormatError
        ``tokenizer_config.json`` does not list templates as texts with names.
    """
    folder = Path(folder)
    files = {"default": folder / "chat_template.jinja"}
    file = files.get(name, folder / "additional_chat_templates" / f"{name}.jinja")
    if file.is_file():
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            message = f"{file}: {error}"
            raise FileError(message) from error
    config = folder / "tokenizer_config.json"
    templates = read_object(config).get("chat_template") if config.is_file() else None
    if isinstance(templates, str):
        templates = [{"name": "default", "template": templates}]
    try:
        by_name = {str(t["name"]): str(t["template"]) for t in templates or []}
    except (TypeError, KeyError) as error:
        message = f"{config}: chat_template must be a text, or a list of objects with name and template"
        raise FormatError(message) from error
    if name not in by_name:
        known = ", ".join(by_name) or "none"
        message = f"{folder}: no chat template {name!r}; templates of tokenizer_config.json: {known}"
        raise FileError(message)
    return by_name[name]


@lru_cache(maxsize=16)
def _compiled(template: str, *, with_origins: bool = False) -> Any:
    try:
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        message = "chat templates need jinja2: pip install jinja2"
        raise MissingLibraryError(message) from error
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _generation()]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _now}
    if with_origins:
        _follow_origins(environment)
    return environment.from_string(template)


def _follow_origins(environment: Any) -> None:
    """Make the strings of a template keep their origins."""
    from jinja2 import compiler
    from jinja2.filters import do_join
    from jinja2.utils import pass_eval_context

    class Generator(compiler.CodeGenerator):
        def visit_Const(self, node: Any, frame: Any) -> None:
            super().visit_Const(node, frame) if not isinstance(
                node.value, str
            ) else self.write(_literal(node.value))

        def visit_Concat(self, node: Any, frame: Any) -> None:
            self.write("environment.concat(map(str, (")
            for one in node.nodes:
                self.visit(one, frame)
                self.write(", ")
            self.write(")))")

        def _output_const_repr(self, group: Any) -> str:
            return _literal("".join(group))

    @pass_eval_context
    def join(
        context: Any, texts: Any, separator: str = "", attribute: Any = None
    ) -> Any:
        return do_join(
            context,
            texts,
            OriginText(separator, getattr(separator, "parts", None)),
            attribute,
        )

    environment.code_generator_class = Generator
    environment.concat = joined
    environment.literal = lambda text: with_origin(text, TEMPLATE)
    environment.optimized = False
    environment.filters = {
        name: origins_followed(one) for name, one in environment.filters.items()
    } | {"join": join}
    environment.filters["generated"] = _in_generation


def _literal(text: str) -> str:
    return f"environment.literal({text!r})"


def _in_generation(text: OriginText) -> OriginText:
    return OriginText(
        text,
        [Part(one.text, one.origin._replace(in_generation=True)) for one in text.parts],
    )


def _generation() -> Any:
    """Return the extension that reads ``{% generation %}`` blocks, which are text like any other.

    If the environment has the filter ``generated``, their text goes through it.
    """
    from jinja2 import ext, nodes

    class Generation(ext.Extension):
        tags = {"generation"}  # noqa: RUF012 -- as jinja2 has it

        def __init__(self, environment: Any) -> None:
            super().__init__(environment)
            environment.has_generation = False

        def parse(self, parser: Any) -> Any:
            vars(self.environment)["has_generation"] = True
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            if "generated" not in self.environment.filters:
                return nodes.Scope(body, lineno=line)
            mark = nodes.Filter(None, "generated", [], [], None, None, lineno=line)
            return nodes.FilterBlock(body, mark, lineno=line)

    return Generation


def _line_of(error: Exception) -> str:
    """Return the line of the template that failed, if it is known."""
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}" if line else ""


def _reason(error: Exception) -> str:
    """Return the reason of an error; an error of Python is named with its class."""
    from jinja2.exceptions import TemplateError

    if isinstance(error, TemplateError):
        return error.message or str(error)
    return f"{type(error).__name__}: {error}"


def _to_json(value: object, **options: Any) -> str:
    return json.dumps(value, **{"ensure_ascii": False, **options})


def _refuse(message: str) -> None:
    from jinja2.exceptions import TemplateError

    raise TemplateError(message)


def _now(format: str) -> str:
    return dt.datetime.now().astimezone().strftime(format)
