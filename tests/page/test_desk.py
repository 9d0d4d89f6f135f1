"""The desk of a conversation on the page: what is told of it, to whom."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.builders import user
from tests.page.conftest import Page
from tests.page.desks import LINES, MARKUP, TRAILS, Desks, full, line, served
from tests.page.test_looks import FOUND, MISSING, RULES

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]


@pytest.fixture(scope="module")
def desks() -> Iterator[Desks]:
    with ExitStack() as stack:
        yield served(stack)


@pytest.fixture(scope="module")
def silent() -> Iterator[Desks]:
    """One that shows no contents."""
    with ExitStack() as stack:
        yield served(stack, admin={"show_content": False})


def test_of_a_session_without_a_desk_the_view_says_so(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open(desks.made().address, ready=".desk-tape .empty")
    assert "not offered" in page.text(".stats")
    assert page.tab.locator(".desk-sections h3").count() == 4
    for said in ("No request of this session", "marked nothing", "changed nothing", "nothing to undo"):
        assert said in page.text("main")
    assert page.tab.locator(".desk-waits").count() == 0


def test_a_session_leads_to_its_desk_and_back(desks: Desks, tab: Tab) -> None:
    kept = desks.made()
    page = tab(desks.open).open(kept.address.replace("#/desk", "#/session"), ready=".view-head a")
    page.tab.get_by_role("link", name="Its desk").click()
    page.tab.wait_for_selector(".view-desk .desk-sections")
    assert page.tab.title() == "Desk · Olvido"
    page.tab.locator("main").get_by_role("link", name=kept.session).click()
    page.tab.wait_for_selector(".view-session h1")


def test_pressure_is_drawn_a_bar_a_request_and_told_as_a_table(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open(full(desks).address, ready=".pressure-bars")
    bars = page.tab.locator(".pressure-bars rect")
    heights = [float(bars.nth(at).get_attribute("height") or 0) for at in range(3)]
    assert heights == pytest.approx([100 * each.pressure / 1.2 for each in TRAILS])
    assert "3 requests, the newest at 120" in str(page.tab.locator(".pressure-bars").get_attribute("aria-label"))
    page.tab.get_by_text("As a table").click()
    rows = page.tab.locator(".desk-history tbody tr")
    rows.first.wait_for()
    assert rows.count() == 3
    assert rows.first.locator("td").all_inner_texts() == ["120%", "high", "960", "1,000", "40", "1"]
    assert "high" in page.text(".stats")


def test_what_the_definitions_of_the_tools_cost_is_told_as_a_share_of_the_bill(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open(full(desks).address, ready=".stats")
    said = page.text(".stats")
    assert "17% of the bill" in said  # 0.10 of 0.60
    assert "120 tokens, $0.10" in said


def test_marks_and_edits_are_told_with_what_became_of_them(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open(full(desks).address, ready=".desk-marks tbody tr")
    range_, prune = page.tab.locator(".desk-marks tbody tr").all_inner_texts()
    assert all(each in range_ for each in ("#2\u20133", "summarised", "120", "waits", MARKUP))
    assert all(each in prune for each in ("#1", "left out", "in effect", "it paid"))
    edit = page.tab.locator(".desk-edits .desk-item")
    assert edit.count() == 1
    assert (edit.locator("del").inner_text(), edit.locator("ins").inner_text()) == ("two", "2")
    assert "2 lines stayed" in edit.inner_text()
    assert page.tab.locator("main img").count() == 0


def test_a_document_is_read_once_it_is_opened(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    kept.put("plan.md", "then the code", version=1)
    page = tab(desks.open).open(kept.address, ready=".desk-documents summary")
    assert "then the code" not in page.text(".desk-documents")
    page.tab.locator(".desk-documents summary").press("Enter")
    page.tab.locator(".desk-documents").get_by_text("then the code").wait_for()
    assert "Version 1" in page.text(".desk-documents")


def test_the_tape_is_told_page_by_page_from_any_message_on(desks: Desks, tab: Tab) -> None:
    kept = desks.made(lines=[line(number, user(f"message {number}")) for number in range(1, 121)])
    page = tab(desks.open).open(kept.address, ready=".desk-tape .message")

    def shown() -> tuple[str | None, str | None, int]:
        lines = page.tab.locator(".desk-tape .message")
        first, last = lines.first, lines.last
        return first.get_attribute("data-message"), last.get_attribute("data-message"), lines.count()

    assert shown() == ("71", "120", 50)
    assert page.tab.get_by_role("button", name="Load more").count() == 0
    page.tab.get_by_label("From message").fill("11")
    page.tab.get_by_label("From message").press("Enter")
    page.tab.locator('.desk-tape [data-message="11"]').wait_for()
    assert shown() == ("11", "60", 50)
    page.tab.get_by_role("button", name="Load more").click()
    page.tab.locator('.desk-tape [data-message="110"]').wait_for()
    assert shown() == ("11", "110", 100)
    assert page.tab.evaluate("document.activeElement.dataset.pin") == "61"


def test_on_the_tape_is_what_the_client_never_saw_as_text(desks: Desks, tab: Tab) -> None:
    kept = desks.made(lines=[*LINES, line(4, None)])
    page = tab(desks.open).open(kept.address, ready=".desk-tape .message")
    first, call, result_, gone = page.tab.locator(".desk-tape .message").all_inner_texts()
    assert "Where is the bug?" in first
    assert "never saw it" not in first
    assert "look()" in call
    assert MARKUP in result_
    assert "never saw it" in call
    assert "never saw it" in result_
    assert "forgotten" in gone
    assert page.tab.locator("main img").count() == 0


@pytest.mark.parametrize("view", ["desk", "request"])
def test_nobody_is_kept_out_of_it(desks: Desks, tab: Tab, axe: str, view: str) -> None:
    kept = full(desks)
    ready = {"desk": ".desk-tape .message", "request": ".rounds"}[view]
    page = tab(desks.open, locale="es").open(
        kept.address if view == "desk" else f"#/request/{kept.request}", ready=ready
    )
    assert ("Rondas ocultas" if view == "request" else "Escritorio") in page.text("main")
    page.tab.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
    page.tab.wait_for_selector(".loading", state="detached")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    page.tab.emulate_media(color_scheme="dark")
    for width in (390, 360):
        page.tab.set_viewport_size({"width": width, "height": 844})
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate(MISSING) == []


def test_the_dialog_of_an_edit_too(desks: Desks, tab: Tab, axe: str) -> None:
    page = tab(desks.open, viewport={"width": 390, "height": 844}).open(
        full(desks).address, ready=".desk-sections button"
    )
    page.tab.locator('[data-edit="agent_notes.md"]').click()
    page.tab.wait_for_selector("dialog textarea")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_where_contents_are_not_shown_the_desk_is_told_without_them(silent: Desks, tab: Tab) -> None:
    kept = full(silent)
    page = tab(silent.open).open(kept.address, ready=".desk-tape .message")
    said = page.text("main")
    assert "admin.show_content is off" in said
    for secret in ("Where is the bug?", "likes tea", "three", "a summary", MARKUP):
        assert secret not in said
    assert page.tab.locator("[data-edit]").count() == 0
    assert page.tab.locator(".desk-waits").get_by_role("button", name="Decline").count() == 1
    page.open(f"#/request/{kept.request}", ready=".rounds .round")
    assert "look" in page.text(".rounds")
    assert MARKUP not in page.text(".rounds")


def test_of_a_session_that_is_not_known_it_says_so(desks: Desks, tab: Tab) -> None:
    page = tab(desks.open).open("#/desk/nobody", ready=".failure")
    assert "nobody" in page.text(".failure")
    page.forgive("404")
