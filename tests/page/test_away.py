"""A proxy that goes away and comes back: the page says so, keeps what was written, and goes on by itself."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.page.conftest import Open, Page
from tests.page.talk import Talked
from tests.proxied import in_front_of, run_upstream
from tests.servers import run_proxy

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


@contextmanager
def away(page: Page) -> Iterator[None]:
    """The proxy answers nothing, until this is left."""
    page.tab.route("**/admin/api/**", lambda route: route.abort())
    yield
    page.tab.unroute("**/admin/api/**")
    page.tab.clock.run_for(3_000)


def started(page: Page, address: str, ready: str = "h1") -> Page:
    page.tab.clock.install()
    return page.open(address, ready=ready)


def test_it_says_what_to_do_and_that_it_is_back(page: Page, proxy: Open) -> None:
    started(page, "#/facts", ".facts-tools")
    with away(page):
        page.tab.get_by_role("link", name="Sessions").click()
        notice = page.tab.wait_for_selector("#notice:not([hidden])")
        assert proxy.url.removeprefix("http://") in notice.inner_text()
        assert "olvido serve" in notice.inner_text()
    page.tab.get_by_text("The proxy answers again.").wait_for()
    page.tab.clock.run_for(6_000)
    page.tab.wait_for_selector("#notice", state="hidden")


@pytest.mark.parametrize("view", ["sessions", "facts", "what-if", "reuse", "jobs"])
def test_a_view_that_could_not_be_shown_is_shown_once_it_is_back(page: Page, talked: Talked, view: str) -> None:
    started(page, "#/now")
    with away(page):
        page.tab.evaluate(f"location.hash = '#/{view}'")
        page.tab.wait_for_selector(".failure")
        assert "by itself" in page.text(".failure")
    page.tab.wait_for_selector(f".view-{view} h1")
    page.tab.wait_for_selector(".failure", state="detached")


def test_what_somebody_was_writing_is_not_lost(page: Page, proxy: Open) -> None:
    message = {"role": "user", "content": "I live in Rawson."}
    proxy.http.post("/v1/chat/completions", json={"model": "demo-chat", "messages": [message], "user": "zoe"})
    started(page, "#/facts", ".facts-tools")
    page.tab.get_by_label("Search").fill("a word")
    page.tab.get_by_role("button", name="Add a fact").click()
    dialog = page.tab.get_by_role("dialog")
    with away(page):
        dialog.get_by_label("The fact, in one sentence").fill("The gate is painted green")
        dialog.get_by_role("button", name="Add a fact").click()
        dialog.locator(".failure").wait_for()
        assert "still here" in dialog.inner_text()
    page.tab.get_by_text("The proxy answers again.").wait_for()
    assert dialog.get_by_label("The fact, in one sentence").input_value() == "The gate is painted green"
    dialog.get_by_role("button", name="Add a fact").click()
    dialog.wait_for(state="detached")
    assert any(each["value"] == "The gate is painted green" for each in proxy.api("facts", limit=1000)["facts"])
    assert page.tab.get_by_label("Search").input_value() == "a word"


def test_a_gateways_page_is_no_answer_of_the_proxys(page: Page, talked: Talked) -> None:
    started(page, "#/now")
    gateway = "<html>502 Bad Gateway</html>"
    page.tab.route("**/admin/api/**", lambda route: route.fulfill(status=502, body=gateway, content_type="text/html"))
    page.tab.evaluate("location.hash = '#/sessions'")
    page.tab.wait_for_selector("#notice:not([hidden])")
    page.tab.unroute("**/admin/api/**")
    page.tab.clock.run_for(3_000)
    page.tab.wait_for_selector(".view-sessions tbody tr")
    page.forgive("502")


def test_a_proxy_that_was_really_stopped_and_started_again_is_found(tab: Tab) -> None:
    """Its own port again, and a view whose module was never loaded."""
    with ExitStack() as stack:
        upstream = stack.enter_context(run_upstream())
        with run_proxy(in_front_of(upstream)) as url:
            page = tab(Open(url, None, upstream)).open("#/now")  # type: ignore[arg-type]  # nobody asks through it
        page.tab.evaluate("location.hash = '#/jobs'")
        page.tab.wait_for_selector("#notice:not([hidden])")
        port = int(url.rsplit(":", 1)[1])
        with run_proxy(in_front_of(upstream, server={"port": port, "drain": 1})):
            page.tab.wait_for_selector(".view-jobs h1", timeout=30_000)
        page.complaints.clear()  # of all that could not be had meanwhile
