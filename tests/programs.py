"""Programs that tests run in a Python of their own."""

import subprocess
import sys
from functools import partial


def limit_memory(n_bytes):
    """Let this process have no more address space."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def run_python(program, *arguments, code=0, memory=None, **options):
    """Run a program, and check its exit code; with ``code=None``, any is right.

    It has so many bytes of ``memory``. Other options are those of `subprocess.run`.
    """
    found = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        check=False,
        preexec_fn=memory and partial(limit_memory, memory),
        **{"capture_output": True, "text": True, "timeout": 120, **options},
    )
    assert code in (None, found.returncode), found.stderr
    return found
