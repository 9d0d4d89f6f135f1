"""The table of APIs, and what of it an upstream gets."""

import json
from typing import Any

import msgspec
import pytest

from proxy.errors import UpstreamBroken
from proxy.protocol import apis
from proxy.protocol.message import message
from proxy.protocol.request import parse

Json = Any
SEALED = {"type": "thinking", "thinking": "Hm", "signature": "s"}


def responses(**more: Json) -> Any:
    return apis.APIS["responses"].parse(json.dumps({"model": "m", "input": "Hi", **more}).encode())


def messages(*said: Json, **more: Json) -> Any:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}, *said], **more}
    return apis.APIS["messages"].parse(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("api", "path"), [("chat", "/chat/completions"), ("responses", "/responses"), ("messages", "/messages")]
)
def test_each_api_has_its_path_and_a_reader_that_has_read_nothing(api: Any, path: str) -> None:
    reader = apis.reader_of(api)
    assert apis.path_of(api) == path
    found = (reader.usage, reader.error, reader.garbage, reader.done, reader.started, reader.finished, reader.complete)
    assert found == (None, None, 0, False, False, False, False)


def test_an_upstream_that_has_the_api_gets_it() -> None:
    origin = responses().origin
    assert apis.has_native(None, ["chat"])
    assert apis.has_native(origin, ["chat", "responses"])
    assert not apis.has_native(origin, ["chat", "messages"])


@pytest.mark.parametrize(
    ("dialect", "ask", "told"),
    [
        ("generic", False, {"model", "messages", "max_tokens", "stream"}),
        ("kimi", True, {"model", "messages", "max_tokens", "stream", "stream_options"}),
        ("openai", True, {"model", "messages", "max_completion_tokens", "stream", "stream_options"}),
    ],
)
def test_a_chat_completion_has_no_field_that_its_upstream_may_not_know(dialect: str, ask: bool, told: set[str]) -> None:
    labels = {"user": "u", "metadata": {"a": "b"}, "prompt_cache_key": "k", "safety_identifier": "s"}
    request = responses(max_output_tokens=9, stream=True, **labels)
    body = apis.chat_body(request, None, tools=None, model=None, ask_usage=ask, dialect=dialect)
    assert set(msgspec.json.decode(body)) == told


def test_instructions_are_one_message_at_the_beginning() -> None:
    items = [
        {"role": "developer", "content": "Two"},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "x"},
    ]
    request = responses(instructions="One", input=items)
    body = apis.chat_body(request, None, tools=None, model="n", ask_usage=False, dialect="kimi")
    told = msgspec.json.decode(body)
    assert (told["model"], [(said["role"], said["content"]) for said in told["messages"]]) == (
        "n",
        [("system", "One\n\nTwo"), ("user", "Hi"), ("system", "x")],
    )


@pytest.mark.parametrize(("dialect", "role"), [("kimi", "system"), ("openai", "developer")])
def test_a_developer_is_known_where_there_are_some(dialect: str, role: str) -> None:
    request = responses(input=[{"role": "user", "content": "Hi"}, {"role": "developer", "content": "Be brief"}])
    body = apis.chat_body(request, None, tools=None, model=None, ask_usage=False, dialect=dialect)
    assert [said["role"] for said in msgspec.json.decode(body)["messages"]] == ["user", role]


def test_an_unchanged_body_is_the_clients_and_another_model_changes_nothing_else() -> None:
    request = messages()
    assert apis.native_body(request, None, None) == request.origin.raw
    changed = apis.native_body(request, None, "n")
    assert changed is not None
    assert msgspec.json.decode(changed) == msgspec.json.decode(request.origin.raw) | {"model": "n"}


def test_signed_reasoning_is_not_sent_without_its_own_bytes() -> None:
    request = messages({"role": "assistant", "content": [SEALED, {"type": "text", "text": "So"}]})
    sealed = request.messages[1]
    assert apis.native_body(request, request.messages, None) is not None
    broken = msgspec.structs.replace(sealed, span=b"")
    assert apis.native_body(request, [request.messages[0], broken], None) is None


@pytest.mark.parametrize(
    ("api", "whole", "text"),
    [
        ("chat", {"choices": [{"message": {"content": "Hi"}}]}, "Hi"),
        ("responses", {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}]}, "Hi"),
        ("messages", {"content": [{"type": "text", "text": "Hi"}]}, "Hi"),
    ],
)
def test_a_whole_answer_is_a_completion(api: Any, whole: Json, text: str) -> None:
    made = apis.as_completion(api, json.dumps(whole).encode())
    assert made is not None
    assert msgspec.json.decode(made)["choices"][0]["message"]["content"] == text


@pytest.mark.parametrize("api", ["responses", "messages"])
@pytest.mark.parametrize("body", [b"{", b"[]"])
def test_an_answer_that_cannot_be_read_is_none(api: Any, body: bytes) -> None:
    assert apis.as_completion(api, body) is None


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_stream_that_breaks_off_says_so_in_its_own_words(api: Any) -> None:
    event = apis.error_event(api, UpstreamBroken("gone")).decode()
    data = json.loads(event.partition("data: ")[2])
    assert "gone" in json.dumps(data)
    assert event.startswith("data: " if api == "chat" else "event: error\n")


def test_a_chat_completion_has_no_origin() -> None:
    assert parse(b'{"model":"m","messages":[{"role":"user","content":"x"}]}').origin is None
    assert message({"role": "user", "content": "x"}).span == b""
