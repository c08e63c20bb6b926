"""Links of Markdown pages, which are written for the repository, as the site needs them.

A link leads from the folder of its page to a file of the repository. On the site it leads to the page
that the file became; a file that is no page becomes plain code, or a link to the repository where its
address is known. Code, in fences and between backquotes, is left as it is.
"""

import posixpath
import re
from collections.abc import Callable, Mapping

__all__ = ["anchors", "headings", "moved_links", "outside_code"]

FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?^[ \t]*(?P=mark)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
CODE = re.compile(r"(?P<mark>`+)(?!`).+?(?<!`)(?P=mark)(?!`)", re.DOTALL)
LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:`[^`]*`|[^][`]|\[[^]]*\])*)\]\((?P<target>[^()\s]+)\)"
)


def moved_links(
    markdown: str,
    source: str,
    page: str,
    pages: Mapping[str, str],
    repository: str = "",
) -> str:
    """Rewrite the links of a page.

    ``source`` is the page's path in the repository and ``page`` its path on the site; ``pages`` maps
    paths in the repository to paths on the site, and ``repository`` is an address to which a path in
    the repository can be appended, if there is one.

    >>> pages = {"docs/a.md": "a.md", "CHANGELOG.md": "project/CHANGELOG.md"}
    >>> moved_links("[new](../CHANGELOG.md#x)", "docs/a.md", "a.md", pages)
    '[new](project/CHANGELOG.md#x)'
    >>> moved_links("[tiny](../python/tiny.py), `[x](y)`", "docs/a.md", "a.md", pages)
    'tiny (`python/tiny.py`), `[x](y)`'
    >>> moved_links("[`tiny.py`](../python/tiny.py)", "docs/a.md", "a.md", pages)
    '`tiny.py`'
    """

    def moved(link: re.Match[str]) -> str:
        text, target = link["text"], link["target"]
        if is_elsewhere(target) or target.startswith("#"):
            return link[0]
        path, hash_, anchor = target.partition("#")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        for name in (found, f"{found}/README.md", f"{found}/index.md"):
            if name in pages:
                if (
                    found == "README.md"
                ):  # the home page stands for it, with other sections
                    hash_ = anchor = ""
                to = posixpath.relpath(pages[name], posixpath.dirname(page) or ".")
                return f"{link['image']}[{text}]({to}{hash_}{anchor})"
        if repository:
            return f"{link['image']}[{text}]({repository}{found}{hash_}{anchor})"
        return as_code(text, found)

    return outside_code(markdown, lambda part: LINK.sub(moved, part), LINK)


def anchors(markdown: str) -> list[tuple[str, str]]:
    """List the files and the headings in them that a page links to, on the same host.

    >>> anchors("[a](b.md#c), [d](#e), [f](g.md), [h](https://i/#j)")
    [('b.md', 'c'), ('', 'e')]
    """
    found: list[tuple[str, str]] = []

    def note(text: str) -> str:
        targets = (link["target"] for link in LINK.finditer(text))
        parts = (
            target.partition("#") for target in targets if not is_elsewhere(target)
        )
        found.extend((path, anchor) for path, hash_, anchor in parts if hash_)
        return text

    outside_code(markdown, note, LINK)
    return found


def headings(markdown: str) -> list[str]:
    r"""List the anchors of a page's headings.

    >>> headings("# A\n\n## Why `b` isn't c\n\n```sh\n# no\n```\n\n## A")
    ['a', 'why-b-isnt-c', 'a-1']
    """
    found: list[str] = []
    text = FENCE.sub("", markdown)
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        n_before = sum(
            re.fullmatch(rf"{re.escape(name)}(-\d+)?", one) is not None for one in found
        )
        found.append(f"{name}-{n_before}" if name in found else name)
    return found


def is_elsewhere(target: str) -> bool:
    """Tell whether a target has a scheme, such as ``https:``.

    >>> is_elsewhere("mailto:a@b"), is_elsewhere("a/b.md")
    (True, False)
    """
    return bool(re.match(r"[a-z][a-z+.-]*:", target, re.IGNORECASE))


def as_code(text: str, path: str) -> str:
    """Name a file that is no page."""
    plain = text.strip("`")
    if (
        plain == path
        or plain.rstrip("/") in (path, posixpath.basename(path))
        or "`" in text
    ):
        return text if "`" in text else f"`{text}`"
    return f"{text} (`{path}`)"


def outside_code(
    markdown: str,
    change: Callable[[str], str],
    but: re.Pattern[str] | None = None,
) -> str:
    """Apply a change to the text of a page that is no code; ``but`` may begin within text and hold code.

    >>> outside_code("a `a` a", str.upper)
    'A `a` A'
    """
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    text = FENCE.sub(keep, markdown)
    if but is None:
        text = CODE.sub(keep, text)
    else:
        text = re.sub(
            f"(?P<whole>{but.pattern})|{CODE.pattern}",
            lambda found: found[0] if found["whole"] else keep(found),
            text,
            flags=re.DOTALL,
        )
    text = change(text)
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], text)
