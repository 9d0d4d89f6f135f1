"""Hidden rounds in a request's view, and what the tools cost that its model was offered."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import get_args

import httpx
import pytest

from proxy.desk.tools import Reason
from proxy.types.desk import Called
from tests.builders import user
from tests.looping import Step, run_rounds, settings
from tests.page.conftest import Page, Place
from tests.page.desks import MARKUP, Desks, full, served
from tests.proxied import KEY
from tests.servers import eventually, run_proxy
from tests.spoken import Called as Spoke
from tests.spoken import Spoken, numbered

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]
REFUSED = ("unknown-id", "pinned", "no-shorter", "too-large", "no-file", "no-fact", "ended", "unreached", "last-round")


@pytest.fixture(scope="module")
def desks() -> Iterator[Desks]:
    with ExitStack() as stack:
        yield served(stack)


def test_hidden_rounds_are_told_in_the_view_of_their_request(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(f"#/request/{kept.request}", ready=".rounds .round")
    said = page.text(".rounds")
    assert "Round 1" in said
    assert "look()" in said
    assert MARKUP in said
    assert page.tab.locator("main img").count() == 0
    page.tab.get_by_role("link", name="The session's desk").click()
    page.tab.wait_for_selector(".view-desk .desk-sections")


def test_what_a_model_has_really_done_with_its_tools_is_there_to_be_seen(tab: Tab) -> None:
    edit = Spoke("edit_section", '{"section_name":"agent_notes","new_content":"The bug is in the parser."}')
    with run_rounds() as upstream, ExitStack() as stack:
        upstream.will(*map(Step, numbered([Spoken("", (edit,)), Spoken("Found it."), Spoken("Fixed.")])))
        url = stack.enter_context(run_proxy(settings(upstream.url, tools={"enabled": True, "offer": "first"})))
        headers = {"authorization": f"Bearer {KEY}", "x-olvido-session": "hunt"}
        http = stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False, headers=headers))
        asked, history = [], [user("Where is the bug?")]
        for content in ("Found it.", "Fixed."):
            answer = http.post("/v1/chat/completions", json={"model": "m", "messages": history}).raise_for_status()
            message = answer.json()["choices"][0]["message"]
            assert (message["content"], message.get("tool_calls")) == (content, None)
            history = [*history, message, user("Mend it.")]
            asked.append(answer.headers["x-olvido-request"])
        eventually(lambda: all(http.get(f"/admin/api/requests/{each}").status_code == 200 for each in asked))
        page = tab(Place(url)).open(f"#/request/{asked[0]}", ready=".rounds .round")
        said = page.text(".rounds")
        assert re.search(r"edit_section\s+done\s+section_name\s+agent_notes\s+new_content\s+The bug", said)
        assert "done" in said
        assert "of this request's bill" in said
        page.tab.get_by_role("link", name="The session's desk").click()
        page.tab.wait_for_selector(".desk-tape .message")
        assert "The bug is in the parser." in page.text(".desk-sections")
        assert "The bug is in the parser." in page.text(".desk-edits ins")
        assert page.tab.locator(".pressure-bars rect").count() == 2
        hidden = page.tab.locator(".desk-tape .message").filter(has_text="never saw it")
        assert hidden.locator(".role").all_inner_texts() == ["assistant", "tool"]
        assert "of the bill" in page.text(".stats")
        page.tab.get_by_role("button", name="Reset the desk").click()
        page.tab.locator("dialog").get_by_role("button", name="Reset the desk").click()
        page.tab.get_by_text("There is nothing to undo.").wait_for()
        assert "The bug is in the parser." not in page.text(".desk-sections")


def test_in_the_view_of_a_request_is_what_the_definitions_of_the_tools_cost(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(f"#/request/{kept.request}_1", ready=".rounds")
    said = page.text(".rounds")
    assert "40 tokens a round" in said
    assert "25% of this request's bill" in said  # 0.05 of 0.20
    assert "medium" in said
    assert "None: the model called no tool" in said


def test_a_request_without_a_desk_has_no_hidden_rounds(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open(f"#/request/{desks.made().request}", ready=".story")
    assert page.tab.locator(".rounds").count() == 0


def test_why_a_call_came_to_nothing_is_told_in_words(desks: Desks, tab: Tab) -> None:
    reasons = sorted({*get_args(Reason), *REFUSED})
    kept = desks.made(*(Called("look", "{}", each, 1) for each in reasons))
    page = tab(desks.open, locale="es").open(f"#/request/{kept.request}", ready=".rounds .round")
    words = page.tab.locator(".rounds .badge").all_inner_texts()
    assert len(words) == len(set(words)) == len(reasons)
    assert not {*words} & {each.replace("-", " ") for each in reasons}
