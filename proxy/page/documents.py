"""The documents at `/ui/docs`: Markdown of the repository, rendered when it is first asked for, in a worker thread. A
document's name is its path in the repository, or its name alone if it is one of deploy/docs.

documents/ holds links to the files, so that a wheel has copies of them and a checkout the files themselves: no build
step, and what is edited is what is shown.
"""

import asyncio
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from proxy.errors import UnknownRoute
from proxy.http.exchange import Call
from proxy.page.files import OTHER_TYPE, TYPES, File, answered, file_of, redirect
from proxy.page.markdown import Heading, Rendered, rendered
from proxy.pipeline import Services

FOLDER = Path(__file__).parent / "documents"
INDEX = "index.md"
HOME = "deploy/docs"  # its documents stand at the root of /ui/docs

# The order of the list beside a document.
LISTED = (
    *("index.md", "how-it-works.md", "clients.md", "apis.md", "http.md", "memory.md", "page.md", "configuration.md"),
    *("operations.md", "measured.md", "limits.md", "notes.md", "deploy/README.md", "grafana/README.md"),
    *("grafana/METRICS.md", "SECURITY.md", "CHANGELOG.md"),
)
# Titles that say too little in that list.
_TITLES = {"deploy/README.md": "Deploying", "grafana/README.md": "Grafana", "CHANGELOG.md": "Changes"}
_SHOWN = frozenset({".md", ".yaml", ".png", ".svg"})
_PARTS = 3  # lowest level of the headings of a document that are told in that list
_MOST_PARTS = 40  # above that only those of the level above


def names(folder: Path = FOLDER) -> Mapping[str, Path]:
    """Returns every file that may be asked for, as its path in `folder`, by its name in an address."""
    places = (path.relative_to(folder) for path in _walked(folder))
    return {place.as_posix().removeprefix(f"{HOME}/"): place for place in places}


def _walked(folder: Path) -> list[Path]:
    """The files below `folder`, those behind its links included (Path.rglob follows none)."""
    files: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            files += _walked(path)
        elif path.suffix in _SHOWN:
            files.append(path)
    return files


def address(target: str, name: str, known: Mapping[str, Path]) -> str | None:
    """Returns the address, relative to that of document `name`, of what stands behind a link in it. None if it is not
    served here, such as source code; another site's address stays."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return target if parts.scheme == "https" else None
    if not parts.path:
        return target
    beside = known[name].parent.as_posix()
    place = posixpath.normpath(posixpath.join(beside, parts.path)).removeprefix(f"{HOME}/")
    if place not in known:
        place = f"{place}/README.md"  # of a folder
        if place not in known:
            return None
    return posixpath.relpath(place, posixpath.dirname(name) or ".") + (f"#{parts.fragment}" if parts.fragment else "")


async def document(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers with a document, or a file that documents name. Raises UnknownRoute."""
    name = call.parameters["document"]
    if not name:
        await call.answer(redirect(f"../docs/{INDEX}"))
        return
    if f"{name}.md" in _known():
        await call.answer(redirect(f"{posixpath.basename(name)}.md"))
        return
    found = await asyncio.to_thread(served, name)
    await call.answer(answered({name: found}, name, call.headers))


async def to_documents(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Redirects to the first document."""
    await call.answer(redirect(f"docs/{INDEX}"))


def served(name: str) -> File:
    """Returns what is served under `name`, read and rendered once and again when its file has changed. Raises
    UnknownRoute."""
    place = _known().get(name)
    if place is None:
        raise UnknownRoute(f"There is no document {name[:100]!r}.")
    path = FOLDER / place
    if path.suffix != ".md":
        return _file(path, path.stat().st_mtime_ns)
    return _page(name, path, path.stat().st_mtime_ns)


@lru_cache(1)
def _known() -> Mapping[str, Path]:
    return names()


@lru_cache(64)
def _file(path: Path, changed: int) -> File:  # noqa: ARG001 (a newer one is another entry)
    return file_of(path.read_bytes(), TYPES.get(path.suffix, OTHER_TYPE))


@lru_cache(64)
def _page(name: str, path: Path, changed: int) -> File:  # noqa: ARG001 (as above)
    return file_of(html(name, _rendered(name, path)).encode(), TYPES[".html"])


def _rendered(name: str, path: Path) -> Rendered:
    def at(target: str) -> str | None:
        return address(target, name, _known())

    return rendered(path.read_text(encoding="utf-8"), at, at)


@lru_cache(1)
def _titles() -> Mapping[str, str]:
    """The titles of the listed documents, in their order."""
    return {name: _TITLES.get(name) or _first(FOLDER / _known()[name]) for name in LISTED if name in _known()}


def _first(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def html(name: str, shown: Rendered) -> str:
    """Returns the page around a document: header, the list of documents, the document."""
    root = "../" * (1 + name.count("/"))  # of the page's files
    return f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>{escape(shown.title)} · Olvido</title>
    <link rel="icon" href="{root}icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="{root}app.css">
    <link rel="stylesheet" href="{root}docs.css">
    <script src="{root}boot.js"></script>
    <script type="module" src="{root}docs.js"></script>
  </head>
  <body>
    <a class="skip" id="skip" href="#main">Skip to content</a>
    <header class="top" id="top" data-root="{root}"><div class="top-in"><a class="brand" href="{root}../ui"><span
      class="brand-mark" aria-hidden="true"></span>Olvido</a></div></header>
    <main id="main" class="docs" tabindex="-1">
      <nav class="docs-list" id="docs-list" aria-label="Documents">
        <ul>
{_list(name, shown.headings)}
        </ul>
      </nav>
      <article class="prose" lang="en">
{shown.html}
      </article>
    </main>
  </body>
</html>
"""


def _list(name: str, headings: Sequence[Heading]) -> str:
    """The list of documents, the current one with its parts."""
    return "\n".join(_entries(name, headings))


def _entries(name: str, headings: Sequence[Heading]) -> Iterator[str]:
    for each, title in _titles().items():
        place = escape(posixpath.relpath(each, posixpath.dirname(name) or "."))
        if each != name:
            yield f'<li><a href="{place}">{escape(title)}</a></li>'
            continue
        told = [each for each in headings if 1 < each.level <= _PARTS]
        if len(told) > _MOST_PARTS:
            told = [each for each in told if each.level < _PARTS]
        parts = [
            f'<li class="level-{each.level}"><a href="#{each.anchor}">{escape(each.text)}</a></li>' for each in told
        ]
        inner = f"<ul>{''.join(parts)}</ul>" if parts else ""
        yield f'<li><a href="{place}" aria-current="page">{escape(title)}</a>{inner}</li>'
