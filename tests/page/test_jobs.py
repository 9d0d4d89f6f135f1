"""The page of jobs: what a scripted proxy tells of memory with a model's help, and what is asked of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.page.conftest import Open, Page, opened
from tests.page.talk import SESSION, Talked, talk
from tests.page.test_looks import FOUND, MISSING, RULES

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

MODEL = {
    "upstream": "scripted",
    "model": "small",
    "when": ["idle"],
    "idle": 600,
    "max_share": 0.1,
    "allowance": 0.02,
    "per_day": 1.0,
}
MARKUP = "trabajo en <b>Acme</b>"
KEPT: dict[str, Any] = {
    "op": "add",
    "result": "kept",
    "reason": None,
    "domain": "work",
    "key": "employer",
    "value": f"{MARKUP} desde marzo",
    "quote": MARKUP,
    "turn": 3,
    "fact": "f-0000000000000001",
    "before": [],
    "can_undo": True,
}
REFUSED = KEPT | {"op": "update", "result": "refused", "reason": "explicit", "fact": None, "can_undo": False}
# 2026-03-04 12:00 UTC, a Wednesday
NOON = 1_772_625_600.0
DIGESTS = [{"at": NOON - 43_200, "text": "Ana <i>changed</i> jobs.", "by_model": True}]
EVENTS = [
    {"code": "e-1", "at": NOON, "session": "s", "turn": 3, "text": "Began at Acme."},
    {"code": "e-2", "at": NOON + 86_400, "session": "s", "turn": 9, "text": "Bought a desk."},
]


def job(number: int = 7, **differing: Any) -> dict[str, Any]:
    now = time.time()
    made = {
        "id": number,
        "scope": f"{'ab' * 16}/ana",
        "kind": "extract",
        "subject": "trips",
        "session": "trips",
        "state": "done",
        "reason": None,
        "created_at": now - 60,
        "due_at": now - 60,
        "done_at": now - 5,
        "attempts": 1,
        "model": "small",
        "prompt": "extract.es 3f2a91c0",
        "spent": 0.0012,
        "kept": 1,
        "refused": 1,
        "undone": 0,
    }
    return {**made, **differing}


def spending(**differing: Any) -> dict[str, Any]:
    told = {"model": MODEL, "scope": None, "today": 0.25, "scope_today": 0.25, "scope_30_days": 1.5}
    return {**told, "saved_30_days": 20.0, "net_30_days": 18.5, **differing}


@dataclass
class Jobs:
    """The answers about jobs, and what was asked."""

    jobs: Sequence[Mapping[str, Any]] = field(default_factory=list)
    lines: Sequence[Mapping[str, Any]] = field(default_factory=list)
    spend: Mapping[str, Any] = field(default_factory=spending)
    digests: Sequence[Mapping[str, Any]] = field(default_factory=list)
    events: Sequence[Mapping[str, Any]] = field(default_factory=list)
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    done: list[tuple[str, Any]] = field(default_factory=list)
    pages: list[Mapping[str, Any]] = field(default_factory=list)  # that come instead of `jobs`, one after the other

    def answer(self, route: Any) -> None:
        told = urlsplit(route.request.url)
        path = told.path.partition("/admin/api/")[2]
        if route.request.method == "POST":
            self.done.append((path, route.request.post_data_json))
            if path.endswith("/undo"):
                self.lines = [{**line, "result": "undone", "can_undo": False} for line in self.lines]
                self.jobs = [{**each, "kept": 0, "undone": 1} for each in self.jobs]
        self.asked.append(parse_qs(told.query) | {"path": [path]})
        if path == "jobs/spend":
            route.fulfill(json=self.spend)
        elif path == "jobs":
            state = parse_qs(told.query).get("state")
            found = [each for each in self.jobs if state in (None, [each["state"]])]
            route.fulfill(json=self.pages.pop(0) if self.pages else {"jobs": found, "next": None})
        elif path == "digests":
            (span,) = parse_qs(told.query)["span"]
            diary = {"digests": self.digests, "events": self.events, "more_events": False}
            route.fulfill(json={"scope": f"{'ab' * 16}/ana", "span": span, "from": 0, "to": 1, **diary})
        else:
            route.fulfill(json={"job": self.jobs[0], "lines": self.lines})

    def on(self, page: Page, address: str = "#/jobs") -> Page:
        page.tab.route("**/admin/api/jobs**", self.answer)
        page.tab.route("**/admin/api/jobs/**", self.answer)
        page.tab.route("**/admin/api/digests?*", self.answer)
        return page.open(address, ready=".panel")


def test_without_a_model_the_view_says_so_in_a_line_and_offers_nothing_to_read(page: Page) -> None:
    Jobs(spend=spending(model=None, today=0, scope_today=0, scope_30_days=0)).on(page)
    assert page.text(".callout").startswith("No model helps memory: memory.model names none.")
    assert page.tab.get_by_role("button", name="Read a conversation").count() == 0


def test_a_job_tells_what_came_of_it_and_its_lines_when_they_are_opened(page: Page) -> None:
    scripted = Jobs([job()], [KEPT, REFUSED])
    line = scripted.on(page).tab.locator(".lines > li")
    head = line.locator(".line-head").first.inner_text()
    told = ("Done", "Conversation", "trips", "1 kept", "1 refused", "$0.0012")
    assert [word for word in told if word not in head] == []
    assert not any("jobs/7" in asked["path"] for asked in scripted.asked)
    line.get_by_text("What it came to").click()
    kept, refused = (line.locator(".job-lines > li").nth(at) for at in (0, 1))
    assert kept.locator("blockquote").inner_text() == MARKUP
    assert kept.locator(".fact-value").inner_text() == f"{MARKUP} desde marzo"
    assert kept.locator("b").count() == 0
    assert "the user stated something else" in refused.inner_text()
    assert refused.get_by_role("button").count() == 0
    assert "extract.es 3f2a91c0" in line.inner_text()


def test_what_was_kept_is_undone_by_a_button(page: Page) -> None:
    scripted = Jobs([job()], [KEPT])
    line = scripted.on(page).tab.locator(".lines > li")
    line.get_by_text("What it came to").click()
    line.get_by_role("button", name="Undo: employer").click()
    line.locator(".line-head").first.filter(has_text="1 undone").wait_for()
    assert scripted.done == [("jobs/7/undo", {"fact": KEPT["fact"]})]
    assert line.get_by_role("button", name="Undo").count() == 0
    undone = line.locator(".job-lines > li")
    assert "Undone" in undone.inner_text()
    assert undone.evaluate("(each) => each === document.activeElement")


def test_what_cannot_be_undone_says_why_and_can_be_tried_again(page: Page) -> None:
    line = Jobs([job()], [KEPT]).on(page).tab.locator(".lines > li")
    line.get_by_text("What it came to").click()
    page.tab.route("**/undo", lambda route: route.fulfill(status=409, json={"error": {"message": "was undone"}}))
    line.get_by_role("button", name="Undo: employer").click()
    line.get_by_role("alert").filter(has_text="was undone").wait_for()
    assert line.get_by_role("button", name="Undo: employer").is_enabled()
    page.forgive("409 POST")


def test_what_memory_costs_stands_beside_what_was_saved(page: Page) -> None:
    stats = Jobs().on(page).tab.locator(".stat")
    told = {each.locator("dt").inner_text(): " ".join(each.locator("dd").inner_text().split()) for each in stats.all()}
    assert told == {
        "Cost today, of all": "$0.2500 at most $1.00",
        "Cost in 30 days": "$1.50 at most 10% of what was saved, and $0.0200 a day",
        "Saved in 30 days": "$20.00 by reuse and context",
        "What is left": "$18.50 saved, less what memory cost",
    }


def test_jobs_are_chosen_by_their_state_and_given_up_ones_say_why(page: Page) -> None:
    scripted = Jobs([job(), job(8, state="given-up", reason="some new reason", kept=0, refused=0)])
    lines = scripted.on(page).tab.locator(".lines > li")
    assert lines.count() == 2
    page.tab.get_by_role("button", name="Given up").click()
    lines.nth(1).wait_for(state="detached")
    assert "some new reason" in lines.inner_text()
    assert [asked["state"] for asked in scripted.asked if "state" in asked] == [["given-up"]]


def test_older_jobs_are_loaded_page_by_page(page: Page) -> None:
    pages: list[Mapping[str, Any]] = [{"jobs": [job(9)], "next": 9}, {"jobs": [job(8)], "next": None}]
    scripted = Jobs(pages=pages)
    scripted.on(page).tab.get_by_role("button", name="Load more").click()
    page.tab.locator(".lines > li").nth(1).wait_for()
    assert [asked["before"] for asked in scripted.asked if "before" in asked] == [["9"]]
    assert page.tab.get_by_role("button", name="Load more").count() == 0


def test_a_conversation_can_be_read_now(page: Page, proxy: Open) -> None:
    scripted = Jobs()
    scripted.on(page).tab.get_by_role("button", name="Read a conversation").click()
    form = page.tab.get_by_role("dialog")
    # Its scope stands behind it where there are several.
    named = form.locator("option").filter(has_text=SESSION).first.get_attribute("value")
    form.get_by_label("Conversation").select_option(value=named)
    form.get_by_role("button", name="Read a conversation").click()
    form.wait_for(state="detached")
    ((what, told),) = scripted.done
    assert (what, told["kind"], told["subject"]) == ("jobs", "extract", SESSION)
    assert told["scope"] in [each["scope"] for each in proxy.api("scopes")["scopes"]]


def test_events_and_digests_stand_by_day_the_newest_first(page: Page) -> None:
    scripted = Jobs(digests=DIGESTS, events=EVENTS)
    days = scripted.on(page).tab.locator(".diary > li")
    later, earlier = (days.nth(at).inner_text() for at in (0, 1))
    assert "March 5, 2026" in later
    assert "Bought a desk." in later
    told = ("March 4, 2026", "Ana <i>changed</i> jobs.", "12:00", "Began at Acme.")
    assert [word for word in told if word not in earlier] == []
    page.tab.get_by_role("radio", name="Week").check()
    page.tab.locator(".digest .badge").filter(has_text="Week").wait_for()
    assert [asked["span"] for asked in scripted.asked if "span" in asked] == [["day"], ["week"]]


def test_a_fact_shows_the_words_it_rests_on_and_leads_to_its_job(page: Page) -> None:
    quotations = [
        {"job": 7, "at": NOON, "session": "s", "turn": 3, "op": "add", "quote": MARKUP, "is_undone": False},
        {"job": 9, "at": NOON, "session": "s", "turn": 5, "op": "update", "quote": None, "is_undone": True},
    ]

    def with_quotations(route: Any) -> None:
        route.fulfill(json=route.fetch().json() | {"quotations": quotations})

    page.tab.route("**/admin/api/facts/f-*", with_quotations)
    page.open("#/facts", ready=".acts").tab.locator("[data-action=history]").first.click()
    section = page.tab.locator("dialog section").filter(has_text="The words it rests on")
    section.wait_for()
    assert section.locator("blockquote").all_inner_texts() == [MARKUP]
    assert "undone" in section.locator("figcaption").nth(1).inner_text()
    scripted = Jobs([job()], [KEPT])
    page.tab.route("**/admin/api/jobs/**", scripted.answer)
    section.get_by_role("link", name="job 7").click()
    page.tab.locator(".view-jobs .job-lines").wait_for()
    assert "Only job 7." in page.text(".callout")


def test_the_page_and_the_proxy_mean_the_same(tab: Callable[..., Page]) -> None:
    with ExitStack() as stack:
        model = {"upstream": "demo", "model": "small", "when": ["close"]}  # nobody closes one: only the button reads
        proxy = opened(stack, upstream={"api_key": "sk-its-own"}, memory={"model": model})
        talk(proxy.http)
        page = tab(proxy).open("#/jobs", ready=".panel")
        page.tab.get_by_role("button", name="Read a conversation").click()
        form = page.tab.get_by_role("dialog")
        form.get_by_label("Conversation").select_option(label=SESSION)
        form.get_by_role("button", name="Read a conversation").click()
        line = page.tab.locator(".lines > li").filter(has_text=SESSION).first
        line.get_by_text("What it came to").click()
        line.locator(".facts-list").wait_for()
        line.get_by_role("link", name="Job ").click()
        page.tab.locator(".callout").filter(has_text="Only job").wait_for()
        found = {(each["kind"], each["subject"]) for each in proxy.api("jobs")["jobs"]}
        assert {each for each in found if each[0] == "extract"} == {("extract", SESSION)}


def test_nobody_is_kept_out_of_it(tab: Callable[..., Page], proxy: Open, talked: Talked, axe: str) -> None:
    long = KEPT | {"quote": "palabra-sin-fin" * 30, "value": "x" * 300, "key": "k" * 128}
    waiting = job(8, state="waiting", done_at=None, due_at=time.time() + 600, kept=0, refused=0, spent=0.0)
    scripted = Jobs([job(), waiting], [long, REFUSED], digests=DIGESTS, events=EVENTS)
    page = scripted.on(tab(proxy, locale="es"))
    page.tab.locator(".lines summary").first.click()
    page.tab.wait_for_selector(".job-lines")
    page.tab.evaluate(axe)
    assert page.tab.evaluate(FOUND, RULES) == []
    page.tab.emulate_media(color_scheme="dark")
    page.tab.set_viewport_size({"width": 360, "height": 740})
    assert page.tab.evaluate(FOUND, RULES) == []
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.tab.evaluate(MISSING) == []
