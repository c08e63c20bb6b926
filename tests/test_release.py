"""What a release is checked for: each fault of a made-up wheel is named, and a right one has none."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename
from tools.release import interpreters, links, papers, project, sdist, wheels
from tools.release.problems import ReleaseError

import bytepair

pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).parent.parent
INFO = f"bytepair-{project.version()}.dist-info"
TAGS = "cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64"


def metadata():
    """Write the metadata as the build does."""
    settings = project.settings()
    lines = ["Metadata-Version: 2.4", "Name: bytepair", f"Version: {project.version()}"]
    lines += [f"Classifier: {name}" for name in settings["classifiers"]]
    lines += [f"Requires-Dist: {one}" for one in wheels.requirements(settings)]
    lines += [f"Provides-Extra: {one}" for one in settings["optional-dependencies"]]
    lines += ["License-Expression: MIT", "License-File: LICENSE"]
    lines += ["Requires-Python: >=3.10"]
    lines += ["Description-Content-Type: text/markdown", "", "text"]
    return "\n".join(lines).encode()


def right_files():
    """Give everything that a wheel holds, with its content."""
    files = dict.fromkeys(project.package_files(), b"")
    files["bytepair/_core.abi3.so"] = b"compiled"
    files[project.PLAYGROUND] = b""
    files[project.THIRD_PARTY] = b"numpy 0.30.0, somewhere\nMIT\n"
    parts = [part("numpy"), part("autocfg", "excluded")]
    bill = {"bomFormat": "CycloneDX", "components": parts}
    files[f"{INFO}/sboms/core.cyclonedx.json"] = json.dumps(bill).encode()
    files[f"{INFO}/METADATA"] = metadata()
    for name in ("WHEEL", "entry_points.txt", "licenses/LICENSE"):
        files[f"{INFO}/{name}"] = b""
    return files


def part(name, scope="required"):
    """Give a part of a bill."""
    reference = "path+file:///a/crates/b"
    return {"name": name, "version": "0.30.0", "scope": scope, "bom-ref": reference}


def written(folder, files, tags=TAGS, *, recorded=None):
    """Write a wheel of these files, with its record."""
    path = folder / f"bytepair-{project.version()}-{tags}.whl"
    record = "".join(
        f"{name},sha256={digest(data)},{len(data)}\n"
        for name, data in (recorded or files).items()
    )
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{INFO}/RECORD", f"{record}{INFO}/RECORD,,\n")
    return path


def digest(data):
    """Give a digest as records have it."""
    coded = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return coded.rstrip(b"=").decode()


BILL = f"{INFO}/sboms/core.cyclonedx.json"
PAGE = "bytepair/analyze/doctor/pages/BP101.md"
OLDER = metadata().replace(b">=3.10", b">=3.9")
WITHOUT_NUMPY = metadata().replace(b"Requires-Dist: numpy>=1.24\n", b"")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("bytepair/py.typed", None, "it lacks bytepair/py.typed"),
        (PAGE, None, f"it lacks {PAGE}"),
        (project.PLAYGROUND, None, f"it lacks {project.PLAYGROUND}"),
        ("tests/a.py", b"", "it holds 1 files too many: tests/a.py"),
        ("bytepair/_core.abi3.so", None, "has 0 compiled cores: none"),
        (project.THIRD_PARTY, None, f"it lacks {project.THIRD_PARTY}"),
        (project.THIRD_PARTY, b"MIT\n", f"{project.THIRD_PARTY} lacks numpy"),
        (BILL, None, "has no bill of materials (CycloneDX)"),
        (f"{INFO}/METADATA", OLDER, "asks for Python >=3.9, not >=3.10"),
        (f"{INFO}/METADATA", WITHOUT_NUMPY, "the metadata lacks numpy>=1.24"),
    ],
)
def test_a_fault_of_a_wheel_is_named(name, content, problem, tmp_path):
    """Each fault alone is the only problem."""
    files = {**right_files(), name: content}
    if content is None:
        del files[name]
    assert [*wheels.problems(written(tmp_path, files))] == [problem]


def test_a_record_that_does_not_fit_is_named(tmp_path):
    """A file that was changed after the record was written is found."""
    files = right_files()
    path = written(tmp_path, files | {"bytepair/py.typed": b"x"}, recorded=files)
    assert [*wheels.problems(path)] == ["bytepair/py.typed is not what the record says"]


@pytest.mark.parametrize(
    ("tags", "problems"),
    [
        (TAGS, []),
        ("cp310-abi3-musllinux_1_2_aarch64", []),
        ("cp314-cp314t-macosx_11_0_arm64", []),
        ("cp311-cp311-manylinux_2_17_x86_64", []),
        ("cp310-abi3-win_amd64", []),
        ("cp310-abi3-linux_x86_64", ["which the package index does not take"]),
        ("cp311-cp311-win_amd64", ["is for none of: the stable ABI (cp310-abi3)"]),
        ("cp312-abi3-win_amd64", ["is for none of: the stable ABI (cp310-abi3)"]),
    ],
)
def test_wheels_of_tags_that_are_released_pass(tags, problems, tmp_path):
    """Stable and free-threaded ones have no problem; one for one machine or version of Python is named."""
    found = [*wheels.problems(written(tmp_path, right_files(), tags))]
    assert len(found) == len(problems)
    assert all(problem in line for problem, line in zip(problems, found, strict=True))


def test_a_wheel_is_tried_with_the_pythons_that_take_it():
    """A stable wheel is for all versions with a GIL, a free-threaded one for its own."""
    stable = parse_wheel_filename("bytepair-1-cp310-abi3-win_amd64.whl")[3]
    threaded = parse_wheel_filename("bytepair-1-cp314-cp314t-win_amd64.whl")[3]
    versions = ((9, 0), (10, 0), (14, 0), (14, 1))
    pythons = [interpreters.Interpreter("", *version) for version in versions]
    assert [one.takes(stable) for one in pythons] == [False, True, True, False]
    assert [one.takes(threaded) for one in pythons] == [False, False, False, True]


def test_a_python_that_does_not_start_is_refused():
    """A name that is given and is no interpreter is an error, not left out."""
    assert interpreters.found([sys.executable])[0].minor == sys.version_info[1]
    with pytest.raises(ReleaseError, match="no-such-python is no Python that starts"):
        interpreters.found(["no-such-python"])


def test_papers_are_about_all_files(tmp_path):
    """`sha256sum --check` finds the sums right; the bill has no path of the machine."""
    written(tmp_path, right_files())
    bill = papers.write_bill(tmp_path)
    papers.write_sums(tmp_path)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(command, cwd=tmp_path, check=True)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    names = {path.name for path in tmp_path.iterdir()} - {"SHA256SUMS"}
    assert [line.split("  ")[1] for line in lines] == sorted(names)
    assert "/a/" not in bill.read_text()
    assert json.loads(bill.read_text())["components"][0]["name"] == "numpy"


def test_a_source_distribution_without_a_file_is_named(tmp_path):
    """What is needed to build, and what does not belong there, is said."""
    stem = f"bytepair-{project.version()}"
    names = {*sdist.NEEDED, *sdist.sources(), "crates/a.so"}
    names |= {f"python/{name}" for name in project.package_files()}
    names.add(f"python/{project.PLAYGROUND}")
    names -= {"Cargo.lock", "crates/bytepair/src/lib.rs"}
    path = tmp_path / f"{stem}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            source = tmp_path / "file"
            source.write_bytes(metadata() if name == "PKG-INFO" else b"")
            archive.add(source, f"{stem}/{name}")
    assert [*sdist.problems(path)] == [
        "it lacks Cargo.lock",
        "it lacks crates/bytepair/src/lib.rs",
        "it holds 1 files too many: crates/a.so",
    ]
    manifests = {f"crates/{name}/Cargo.toml" for name in sdist.linked_crates()}
    assert manifests <= sdist.sources()


def test_the_oldest_libraries_are_those_that_are_promised():
    """What is tried is what the metadata take."""
    from tools.release import trials

    assert trials.oldest_of("cli") == ["click==8.3", "jinja2==3.1", "rich==13"]
    (numpy,) = project.settings()["dependencies"]
    assert trials.OLDEST_NUMPY[10] == numpy.replace("numpy>=", "") + ".0"


def test_the_version_is_the_same_everywhere():
    """Crates, package, citation and changelog say which version this is."""
    version = project.version()
    assert bytepair.__version__ == version
    crates = project.read("Cargo.toml")["workspace"]["dependencies"]
    own = [one for name, one in crates.items() if name.startswith("bytepair")]
    assert {one["version"].removeprefix("=") for one in own} == {version}
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)", citation, re.MULTILINE) == [version]
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)", changes, re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == version


def test_no_link_of_the_readme_needs_a_file_beside_it():
    """On a package index, each link and picture leads to a file that the repository has."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    before = "https://host/us/it/"
    absolute = links.absolute(text, "https://host/us/it", "v1")
    targets = re.findall(r"\]\(([^)]+)\)", absolute)
    assert len(targets) > 10
    assert all(re.match("https://|#", target) for target in targets)
    own = [t.removeprefix(before) for t in targets if t.startswith(before)]
    for target in own:
        shown, _, path = target.partition("/v1/")
        assert (REPOSITORY / path.partition("#")[0]).exists(), path
        assert shown == ("raw" if path.endswith(".svg") else "blob")
    assert links.absolute(absolute, "https://other", "v2") == absolute


def test_what_is_published_alone_has_the_licence():
    """Each crate that is published holds the licence of the project."""
    for manifest in sorted((REPOSITORY / "crates").glob("*/Cargo.toml")):
        crate = project.read(manifest.relative_to(REPOSITORY).as_posix())["package"]
        if crate.get("publish", True):
            own = (manifest.parent / "LICENSE").read_bytes()
            assert own == (REPOSITORY / "LICENSE").read_bytes(), manifest
            assert {"/LICENSE", "/README.md"} <= set(crate["include"]), manifest


def test_every_make_target_of_the_workflows_exists():
    """What the workflows call is a target with a description."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):.*##", makefile, re.MULTILINE))
    workflows = (REPOSITORY / ".github" / "workflows").glob("*.yml")
    text = "\n".join(path.read_text(encoding="utf-8") for path in workflows)
    words = " ".join(re.findall(r"run: make (.*)", text)).split()
    called = {word for word in words if "=" not in word} - {'"$TARGET"'}
    called |= set(re.findall(r"{ target: ([\w-]+),", text))
    assert called
    assert called <= targets
