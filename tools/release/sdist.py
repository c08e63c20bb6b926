"""What the source distribution must hold, and that it builds in an empty environment.

Building needs Rust, as it does for whoever installs it.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from packaging.metadata import Metadata

from . import project
from .problems import ReleaseError, missing, unwanted

MAX_BYTES = 4_000_000
NEEDED = (
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "PKG-INFO",
)
ALLOWED = ("crates/", "python/bytepair/", "licenses/")


def problems(path: Path) -> Iterator[str]:
    """Say all that is wrong with a source distribution."""
    stem = f"bytepair-{project.version()}"
    if path.name != f"{stem}.tar.gz":
        yield f"should be named {stem}.tar.gz"
    length = path.stat().st_size
    if length > MAX_BYTES:
        yield f"has {length:,} bytes, more than {MAX_BYTES:,}: what came in?"
    with tarfile.open(path) as archive:
        members = [one.name.partition("/")[2] for one in archive if one.isfile()]
        info = archive.extractfile(f"{stem}/PKG-INFO")
        if info is None:
            message = f"{path.name} has no PKG-INFO in {stem}"
            raise ReleaseError(message)
        Metadata.from_email(info.read(), validate=True)
    yield from missing("it", NEEDED, members)
    package = {
        f"python/{name}" for name in (*project.package_files(), project.PLAYGROUND)
    }
    yield from missing("it", package | sources(), members)
    allowed = {name for name in members if name in NEEDED or name.startswith(ALLOWED)}
    junk = {name for name in allowed if name.endswith((".so", ".pyd", ".pyc"))}
    yield from unwanted("it", members, allowed - junk)


def sources() -> set[str]:
    """Name the files of the crates without which nothing compiles."""
    crates = project.ROOT / "crates"
    files = [
        path for kind in ("Cargo.toml", "src/**/*") for path in crates.glob(f"*/{kind}")
    ]
    names = {
        path.relative_to(project.ROOT).as_posix() for path in files if path.is_file()
    }
    needed = {f"crates/{name}/" for name in linked_crates()}
    return {name for name in names if name.startswith(tuple(needed))}


def linked_crates() -> set[str]:
    """Name the crates of the workspace that a wheel is built of."""
    found: set[str] = set()
    waiting = {"bytepair-python"}
    while waiting:
        name = waiting.pop()
        found.add(name)
        below = project.read(f"crates/{name}/Cargo.toml").get("dependencies", {})
        waiting |= {one for one in below if one.startswith("bytepair")} - found
    return found


def built(path: Path, where: Path) -> Path:
    """Build a wheel from the source distribution alone, quickly: what is tried is that it builds."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(where),
    ]
    arguments = ["--config-settings", "build-args=--profile quick"]
    done = subprocess.run([*command, *arguments, str(path)], check=False)
    if done.returncode:
        message = f"{path.name} does not build"
        raise ReleaseError(message)
    return next(where.glob("*.whl"))
