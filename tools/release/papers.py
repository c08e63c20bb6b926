"""Checksums and the bill of materials, beside the files that they are about."""

import hashlib
import json
import re
import zipfile
from pathlib import Path

from . import project
from .problems import ReleaseError
from .wheels import bill_of, folder_of_metadata

SUMS = "SHA256SUMS"

# A bill names the crates of this repository by where they were built.
OWN_CRATES = re.compile(r"path\+file://[^\"#]*/crates/")


def write_sums(folder: Path) -> Path:
    """Write the checksums of all files, as ``sha256sum --check`` reads them."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name != SUMS
    )
    if not files:
        message = f"{folder} holds no files to sum up"
        raise ReleaseError(message)
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in files
    ]
    sums = folder / SUMS
    sums.write_text("".join(lines), encoding="ascii", newline="\n")
    return sums


def write_bill(folder: Path) -> Path:
    """Copy the bill of materials of the wheels, which list the same libraries, beside them."""
    bills = {wheel.name: bill_in(wheel) for wheel in sorted(folder.glob("*.whl"))}
    parts = {name: frozenset(names_in(bill)) for name, bill in bills.items()}
    if not parts:
        message = f"{folder} holds no wheel"
        raise ReleaseError(message)
    largest = max(sorted(parts), key=lambda name: len(parts[name]))
    path = folder / f"bytepair-{project.version()}.cdx.json"
    text = json.dumps(bills[largest], indent=2) + "\n"
    path.write_text(OWN_CRATES.sub("path+file:///crates/", text), encoding="utf-8")
    return path


def bill_in(path: Path) -> dict[str, object]:
    """Read the bill of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        bill = bill_of(wheel, folder_of_metadata(path, names), names)
    if bill is None:
        message = f"{path.name} has no bill of materials"
        raise ReleaseError(message)
    return bill


def names_in(bill: dict[str, object]) -> list[str]:
    """Name the parts of a bill."""
    parts = bill["components"]
    assert isinstance(parts, list)
    return [f"{part['name']} {part['version']}" for part in parts]
