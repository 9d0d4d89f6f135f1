"""Names in documents that the code gives: headers, routes, metrics, variables of the environment."""

import re
from collections.abc import Iterator
from functools import cache

from proxy.app import create_app
from proxy.config import Config
from proxy.observe.catalogue import Catalogue
from tests.docs.documents import ROOT, Document

_HEADER = re.compile(r"x-olvido-[a-z-]*[a-z]")
_METRIC = re.compile(r"\bolvido_[a-z_]+[a-z]\b")
_VARIABLE = re.compile(r"\bOLVIDO_[A-Z_]+[A-Z]\b")
_ROUTE = re.compile(r"(?:(?:GET|POST|PUT|PATCH|DELETE) )?(/(?:admin/api|olvido|healthz|readyz|metrics|ui)\b[^\s`]*)")
_SOURCES = (
    "proxy/**/*.py",
    "proxy/*.yaml",
    "tests/bench/*.py",
    "deploy/*.yaml",
    "deploy/*/*.yaml",
    "deploy/Dockerfile",
    "deploy/helm/**/*.*",
    "deploy/.env.example",
    "deploy/*/.env.example",
)
_HELD = re.compile(r"\{[^}]*\}")


def problems(document: Document) -> Iterator[str]:
    """Each name that nothing has."""
    texts = [(code.text, code.line) for code in document.codes()]
    texts += [(block.text, block.line) for block in document.blocks()]
    for text, line in texts:
        where = f"{document.name}:{line}"
        for pattern, known, kind in (
            (_HEADER, _written(), "header"),
            (_VARIABLE, _written(), "variable"),
            (_METRIC, _metrics(), "metric"),
        ):
            yield from (
                f"{where}: {each}: there is no such {kind}" for each in pattern.findall(text) if each not in known
            )
    for code in document.codes():
        if (found := _ROUTE.fullmatch(code.text)) and not is_route(found[1]):
            yield f"{document.name}:{code.line}: {code.text}: there is no such route"


def is_route(path: str) -> bool:
    """True if the application has it; `{…}` stands for any part."""
    plain = path.partition("?")[0].partition("#")[0].rstrip("/").removesuffix("/…") or "/"
    return _HELD.sub("{}", plain) in _routes() or any(plain.startswith(f"{each}/") for each in ("/ui", "/ui/docs"))


@cache
def _routes() -> frozenset[str]:
    paths = {_HELD.sub("{}", str(getattr(route, "path", ""))) for route in create_app(Config()).routes}
    # A folder of routes may be named as a whole.
    return frozenset(paths | {path[: at.start()] for path in paths for at in re.finditer("/", path)})


@cache
def _metrics() -> frozenset[str]:
    names = {entry.name for entry in Catalogue().entries}
    ends = {f"{name}{end}" for name in names for end in ("", "_bucket", "_sum", "_count", "_total")}
    rules = (ROOT / "grafana" / "prometheus" / "rules.yml").read_text(encoding="utf-8")
    return frozenset(ends | set(_METRIC.findall(rules)))


@cache
def _written() -> frozenset[str]:
    """Every header and variable that stands in the code, or in what deploys it."""
    found = set[str]()
    for pattern in _SOURCES:
        for path in ROOT.glob(pattern):
            text = path.read_text(encoding="utf-8")
            found |= {*_HEADER.findall(text), *_VARIABLE.findall(text)}
    return frozenset(found)
