"""Ctrl-C and missing libraries: an error that Python knows, never a panic, and the exit code of a shell.

A child process sends itself the signal before one import after the other, so that each moment of
the first call is met.
"""

import re
import signal

import pytest
from tests.programs import run_python

import bytepair

SELF_INTERRUPTED = """
import os, signal, sys
import bytepair, bytepair.cli.entry
tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
left = [int(sys.argv[1])]

def hook(event, _arguments):
    if event == "import":
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(hook)
"""
CALLS = {
    "encode": 'tokenizer.encode_to_numpy("low")',
    "batch": 'tokenizer.encode_batch_to_numpy(["low"])',
    "offsets": 'tokenizer.encode_full("low").offsets_to_numpy()',
    "import": "import bytepair.data",
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_during_the_first_array_is_an_interrupt(call):
    """Whenever it comes, the process ends by ``KeyboardInterrupt`` and says nothing of a panic."""
    program = f"{SELF_INTERRUPTED}{CALLS[call]}\nprint(left[0])"
    everything = run_python(program, 0, code=None)
    assert everything.returncode == 0, everything.stderr
    n_imports = -int(everything.stdout)
    assert n_imports > 100
    for place in range(1, n_imports, n_imports // 14):
        ended = run_python(program, place, code=None)
        assert "panic" not in ended.stderr
        assert "KeyboardInterrupt" in ended.stderr, (place, ended.stderr)
        assert ended.returncode == -signal.SIGINT, (place, ended.returncode)


COMMAND = f"""
{SELF_INTERRUPTED}
sys.argv = ["bytepair", *sys.argv[2:]]
from bytepair.cli.entry import main
try:
    main()
finally:
    if left[0] > 0:
        print("the end was", left[0], "too early", file=sys.stderr)
"""


@pytest.mark.slow
def test_ctrl_c_during_a_command_ends_it_with_130(tmp_path):
    """Also while it imports what it needs; there is no traceback."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    tokenizer.save(tmp_path / "t.bytepair")
    (tmp_path / "text").write_text("low lower")
    arguments = ["encode", tmp_path / "t.bytepair", tmp_path / "text"]
    whole = run_python(COMMAND, 1_000_000, *arguments, code=None)
    assert whole.returncode == 0
    n_imports = 1_000_000 - int(re.findall(r"was (\d+) too", whole.stderr)[0])
    for place in range(1, n_imports, n_imports // 20):
        ended = run_python(COMMAND, place, *arguments, code=None)
        assert "panic" not in ended.stderr
        assert "Traceback" not in ended.stderr, (place, ended.stderr)
        assert ended.returncode == 130, (place, ended.stderr)


@pytest.fixture
def without_numpy(tmp_path):
    """Give a folder whose numpy is missing."""
    (tmp_path / "numpy").mkdir()
    missing = 'raise ModuleNotFoundError("No module named numpy", name="numpy")'
    (tmp_path / "numpy/__init__.py").write_text(missing)
    return f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport bytepair\n"


ARRAYS = """
tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
assert tokenizer.decode(tokenizer.encode("low")) == tokenizer.decode((257,)) == "low"
core = bytepair._core
calls = [
    lambda: tokenizer.encode_to_numpy("low"),
    lambda: tokenizer.encode_batch_to_numpy(["low"], dtype="uint16"),
    lambda: tokenizer.encode_full("low").ids_to_numpy(),
    lambda: tokenizer.encode_full("low").offsets_to_numpy(),
    lambda: core.import_numpy(),
    lambda: core.PieceTable().add((([], []), [], None)),
    lambda: core.read_jsonl(b"", ["text"]),
    lambda: core.CountSums("/", 1 << 20).add((([], []), [], None)),
    lambda: __import__("bytepair.data"),
    lambda: __import__("bytepair.scale"),
    lambda: __import__("bytepair.compat.tiktoken"),
]
for number, call in enumerate(calls):
    try:
        call()
    except bytepair.MissingLibraryError as error:
        assert isinstance(error, (ImportError, bytepair.TokenizerError))
        assert "pip install numpy" in str(error), error
    else:
        sys.exit(f"call {number} needs no numpy")
"""


def test_missing_numpy_is_an_error_that_says_what_to_install(without_numpy):
    """Each call that makes or takes arrays says so; those that need none work."""
    ended = run_python(without_numpy + ARRAYS, code=None)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["encode x", "decode x", "count-tokens x y"])
def test_a_command_without_numpy_says_so_in_one_line(without_numpy, command):
    """There is no traceback, and the exit code is that of a refusal."""
    program = f"from bytepair.cli.entry import main\nsys.argv = {['bytepair', *command.split()]}\nmain()"
    ended = run_python(without_numpy + program, code=None)
    assert ended.returncode == 1
    assert ended.stderr == "bytepair: this needs numpy: pip install numpy\n"
