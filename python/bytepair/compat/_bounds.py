"""Chat templates within bounds: a template comes from others, and may ask for anything.

Every turn of a loop, call, filter and operator is a step. Steps, processor time, nesting, and
what values and text grow to are counted for each rendering; what goes beyond a limit is an error
that names it. No template that was made for chats comes near: the limits are far above what
thousands of messages take. Needs ``jinja2``.

Values are weighed where they are made: a text by its length, a list by what it would be as text,
so that lists of lists of one list cannot explode when they are written or compared. What an
operation gives is foreseen where it may be much larger than what it takes.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["BoundedEnvironment", "bounded", "check_length"]

MOST_SOURCE = 1 << 18
"""Characters of a template."""
MOST_STEPS = 10_000_000
MOST_SECONDS = 10
"""Of processor time."""
MOST_DEPTH = 100
"""Calls within calls."""
MOST_TEXT = 1 << 26
"""Characters of a value, and of what is rendered."""
MOST_MADE = 1 << 29
"""Characters of all values that are made, and of all text that is written."""
MOST_BITS = 1 << 16
"""Bits of a number."""
MOST_WIDTH = 100_000
"""Characters that a value is filled up to."""

CONTAINER = 256
"""What a list or mapping counts for beside what it holds, about its bytes."""
CLOCK_SECONDS = 0.1
FILLING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
COUNTED_FILTERS = frozenset({"batch", "center", "indent", "round", "slice", "tojson"})
SLOW_FILTERS = frozenset(
    {"pprint", "striptags", "title", "urlize", "wordcount", "wordwrap"}
)
MOST_SLOW = 1 << 20
"""Characters of a text that slow filters take."""
WIDTH = re.compile(r"[0-9]{6,}")
PRINTF = re.compile(r"%[^a-zA-Z%]*(?:[0-9]{6,}|\*)")


def check_length(template: str) -> None:
    """Refuse a template that is too long to be one."""
    if len(template) > MOST_SOURCE:
        _refuse(f"{MOST_SOURCE:,} characters")


def _refuse(limit: str) -> NoReturn:
    message = f"it exceeds the limit of {limit} for chat templates"
    raise TokenizerError(message)


class _Budget:
    """What one rendering has used up."""

    def __init__(self) -> None:
        self.steps = self.depth = self.made = 0
        self.seconds = time.thread_time()
        self.next_look = time.monotonic() + CLOCK_SECONDS
        self.weights: dict[int, tuple[object, int]] = {}

    def step(self, n_characters: int = 0) -> None:
        """Count a step, and text that is written with it."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            _refuse(f"{MOST_STEPS:,} steps")
        if n_characters:
            self.make(n_characters)
        now = time.monotonic()
        if now > self.next_look:
            self.next_look = now + CLOCK_SECONDS
            if time.thread_time() - self.seconds > MOST_SECONDS:
                _refuse(f"{MOST_SECONDS} seconds of processor time")

    def make(self, n_characters: int) -> None:
        """Count text that is made."""
        self.made += n_characters
        if self.made > MOST_MADE:
            _refuse(f"{MOST_MADE:,} characters in all values together")

    def weigh(self, value: object) -> int:
        """Give how many characters a value would have as text, about."""
        if isinstance(value, (str, bytes)):
            return len(value)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._weigh_all(value, value)
        if isinstance(value, dict):
            return self._weigh_all(
                value, (part for pair in value.items() for part in pair)
            )
        return 1

    def _weigh_all(self, container: Any, parts: Iterable[object]) -> int:  # noqa: ANN401
        known = self.weights.get(id(container))
        if known is not None:
            return known[1]
        self.depth += 1
        if self.depth > MOST_DEPTH:
            _refuse(f"{MOST_DEPTH} levels of nesting")
        weight = 2
        for part in parts:
            weight += self.weigh(part) + 1
            if weight > MOST_TEXT:
                _refuse(f"{MOST_TEXT:,} characters in one value")
        self.depth -= 1
        self.weights[id(container)] = container, weight
        self.make(CONTAINER + 8 * len(container))
        return weight

    def keep(self, value: Any) -> Any:  # noqa: ANN401
        """Take a value that was made, if it is not too large; gives it."""
        if type(value) is str and len(value) <= MOST_TEXT:
            self.make(len(value))
            return value
        if isinstance(value, int):
            if value.bit_length() > MOST_BITS:
                _refuse(f"{MOST_BITS:,} bits of a number")
            return value
        if self.weigh(value) > MOST_TEXT:
            _refuse(f"{MOST_TEXT:,} characters in one value")
        if isinstance(value, (str, bytes)):
            self.make(len(value))
        return value

    def foresee(self, n_characters: int) -> None:
        """Refuse what would become too large."""
        if n_characters > MOST_TEXT:
            _refuse(f"{MOST_TEXT:,} characters in one value")


_budget: ContextVar[_Budget] = ContextVar("chat template")


@contextmanager
def bounded() -> Iterator[None]:
    """Count from zero what is rendered in the block, in this thread."""
    token = _budget.set(_Budget())
    try:
        yield
    finally:
        _budget.reset(token)


