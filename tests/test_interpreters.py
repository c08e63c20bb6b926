"""One interpreter of a process uses the compiled core; another one is refused.

Lists of ids hold integers that are kept for the whole process, and an object of Python
belongs to the interpreter that made it.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import bytepair
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
try:
    number = interpreters.create("legacy")
except (TypeError, ValueError):
    number = interpreters.create()
try:
    failure = interpreters.run_string(number, {other!r})
except Exception as error:
    failure = error
print(failure)
interpreters.destroy(number)
print(bytepair.train_from_iterator(["ab ab"], merges=1).encode("ab"))
"""
OTHER = """
import sys
sys.path[:] = {path!r}
import bytepair._core
"""


def test_a_second_interpreter_is_refused():
    """The import fails there with a reason, and the first interpreter goes on."""
    pytest.importorskip(
        "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    )
    program = PROGRAM.format(other=OTHER.format(path=sys.path))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    failure, ids = done.stdout.strip().rsplit("\n", 1)
    assert "ImportError" in failure
    assert "interpreter" in failure
    assert ids == "[256]"
