"""The list of requests: filters and search, in a real proxy."""

from collections.abc import Iterator, Mapping
from time import time
from typing import Any

import pytest

from proxy.admin import finding
from proxy.types import ArchivedTurn, Utterance
from tests.admin.conftest import ADMITTED, API, Watched, error, said


@pytest.fixture(scope="module")
def scope(watched: Watched) -> str:
    """With a row of every kind."""
    scope = watched.scope()
    for request_id, how in KINDS.items():
        watched.wrote(scope, request_id=request_id, **how)
    return scope


LONG_AGO = time() - 86_400
KINDS: Mapping[str, dict[str, Any]] = {
    "old": {"at": LONG_AGO},
    "plain": {},
    "other model": {"model": "n"},
    "managed": {"plan": "managed", "cost_saved": 0.5, "mechanisms": {"window": 9}},
    "dearer": {"plan": "managed", "cost_saved": -0.5, "mechanisms": {"recall": 9}},
    "exact": {"source": "exact"},
    "refused": {"status": 429, "outcome": "upstream_error"},
    "broken": {"outcome": "upstream_broken"},
    "left": {"outcome": "client_gone"},
    "messages": {"route": "/v1/messages", "session": "unmanaged"},
    "models": {"route": "/v1/models", "session": "unmanaged", "status": 503},
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, list(KINDS)),
        ({"model": "n"}, ["other model"]), ({"model": "none"}, []),
        ({"plan": "managed"}, ["managed", "dearer"]),
        ({"plan": "untouched"}, ["old", "plain", "other model", "refused", "broken", "left"]),
        ({"source": "exact"}, ["exact"]), ({"dearer": "true"}, ["dearer"]),
        ({"failed": "true"}, ["refused", "broken", "models"]),
        ({"failed": "true", "unmanaged": "false"}, ["refused", "broken"]),
        ({"failed": "false", "unmanaged": "true"}, ["messages"]),
        ({"unmanaged": "true"}, ["messages", "models"]), ({"route": "/v1/messages"}, ["messages"]),
        ({"since": LONG_AGO + 1, "plan": "managed"}, ["managed", "dearer"]), ({"until": LONG_AGO + 1}, ["old"]),
        ({"until": LONG_AGO}, []), ({"since": LONG_AGO, "until": LONG_AGO + 1}, ["old"]),
        ({"text": "deare"}, ["dearer"]), ({"text": "UNMANAGED"}, ["messages", "models"]),
        ({"text": "nothing has this"}, []), ({"text": "unmanaged", "failed": "true"}, ["models"]),
    ],
)  # fmt: skip
def test_filters_choose_rows(watched: Watched, scope: str, query: dict[str, Any], found: list[str]) -> None:
    told = watched.get("requests", scope=scope, limit=100, **query)
    assert [row["request_id"] for row in told["requests"]] == found[::-1]
    assert (told["next"], told["looked_back_to"]) == (None, None)


@pytest.mark.parametrize("query", [{"plan": "managed"}, {"failed": "false"}, {"text": "e"}, {}])
def test_pages_add_up_to_the_list(watched: Watched, scope: str, query: dict[str, str]) -> None:
    whole = [row["request_id"] for row in watched.get("requests", scope=scope, limit=100, **query)["requests"]]
    for size in (1, 2, 3):
        assert [row["request_id"] for row in pages(watched, scope=scope, limit=size, **query)] == whole


def pages(watched: Watched, **query: Any) -> Iterator[Any]:
    before: dict[str, int] = {}
    while True:
        told = watched.get("requests", **query, **before)
        assert len(told["requests"]) <= query["limit"]
        yield from told["requests"]
        if told["next"] is None:
            return
        before = {"before": told["next"]}


def test_a_search_without_time_left_says_how_far_it_has_looked(
    watched: Watched, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "BUDGET", 0.0)
    monkeypatch.setattr(finding, "CHUNK", 2)
    monkeypatch.setattr(finding, "SCANNED", 4)
    told = watched.get("requests", scope=scope, text="plain")
    assert told["requests"] == []
    assert told["next"] is not None
    assert told["looked_back_to"] > LONG_AGO
    found = [row["request_id"] for row in pages(watched, scope=scope, text="plain", limit=5)]
    assert found == ["plain"]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"plan": "manged"}, "plan"), ({"source": "nowhere"}, "source"), ({"failed": "perhaps"}, "failed"),
        ({"text": "x" * 201}, "text"), ({"since": "-1"}, "since"), ({"txt": "x"}, "txt"), ({"model": ""}, "model"),
    ],
)  # fmt: skip
def test_what_is_no_filter_is_named(watched: Watched, query: dict[str, str], param: str) -> None:
    answer = watched.http.get(f"{API}/requests", params=query)
    assert error(answer)[0] == 400
    assert answer.json()["error"]["param"] == param


# --- contents ---


def test_contents_are_searched_and_questions_told(watched: Watched) -> None:
    scope = f"{watched.scope()[:32]}/finder"
    said(watched, scope, "f1", "¿Qué canción?", "La Bamba,\nby night", session="f")
    said(watched, scope, "f2", "And then?", "Nothing", session="f")
    watched.wrote(scope, request_id="f3", session="f")
    link = b"f" * 16
    turn = ArchivedTurn(link, b"", "f", 1, time(), b"[]", (Utterance("user", "How it\nall began", link),))
    watched.inside.do(lambda: watched.services.storage.archive.add(scope, turn, None))

    (found,) = watched.get("requests", scope=scope, text="cancion bamba")["requests"]
    assert (found["request_id"], found["question"], found["excerpt"]) == ("f1", "¿Qué canción?", "La Bamba, by night")
    assert found["session_question"] == "How it all began"
    # Neither what was said before, nor another's.
    assert watched.get("requests", scope=scope, text="long ago")["requests"] == []
    assert watched.get("requests", scope=f"{scope}x", text="bamba")["requests"] == []
    # By the name of its conversation.
    assert len(watched.get("requests", scope=scope, text="began")["requests"]) == 3
    listed = watched.get("requests", scope=scope, questions="true")["requests"]
    assert [row.get("question") for row in listed] == [None, "And then?", "¿Qué canción?"]
    assert "question" not in watched.get("requests", scope=scope)["requests"][1]


def test_where_contents_may_not_be_shown_nothing_is_named(locked: Watched) -> None:
    scope = locked.scope()
    locked.wrote(scope)
    for query in ({"questions": "true"}, {"text": "s"}):
        told = locked.http.get(f"{API}/requests", params={"scope": scope, **query}, headers=ADMITTED).json()
        (row,) = told["requests"]
        assert (row["session_question"], row.get("question"), row.get("excerpt")) == (None, None, None)
