"""What a wheel must be and hold, judged from the file alone.

Its name says for which Pythons and systems it is, its metadata what it needs, and its record
what is in it. Nothing is installed here (``trials``).
"""

import base64
import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)

from . import project
from .problems import ReleaseError, missing, unwanted

# More than a core with its tables takes means that something else came in.
MAX_BYTES = 8_000_000

# The systems of the stores; `linux_x86_64` is for the machine that built it.
SYSTEMS = re.compile(
    r"manylinux_2_\d+_\w+|manylinux2014_\w+|musllinux_1_\d+_\w+|macosx_\d+_\d+_\w+|win_amd64"
)
# In the bill, but not linked: parts of libraries that no feature turns on.
NOT_LINKED = frozenset({"rand_core", "zlib-rs"})

CORE = re.compile(
    r"bytepair/_core\.(abi3\.so|pyd|cpython-\w+[\w-]*\.so|cp\w+-\w+\.pyd)"
)


def problems(path: Path) -> Iterator[str]:
    """Say all that is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/")]
        info = folder_of_metadata(path, names)
        yield from problems_of_name(path)
        yield from problems_of_size(path)
        yield from problems_of_metadata(wheel.read(f"{info}/METADATA"))
        yield from problems_of_files(names, info)
        yield from problems_of_record(wheel, info, names)
        yield from problems_of_licences(wheel, info, names)


def folder_of_metadata(path: Path, names: Iterable[str]) -> str:
    """Give the name of the folder ``….dist-info``."""
    found = {name.split("/")[0] for name in names if ".dist-info/" in name}
    if len(found) != 1:
        message = f"{path.name} has {len(found)} folders of metadata; a wheel has one"
        raise ReleaseError(message)
    return found.pop()


def tags_of(path: Path) -> tuple[str, frozenset[Tag]]:
    """Give the version and the tags that are in the name."""
    try:
        name, version, _build, tags = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        message = f"{path.name} is no name of a wheel: {error}"
        raise ReleaseError(message) from error
    if name != "bytepair":
        message = f"{path.name} is a wheel of {name}, not of bytepair"
        raise ReleaseError(message)
    return str(version), tags


def problems_of_name(path: Path) -> Iterator[str]:
    """Look at the version, the Pythons and the systems that the name promises."""
    version, tags = tags_of(path)
    if version != project.version():
        yield f"is version {version}, and the workspace is {project.version()}"
    for tag in sorted(tags, key=str):
        if not is_released(tag):
            yield f"{tag} is for none of: the stable ABI (cp310-abi3), one Python on Linux, no GIL"
        if not SYSTEMS.fullmatch(tag.platform):
            yield f"{tag} is for {tag.platform}, which the package index does not take"


def is_released(tag: Tag) -> bool:
    """Tell whether wheels of this kind are released (`docs/policies.md`)."""
    if tag.abi == "abi3":
        return tag.interpreter == "cp310"
    if tag.abi == f"{tag.interpreter}t":
        return True
    return tag.abi == tag.interpreter and tag.platform.startswith("manylinux")


def problems_of_size(path: Path) -> Iterator[str]:
    """Look at the length of the file."""
    length = path.stat().st_size
    if length > MAX_BYTES:
        yield f"has {length:,} bytes, more than {MAX_BYTES:,}: what came in?"


def problems_of_metadata(text: bytes) -> Iterator[str]:
    """Compare the metadata with ``pyproject.toml``."""
    metadata = Metadata.from_email(text, validate=True)
    settings = project.settings()
    if str(metadata.requires_python) != str(SpecifierSet(settings["requires-python"])):
        yield f"asks for Python {metadata.requires_python}, not {settings['requires-python']}"
    if metadata.license_expression != settings["license"]:
        yield f"has the licence {metadata.license_expression}, not {settings['license']}"
    if not str(metadata.description_content_type).startswith("text/markdown"):
        yield f"has a description of type {metadata.description_content_type}"
    yield from missing(
        "the metadata", settings["classifiers"], metadata.classifiers or ()
    )
    yield from missing(
        "the metadata",
        requirements(settings),
        map(written, metadata.requires_dist or ()),
    )


def requirements(settings: dict[str, Any]) -> list[str]:
    """Write the requirements of ``pyproject.toml`` as metadata has them."""
    wanted = [written(Requirement(one)) for one in settings["dependencies"]]
    for extra, ones in settings["optional-dependencies"].items():
        for one in map(Requirement, ones):
            marker = f'extra == "{extra}"'
            marker = f"({one.marker}) and {marker}" if one.marker else marker
            one.marker = Marker(marker)
            wanted.append(written(one))
    return wanted


def written(requirement: Requirement) -> str:
    """Write a requirement in one way: names have several spellings."""
    requirement.name = canonicalize_name(requirement.name)
    return str(requirement)


def problems_of_files(names: list[str], info: str) -> Iterator[str]:
    """Compare what is in a wheel with the package in the repository."""
    inside = {name for name in names if not name.startswith(f"{info}/")}
    cores = {name for name in inside if CORE.fullmatch(name)}
    if len(cores) != 1:
        yield f"has {len(cores)} compiled cores: {', '.join(sorted(cores)) or 'none'}"
    built = {project.THIRD_PARTY, project.PLAYGROUND}
    package = project.package_files()
    yield from missing("it", package | built, inside)
    yield from unwanted("it", inside - cores, package | built)
    papers = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    yield from missing("its metadata", (f"{info}/{name}" for name in papers), names)


def problems_of_record(
    wheel: zipfile.ZipFile, info: str, names: list[str]
) -> Iterator[str]:
    """Compare the record with the bytes."""
    record = wheel.read(f"{info}/RECORD").decode()
    rows = {name: digest for name, digest, _length in csv.reader(io.StringIO(record))}
    yield from missing("its record", names, rows)
    for name, digest in rows.items():
        if digest and name in names and digest != f"sha256={encoded(wheel.read(name))}":
            yield f"{name} is not what the record says"


def encoded(data: bytes) -> str:
    """Give the digest of a file as records write it."""
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def problems_of_licences(
    wheel: zipfile.ZipFile, info: str, names: list[str]
) -> Iterator[str]:
    """Each library that is linked has its licence in the wheel."""
    bill = bill_of(wheel, info, names)
    if bill is None:
        yield "has no bill of materials (CycloneDX)"
        return
    if project.THIRD_PARTY not in names:
        return
    notices = wheel.read(project.THIRD_PARTY).decode()
    named = set(re.findall(r"^([\w-]+) \d+\.\d+", notices, re.MULTILINE))
    linked = {
        part["name"] for part in bill["components"] if part["scope"] == "required"
    }
    own = {name for name in linked if name.startswith("bytepair")}
    yield from missing(project.THIRD_PARTY, linked - own - NOT_LINKED, named)


def bill_of(
    wheel: zipfile.ZipFile, info: str, names: Iterable[str]
) -> dict[str, Any] | None:
    """Give the bill of materials that is in a wheel."""
    bills = [name for name in names if name.startswith(f"{info}/sboms/")]
    found = [json.loads(wheel.read(name)) for name in bills if name.endswith(".json")]
    of_crates = [bill for bill in found if bill.get("bomFormat") == "CycloneDX"]
    return of_crates[0] if of_crates else None
