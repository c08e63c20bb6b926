"""Numbers and rows about tokenizers and texts: pure functions that print and draw nothing.

``bytepair.views`` draws their results, and the commands print them.
"""

from ._compare import Comparison, compare
from ._cuts import Cut, CutToken, Group, cut, stretches
from ._measure import (
    SEGMENTERS,
    GroupSums,
    Measurement,
    Segmenter,
    WordTypes,
    file_tokens,
    measure,
    measure_all,
    measure_texts,
)
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
from ._stats import ScriptRow, Stats, StatsRow, stats, stats_of
from ._steps import TrainingStep, training_steps
from ._trace import Trace, Why, trace, why
from .doctor import Diagnosis, Finding, FoundToken, diagnose

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
    "Portrait",
    "Report",
    "ScriptRow",
    "Segmenter",
    "Stats",
    "StatsRow",
    "Trace",
    "TrainingStep",
    "Why",
    "WordTypes",
    "compare",
    "cut",
    "describe",
    "diagnose",
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
