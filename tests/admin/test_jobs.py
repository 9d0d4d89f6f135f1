"""Memory with a model's help over HTTP, as whoever runs the proxy sees it, and undoes it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from time import time
from typing import Any

import httpx
import pytest

from proxy.types import ArchivedTurn, Utterance
from proxy.types.curation import Digest, DigestSpan, MemoryEvent, OutcomeLine
from tests.admin.started import started
from tests.admin.test_facts import DAY, Proxy, error
from tests.builders import ledger_row
from tests.finished_jobs import finished
from tests.servers import eventually

JOBS = "/admin/api/jobs"
PRICED = {"api_key": "sk-its-own", "price": {"input": 1, "cached": 0.25, "output": 4}}
MODEL = {"upstream": "demo", "model": "small", "per_day": 0.5}
LINE = OutcomeLine("add", "kept", "", "work", "employer", "works at Acme", "I'm at Acme", 3, b"l", "f-0")
REFUSED = OutcomeLine("update", "refused", "explicit", "work", "employer", "works at Sky", "I'm at Sky", 4, b"m")


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Proxy, ...]]:
    """One whose jobs nobody works on, one that has a model, and one that shows nothing of what is said."""
    with ExitStack() as stack:
        yield (
            started(Proxy, stack),
            started(Proxy, stack, upstream=PRICED, memory={"model": MODEL}),
            started(Proxy, stack, admin={"show_content": False}),
        )


@pytest.fixture
def proxy(running: tuple[Proxy, ...]) -> Proxy:
    return running[0]


@pytest.fixture
def helped(running: tuple[Proxy, ...]) -> Proxy:
    return running[1]


@pytest.fixture
def hidden(running: tuple[Proxy, ...]) -> Proxy:
    return running[2]


def done(proxy: Proxy, scope: str, *lines: OutcomeLine, subject: str = "trips", **more: Any) -> int:
    number: int = proxy.inside.do(lambda: finished(proxy.services.storage.jobs, scope, subject, *lines, **more))
    return number


def get(proxy: Proxy, path: str, **query: Any) -> Any:
    answer = proxy.http.get(f"/admin/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def undo(proxy: Proxy, job: int, fact: str) -> httpx.Response:
    return proxy.http.post(f"{JOBS}/{job}/undo", json={"fact": fact})


def derived(proxy: Proxy, **differing: Any) -> tuple[str, str, int]:
    """The scope of a fact that a job has added, its id, and the job."""
    scope, fact = proxy.known(source="auto", **differing)
    return scope, fact.id, done(proxy, scope, replace(LINE, fact_id=fact.id))


# --- looking ---------------------------------------------------------------------------------------------------------


def test_jobs_are_told_newest_first_with_what_came_of_them(proxy: Proxy) -> None:
    scope = proxy.scope()
    first = done(proxy, scope, LINE, REFUSED, REFUSED)
    second = done(proxy, scope, kind="consolidate", subject="")
    told = get(proxy, "jobs", scope=scope)["jobs"]
    assert [(each["id"], each["kept"], each["refused"], each["session"]) for each in told] == [
        (second, 0, 0, None),
        (first, 1, 2, "trips"),
    ]
    assert told[1]["state"] == "done"
    assert (told[1]["model"], told[1]["prompt"]) == ("small", "extract.en 3f2a91c0")
    assert told[1]["spent"] == pytest.approx(0.001)


def test_a_page_leads_to_the_next_and_ends(proxy: Proxy) -> None:
    scope = proxy.scope()
    numbers = [done(proxy, scope, subject=f"s{number}") for number in range(3)]
    first = get(proxy, "jobs", scope=scope, limit=2)
    assert [each["id"] for each in first["jobs"]] == numbers[:0:-1]
    last = get(proxy, "jobs", scope=scope, limit=2, before=first["next"])
    assert ([each["id"] for each in last["jobs"]], last["next"]) == (numbers[:1], None)


def test_jobs_of_a_state_are_told_alone(proxy: Proxy) -> None:
    scope = proxy.scope()
    number = done(proxy, scope)
    assert [each["id"] for each in get(proxy, "jobs", scope=scope, state="done")["jobs"]] == [number]
    assert get(proxy, "jobs", scope=scope, state="given-up")["jobs"] == []


def test_a_job_tells_its_lines_with_their_quotations_and_why_one_was_refused(proxy: Proxy) -> None:
    scope, fact = proxy.known(source="auto")
    told = get(proxy, f"jobs/{done(proxy, scope, replace(LINE, fact_id=fact.id), REFUSED)}")
    kept, refused = told["lines"]
    assert (kept["result"], kept["quote"], kept["turn"], kept["can_undo"]) == ("kept", "I'm at Acme", 3, True)
    assert (refused["result"], refused["reason"], refused["can_undo"]) == ("refused", "explicit", False)
    assert told["job"]["prompt"] == "extract.en 3f2a91c0"


def test_where_contents_are_not_shown_nothing_of_what_was_said_is_told(hidden: Proxy) -> None:
    scope, fact = hidden.known(source="auto")
    event = MemoryEvent("e-1", time() - 60, "trips", 3, "Began at Acme.", b"l")
    digest = Digest("day", time() - time() % DAY, "Ana began at Acme.", by_model=True)
    number = done(hidden, scope, replace(LINE, fact_id=fact.id), REFUSED, events=[event], digest=digest)
    paths = (f"jobs/{number}", "jobs", f"facts/{fact.id}")
    texts = [hidden.http.get(f"/admin/api/{path}").text for path in paths]
    texts.append(hidden.http.get("/admin/api/digests", params={"scope": scope}).text)
    assert [text for text in texts if "Acme" in text or "Sky" in text or "employer" in text] == []
    assert get(hidden, f"jobs/{number}")["lines"][0]["result"] == "kept"
    assert len(get(hidden, "digests", scope=scope)["events"]) == 1


@pytest.mark.parametrize("name", ["0", "x", "-1", "99999999", "9" * 30, "%D9%A1"])
def test_a_job_that_there_is_not_is_told_so(name: str, proxy: Proxy) -> None:
    assert error(proxy.http.get(f"{JOBS}/{name}")) == (404, "unknown_url")


# --- undoing ---------------------------------------------------------------------------------------------------------


def test_what_a_job_has_added_is_undone_for_the_next_prompt_and_the_line_says_so(proxy: Proxy) -> None:
    scope, fact, number = derived(proxy)
    told = undo(proxy, number, fact).json()
    assert (told["lines"][0]["result"], told["job"]["undone"]) == ("undone", 1)
    (card,) = proxy.of(scope)
    assert card["status"] in ("deleted", "superseded")
    shelf = proxy.inside.do(lambda: proxy.services.library.shelf(scope))
    assert shelf.facts[fact].superseded_by is not None


def test_what_a_job_has_ended_holds_again(proxy: Proxy) -> None:
    scope, new = proxy.known(source="auto", value="works at Acme")
    _, old = proxy.known(scope, value="works at Sky", superseded_by=new.id, superseded_at=time())
    number = done(proxy, scope, replace(LINE, op="update", fact_id=new.id, before=(old.id,)))
    assert undo(proxy, number, new.id).status_code == 200
    assert [card["value"] for card in proxy.of(scope, status="active")] == ["works at Sky"]


def test_what_something_later_rests_on_stays(proxy: Proxy) -> None:
    scope, later = proxy.known(value="works at Sky")
    _, fact = proxy.known(scope, source="auto", superseded_by=later.id, superseded_at=time())
    number = done(proxy, scope, replace(LINE, fact_id=fact.id))
    assert not get(proxy, f"jobs/{number}")["lines"][0]["can_undo"]
    assert error(undo(proxy, number, fact.id)) == (409, "conflict")
    assert get(proxy, f"jobs/{number}")["lines"][0]["result"] == "kept"


def test_what_was_undone_or_never_kept_is_a_conflict(proxy: Proxy) -> None:
    scope, fact, number = derived(proxy)
    assert undo(proxy, number, fact).status_code == 200
    before = proxy.of(scope)
    for name in (fact, "f-ffffffffffffffff"):
        assert error(undo(proxy, number, name)) == (409, "conflict")
    assert proxy.of(scope) == before
    assert error(undo(proxy, 99_999_999, fact)) == (404, "unknown_url")


# --- a fact's quotation ----------------------------------------------------------------------------------------------


def test_a_derived_fact_tells_the_words_it_rests_on_and_their_job(proxy: Proxy) -> None:
    _, fact, number = derived(proxy)
    (quotation,) = get(proxy, f"facts/{fact}")["quotations"]
    assert {name: quotation[name] for name in ("job", "session", "turn", "quote", "is_undone")} == {
        "job": number,
        "session": "trips",
        "turn": 3,
        "quote": "I'm at Acme",
        "is_undone": False,
    }


def test_a_fact_that_somebody_stated_rests_on_no_quotation_of_a_job(proxy: Proxy) -> None:
    scope, fact = proxy.known()
    done(proxy, scope, replace(LINE, fact_id=fact.id))
    assert get(proxy, f"facts/{fact.id}")["quotations"] == []


# --- what it costs, what happened ------------------------------------------------------------------------------------


def test_what_memory_costs_is_told_beside_what_was_saved(proxy: Proxy) -> None:
    scope = proxy.scope()
    done(proxy, scope, cost=0.25)
    row = ledger_row(scope=scope, at=time(), source="exact", plan="untouched", cost=0.0, cost_saved=1.0)
    proxy.inside.do(lambda: proxy.services.storage.ledger.append(row))
    told = get(proxy, "jobs/spend", scope=scope)
    assert told["model"] is None
    assert {name: told[name] for name in ("scope_today", "scope_30_days", "saved_30_days", "net_30_days")} == {
        "scope_today": pytest.approx(0.25),
        "scope_30_days": pytest.approx(0.25),
        "saved_30_days": pytest.approx(1.0),
        "net_30_days": pytest.approx(0.75),
    }
    everybody = get(proxy, "jobs/spend")
    assert everybody["today"] == told["today"] >= 0.25
    assert everybody["scope_30_days"] >= 0.25


def test_the_model_and_its_limits_are_told(helped: Proxy) -> None:
    told = get(helped, "jobs/spend")["model"]
    assert {name: told[name] for name in MODEL} == MODEL


def test_digests_and_events_of_a_span_are_told_oldest_first(proxy: Proxy) -> None:
    scope, now = proxy.scope(), time()
    today = now - now % DAY
    events = [MemoryEvent(f"e-{n}", now - DAY * n - 1, "trips", n, f"event {n}", b"%d" % n) for n in (3, 1)]
    spans: tuple[tuple[DigestSpan, str], ...] = (("day", "a day"), ("hour", "an hour"))
    for span, text in spans:
        digest = Digest(span, today - DAY, text, by_model=span == "day")
        done(proxy, scope, kind="digest", subject=f"{span} x", digest=digest, events=events)
        events = []
    told = get(proxy, "digests", scope=scope)
    assert [(each["text"], each["by_model"]) for each in told["digests"]] == [("a day", True)]
    assert [each["text"] for each in told["events"]] == ["event 3", "event 1"]
    assert [each["text"] for each in get(proxy, "digests", scope=scope, span="hour")["digests"]] == ["an hour"]
    shorter = get(proxy, "digests", scope=scope, **{"from": now - 2 * DAY})
    assert [each["text"] for each in shorter["events"]] == ["event 1"]


@pytest.mark.parametrize("span", [{"from": 10, "to": 10}, {"from": 0, "to": 400 * DAY}])
def test_a_span_that_is_none_is_refused(span: dict[str, float], proxy: Proxy) -> None:
    answer = proxy.http.get("/admin/api/digests", params={"scope": proxy.scope(), **span})
    assert (error(answer), answer.json()["error"]["param"]) == ((400, None), "from")


# --- run now ---------------------------------------------------------------------------------------------------------


def talked(proxy: Proxy, scope: str) -> None:
    said = (Utterance("user", "I'm at Acme", b"u"), Utterance("assistant", "Good.", b"a"))
    turn = ArchivedTurn(b"a", b"", "trips", 1, time(), b"[]", said)
    proxy.inside.do(lambda: proxy.services.library.archive.add(scope, turn, None))


@pytest.mark.parametrize("of", ["{scope}", "{scope}~trips"])
def test_a_conversation_is_read_now_wherever_its_turns_are(of: str, helped: Proxy) -> None:
    scope = helped.scope()
    memory = of.format(scope=scope)
    talked(helped, memory)
    answer = helped.http.post(JOBS, json={"scope": scope, "subject": "trips"})
    assert (answer.status_code, answer.json()["scope"]) == (202, memory)
    (job,) = get(helped, "jobs", scope=memory)["jobs"]
    assert (job["kind"], job["subject"]) == ("extract", "trips")
    assert job["due_at"] <= time()


@pytest.mark.parametrize(
    ("kind", "subject", "status"),
    [
        ("consolidate", "", 202),
        ("consolidate", "trips", 400),
        ("digest", "day 2026-11-23", 202),
        ("digest", "week 2026-11-23", 202),
        ("digest", "week 2026-11-24", 400),  # a Tuesday
        ("digest", "month 2026-11", 400),
        ("conclude", "shop/trips", 202),
        ("conclude", "/trips", 202),
        ("conclude", "trips", 400),
        ("conclude", "", 400),
    ],
)
def test_other_jobs_are_done_now_too(kind: str, subject: str, status: int, helped: Proxy) -> None:
    scope = helped.scope()
    talked(helped, scope)
    answer = helped.http.post(JOBS, json={"scope": scope, "kind": kind, "subject": subject})
    assert answer.status_code == status
    told = [(each["kind"], each["subject"]) for each in get(helped, "jobs", scope=scope)["jobs"]]
    assert told == ([(kind, subject)] if status == 202 else [])


def test_a_job_that_is_to_be_done_now_does_not_wait_for_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.curation.working.POLL", 3_600.0)
    with ExitStack() as stack:
        proxy = started(Proxy, stack, upstream=PRICED, memory={"model": MODEL})
        scope = proxy.scope()
        talked(proxy, scope)
        asked = {"scope": scope, "kind": "digest", "subject": "day 2026-11-23"}
        assert proxy.http.post(JOBS, json=asked).status_code == 202
        eventually(lambda: get(proxy, "jobs", scope=scope)["jobs"][0]["attempts"] > 0)


def test_a_conversation_that_nobody_had_is_not_read(helped: Proxy) -> None:
    scope = helped.scope()
    assert error(helped.http.post(JOBS, json={"scope": scope, "subject": "trips"})) == (404, "unknown_url")
    assert get(helped, "jobs", scope=scope)["jobs"] == []


def test_without_a_model_nothing_is_read(proxy: Proxy) -> None:
    scope = proxy.scope()
    talked(proxy, scope)
    answer = proxy.http.post(JOBS, json={"scope": scope, "subject": "trips"})
    assert error(answer) == (404, "unknown_url")
    assert "memory.model" in answer.json()["error"]["message"]
    assert get(proxy, "jobs", scope=scope)["jobs"] == []
