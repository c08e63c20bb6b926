"""Tokenizers of published models, fetched from the Hugging Face Hub.

Needs ``huggingface_hub``, which keeps the cache and the credentials. Fetched are only the
files that say something about a tokenizer, never the weights.
"""

from pathlib import Path

from . import formats
from .errors import TokenizerError

__all__ = ["download"]


def download(name: str, *, revision: str | None, local_files_only: bool) -> Path:
    """Fetch the files of a tokenizer; give the folder where they lie.

    Files that are in the cache are not fetched again.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        message = "from_hub needs huggingface_hub: pip install bytepair[hub]"
        raise TokenizerError(message) from error
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            local_files_only=local_files_only,
            allow_patterns=formats.HUB_FILES,
        )
    except Exception as error:  # the library raises classes of many kinds
        message = f"{name}: {error}"
        raise TokenizerError(message) from error
    return Path(folder)
