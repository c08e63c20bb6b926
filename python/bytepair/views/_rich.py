"""Text in colours of ``rich``, or what to install where it is missing."""

from bytepair.errors import MissingLibraryError

try:
    from rich.text import Text
except ModuleNotFoundError as error:
    message = "this view needs rich: pip install 'bytepair[cli]'"
    raise MissingLibraryError(message) from error

__all__ = ["Text"]
