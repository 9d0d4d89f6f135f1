"""The reuse log: both questions side by side, why, and that one was wrong. Every text lies near every other here, so
that the words alone decide."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.embedding.engines import DIMENSIONS, vector
from tests.page.conftest import Open, Page, opened
from tests.page.test_looks import FOUND, RULES
from tests.servers import eventually, run_app

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

ASKED = "How do I descale a coffee machine with vinegar?"
AGAIN = "Hi! Could you tell me how to descale a coffee machine with vinegar, please?"
WITHOUT = "How do I descale a coffee machine without vinegar?"


async def near(request: Request) -> JSONResponse:
    texts = (await request.json())["input"]
    vectors = [(np.ones(DIMENSIONS) / DIMENSIONS**0.5 + vector(text) / 4).tolist() for text in texts]
    return JSONResponse({"data": [{"index": at, "embedding": found} for at, found in enumerate(vectors)]})


@pytest.fixture(scope="module")
def proxy() -> Iterator[Open]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(run_app(Starlette(routes=[Route("/v1/embeddings", near, methods=["POST"])])))
        embedding = {"enabled": True, "base_url": f"{endpoint}/v1", "model": "near"}
        proxy = opened(stack, reuse={"intent": {"enabled": True}}, embedding=embedding)
        eventually(lambda: proxy.http.get("/readyz").json()["parts"]["reuse by intent"] == "ready", 60)
        yield proxy


def ask(proxy: Open, user: str, text: str) -> str:
    """Where the answer came from; returns when it has been kept."""
    body = {"model": "demo-chat", "messages": [{"role": "user", "content": text}], "user": user}
    kept = remembered(proxy)
    answer = proxy.http.post("/v1/chat/completions", json=body).raise_for_status()
    source = answer.headers["x-olvido-source"]
    eventually(lambda: source != "upstream" or remembered(proxy) > kept)
    return source


def remembered(proxy: Open) -> float:
    samples = (line for line in proxy.http.get("/metrics").text.splitlines() if "stage_seconds_count" in line)
    return sum(float(line.rpartition(" ")[2]) for line in samples if 'stage="remember"' in line)


def scope(proxy: Open, user: str) -> str:
    def found() -> list[str]:
        return [each["scope"] for each in proxy.api("scopes")["scopes"] if each["scope"].endswith(f"/{user}")]

    eventually(found)
    return found()[0]


def look(page: Page, proxy: Open, user: str) -> Any:
    """The lines of this user's log."""
    page.open(f"#/reuse?scope={scope(proxy, user)}", ready=".lines li")
    return page.tab.locator(".lines > li")


@pytest.fixture
def page(tab: Any, proxy: Open) -> Page:
    opened: Page = tab(proxy)
    return opened


def test_both_questions_stand_side_by_side_and_what_differs_is_marked(page: Page, proxy: Open) -> None:
    assert [ask(proxy, "ana", text) for text in (ASKED, AGAIN, WITHOUT)] == ["upstream", "intent", "upstream"]
    miss, hit = look(page, proxy, "ana").all()
    assert "a condition or a quantity differs" in miss.inner_text()
    assert miss.locator("dd").all_inner_texts() == [WITHOUT, ASKED]
    assert miss.locator("mark").all_inner_texts() == ["without", "with"]
    assert hit.locator("dd").all_inner_texts() == [AGAIN, ASKED]
    hit.get_by_role("link", name="Request").click()
    page.tab.wait_for_selector(".view-request h1")


def test_an_answer_that_was_wrong_is_not_given_again(page: Page, proxy: Open) -> None:
    assert [ask(proxy, "berta", text) for text in (ASKED, AGAIN)] == ["upstream", "intent"]
    (line,) = look(page, proxy, "berta").all()
    line.get_by_role("button", name="That was wrong").click()
    line.get_by_role("button", name="Press again").click()
    ended = page.tab.get_by_text("Reported as wrong: this answer is not given any more")
    ended.wait_for()
    assert ended.evaluate("(each) => each === document.activeElement")
    assert ask(proxy, "berta", f"{ASKED} Thanks!") == "upstream"
    page.tab.reload()
    ended.wait_for()


def test_one_press_alone_reports_nothing(page: Page, proxy: Open) -> None:
    assert [ask(proxy, "carla", text) for text in (ASKED, AGAIN)] == ["upstream", "intent"]
    (line,) = look(page, proxy, "carla").all()
    line.get_by_role("button", name="That was wrong").click()
    page.tab.keyboard.press("Escape")
    assert line.get_by_role("button").inner_text() == "That was wrong"
    assert ask(proxy, "carla", f"{ASKED} Thanks!") == "intent"


def test_hits_and_misses_can_be_told_apart(page: Page, proxy: Open) -> None:
    assert [ask(proxy, "dora", text) for text in (ASKED, AGAIN, WITHOUT)] == ["upstream", "intent", "upstream"]
    lines = look(page, proxy, "dora")
    page.tab.get_by_role("button", name="Reused 1", exact=True).click()
    assert lines.locator(".badge").all_inner_texts() == ["Reused"]
    page.tab.get_by_role("button", name="Not reused 1").click()
    assert lines.locator(".badge").all_inner_texts() == ["Not reused"]


def test_what_somebody_asked_is_text_and_fits_everywhere(page: Page, proxy: Open, axe: str) -> None:
    question = "How do I descale a coffee machine with <b>white</b> vinegar?"
    assert [ask(proxy, "eva", text) for text in (question, f"Hi! {question}")] == ["upstream", "intent"]
    page.tab.set_viewport_size({"width": 360, "height": 740})
    (line,) = look(page, proxy, "eva").all()
    assert line.locator("b").count() == 0
    assert "<b>white</b>" in line.inner_text()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
