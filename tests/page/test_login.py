"""Who may look."""

from collections.abc import Callable

import pytest

from tests.page.conftest import TOKEN, Open, Page

pytestmark = pytest.mark.long

Tab = Callable[..., Page]


def test_who_has_the_token_gets_where_they_wanted_to_and_can_leave_again(tab: Tab, locked: Open) -> None:
    page = tab(locked).open("#/sessions", ready="form")
    assert page.tab.query_selector("nav") is None

    page.tab.get_by_label("Admin token").fill("not the token")
    page.tab.get_by_role("button", name="Log in").click()
    page.tab.wait_for_selector("[role=alert]:text('neither the admin token nor a key')")
    page.forgive("401")

    page.tab.get_by_label("Admin token").fill(TOKEN)
    page.tab.get_by_role("button", name="Log in").click()
    page.tab.wait_for_selector("h1:text('Sessions')")
    assert page.tab.evaluate("document.cookie") == ""
    page.tab.reload()
    page.tab.wait_for_selector("h1:text('Sessions')")

    page.tab.get_by_role("button", name="Log out").click()
    page.tab.wait_for_selector("form")


@pytest.mark.long
def test_who_is_not_let_in_any_more_is_asked_for_the_token(tab: Tab, locked: Open) -> None:
    page = tab(locked).open("#/now", ready="form")
    page.tab.get_by_label("Admin token").fill(TOKEN)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector("h1:text('Now')")
    page.tab.context.clear_cookies()
    page.tab.get_by_role("link", name="Sessions").click()
    page.tab.wait_for_selector("form")
    page.forgive("401")


def test_where_no_token_is_wanted_there_is_nothing_to_log_in_to(page: Page) -> None:
    page.open("#/login")
    page.tab.wait_for_selector("h1:text('Now')")
    assert page.tab.query_selector("#logout") is None
