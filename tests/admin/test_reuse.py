"""The reuse log and its reports over HTTP, as whoever runs the proxy sees them, and as a page of another site does."""

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import httpx
import numpy as np
import pytest

from proxy.admin.reuse import MOST_LINES, USUAL_LINES
from proxy.types import ReuseDecision, ReuseEntry
from tests.admin.started import Started, started
from tests.builders import NOW, TENANT
from tests.proxied import total

LOG = "/admin/api/reuse"
TOKEN = "an-admin-token-0123456789"
VECTOR = np.array([1.0, 0.0], np.float32)

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Proxy(Started):
    def kept(self, *, scope: str | None = None, **differing: Any) -> tuple[str, ReuseEntry]:
        """An entry that was reused twice and refused once, and its scope."""
        number = next(_numbers)
        scope = scope if scope is not None else f"{TENANT}/user-{number}"
        made = ReuseEntry(f"r-{number:016x}", "p", "¿Cómo limpio una cafetera?", ("Hola",), "key", NOW, NOW + 60)
        entry = replace(made, **differing)
        self.inside.do(lambda: self.services.intent.partitions.add(scope, entry, VECTOR))
        for line, (result, cosine) in enumerate([("hit", 0.91), ("hit", 0.93), ("negation", 0.97)]):
            said = (entry.id, cosine, f"question {line}", entry.question, "")
            decision = ReuseDecision(f"req_{number}_{line}", NOW + line, result, *said)
            self.inside.do(functools.partial(self.services.storage.reuse.log, scope, decision))
        return scope, entry

    def nearest(self, scope: str) -> list[str]:
        """Ids of the entries that a question finds."""
        partitions = self.services.intent.partitions
        found = self.inside.do(lambda: partitions.nearest(scope, "p", VECTOR, 5, -1.0, NOW))
        return [candidate.entry.id for candidate in found]


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Proxy, Proxy]]:
    """One without a token, and one with."""
    with ExitStack() as stack:
        yield started(Proxy, stack), started(Proxy, stack, admin={"token": TOKEN})


@pytest.fixture
def proxy(running: tuple[Proxy, Proxy]) -> Proxy:
    return running[0]


@pytest.fixture
def guarded(running: tuple[Proxy, Proxy]) -> Proxy:
    return running[1]


def error(answer: httpx.Response) -> tuple[int, str | None]:
    told = answer.json()["error"]
    assert told.keys() == {"message", "type", "param", "code"}
    return answer.status_code, told["code"]


# --- looking ----------------------------------------------------------------------------------------------------------


def test_the_log_of_a_scope_is_told_newest_first(proxy: Proxy) -> None:
    scope, entry = proxy.kept()
    proxy.kept()  # of somebody else
    answer = proxy.http.get(LOG, params={"scope": scope})
    assert answer.status_code == 200
    assert answer.json()["scope"] == scope
    first, _, last = answer.json()["log"]
    assert first == {
        "request_id": last["request_id"].replace("_0", "_2"),
        "at": NOW + 2,
        "result": "negation",
        "entry_id": entry.id,
        "cosine": 0.97,
        "question": "question 2",
        "earlier_question": entry.question,
        "guards": "",
    }
    assert (last["result"], last["question"]) == ("hit", "question 0")


def test_contents_are_not_kept_by_anything_on_the_way(proxy: Proxy) -> None:
    scope, entry = proxy.kept()
    for answer in (
        proxy.http.get(LOG, params={"scope": scope}),
        proxy.http.get(f"{LOG}/{entry.id}"),
        proxy.http.post(f"{LOG}/{entry.id}/wrong"),
    ):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"] == "application/json"
        assert not any(name.startswith("access-control-") for name in answer.headers)


def test_page_after_page_every_line_is_told_once(proxy: Proxy) -> None:
    scope = f"{TENANT}/paged"
    for _ in range(3):
        proxy.kept(scope=scope)
    whole = proxy.http.get(LOG, params={"scope": scope}).json()
    assert (len(whole["log"]), whole["next"]) == (9, None)
    told, before = [], None
    while True:
        asked = {"scope": scope, "limit": "4", **({"before": before} if before else {})}
        page = proxy.http.get(LOG, params=asked).json()
        told += page["log"]
        if (before := page["next"]) is None:
            break
        proxy.kept(scope=scope)  # meanwhile there are newer ones
    assert told == whole["log"]


