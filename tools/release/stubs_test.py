"""Run inside an environment that has the wheel, mypy and ruff: ``stubs_test.py REPOSITORY``.

The stub that editors read says what the compiled core has: names and arguments (stubtest), docstrings
and defaults (``stubs.py``).
"""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run both checks; gives 1 if one finds a difference."""
    script = Path(sys.argv[1], "crates", "bytepair-python", "stubs.py")
    checks = [["-m", "mypy.stubtest", "bytepair._core"], [str(script), "--check"]]
    codes = [
        subprocess.run([sys.executable, *check], check=False).returncode
        for check in checks
    ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
