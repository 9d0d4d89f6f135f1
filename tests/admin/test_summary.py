"""Sums over time: how wide a point is, what groups say, and that they are those of the ledger."""

from time import time
from typing import Any, get_args

import pytest

from proxy.admin.summary import By, point_width, summary_of
from proxy.types import Bucket, Sums
from tests.admin.conftest import API, Watched, error

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
def test_what_is_out_of_range_is_named(query: dict[str, str], param: str, watched: Watched) -> None:
    answer = watched.http.get(f"{API}/summary", params=query)
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == param


def test_scopes_are_told_with_when_each_was_last_heard_of(watched: Watched) -> None:
    scope, at = watched.scope(), time() + 1_000
    watched.wrote(scope, at=at)
    newest = watched.get("scopes")["scopes"][0]
    assert newest == {"scope": scope, "last_at": at}
