"""``python -m tools.release.links ADDRESS REF``: the links of README.md, as a package index needs them.

An index shows README.md without the files beside it, so its links must lead to the repository at ADDRESS, as it was at
REF (a tag or a commit). The file is rewritten in place, before a release is built. Absolute links stay unchanged.
"""

import re
import sys

from . import project

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
UNCHANGED = ("https:", "http:", "mailto:", "#")


def absolute(text: str, address: str, ref: str) -> str:
    """Make links to files of the repository absolute.

    >>> absolute("See [it](docs/it.md#there) ![](a.svg)", "https://host/us/it", "v1")
    'See [it](https://host/us/it/blob/v1/docs/it.md#there) ![](https://host/us/it/raw/v1/a.svg)'
    """

    def rewritten(link: re.Match[str]) -> str:
        picture, text, target = link.group("picture", "text", "target")
        if target.startswith(UNCHANGED):
            return link[0]
        shown = "raw" if picture else "blob"
        return f"{picture}[{text}]({address}/{shown}/{ref}/{target})"

    return LINK.sub(rewritten, text)


def main() -> int:
    """Rewrite README.md."""
    if len(sys.argv) != 3:
        print(f"error: expected ADDRESS and REF\n\n{__doc__}", file=sys.stderr)
        return 2
    path = project.ROOT / "README.md"
    _, address, ref = sys.argv
    text = absolute(path.read_text(encoding="utf-8"), address.rstrip("/"), ref)
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
