"""Tokenizers of published models, fetched from the Hugging Face Hub.

Needs ``huggingface_hub``, which keeps the cache and the credentials. Fetched are only the
files that say something about a tokenizer, never the weights.
"""

from pathlib import Path

from . import formats
from .errors import TokenizerError
from .files import StrPath

__all__ = ["download"]


def download(
    name: str,
    *,
    revision: str | None,
    local_files_only: bool,
    subfolder: str = "",
    token: bool | str | None = None,
    cache_dir: StrPath | None = None,
    force_download: bool = False,
) -> Path:
    """Fetch the files of a tokenizer; give the folder where they lie.

    Files that are in the cache are not fetched again. Fetched are those of ``subfolder``;
    the path is that of the whole model all the same.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        message = (
            "fetching from the Hub needs huggingface_hub: pip install bytepair[hub]"
        )
        raise TokenizerError(message) from error
    inside = f"{subfolder.strip('/')}/" if subfolder else ""
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            local_files_only=local_files_only,
            allow_patterns=[f"{inside}{file}" for file in formats.HUB_FILES],
            token=token,
            cache_dir=None if cache_dir is None else Path(cache_dir),
            force_download=force_download,
        )
    except Exception as error:  # the library raises classes of many kinds
        message = f"{name}: {error}"
        raise TokenizerError(message) from error
    return Path(folder)
