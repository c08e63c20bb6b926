"""Numbers and rows about tokenizers and texts: pure functions that print and draw nothing.

``bytepair.views`` draws their results, and the commands print them. Each module is
imported when something of it is used, so showing a text does not load what reads corpora.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._compare import Comparison, compare
    from ._cuts import Cut, CutToken, Group, cut, stretches
    from ._measure import (
        file_sums,
        file_tokens,
        measure,
        measure_all,
        measure_texts,
    )
    from ._meter import SEGMENTERS, GroupSums, Measurement, Segmenter, WordTypes
    from ._metric_table import METRICS, Metric
    from ._metrics import (
        gini,
        renyi_efficiency,
        renyi_entropy,
        shannon_efficiency,
        shannon_entropy,
    )
    from ._portrait import Portrait, portrait
    from ._report import Report, describe
    from ._stats import MissingRow, ScriptRow, Stats, StatsRow, stats, stats_of
    from ._steps import TrainingStep, training_steps
    from ._trace import Trace, trace
    from ._why import Reasons, Why, why
    from .doctor import Diagnosis, Finding, FoundToken, TokenUsage, diagnose

__all__ = [
    "METRICS",
    "SEGMENTERS",
    "Comparison",
    "Cut",
    "CutToken",
    "Diagnosis",
    "Finding",
    "FoundToken",
    "Group",
    "GroupSums",
    "Measurement",
    "Metric",
    "MissingRow",
    "Portrait",
    "Reasons",
    "Report",
    "ScriptRow",
    "Segmenter",
    "Stats",
    "StatsRow",
    "TokenUsage",
    "Trace",
    "TrainingStep",
    "Why",
    "WordTypes",
    "compare",
    "cut",
    "describe",
    "diagnose",
    "file_sums",
    "file_tokens",
    "gini",
    "measure",
    "measure_all",
    "measure_texts",
    "portrait",
    "renyi_efficiency",
    "renyi_entropy",
    "shannon_efficiency",
    "shannon_entropy",
    "stats",
    "stats_of",
    "stretches",
    "trace",
    "training_steps",
    "why",
]

_MODULES = {
    "_compare": "Comparison compare",
    "_cuts": "Cut CutToken Group cut stretches",
    "_measure": "file_sums file_tokens measure measure_all measure_texts",
    "_meter": "SEGMENTERS GroupSums Measurement Segmenter WordTypes",
    "_metric_table": "METRICS Metric",
    "_metrics": "gini renyi_efficiency renyi_entropy shannon_efficiency shannon_entropy",
    "_portrait": "Portrait portrait",
    "_report": "Report describe",
    "_stats": "MissingRow ScriptRow Stats StatsRow stats stats_of",
    "_steps": "TrainingStep training_steps",
    "_trace": "Trace trace",
    "_why": "Reasons Why why",
    "doctor": "Diagnosis Finding FoundToken TokenUsage diagnose",
}
"""The modules of this package, and what is public in each."""
_MODULE_OF = {
    name: module for module, names in _MODULES.items() for name in names.split()
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a class, a function or a module
    """Import what is asked for."""
    if name == "doctor":
        return import_module(".doctor", __name__)
    if name not in _MODULE_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List what users call, imported or not."""
    return sorted([*__all__, "doctor"])
