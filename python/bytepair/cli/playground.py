"""``bytepair playground``: encode, trace and train in the browser, with own tokenizers loaded.

The page runs everything itself. The server gives out this one page, to this machine only.
"""

import threading
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from bytepair import FileError, Tokenizer
from bytepair._io.files import write
from bytepair.views._playground import page_with

from .problems import remark
from .report import check_output
from .spreading import spread
from .tokenizers_first import short_names

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

Tokenizers = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="TOKENIZER",
        help="Tokenizers to open in the page. Without any, the page opens a few small ones.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the page to this .html file instead of serving it. The file needs no server "
        "and no network.",
        show_default=False,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=65535,
        metavar="PORT",
        help="The port to serve at; by default any that is free.",
        show_default=False,
    ),
]
NoOpen = Annotated[
    bool,
    typer.Option("--no-open", help="Do not open a browser; only show the address."),
]


@spread
def playground(
    tokenizers: Tokenizers = None,
    *,
    output: Output = None,
    port: Port = None,
    no_open: NoOpen = False,
) -> None:
    """Encode, trace and train in the browser; nothing leaves your machine."""
    if output is not None:
        _refuse_serving(port=port, no_open=no_open)
        check_output(output, "the page")
    paths = tokenizers or []
    names = short_names(paths) if paths else []
    loaded = dict(zip(names, map(Tokenizer.from_file, paths), strict=True))
    page = page_with(loaded).encode()
    if output is not None:
        write(output, page)
        remark(f"saved: {output}")
        return
    serve(page, port or 0, opens=not no_open)


def _refuse_serving(*, port: int | None, no_open: bool) -> None:
    """Refuse options of the server where a file is written."""
    for name, is_given in (("--port", port is not None), ("--no-open", no_open)):
        if is_given:
            message = "acts on serving the page; --output / -o writes it to a file"
            raise typer.BadParameter(message, param_hint=name)


def serve(page: bytes, port: int, *, opens: bool) -> None:
    """Serve a page until Ctrl-C."""
    try:
        server = server_of(page, port)
    except OSError as error:
        message = f"port {port}: {error.strerror}; choose another with --port"
        raise FileError(message) from error
    url = f"http://{ADDRESS}:{server.server_address[1]}/"
    remark(f"playground: {url} (Ctrl-C stops it)")
    try:
        if opens:
            # Some browsers run in the terminal, and would wait for a server that waits for them.
            threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # the usual end
    finally:
        server.server_close()


def server_of(page: bytes, port: int) -> ThreadingHTTPServer:
    """Make a server that gives a page to requests that name this machine.

    A page of another site cannot read it under a name that it points here.
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
            """Send what precedes the page."""
            self._begin()

        def _begin(self) -> bool:
            own = self.connection.getsockname()[1]
            hosts = (f"{ADDRESS}:{own}", f"localhost:{own}")
            if self.headers.get("Host") not in hosts:
                self.send_error(HTTPStatus.FORBIDDEN, "this name is not of this server")
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
            """Say nothing."""

    return ThreadingHTTPServer((ADDRESS, port), Handler)
