"""One job in a process of its own: JSON on standard input, samples on standard output.

What libraries print goes to standard error.
"""

import json
import os
import sys

from . import tasks


def main() -> None:
    """Do the job and print one line of JSON for each phase."""
    job = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as output:
        os.dup2(2, 1)
        for sample in getattr(tasks, job["task"])(job):
            print(json.dumps(sample), file=output, flush=True)


if __name__ == "__main__":
    main()
