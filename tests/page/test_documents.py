"""The documents as the proxy serves them: which there are, where their links lead, in a browser."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import httpx
import pytest

from proxy.errors import UnknownRoute
from proxy.page.documents import FOLDER, LISTED, address, names, served
from tests.page.conftest import Open, Page

ROOT = FOLDER.parents[2]
KNOWN: Mapping[str, Path] = {
    name: Path(place)
    for name, place in {
        "http.md": "deploy/docs/http.md",
        "index.md": "deploy/docs/index.md",
        "pictures/a.png": "deploy/docs/pictures/a.png",
        "README.md": "README.md",
        "deploy/README.md": "deploy/README.md",
        "deploy/examples/kimi.yaml": "deploy/examples/kimi.yaml",
    }.items()
}


@pytest.mark.parametrize(
    ("target", "name", "expected"),
    [
        ("http.md", "index.md", "http.md"),
        ("http.md#words", "index.md", "http.md#words"),
        ("#words", "index.md", "#words"),
        ("pictures/a.png", "index.md", "pictures/a.png"),
        ("../../README.md", "index.md", "README.md"),
        ("../README.md#x", "index.md", "deploy/README.md#x"),
        ("..", "index.md", "deploy/README.md"),
        ("../examples/kimi.yaml", "index.md", "deploy/examples/kimi.yaml"),
        ("deploy/docs/http.md", "README.md", "http.md"),
        ("deploy/", "README.md", "deploy/README.md"),
        ("docs/http.md", "deploy/README.md", "../http.md"),
        ("examples/kimi.yaml", "deploy/README.md", "examples/kimi.yaml"),
        ("https://example.com/x", "index.md", "https://example.com/x"),
        ("http://example.com/x", "index.md", None),
        ("javascript:alert(1)", "index.md", None),
        ("//example.com", "index.md", None),
        ("../../proxy/app.py", "index.md", None),
        ("../../../etc/passwd", "index.md", None),
    ],
)
def test_a_link_leads_to_what_is_served_and_nowhere_else(target: str, name: str, expected: str | None) -> None:
    assert address(target, name, KNOWN) == expected


@pytest.mark.parametrize("name", ["nothing.md", "", "../app.css", "deploy/docs/http.md", "/etc/passwd", "http.md/"])
def test_what_is_no_document_is_not_there(name: str) -> None:
    with pytest.raises(UnknownRoute):
        served(name)


def test_all_of_deploy_docs_is_listed_and_what_is_listed_is_there() -> None:
    known = names()
    assert [name for name in LISTED if name not in known] == []
    assert {path.name for path in (ROOT / "deploy" / "docs").glob("*.md")} <= set(LISTED)


def test_every_address_in_every_document_is_one_that_is_served() -> None:
    known = names()
    for name in known:
        if name.endswith(".md"):
            html = served(name).body.decode()
            assert "style=" not in html, name
            for target in re.findall(r'(?:href|src)="([^"#]*)', html.partition("<main")[2]):
                if target and not target.startswith("https:"):
                    place = (PurePosixPath("/") / name).parent / target
                    flat = Path("/", *_flattened(place.parts[1:])).as_posix().removeprefix("/")
                    assert flat in known, (name, target)


def _flattened(parts: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for part in parts:
        if part == "..":
            kept.pop()
        else:
            kept.append(part)
    return kept


def test_what_is_edited_is_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.page.documents.FOLDER", tmp_path)
    (tmp_path / "README.md").write_text("# Before", encoding="utf-8")
    first = served("README.md")
    assert "Before</h1>" in first.body.decode()
    assert served("README.md") is first
    import os

    (tmp_path / "README.md").write_text("# Afterwards", encoding="utf-8")
    os.utime(tmp_path / "README.md", ns=(1, 1))
    assert "Afterwards</h1>" in served("README.md").body.decode()


def test_what_the_page_links_to_is_there() -> None:
    linked = [
        found
        for path in (ROOT / "proxy" / "page" / "static").rglob("*.js")
        for found in re.findall(r'"ui/docs/([^"#]+)(?:#([^"]*))?"', path.read_text(encoding="utf-8"))
    ]
    assert linked
    for name, anchor in linked:
        assert not anchor or f'id="{anchor}"' in served(name).body.decode()


def test_the_list_tells_the_parts_of_the_document_that_is_read() -> None:
    clients = served("clients.md").body.decode()
    assert '<li class="level-2"><a href="#sdks">' in clients
    assert '<li class="level-3"><a href="#langchain">' in clients
    assert "#langchain" not in served("http.md").body.decode()


def test_a_wheel_has_them() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    kept = set(re.findall(r'"page/documents/\*\*/\*(\.\w+)"', settings))
    assert {Path(name).suffix for name in names()} == kept


def test_they_are_served_with_the_page_s_own_headers(proxy: Open) -> None:
    with httpx.Client(base_url=proxy.url, timeout=120, trust_env=False, follow_redirects=True) as http:
        first = http.get("/ui/docs")
        assert first.url.path == "/ui/docs/index.md"
        assert http.get("/ui/docs/").url.path == "/ui/docs/index.md"
        assert "default-src 'none'" in first.headers["content-security-policy"]
        again = http.get("/ui/docs/index.md", headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304
        assert http.get("/ui/docs/nothing.md").status_code == 404
        assert http.get("/ui/docs/clients").url.path == "/ui/docs/clients.md"
        assert http.get("/ui/docs/grafana/METRICS").url.path == "/ui/docs/grafana/METRICS.md"
        assert http.get("/ui/docs/pictures/now.png").headers["content-type"] == "image/png"


@pytest.mark.long
@pytest.mark.parametrize("name", ["index.md", "how-it-works.md", "configuration.md", "measured.md", "deploy/README.md"])
def test_a_document_can_be_read_by_everybody(tab: Callable[..., Page], proxy: Open, axe: str, name: str) -> None:
    page = tab(proxy, locale="es").open(f"/docs/{name}")
    page.tab.wait_for_selector(".nav")
    page.tab.evaluate(axe)
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    found = "async (rules) => (await axe.run(document, {runOnly: rules})).violations.map((each) => each.id)"
    assert page.tab.evaluate(found, rules) == []
    page.tab.emulate_media(color_scheme="dark")
    page.tab.set_viewport_size({"width": 360, "height": 740})
    assert page.tab.evaluate(found, rules) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.long
def test_they_are_an_entry_of_the_page_s_navigation_and_lead_back_to_it(page: Page) -> None:
    page.open("#/now")
    page.tab.click("text=Docs")
    page.tab.wait_for_selector("h1:text('Documents')")
    page.tab.click(".docs-list >> text=How it works")
    page.tab.click("#language")
    page.tab.wait_for_selector("text=Documentación")
    page.tab.click(".nav >> text=Sesiones")
    page.tab.wait_for_selector("h1:text('Sesiones')")
