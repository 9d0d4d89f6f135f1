"""Lines of logs, as gateways write them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol import headers
from proxy.protocol.message import message
from proxy.protocol.request import parse
from proxy.replay.reading import Logged, Skipped, answered, in_order, read
from tests.builders import assistant, completion, user
from tests.replay.logs import logged

SAID = [{"role": "user", "content": "hola"}]
BODY = {"model": "m", "messages": SAID}


def one(line: Any) -> Logged:
    (found,) = read(line if isinstance(line, bytes) else msgspec.json.encode(line), 1)
    assert isinstance(found, Logged), found
    return found


@pytest.mark.parametrize(
    "line",
    [
        BODY,
        {"body": BODY},
        {"request": BODY},
        {"request": {"method": "POST", "body": BODY}},
        {"body": msgspec.json.encode(BODY).decode()},
        {"model": "m", "messages": msgspec.json.encode(SAID).decode(), "call_type": "acompletion"},
        {"model": "m", "request": {"messages": SAID}},
        {"request": {"messages": SAID}, "response": {**completion(), "model": "m"}},
        {"id": "1", "startTime": 5, "endTime": 6, **BODY},
    ],
)
def test_the_request_is_found_wherever_a_log_keeps_it(line: Any) -> None:
    request = parse(one(line).body)
    assert (request.model, [said.data for said in request.messages]) == ("m", SAID)


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m", "input": "hola"},
        {"model": "m", "input": [{"type": "message", "role": "user", "content": "hola"}], "store": False},
        {"model": "m", "messages": [user([{"type": "text", "text": "hola"}])], "max_tokens": 9, "system": []},
        {"model": "m", "messages": SAID, "max_tokens": 9, "tools": [{"name": "look", "input_schema": {}}]},
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_requests_of_the_other_apis_are_read_as_chat_completions(body: Any, wrapped: bool) -> None:
    request = parse(one({"body": body} if wrapped else body).body)
    assert (request.model, [(said.role, said.text) for said in request.messages]) == ("m", [("user", "hola")])


@pytest.mark.parametrize(
    "answer",
    [
        {"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "sí"}]}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "sí"}]},
    ],
)
def test_answers_of_the_other_apis_are_read(answer: Any) -> None:
    found = one({"body": BODY, "response": answer}).answer
    assert found is not None
    assert found.text == "sí"


def test_messages_keep_the_bytes_that_the_log_has() -> None:
    raw = b'{"content" : "\\u00bfs\\u00ed?", "x":1.0, "role":"user"}'
    (said,) = parse(one(b'{"at":1, "model":"m", "messages":[' + raw + b"]}").body).messages
    assert said.raw == raw


def test_settings_that_are_kept_beside_the_messages_are_part_of_the_request() -> None:
    tools = [{"type": "function", "function": {"name": "look"}}]
    found = one({**BODY, "model_parameters": {"tools": tools, "temperature": 0}})
    assert parse(found.body).fields == {"model": "m", "tools": tools, "temperature": 0}


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ({"at": 1_700_000_000}, 1_700_000_000.0),
        ({"at": 1_700_000_000.5}, 1_700_000_000.5),
        ({"timestamp": 1_700_000_000_500}, 1_700_000_000.5),
        ({"startTime": "1700000000"}, 1_700_000_000.0),
        ({"time": "2023-11-14T22:13:20Z"}, 1_700_000_000.0),
        ({"time": "2023-11-14 22:13:20"}, 1_700_000_000.0),
        ({"time": "2023-11-14T19:13:20-03:00"}, 1_700_000_000.0),
        ({"at": None}, None),
        ({}, None),
    ],
)
def test_times_are_seconds_milliseconds_or_dates(given: dict[str, Any], at: float | None) -> None:
    assert one({"body": BODY, **given}).at == at


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ({"answer": "sí"}, "sí"),
        ({"answer": {"role": "assistant", "content": "sí"}}, "sí"),
        ({"response": completion("sí")}, "sí"),
        ({"response": {"status_code": 200, "body": completion("sí")}}, "sí"),
        ({"response": msgspec.json.encode(completion("sí")).decode()}, "sí"),
        ({"response": "{no JSON"}, "{no JSON"),
        ({"response": {"error": {"message": "no"}}}, None),
        ({"response": {"choices": [completion()["choices"][0]] * 2}}, None),
        ({"response": None}, None),
        ({}, None),
    ],
)
def test_an_answer_is_taken_if_there_is_one_and_only_one(given: dict[str, Any], content: str | None) -> None:
    answer = one({"body": BODY, **given}).answer
    assert (answer and answer.text) == content


def test_names_of_session_and_user_are_headers_as_a_client_would_send_them() -> None:
    found = one({"body": BODY, "session": "s1", "user": 7, "headers": {"X-Request-Id": "r", "n": 1}})
    assert found.headers == (("x-request-id", "r"), ("x-olvido-session", "s1"), ("x-olvido-user", "7"))
    said = one({"body": BODY, "session": "s1", "headers": [["x-olvido-session", "s2"]]})
    assert headers.get(said.headers, "x-olvido-session") == "s2"


def test_a_bare_body_names_its_user_itself() -> None:
    found = one({**BODY, "user": "ana"})
    assert found.headers == ()
    assert parse(found.body).fields["user"] == "ana"


@pytest.mark.parametrize(
    "more",
    [
        {"key": "k"},
        {"user_api_key_hash": "k"},
        {"metadata": {"user_api_key_hash": "k"}},
        {"headers": {"Authorization": "k"}},
    ],
)
def test_customers_are_told_apart_by_whatever_there_is(more: dict[str, Any]) -> None:
    assert one({"body": BODY, **more}).key == "k"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "no JSON object"),
        (b"[1]", "no JSON object"),
        (b'{"a": 1}', "neither a body nor messages"),
        (b'{"body": 3}', "body is no JSON object"),
        (b'{"body": "hola"}', "body is no JSON object"),
        (b'{"messages": [{"role": "user"}]}', "model"),
        (b'{"model": "m", "messages": []}', "empty array"),
        (b'{"model": "m", "messages": [3]}', "messages[0]"),
        (b'{"at": "ayer", "model": "m", "messages": [{}]}', "time"),
        (b'{"at": true, "model": "m", "messages": [{}]}', "time"),
        (b"\xff\xfe", "no JSON object"),
    ],
)
def test_a_line_that_says_nothing_is_told_with_its_number(line: bytes, why: str) -> None:
    (found,) = read(line, 2)
    assert isinstance(found, Skipped)
    assert found.line == 2
    assert why in found.why


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_names = ["at", "session", "user", "key", "response", "answer", "headers", "metadata", "model_parameters", "request"]


@given(st.dictionaries(st.sampled_from([*_names, "body", "messages", "model"]), _json))
def test_no_line_is_the_end_of_it(line: dict[str, Any]) -> None:
    (found,) = read(msgspec.json.encode(line), 1)
    assert isinstance(found, Logged | Skipped)


# --- their order, and the answers that they got -----------------------------------------------------------------------

A, B, C = user("a"), assistant("b"), user("c")


@pytest.mark.parametrize(
    ("times", "order", "at"),
    [
        ((3.0, 1.0, 2.0), (2, 3, 1), (1.0, 2.0, 3.0)),
        ((None, None), (1, 2), (50.0, 51.0)),
        ((5.0, None, 2.0, None), (3, 4, 1, 2), (2.0, 2.0, 5.0, 5.0)),
        ((None, 7.0), (1, 2), (7.0, 7.0)),
        ((1.0, 1.0), (1, 2), (1.0, 1.0)),
    ],
)
def test_requests_go_by_time_and_else_as_they_stand(
    times: tuple[float | None, ...], order: tuple[int, ...], at: tuple[float, ...]
) -> None:
    given = [logged([A], at=each, line=line) for line, each in enumerate(times, 1)]
    found = in_order(given, 50.0)
    assert tuple(each.line for each in found) == order
    assert tuple(each.at for each in found) == at


def _contents(*given: Logged) -> list[Any]:
    return [each.answer and each.answer.text for each in answered(given)]


def test_an_answer_is_what_the_next_request_of_the_conversation_shows() -> None:
    other = logged([user("x"), assistant("y"), C])
    assert _contents(logged([A]), other, logged([A, B, C])) == ["b", None, None]


def test_one_that_the_log_has_is_left_as_it_is() -> None:
    assert _contents(logged([A], answer=message(assistant("as it was"))), logged([A, B, C])) == ["as it was", None]


def test_of_a_regenerated_request_the_last_one_got_the_answer_that_was_kept() -> None:
    assert _contents(logged([A]), logged([A]), logged([A, B, C])) == [None, "b", None]


@pytest.mark.parametrize("whose", [{"key": "other"}, {"headers": (("x-olvido-user", "ana"),)}])
def test_another_customers_conversation_answers_nothing(whose: dict[str, Any]) -> None:
    assert _contents(logged([A]), logged([A, B, C], **whose)) == [None, None]
