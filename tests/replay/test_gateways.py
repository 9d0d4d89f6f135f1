"""Entries as each gateway writes them: what is read of them, and which are left out."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.admin.exporting import line
from proxy.protocol import headers
from proxy.protocol.request import parse
from proxy.replay import gateways
from proxy.replay.gateways import FAILED, NO_CONTENT, OTHER_CALL
from proxy.replay.reading import Logged, Skipped, read
from proxy.types import Contents
from tests.builders import completion, ledger_row

AT = 1_700_000_000.0
SAID = [{"role": "system", "content": "s"}, {"role": "user", "content": "hola"}]
BODY = {"model": "m", "messages": SAID, "temperature": 0}

HELICONE = {
    "response_id": "r1",
    "response_created_at": "2023-11-14T22:13:22.000Z",
    "response_body": completion("sí"),
    "response_status": 200,
    "response_model": "m-2026",
    "request_id": "q1",
    "request_created_at": "2023-11-14T22:13:20.000Z",
    "request_body": BODY,
    "request_path": "https://api.openai.com/v1/chat/completions",
    "request_user_id": "ana",
    "request_properties": {"Helicone-Session-Id": "s1", "Helicone-Session-Name": "chat"},
    "request_model": "m",
    "model_override": None,
    "provider": "OPENAI",
    "prompt_tokens": 12,
    "signed_body_url": "https://s3.example/q1",
}
LANGFUSE = {  # the table and the API
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "startTime": "2023-11-14T22:13:20.000Z",
    "endTime": "2023-11-14T22:13:22.000Z",
    "model": "m",
    "modelParameters": {"temperature": 0},
    "input": SAID,
    "output": {"role": "assistant", "content": "sí"},
    "level": "DEFAULT",
    "sessionId": "s1",
    "userId": "ana",
    "usageDetails": {"input": 12},
}
LANGFUSE_BLOB = {
    "id": "o1",
    "trace_id": "t1",
    "type": "GENERATION",
    "start_time": "2023-11-14 22:13:20.000000",
    "provided_model_name": "m",
    "model_parameters": '{"temperature": 0}',
    "input": json.dumps(SAID),
    "output": '{"role": "assistant", "content": "sí"}',
    "level": "DEFAULT",
    "session_id": "s1",
    "user_id": "ana",
}
LITELLM = {  # StandardLoggingPayload
    "id": "chatcmpl-1",
    "trace_id": "t1",
    "call_type": "acompletion",
    "status": "success",
    "startTime": AT,
    "endTime": AT + 2,
    "model": "m",
    "model_group": "m",
    "messages": SAID,
    "response": completion("sí"),
    "model_parameters": {"temperature": 0, "stream": True},
    "metadata": {"user_api_key_hash": "k1", "user_api_key_end_user_id": "ana"},
    "end_user": "ana",
    "session_id": "s1",
    "hidden_params": {"model_id": None},
}
SPEND_LOG = {  # a row of LiteLLM_SpendLogs
    "request_id": "chatcmpl-1",
    "call_type": "acompletion",
    "api_key": "k1",
    "startTime": "2023-11-14 22:13:20",
    "model": "m",
    "user": "default_user_id",
    "end_user": "ana",
    "session_id": "s1",
    "messages": {},
    "response": json.dumps(completion("sí")),
    "proxy_server_request": json.dumps(BODY),
    "status": "success",
}
BATCH = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": BODY}
ROW = {
    "request_id": "q1",
    "at": AT,
    "scope": "0" * 32 + "/ana",
    "session": "s1",
    "model": "m",
    "status": 200,
    "tokens_original": 12,
    "tokens_sent": 12,
    "number": None,
}
TOLD = [
    {"index": n, "role": each["role"], "tokens": 3, "fate": "kept", "why": "", "text": each["content"], "calls": []}
    for n, each in enumerate(SAID)
]
ADMIN = {"request": ROW, "has_content": True, "messages": TOLD, "answer": "sí", "headers": {"x-olvido-user": "ana"}}
EXPORTED = {**ROW, "body": BODY, "answer": {"role": "assistant", "content": "sí"}}

KNOWN = {
    "helicone": HELICONE,
    "langfuse": LANGFUSE,
    "langfuse blob": LANGFUSE_BLOB,
    "litellm": LITELLM,
    "litellm spend": SPEND_LOG,
    "ours from the API": ADMIN,
    "ours exported": EXPORTED,
}


def entries(entry: Any) -> list[Any]:
    return list(read(msgspec.json.encode(entry), 1))


def one(entry: Any) -> Logged:
    (found,) = entries(entry)
    assert isinstance(found, Logged), found
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_each_format_tells_the_messages_the_answer_and_the_moment(name: str) -> None:
    found = one(KNOWN[name])
    request = parse(found.body)
    assert [said.data for said in request.messages] == SAID
    assert request.model == "m"
    assert found.at == AT
    assert found.answer is not None
    assert found.answer.text == "sí"
    assert headers.get(found.headers, "x-olvido-session") == "s1"


@pytest.mark.parametrize("name", [each for each in KNOWN if each not in ("ours from the API", "ours exported")])
def test_each_gateway_tells_the_settings_and_the_end_user(name: str) -> None:
    found = one(KNOWN[name])
    assert parse(found.body).fields["temperature"] == 0
    assert headers.get(found.headers, "x-olvido-user") == "ana"


@pytest.mark.parametrize(("name", "key"), [("litellm", "k1"), ("litellm spend", "k1"), ("ours exported", ROW["scope"])])
def test_customers_are_told_apart_where_the_format_does(name: str, key: str) -> None:
    assert one(KNOWN[name]).key == key


def test_a_line_of_a_batch_is_its_body_and_has_a_name() -> None:
    found = one(BATCH)
    assert (found.name, parse(found.body).model) == ("1", "m")


def test_tool_calls_that_are_told_without_ids_are_joined_to_their_results() -> None:
    calls = [{"name": "look", "arguments": "{}"}, {"name": "look", "arguments": "{1}"}]
    told = [
        *TOLD,
        {"index": 2, "role": "assistant", "fate": "kept", "text": None, "calls": calls},
        {"index": 3, "role": "tool", "fate": "kept", "text": "one", "calls": []},
        {"index": 4, "role": "tool", "fate": "kept", "text": "two", "calls": []},
    ]
    messages = parse(one({**ADMIN, "messages": told}).body).messages
    ids = [call.id for call in messages[2].tool_calls]
    assert [each.data["tool_call_id"] for each in messages[3:]] == ids
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ({"messages": SAID, "tools": []}, "hola"),
        (json.dumps({"messages": SAID}), "hola"),
        ("a plain prompt", "a plain prompt"),
    ],
)
def test_what_langfuse_observed_may_be_an_object_or_a_prompt(given: Any, content: str) -> None:
    assert parse(one({**LANGFUSE, "input": given}).body).messages[-1].text == content


@pytest.mark.parametrize(
    ("given", "content"),
    [("sí", "sí"), ({"content": "sí"}, "sí"), (completion("sí"), "sí"), (None, None)],
)
def test_what_it_observed_as_output_is_the_answer(given: Any, content: str | None) -> None:
    answer = one({**LANGFUSE, "output": given}).answer
    assert (answer and answer.text) == content


def test_a_trace_is_its_observations_in_its_session() -> None:
    generation = {name: value for name, value in LANGFUSE.items() if name not in ("sessionId", "userId")}
    trace = {
        "id": "t1",
        "sessionId": "s9",
        "userId": "eva",
        "input": SAID,
        "observations": [generation, {**generation}],
    }
    found = entries(trace)
    assert [type(each) for each in found] == [Logged, Logged]
    assert {headers.get(each.headers, "x-olvido-session") for each in found} == {"s9"}
    assert [type(each) for each in entries({"data": [LANGFUSE], "meta": {"page": 1}})] == [Logged]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({**HELICONE, "request_body": None}, NO_CONTENT),
        ({**HELICONE, "request_body": {"input": "text", "model": "embed"}}, OTHER_CALL),
        ({**HELICONE, "response_status": 429}, FAILED),
        ({**HELICONE, "response_status": -3}, FAILED),
        ({**LANGFUSE, "type": "SPAN"}, OTHER_CALL),
        ({**LANGFUSE, "level": "ERROR"}, FAILED),
        ({**LANGFUSE, "input": None}, NO_CONTENT),
        ({**LANGFUSE, "input": {"query": "x"}}, OTHER_CALL),
        ({**LITELLM, "call_type": "aembedding"}, OTHER_CALL),
        ({**LITELLM, "status": "failure"}, FAILED),
        ({**LITELLM, "messages": "redacted-by-litellm"}, NO_CONTENT),
        ({**SPEND_LOG, "proxy_server_request": "{}"}, NO_CONTENT),
        ({**BATCH, "url": "/v1/embeddings"}, OTHER_CALL),
        ({**BATCH, "url": "/v1/responses"}, OTHER_CALL),
        ({"custom_id": "1"}, gateways.NO_MESSAGES),
        ({**ADMIN, "messages": [], "has_content": False}, NO_CONTENT),
        ({**EXPORTED, "status": 500}, FAILED),
    ],
)
def test_what_is_no_chat_completion_that_was_paid_for_is_left_out(entry: Any, why: str) -> None:
    (found,) = entries(entry)
    assert isinstance(found, Skipped)
    assert found.why.startswith(why)


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([*KNOWN.values(), BATCH]), st.data())
def test_no_entry_is_the_end_of_it_whatever_a_field_holds(entry: dict[str, Any], data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(sorted(entry)))
    assert all(
        type(each).__name__ in {"Logged", "Skipped", "Answered"} for each in entries({**entry, field: data.draw(_json)})
    )


def test_the_last_line_of_our_export_says_how_many_had_no_contents_any_more() -> None:
    (found,) = entries({"exported": 3, "without_body": 40})
    assert isinstance(found, Skipped)
    assert "40 requests" in found.why


def test_what_the_page_exports_is_read_as_it_is() -> None:
    answer = b'{"role":"assistant","content":"s\\u00ed"}'
    contents = Contents(str(ROW["scope"]), "q1", "s1", AT, msgspec.json.encode(BODY), answer=answer)
    (found,) = read(line(ledger_row(scope=str(ROW["scope"]), session="s1", at=AT), contents), 1)
    assert isinstance(found, Logged)
    assert [said.data for said in parse(found.body).messages] == SAID
    assert (found.at, found.key, found.answer and found.answer.text) == (AT, "0" * 32, "sí")
    assert dict(found.headers) == {"x-olvido-session": "s1", "x-olvido-user": "ana"}
