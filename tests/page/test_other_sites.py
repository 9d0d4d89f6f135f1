"""Pages of other sites in a real browser: what one that is allowed can do with the API, and what all others cannot."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from proxy.http.exchange import AsgiMessage, Receive, Send
from tests.page.browser import Browser
from tests.page.conftest import Open
from tests.proxied import in_front_of, run_upstream
from tests.servers import run_app, run_proxy

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

# As the SDKs of browsers ask: JSON and a key, so the browser asks first.
ASK = """async ([url, stream]) => {
  const body = JSON.stringify({model: "demo-chat", stream, messages: [{role: "user", content: "say: hello"}]});
  const headers = {"content-type": "application/json", authorization: "Bearer sk-mine", "x-stainless-lang": "js"};
  try {
    const answer = await fetch(url, {method: "POST", headers, body});
    return {status: answer.status, source: answer.headers.get("x-olvido-source"), text: await answer.text()};
  } catch (error) {
    return {failed: String(error)};
  }
}"""
# What any page can send without being asked about it: no answer is to be read, but one would be paid for.
SEND = """async (url) => {
  const body = JSON.stringify({model: "demo-chat", messages: [{role: "user", content: "say: hello"}]});
  await fetch(url, {method: "POST", mode: "no-cors", headers: {"content-type": "text/plain"}, body}).catch(() => {});
  await fetch(url.replace("chat/completions", "models"), {mode: "no-cors"}).catch(() => {});
  await fetch(url.replace("chat/completions", "files/f"), {method: "DELETE"}).catch(() => {});
}"""


async def site(scope: AsgiMessage, receive: Receive, send: Send) -> None:
    """A page with nothing on it."""
    if scope["type"] == "lifespan":
        for phase in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{phase}"
            await send({"type": f"lifespan.{phase}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"<!doctype html><title>a page</title>"})


@dataclass(frozen=True, slots=True)
class Sites:
    proxy: Open
    friend: str
    other: str


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with ExitStack() as stack:
        upstream = stack.enter_context(run_upstream())
        friend, other = (stack.enter_context(run_app(site)) for _ in range(2))
        server = {"port": 0, "drain": 1, "allowed_origins": [friend]}
        settings = in_front_of(upstream, upstream={"api_key": "sk-of-the-user"}, server=server)
        url = stack.enter_context(run_proxy(settings))
        yield Sites(Open(url, upstream.http, upstream), friend, other)


def evaluated(browser: Browser, page: str, script: str, given: Any) -> Any:
    with browser.new_context() as visitor:
        tab = visitor.new_page()
        tab.goto(page)
        return tab.evaluate(script, given)


@pytest.mark.parametrize("stream", [False, True])
def test_a_page_that_is_allowed_asks_and_reads(stream: bool, browser: Browser, sites: Sites) -> None:
    told = evaluated(browser, sites.friend, ASK, [f"{sites.proxy.url}/v1/chat/completions", stream])
    assert (told["status"], told["source"]) == (200, "upstream")
    assert told["text"].rstrip().endswith("data: [DONE]" if stream else "}")


def test_any_other_reaches_no_upstream(browser: Browser, sites: Sites) -> None:
    url = f"{sites.proxy.url}/v1/chat/completions"
    sites.proxy.upstream.bodies()
    assert "failed" in evaluated(browser, sites.other, ASK, [url, False])
    evaluated(browser, sites.other, SEND, url)
    assert sites.proxy.upstream.bodies() == []
