"""Which part may know which: the arrows of ARCHITECTURE.md, read from the sources."""

import ast
import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parent.parent / "crates"
SOURCES = CRATES / "bytepair" / "src"


def uses(folder):
    """Name the parts of the crate that the files of a folder import, itself aside."""
    text = "\n".join(map(code_of, (SOURCES / folder).rglob("*.rs")))
    return set(re.findall(r"use crate::(\w+)", text)) - {folder}


# What each crate may use of the others.
BELOW = {
    "bytepair-split": set(),
    "bytepair": {"bytepair-split"},
    "bytepair-formats": {"bytepair", "bytepair-split"},
    "bytepair-python": {"bytepair", "bytepair-formats", "bytepair-split"},
    "bytepair-wasm": {"bytepair", "bytepair-formats"},
}


def test_arrows_between_crates_go_one_way():
    """Each crate depends on those below it alone; the splitter knows nothing of tokens."""
    for crate in CRATES.iterdir():
        manifest = (crate / "Cargo.toml").read_text()
        names = re.findall(
            r"^(bytepair[\w-]*)(?:\.workspace)? =", manifest, re.MULTILINE
        )
        assert set(names) <= BELOW[crate.name], crate.name


def code_of(path):
    """Give a file's code without comments and tests."""
    code = path.read_text().partition("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"(?m)^\s*//.*$", "", code)


def uses_of_modules(sources):
    """Give, for each module at a crate's root, the modules that it names."""
    uses = {}
    for path in sources.rglob("*.rs"):
        parts = path.relative_to(sources).parts
        if path.name == "tests.rs" or "tests" in parts:
            continue
        module = parts[0].removesuffix(".rs")
        named = re.findall(r"\bcrate::(\w+)", code_of(path))
        uses.setdefault(module, set()).update(name for name in named if name != module)
    return uses


@pytest.mark.parametrize("crate", sorted(BELOW))
def test_modules_of_a_crate_do_not_use_each_other_in_a_circle(crate):
    """From no module at a crate's root do uses lead back to it."""
    uses = uses_of_modules(CRATES / crate / "src")
    uses.pop("lib", None)
    finished = set()
    while (
        free := {name for name in uses if not (uses[name] & uses.keys()) - finished}
        - finished
    ):
        finished |= free
    assert finished == uses.keys(), sorted(uses.keys() - finished)


def lines_of_rooms(crate):
    """Give the lines of a crate in the picture of the rooms, each as the rooms that it names."""
    page = (CRATES.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    _, box = re.split(f"[┌├] {crate} ─", page.partition("## The rooms\n")[2])
    lines = re.match(r"─*[┐┤]\n((?:│.*│\n)*)", box)[1].splitlines()
    return [re.split(r" {3,}", line.strip("│ "))[:-1] for line in lines]


@pytest.mark.parametrize("crate", ["bytepair", "bytepair-split"])
def test_rooms_use_only_rooms_on_lower_lines_of_the_picture(crate):
    """The picture's order holds, and it leaves out only rooms that use nothing drawn above them."""
    uses = uses_of_modules(CRATES / crate / "src")
    above = set()
    lines = lines_of_rooms(crate)
    assert len(lines) > 5
    for rooms in lines:
        above |= {*rooms}
        for room in rooms:
            assert uses[room].isdisjoint(above - {room}), room


PACKAGE = CRATES.parent / "python" / "bytepair"


def room_of(path):
    """Name the room of a module: its folder, or `cli` for the command of any folder."""
    folder, *names = path.relative_to(PACKAGE).with_suffix("").parts
    if names and names[-1].strip("_") == "command":
        return "cli"
    return "/".join([folder, *names[:1]]) if folder == "analyze" else folder


def rooms_used(path):
    """Name the rooms that a module imports from, at its head or in a function.

    The head of `analyze` leads to all of its folders, so it counts as the highest of them.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            where = node.module.split(".") if node.module else []
            base = path.parents[node.level - 1] if node.level else PACKAGE.parent
            for name in node.names:
                target = base.joinpath(*where, name.name)
                is_module = target.is_dir() or target.with_suffix(".py").exists()
                target = target if is_module else target.parent
                if target == PACKAGE / "analyze":
                    target /= "_report"
                if target != PACKAGE and target.is_relative_to(PACKAGE):
                    yield room_of(target)


def test_rooms_of_the_package_use_only_rooms_on_lower_lines_of_the_picture():
    """No import, not even a late one, leads up; `_tokenizer` and heads of packages pass calls on."""
    uses = {}
    for path in PACKAGE.rglob("*.py"):
        if path.name not in ("__init__.py", "_tokenizer.py"):
            uses.setdefault(room_of(path), set()).update(rooms_used(path))
    lines = lines_of_rooms("python/bytepair")
    drawn = {room for rooms in lines for room in rooms}
    folders = {room for room in uses if (PACKAGE / room).is_dir()}
    assert folders == drawn
    above = set()
    for rooms in lines:
        above |= {*rooms}
        for room in rooms:
            assert uses[room].isdisjoint(above - {room}), room


def test_training_and_encoding_never_see_text():
    """Both take pieces: neither imports what normalizes, splits or cuts text, and nothing below the pipeline knows it."""
    for folder in ("normalize", "count", "train", "encode"):
        assert "tokenizer" not in uses(folder)
    for folder in ("train", "encode"):
        assert not uses(folder) & {"normalize", "added"}
        text = "".join(path.read_text() for path in (SOURCES / folder).rglob("*.rs"))
        assert "bytepair_split" not in text, folder


def test_the_reference_never_imports_the_core():
    """The oracle shares no code with what it judges."""
    reference = CRATES.parent / "python" / "bytepair" / "reference"
    for path in reference.glob("*.py"):
        imported = re.findall(r"^(?:from|import) (\S+)", path.read_text(), re.MULTILINE)
        assert not [name for name in imported if "_core" in name or name == ".."], path


# The file that asks the processor, for each file whose functions need instructions.
ASKED_IN = {
    "windows/kernels/moves.rs": ("windows/kernels/moves.rs", "are_fast"),
}
ALWAYS_THERE = {"sse", "sse2", "neon", "simd128"}


def features_asked(file, name):
    """Give the features that one condition of a file asks for together."""
    (path,) = CRATES.glob(f"*/src/{file}")
    text = path.read_text()
    one = r"is_x86_feature_detected!\(\"(\w+)\"\)"
    for row in re.finditer(rf"{one}(?:\s*&&\s*{one})*", text):
        if re.findall(r"fn (\w+)", text[: row.start()])[-1] == name:
            return set(re.findall(one, row[0]))
    return set()


def test_every_instruction_of_a_kernel_is_asked_for():
    """A processor that lacks one feature of a kernel never runs it."""
    needed = {}
    for path in CRATES.glob("bytepair*/src/**/*.rs"):
        text = path.read_text()
        for needs, asked in re.findall(
            r"needs \"([\w,]+)\",\s*which (.*?);", text, re.DOTALL
        ):
            detected = re.findall(r"is_x86_feature_detected!\(\"(\w+)\"\)", asked)
            assert set(needs.split(",")) - ALWAYS_THERE == set(detected), path
        names = re.findall(r"target_feature\(enable = \"([\w,]+)\"", text)
        features = set(",".join(names).split(",")) - ALWAYS_THERE - {""}
        if features:
            file = path.relative_to(CRATES).as_posix().partition("/src/")[2]
            needed[file] = features
    assert needed.keys() == ASKED_IN.keys()
    for file, features in needed.items():
        assert features <= features_asked(*ASKED_IN[file]), file


# Names of calls that change what all threads of a process share.
PROCESS_WIDE = re.findall(
    r"\w+",
    """
    umask chdir fchdir chroot putenv unsetenv setrlimit nice tzset dup2 set_blocking
    setlocale setrecursionlimit set_int_max_str_digits setswitchinterval settrace setprofile
    catch_warnings simplefilter filterwarnings resetwarnings captureWarnings basicConfig
    signal alarm setitimer siginterrupt set_wakeup_fd pthread_sigmask
    setdefaulttimeout field_size_limit register_dialect set_start_method set_event_loop
    rc rc_context rcdefaults use redirect_stdout redirect_stderr redirect_stdin reconfigure
    seed seterr set_printoptions set_cpu_count set_io_thread_count set_memory_pool
    freeze set_threshold reload install
    """,
)
SWITCHED = {"gc", "logging", "faulthandler"}
CHANGING = {"update", "pop", "setdefault", "clear", "append", "insert", "remove", "add"}
# What only a process of bytepair itself does; the file says so where it does it.
IN_A_PROCESS_OF_OURS = {
    "cli/app.py": {"reconfigure", "dup2", "setdefault"},
    "scale/_local.py": {"signal"},
}


def chain_of(node):
    """Give the names of ``a.b.c``, also below an index."""
    names = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""]), *reversed(names)]


def changes_of_the_process(text):
    """Name the calls and assignments of a source that change state of the whole process."""
    tree = list(ast.walk(ast.parse(text)))
    imported = {
        (name.asname or name.name).partition(".")[0]
        for node in tree
        if isinstance(node, ast.Import)
        for name in node.names
    }
    for node in tree:
        if isinstance(node, ast.Call):
            root, *names = chain_of(node.func)
            last = names[-1] if names else root
            is_of_module = root in imported and len(names) > 1 and last in CHANGING
            is_switch = root in SWITCHED and last in {"disable", "enable"}
            if last in PROCESS_WIDE or is_of_module or is_switch:
                yield last
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        is_change = isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete))
        for target in targets if is_change else ():
            root, *names = chain_of(target)
            if root in imported and names:
                yield f"{root}.{'.'.join(names)}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("with warnings.catch_warnings(): pass", ["catch_warnings"]),
        ("import os\nos.environ['A'] = 'b'", ["os.environ"]),
        ("import os\ndel os.environ['A']", ["os.environ"]),
        ("import os\nos.environ.setdefault('A', 'b')", ["setdefault"]),
        ("import sys\nsys.path.insert(0, 'a')", ["insert"]),
        ("import sys\nsys.stdout = None", ["sys.stdout"]),
        ("import gc\ngc.disable()", ["disable"]),
        ("os.umask(0)", ["umask"]),
        ("names.append(1)\nself.signal = 2\nos.environ.get('A')", []),
    ],
)
def test_a_change_of_the_process_is_seen(text, found):
    """What the next test asks would find each of these."""
    assert list(changes_of_the_process(text)) == found


def test_no_state_of_the_process_is_changed():
    """Other threads would see it, even for a moment: a mask, folder, filter, limit or variable."""
    package = CRATES.parent / "python" / "bytepair"
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        found = set(changes_of_the_process(path.read_text()))
        assert found == IN_A_PROCESS_OF_OURS.get(name, set()), name


def test_the_core_changes_no_state_of_the_process():
    """Neither the environment, the folder, the hook of panics, a limit nor a signal."""
    wide = r"\b(?:set_var|remove_var|set_current_dir|set_hook|take_hook|umask|setrlimit|sigaction|build_global)\b"
    for path in CRATES.rglob("src/**/*.rs"):
        assert not re.search(wide, path.read_text()), path


# The walks of a page.


def walks():
    """Give the walks that the page tells, by title."""
    path = CRATES.parent / "docs" / "explanation" / "walkthroughs.md"
    _, *told = path.read_text(encoding="utf-8").split("\n## ")
    return {walk.partition("\n")[0]: walk.partition("\n")[2] for walk in told}


@pytest.mark.parametrize(
    "title", ["One text through `encode`", "One corpus through `train`"]
)
def test_a_walk_names_functions_that_exist(title):
    """Functions are in the file beside them, at most sixteen in a walk; other names are modules."""
    step = r"`(\w+)` \(`([\w/-]+\.(?:rs|py))`\)"
    walk = walks()[title]
    steps = re.findall(step, walk)
    assert 10 <= len(steps) <= 16
    for name, file in steps:
        folder = CRATES if file.endswith(".rs") else CRATES.parent / "python"
        source = (folder / file).read_text(encoding="utf-8")
        assert re.search(rf"\b(?:fn|def) {name}\b", source), (name, file)
    modules = set(re.findall(r"`([^`]*)`", re.sub(step, "", walk)))
    assert modules <= {path.stem for path in CRATES.glob("*/src/**/*.rs")}


RUST = sorted(
    path
    for folder in (CRATES, CRATES.parent / "tests" / "fuzz")
    for path in folder.rglob("*.rs")
    if "target" not in path.parts
)


def test_files_that_comments_name_exist():
    """A path in a Rust comment is the end of a source's path, or a page of the repository."""
    places = [f"/{path.relative_to(CRATES.parent).as_posix()}" for path in RUST]
    missing = {
        (path.relative_to(CRATES.parent).as_posix(), name)
        for path in RUST
        for comment in re.findall(r"//.*", path.read_text(encoding="utf-8"))
        for name in re.findall(r"[\w./-]*\w\.(?:rs|md)\b", comment)
        if not any(place.endswith(f"/{name}") for place in places)
        and not (CRATES.parent / name).is_file()
    }
    assert not missing


def test_the_table_of_answers_names_what_exists():
    """Each file in "Where is …?" exists, and holds the names that stand before it."""
    page = (CRATES.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.partition("## Where is …?\n")[2].partition("\n## ")[0]
    sources = [*RUST, *(CRATES.parent / "python").rglob("*.py")]
    answers = re.findall(
        r"((?:`[\w:.]+`(?:, | and | or )?)+) \(`([\w/]+\.(?:rs|py))`", table
    )
    assert len(answers) > 20
    for names, file in answers:
        texts = [
            path.read_text(encoding="utf-8")
            for path in sources
            if path.as_posix().endswith(f"/{file}")
        ]
        for name in re.findall(r"(\w+)`", names):
            is_there = any(re.search(rf"\b{name}\b", text) for text in texts)
            assert is_there, (name, file)


# What the code map names besides modules: crates, files that formats are made of, types and terms.
TERMS = re.findall(
    r"\S+",
    """
    bytepair bytepair-formats bytepair-python bytepair-split bytepair-wasm .bytepair tokenizer.json vocab.json merges.txt
    performance.md PieceCounts serde str uint16 deny_unknown_fields check_fields
    """,
)


# Folders beside the package that the map describes by their modules.
BESIDE = ("playground", "tools/release", "docs/website")


def test_the_code_map_names_modules_that_exist():
    """Each folder and module in it is one of the crates, of the package or beside it."""
    root = CRATES.parent
    path = root / "docs" / "explanation" / "code-map.md"
    section = path.read_text(encoding="utf-8").partition("\n## ")[2]
    sources = [*CRATES.glob("*/src/**/*"), *root.glob("python/bytepair/**/*")]
    sources += [path for name in BESIDE for path in (root / name).glob("*")]
    known = {name for path in sources for name in (path.name, path.stem)}
    for name in set(re.findall(r"`([\w./-]+)`", section)) - {*TERMS}:
        is_there = (root / name).exists()
        assert is_there or name.rstrip("/").rpartition("/")[2] in known, name
