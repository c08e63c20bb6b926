"""The commands under one name, and what becomes of their errors."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from bytepair import FileError, FormatError, TokenizerError, __version__

from .commands import COMMANDS, function_of
from .help_pages import Command, page, sections_of
from .problems import UsageError, tell, tell_usage

__all__ = ["app", "run"]

REFUSED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
CLOSED_PIPE = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


CONTEXT = {"help_option_names": ["-h", "--help"]}


class Loaded(MutableMapping[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 -- typer names no class for it
        if name not in self.found:
            if name not in set(self):
                raise KeyError(name)
            own = typer.Typer(
                add_completion=False,
                rich_markup_mode=None,
                pretty_exceptions_enable=False,
                context_settings=CONTEXT,
            )
            own.command(name, cls=Command)(function_of(name))
            self.found[name] = typer.main.get_command(own)
        return self.found[name]

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401
        self.found[name] = command

    def __delitem__(self, name: str) -> None:
        del self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(entry.name for entry in COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Commands(TyperGroup):
    """The commands; an error ends them with one line and an exit code."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 -- typer's
        super().__init__(**{**settings, "commands": {}})
        self.commands = Loaded()
        self.chosen: typer.Context | None = None
        self.typed: list[str] = []

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """List the names without a look at the commands."""
        return list(self.commands)

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """List commands with their summaries, of which none is imported."""
        loaded = self.commands
        self.commands = {
            entry.name: Command(entry.name, short_help=entry.summary)
            for entry in COMMANDS
        }
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.commands = loaded

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Find the command that is named."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            self.chosen = typer.Context(command, parent=ctx, info_name=name)
        return name, command, rest

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write the help page: the commands in groups, then the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for entry in COMMANDS:
            groups.setdefault(entry.group, []).append((entry.name, entry.summary))
        formatter.write(page(self, ctx, groups | sections_of(self, ctx)))

    def main(self, *arguments: Any, **settings: Any) -> Any:  # noqa: ANN401
        """Run the command that the arguments name, and leave with its exit code."""
        if not settings.get("standalone_mode", True):
            return super().main(*arguments, **settings)
        settings["standalone_mode"] = False
        try:
            code = super().main(*arguments, **settings)
        except UsageError as error:
            tell_usage(error, self.chosen)
            sys.exit(WRONG_USAGE)
        sys.exit(code if isinstance(code, int) else 0)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the options before the command; without a command, show the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(WRONG_USAGE)
        self.typed = [word for word in args if not word.startswith("--")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command that was named."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except TokenizerError as error:
            is_about_file = isinstance(error, (FileError, FormatError))
            options = self._options(ctx)
            # A file error begins with a path, which may have the name of an option.
            path, colon, reason = str(error).partition(": ")
            begin = f"{path}{colon}" if isinstance(error, FileError) and colon else ""
            rest = reason if begin else str(error)
            rest = _as_typed(rest, options, self.typed, is_about_file=is_about_file)
            rest = rest.replace(", or skip such lines: skip_bad=True", "")
            with_loading = _as_typed(rest, OF_CONVERT, self.typed, is_about_file=True)
            hint = "" if with_loading == rest else IN_CONVERT
            _refuse(begin + with_loading + hint)
        except KeyboardInterrupt:
            _interrupt()
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(CLOSED_PIPE) from None
        except OSError as error:
            _drop_output()
            _refuse(_reason(error))
        except UnicodeEncodeError as error:
            _refuse(f"the argument {error.object!r} is not UTF-8")
        except MemoryError as error:
            reason = str(error)
            is_told = "out of memory" in reason
            _refuse(reason if is_told else f"out of memory {reason}".rstrip())
        return result

    def _options(self, ctx: typer.Context) -> dict[str, str]:
        """Give the options of the command that was named, by their names in Python."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        params = command.params if command else []
        options = {str(param.name): param.opts[0] for param in params if param.opts}
        aliases = {
            "special_tokens": "special",
            "groups": "group",
            "format": "format_name",
            "task_bytes": "task_size",
            "rows": "embedding_rows",
        }
        return {
            **{name: options.get(alias, "") for name, alias in aliases.items()},
            **options,
        }


OF_CONVERT = {name: f"--{name}" for name in ("dialect", "pattern", "encoding")}
"""Options for files that leave something out. Few commands have them, and `convert` is one."""
IN_CONVERT = "; bytepair convert has these options, and writes a file that needs none"


app = typer.Typer(
    name="bytepair",
    cls=Commands,
    help="Train, use and inspect byte-pair-encoding tokenizers.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 -- typer passes the value
    if wanted:
        typer.echo(f"bytepair {__version__}")
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Train, use and inspect byte-pair-encoding tokenizers."""


def run() -> None:
    """Run the command that the arguments name, in a process that does nothing else.

    Nothing that Python code calls may change standard output for all.
    """
    if sys.stdout is None:
        sys.exit("bytepair: standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character no terminal shows is no error
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="bytepair")


def _as_typed(
    message: str,
    options: dict[str, str],
    values: Sequence[str] = (),
    *,
    is_about_file: bool = False,
) -> str:
    """Write the options that a message names as they are typed here.

    What stands in one of the values that were typed stays. A message about the content of a file
    names fields, which may have the name of an option.

    >>> _as_typed('pass input_format="text"', {"input_format": "--input-format"})
    'pass --input-format text'
    >>> _as_typed("vocab_size is 200, not 300", {"vocab_size": "--vocab-size"})
    '--vocab-size is 200, not 300'
    >>> _as_typed("train without it: normalize=[]", {"normalize": "--normalize"})
    "train without it: --normalize ''"
    >>> _as_typed("to: 9 tokens must stay", {"to": "--to"})
    '--to: 9 tokens must stay'
    >>> _as_typed(
    ...     "added_tokens: not a list",
    ...     {"added_tokens": "--added-tokens"},
    ...     is_about_file=True,
    ... )
    'added_tokens: not a list'
    >>> _as_typed(
    ...     "text_field: 3 tokens", {"text_field": "--text-field"}, ["text_field"]
    ... )
    'text_field: 3 tokens'
    """

    def typed(found: re.Match[str]) -> str:
        option = options.get(found["name"])
        spans = [span for value in values for span in _spans(value, found.string)]
        is_value = any(a <= found.start() and found.end() <= b for a, b in spans)
        if is_value or not (option or "").startswith("--"):
            return found[0]
        value = found.groupdict().get("value")
        value = "''" if value == "[]" else value
        return f"{option} {value}" if value else str(option)

    value = r"[\"]?(?P<value>(?<=\")[^\"]*|[0-9.]*[0-9]|\[\])[\"]?|True\b"
    named = rf"\b(?P<name>[a-z_]+)=(?:{value})?"
    # A name alone, but no part of a path or of what is quoted.
    bare = r"(?<![\w./'\"`-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w/'\"`=([]|\.\w)"
    subject = r"^(?P<name>[a-z_]+)(?= must )"
    topic = r"^(?P<name>[a-z_]+)(?=: )"
    part = r"(?<=has another )(?P<name>[a-z_]+)(?= than the dialect and the options)"
    encoding = r"(?<=: )(?P<name>encoding)(?=: \"[^\"]*\" is not known)"
    about_options = () if is_about_file else (part, bare, topic)
    for pattern in (named, subject, encoding, *about_options):
        message = re.sub(pattern, typed, message)
    return message


def _spans(value: str, text: str) -> list[tuple[int, int]]:
    """Give where a value stands in a text.

    >>> _spans("a", "banana")
    [(1, 2), (3, 4), (5, 6)]
    """
    return [found.span() for found in re.finditer(re.escape(value), text) if value]


def _refuse(message: str) -> NoReturn:
    tell(message)
    raise typer.Exit(REFUSED)


def _interrupt() -> NoReturn:
    tell("interrupted")
    raise typer.Exit(INTERRUPTED)


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _drop_output() -> None:
    """Send what is still in the buffer nowhere, so that the end does not fail again.

    Output that only a program holds has no descriptor, and nothing waits in its buffer.
    """
    with contextlib.suppress(AttributeError, OSError):
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
