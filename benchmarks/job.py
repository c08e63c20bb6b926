"""One job in a process of its own: JSON on standard input, samples on standard output.

What libraries print goes to standard error; the last line of it says why a job failed.
"""

import json
import os
import sys
import traceback

from . import tasks


def main() -> None:
    """Do the job and print one line of JSON for each phase."""
    job = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as output:
        os.dup2(2, 1)
        try:
            for sample in getattr(tasks, job["task"])(job):
                print(json.dumps(sample), file=output, flush=True)
        except Exception as error:
            traceback.print_exc()
            why = " ".join(str(error).split())[:200]
            print(f"{type(error).__name__}: {why}", file=sys.stderr)
            sys.exit(1)


if __name__ == "__main__":
    main()
