"""The group of all commands, and how their errors become messages and exit codes."""

import contextlib
import difflib
import os
import sys
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from bytepair import TokenizerError, __version__

from .command import CONTEXT
from .commands import COMMANDS
from .problems import INSTEAD, tell, tell_usage

__all__ = ["app", "run"]

REFUSED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
CLOSED_PIPE = 141
"""The exit codes that a shell reports for a program ended by SIGINT or SIGPIPE."""


class Commands(click.Group):
    """The commands, each imported when it runs; an error ends them with one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands without importing them."""
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command with this name, or return ``None``."""
        entries = [entry for entry in COMMANDS if entry.name == cmd_name]
        return entries[0].load() if entries else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the named command; for a command that no longer exists, say what to use instead."""
        name, names = args[0], self.list_commands(ctx)
        near = difflib.get_close_matches(name, names, n=1)
        instead = INSTEAD.get(name, f"bytepair {near[0]}" if near else "")
        if instead and name not in names and not ctx.resilient_parsing:
            ctx.fail(f"No such command '{name}'. Use {instead}.")
        return super().resolve_command(ctx, args)

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Complete names of commands, with their summaries, without importing any."""
        commands = [
            CompletionItem(entry.name, help=entry.summary)
            for entry in COMMANDS
            if entry.name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands in groups."""
        for group in dict.fromkeys(entry.group for entry in COMMANDS):
            with formatter.section(group):
                formatter.write_dl(
                    [(e.name, e.summary) for e in COMMANDS if e.group == group]
                )

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command that the arguments name, and exit with its code."""
        try:
            code = super().main(*arguments, **{**settings, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(WRONG_USAGE)
        except click.UsageError as error:
            tell_usage(error)
            sys.exit(WRONG_USAGE)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except TokenizerError as error:
            _leave(REFUSED, str(error))
        except KeyboardInterrupt as error:
            _leave(INTERRUPTED, str(error) or "interrupted")
        except BrokenPipeError:
            _drop_output()
            raise click.exceptions.Exit(CLOSED_PIPE) from None
        except OSError as error:
            _drop_output()
            _leave(REFUSED, _reason(error))
        except UnicodeEncodeError as error:
            _leave(REFUSED, f"the argument {error.object!r} is not UTF-8")
        except MemoryError as error:
            reason = str(error)
            is_told = "out of memory" in reason
            _leave(REFUSED, reason if is_told else f"out of memory {reason}".rstrip())
        return code


@click.command("bytepair", cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, message="bytepair %(version)s")
def app() -> None:
    """Train, use and inspect byte-pair-encoding tokenizers."""


def run() -> None:
    """Run the command that the arguments name, in a process that does nothing else.

    It changes how standard output writes characters, and a setting of transformers. Python code calls :data:`app` instead.
    """
    if sys.stdout is None:
        sys.exit("bytepair: standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # unencodable characters are not errors
            stream.reconfigure(errors="backslashreplace")
    # transformers, which the doctor asks, warns about models and settings.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    app(prog_name="bytepair")


def _leave(code: int, message: str) -> NoReturn:
    tell(message)
    raise click.exceptions.Exit(code)


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _drop_output() -> None:
    """Discard buffered output, so that flushing it at exit does not fail again.

    Output that a program captures has no descriptor, and nothing to discard.
    """
    with contextlib.suppress(AttributeError, OSError):
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
