"""Conversations: the list, and one of them with its timeline and its branches."""

from urllib.parse import quote

import pytest

from tests.page.conftest import Open, Page
from tests.page.talk import SESSION, TURNS, Talked
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one


def test_the_list_can_be_searched_by_first_question_and_name(page: Page, proxy: Open) -> None:
    page.open("#/sessions", ready="tbody tr")
    names = {each["session"] for each in proxy.api("sessions")["sessions"]}
    assert len(names) > 1
    assert page.tab.locator("tbody tr").count() == len(names)
    search = page.tab.get_by_label("Search by first question or name")
    for words in (SESSION[:6].upper(), "SHELLFISH allergic"):
        search.fill(words)
        page.tab.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
        assert page.text("tbody th a").startswith("Remember that I am allergic to shellfish.")
        assert SESSION in page.text("tbody th")
    page.tab.reload()
    page.tab.wait_for_selector("tbody tr")
    assert page.tab.locator("tbody tr").count() == 1
    search.fill("no such name")
    page.tab.wait_for_selector("text=No session has “no such name”")


def test_every_request_of_a_session_is_on_its_timeline(page: Page, proxy: Open) -> None:
    page.open("#/sessions", ready="tbody tr")
    page.tab.get_by_role("link", name="Remember that I am allergic").click()
    page.tab.wait_for_selector(".view-session tbody tr")
    told = proxy.api(f"sessions/{SESSION}")["requests"]
    links = page.tab.eval_on_selector_all("tbody th a", "all => all.map(e => e.hash)")
    assert [each["request_id"] in link for each, link in zip(told, links, strict=True)] == [True] * len(TURNS) + [True]
    folds = sum(bool(each["trail"] and each["trail"]["break_even"]["leave"]) for each in told if each["trail"])
    assert folds > 0
    assert page.tab.locator(".icon-fold").count() == folds


def test_another_way_from_a_turn_on_is_a_branch_that_keys_can_close(page: Page, talked: Talked) -> None:
    page.open(f"#/session/{quote(SESSION, safe='')}", ready=".tree")
    turn = page.tab.get_by_text("Or shall we take the bus?")
    branch = page.tab.locator(".tree .forks summary")
    assert branch.count() == 1
    assert turn.is_visible()
    branch.focus()
    branch.press("Enter")
    assert turn.is_hidden()


def test_a_turn_leads_to_the_request_that_asked_it(page: Page, talked: Talked) -> None:
    page.open(f"#/session/{quote(SESSION, safe='')}", ready=".tree")
    page.tab.locator(".tree").get_by_role("link", name="Turn 1", exact=True).click()
    page.tab.wait_for_selector(".view-request h1")
    assert talked.first in page.text(".view-request")


def test_a_chart_tells_what_was_sent_of_each_prompt_and_where_turns_were_folded(page: Page, proxy: Open) -> None:
    page.open(f"#/session/{quote(SESSION, safe='')}", ready=".chart canvas")
    told = proxy.api(f"sessions/{SESSION}")["requests"]
    folding = [each for each in told if each["trail"] and each["trail"]["break_even"]["leave"]]
    stage = page.tab.locator(".chart-stage")
    said = stage.get_attribute("aria-label") or ""
    assert f"Over {len(told)} requests" in said
    assert f"from {told[0]['tokens_original']:,} to {told[-1]['tokens_original']:,} tokens" in said
    assert f"folded {len(folding)} time" in said or "folded once" in said
    assert f"Turn {folding[0]['trail']['turns']}" in said
    stage.focus()
    stage.press("Home")
    for _ in range(told.index(folding[0])):
        stage.press("ArrowRight")
    assert "folded" in (page.tab.locator(".chart [aria-live]").text_content() or "")
    page.tab.get_by_text("As a table").click()
    page.tab.wait_for_selector(".chart-rows tbody tr")
    rows = page.tab.locator(".chart-rows tbody tr").all_inner_texts()
    assert len(rows) == len(told)
    assert sum("folded" in each for each in rows) == len(folding)
    assert f"{told[0]['tokens_sent']:,}" in rows[0]


def test_tries_of_an_sdk_are_one_line_of_the_timeline(page: Page, proxy: Open) -> None:
    body = {"model": "demo-chat", "messages": [{"role": "user", "content": "Will it fail at first?"}]}
    headers = {"x-olvido-session": "failed-at-first", "x-demo-fault": "503x2"}
    for _ in range(3):
        answer = proxy.http.post("/v1/chat/completions", json=body, headers=headers)
    last = answer.headers["x-olvido-request"]
    eventually(lambda: proxy.http.get(f"/admin/api/requests/{last}").status_code == 200)
    page.open("#/session/failed-at-first", ready="tbody tr")
    (line,) = page.tab.locator("tbody tr").all()
    assert "3 attempts" in line.inner_text()
    assert last in str(line.locator("th a").get_attribute("href"))


def test_of_a_long_session_the_newest_requests_are_shown_first_and_turns_in_between_are_put_away(
    page: Page, proxy: Open
) -> None:
    told = proxy.api(f"sessions/{SESSION}")
    first = told["requests"][0]
    told["requests"] = [{**first, "request_id": f"req_{n}", "at": first["at"] + n} for n in range(100)]
    links = [f"{n:032x}" for n in range(101)]
    told["turns"] = [
        {**told["turns"][0], "link": links[n + 1], "parent": links[n] if n else "", "turn": n + 1} for n in range(100)
    ]
    page.tab.route("**/admin/api/sessions/**", lambda route: route.fulfill(json=told))
    page.open(f"#/session/{quote(SESSION, safe='')}", ready="tbody tr")
    rows = page.tab.locator(".table tbody tr")
    assert rows.count() == 60
    assert "req_99" in str(rows.last.locator("th a").get_attribute("href"))
    page.tab.get_by_role("button", name="Show 40 earlier requests").click()
    assert rows.count() == 100
    turns = page.tab.locator(".tree li")
    assert turns.count() == 4
    page.tab.get_by_text("Turns 3 to 98").click()
    page.tab.wait_for_selector(".tree .run li")
    assert turns.count() == 100
