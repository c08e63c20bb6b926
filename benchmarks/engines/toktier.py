"""toktier, whose sessions grow. It accelerates files of certain models alone, which it knows by their hashes.

``session`` is its session of Python, which gives the patch of each append; ``store`` is the native store below it, which is
private, and does an append without giving all ids as objects of Python.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import Grown

HOME = tempfile.TemporaryDirectory()
"""Where the library keeps files; removed when the job ends."""


def session(options: dict[str, Any], output: str) -> Grown:
    """Begin a session with the file of a model."""
    tokenizer = _load(Path(options["path"]))

    def encode(text: str) -> Any:  # noqa: ANN401
        return np.array(tokenizer.encode(text, lookup="off").ids, np.uint32)

    if output == "store":
        return _stored(tokenizer, encode)
    opened = tokenizer.session()
    grown = opened.__enter__()
    return Grown(grown.append_patch, lambda: np.array(grown.ids, np.uint32), encode)


def _stored(tokenizer: Any, encode: Callable[[str], Any]) -> Grown:  # noqa: ANN401
    from toktier import _native

    store, encoder = _native.SessionStore(), tokenizer._native_repair_encoder()
    fingerprint = tokenizer._semantic_fingerprint()
    key = store.register_fingerprint(fingerprint, tokenizer._seal_end_guard_chars)
    handle, *_ = store.put(key, "", encoder)

    def append(text: str) -> None:
        store.append(handle, text, store.revision(handle), encoder)

    return Grown(append, lambda: np.frombuffer(store.ids_bytes(handle), "<u4"), encode)


def _load(path: Path) -> Any:  # noqa: ANN401
    """Put the file where the library keeps what it has fetched, and load it."""
    os.environ["TOKTIER_HOME"] = HOME.name
    import toktier
    from toktier.artifacts import ArtifactManifest
    from toktier.artifacts.tables import ARTIFACT_MANIFEST
    from toktier.config import Config
    from toktier.paths import artifact_cache_dir

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = ArtifactManifest.load(ARTIFACT_MANIFEST).entries.values()
    [entry] = [e for e in known if e.file("tokenizer.json").sha256 == digest]
    folder = artifact_cache_dir(Config.resolve()) / entry.directory_name
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(path, folder / "tokenizer.json")
    files = {"tokenizer.json": {"sha256": digest}}
    fetched = {"repo_id": entry.repo_id, "revision": entry.revision, "files": files}
    manifest = ArtifactManifest.from_mapping({entry.family: fetched})
    policy = toktier.RoutingPolicy.REQUIRE_ACCELERATED
    return toktier.load(entry.family, manifest=manifest, device="cpu", policy=policy)