def test_what_is_no_place_in_the_log_is_named(proxy: Proxy) -> None:
    answer = proxy.http.get(LOG, params={"scope": "a/", "before": "x"})
    assert (error(answer), answer.json()["error"]["param"]) == ((400, None), "before")


def test_a_scope_that_nobody_has_used_has_an_empty_log(proxy: Proxy) -> None:
    answer = proxy.http.get(LOG, params={"scope": "nobody/"})
    assert answer.json() == {"scope": "nobody/", "log": [], "reported": {}, "next": None}


@pytest.mark.parametrize("scope", ["a b/+ñ", 'x" OR 1=1 --', "%2e%2e/", "\x00"])
def test_a_scope_is_a_name_and_nothing_else(scope: str, proxy: Proxy) -> None:
    proxy.kept(scope=scope)
    assert len(proxy.http.get(LOG, params={"scope": scope}).json()["log"]) >= 3
    assert proxy.http.get(LOG, params={"scope": f"{scope}x"}).json()["log"] == []


@pytest.mark.parametrize(("limit", "lines"), [("1", 1), ("2", 2), (str(MOST_LINES), 3)])
def test_as_many_lines_as_asked_for(limit: str, lines: int, proxy: Proxy) -> None:
    scope, _ = proxy.kept()
    assert len(proxy.http.get(LOG, params={"scope": scope, "limit": limit}).json()["log"]) == lines


def test_without_a_limit_there_are_not_too_many(proxy: Proxy) -> None:
    scope, _ = proxy.kept()
    for _ in range(USUAL_LINES):
        proxy.kept(scope=scope)
    assert len(proxy.http.get(LOG, params={"scope": scope}).json()["log"]) == USUAL_LINES


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("", "scope"),
        ("scope=", "scope"),
        ("limit=5", "scope"),
        ("scope=a&limit=0", "limit"),
        ("scope=a&limit=-1", "limit"),
        ("scope=a&limit=1.5", "limit"),
        ("scope=a&limit=all", "limit"),
        ("scope=a&limit=%C2%B2", "limit"),
        (f"scope=a&limit={MOST_LINES + 1}", "limit"),
        ("scope=a&limit=" + "9" * 5_000, "limit"),  # more digits than Python reads
    ],
)
def test_what_is_missing_or_out_of_range_is_named(query: str, param: str, proxy: Proxy) -> None:
    answer = proxy.http.get(f"{LOG}?{query}")
    assert error(answer) == (400, None if param in query else "missing_required_parameter")
    assert answer.json()["error"]["param"] == param


def test_an_entry_is_told_with_its_own_lines(proxy: Proxy) -> None:
    scope, entry = proxy.kept()
    proxy.kept(scope=scope)
    told = proxy.http.get(f"{LOG}/{entry.id}").json()
    assert told["scope"] == scope
    assert (told["entry"]["id"], told["entry"]["question"]) == (entry.id, entry.question)
    assert (told["entry"]["context"], told["entry"]["evicted"]) == (["Hola"], False)
    assert [line["result"] for line in told["log"]] == ["negation", "hit", "hit"]
    assert {line["entry_id"] for line in told["log"]} == {entry.id}


# --- reporting --------------------------------------------------------------------------------------------------------


def test_a_reported_answer_is_gone_and_needs_more_to_come_back(proxy: Proxy) -> None:
    scope, entry = proxy.kept()
    reports = total(proxy.services, "olvido_reuse_reports_total", kind="wrong")
    told = proxy.http.post(f"{LOG}/{entry.id}/wrong")
    assert told.status_code == 200
    assert told.json() == {"id": entry.id, "evicted": True, "min_cosine": pytest.approx(0.96), "strikes": 1}
    assert proxy.nearest(scope) == []
    shown = proxy.http.get(f"{LOG}/{entry.id}").json()["entry"]
    assert (shown["evicted"], shown["strikes"], shown["min_cosine"]) == (True, 1, pytest.approx(0.96))
    reported = proxy.http.get(LOG, params={"scope": scope}).json()["reported"]
    assert reported == {entry.id: {name: shown[name] for name in ("min_cosine", "strikes", "evicted_at")}}
    assert total(proxy.services, "olvido_reuse_reports_total", kind="wrong") == reports + 1


