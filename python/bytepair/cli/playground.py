"""``bytepair playground``: encode, trace and train in the browser, with your tokenizers.

All work is done in the page. The server serves only this page, and only to this machine.
"""

import threading
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bytepair import FileError
from bytepair._io.files import write
from bytepair.analyze._report.command import check_output

from .command import Argument, Option, command, refuse_options
from .playground_page import page_with
from .problems import remark
from .sizes import number
from .tokenizers_first import TokenizerPath, load_all

__all__ = ["playground", "server_of"]

ADDRESS = "127.0.0.1"
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@command(
    Argument(
        "tokenizers",
        "[TOKENIZER]...",
        "Tokenizers to open in the page. Without any, the page opens a few small ones.",
        type=TokenizerPath(),
        reads=True,
    ),
    Option(
        "-o, --output FILE",
        "Write the page to this .html file instead of serving it. The file needs no server and no "
        "network.",
        type=Path,
        writes=True,
    ),
    Option(
        "--port PORT",
        "The port to serve at; by default any that is free.",
        type=number(1, 65535),
    ),
    Option("--no-open", "Do not open a browser; only show the address."),
)
def playground(
    tokenizers: list[Path] | None = None,
    *,
    output: Path | None = None,
    **serving: Any,
) -> None:
    """Encode, trace and train in the browser; nothing leaves your machine.

    $ bytepair playground
    $ bytepair playground tokenizer.json other.json
    $ bytepair playground tokenizer.json -o playground.html
    """
    if output is not None:
        reason = "is for serving the page, and has no effect on --output"
        refuse_options(serving, reason)
        check_output(output, "the page")
    page = page_with(load_all(tokenizers or [])).encode()
    if output is not None:
        write(output, page)
        remark(f"saved: {output}")
        return
    serve(page, **serving)


def serve(page: bytes, *, port: int = 0, no_open: bool = False) -> None:
    """Serve a page until Ctrl-C."""
    try:
        server = server_of(page, port)
    except OSError as error:
        message = f"port {port}: {error.strerror}; choose another with --port"
        raise FileError(message) from error
    url = f"http://{ADDRESS}:{server.server_address[1]}/"
    remark(f"playground: {url} (Ctrl-C stops it)")
    try:
        if not no_open:
            # Some browsers run in the terminal, and would wait for a server that waits for them.
            threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # the usual end
    finally:
        server.server_close()


def server_of(page: bytes, port: int) -> ThreadingHTTPServer:
    """Return a server that sends a page only to requests that name this machine.

    So another site cannot read the page through a host name that resolves to this machine.
    """

    class Handler(BaseHTTPRequestHandler):
        """Answers one request."""

        server_version = "bytepair"
        sys_version = ""

        def do_GET(self) -> None:
            """Send the page."""
            if self._begin():
                self.wfile.write(page)

        def do_HEAD(self) -> None:
            """Send the headers of the page."""
            self._begin()

        def _begin(self) -> bool:
            own = self.connection.getsockname()[1]
            hosts = (f"{ADDRESS}:{own}", f"localhost:{own}")
            if self.headers.get("Host") not in hosts:
                self.send_error(HTTPStatus.FORBIDDEN, "this server has another name")
                return False
            if self.path.partition("?")[0] not in ("/", "/index.html"):
                self.send_error(HTTPStatus.NOT_FOUND, "there is one page, /")
                return False
            self.send_response(HTTPStatus.OK)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            return True

        def log_message(self, *_arguments: object) -> None:
            """Write no log."""

    return ThreadingHTTPServer((ADDRESS, port), Handler)
