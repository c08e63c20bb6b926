"""What the repository says of itself: version, files of the package, what is promised."""

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "bytepair"

# Made by targets of the Makefile: `licenses` and `playground`.
THIRD_PARTY = "bytepair/THIRD-PARTY-LICENSES.txt"
PLAYGROUND = "bytepair/playground/index.html"


def read(name: str) -> dict[str, Any]:
    """Read a TOML file of the repository."""
    with (ROOT / name).open("rb") as file:
        return tomllib.load(file)


def version() -> str:
    """Give the version that the workspace has."""
    return str(read("Cargo.toml")["workspace"]["package"]["version"])


def settings() -> dict[str, Any]:
    """Give the table ``[project]`` of ``pyproject.toml``."""
    return dict(read("pyproject.toml")["project"])


def package_files() -> set[str]:
    """Name the files of the package, without what is compiled, as a wheel names them."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file())
    names = (path.relative_to(PACKAGE.parent) for path in files)
    return {
        name.as_posix()
        for name in names
        if name.suffix not in (".so", ".pyd", ".pyc")
        and name.as_posix() not in (THIRD_PARTY, PLAYGROUND)
    }
