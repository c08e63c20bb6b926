"""Lists of options that several commands share.

A command takes them as one value, a dataclass whose fields are options for typer. typer sees each
field as an option of the command itself. The cost is only one inspection of the signature.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["spread"]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command for which typer sees the fields of its dataclasses as options.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Shared:
    ...     lines: bool = False
    >>> @spread
    ... def show(name: str, *, shared: Shared) -> None:
    ...     print(name, shared.lines)
    >>> str(inspect.signature(show))
    '(name: str, *, lines: bool = False) -> None'
    >>> show("a", lines=True)
    a True
    """
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)
    }

    @functools.wraps(command)
    def spread_command(*arguments: Any, **options: Any) -> None:  # noqa: ANN401
        for name, group in groups.items():
            names = [field.name for field in fields(group)]
            options[name] = group(**{n: options.pop(n) for n in names if n in options})
        command(*arguments, **options)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        found = _parameters(groups[name]) if name in groups else [parameter]
        parameters += found
    del spread_command.__wrapped__  # typer would look at what it does not see
    spread_command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    spread_command.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    }
    return spread_command


def _parameters(group: Any) -> list[inspect.Parameter]:  # noqa: ANN401 -- a dataclass
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.type,
        )
        for field in fields(group)
    ]
