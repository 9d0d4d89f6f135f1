"""One request: what the client sent, what the model got, what was left out and why."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from proxy.conversation.progress import ours
from tests.page.conftest import TOKEN, Open, Page
from tests.page.talk import MARKUP, SESSION, Talked
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]

FOLDED = ("folded", "left out", "recalled")


def test_every_message_has_its_fate_and_its_reason(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    told = proxy.api(f"requests/{talked.last}")
    fates = page.tab.locator(".message .fate").all_inner_texts()
    assert fates == [each["fate"] for each in told["messages"]]
    assert set(fates) & set(FOLDED)
    assert all(page.tab.locator(".message .why").all_inner_texts()[: len(fates)])


def test_messages_can_be_looked_at_by_their_fate(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    counts = Counter(each["fate"] for each in proxy.api(f"requests/{talked.last}")["messages"])
    fate, n = next((fate, n) for fate, n in counts.items() if fate in FOLDED)
    page.tab.get_by_role("button", name=f"{fate} {n}").click()
    assert page.tab.locator(".message .fate").all_inner_texts() == [fate] * n


def test_what_memory_added_is_set_apart_in_what_the_model_got(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    told = proxy.api(f"requests/{talked.last}")
    assert told["head"]
    assert page.tab.locator(".ours-head .text").text_content() == told["head"]
    shown = page.tab.locator(".ours-volatile .text").all_text_contents()
    assert shown == list(ours(told["volatile"]))  # facts and excerpts: a block each


@pytest.mark.parametrize(
    ("which", "title"), [("folding", r"Why \d+ old turns? left"), ("branched", "Why old turns stayed")]
)
def test_the_decision_to_fold_is_told_with_its_numbers(
    page: Page, proxy: Open, talked: Talked, which: str, title: str
) -> None:
    request_id = getattr(talked, which)
    page.open(f"#/request/{request_id}", ready=".break-even")
    decided = proxy.api(f"requests/{request_id}")["request"]["trail"]["break_even"]
    said = page.text(".break-even")
    assert re.search(title, said)
    assert f"{decided['standing']:,}" in said
    assert f"{decided['folded']:,}" in said
    assert f"{round(decided['spent']):,}" in said


def test_markup_in_a_message_stays_text(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    assert any(MARKUP in (each["text"] or "") for each in proxy.api(f"requests/{talked.last}")["messages"])
    assert MARKUP in (page.tab.text_content("main") or "")
    assert page.tab.locator("main img, main script").count() == 0
    assert page.tab.title() == "Request · Olvido"


def test_of_a_reused_answer_it_says_so_and_that_nothing_was_sent(page: Page, talked: Talked) -> None:
    page.open(f"#/request/{talked.reused}", ready=".story")
    said = page.text("main")
    assert "an identical request had been answered before" in said
    assert "Nothing: the answer came from memory." in said


def test_it_leads_to_its_session(page: Page, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}")
    page.tab.get_by_role("link", name=SESSION).click()
    page.tab.wait_for_selector(".view-session h1")


def test_without_contents_it_says_all_the_same_how_the_prompt_came_to_be(tab: Tab, locked: Open) -> None:
    admin = {"authorization": f"Bearer {TOKEN}"}
    body = {"model": "demo-chat", "messages": [{"role": "user", "content": "Remember that I live in Rosario."}]}
    answer = locked.http.post("/v1/chat/completions", json=body).raise_for_status()
    request_id = answer.headers["x-olvido-request"]
    eventually(lambda: locked.http.get(f"/admin/api/requests/{request_id}", headers=admin).status_code == 200)
    page = tab(locked)
    page.tab.set_extra_http_headers(admin)
    page.open(f"#/request/{request_id}", ready=".story")
    said = page.text("main")
    assert "admin.show_content is off" in said
    assert "Rosario" not in said
    assert "Sent as it came" in said


def test_of_one_that_is_not_known_it_says_so(page: Page) -> None:
    page.open("#/request/req_nobody", ready=".failure")
    assert "req_nobody" in page.text(".failure")
    assert page.tab.is_visible(".failure button")
    page.forgive("404")
