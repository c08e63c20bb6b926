"""Fetch the tokenizers of published models from the Hugging Face Hub.

``huggingface_hub`` downloads the files, and manages the cache and the credentials. The cache can be
read without that library: ``models--org--name`` has ``refs``, which name a commit for each branch,
and ``snapshots``, with a folder for each commit. Only files about the tokenizer are fetched, never
the weights.
"""

import os
from pathlib import Path

from bytepair.errors import FileError, TokenizerError

from . import recognising
from .files import StrPath, read


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
    """Fetch the files of a tokenizer, and return the folder of the model.

    Files in the cache are not fetched again. If there is a ``subfolder``, only its files are
    fetched; the returned folder is still that of the whole model.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        cache = cache_folder(cache_dir)
        cached = snapshot(cache, name, revision or "main")
        if cached is not None and not force_download:
            return cached
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
    except FileNotFoundError as error:  # also without a connection
        reason = f" ({error.__cause__})" if error.__cause__ else ""
        message = (
            f"{name}: not in the cache {cache_folder(cache_dir)}, and not fetched from the Hub{reason}; "
            "fetch it when the Hub can be reached, or give a folder with the files of the model"
        )
        raise TokenizerError(message) from error
    except Exception as error:  # the library raises many kinds of exceptions
        message = f"{name}: {error}"
        raise TokenizerError(message) from error
    return Path(folder)


def cache_folder(cache_dir: StrPath | None = None) -> Path:
    """Return the folder in which ``huggingface_hub`` caches files."""
    if cache_dir is not None:
        return Path(cache_dir).expanduser()
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return Path(os.environ[variable]).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    parent = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(parent).expanduser() / "huggingface" / "hub"


def snapshot(cache: Path, name: str, revision: str) -> Path | None:
    """Return the cached folder of a model at a branch, tag or commit; ``None`` if there is none."""
    if any(part in ("", ".", "..") for part in revision.split("/")):
        message = (
            f"revision={revision!r} is not the name of a branch, a tag or a commit"
        )
        raise FileError(message)
    model = cache / f"models--{name.replace('/', '--')}"
    commit = revision
    reference = model / "refs" / revision
    if os.path.isfile(reference):  # noqa: PTH113 -- of any length
        commit = read(reference).decode(errors="replace").strip()
    folder = model / "snapshots" / commit
    is_damaged = commit in ("", ".", "..") or folder.name != commit
    return folder if not is_damaged and recognising.is_folder(folder) else None
