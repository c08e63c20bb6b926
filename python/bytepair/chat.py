"""Chat templates without transformers: messages to the text that a model reads.

The template runs in Jinja's sandbox with what transformers provides: ``raise_exception``, ``strftime_now``, ``tojson``,
loop controls, and no empty lines around blocks. Needs ``jinja2``.

Left out: limits of time and memory, so render only templates that you trust, or in a process that has limits; schemas of tools
that are functions (pass the schema); masks of what the model itself writes, which ``apply_chat_template`` of transformers has.
"""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from bytepair._io.beside import read_object
from bytepair._io.files import StrPath
from bytepair.errors import FileError, FormatError, MissingLibraryError, TokenizerError

__all__ = ["read_template", "render"]


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
    try:
        text: str = _compiled(template).render(context | variables)
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


@lru_cache(maxsize=8)
def _compiled(template: str) -> Any:
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
    return environment.from_string(template)


def _generation() -> Any:
    """Return the extension that reads ``{% generation %}`` blocks, which are text like any other."""
    from jinja2 import ext, nodes

    class Generation(ext.Extension):
        tags = {"generation"}  # noqa: RUF012 -- as jinja2 has it

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

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
