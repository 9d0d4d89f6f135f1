"""One request: what the client sent, what the model got, what was left out and why."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from proxy.conversation.blocks import ours
from tests.page.conftest import TOKEN, Open, Page
from tests.page.talk import MARKUP, SESSION, Talked
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

NO_PRICE = "\u2013"
Tab = Callable[..., Page]

FOLDED = ("folded", "left out", "recalled")


def opened_runs(page: Page) -> None:
    """Opens what is put away."""
    page.tab.evaluate("for (const each of document.querySelectorAll('.run-of')) each.open = true")
    page.tab.locator(".run-of:not(:has(li))").first.wait_for(state="detached")


def test_every_message_has_its_fate_and_its_reason(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    told = proxy.api(f"requests/{talked.last}")
    opened_runs(page)
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
    sent = " ".join(each["text"] or "" for each in told["sent"])
    stayed = page.tab.locator(".ours-stayed .text").all_text_contents()
    assert stayed == [each for each in ours(sent) if each not in (told["head"], *ours(told["volatile"]))]
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


def test_what_did_not_go_is_put_away_as_one_line_until_somebody_asks(page: Page, proxy: Open, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}", ready=".messages")
    told = proxy.api(f"requests/{talked.last}")["messages"]
    run = page.tab.locator(".run-of").first
    first, last = map(int, re.findall(r"#(\d+)", run.inner_text()))
    fate = told[first]["fate"]
    assert fate in FOLDED
    assert f"{last - first + 1} {fate}" in run.inner_text()
    assert {each["fate"] for each in told[first : last + 1]} == {fate}
    assert run.locator(".message").count() == 0
    run.locator("summary").click()
    run.locator(".message").nth(last - first).wait_for()
    assert run.locator(".message").count() == last - first + 1


def test_on_a_phone_before_after_and_why_are_behind_tabs(tab: Tab, proxy: Open, talked: Talked) -> None:
    page = tab(proxy, viewport={"width": 360, "height": 740}).open(f"#/request/{talked.last}", ready=".tabs")
    seen = {"Before": ".before", "After": ".after", "Why": ".story"}

    def shown() -> list[str]:
        return [name for name, part in seen.items() if page.tab.locator(part).first.is_visible()]

    assert shown() == ["Before"]
    page.tab.get_by_role("tab", name="After").click()
    assert shown() == ["After"]
    page.tab.keyboard.press("ArrowRight")
    assert shown() == ["Why"]
    assert page.tab.evaluate("document.activeElement.textContent") == "Why"
    page.tab.set_viewport_size({"width": 1440, "height": 900})
    page.tab.wait_for_selector(".tabs", state="hidden")
    assert shown() == ["Before", "After", "Why"]


def test_what_the_model_got_stays_in_sight_beside_a_long_list(tab: Tab, proxy: Open, talked: Talked) -> None:
    page = tab(proxy, viewport={"width": 1440, "height": 600}).open(f"#/request/{talked.last}", ready=".messages")
    opened_runs(page)
    messages = page.tab.locator(".before .message")
    messages.nth(messages.count() // 2).scroll_into_view_if_needed()
    assert page.tab.evaluate("scrollY") > 600
    box = page.tab.locator(".after").bounding_box()
    assert box is not None
    assert 0 < box["y"] < 600


def test_calls_of_tools_are_told_with_their_arguments(page: Page, proxy: Open) -> None:
    call = {"name": "get_weather", "arguments": '{"city":"Lisboa","days":3,"id":12345678901234567890}'}
    said = [
        {"role": "user", "content": "How will it be?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c-1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c-1", "content": '{"sky":["clear","windy"],"degrees":24}'},
    ]
    answer = proxy.http.post("/v1/chat/completions", json={"model": "demo-chat", "messages": said}).raise_for_status()
    request = answer.headers["x-olvido-request"]
    eventually(lambda: proxy.http.get(f"/admin/api/requests/{request}").status_code == 200)
    page.open(f"#/request/{request}", ready=".messages")
    for part in (".before", ".after"):
        shown = page.text(f"{part} .call")
        assert re.sub(r"\s+", " ", shown) == "get_weather city Lisboa days 3 id 12345678901234567890"
        assert page.text(f"{part} .code") == '{\n  "sky": ["clear", "windy"],\n  "degrees": 24\n}'
        assert "get_weather" in page.tab.locator(f"{part} .message").nth(2).locator(".message-head").inner_text()


def test_tries_of_an_sdk_lead_to_each_other(page: Page, proxy: Open) -> None:
    said = [{"role": "user", "content": "Is it going to fail?"}]
    ids = []
    for count in range(2):
        headers = {"x-stainless-retry-count": str(count), "x-olvido-session": "tried", "x-demo-fault": "503x1"}
        body = {"model": "demo-chat", "messages": said}
        ids.append(proxy.http.post("/v1/chat/completions", json=body, headers=headers).headers["x-olvido-request"])
    eventually(lambda: all(proxy.http.get(f"/admin/api/requests/{each}").status_code == 200 for each in ids))
    page.open(f"#/request/{ids[1]}", ready=".tries")
    assert "Tried 2 times" in page.text(".tries")
    assert "503" in page.text(".tries li")
    page.tab.get_by_role("link", name="Attempt 1").click()
    page.tab.wait_for_selector(f"code:text('{ids[0]}')")
    assert "Nothing was billed, since the upstream failed" in page.text(".verdict")


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


def test_where_no_price_is_known_no_dollars_are_told(page: Page, proxy: Open, talked: Talked) -> None:
    told = proxy.api(f"requests/{talked.last}")
    assert told["request"]["tokens_billed"]
    told["request"] |= {"cost": 0.0, "cost_saved": 0.0}
    page.tab.route("**/admin/api/requests/**", lambda route: route.fulfill(json=told))
    page.open(f"#/request/{talked.last}", ready=".request-stats")
    figures = page.tab.locator(".request-stats")
    for name in ("Cost", "Saved"):
        assert figures.locator(f".stat:has(dt:text-is('{name}')) dd").first.inner_text().partition("\n")[0] == NO_PRICE


def test_it_leads_to_its_session(page: Page, talked: Talked) -> None:
    page.open(f"#/request/{talked.last}")
    page.tab.locator(f"a[title='{SESSION}']").click()
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
