"""What MkDocs calls while it builds the site: pages that come from elsewhere, links, the navigation, plain Markdown.

The modules beside this one do the work; here is only when.
"""

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from docs.website import (  # noqa: E402
    gallery,
    hero,
    links,
    lists,
    measured,
    navigation,
    plain,
    reference,
    tables,
)

# Pages outside docs/, and where they stand on the site.
ELSEWHERE = {
    "ARCHITECTURE.md": "project/ARCHITECTURE.md",
    "CHANGELOG.md": "project/CHANGELOG.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    "SECURITY.md": "project/SECURITY.md",
    **{
        f"benchmarks/tried/{path.name}": f"benchmarks/tried/{path.name}"
        for path in sorted((REPOSITORY / "benchmarks" / "tried").glob("*.md"))
    },
}
PLAYGROUND = REPOSITORY / "python/bytepair/playground/index.html"
EMPTY_LINE = re.compile(r"^<BLANKLINE>$", re.MULTILINE)
OWN_ADDRESS = "http://localhost:8000/"


class State:
    """What one hook leaves for another."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}  # path in the repository: path on the site
        self.sources: dict[str, str] = {}  # the other way round
        self.plain: dict[str, str] = {}
        self.sections: dict[str, str] = {}
        self.hero: hero.Hero | None = None


STATE = State()


def on_config(config: MkDocsConfig) -> None:
    """Work in the repository, from wherever the build was started."""
    os.chdir(REPOSITORY)
    if (
        str(REPOSITORY) not in sys.path
    ):  # MkDocs takes away what hooks add while they are loaded
        sys.path.insert(0, str(REPOSITORY))
    STATE.__init__()  # type: ignore[misc] -- a server builds again and again


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Bring in the pages outside docs/, and generate the others; then complete the navigation."""
    for source, page in ELSEWHERE.items():
        text = (REPOSITORY / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
        STATE.sources[page] = source
    for file in files.documentation_pages():
        STATE.sources.setdefault(file.src_uri, f"docs/{file.src_uri}")
    for file in files.media_files():
        STATE.pages[f"docs/{file.src_uri}"] = file.src_uri
    made = generated(files)
    for page, content in made.items():
        old = files.get_file_from_path(page)
        if old is not None and isinstance(content, str):
            content = joined(old.content_string, content)
            files.remove(old)
        files.append(File.generated(config, page, content=titled(page, content)))
        STATE.sources.setdefault(page, f"docs/{page}")
    STATE.pages |= {source: page for page, source in STATE.sources.items()}
    home = first_page(files)
    STATE.pages["README.md"] = home.src_uri
    pages = [file.src_uri for file in files.documentation_pages()]
    order = navigation.order_of(home.content_string)
    order += [page for page in made if page.endswith(".md")]
    config.nav = navigation.completed(config.nav or [], pages, order)
    return files


def generated(files: Files) -> dict[str, str | bytes]:
    """Give the content of all pages and files that nobody writes, by their paths."""
    names = files.get_file_from_path("reference/api.md")
    api = names.content_string if names else ""
    found: dict[str, str | bytes] = {
        "reference/dialects.md": reference.dialects(),
        "reference/patterns.md": reference.patterns(),
        "reference/encodings.md": reference.encodings(),
        "reference/formats.md": reference.formats(),
        "reference/errors.md": reference.errors(),
        "reference/commands.md": reference.all_commands(),
        **{
            f"reference/command-line/{name}": text
            for name, text in reference.commands().items()
        },
        **{
            f"reference/python/{name}": text
            for name, text in reference.python_pages(api).items()
        },
        **{
            f"gallery/{name}": text
            for name, text in gallery.pages(REPOSITORY / "docs" / "examples").items()
        },
        **{
            f"benchmarks/{name}": text
            for name, text in measured.pages(REPOSITORY / "benchmarks/results").items()
        },
    }
    if PLAYGROUND.exists():
        found["playground/index.html"] = PLAYGROUND.read_bytes()
    return found


def first_page(files: Files) -> File:
    """Give the first page of the documentation."""
    found = files.get_file_from_path("index.md") or files.get_file_from_path(
        "README.md"
    )
    assert found is not None, "docs/index.md is missing"
    return found


def joined(written: str, content: str) -> str:
    """Put what is generated after what is written by hand; what is generated alone has a title of its own."""
    if content.startswith("# "):
        content = content.partition("\n")[2].lstrip("\n")
    return f"{written.rstrip()}\n\n{content}"


def titled(page: str, content: str | bytes) -> str | bytes:
    """Give a page that begins with a section the title of its file."""
    if (
        isinstance(content, bytes)
        or not page.endswith(".md")
        or not content.startswith("## ")
    ):
        return content
    return f"# {posixpath.basename(page)[:-3].capitalize()}\n\n{content}"


def on_page_markdown(
    markdown: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Rewrite links, lists, and what stands for an empty line in the output of an example."""
    name = page.file.src_uri
    source = STATE.sources.get(name, f"docs/{name}")
    markdown = links.moved_links(
        markdown, source, name, STATE.pages, repository(config)
    )
    if name in ("reference/api.md", "reference/commands.md"):
        markdown = reference.with_links(markdown)
    markdown = EMPTY_LINE.sub("", markdown)
    STATE.plain[name] = markdown
    if name == "index.md":
        sentence, markdown = hero.parted(markdown)
        texts = [
            file.content_string
            for file in files.documentation_pages()
            if not file.src_uri.startswith("reference/")
        ]
        STATE.hero = hero.hero(sentence, texts)
        page.meta |= {"template": "home.html", "hide": ["navigation", "toc"]}
        page.meta.setdefault("title", config.site_name)
    return lists.spaced_lists(lists.named_blocks(tables.marked_spaces(markdown)))


def on_page_content(
    html: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Show bars in tables and spaces of code, and keep short code on one line: no break at a hyphen."""
    return tables.without_breaks(tables.with_spaces(tables.plain_bars(html)))


def on_env(env: Any, *, config: MkDocsConfig, files: Files) -> None:
    """Tell templates, also that of the page for what is not there, whether there is a playground."""
    env.globals["has_playground"] = PLAYGROUND.exists()


def repository(config: MkDocsConfig) -> str:
    """Give the address to which a path in the repository can be appended, if it is known."""
    return f"{config.repo_url.rstrip('/')}/blob/main/" if config.repo_url else ""


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
    """Note the section of each page."""
    for item in nav.items:
        for page in pages_in(item):
            STATE.sections[page.file.src_uri] = item.title or ""


def pages_in(item: Any) -> list[Page]:
    """List the pages of an entry of the navigation."""
    if isinstance(item, Page):
        return [item]
    return [page for child in item.children or [] for page in pages_in(child)]


def on_page_context(
    context: dict[str, Any], *, page: Page, config: MkDocsConfig, nav: Navigation
) -> None:
    """Tell templates what there is; read back the pages that docstrings filled."""
    context["hero"] = STATE.hero
    context["has_own_address"] = config.site_url == OWN_ADDRESS
    if "\n::: " in STATE.plain.get(page.file.src_uri, ""):
        STATE.plain[page.file.src_uri] = plain.read_back(page.content or "")


def on_post_build(config: MkDocsConfig) -> None:
    """Write the plain pages."""
    site = Path(config.site_dir)
    found = []
    for name, section in STATE.sections.items():
        text = STATE.plain[name]
        title = next(
            (line[2:] for line in text.split("\n") if line.startswith("# ")), name
        )
        found.append(plain.Plain(name, title.strip("`"), section, text))
        (site / name).write_text(text, encoding="utf-8")
    summary = config.site_description or ""
    (site / "llms.txt").write_text(
        plain.index(config.site_name, summary, found), encoding="utf-8"
    )
    (site / "llms-full.txt").write_text(plain.full(found), encoding="utf-8")
