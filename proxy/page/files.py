"""The files of static/: read once, and served with the headers that keep the page to itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from proxy.errors import UnknownRoute
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.protocol import headers as wire_headers
from proxy.types import Answer, Headers

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"

# Nothing from elsewhere, nothing inline, in no frame: a message that is shown can't become a program.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Headers = (
    ("cache-control", "no-cache"),
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)

# Written out, since the table of the operating system differs from machine to machine.
TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
OTHER_TYPE = "text/plain; charset=utf-8"  # licences, notes


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page, in memory."""

    body: bytes
    tag: str  # ETag, in its quotes
    type: str


def read(folder: Path) -> dict[str, File]:
    """Reads every file below `folder`, by its path in it, but hidden files and links that lead out of it."""
    root = folder.resolve()
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and path.resolve().is_relative_to(root) and not any(p.startswith(".") for p in name.parts):
            files[name.as_posix()] = file_of(path.read_bytes(), TYPES.get(path.suffix, OTHER_TYPE))
    return files


def file_of(body: bytes, kind: str) -> File:
    """Returns a file with its tag. `kind`: its content type."""
    return File(body, f'"{blake2b(body, digest_size=16).hexdigest()}"', kind)


def answered(files: Mapping[str, File], name: str, asked: Headers) -> Answer:
    """Builds the answer with a file, or a 304 if the client's copy is the newest. Raises UnknownRoute."""
    found = files.get(name)
    if found is None:
        raise UnknownRoute(f"The page has no file {name[:100]!r}.")
    headers: Headers = (("etag", found.tag), *HEADERS)
    if _has(wire_headers.get(asked, "if-none-match"), found.tag):
        return Answer(304, headers, b"")
    return Answer(200, (("content-type", found.type), *headers), found.body)


_FILES: Mapping[str, File] = read(FOLDER)


async def page(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers with the page."""
    await call.answer(answered(_FILES, INDEX, call.headers))


async def file(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers with a file of the page."""
    name = call.parameters["file"]
    await call.answer(redirect("../ui") if not name else answered(_FILES, name, call.headers))


async def to_page(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Redirects to the page."""
    await call.answer(redirect("ui"))


def redirect(place: str) -> Answer:
    """Builds the answer that leads to `place`."""
    return Answer(307, (("location", place), *HEADERS), b"")


def _has(tags: str | None, tag: str) -> bool:
    """True if `tags`, an If-None-Match header, names `tag`, weakly compared (RFC 9110 §13.1.2)."""
    given = [each.strip().removeprefix("W/") for each in (tags or "").split(",")]
    return "*" in given or tag in given
