"""The page in a real browser, in front of a real proxy that has been talked to.

One proxy serves all of these tests. A browser serves those of one module and ends with it: as long as it runs,
Playwright's synchronous API keeps the thread from running another event loop.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.page.browser import Browser, chromium, playing
from tests.page.talk import Talked, talk
from tests.proxied import KEY, Upstream, in_front_of, run_upstream
from tests.servers import run_proxy

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

TOKEN = "an-admin-token-0123456789"
PRICE = {"input": 1.0, "cached": 0.25, "output": 4.0}
# Folds as soon as there are three turns, so that a short conversation shows all there is to see.
NARROW = {
    "fold": "strict",
    "window": {"turns": 2, "min_turns": 2, "max_turns": 2, "tokens": 400},
    "summaries": {"segment_turns": 1},
}


@dataclass(frozen=True, slots=True)
class Place:
    """An address to look at."""

    url: str


@dataclass(frozen=True, slots=True)
class Open(Place):
    """A proxy to look into."""

    http: httpx.Client  # of who asks it, with a key
    upstream: Upstream

    def api(self, path: str, **query: Any) -> Any:
        answer = self.http.get(f"/admin/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass
class Page:
    """A tab, and all that must not happen in it."""

    tab: Any  # playwright's Page
    origin: str
    complaints: list[str] = field(default_factory=list)

    def open(self, address: str, *, ready: str = "h1") -> "Page":
        self.tab.goto(f"{self.origin}/ui{address}")
        self.tab.wait_for_selector(f"main {ready}")
        return self

    def forgive(self, pattern: str) -> None:
        """What was meant to go wrong."""
        self.complaints = [each for each in self.complaints if not re.search(pattern, each)]

    def text(self, selector: str) -> str:
        return str(self.tab.inner_text(selector))


def opened(stack: ExitStack, **sections: Any) -> Open:
    upstream = stack.enter_context(run_upstream())
    settings = in_front_of(upstream, **{**sections, "upstream": {"price": PRICE, **sections.get("upstream", {})}})
    url = stack.enter_context(run_proxy(settings))
    headers = {"authorization": f"Bearer {KEY}"}
    client = stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False, headers=headers))
    return Open(url, client, upstream)


@pytest.fixture(scope="session")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("page")
        yield opened(stack, storage={"path": str(folder)}, profiles={"lean": NARROW})


@pytest.fixture(scope="session")
def talked(proxy: Open) -> Talked:
    """Conversations that it has had."""
    return talk(proxy.http)


@pytest.fixture(scope="session")
def locked() -> Iterator[Open]:
    """A proxy that wants a token, and keeps nothing of what is said."""
    with ExitStack() as stack:
        yield opened(stack, admin={"token": TOKEN, "show_content": False})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no chromium: install it, or name it in CHROMIUM")
    with playing() as running:
        yield running


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens tabs, each a visitor's own: `tab(proxy)`, with what Playwright's new_context takes. At the end nothing may
    have complained, and nothing been asked of anybody else."""
    opened_tabs: list[Page] = []
    with ExitStack() as stack:

        def start(at: Place, **how: Any) -> Page:
            visitor = browser.new_context(**{"locale": "en", "reduced_motion": "reduce", **how})
            stack.callback(visitor.close)
            page = Page(visitor.new_page(), at.url)
            page.tab.set_default_timeout(20_000)
            watch(page)
            opened_tabs.append(page)
            return page

        yield start
        assert [each.complaints for each in opened_tabs] == [[] for _ in opened_tabs]


def watch(page: Page) -> None:
    def said(message: Any) -> None:
        # That something could not be loaded is told below, with what it was.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            page.complaints.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith((f"{page.origin}/", "data:")):
            page.complaints.append(f"leaves the origin: {request.url}")

    def answered(response: Any) -> None:
        if response.status >= 400:
            page.complaints.append(f"{response.status} {response.request.method} {response.url}")

    page.tab.on("console", said)
    page.tab.on("response", answered)
    page.tab.on("pageerror", lambda error: page.complaints.append(f"uncaught: {error}"))
    page.tab.on("request", asked)


@pytest.fixture
def page(tab: Callable[..., Page], proxy: Open, talked: Talked) -> Page:
    """A tab in front of the proxy that has been talked to, in English."""
    return tab(proxy)


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that finds what a part of the people cannot use."""
    script = Path(__file__).parent.parent / "e2e" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed: run `npm ci` in tests/e2e")
    return script.read_text(encoding="utf-8")
