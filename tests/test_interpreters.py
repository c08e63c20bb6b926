"""One interpreter of a process uses the compiled core; another one is refused.

Lists of ids hold integers that are kept for the whole process, and an object of Python
belongs to the interpreter that made it.
"""

import importlib.util
import sys

import pytest
from tests.programs import run_python

MODULES = ("_interpreters", "_xxsubinterpreters")  # from 3.13 on, and before
if not any(map(importlib.util.find_spec, MODULES)):
    pytest.skip("this Python makes no second interpreter", allow_module_level=True)

BEGIN = """
import sys
sys.path[:] = {path!r}
try:
    import _interpreters as interpreters
    number = interpreters.create({kind!r})
except ImportError:
    import _xxsubinterpreters as interpreters
    number = interpreters.create(isolated={kind!r} == "isolated")

def run(text):
    try:
        return interpreters.run_string(number, text)
    except Exception as error:
        return error
"""
OTHER = """
import sys
sys.path[:] = {path!r}
import bytepair._core
"""
USE = "print(bytepair.train_from_iterator(['ab ab'], merges=1).encode('ab'))\n"


def ended(program, kind):
    """Run a program that makes a second interpreter; gives the lines that it prints."""
    begin = BEGIN.format(path=sys.path, kind=kind)
    return run_python(begin + program).stdout.strip().split("\n")


@pytest.mark.parametrize("kind", ["legacy", "isolated"])
def test_a_second_interpreter_is_refused(kind):
    """The import fails there with a reason, and the first interpreter goes on."""
    program = (
        f"import bytepair\nfor _ in range(2): print(str(run({OTHER.format(path=sys.path)!r}))"
        f".replace(chr(10), ' '))\ninterpreters.destroy(number)\n{USE}"
    )
    *failures, ids = ended(program, kind)
    assert len(failures) == 2
    assert all("ImportError" in failure for failure in failures)
    assert all("interpreter" in failure for failure in failures)
    assert ids == "[256]"


def test_the_interpreter_that_comes_first_is_the_one():
    """Where another one has imported the core, the main one is refused, also afterwards."""
    other = OTHER.format(path=sys.path)
    program = (
        f"print(run({other!r}))\n"
        "for _ in range(2):\n"
        "    try: import bytepair._core\n"
        "    except ImportError as error: print(error)\n"
        "    else: print('imported')\n"
    )
    first, *failures = ended(program, "legacy")
    assert first == "None"
    assert len(failures) == 2
    assert all("interpreter" in failure for failure in failures)
