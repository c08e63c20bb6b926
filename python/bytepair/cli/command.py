"""How a command declares its arguments and options, and how its help lists them.

A declaration has the name of the argument of the Python function that it sets. Options that were
not typed are not passed on, so the defaults of the function apply.
"""

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

import click

from bytepair._io.overwriting import refuse_overwriting
from bytepair._labels import argument, typed_as

__all__ = [
    "CONTEXT",
    "DIALECT",
    "DISPLAY",
    "LIMITS",
    "LOADING",
    "READING",
    "WORK",
    "Argument",
    "Command",
    "Option",
    "command",
    "completing",
    "refuse_options",
    "sections_of",
    "typed_names",
]

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
OPTIONS = "Options"
DIALECT = "Dialect options"
LIMITS = "Learning limits"
LOADING = "Tokenizer options"
READING = "Corpus options"
WORK = "Performance options"
DISPLAY = "Display options"
"""Groups of options that several commands have."""
OF_CONVERT = {
    "dialect": "--dialect",
    "pattern": "--pattern of bytepair convert",
    "encoding": "--encoding of bytepair convert",
}
"""Names in messages for options that only ``bytepair convert`` has."""
LAST = (LOADING, READING, WORK, DISPLAY)
"""The groups that end a help page, in this order."""


class Argument(click.Argument):
    """An argument, declared as usage shows it: ``[FILES]...`` accepts any number, even none.

    ``reads`` and ``writes`` say what the command does with the files that its values name.
    """

    def __init__(
        self,
        name: str,
        metavar: str,
        help_text: str,
        *,
        reads: bool = False,
        writes: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(
            [name],
            metavar=metavar,
            nargs=-1 if "..." in metavar else 1,
            required=not metavar.startswith("["),
            **settings,
        )
        self.help, self.reads, self.writes = help_text, reads, writes

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return its row on the help page."""
        return self.make_metavar(ctx), self.help or ""


class Option(click.Option):
    """An option, declared as help shows it.

    ``-o, --output FILE`` takes any text, ``--ties [first_seen|largest_text]`` one of two, ``--text FILE...``
    may be repeated, and ``--json`` takes no value.
    ``name`` is the argument of the Python function, if the option has another name. ``reads`` and
    ``writes`` say what the command does with the files that its values name; ``parse`` converts all
    typed values into one.
    """

    def __init__(
        self,
        shown: str,
        help_text: str,
        *,
        name: str | None = None,
        group: str = OPTIONS,
        reads: bool = False,
        writes: bool = False,
        parse: Callable[[Any], Any] | None = None,
        **settings: Any,
    ) -> None:
        names, _, metavar = shown.replace(", ", ",").partition(" ")
        if not metavar:
            settings |= {"is_flag": True, "default": None}
        if metavar.startswith("["):
            settings["type"] = click.Choice(metavar[1:-1].split("|"))
        if parse is not None:
            settings["callback"] = lambda _ctx, _param, typed: typed and parse(typed)
        super().__init__(
            [*names.split(","), *([name] if name else [])],
            help=help_text,
            metavar=metavar or None,
            multiple=metavar.endswith("..."),
            **settings,
        )
        self.group, self.reads, self.writes = group, reads, writes


class Command(click.Command):
    """A command that lists its options in groups and never overwrites a file that it reads.

    Its help ends with the examples of the docstring, which are the lines that begin with ``$``.
    """

    def __init__(self, name: str, *, docstring: str, **settings: Any) -> None:
        text, *examples = docstring.split("\n$ ")
        super().__init__(name, help=text.strip(), **settings)
        self.examples = [example.strip() for example in examples]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would overwrite a file that it reads or write a file twice."""
        read, written = self._paths(ctx, "reads"), self._paths(ctx, "writes")
        weighted = [path.rpartition("@")[0] for path in read if "@" in path]
        refuse_overwriting([*read, *weighted], [*written, "-"])
        _refuse_same(written)
        with typed_as(OF_CONVERT | typed_names(self)):
            return super().invoke(ctx)

    def _paths(self, ctx: click.Context, use: str) -> list[str]:
        """List the paths that the command reads or writes."""
        values = [ctx.params[str(p.name)] for p in self.params if getattr(p, use)]
        many = [v if isinstance(v, (tuple, list)) else [v] for v in values]
        return [str(path) for paths in many for path in paths if path is not None]

    def format_arguments(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write nothing: ``format_options`` lists the arguments, which click does itself since 8.5."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each on a line that can be copied."""
        if self.examples:
            formatter.write("\nExamples:\n")
            formatter.write("".join(f"  {example}\n" for example in self.examples))

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the arguments and the groups of options."""
        for title, rows in sections_of(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _refuse_same(outputs: list[str]) -> None:
    """Refuse to write the same file twice."""
    for index, path in enumerate(outputs):
        if os.path.realpath(path) in map(os.path.realpath, outputs[:index]):
            message = f"{path} is written twice; name another file"
            raise click.UsageError(message)


def command(
    *parameters: click.Parameter,
) -> Callable[[Callable[..., int | None]], Command]:
    """Turn a function into a command; its docstring is the help, and its result the exit code."""

    def declared(function: Callable[..., int | None]) -> Command:
        return Command(
            function.__name__.replace("_", "-"),
            params=list(parameters),
            callback=lambda **values: function(**_typed(values)),
            docstring=inspect.cleandoc(function.__doc__ or ""),
            context_settings=CONTEXT,
        )

    return declared


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed; several values of an option as a list."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None and value != ()
    }


def sections_of(
    shown: click.Command, ctx: click.Context
) -> dict[str, list[tuple[str, str]]]:
    """Return the rows of a help page by group; a row is a term and its explanation."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], OPTIONS: []}
    for parameter in shown.get_params(ctx):
        row = parameter.get_help_record(ctx)
        is_argument = isinstance(parameter, click.Argument)
        group = "Arguments" if is_argument else getattr(parameter, "group", DISPLAY)
        if row is not None:
            sections.setdefault(group, []).append(row)
    last = {title: sections.pop(title) for title in LAST if title in sections}
    return {title: rows for title, rows in (sections | last).items() if rows}


def completing(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Return a shell completion: the names that begin with the typed text."""
    return lambda _ctx, _param, typed: [n for n in names() if n.startswith(typed)]


def typed_names(declared: click.Command) -> dict[str, str]:
    """Return how the arguments and options of a command are typed, by their names in Python."""
    names = {"lines": "--input-format lines"}
    for parameter in declared.params:
        is_option = isinstance(parameter, click.Option)
        shown = parameter.opts[-1] if is_option else parameter.human_readable_name
        names[str(parameter.name)] = shown.strip("[].")
    return names


def refuse_options(names: Iterable[str], reason: str) -> None:
    """Refuse options and arguments that were typed but have no effect, by their names in Python."""
    for name in names:
        message = f"{argument(name)} {reason}"
        raise click.UsageError(message)
