"""The entry point of the command line; it says what to install if click or rich is missing."""

import sys

from bytepair.errors import MissingLibraryError

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from .app import run

        run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "numpy":
            sys.exit("bytepair: this needs numpy: pip install numpy")
        if missing not in ("click", "rich"):
            raise
        sys.exit(
            f"bytepair: the command line needs {missing}: pip install 'bytepair[cli]'"
        )
    except MissingLibraryError as error:
        sys.exit(f"bytepair: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
