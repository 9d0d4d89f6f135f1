"""What if: the last requests once more, with other numbers."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.page.conftest import TOKEN, Open, Page
from tests.page.talk import SESSION, TURNS, Talked
from tests.page.test_looks import FOUND, RULES

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


def form(page: Page) -> Page:
    page.open("#/what-if", ready=".preset")
    page.tab.click(".what-numbers summary")
    return page


def number(page: Page, name: str) -> Any:
    return page.tab.locator(f'[name="{name}"]')


def compare(page: Page) -> None:
    page.tab.get_by_role("button", name="Compare").click()


def test_before_and_after_are_told_as_the_proxy_reckons_them(page: Page, proxy: Open, talked: Talked) -> None:
    form(page)
    page.tab.get_by_label("Session").fill(SESSION)
    number(page, "fold").select_option("economic")
    number(page, "window.tokens").fill("9000")
    compare(page)
    page.tab.wait_for_selector(".stats")
    changes = {"fold": "economic", "window.tokens": 9000}
    asked = {"profile": "lean", "changes": changes, "last": 50, "session": SESSION}
    told = proxy.http.post("/admin/api/what-if", json=asked).json()
    assert page.tab.evaluate("document.activeElement.tagName") == "H2"
    before, after = told["before"], told["after"]
    assert before["sent"] < after["sent"] <= before["original"]
    assert told["requests"] == len(TURNS) + 1
    sent = page.tab.locator(".stat").filter(has_text="Sent tokens").inner_text()
    assert f"{after['sent']:,}" in sent
    assert f"before {before['sent']:,}" in sent
    differ = [any(row[f"{each}_before"] != row[f"{each}_after"] for each in ("sent", "kept")) for row in told["rows"]]
    changed = [row["request_id"] for row, differs in zip(told["rows"], differ, strict=True) if differs]
    page.tab.get_by_role("button", name=f"Changed {len(changed)}").click()
    links = page.tab.eval_on_selector_all("tbody th a", "all => all.map((each) => each.hash)")
    assert links == [f"#/request/{request_id}" for request_id in reversed(changed)]


def test_three_presets_come_first_and_compare_at_once(page: Page, proxy: Open, talked: Talked) -> None:
    page.open("#/what-if", ready=".preset")
    assert page.tab.locator(".number").first.is_hidden()
    presets = proxy.api("me")["presets"]["lean"]
    save, balanced, remember = page.tab.locator(".preset").all()
    assert [each.locator("strong").inner_text() for each in (save, balanced, remember)] == [
        "Save more",
        "Balanced",
        "Remember more",
    ]
    assert f"{presets['save']['budget']:,}" in save.inner_text()
    save.click()
    page.tab.wait_for_selector(".stats")
    assert page.tab.locator(".preset[aria-pressed=true] strong").all_inner_texts() == ["Save more"]
    assert f"{len(presets['save'])} numbers changed" in page.text(".what-foot")
    page.tab.get_by_text("All numbers").click()
    assert number(page, "budget").input_value() == str(presets["save"]["budget"])
    number(page, "budget").fill("3000")
    assert page.tab.locator(".preset[aria-pressed=true]").count() == 0
    page.tab.get_by_label("Profile").select_option("balanced")
    assert page.tab.locator(".preset").nth(1).is_disabled()
    assert "how it is now" in page.tab.locator(".preset").nth(1).inner_text()


def test_the_changes_are_told_as_the_configuration_has_them(page: Page) -> None:
    form(page)
    assert page.tab.get_by_role("button", name="Compare").is_disabled()
    number(page, "window.tokens").fill("2000")
    number(page, "recall.tokens").fill("700")
    number(page, "elide.tools").select_option("true")
    number(page, "facts.tokens").fill("50")
    number(page, "facts.tokens").fill("")  # as it is
    profile = {"window": {"tokens": 2000}, "recall": {"tokens": 700}, "elide": {"tools": True}}
    assert yaml.safe_load(page.text("pre.yaml")) == {"profiles": {"lean": profile}}
    assert "3 numbers changed" in page.text(".what-foot")
    page.tab.get_by_label("Profile").select_option("balanced")
    assert yaml.safe_load(page.text("pre.yaml")) == {"context": {"profile": "balanced"}}


def test_a_number_that_cannot_be_is_named(page: Page, talked: Talked) -> None:
    form(page)
    number(page, "window.tokens").fill("many")
    number(page, "facts.tokens").fill("50")
    compare(page)
    page.tab.wait_for_selector(".failure")
    page.forgive("400 POST")
    assert "window.tokens" in page.text(".failure")
    assert page.tab.locator("[aria-invalid]").evaluate_all("all => all.map((each) => each.name)") == ["window.tokens"]
    assert number(page, "window.tokens").evaluate("(each) => each === document.activeElement")


def test_a_comparison_can_be_stopped(page: Page, talked: Talked) -> None:
    form(page)
    page.tab.route("**/what-if", lambda route: None)  # never comes to an end
    number(page, "window.tokens").fill("2000")
    with page.tab.expect_event("requestfailed"):
        compare(page)
        page.tab.get_by_role("button", name="Cancel").press("Enter")
    page.tab.get_by_text("Stopped.").wait_for()
    assert page.tab.get_by_role("button", name="Compare").is_enabled()


def test_while_another_one_runs_it_can_be_tried_again(page: Page, talked: Talked) -> None:
    form(page)
    busy = {"error": {"message": "Another one is under way. Try again when it has ended.", "code": "conflict"}}
    page.tab.route("**/what-if", lambda route: route.fulfill(status=409, json=busy), times=1)
    number(page, "window.tokens").fill("2000")
    compare(page)
    page.tab.get_by_text("Another one is under way").wait_for()
    page.forgive("409 POST")
    page.tab.get_by_role("button", name="Try again").click()
    page.tab.wait_for_selector(".stats")


def test_everybody_can_read_what_came_of_it(tab: Tab, proxy: Open, talked: Talked, axe: str) -> None:
    page = form(tab(proxy, locale="es", viewport={"width": 360, "height": 740}, color_scheme="dark"))
    number(page, "window.tokens").fill("9000")
    page.tab.get_by_role("button", name="Comparar").click()
    page.tab.wait_for_selector(".stats")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_where_contents_are_not_kept_it_says_what_it_needs(tab: Tab, locked: Open) -> None:
    page = tab(locked).open("#/what-if", ready="form")
    page.tab.get_by_label("Admin token").fill(TOKEN)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector(".view-what-if pre")
    assert yaml.safe_load(page.text("pre")) == {"admin": {"show_content": True}}
    assert page.tab.get_by_role("button", name="Compare").count() == 0
