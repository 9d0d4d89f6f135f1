"""Requests in a list, and one looked into, as it went through a real proxy."""

from typing import Any

import httpx
import pytest

from proxy.admin.requests import MOST_REQUESTS
from tests.admin.conftest import API, MODEL, TOKEN, Watched, error
from tests.builders import Said, assistant, body, system, user
from tests.proxied import KEY
from tests.servers import eventually


def asked(watched: Watched, *said: Said, user: str = "", **headers: str) -> tuple[str, str]:
    """Sends a chat; its id and scope, once it is written down."""
    headers["x-olvido-user"] = user or watched.scope()[33:]
    answer = watched.client.post("/v1/chat/completions", content=body(*said, model=MODEL), headers=headers)
    assert answer.status_code == 200
    request = answer.headers["x-olvido-request"]
    eventually(lambda: watched.http.get(f"{API}/requests/{request}").status_code == 200)
    scope: str = watched.get(f"requests/{request}")["request"]["scope"]
    return request, scope


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
    assert watched.get("requests", scope="nobody/") == {"requests": [], "next": None}


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


def test_a_request_is_told_with_what_was_said_and_answered_and_no_key(watched: Watched) -> None:
    request, scope = asked(watched, system("Be brief."), user("hi"), **{"user-agent": "sdk/1"})
    eventually(lambda: watched.get(f"requests/{request}")["has_content"])
    answer = watched.http.get(f"{API}/requests/{request}", params={"scope": scope})
    told = answer.json()
    assert (told["request"]["request_id"], told["request"]["number"], told["request"]["plan"]) == (
        request,
        None,
        "untouched",
    )
    assert [(each["role"], each["text"], each["fate"]) for each in told["messages"]] == [
        ("system", "Be brief.", "kept"),
        ("user", "hi", "kept"),
    ]
    assert all(each["tokens"] > 0 for each in told["messages"])
    assert told["sent"] == [{"role": "system", "text": "Be brief."}, {"role": "user", "text": "hi"}]
    assert told["answer"]
    assert told["headers"]["user-agent"] == "sdk/1"
    assert KEY not in answer.text


def test_of_a_long_conversation_what_left_the_window_is_told_with_its_place_taker(watched: Watched) -> None:
    long = "The harbour of the old town has forty moorings and a lighthouse that Melquiades paints. " * 8
    told: list[Said] = [system("Be brief.")]
    for number in range(30):
        told += [user(f"{number}. {long}"), assistant(f"({number}) {long}")]
    person = watched.scope()[33:]
    request, _ = asked(watched, *told, user("And what now?"), user=person)
    found: dict[str, Any] = watched.get(f"requests/{request}")
    assert found["request"]["plan"] == "managed"
    assert found["request"]["trail"]["turns"] == 31
    fates = {each["fate"] for each in found["messages"]}
    assert "kept" in fates
    assert fates & {"folded", "left out"}
    assert (found["messages"][0]["fate"], found["messages"][-1]["fate"]) == ("kept", "kept")
    assert len(found["sent"]) < len(found["messages"]) == 62
    assert found["head"] in "\n".join(each["text"] for each in found["sent"])
    small = watched.get("requests", scope=found["request"]["scope"])["requests"][0]["trail"]
    assert set(small) == {"turns", "kept", "shift", "break_even"}


def test_without_contents_the_row_is_told_and_nothing_is_missing(watched: Watched) -> None:
    scope = watched.scope()
    row = watched.wrote(scope)
    told = watched.get(f"requests/{row.request_id}", scope=scope)
    assert told["request"]["cost"] == row.cost
    assert (told["has_content"], told["messages"], told["answer"], told["sent"]) == (False, [], None, [])


def test_where_nothing_is_shown_nothing_is(locked: Watched) -> None:
    answer = locked.client.post("/v1/chat/completions", content=body(user("a secret"), model=MODEL))
    request = answer.headers["x-olvido-request"]
    headers = {"authorization": f"Bearer {TOKEN}"}

    def found() -> httpx.Response:
        return locked.http.get(f"{API}/requests/{request}", headers=headers)

    eventually(lambda: found().status_code == 200)
    assert found().json()["has_content"] is False
    assert "secret" not in found().text


def test_a_request_of_another_scope_and_one_that_is_none_are_not_there(watched: Watched) -> None:
    row = watched.wrote(watched.scope())
    for path in (f"requests/{row.request_id}?scope={watched.scope()}", "requests/req_none", "requests/%00"):
        answer = watched.http.get(f"{API}/{path}")
        assert error(answer) == (404, "unknown_url")
