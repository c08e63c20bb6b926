"""One job in a process of its own: JSON on standard input, samples on standard output."""

import json
import sys

from . import tasks


def main() -> None:
    """Do the job and print one line of JSON for each phase."""
    job = json.load(sys.stdin)
    for sample in getattr(tasks, job["task"])(job):
        print(json.dumps(sample), flush=True)


if __name__ == "__main__":
    main()
