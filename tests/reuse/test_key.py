from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.protocol.request import parse
from proxy.reuse.key import exact_key, is_deterministic

BODY: dict[str, Any] = {"model": "kimi-k2", "messages": [{"role": "user", "content": "¿Qué es un agujero negro?"}]}


def key(body: bytes | dict[str, Any], scope: str = "tenant/ana", upstream: str = "kimi") -> str:
    return exact_key(scope, upstream, parse(body if isinstance(body, bytes) else msgspec.json.encode(body)))


@pytest.mark.note("5.1/1")
@pytest.mark.parametrize(
    "same",
    [
        b'{"messages":[{"content":"\\u00bfQu\\u00e9 es un agujero negro?","role":"user"}],"model":"kimi-k2"}',
        '{ "model" : "kimi-k2",\n"messages": [ {"role":"user", "content":"¿Qué es un agujero negro?"} ] }'.encode(),
        '{"model":"kimi\\u002dk2","messages":[{"role":"user","content":"¿Qué es un agujero negro?"}]}'.encode(),
    ],
)
def test_spelling_makes_no_difference(same: bytes) -> None:
    assert key(same) == key(BODY)


def test_the_spelling_of_a_quotation_mark_makes_no_difference() -> None:
    written = rb'{"model":"m","messages":[{"role":"user","content":"say \"hi\""}]}'
    escaped = rb'{"model":"m","messages":[{"role":"user","content":"say \u0022hi\u0022"}]}'
    assert key(written) == key(escaped)


# Values that some language or library would take for one another.
DISTINCT = [
    "1", "1.0", "true", '"1"', "null", "0", "-0.0", "false", '""', "[]", "{}", "[1]", "[[1]]", '{"a":1}', '{"a":[1]}',
    "9007199254740992", "9007199254740993", "123456789012345678901234567890", "123456789012345678901234567891",
    '"é"', '"e\\u0301"', '"E"', '" "', '"a\\u0000"', '"a"', '["a","b"]', '["b","a"]', '["a,b"]', '{"a":null}',
]  # fmt: skip


def test_different_values_have_different_keys() -> None:
    keys = {
        key(f'{{"model":"m","messages":[{{"role":"user","content":"x"}}],"f":{value}}}'.encode()) for value in DISTINCT
    }
    assert len(keys) == len(DISTINCT)


def test_scope_and_upstream_are_keyed_and_not_run_together() -> None:
    pairs = [("a", "bc"), ("ab", "c"), ("a", "b"), ("", "abc"), ('a","', "b"), ("a", '","b')]
    assert len({key(BODY, scope, upstream) for scope, upstream in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "other", [{"role": "system"}, {"content": "¿Qué es un agujero negro? "}, {"name": "ana"}, {"x": 1}]
)
def test_every_field_of_a_message_is_keyed(other: dict[str, Any]) -> None:
    assert key({**BODY, "messages": [{**BODY["messages"][0], **other}]}) != key(BODY)


def test_the_order_of_messages_is_keyed() -> None:
    first, second = {"role": "user", "content": "a"}, {"role": "user", "content": "b"}
    assert key({**BODY, "messages": [first, second]}) != key({**BODY, "messages": [second, first]})


DUPLICATES = [
    (b'{"model":"m","seed":1,"seed":2,"messages":[{"role":"user","content":"x"}]}', b'"seed":1,'),
    (b'{"model":"m","messages":[{"role":"user","content":"y","content":"x"}]}', b'"content":"y",'),
    (b'{"model":"m","tools":[{"a":{"b":1,"b":2}}],"messages":[{"role":"user","content":"x"}]}', b'"b":1,'),
    (b'{"model":"m","messages":[],"messages":[{"role":"user","content":"x"}]}', b'"messages":[],'),
    (b'{"model":"m","messages":[{"role":"user","content":"x","\\u0061":1,"a":2}]}', b'"\\u0061":1,'),
]


@pytest.mark.parametrize(("twice", "first"), DUPLICATES)
def test_a_request_that_names_a_field_twice_equals_only_itself(twice: bytes, first: bytes) -> None:
    assert key(twice) != key(twice.replace(first, b""))
    assert key(twice) == key(twice)


def test_a_key_is_sixty_four_hex_digits_that_do_not_change_between_versions_unnoticed() -> None:
    assert key(BODY) == "79626a9164215f420df60bdefc674cd54a7a666af23feda1f668722c11a7e3db"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
MESSAGES = st.lists(st.dictionaries(st.text(), VALUES, max_size=4), min_size=1, max_size=4)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(element) for element in value] if isinstance(value, list) else value


@settings(max_examples=40)
@given(MESSAGES, st.dictionaries(st.text(), VALUES, max_size=4))
def test_key_order_never_makes_a_difference(messages: list[Any], fields: dict[str, Any]) -> None:
    fields = {name: value for name, value in fields.items() if name not in {"model", "messages", "stream"}}
    body = {**fields, "model": "m", "messages": messages}
    assert key(body) == key(shuffled(body))


def spelled(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


@settings(max_examples=40)
@given(MESSAGES, MESSAGES)
def test_two_requests_have_one_key_only_if_they_say_the_same(one: list[Any], other: list[Any]) -> None:
    same_key = key({"model": "m", "messages": one}) == key({"model": "m", "messages": other})
    assert same_key == (spelled(one) == spelled(other))


@pytest.mark.note("7 SÍ/3")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"temperature": 0}, True),
        ({"temperature": 0.0}, True),
        ({"temperature": -0.0}, True),
        ({"temperature": 0.1}, False),
        ({"temperature": False}, False),
        ({"temperature": "0"}, False),
        ({"temperature": None}, False),
        ({"seed": 7}, True),
        ({"seed": 0}, True),
        ({"seed": -1}, True),
        ({"seed": True}, False),
        ({"seed": "7"}, False),
        ({"seed": 7.0}, False),
        ({"seed": None}, False),
        ({"temperature": 1, "seed": 7}, True),
        ({"top_p": 0}, False),
    ],
)
def test_a_request_is_deterministic_if_it_says_so(fields: dict[str, Any], expected: bool) -> None:
    request = parse(msgspec.json.encode({**BODY, **fields}))
    assert is_deterministic(request, "deterministic") is expected
    assert is_deterministic(request, "always")
