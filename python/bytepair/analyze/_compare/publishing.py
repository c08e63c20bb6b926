"""Move proven files from a draft to their paths."""

from collections.abc import Mapping
from pathlib import Path

from bytepair._io.files import read, write_together

__all__ = ["publish"]


def publish(
    draft: Path, target: Path, others: Mapping[Path, bytes] | None = None
) -> list[Path]:
    """Copy all files in the folder of a draft to the folder of a target, the named file last.

    Other files appear together with them, or none does.
    """
    files = [path for path in sorted(draft.parent.rglob("*")) if path.is_file()]
    files.sort(key=lambda path: path == draft)
    written = {
        target.parent / path.relative_to(draft.parent): read(path) for path in files
    }
    write_together({**(others or {}), **written}, makes_folders=draft.is_dir())
    return list(written)
