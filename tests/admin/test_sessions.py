"""Conversations in a list, and one with its turns."""

from time import time

import pytest

from proxy.types import ArchivedTurn, Utterance
from tests.admin.conftest import API, Watched, error

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
