"""``from_hub`` with the real library, against a server on this machine that answers as the hub does.

Left out: the hub itself. The library reads its settings once, so it runs in a process of its own.
"""

import hashlib
import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from tests.programs import run_python

import bytepair

pytest.importorskip("huggingface_hub", reason="fetches with huggingface_hub")

pytestmark = pytest.mark.slow

COMMIT = "a" * 40
OTHER_FILES = {"model.safetensors": b"weights", "config.json": b"{}"}


class Hub(http.server.BaseHTTPRequestHandler):
    """What the hub says about models, and their files."""

    models: dict[str, dict[str, bytes]] = {}  # noqa: RUF012 -- set by the fixture
    asked: list[str] = []  # noqa: RUF012

    def do_HEAD(self) -> None:
        """Describe a file."""
        self.do_GET()

    def do_GET(self) -> None:
        """Describe a model, list its files, or give one of them."""
        path = unquote(urlparse(self.path).path).strip("/")
        self.asked.append(path)
        name = "/".join(path.removeprefix("api/models/").split("/")[:2])
        files = self.models.get(name)
        if files is None:
            self.answer(b"{}", {"X-Error-Code": "RepoNotFound"}, status=404)
        elif path.startswith(f"api/models/{name}/tree/"):
            self.answer(json.dumps([entry(*file) for file in files.items()]).encode())
        elif path.startswith("api/models/"):
            siblings = [{"rfilename": file} for file in files]
            model = {"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings}
            self.answer(json.dumps({**model, "tags": [], "private": False}).encode())
        else:
            content = files[path.removeprefix(f"{name}/resolve/{COMMIT}/")]
            tag = {"ETag": f'"{digest(content)}"', "X-Repo-Commit": COMMIT}
            self.answer(content, tag)

    def answer(
        self,
        content: bytes,
        headers: "dict[str, str] | None" = None,
        *,
        status: int = 200,
    ) -> None:
        """Send the head, and the content unless only the head was asked for."""
        self.send_response(status)
        for name, value in {
            "Content-Length": str(len(content)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def digest(content: bytes) -> str:
    """Name a content."""
    return hashlib.sha1(content).hexdigest()


def entry(name: str, content: bytes) -> dict[str, object]:
    """Describe a file of a model."""
    return {"type": "file", "path": name, "size": len(content), "oid": digest(content)}


@pytest.fixture
def hub() -> Iterator[str]:
    """Start the server; give its address."""
    own = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
    tokenizer = own.to_bytes(format="huggingface")
    Hub.models = {
        "some/model": {"tokenizer.json": tokenizer, **OTHER_FILES},
        "some/weights": OTHER_FILES,
    }
    Hub.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def from_hub(hub: str, cache: Path, *arguments: str) -> str:
    """Call ``from_hub`` in a process of its own; give its number of tokens, or the error."""
    program = (
        "import bytepair, sys\n"
        "try:\n"
        f"    print(bytepair.Tokenizer.from_hub({', '.join(arguments)}).n_vocab)\n"
        "except bytepair.TokenizerError as error:\n"
        "    print(error)\n"
    )
    return output(hub, cache, program)


def output(hub: str, cache: Path, program: str) -> str:
    """Run a program that fetches from this hub; give what it prints."""
    proxies = ("http_proxy", "https_proxy", "all_proxy")
    kept = {k: v for k, v in os.environ.items() if k.lower() not in proxies}
    settings = {
        "HF_ENDPOINT": hub,
        "HF_HOME": str(cache),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return run_python(program, env={**kept, **settings}).stdout


def test_only_the_files_of_the_tokenizer_are_fetched_and_only_once(hub, tmp_path):
    """Weights stay where they are, and what is in the cache needs no server."""
    assert from_hub(hub, tmp_path, "'some/model'") == "258\n"
    fetched = {path.rpartition("/")[2] for path in Hub.asked if "/resolve/" in path}
    assert fetched == {"tokenizer.json", "config.json"}
    Hub.asked.clear()
    assert from_hub(hub, tmp_path, "'some/model', local_files_only=True") == "258\n"
    assert from_hub(hub, tmp_path, f"'some/model', revision='{COMMIT}'") == "258\n"
    assert not [path for path in Hub.asked if "/resolve/" in path]


def test_a_command_fetches_a_model_that_it_is_given_by_name(hub, tmp_path):
    """The second command, and ``from_file``, find the files in the cache."""
    count = (
        "from bytepair.cli.app import app; app(['count-tokens', 'some/model', 'a b'])"
    )
    load = "import bytepair; print(bytepair.Tokenizer.from_file('some/model').n_vocab)"
    assert output(hub, tmp_path, count) == output(hub, tmp_path, count) == "3\n"
    assert output(hub, tmp_path, load) == "258\n"


def test_what_the_hub_cannot_give_is_an_error_of_ours(hub, tmp_path):
    """A model that is not there, one without a tokenizer, and one that is not in the cache."""
    assert from_hub(hub, tmp_path, "'some/absent'").startswith("some/absent: ")
    assert "no tokenizer" in from_hub(hub, tmp_path, "'some/weights'")
    offline = from_hub(hub, tmp_path, "'some/model', local_files_only=True")
    assert offline.startswith("some/model: not in the cache")