def test_no_other_entry_is(proxy: Proxy) -> None:
    scope, entry = proxy.kept()
    _, neighbour = proxy.kept(scope=scope)
    elsewhere, same_words = proxy.kept()
    proxy.http.post(f"{LOG}/{entry.id}/wrong")
    for owner, other in ((scope, neighbour), (elsewhere, same_words)):
        assert proxy.nearest(owner) == [other.id]
        assert proxy.http.get(f"{LOG}/{other.id}").json()["entry"]["strikes"] == 0


def test_a_report_may_have_a_body_and_leaves_the_connection_usable(proxy: Proxy) -> None:
    _, entry = proxy.kept()
    assert proxy.http.post(f"{LOG}/{entry.id}/wrong", json={"why": "x" * 10_000}).status_code == 200
    assert proxy.http.get("/healthz").status_code == 200


@pytest.mark.parametrize("unknown", ["r-ffffffffffffffff", "x", "%00", "%ff", "' OR 1=1", "%F0%9F%8C%B5" * 100])
def test_an_unknown_entry_is_told_to_be_so(unknown: str, proxy: Proxy) -> None:
    assert error(proxy.http.get(f"{LOG}/{unknown}")) == (404, "unknown_url")
    told = proxy.http.post(f"{LOG}/{unknown}/wrong")
    assert error(told) == (404, "unknown_url")
    assert len(told.json()["error"]["message"]) < 200


# --- who may not ------------------------------------------------------------------------------------------------------


def attempts(proxy: Proxy, entry: ReuseEntry, scope: str, headers: dict[str, str]) -> list[httpx.Response]:
    return [
        proxy.http.get(LOG, params={"scope": scope}, headers=headers),
        proxy.http.get(f"{LOG}/{entry.id}", headers=headers),
        proxy.http.post(f"{LOG}/{entry.id}/wrong", headers=headers),
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.com:8484"},
        {"origin": "https://evil.com"},
        {"origin": "https://evil.com", "content-type": "text/plain"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null"},
        {"origin": "http://[evil"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.com", "origin": "http://evil.com", "sec-fetch-site": "same-origin"},
    ],
)
def test_without_a_token_a_page_of_another_site_learns_and_changes_nothing(
    headers: dict[str, str], proxy: Proxy
) -> None:
    scope, entry = proxy.kept()
    for answer in attempts(proxy, entry, scope, headers):
        assert error(answer) in ((403, "forbidden"), (403, "foreign_host"))
        assert entry.question not in answer.text
        assert scope not in answer.text
    assert proxy.http.get(f"{LOG}/{entry.id}").json()["entry"]["strikes"] == 0


@pytest.mark.parametrize("authorization", ["", "Bearer sk-a-clients-key", f"Basic {TOKEN}"])
def test_with_a_token_nobody_else_learns_or_changes_anything(authorization: str, guarded: Proxy) -> None:
    scope, entry = guarded.kept()
    for answer in attempts(guarded, entry, scope, {"authorization": authorization}):
        assert error(answer) == (401, "invalid_api_key")
        assert entry.question not in answer.text
        assert TOKEN not in answer.text
    known = guarded.http.get(f"{LOG}/{entry.id}", headers={"authorization": f"Bearer {TOKEN}"})
    assert known.json()["entry"]["strikes"] == 0


def test_who_may_not_is_not_told_what_there_is(guarded: Proxy) -> None:
    _, entry = guarded.kept()
    told = [guarded.http.get(f"{LOG}/{each}") for each in (entry.id, "r-ffffffffffffffff")]
    assert told[0].content == told[1].content
    assert error(guarded.http.get(LOG)) == (401, "invalid_api_key")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "r-0000000000000001/wrong", 405),
        ("DELETE", "r-0000000000000001", 405),
        ("PUT", "r-0000000000000001", 405),
        ("POST", "r-0000000000000001", 405),
        ("POST", "r-0000000000000001/wrong/", 404),
        ("POST", "a/b/wrong", 404),
    ],
)
def test_nothing_else_is_there(method: str, path: str, status: int, proxy: Proxy) -> None:
    answer = proxy.http.request(method, f"{LOG}/{path}", headers={"origin": "https://evil.com"})
    assert error(answer)[0] == status
    assert not any(name.startswith("access-control-") for name in answer.headers)
