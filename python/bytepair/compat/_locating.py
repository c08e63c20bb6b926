"""Where the folder of a named model is: on the disk, in the cache of the Hub, or on the Hub.

What is in no cache is fetched where ``huggingface_hub`` is installed (``bytepair._io.hub``).
"""

import os
import re
from pathlib import Path

from bytepair._io import hub
from bytepair._io.files import StrPath, refuse_no_name
from bytepair.errors import FileError, TokenizerError

from ._keywords import Loading

__all__ = ["located"]

# ``name`` or ``org/name``, as the Hub allows them.
NAME = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)?")
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
FILES = ("tokenizer.json", "vocab.json", "tekken.json", "*.model", "*.tiktoken")


def located(name: StrPath, loading: Loading) -> Path:
    """Find the file or the folder of a model.

    Raises
    ------
    FileError
        It is nowhere; the message says where was looked.
    TokenizerError
        The Hub refuses it.
    """
    refuse_no_name(name)
    path = Path(name).expanduser()
    if path.is_file():
        if loading.subfolder:
            message = (
                f"subfolder={loading.subfolder!r} needs a folder, but {path} is a file"
            )
            raise FileError(message)
        return path
    if path.is_dir():
        return _inside(path, loading.subfolder)
    looked = [f"{path}: no such file or folder"]
    text = os.fspath(name)
    if not NAME.fullmatch(text) or ".." in text or "--" in text:
        message = f"{looked[0]}, and not the name of a model"
        raise FileError(message)
    return _on_the_hub(text, loading, looked)


def _on_the_hub(name: str, loading: Loading, looked: list[str]) -> Path:
    cache = hub.cache_folder(loading.cache_dir)
    if not loading.force_download:
        found = hub.snapshot(cache, name, loading.revision or "main")
        folder = found and found / loading.subfolder
        if folder is not None and any(any(folder.glob(pattern)) for pattern in FILES):
            return _inside(found or cache, loading.subfolder)
    revision = f" at {loading.revision}" if loading.revision else ""
    looked.append(f"not in the cache {cache}{revision}")
    if loading.local_files_only:
        looked.append("nothing is fetched when local_files_only=True")
        raise FileError("; ".join(looked))
    offline = [variable for variable in OFFLINE if _is_set(variable)]
    if offline:
        looked.append(f"nothing is fetched when {offline[0]} is set")
        raise FileError("; ".join(looked))
    try:
        fetched = hub.download(
            name,
            revision=loading.revision,
            local_files_only=False,
            subfolder=loading.subfolder,
            token=loading.token,
            cache_dir=loading.cache_dir,
            force_download=loading.force_download,
        )
    except TokenizerError as error:
        raise FileError("; ".join([*looked, str(error)])) from error
    return _inside(fetched, loading.subfolder)


def _inside(folder: Path, subfolder: str) -> Path:
    if not subfolder:
        return folder
    parts = Path(subfolder).parts
    if Path(subfolder).is_absolute() or ".." in parts:
        message = f"subfolder={subfolder!r} leads out of {folder}"
        raise FileError(message)
    found = folder / subfolder
    if not found.is_dir():
        message = f"{found}: no such folder (subfolder={subfolder!r})"
        raise FileError(message)
    return found


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").upper() in {"1", "ON", "YES", "TRUE"}
