"""Sums; requests and conversations in lists, looked into, and as they happen, in a real proxy."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from time import time
from typing import Any, get_args

import httpx
import msgspec
import pytest

from proxy.admin.finding import MOST_REQUESTS
from proxy.admin.ledger import LIVE_HEADERS, By, point_width, summary_of
from proxy.types import ArchivedTurn, Bucket, Sums, Utterance
from tests.admin.conftest import API, MODEL, Watched, error, started
from tests.builders import body, user
from tests.servers import eventually


def test_requests_are_told_newest_first_a_page_at_a_time(watched: Watched) -> None:
    scope = watched.scope()
    rows = [watched.wrote(scope, session=f"s{number % 2}") for number in range(5)]
    first = watched.get("requests", scope=scope, limit=2)
    assert [row["request_id"] for row in first["requests"]] == [rows[4].request_id, rows[3].request_id]
    second = watched.get("requests", scope=scope, limit=3, before=first["next"])
    assert [row["request_id"] for row in second["requests"]] == [row.request_id for row in rows[2::-1]]
    assert second["next"] is None
    one = watched.get("requests", scope=scope, session="s1")
    assert [row["request_id"] for row in one["requests"]] == [rows[3].request_id, rows[1].request_id]
    assert watched.get("requests", scope="nobody/") == {"requests": [], "next": None, "looked_back_to": None}


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": str(MOST_REQUESTS + 1)}, "limit"),
        ({"before": "x"}, "before"),
        ({"before": str(2**63)}, "before"),
        ({"before": "0"}, "before"),
    ],
)
def test_what_is_out_of_range_is_named(query: dict[str, str], param: str, watched: Watched) -> None:
    answer = watched.http.get(f"{API}/requests", params=query)
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == param


# --- conversations ---


LINKS = [bytes([number]) * 16 for number in range(3)]


def turn(watched: Watched, scope: str, session: str, number: int, said: str) -> None:
    link, parent = LINKS[number], LINKS[number - 1] if number > 1 else b""
    told = (Utterance("user", said, b"u" + link[1:]), Utterance("assistant", "Bien.", link))
    archived = ArchivedTurn(link, parent, session, number, time(), b"[]", told)
    watched.inside.do(lambda: watched.services.storage.archive.add(scope, archived, None))


def test_conversations_are_told_latest_first_a_page_at_a_time(watched: Watched) -> None:
    scope, at = watched.scope(), time()
    for number in range(3):
        watched.wrote(scope, session=f"s{number}", at=at + number, cost=1.0)
        watched.wrote(scope, session=f"s{number}", at=at + number + 0.5, cost=2.0)
    first = watched.get("sessions", scope=scope, limit=2)
    assert [each["session"] for each in first["sessions"]] == ["s2", "s1"]
    newest = first["sessions"][0]
    assert (newest["scope"], newest["first_at"], newest["last_at"]) == (scope, at + 2, at + 2.5)
    assert (newest["sums"]["requests"], newest["sums"]["cost"]) == (2, 3.0)
    second = watched.get("sessions", scope=scope, limit=2, before=first["next"])
    assert ([each["session"] for each in second["sessions"]], second["next"]) == (["s0"], None)


@pytest.mark.parametrize("name", ["plain", "with/slashes/and=more", "a:b@c+d"])
def test_a_conversation_is_told_from_its_first_request_with_the_tree_of_its_turns(name: str, watched: Watched) -> None:
    scope = watched.scope()
    rows = [watched.wrote(scope, session=name, at=time() + number) for number in range(2)]
    watched.wrote(scope, session="another")
    turn(watched, scope, name, 1, "¿Qué conviene plantar?")
    turn(watched, scope, name, 2, "¿Y en invierno?")
    told = watched.get(f"sessions/{name}", scope=scope)
    assert (told["scope"], told["session"]) == (scope, name)
    assert [row["request_id"] for row in told["requests"]] == [row.request_id for row in rows]
    assert [(each["turn"], each["link"], each["parent"]) for each in told["turns"]] == [
        (1, LINKS[1].hex(), ""),
        (2, LINKS[2].hex(), LINKS[1].hex()),
    ]
    assert [each["begins"] for each in told["turns"]] == ["¿Qué conviene plantar?", "¿Y en invierno?"]


def test_without_a_scope_the_latest_of_this_name_is_meant_and_nobody_elses_is_told(watched: Watched) -> None:
    name, one, other = watched.scope(), watched.scope(), watched.scope()
    for scope in (one, other, one):
        watched.wrote(scope, session=name)
    told = watched.get(f"sessions/{name}")
    assert (told["scope"], len(told["requests"])) == (one, 2)


def test_where_nothing_is_shown_the_turns_say_no_word(locked: Watched) -> None:
    scope = locked.scope()
    locked.wrote(scope, session="s")
    turn(locked, scope, "s", 1, "a secret")
    headers = {"authorization": "Bearer an-admin-token-0123456789"}
    answer = locked.http.get(f"{API}/sessions/s", params={"scope": scope}, headers=headers)
    assert answer.status_code == 200
    assert set(answer.json()["turns"][0]) == {"link", "parent", "turn", "at"}
    assert "secret" not in answer.text


def test_an_unknown_conversation_is_told_to_be_so(watched: Watched) -> None:
    watched.wrote(watched.scope(), session="known")
    for path in ("sessions/nobody", "sessions/known?scope=nobody/"):
        assert error(watched.http.get(f"{API}/{path}")) == (404, "unknown_url")


# --- what happens now, over a real connection ---


def told(lines: Iterator[str], name: str) -> Any:
    """The data of the next event of this name."""
    for line in lines:
        if line == f"event: {name}":
            return msgspec.json.decode(next(lines).removeprefix("data: "))
    pytest.fail("the stream has ended")


def test_a_request_is_told_while_it_is_still_new_and_nobody_looks_afterwards(watched: Watched) -> None:
    with watched.http.stream("GET", f"{API}/live") as stream:
        assert stream.status_code == 200
        assert {name: stream.headers[name] for name, _ in LIVE_HEADERS} == dict(LIVE_HEADERS)
        lines = stream.iter_lines()
        totals = told(lines, "totals")
        answer = watched.client.post("/v1/chat/completions", content=body(user("hi"), model=MODEL))
        request = told(lines, "requests")["requests"][-1]
        assert request["request_id"] == answer.headers["x-olvido-request"]
        assert request["number"] > 0
        assert told(lines, "totals")["hour"]["requests"] > totals["hour"]["requests"]
    eventually(lambda: not watched.admin.feed.is_looking)


def test_a_head_is_no_stream(watched: Watched) -> None:
    answer = watched.http.head(f"{API}/live")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    assert not watched.admin.feed.is_looking


def test_a_server_that_stops_does_not_wait_for_who_watches() -> None:
    with ExitStack() as stack:
        # It would wait for a minute for answers that are under way; the fixture gives it ten seconds.
        proxy = started(stack, server={"port": 0, "drain": 60})
        url = str(proxy.http.base_url)
        ended = threading.Event()
        begun = threading.Event()

        def watch() -> None:
            with httpx.stream("GET", f"{url}{API}/live", timeout=30, trust_env=False) as stream:
                for _ in stream.iter_lines():
                    begun.set()
            ended.set()

        watching = threading.Thread(target=watch)
        watching.start()
        assert begun.wait(10)
    watching.join(100)
    assert ended.is_set()  # and cleanly, not broken off


HOUR, DAY = 3_600.0, 86_400.0

BUCKETS = [
    Bucket(0.0, "a", Sums(requests=1, cost=1.0)),
    Bucket(0.0, "b", Sums(requests=2, cost=3.0)),
    Bucket(60.0, "a", Sums(requests=4, cost=0.5)),
]


@pytest.mark.parametrize(
    ("span", "width"),
    [
        (1.0, 60),
        (HOUR, 60),
        (6 * HOUR, 60),
        (6 * HOUR + 1, 3_600),
        (14 * DAY, 3_600),
        (14 * DAY + 1, 86_400),
        (3_650 * DAY, 86_400),
    ],
)
def test_points_are_as_wide_as_the_span_is_long(span: float, width: int) -> None:
    assert point_width(span) == width


def test_groups_are_told_the_dearest_first_and_points_by_name() -> None:
    told = summary_of(BUCKETS, "model")
    assert [(each["name"], each["sums"]["requests"], each["sums"]["cost"]) for each in told["groups"]] == [
        ("b", 2, 3.0),
        ("a", 5, 1.5),
    ]
    assert [(each["at"], each["name"], each["sums"]["requests"]) for each in told["points"]] == [
        (0.0, "a", 1),
        (0.0, "b", 2),
        (60.0, "a", 4),
    ]
    assert told["totals"]["requests"] == 7


def test_by_nothing_there_are_points_and_no_groups() -> None:
    told = summary_of([Bucket(0.0, "", Sums(requests=3)), Bucket(60.0, "", Sums(requests=4))], "")
    assert told["groups"] == []
    assert [(each["at"], each["sums"]["requests"]) for each in told["points"]] == [(0.0, 3), (60.0, 4)]
    assert all("name" not in each for each in told["points"])


def test_by_mechanism_each_has_what_it_saved_and_moments_are_whole() -> None:
    buckets = [
        Bucket(0.0, "exact", Sums(requests=2, reused_exact=2, tokens_reused=30, saved_exact=0.3)),
        Bucket(0.0, "intent", Sums(requests=1, reused_intent=1, tokens_reused=12, saved_intent=0.1)),
        Bucket(
            0.0,
            "upstream",
            Sums(
                requests=5,
                managed=3,
                tokens_original=900,
                tokens_sent=300,
                saved_context=0.5,
                added_context=0.1,
                window=700,
                recall=100,
                summaries=5,
            ),
        ),
    ]
    told = summary_of(buckets, "mechanism")
    groups = {each.pop("name"): each for each in told["groups"]}
    assert groups["exact"] == {"tokens_saved": 30, "dollars_saved": 0.3, "requests": 2}
    assert groups["intent"] == {"tokens_saved": 12, "dollars_saved": 0.1, "requests": 1}
    assert groups["context"] == {"tokens_saved": 600, "dollars_saved": 0.4, "requests": 3}
    assert {name: groups[name]["tokens"] for name in ("window", "capped", "recall", "summaries")} == {
        "window": 700,
        "capped": 0,
        "recall": 100,
        "summaries": 5,
    }
    assert set(groups) == {
        "exact",
        "intent",
        "context",
        "window",
        "capped",
        "tools",
        "elided",
        "pruned",
        "desk",
        "summaries",
        "facts",
        "recall",
    }
    assert [(each["at"], each["sums"]["requests"]) for each in told["points"]] == [(0.0, 8)]


def test_of_nothing_there_are_no_points() -> None:
    for by in get_args(By):
        told = summary_of([], by)
        assert (told["points"], told["totals"]["requests"]) == ([], 0)


# --- over HTTP --------------------------------------------------------------------------------------------------------


def test_without_a_span_the_last_hour_is_told_from_the_beginning_of_a_point(watched: Watched) -> None:
    told = watched.get("summary")
    assert (told["width"], told["by"]) == (60, "")
    assert told["from"] % 60 == 0
    assert HOUR <= told["to"] - told["from"] < HOUR + 60
    assert abs(told["to"] - time()) < 60


@pytest.mark.parametrize("by", get_args(By))
def test_the_sums_are_those_of_the_ledger(by: str, watched: Watched) -> None:
    scope, at = watched.scope(), time()
    watched.wrote(scope, at=at, cost=0.25)
    watched.wrote(scope, at=at, cost=0.5, status=500, outcome="upstream_error")
    watched.wrote(watched.scope(), at=at)  # of somebody else
    told = watched.get("summary", scope=scope, **({"by": by} if by else {}))
    totals = told["totals"]
    assert (totals["requests"], totals["errors"], totals["cost"]) == (2, 1, 0.75)
    assert sum(point["sums"]["requests"] for point in told["points"]) == 2
    names = {group["name"]: group.get("sums", {}).get("requests") for group in told["groups"]}
    wanted: dict[str, Any] = {"model": "m", "upstream": "up", "source": "upstream", "plan": "untouched"}
    if by in wanted:
        assert list(names.values()) == [2]
        assert by == "model" or list(names) == [
            wanted[by]
        ]  # of a model that no upstream has answered for: its own tests


def test_a_span_that_is_over_is_told_as_it_was(watched: Watched) -> None:
    scope, at = watched.scope(), time() - 5 * DAY
    watched.wrote(scope, at=at)
    day = {"from": at - 7 * HOUR, "to": at + 1, "scope": scope}
    told = watched.get("summary", **day)
    assert (told["width"], [point["at"] for point in told["points"]]) == (3_600, [at - at % HOUR])
    assert watched.get("summary", **{"from": at - HOUR, "to": at - 60, "scope": scope})["totals"]["requests"] == 0


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"from": "yesterday"}, "from"),
        ({"to": "-1"}, "to"),
        ({"by": "colour"}, "by"),
        ({"from": "10", "to": "10"}, "from"),
        ({"from": "20", "to": "10"}, "from"),
        ({"from": "0"}, "from"),
    ],
)
def test_what_is_out_of_range_is_named_summary(query: dict[str, str], param: str, watched: Watched) -> None:
    answer = watched.http.get(f"{API}/summary", params=query)
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == param


def test_scopes_are_told_with_when_each_was_last_heard_of(watched: Watched) -> None:
    scope, at = watched.scope(), time() + 1_000
    watched.wrote(scope, at=at)
    newest = watched.get("scopes")["scopes"][0]
    assert newest == {"key": None, "team": None, "alias": None, "scope": scope, "last_at": at}
