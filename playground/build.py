"""Write the playground as one HTML file: ``python playground/build.py CORE.wasm -o index.html``.

The modules become ``data:`` addresses of the import map, and the core is compressed. The policy of
the page allows what is in it, by hashes, and no connection. Needs the standard library alone.
"""

import argparse
import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

SOURCES = Path(__file__).parent
MAP = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
MAIN = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">')
STYLE = '<link rel="stylesheet" href="style.css">'
IMPORTED = re.compile(r'^(?:import|export)\b[^"\n]*from "([^"]+)"', re.MULTILINE)
GIVEN = "<!-- given tokenizers -->"
"""Where ``bytepair playground`` puts tokenizers; the last line of the body."""


def main() -> None:
    """Build the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("core", type=Path, help="the core as WebAssembly")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    page = built(arguments.core.read_bytes())
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(page, encoding="utf-8", newline="\n")
    print(f"{arguments.output}: {len(page.encode()):,} bytes")


def built(core: bytes) -> str:
    """Give the page with everything in it."""
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    modules = imports(page)
    import_map = json.dumps({"imports": modules}, indent=0)
    style = (SOURCES / "style.css").read_text(encoding="utf-8")
    program = found(MAIN, page)
    worker = f"{source('core.js')}\n{source('worker.js')}"
    worker = re.sub(r"^export ", "", worker, flags=re.MULTILINE)  # a plain script
    compressed = base64.b64encode(gzip.compress(core, 9, mtime=0)).decode()
    blocks = [
        f'<script type="text/plain" id="worker-source">{inline(worker)}</script>',
        f'<script type="text/plain" id="core">{compressed}</script>',
        GIVEN,
    ]
    policy = policy_of([import_map, program], style)
    # Functions, so that backslashes of a text are not escapes.
    page = MAP.sub(
        lambda _: f'<script type="importmap">{inline(import_map)}</script>', page
    )
    page = POLICY.sub(lambda _: policy, page)
    page = page.replace(STYLE, f"<style>{inline(style)}</style>")
    return page.replace("</body>", "\n".join([*blocks, "</body>"]))


def source(name: str) -> str:
    """Read a script."""
    return (SOURCES / name).read_text(encoding="utf-8")


def imports(page: str) -> dict[str, str]:
    """Give each module that the page names as an address that holds it."""
    named = json.loads(found(MAP, page))["imports"]
    addresses = {}
    for name, path in named.items():
        text = source(path)
        unknown = set(IMPORTED.findall(text)) - named.keys()
        if unknown:
            message = f"{path} imports {', '.join(sorted(unknown))}, which the import map does not name"
            raise SystemExit(message)
        encoded = base64.b64encode(text.encode()).decode()
        addresses[name] = f"data:text/javascript;charset=utf-8;base64,{encoded}"
    return addresses


def found(pattern: re.Pattern[str], page: str) -> str:
    """Give what a pattern holds, once in the page."""
    (text,) = pattern.findall(page)
    return str(text)


def inline(text: str) -> str:
    """Check that a text does not end the element that it stands in."""
    if re.search(r"</(?:script|style)|<!--", text, re.IGNORECASE):
        message = "a source has </script, </style or <!-- in it, which ends its element"
        raise SystemExit(message)
    return text


def policy_of(scripts: list[str], style: str) -> str:
    """Write the policy of the page: its own scripts and style, the core, and no connection."""
    own = " ".join(map(hashed, scripts))
    rules = [
        "default-src 'none'",
        f"script-src {own} data: blob: 'wasm-unsafe-eval'",
        f"style-src {hashed(style)}",
        "img-src data:",
        "worker-src blob:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types bytepair-worker",
    ]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


def hashed(text: str) -> str:
    """Give the hash of an inline script or style, as a policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


if __name__ == "__main__":
    main()
