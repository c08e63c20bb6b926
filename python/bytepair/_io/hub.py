"""Tokenizers of published models, fetched from the Hugging Face Hub.

``huggingface_hub`` fetches, and keeps the cache and the credentials. The cache is read without
that library: ``models--org--name`` with ``refs``, which name a commit for each branch, and
``snapshots``, a folder for each commit. Fetched are only the files that say something about a
tokenizer, never the weights.
"""

import os
from pathlib import Path

from bytepair.errors import FileError, TokenizerError

from . import recognising
from .files import StrPath


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
        cache = cache_folder(cache_dir)
        found = snapshot(cache, name, revision or "main")
        if found is not None and not force_download:
            return found
        message = (
            f"{name}: not in the cache {cache}; fetching from the Hub needs "
            "huggingface_hub: pip install bytepair[hub]"
        )
        raise TokenizerError(message) from error
    inside = f"{subfolder.strip('/')}/" if subfolder else ""
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            local_files_only=local_files_only,
            allow_patterns=[f"{inside}{file}" for file in recognising.HUB_FILES],
            token=token,
            cache_dir=None if cache_dir is None else Path(cache_dir),
            force_download=force_download,
        )
    except Exception as error:  # the library raises classes of many kinds
        message = f"{name}: {error}"
        raise TokenizerError(message) from error
    return Path(folder)


def cache_folder(cache_dir: StrPath | None = None) -> Path:
    """Name the folder in which ``huggingface_hub`` keeps what it fetched."""
    if cache_dir is not None:
        return Path(cache_dir).expanduser()
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return Path(os.environ[variable]).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    above = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(above).expanduser() / "huggingface" / "hub"


def snapshot(cache: Path, name: str, revision: str) -> Path | None:
    """Find what was fetched of a model at a revision: a branch, a tag or a commit."""
    if any(part in ("", ".", "..") for part in revision.split("/")):
        message = (
            f"revision={revision!r} is not the name of a branch, a tag or a commit"
        )
        raise FileError(message)
    model = cache / f"models--{name.replace('/', '--')}"
    commit = revision
    reference = model / "refs" / revision
    if reference.is_file():
        commit = reference.read_text().strip()
    folder = model / "snapshots" / commit
    return folder if folder.is_dir() else None
