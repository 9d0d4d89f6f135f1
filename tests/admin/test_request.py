"""One request, looked into: in a real proxy, and as it is explained."""

from dataclasses import replace
from functools import partial
from time import time
from typing import Any

import httpx
import msgspec
import pytest

from proxy.admin.request import NOTHING_KEPT, explained
from proxy.context.layout import pack
from proxy.conversation.blocks import memory_head
from proxy.errors import BadRequest
from proxy.types import Contents, Fates, LedgerRow
from tests.admin.conftest import API, MODEL, TOKEN, Watched, error
from tests.builders import NOW, TENANT, Said, assistant, body, calling, ledger_row, messages, result, system, user
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
    assert [(each["role"], each["text"]) for each in told["sent"]] == [("system", "Be brief."), ("user", "hi")]
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


def test_it_is_judged_with_its_conversation_so_far(watched: Watched) -> None:
    scope, at = watched.scope(), time()
    managed = {"plan": "managed", "mechanisms": {"window": 900, "recall": 40}, "session": "long"}
    watched.wrote(scope, at=at - 2, cost=0.25, cost_saved=0.5, tokens_original=1_000, tokens_sent=500, **managed)
    row = watched.wrote(scope, at=at - 1, cost=0.5, cost_saved=-0.25, tokens_original=1_200, tokens_sent=700, **managed)
    watched.wrote(scope, at=at, cost=9.0, session="long")  # afterwards
    told = watched.get(f"requests/{row.request_id}", scope=scope)["verdict"]
    assert (told["kind"], told["cause"], told["tokens"], told["dollars"]) == ("dearer", "recalled", 40, -0.25)
    so_far = {"requests": 2, "cost": 0.75, "passthrough": 1.0, "original": 2_200, "sent": 1_200}
    assert told["so_far"] == so_far


def test_tries_of_an_sdk_are_told_together(watched: Watched) -> None:
    scope, at = watched.scope(), time()
    failed = watched.wrote(scope, at=at - 9, status=503, outcome="upstream_error", total_seconds=1.0)
    row = watched.wrote(scope, at=at - 7)
    for each in (failed, row):
        told = watched.get(f"requests/{each.request_id}", scope=scope)["attempts"]
        assert [(one["request_id"], one["status"]) for one in told] == [(failed.request_id, 503), (row.request_id, 200)]
    found = watched.get(f"sessions/{row.session}", scope=scope)["attempts"]
    assert found == {failed.request_id: failed.request_id, row.request_id: failed.request_id}


@pytest.mark.parametrize(("other", "many"), [("b", 0), ("a", 2)])
def test_tries_that_asked_for_something_else_are_none(watched: Watched, other: str, many: int) -> None:
    scope, at = watched.scope(), time()
    failed = watched.wrote(scope, at=at - 9, status=503, outcome="upstream_error", total_seconds=1.0)
    row = watched.wrote(scope, at=at - 7)
    for each, said in ((failed, "a"), (row, other)):
        kept = Contents(scope, each.request_id, each.session, each.at, body(user(said)))
        watched.inside.do(partial(watched.services.storage.contents.put, kept))
    assert len(watched.get(f"requests/{row.request_id}", scope=scope)["attempts"]) == many


def test_a_request_of_another_scope_and_one_that_is_none_are_not_there(watched: Watched) -> None:
    row = watched.wrote(watched.scope())
    for path in (f"requests/{row.request_id}?scope={watched.scope()}", "requests/req_none", "requests/%00"):
        answer = watched.http.get(f"{API}/{path}")
        assert error(answer) == (404, "unknown_url")


TOLD = (system("s"), user("one"), assistant("1"), user("two"), assistant("2"), user("three"))
HEAD = memory_head("- vive en Rosario", ())
SENT = messages(system("s"), user(f"{HEAD}\n\ntwo"), assistant("2"), user("three"))
FATES = Fates(preamble=1, left=3, start=3, newest=5, summaries=((1, 1),), head=HEAD)
CONTENTS = Contents(
    scope=f"{TENANT}/",
    request_id="req_1",
    session="s",
    at=NOW,
    body=body(*TOLD),
    sent=b"[" + b",".join(said.raw for said in SENT) + b"]",
    fates=pack(FATES),
    answer=msgspec.json.encode(assistant("3")),
    headers={"user-agent": "sdk/1", "x-olvido-session": "s"},
)
ROW = ledger_row(plan="managed", mechanisms={"window": 9, "summaries": 4})


