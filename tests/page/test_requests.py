"""All requests: filtered, searched, exported; rows that are links, and keys that move through them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proxy.replay.files import log_of
from tests.page.conftest import TOKEN, Open, Page
from tests.page.talk import TURNS, Talked
from tests.servers import eventually

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]
ROW = ".view-requests tbody tr"


@pytest.fixture
def rows(page: Page, talked: Talked) -> Callable[[], list[str]]:
    """The questions that are listed, once nothing is being asked any more."""

    def read() -> list[str]:
        page.tab.wait_for_selector(".view-requests .table-wrap:not([aria-busy])")
        found: list[str] = page.tab.eval_on_selector_all(f"{ROW} .row-link", "all => all.map(each => each.innerText)")
        return found

    return read


def test_a_row_says_what_was_asked_and_leads_to_its_request(page: Page, rows: Any, talked: Talked) -> None:
    page.open("#/requests?text=shellfish", ready="tbody tr")
    (link,) = [each for each in page.tab.query_selector_all(f"{ROW} .row-link") if "shellfish" in each.inner_text()]
    assert (
        link.get_attribute("href")
        == "#/request/" + talked.first + "?" + (link.get_attribute("href") or "").split("?")[1]
    )
    # The whole row is the link: a click between its words goes there, one with the middle button to a tab of its own.
    with page.tab.context.expect_page() as other:
        page.tab.locator(f"{ROW}:has(.row-link) .cell-saved").first.click(button="middle", force=True)
    assert "#/request/" in other.value.url
    other.value.close()
    page.tab.locator(f"{ROW} .cell-saved").first.click(force=True)
    page.tab.wait_for_selector(".view-request h1")


def test_filters_stand_in_the_address_and_stay(page: Page, rows: Any, proxy: Open) -> None:
    page.open("#/requests", ready="tbody tr")
    assert len(rows()) > len(TURNS)
    page.tab.get_by_label("Outcome").select_option("exact")
    page.tab.wait_for_function("() => document.querySelectorAll('.view-requests tbody tr').length === 1")
    assert rows() == ["What is the capital of Australia?"]
    assert page.tab.url.endswith("#/requests?what=exact")
    page.tab.reload()
    page.tab.wait_for_selector(ROW)
    assert rows() == ["What is the capital of Australia?"]
    page.tab.locator(f"{ROW} .row-link").click()
    page.tab.wait_for_selector(".view-request h1")
    page.tab.go_back()
    page.tab.wait_for_selector(ROW)
    assert rows() == ["What is the capital of Australia?"]
    page.tab.get_by_role("button", name="Clear filters").click()
    page.tab.wait_for_function("() => document.querySelectorAll('.view-requests tbody tr').length > 1")
    dearer = proxy.api("requests", dearer="true", limit=100)["requests"]
    page.tab.get_by_role("button", name="Dearer than pass-through").click()
    page.tab.wait_for_function(
        "n => document.querySelectorAll('.view-requests tbody tr').length === n", arg=min(25, len(dearer))
    )
    page.tab.get_by_label("Time").select_option("span")
    page.tab.get_by_label("To", exact=True).fill("2001-01-01T00:00")
    page.tab.wait_for_selector("text=No request matches.")


def test_what_was_said_is_searched(page: Page, rows: Any) -> None:
    page.open("#/requests", ready="tbody tr")
    search = page.tab.get_by_label("Search what was asked and answered")
    search.fill("LISBON plane")
    page.tab.wait_for_function("() => document.querySelectorAll('.view-requests tbody tr').length === 1")
    assert rows()[0].startswith("I have decided to take the train")
    search.fill("nobody has said this")
    page.tab.wait_for_selector("text=No request matches.")
    assert page.text(".view-head [role=status]") == "0 requests"


def test_a_search_goes_on_until_it_has_found_a_page(page: Page, rows: Any, proxy: Open) -> None:
    whole = proxy.api("requests", limit=3)
    found, oldest = whole["requests"], whole["next"]
    asked: list[str] = []

    def told(route: Any) -> None:
        asked.append(route.request.url)
        parts = [
            {"requests": [], "next": 900, "looked_back_to": 1.7e9},
            {"requests": found[:2], "next": 500, "looked_back_to": 1.6e9},
            {"requests": found[2:], "next": None, "looked_back_to": None},
        ]
        route.fulfill(json=parts[min(len(asked) - 1, 2)])

    page.tab.route("**/admin/api/requests?*", told)
    page.open("#/requests?text=x", ready="tbody tr")
    eventually(lambda: len(asked) == 3)
    page.tab.wait_for_function("() => document.querySelectorAll('.view-requests tbody tr').length === 3")
    assert "before=900" in asked[1]
    assert "before=500" in asked[2]
    assert "limit=23" in asked[2]
    assert oldest is not None
    page.tab.unroute("**/admin/api/requests?*")


def test_the_list_is_exported_for_replay(page: Page, rows: Any, tmp_path: Path) -> None:
    page.open("#/requests?text=capital+of+Australia&what=untouched", ready="tbody tr")
    with page.tab.expect_download() as started:
        page.tab.get_by_role("link", name="Export").click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert file.suffix == ".jsonl"
    (logged,), skipped = log_of([file.read_bytes()])
    assert json.loads(logged.body)["messages"][-1]["content"] == "What is the capital of Australia?"
    assert skipped == []


def test_keys_move_through_rows_open_one_search_and_go_back(page: Page, rows: Any) -> None:
    page.open("#/requests", ready="tbody tr")
    questions = rows()

    def focused() -> str:
        return str(page.tab.evaluate("document.activeElement.innerText"))

    for key, question in (("j", questions[0]), ("j", questions[1]), ("j", questions[2]), ("k", questions[1])):
        page.tab.keyboard.press(key)
        assert focused() == question
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector(".view-request h1")
    page.tab.keyboard.press("Escape")
    page.tab.wait_for_selector(ROW)
    page.tab.keyboard.press("/")
    page.tab.keyboard.type("jk/")
    assert page.tab.evaluate("document.activeElement.value") == "jk/"
    page.tab.wait_for_selector("text=No request matches.")
    page.tab.keyboard.press("Escape")
    page.tab.keyboard.press("Escape")
    assert page.tab.evaluate("document.activeElement.localName") != "input"


def test_keys_can_be_turned_off(page: Page, rows: Any) -> None:
    page.open("#/requests", ready="tbody tr")
    page.tab.get_by_role("button", name="Keys on").click()
    page.tab.reload()
    page.tab.wait_for_selector(ROW)
    page.tab.keyboard.press("j")
    assert page.tab.evaluate("document.activeElement.classList.contains('row-link')") is False
    assert page.tab.get_by_role("button", name="Keys off").get_attribute("aria-pressed") == "false"


def test_where_nothing_is_kept_there_is_nothing_to_export(tab: Tab, locked: Open) -> None:
    locked.http.post(
        "/v1/chat/completions", json={"model": "demo-chat", "messages": [{"role": "user", "content": "a"}]}
    )
    page = tab(locked).open("#/requests", ready="form")
    page.tab.get_by_label("Admin token").fill(TOKEN)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector(f"{ROW} .row-link:has-text('req_')")
    assert "admin.show_content" in page.text(".view-head")
    assert page.tab.get_by_role("link", name="Export").count() == 0


def test_a_scope_can_be_named(page: Page, proxy: Open, talked: Talked) -> None:
    proxy.http.post(
        "/v1/chat/completions",
        json={"model": "demo-chat", "messages": [{"role": "user", "content": "I am Ana"}]},
        headers={"x-olvido-user": "ana"},
    ).raise_for_status()

    def named() -> list[str]:
        return [each["scope"] for each in proxy.api("scopes")["scopes"] if each["scope"].endswith("/ana")]

    eventually(lambda: bool(named()))
    (scope,) = named()
    page.open("#/sessions", ready="tbody tr")
    page.tab.select_option("#scope", scope)
    for name in ("The shop in Rosario", ""):
        page.tab.click("#name-scope")
        page.tab.get_by_label("Name", exact=True).fill(name)
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector("dialog", state="detached")
        label = page.tab.eval_on_selector("#scope", "each => each.selectedOptions[0].text")
        assert label == name or (not name and label.endswith(" · ana"))
    page.tab.select_option("#scope", "")
