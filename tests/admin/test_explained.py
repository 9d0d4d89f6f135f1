"""What one request said, read back from what is kept of it."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.admin.explained import NOTHING_KEPT, explained
from proxy.context.fates import pack
from proxy.conversation.blocks import head
from proxy.errors import BadRequest
from proxy.types import Contents, Fates, LedgerRow
from tests.builders import NOW, TENANT, assistant, body, calling, ledger_row, messages, result, system, user

TOLD = (system("s"), user("one"), assistant("1"), user("two"), assistant("2"), user("three"))
HEAD = head("- vive en Rosario", ())
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


def told(contents: Contents = CONTENTS, row: LedgerRow = ROW) -> Any:
    return explained(row, contents, lambda said: len(said.raw))


def test_all_that_is_kept_is_told() -> None:
    found = told()
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
    }
    assert found["sent"][1] == {"role": "user", "text": f"{HEAD}\n\ntwo"}


def test_what_was_not_changed_was_sent_as_it_was() -> None:
    found = told(replace(CONTENTS, sent=b"", fates=b""), ledger_row())
    assert {each["fate"] for each in found["messages"]} == {"kept"}
    assert [each["text"] for each in found["sent"]] == ["s", "one", "1", "two", "2", "three"]


@pytest.mark.parametrize("source", ["exact", "intent"])
def test_what_was_answered_from_memory_was_sent_nowhere(source: str) -> None:
    assert told(replace(CONTENTS, sent=b"", fates=b""), ledger_row(source=source))["sent"] == []


def test_of_what_is_no_text_it_is_told_what_it_is() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    said = [user([{"type": "text", "text": "look"}, image, image]), calling("c-1"), result("c-1", "done"), user("so?")]
    found = told(replace(CONTENTS, body=body(*said), sent=b"", fates=b""))["messages"]
    assert [(each["text"], each["images"]) for each in found] == [("look", 2), (None, 0), ("done", 0), ("so?", 0)]
    assert found[1]["calls"] == [{"name": "look", "arguments": "{}"}]


@pytest.mark.parametrize(
    "calls", [7, ["x"], [{}], [{"function": {"name": 7}}], [{"function": {"name": "f", "arguments": None}}]]
)
def test_calls_that_are_none_harm_nobody(calls: Any) -> None:
    assert told(replace(CONTENTS, body=body(user("q"), assistant(None, tool_calls=calls)), sent=b"", fates=b""))


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
    assert told(replace(CONTENTS, answer=answer))["answer"] == text


@pytest.mark.parametrize("name", ["authorization", "Authorization", "cookie", "x-api-key", "api-key", "helicone-auth"])
def test_a_key_is_not_told_though_it_were_kept(name: str) -> None:
    found = told(replace(CONTENTS, headers={name: "sk-secret", "user-agent": "sdk/1"}))
    assert found["headers"] == {"user-agent": "sdk/1"}
    assert "sk-secret" not in str(found)


@pytest.mark.parametrize("fates", [b"\xff", b"\x81"])
def test_fates_that_are_none_are_told(fates: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        told(replace(CONTENTS, fates=fates))


def test_a_body_that_is_none_is_told() -> None:
    with pytest.raises(BadRequest):
        told(replace(CONTENTS, body=b"{"))
