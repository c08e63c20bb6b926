"""toktier, whose sessions grow. It accelerates the files of certain models, which it knows by their hashes.

Left out: its native store, which is private. It appends without making a list of all ids.
"""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from . import Work

HOME = tempfile.TemporaryDirectory()
"""Where the library keeps files; removed when the job ends."""
FAMILY = "qwen3_8b"
"""The name of the only file that is measured."""


def serve(name: str, options: dict[str, Any], texts: list[str]) -> Work:
    """Begin a session with the file of a model, and append turns."""
    tokenizer = _load(Path(options["path"]).absolute())
    session = tokenizer.session(text=texts[0]).__enter__()
    return Work(session.append_patch, texts[1:], lambda: [list(session.ids)])


def _load(path: Path) -> Any:  # noqa: ANN401
    """Have the library take the file from its folder, and load it."""
    import toktier
    from toktier.artifacts import ArtifactManifest, ArtifactStore, LocalDirectorySource

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    files = {path.name: {"sha256": digest}}
    names = {"repo_id": "a/b", "revision": "0" * 40, "local_dir": str(path.parent)}
    manifest = ArtifactManifest.from_mapping({FAMILY: {**names, "files": files}})
    config = toktier.Config.resolve(home=HOME.name)
    ArtifactStore(manifest, config=config, source=LocalDirectorySource()).ensure(FAMILY)
    policy = toktier.RoutingPolicy.REQUIRE_ACCELERATED
    return toktier.load(
        FAMILY, config=config, manifest=manifest, device="cpu", policy=policy
    )
