"""``bytepair playground``: the page with tokenizers in it, as a file and served to this machine."""

import _thread
import base64
import http.client
import json
import re
import threading
import urllib.request

import pytest
from tests import commands

import bytepair
from bytepair import FileError, Tokenizer
from bytepair.cli import playground, playground_page as _playground

TEXT = "low lower lowest, سلام 👋🏽"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Put a small page where the built one is."""
    path = tmp_path / "built" / "index.html"
    path.parent.mkdir()
    path.write_text(f"<body>\n{_playground.PLACE}\n</body>", "utf-8")
    monkeypatch.setattr(_playground.page_with, "__kwdefaults__", {"page": path})
    return path


@pytest.fixture
def tokenizer(tmp_path):
    """Save a tokenizer, and give its path."""
    made = bytepair.train_from_iterator([TEXT], vocab_size=280)
    path = tmp_path / "own.json"
    made.save(path)
    return path


def run(*arguments, code=0):
    """Run the command."""
    return commands.run("playground", *arguments, code=code)


def given(text):
    """Read the tokenizers that a page holds."""
    (block,) = re.findall(
        r'<script type="application/json" id="given-tokenizers">(.*?)</script>', text
    )
    return {one["name"]: base64.b64decode(one["data"]) for one in json.loads(block)}


def test_the_written_page_holds_the_tokenizers(page, tokenizer, tmp_path):
    """Each is there under its name, and equal to the file that was named."""
    run(tokenizer, "-o", tmp_path / "p.html")
    held = given((tmp_path / "p.html").read_text("utf-8"))
    assert list(held) == ["own.json"]
    assert Tokenizer.from_bytes(held["own.json"]) == Tokenizer.from_file(tokenizer)


def test_without_tokenizers_the_page_is_as_it_was_built(page, tmp_path):
    """Nothing is put into it."""
    run("-o", tmp_path / "p.html")
    assert (tmp_path / "p.html").read_text("utf-8") == page.read_text("utf-8")


def test_a_name_never_ends_the_element_that_holds_it(page):
    """Signs of HTML in a name stay data."""
    made = bytepair.train_from_iterator([TEXT], vocab_size=257)
    name = "</script><img src=x onerror=alert(1)>"
    assert list(given(_playground.page_with({name: made}, page=page))) == [name]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("-o p.txt", "p.txt: the name of the page ends with .html"),
        ("-o p.html --port 8000", "--port"),
        ("-o p.html --no-open", "--no-open"),
        ("no-such.json", "no-such.json"),
    ],
)
def test_what_cannot_act_is_refused(typed, message, page, tmp_path, monkeypatch):
    """An option that has no effect, and a file that is not there, are named."""
    monkeypatch.chdir(tmp_path)
    found = run(*typed.split(), code=None)
    assert found.exit_code in (1, 2)
    assert message in found.stderr
    assert not (tmp_path / "p.html").exists()


def test_without_a_built_page_the_error_says_how_to_get_it(tmp_path):
    """A clone has one command for it; an installation without the sources needs a wheel."""
    page = tmp_path / "python" / "bytepair" / "playground" / "index.html"
    with pytest.raises(FileError, match="install a wheel of bytepair"):
        _playground.page_with({}, page=page)
    (tmp_path / "playground").mkdir()
    (tmp_path / "playground" / "build.py").touch()
    with pytest.raises(FileError, match=re.escape(f"`make playground` in {tmp_path}")):
        _playground.page_with({}, page=page)


@pytest.fixture
def server():
    """Serve a page, and give the port."""
    made = playground.server_of(b"<p>page</p>", 0)
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made.server_address[1]
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("GET", "/", None, 200),
        ("GET", "/index.html", "localhost", 200),
        ("HEAD", "/", None, 200),
        ("GET", "/", "example.org", 403),
        ("GET", "/other", None, 404),
        ("GET", "/../pyproject.toml", None, 404),
        ("POST", "/", None, 501),
    ],
)
def test_the_server_gives_the_page_to_this_machine_alone(
    method, path, host, status, server
):
    """One page, under the names of this machine; a name that another site points here is refused."""
    connection = http.client.HTTPConnection("127.0.0.1", server, timeout=10)
    headers = {} if host is None else {"Host": f"{host}:{server}"}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == status
    assert (body == b"<p>page</p>") == (status == 200 and method == "GET")


def test_a_port_that_is_taken_is_told(server, page):
    """The error names the port and the option."""
    found = run("--no-open", "--port", server, code=1)
    assert f"port {server}" in found.stderr
    assert "--port" in found.stderr


def test_serving_ends_with_ctrl_c(page, monkeypatch):
    """A browser that runs until it has the page gets it, and Ctrl-C is the usual end."""
    opened, bodies = [], []

    def browse(url):
        opened.append(url)
        with urllib.request.urlopen(url, timeout=30) as answer:
            bodies.append(answer.read())
        _thread.interrupt_main()

    monkeypatch.setattr(playground.webbrowser, "open", browse)
    found = run()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", opened[0])
    assert opened[0] in found.stderr
    assert len(bodies[0]) > 0
