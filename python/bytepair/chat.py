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
from typing import Any

from bytepair._io.beside import read_object
from bytepair._io.files import StrPath
from bytepair._origins import OriginText, Segment, marked, origins_followed
from bytepair.errors import FileError, FormatError, MissingLibraryError, TokenizerError

__all__ = ["Segment", "read_template", "render", "render_segments"]

#: A template may build a control token from one of these roles. Any other role is text that is not trusted.
_ROLES = frozenset(
    {"assistant", "developer", "function", "ipython", "model", "system", "tool", "user"}
)

_TEMPLATE = Segment("", trusted=True)

#: The filter of ``{% generation %}`` blocks; no template can name it.
_GENERATION = "generation block"


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
        ``random``, or with ``+`` of text that it escapes for HTML.
    MissingLibraryError
        ``jinja2`` is not installed.
    """
    context = {
        "messages": messages,
        "add_generation_prompt": add_generation_prompt,
        "strftime_now": dt.datetime.now().astimezone().strftime,
    } | variables
    text = _rendered(template, context)
    segments = _segments(OriginText(_rendered(template, context, with_origins=True)))
    if text != "".join(segment.text for segment in segments):
        message = "chat template: it gives another text when it is rendered again, so its segments are not known"
        raise TokenizerError(message)
    return segments


def _with_origins(context: dict[str, Any], environment: Any) -> dict[str, Any]:
    """Return the variables of a template; those that it trusts, and all text of messages, know their origin."""
    has_blocks = hasattr(environment, "has_generation")
    messages = [
        _message_with_origins(message, index, has_blocks)
        for index, message in enumerate(context["messages"])
    ]
    tokens = [name for name in context if name.endswith("_token")]
    trusted = {name: marked(context[name], _TEMPLATE) for name in tokens}
    return context | trusted | {"messages": messages}


def _message_with_origins(message: Any, index: int, has_blocks: bool) -> Any:
    """Return a message whose texts know that they come from it; the template vouches for the usual roles."""
    role = message.get("role") if isinstance(message, Mapping) else None
    role = role if isinstance(role, str) else None
    is_generated = not has_blocks and role in {"assistant", "model"}
    made = marked(message, Segment("", False, role, index, is_generated))
    if role in _ROLES:
        made["role"] = marked(role, Segment("", True, role, index))
    return made


def _segments(text: OriginText) -> list[Segment]:
    """Return the segments of a text; text of the template is one segment, which has the last role that it names."""
    segments = []
    parts = [part for part in text.parts if part.text]
    for _, group in groupby(parts, key=_kind):
        same = list(group)
        named = max(reversed(same), key=lambda part: part.role is not None)
        segments.append(named._replace(text="".join(part.text for part in same)))
    return segments


def _kind(part: Segment) -> object:
    """Return what the parts of one segment share."""
    return part.is_generated if part.trusted else part._replace(text="")


def _rendered(
    template: str, context: dict[str, Any], *, with_origins: bool = False
) -> str:
    try:
        compiled = _compiled(template, with_origins=with_origins)
        if with_origins:
            context = _with_origins(context, compiled.environment)
        text: str = compiled.render(context)
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
    """Make all texts of a template know their origins."""
    from jinja2 import compiler, filters, nodes, pass_eval_context

    class Generator(compiler.CodeGenerator):
        def visit_Const(self, node: Any, frame: Any) -> None:
            self.write(f"environment.literal({node.value!r})")

        def _output_const_repr(self, group: Any) -> str:
            return f"environment.literal({''.join(group)!r})"

        def visit_Concat(self, node: Any, frame: Any) -> None:
            self.write("environment.concat(")
            self.visit_Tuple(nodes.Tuple(node.nodes, "load"), frame)
            self.write(")")

    @pass_eval_context
    def join(context: Any, texts: Any, d: str = "", attribute: Any = None) -> Any:
        return filters.do_join(context, texts, OriginText(d), attribute)

    environment.code_generator_class = Generator
    environment.literal = lambda value: marked(value, _TEMPLATE)
    environment.concat = OriginText().join
    environment.finalize = origins_followed(str)
    environment.call = origins_followed(environment.call)
    environment.filters |= {"join": join, _GENERATION: _generated}
    for name, function in environment.filters.items():
        environment.filters[name] = origins_followed(function)


def _generated(text: OriginText) -> OriginText:
    return OriginText(text, [one._replace(is_generated=True) for one in text.parts])


def _generation() -> Any:
    """Return the extension that passes the text of ``{% generation %}`` blocks through a filter."""
    from jinja2 import ext, nodes

    class Generation(ext.Extension):
        tags = {"generation"}  # noqa: RUF012 -- as jinja2 has it

        def parse(self, parser: Any) -> Any:
            vars(self.environment)["has_generation"] = True
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            if _GENERATION not in self.environment.filters:
                return nodes.Scope(body, lineno=line)
            mark = nodes.Filter(None, _GENERATION, [], [], None, None, lineno=line)
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
