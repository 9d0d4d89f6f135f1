"""The desk of a conversation on the page, as a person sets it right."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.page.conftest import Page
from tests.page.desks import LINES, Desks, full, served

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


@pytest.fixture(scope="module")
def desks() -> Iterator[Desks]:
    with ExitStack() as stack:
        yield served(stack)


def test_a_section_is_edited_by_keys_alone(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-sections button")
    page.tab.locator('[data-edit="agent_notes.md"]').press("Enter")
    text = page.tab.get_by_role("textbox", name="Text")
    text.wait_for()
    assert text.input_value() == "one\n2\nthree"
    text.fill("one\n2\nthree\nfour")
    page.tab.keyboard.press("Tab")
    page.tab.keyboard.press("Tab")
    page.tab.keyboard.press("Enter")
    page.tab.locator(".desk-sections").get_by_text("four").wait_for()
    found = kept.document("agent_notes.md")
    assert found is not None
    assert (found.text, found.by) == ("one\n2\nthree\nfour", "person")
    assert page.text("#announcer") == "agent_notes.md was saved."
    assert page.tab.evaluate("document.activeElement.id") == "desk-sections"


def test_what_the_model_wrote_while_a_person_did_is_kept_too(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-sections button")
    page.tab.locator('[data-edit="agent_notes.md"]').click()
    page.tab.get_by_role("textbox", name="Text").fill("ONE\n2\nthree")
    kept.put("agent_notes.md", "one\n2\nthree\nfour", version=1)
    page.tab.get_by_role("button", name="Save").click()
    page.tab.locator("#announcer").filter(has_text="merged").wait_for(state="attached")
    found = kept.document("agent_notes.md")
    assert found is not None
    assert found.text == "ONE\n2\nthree\nfour"


def test_a_text_that_is_refused_stays_to_be_mended_and_can_be_left(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-sections button")
    page.tab.locator('[data-edit="agent_notes.md"]').click()
    page.tab.get_by_role("textbox", name="Text").fill("many words " * 100)
    page.tab.get_by_role("button", name="Save").click()
    page.tab.get_by_role("alert").wait_for()
    assert "50 tokens at most" in page.text("[role=alert]")
    assert page.tab.get_by_role("textbox", name="Text").input_value().startswith("many words")
    page.tab.keyboard.press("Escape")
    page.tab.locator("dialog").wait_for(state="detached")
    assert page.tab.evaluate("document.activeElement.dataset.edit") == "agent_notes.md"
    page.forgive("400 POST")


@pytest.mark.parametrize(("button", "became"), [("Confirm", "likes tea"), ("Decline", None)])
def test_an_edit_that_waits_is_decided_by_a_person(desks: Desks, tab: Tab, button: str, became: str | None) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-waits")
    assert "likes tea" in page.text(".desk-waits")
    page.tab.locator(".desk-waits").get_by_role("button", name=button).press("Enter")
    page.tab.locator(".desk-waits").wait_for(state="detached")
    found = kept.document("user_profile.md")
    assert (found.text if found else None) == became
    assert page.tab.evaluate("document.activeElement.id") == "desk-edits"


def test_an_edit_that_somebody_else_has_decided_is_told_where_it_was_asked(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-waits")
    number = next(each["number"] for each in kept.told()["edits"] if each["state"] == "waiting")
    body = {"session": kept.session, "scope": kept.scope, "edit": number, "is_allowed": False}
    desks.open.http.post("/admin/api/desk/edits", json=body).raise_for_status()
    page.tab.locator(".desk-waits").get_by_role("button", name="Confirm").click()
    page.tab.locator(".desk-waits").get_by_role("alert").wait_for()
    assert kept.document("user_profile.md") is None
    page.forgive("404 POST")


def test_messages_are_pinned_on_the_tape_and_released_in_the_list(desks: Desks, tab: Tab) -> None:
    kept = desks.made(lines=LINES)
    page = tab(desks.open).open(kept.address, ready=".desk-tape .message")
    page.tab.get_by_role("button", name="Pin message 1", exact=True).press("Enter")
    page.tab.locator(".desk-pins li").wait_for()
    assert "Where is the bug?" in page.text(".desk-pins")
    assert page.tab.evaluate("document.activeElement.dataset.pin") == "1"
    assert page.tab.locator(".desk-tape").get_by_role("button", name="Unpin message 1").count() == 1
    assert [each["message"] for each in kept.told()["pins"]] == [1]
    page.tab.locator(".desk-pins").get_by_role("button", name="Unpin message 1").click()
    page.tab.locator(".desk-pins li").wait_for(state="detached")
    assert kept.told()["pins"] == []
    assert page.text("#announcer") == "Message 1 is not pinned any more."


def test_a_reset_asks_first_and_undoes_all(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(kept.address, ready=".desk-waits")
    page.tab.get_by_role("button", name="Reset the desk").click()
    page.tab.get_by_role("button", name="Cancel").click()
    page.tab.locator("dialog").wait_for(state="detached")
    assert kept.told()["reset_at"] is None
    page.tab.get_by_role("button", name="Reset the desk").click()
    page.tab.locator("dialog").get_by_role("button", name="Reset the desk").click()
    page.tab.get_by_text("There is nothing to undo.").wait_for()
    states = [each["state"] for each in (*kept.told()["marks"], *kept.told()["edits"])]
    assert states == ["undone"] * 4
    found = kept.document("agent_notes.md")
    assert found is not None
    assert found.text == "one\ntwo\nthree"
    assert "last reset" in page.text(".callout")