def explanation(contents: Contents = CONTENTS, row: LedgerRow = ROW) -> Any:
    return explained(row, contents, lambda said: len(said.raw))


def test_all_that_is_kept_is_told() -> None:
    found = explanation()
    assert found.keys() == NOTHING_KEPT.keys()
    assert (found["has_content"], found["answer"], found["headers"]) == (True, "3", dict(CONTENTS.headers))
    assert (found["head"], found["volatile"]) == (HEAD, "")
    assert [each["fate"] for each in found["messages"]] == ["kept", "folded", "folded", "kept", "kept", "kept"]
    assert found["messages"][1] == {
        "index": 1,
        "role": "user",
        "tokens": len(messages(TOLD[1])[0].raw),
        "fate": "folded",
        "why": "turn 1 left the window for a summary",
        "text": "one",
        "images": 0,
        "calls": [],
        "tool": None,
    }
    assert (found["sent"][1]["role"], found["sent"][1]["text"]) == ("user", f"{HEAD}\n\ntwo")


def test_what_was_not_changed_was_sent_as_it_was() -> None:
    found = explanation(replace(CONTENTS, sent=b"", fates=b""), ledger_row())
    assert {each["fate"] for each in found["messages"]} == {"kept"}
    assert [each["text"] for each in found["sent"]] == ["s", "one", "1", "two", "2", "three"]


@pytest.mark.parametrize("source", ["exact", "intent"])
def test_what_was_answered_from_memory_was_sent_nowhere(source: str) -> None:
    assert explanation(replace(CONTENTS, sent=b"", fates=b""), ledger_row(source=source))["sent"] == []


def test_of_what_is_no_text_it_is_told_what_it_is() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    said = [user([{"type": "text", "text": "look"}, image, image]), calling("c-1"), result("c-1", "done"), user("so?")]
    found = explanation(replace(CONTENTS, body=body(*said), sent=b"", fates=b""))["messages"]
    assert [(each["text"], each["images"]) for each in found] == [("look", 2), (None, 0), ("done", 0), ("so?", 0)]
    assert found[1]["calls"] == [{"name": "look", "arguments": "{}"}]
    assert [each["tool"] for each in found] == [None, None, "look", None]


def test_what_the_model_got_and_answered_is_told_with_its_calls() -> None:
    said = body(user("look"), calling("c-1"), result("c-1", "done"), user("again"))
    kept = replace(CONTENTS, body=said, sent=b"", fates=b"", answer=msgspec.json.encode(calling("c-2")))
    found = explanation(kept, ledger_row())
    look = [{"name": "look", "arguments": "{}"}]
    assert [each["calls"] for each in found["sent"]] == [[], look, [], []]
    assert found["sent"][2]["tool"] == "look"
    assert (found["answer"], found["answer_calls"]) == (None, look)


@pytest.mark.parametrize(
    "calls", [7, ["x"], [{}], [{"function": {"name": 7}}], [{"function": {"name": "f", "arguments": None}}]]
)
def test_calls_that_are_none_harm_nobody(calls: Any) -> None:
    assert explanation(replace(CONTENTS, body=body(user("q"), assistant(None, tool_calls=calls)), sent=b"", fates=b""))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", None),
        (b"{", None),
        (b"7", None),
        (msgspec.json.encode(assistant(None)), None),
        (msgspec.json.encode(assistant("ok")), "ok"),
    ],
)
def test_an_answer_is_told_if_there_is_one(answer: bytes, text: str | None) -> None:
    assert explanation(replace(CONTENTS, answer=answer))["answer"] == text


@pytest.mark.parametrize("name", ["authorization", "Authorization", "cookie", "x-api-key", "api-key", "helicone-auth"])
def test_a_key_is_not_told_though_it_were_kept(name: str) -> None:
    found = explanation(replace(CONTENTS, headers={name: "sk-secret", "user-agent": "sdk/1"}))
    assert found["headers"] == {"user-agent": "sdk/1"}
    assert "sk-secret" not in str(found)


@pytest.mark.parametrize("fates", [b"\xff", b"\x81"])
def test_fates_that_are_none_are_told(fates: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        explanation(replace(CONTENTS, fates=fates))


def test_a_body_that_is_none_is_told() -> None:
    with pytest.raises(BadRequest):
        explanation(replace(CONTENTS, body=b"{"))
