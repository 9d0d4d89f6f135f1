"""The desk of a conversation on the page, as its store has it: what is told of it, and what a person sets right."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import time
from typing import Any, get_args
from urllib.parse import quote

import httpx
import msgspec
import pytest

from proxy.app import create_app
from proxy.desk.tools import Reason
from proxy.pipeline import Services
from proxy.types import DeskTrail, Trail
from proxy.types.desk import (
    Applied,
    Called,
    DeskEvent,
    Document,
    Edit,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    TapeLine,
)
from tests.builders import TENANT, calling, ledger_row, result, user
from tests.looping import Step, run_rounds, settings
from tests.page.conftest import PRICE, Open, Page, Place
from tests.page.test_looks import FOUND, MISSING, RULES
from tests.proxied import KEY, in_front_of, run_upstream
from tests.servers import Inside, eventually, run_proxy
from tests.spoken import Called as Spoke
from tests.spoken import Spoken, numbered

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]

MARKUP = '<img src="x" onerror="document.title=1"> is in it'
SECTIONS = {"agent_notes": 50}
NOW = float(int(time()))  # of the run: what is old would be gone as soon as retention comes round
REFUSED = ("unknown-id", "pinned", "no-shorter", "too-large", "no-file", "no-fact", "ended", "unreached", "last-round")
numbers = count(1)


@dataclass(frozen=True, slots=True)
class Desks:
    """A proxy whose desks are written by tests."""

    open: Open
    services: Services
    inside: Inside

    def made(self, *payloads: Payload, lines: Sequence[TapeLine] = (), desks: Sequence[DeskTrail] = ()) -> "Kept":
        """A session of somebody who is new, with its requests, events and lines."""
        number = next(numbers)
        kept = Kept(self, f"{TENANT}/person-{number}", f"agents/run {number}", f"req_desk_{number}")
        for at, desk in enumerate(desks or [None]):
            told = Trail(limit=None, turns=1, kept=1, start=0, newest=0, desk=desk)
            name = f"{kept.request}_{at}" if at else kept.request
            row = ledger_row(
                request_id=name,
                scope=kept.scope,
                session=kept.session,
                at=NOW,
                trail=told,
                cost=0.2,
                tokens_billed=500,
            )
            self.inside.do(partial(self.services.storage.ledger.append, row))
        events = [DeskEvent(NOW, kept.request, each) for each in payloads]
        self.inside.do(lambda: self.services.storage.desks.write(kept.scope, kept.session, lines, events))
        return kept


@dataclass(frozen=True, slots=True)
class Kept:
    """A session with a desk."""

    desks: Desks
    scope: str
    session: str
    request: str  # the first

    @property
    def address(self) -> str:
        return f"#/desk/{quote(self.session, safe='')}?scope={quote(self.scope, safe='')}"

    def put(self, name: str, text: str, version: int = 0) -> None:
        store = self.desks.services.storage.desks
        self.desks.inside.do(lambda: store.put(self.scope, name, text, version=version, at=NOW, by="model"))

    def document(self, name: str) -> Document | None:
        found: Document | None = self.desks.inside.do(
            lambda: self.desks.services.storage.desks.document(self.scope, name)
        )
        return found

    def told(self) -> Any:
        return self.desks.open.api("desk", session=self.session, scope=self.scope)


def served(stack: ExitStack, **sections: Any) -> Desks:
    upstream = stack.enter_context(run_upstream())
    tools = {"enabled": True, "sections": SECTIONS}
    given = in_front_of(upstream, upstream={"price": PRICE}, tenancy="shared", memory={"tools": tools}, **sections)
    app = create_app(given)
    url = stack.enter_context(run_proxy(given, inside := Inside(app)))
    headers = {"authorization": f"Bearer {KEY}"}
    http = stack.enter_context(httpx.Client(base_url=url, timeout=20, trust_env=False, headers=headers))
    return Desks(Open(url, http, upstream), app.state.services, inside)


@pytest.fixture(scope="module")
def desks() -> Iterator[Desks]:
    with ExitStack() as stack:
        yield served(stack)


@pytest.fixture(scope="module")
def silent() -> Iterator[Desks]:
    """One that shows no contents."""
    with ExitStack() as stack:
        yield served(stack, admin={"show_content": False})


def line(number: int, said: object, role: str = "user", *, is_hidden: bool = False) -> TapeLine:
    content = None if said is None else msgspec.json.encode(said)
    return TapeLine(0, number.to_bytes(16, "big"), NOW, role, 7, content, is_hidden)


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


LINES = (
    line(1, user("Where is the bug?")),
    line(2, calling("c1"), "assistant", is_hidden=True),
    line(3, result("c1", MARKUP), "tool", is_hidden=True),
)
TRAILS = (
    DeskTrail(200, 1_000, 0.25, "low"),
    DeskTrail(600, 1_000, 0.75, "medium", schemas=40, rounds=2, cost=0.05),
    DeskTrail(960, 1_000, 1.2, "high", schemas=40, rounds=1, cost=0.05),
)
WAITING = Edit("edit_section", "user_profile.md", "", "likes tea", "waiting")


def full(desks: Desks) -> Kept:
    """A desk with something of everything on it."""
    kept = desks.made(
        Offered("en", ("prune_messages",), "pressure"),
        Mark("prune", (link(1),), 1, 1, tokens=90),
        Mark("range", (link(2), link(3)), 2, 3, f"a summary {MARKUP}", 120),
        Applied((2,), "economic", 80),
        Pin(link(1)),
        Edit("edit_section", "agent_notes.md", "one\ntwo\nthree", "one\n2\nthree", version=1),
        WAITING,
        Called("prune_messages", "{}", "ok", 1),
        Hidden(link(1), b"a" * 16, tuple(map(msgspec.json.encode, (calling("c1"), result("c1", MARKUP))))),
        lines=LINES,
        desks=TRAILS,
    )
    kept.put("agent_notes.md", "one\n2\nthree")
    kept.put("plan.md", "first the tests")
    return kept


# --- to look at ---


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
    assert "look(" in call
    assert MARKUP in result_
    assert "never saw it" in call
    assert "never saw it" in result_
    assert "forgotten" in gone
    assert page.tab.locator("main img").count() == 0


# --- to set right ---


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


# --- in a request's view ---


def test_hidden_rounds_are_told_in_the_view_of_their_request(desks: Desks, tab: Tab) -> None:
    kept = full(desks)
    page = tab(desks.open).open(f"#/request/{kept.request}", ready=".rounds .round")
    said = page.text(".rounds")
    assert "Round 1" in said
    assert "look(" in said
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
        http = stack.enter_context(httpx.Client(base_url=url, timeout=20, trust_env=False, headers=headers))
        asked, said = [], [user("Where is the bug?")]
        for content in ("Found it.", "Fixed."):
            answer = http.post("/v1/chat/completions", json={"model": "m", "messages": said}).raise_for_status()
            message = answer.json()["choices"][0]["message"]
            assert (message["content"], message.get("tool_calls")) == (content, None)
            said = [*said, message, user("Mend it.")]
            asked.append(answer.headers["x-olvido-request"])
        eventually(lambda: all(http.get(f"/admin/api/requests/{each}").status_code == 200 for each in asked))
        page = tab(Place(url)).open(f"#/request/{asked[0]}", ready=".rounds .round")
        said = page.text(".rounds")
        assert "edit_section(" in said
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


# --- for everybody, and for nobody ---


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
