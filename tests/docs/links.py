"""Links of documents: what they lead to is there, and so is the heading behind a #."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.docs.documents import Document, read


def problems(document: Document) -> Iterator[str]:
    """Each link that leads nowhere. Other sites are not asked."""
    for link in document.links():
        parts = urlsplit(link.target)
        if parts.scheme or parts.netloc:
            if parts.scheme not in ("https", "http") or not parts.netloc:
                yield f"{document.name}:{link.line}: {link.target}: not an address of the web"
            continue
        if not parts.path:
            if parts.fragment not in document.anchors:
                yield f"{document.name}:{link.line}: {link.target}: there is no such heading"
            continue
        place = _resolved(document.path, unquote(parts.path))
        if not place.exists():
            yield f"{document.name}:{link.line}: {link.target}: there is no such file"
        elif parts.fragment and not _has(place, parts.fragment):
            yield f"{document.name}:{link.line}: {link.target}: there is no such heading"


def _resolved(path: Path, target: str) -> Path:
    return (path.parent / target).resolve()


def _has(place: Path, anchor: str) -> bool:
    return place.suffix == ".md" and anchor in read(place).anchors
