"""Metrics and descriptions of tokenizers and texts, as values: nothing is printed.

Each question has a folder: modules that compute the answer, ``draw`` for its view, and ``command`` for the command line. A
module is imported on first use, so showing a text does not load the readers of corpora.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._behaviour import behaviour as behaviour, behaviour_text as behaviour_text
    from ._compare.comparing import (
        Comparison as Comparison,
        compare as compare,
    )
    from ._report.draw import render as render
    from ._report.portrait import Portrait as Portrait, portrait as portrait
    from ._report.report import Report as Report, describe as describe
    from ._show.cuts import Cut as Cut, CutToken as CutToken, Group as Group, cut as cut
    from ._stats.measure import (
        file_sums as file_sums,
        measure as measure,
        measure_all as measure_all,
        measure_texts as measure_texts,
    )
    from ._stats.meter import (
        SEGMENTERS as SEGMENTERS,
        GroupSums as GroupSums,
        Measurement as Measurement,
        Segmenter as Segmenter,
        WordTypes as WordTypes,
    )
    from ._stats.metric_table import METRICS as METRICS, Metric as Metric
    from ._stats.metrics import (
        gini as gini,
        renyi_efficiency as renyi_efficiency,
        renyi_entropy as renyi_entropy,
        shannon_efficiency as shannon_efficiency,
        shannon_entropy as shannon_entropy,
    )
    from ._stats.stats import (
        MissingRow as MissingRow,
        ScriptRow as ScriptRow,
        Stats as Stats,
        StatsRow as StatsRow,
        stats as stats,
        stats_of as stats_of,
    )
    from ._trace.trace import Trace as Trace, trace as trace
    from ._trace.training import (
        TrainingStep as TrainingStep,
        training_steps as training_steps,
    )
    from ._trace.why import Reasons as Reasons, Why as Why, why as why
    from .doctor import (
        Diagnosis as Diagnosis,
        Finding as Finding,
        FoundToken as FoundToken,
        TokenUsage as TokenUsage,
        diagnose as diagnose,
    )

_MODULES = {
    "_behaviour": "behaviour behaviour_text",
    "_compare.comparing": "Comparison compare",
    "_report.draw": "render",
    "_report.portrait": "Portrait portrait",
    "_report.report": "Report describe",
    "_show.cuts": "Cut CutToken Group cut",
    "_stats.measure": "file_sums measure measure_all measure_texts",
    "_stats.meter": "SEGMENTERS GroupSums Measurement Segmenter WordTypes",
    "_stats.metric_table": "METRICS Metric",
    "_stats.metrics": "gini renyi_efficiency renyi_entropy shannon_efficiency shannon_entropy",
    "_stats.stats": "MissingRow ScriptRow Stats StatsRow stats stats_of",
    "_trace.trace": "Trace trace",
    "_trace.training": "TrainingStep training_steps",
    "_trace.why": "Reasons Why why",
    "doctor": "Diagnosis Finding FoundToken TokenUsage diagnose",
}
"""The modules of this package, and the public names of each."""
_MODULE_OF = {
    name: module for module, names in _MODULES.items() for name in names.split()
}
__all__ = list(_MODULE_OF)  # type checkers read the imports above


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a class, a function or a module
    """Import a public name on first use."""
    if name == "doctor":
        return import_module(".doctor", __name__)
    if name not in _MODULE_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted([*__all__, "doctor"])
