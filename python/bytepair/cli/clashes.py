"""Which arguments and options of a command name files, and refusing to write over what is read.

An argument or option is told by what help calls its value. Standard output is always written.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bytepair._io.overwriting import refuse_overwriting

__all__ = ["INPUTS", "OUTPUTS", "refuse_same_files"]

OUTPUTS = {"output", "target", "embedding_map", "counted"}
"""Parameters that name what is written, in every command."""
INPUTS = {
    *("tokenizer", "tokenizer_path", "tokenizers", "first_path", "second_path", "base"),
    *("other", "codes", "logs", "corpus", "file", "files", "arguments", "texts"),
    *("vocabulary", "strings", "findings", "config", "resume"),
}
"""Parameters that name what is read."""
LOG = "log"
"""Written by training, and read by commands that show it."""
RESUME = "resume"
"""Names a tokenizer that training goes on with; the output has all of it, and may replace it."""


def refuse_same_files(parameters: Iterable[Any], values: Mapping[str, Any]) -> None:
    """Refuse outputs that are read too, or that lie in a folder of texts that is read."""
    names = [p.name for p in parameters if "TEXT" not in (p.metavar or "")]
    is_training = RESUME in names
    written, read = (
        (OUTPUTS | {LOG}, INPUTS) if is_training else (OUTPUTS, INPUTS | {LOG})
    )
    outputs = {name: _listed(values.get(name)) for name in names if name in written}
    for name in names:
        if name in read:
            replaceable = "output" if name == RESUME else None
            targets = [
                path
                for output, paths in outputs.items()
                if output != replaceable
                for path in paths
            ]
            paths = _listed(values.get(name))
            weighted = [path.rpartition("@")[0] for path in paths if "@" in path]
            refuse_overwriting([*paths, *weighted], [*targets, "-"])


def _listed(value: Any) -> list[str]:  # noqa: ANN401 -- of any parameter
    """List the paths that a parameter names."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [str(one) for one in values if isinstance(one, (str, Path))]