class _Generator(CodeGenerator):
    """Compiles templates so that they count."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        node.body.insert(0, _counting(node.body, node.lineno))
        super().visit_For(node, frame)

    def macro_body(self, node: Any, frame: Frame) -> Any:  # noqa: ANN401
        node.body.insert(0, _counting(node.body, node.lineno))
        return super().macro_body(node, frame)

    def visit_Call(
        self,
        node: nodes.Call,
        frame: Frame,
        forward_caller: bool = False,  # noqa: FBT001, FBT002 -- as Jinja calls it
    ) -> None:
        self.write("environment.kept(")
        super().visit_Call(node, frame, forward_caller=forward_caller)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self.write("environment.kept(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("environment.kept(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("environment.kept(")
        super().visit_Tuple(node, frame)
        self.write(")")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self.write("environment.ticked(")
        super().visit_Compare(node, frame)
        self.write(")")


def _counting(body: list[nodes.Node], line: int) -> nodes.ExprStmt:
    """Make the statement that counts a turn, and the text that it writes as it stands."""
    found = [node for part in body for node in _all_of(part, nodes.TemplateData)]
    n_characters = sum(len(node.data) for node in found)
    counted = nodes.EnvironmentAttribute(f"step({n_characters})", lineno=line)
    return nodes.ExprStmt(counted, lineno=line)


def _all_of(node: nodes.Node, kind: Any) -> list[Any]:  # noqa: ANN401
    own = [node] if isinstance(node, kind) else []
    return [*own, *node.find_all(kind)]


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, whose templates count."""

    code_generator_class = _Generator
    intercepted_binops = frozenset(["+", "-", "*", "**", "%"])

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(optimized=False, finalize=_write, **options)
        filters: dict[str, Any] = dict(self.filters)
        tests: dict[str, Any] = dict(self.tests)
        known: dict[str, Any] = dict(self.globals)
        self.filters = {name: _filter(name, call) for name, call in filters.items()}
        self.tests = {name: _counted(call) for name, call in tests.items()}
        self.globals["range"] = _range
        self.globals["lipsum"] = _lipsum(known["lipsum"])
        self.globals["namespace"] = _namespace(known["namespace"])

    def add_filter(self, name: str, call: Callable[..., Any]) -> None:
        """Add a filter that counts."""
        self.filters[name] = _filter(name, call)

    def step(self, n_characters: int = 0) -> None:
        """Count a turn."""
        _budget.get().step(n_characters)

    def kept(self, value: Any) -> Any:  # noqa: ANN401
        """Take a value that was made."""
        return _budget.get().keep(value)

    def ticked(self, value: Any) -> Any:  # noqa: ANN401
        """Count an operation that makes nothing."""
        _budget.get().step()
        return value

    def joined(self, values: tuple[Any, ...]) -> str:
        """Join values as ``~`` does."""
        budget = _budget.get()
        budget.step()
        budget.foresee(sum(map(budget.weigh, values)))
        return budget.keep("".join(map(str, values)))  # type: ignore[no-any-return]

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Apply an operator."""
        budget = _budget.get()
        budget.step()
        _foresee_operator(budget, operator, left, right)
        return budget.keep(super().call_binop(context, operator, left, right))

    def call(self, context: Any, called: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        """Call what a template calls."""
        budget = _budget.get()
        budget.step()
        args = tuple(_listed(budget, argument) for argument in args)
        _foresee_call(budget, called, args, named)
        budget.depth += 1
        if budget.depth > MOST_DEPTH:
            _refuse(f"{MOST_DEPTH} calls within calls")
        try:
            return super().call(context, called, *args, **named)
        finally:
            budget.depth -= 1


def _write(value: Any) -> Any:  # noqa: ANN401
    """Count what is written."""
    budget = _budget.get()
    n_characters = budget.weigh(value)
    budget.foresee(n_characters)
    budget.step(n_characters)
    return value


def _foresee_operator(budget: _Budget, operator: str, left: Any, right: Any) -> None:  # noqa: ANN401
    if operator == "*":
        for one, other in ((left, right), (right, left)):
            if isinstance(other, int) and isinstance(one, (str, bytes, list, tuple)):
                budget.foresee(budget.weigh(one) * max(other, 0))
    is_power = operator == "**" and isinstance(left, int) and isinstance(right, int)
    if is_power and abs(left) > 1 and left.bit_length() * right > MOST_BITS:
        _refuse(f"{MOST_BITS:,} bits of a number")
    if operator == "%" and isinstance(left, (str, bytes)):
        _foresee_printf(left)
    if operator == "+" and isinstance(left, (str, bytes, list, tuple)):
        budget.foresee(budget.weigh(left) + budget.weigh(right))


def _foresee_printf(text: str | bytes) -> None:
    shown = text if isinstance(text, str) else text.decode("latin-1")
    if PRINTF.search(shown):
        _refuse(f"{MOST_WIDTH:,} characters of width")


def _foresee_call(
    budget: _Budget,
    called: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    named: Mapping[str, Any],
) -> None:
    """Refuse calls of methods of values that would give too much."""
    for argument in (*args, *named.values()):
        budget.foresee(budget.weigh(argument))
    method = getattr(called, "__wrapped__", called)  # as Jinja wraps str.format
    owner = getattr(method, "__self__", None)
    name = getattr(method, "__name__", "")
    if isinstance(owner, (str, bytes, int)):
        _foresee_method(budget, owner, name, (*args, *named.values()))


def _foresee_method(
    budget: _Budget, owner: str | bytes | int, name: str, args: tuple[Any, ...]
) -> None:
    if name in FILLING and any(_is_wide(argument) for argument in args):
        _refuse(f"{MOST_WIDTH:,} characters of width")
    if not isinstance(owner, (str, bytes)):
        return
    tab: Any = "\t" if isinstance(owner, str) else b"\t"
    if name == "expandtabs" and args:
        budget.foresee(len(owner) + owner.count(tab) * int(args[0]))
    if name == "replace" and len(args) > 1:
        _foresee_replacement(budget, owner, *args[:2])
    if name == "join" and args:
        budget.foresee(budget.weigh(args[0]) + len(owner) * _length(args[0]))
    if name == "translate" and isinstance(args[0], dict):
        budget.foresee(len(owner) * max(map(budget.weigh, args[0].values()), default=0))
    if name in ("format", "format_map") and isinstance(owner, str):
        is_nested = re.search(r"{[^{}]*{", owner.replace("{{", "")) is not None
        if WIDTH.search(owner) or (is_nested and any(map(_is_wide, args))):
            _refuse(f"{MOST_WIDTH:,} characters of width")
        n_places = owner.count("{") + 1
        budget.foresee(n_places * max(map(budget.weigh, args), default=0))


def _foresee_replacement(budget: _Budget, text: Any, old: Any, new: Any) -> None:  # noqa: ANN401
    if isinstance(old, type(text)) and isinstance(new, type(text)):
        budget.foresee(len(text) + text.count(old) * len(new))


def _length(value: Any) -> int:  # noqa: ANN401
    return len(value) if hasattr(value, "__len__") else 0


def _is_wide(argument: object) -> bool:
    return isinstance(argument, int) and abs(argument) > MOST_WIDTH


def _filter(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Make a filter that counts, and foresees what would be too much."""

    @wraps(call)
    def counted(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        budget = _budget.get()
        budget.step()
        if name == "join":
            args = tuple(_listed(budget, argument) for argument in args)
        given = [*args, *named.values()]
        for argument in given:
            budget.foresee(budget.weigh(argument))
        _foresee_filter(budget, name, given)
        return budget.keep(call(*args, **named))

    return counted


def _listed(budget: _Budget, value: Any) -> Any:  # noqa: ANN401
    """Take what comes one by one as a list, whose weight is known."""
    if not hasattr(value, "__next__"):
        return value
    found = []
    for part in value:
        budget.step(budget.weigh(part))
        found.append(part)
    return budget.keep(found)


def _foresee_filter(budget: _Budget, name: str, given: list[Any]) -> None:
    texts = [argument for argument in given if isinstance(argument, str)]
    if name in COUNTED_FILTERS and any(map(_is_wide, given[1:])):
        _refuse(f"{MOST_WIDTH:,} as a number for the filter {name}")
    if name in SLOW_FILTERS and sum(map(budget.weigh, given)) > MOST_SLOW:
        _refuse(f"{MOST_SLOW:,} characters for the filter {name}")
    if name == "replace" and len(texts) > 2:
        _foresee_replacement(budget, *texts[:3])
    if name == "format" and texts:
        _foresee_printf(texts[0])
    if name == "join" and texts:
        n_parts = max(
            map(_length, (one for one in given if not isinstance(one, str))), default=0
        )
        budget.foresee(sum(map(budget.weigh, given)) + len(texts[-1]) * n_parts)
    if name == "indent" and texts:
        budget.foresee(len(texts[0]) + (texts[0].count("\n") + 1) * _widest(given[1:]))
    if name == "sum" and any(isinstance(one, (list, tuple)) for one in given[2:]):
        message = "the filter sum adds up numbers, and no lists"
        raise TokenizerError(message)
    if name == "tojson" and _widest(given[1:]) > 64:
        _refuse("64 spaces of indent for the filter tojson")


def _widest(given: Iterable[Any]) -> int:
    numbers = (one for one in given if isinstance(one, int))
    texts = (len(one) for one in given if isinstance(one, str))
    return max([0, *numbers, *texts])


def _counted(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def counted(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        _budget.get().step()
        return call(*args, **named)

    return counted


def _range(*args: int) -> range:
    found = range(*args)
    if len(found) > MOST_STEPS:
        _refuse(f"{MOST_STEPS:,} steps")
    return found


def _lipsum(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def counted(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        if any(isinstance(one, int) and one > 1000 for one in (*args, *named.values())):
            _refuse("1,000 as a number for lipsum")
        return call(*args, **named)

    return counted


def _namespace(kind: type) -> type:
    """Give namespaces that are not written with what they hold, which may be themselves."""

    class Namespace(kind):  # type: ignore[misc]
        def __repr__(self) -> str:
            return "<Namespace>"

    return Namespace
