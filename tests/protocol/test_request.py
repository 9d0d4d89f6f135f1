"""What is accepted, how the rest is refused, and that what is kept is kept to the byte."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import BadRequest, InvalidJson, MissingParameter, OlvidoError
from proxy.protocol.message import message
from proxy.protocol.request import (
    MAX_CONTAINERS,
    MAX_FIELDS,
    MAX_MESSAGES,
    MAX_MODEL,
    glimpse,
    parse,
    unstreamed,
    with_changes,
)
from proxy.types import ChatRequest
from tests.builders import body, user
from tests.examples import examples

MINIMAL = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'

_top = msgspec.json.Decoder(dict[str, msgspec.Raw])


def values(document: bytes) -> dict[str, bytes]:
    return {name: bytes(raw) for name, raw in _top.decode(document).items()}


def outcome(document: bytes) -> ChatRequest | OlvidoError:
    try:
        return parse(document)
    except OlvidoError as refused:
        return refused


def is_accepted_or_refused(document: bytes) -> bool:
    """Nothing but the request as it is, or an error of 400 that is short and can be told."""
    got = outcome(document)
    if not isinstance(got, OlvidoError):
        return got.raw == document
    return got.status == 400 and len(got.body()) < 1_000 and "error" in msgspec.json.decode(got.body())


def refusal(document: bytes) -> OlvidoError:
    """The error that refuses `document`, which can be told to the client."""
    with pytest.raises(OlvidoError) as caught:
        parse(document)
    told = msgspec.json.decode(caught.value.body())
    assert told["error"]["message"]
    return caught.value


@pytest.mark.parametrize(
    ("document", "error", "param"),
    [
        (b"", InvalidJson, None),
        (b"   ", InvalidJson, None),
        (b"hello", InvalidJson, None),
        (b"[]", BadRequest, None),
        (b"null", BadRequest, None),
        (b'"{}"', BadRequest, None),
        (b"\xef\xbb\xbf" + MINIMAL, InvalidJson, None),  # a byte order mark is no JSON (RFC 8259, 8.1)
        (MINIMAL + b"{}", InvalidJson, None),
        (MINIMAL[:-1], InvalidJson, None),
        (MINIMAL[:-1] + b",}", InvalidJson, None),
        (b'{"\xff":1}', InvalidJson, None),
        (b"{}", MissingParameter, "model"),
        (b'{"messages":[{}]}', MissingParameter, "model"),
        (b'{"model":"m"}', MissingParameter, "messages"),
        (b'{"model":"","messages":[{}]}', BadRequest, "model"),
        (b'{"model":null,"messages":[{}]}', BadRequest, "model"),
        (b'{"model":7,"messages":[{}]}', BadRequest, "model"),
        (b'{"model":"m","messages":[]}', BadRequest, "messages"),
        (b'{"model":"m","messages":null}', BadRequest, "messages"),
        (b'{"model":"m","messages":{}}', BadRequest, "messages"),
        (b'{"model":"m","messages":"hi"}', BadRequest, "messages"),
        (b'{"model":"m","messages":[{},"hi"]}', BadRequest, "messages[1]"),
        (b'{"model":"m","messages":[{},null]}', BadRequest, "messages[1]"),
        (b'{"model":"m","messages":[{"content":"\xff"}]}', InvalidJson, "messages[0]"),
        (b'{"model":"m","messages":[{}],"stream":"yes"}', BadRequest, "stream"),
        (b'{"model":"m","messages":[{}],"stream":1}', BadRequest, "stream"),
        (b'{"model":"m","messages":[{}],"user":"\xff"}', InvalidJson, "user"),
        (b'{"model":"m","messages":[' + b"{}," * MAX_MESSAGES + b"{}]}", BadRequest, "messages"),
        (MINIMAL.replace(b'"m"', b'"%b"' % (b"m" * (MAX_MODEL + 1))), BadRequest, "model"),
        (MINIMAL.replace(b'"hi"', b"[" + b"[ ],{ }, " * (MAX_CONTAINERS // 2) + b"1]"), BadRequest, None),
        (MINIMAL[:-1] + b"".join(b',"f%d":1' % n for n in range(MAX_FIELDS)) + b"}", BadRequest, None),
    ],
)
def test_what_no_upstream_could_accept_is_refused(document: bytes, error: type[OlvidoError], param: str | None) -> None:
    refused = refusal(document)
    assert type(refused) is error
    assert refused.status == 400
    assert refused.param == param


@pytest.mark.parametrize(
    "said",
    [
        b"{}",
        b'{"role":"narrator"}',
        b'{"role":7,"content":{"odd":[1,2]}}',
        b'{"role":"user","content":null}',
        b'{"role":"user","content":"\\u0000"}',
        b'{"role":"user","content":18446744073709551617}',
        b'{"role":"user","content":' + b"[" * 100 + b"]" * 100 + b"}",
    ],
)
def test_odd_messages_are_for_the_upstream_to_judge(said: bytes) -> None:
    assert parse(b'{"model":"m","messages":[' + said + b"]}").messages[0].raw == said


def test_a_request_says_what_it_asks_for() -> None:
    request = parse(body(user("hi"), model="kimi-k3", stream=True, stream_options={"include_usage": True}, top_p=0.5))
    assert (request.model, request.stream, request.wants_usage_chunk) == ("kimi-k3", True, True)
    assert request.fields["top_p"] == 0.5
    assert "messages" not in request.fields
    assert [(m.role, m.data["content"]) for m in request.messages] == [("user", "hi")]


@pytest.mark.parametrize(
    "more", [b'"stream":null', b'"stream":false', b'"stream_options":null', b'"stream_options":{"include_usage":null}']
)
def test_a_stream_is_asked_for_by_true_alone(more: bytes) -> None:
    request = parse(MINIMAL[:-1] + b"," + more + b"}")
    assert (request.stream, request.wants_usage_chunk) == (False, False)


# Values that parsers stumble over. Each is tried in every place of a request.
NASTY = {
    "lone high surrogate": rb'"\ud800"',
    "lone low surrogate": rb'"\udc00 and more text"',
    "high surrogate, then text": rb'"\ud800 and more text"',
    "surrogate as a name": rb'{"\udc00":1}',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "invalid UTF-8": b'"\xff\xfe"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "a raw control character": b'"\x01"',
    "deep arrays": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep and never closed": b"[" * 100_000,
    "an integer of thousands of digits": b"9" * 10_000,
    "an integer beyond 64 bits": b"9" * 30,
    "a float out of range": b"1e999",
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "a number with a leading zero": b"01",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "nothing": b"",
    "duplicate names": b'{"role":"user","role":"assistant"}',
}


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize(
    "place",
    [
        b"%b",
        b'{"model":%b,"messages":[{}]}',
        b'{"model":"m","messages":%b}',
        b'{"model":"m","messages":[%b]}',
        b'{"model":"m","messages":[{"role":"user","content":%b}]}',
        b'{"model":"m","messages":[{}],"stream":%b}',
        b'{"model":"m","messages":[{}],"x":%b}',
    ],
)
def test_no_value_in_any_place_gets_through_as_another_error(nasty: bytes, place: bytes) -> None:
    assert is_accepted_or_refused(place % nasty)


@given(st.binary())
def test_arbitrary_bytes_are_refused(document: bytes) -> None:
    assert refusal(document).status == 400


@given(st.integers(0, len(MINIMAL)), st.integers(0, 10), st.binary(max_size=4))
def test_a_damaged_request_is_accepted_or_refused(position: int, removed: int, inserted: bytes) -> None:
    assert is_accepted_or_refused(MINIMAL[:position] + inserted + MINIMAL[position + removed :])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["model", "messages", "stream", "stream_options", "x"])


@given(st.dictionaries(names, anything) | anything, st.booleans())
def test_arbitrary_json_is_accepted_or_refused(value: object, ascii_only: bool) -> None:
    # json.dumps, unlike msgspec, writes NaN, Infinity and lone surrogates.
    assert is_accepted_or_refused(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))


# --- kept to the byte -----------------------------------------------------------------------------------------------

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_blank = st.sampled_from(["", " ", "\n", "\t", "\r\n  "])
_numbers = st.sampled_from(
    ["0", "-0", "1", "1.0", "1e0", "1E+2", "0.10", "1234567890123456789012345", "3.14159265358979"]
)


@st.composite
def spellings(draw: st.DrawFn, depth: int = 2) -> str:
    """A JSON value, spelled in one of the many ways it can be."""
    kind = draw(st.sampled_from(["text", "number", "word", "array", "object"] if depth else ["text", "number", "word"]))
    match kind:
        case "text":
            return json.dumps(draw(_text), ensure_ascii=draw(st.booleans())).replace(
                "/", draw(st.sampled_from(["/", r"\/"]))
            )
        case "number":
            return draw(_numbers)
        case "word":
            return draw(st.sampled_from(["null", "true", "false"]))
        case "array":
            return _joined(draw, "[]", draw(st.lists(spellings(depth - 1), max_size=3)))
        case _:
            return draw(objects(depth))


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> str:
    """Names in any order, unknown ones included, some of them twice."""
    name = st.sampled_from(["role", "content", "tool_calls", "extra_content", "x-unknown", "ñ"])
    pairs = draw(st.lists(st.tuples(name, spellings(depth - 1)), max_size=4))
    members = [
        f"{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(_blank)}:{draw(_blank)}{value}"
        for key, value in pairs
    ]
    return _joined(draw, "{}", members)


def _joined(draw: st.DrawFn, brackets: str, members: list[str]) -> str:
    inner = ",".join(f"{draw(_blank)}{member}{draw(_blank)}" for member in members)
    return f"{brackets[0]}{inner}{draw(_blank)}{brackets[1]}"


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, list[bytes], dict[str, bytes]]:
    """A request's body, with the bytes of its messages and of its other fields, in order."""
    said = draw(st.lists(objects(), min_size=1, max_size=4))
    fields = {"model": '"m"'} | draw(st.dictionaries(st.sampled_from(["tools", "x", "stop"]), spellings(), max_size=3))
    members = {**fields, "messages": _joined(draw, "[]", said)}
    order = draw(st.permutations(list(members)))
    written = [f"{draw(_blank)}{json.dumps(name)}{draw(_blank)}:{draw(_blank)}{members[name]}" for name in order]
    document = _joined(draw, "{}", written).encode()
    return document, [each.encode() for each in said], {name: members[name].encode() for name in order}


@settings(max_examples=examples(40))
@given(documents())
def test_messages_are_the_clients_own_bytes(document: tuple[bytes, list[bytes], dict[str, bytes]]) -> None:
    raw, said, fields = document
    request = parse(raw)
    assert request.raw == raw
    assert [m.raw for m in request.messages] == said
    assert list(request.fields) == [name for name in fields if name != "messages"]


@settings(max_examples=examples(40))
@given(documents(), st.data())
def test_what_is_not_changed_keeps_its_bytes(
    document: tuple[bytes, list[bytes], dict[str, bytes]], data: st.DataObject
) -> None:
    raw, _, fields = document
    request = parse(raw)
    kept = data.draw(st.lists(st.sampled_from(request.messages), min_size=1))
    optional = {"model": st.just("other"), "tools": st.just([{"a": 1}])}
    changes: dict[str, Any] = data.draw(st.fixed_dictionaries({}, optional=optional))
    changed = with_changes(request, messages=kept, **changes)
    assert [m.raw for m in parse(changed).messages] == [m.raw for m in kept]
    expected = {**fields, "messages": b"[" + b",".join(m.raw for m in kept) + b"]"}
    expected |= {name: msgspec.json.encode(value) for name, value in changes.items()}
    assert list(values(changed).items()) == list(expected.items())


@settings(max_examples=examples(40))
@given(documents())
def test_no_change_changes_no_value(document: tuple[bytes, list[bytes], dict[str, bytes]]) -> None:
    raw, _, fields = document
    assert list(values(with_changes(parse(raw))).items()) == list(fields.items())


def test_of_a_name_given_twice_the_last_value_counts() -> None:
    document = b'{"model":"a","messages":[{"role":"user"}],"model":"b","messages":[{"role":"tool"}]}'
    request = parse(document)
    assert (request.model, request.messages[0].role, len(request.messages)) == ("b", "tool", 1)
    assert with_changes(request) == b'{"model":"b","messages":[{"role":"tool"}]}'


def test_a_message_of_our_own_says_what_it_was_given() -> None:
    data: dict[str, Any] = {"role": "user", "content": "ñandú 🧉"}
    made = message(data)
    assert msgspec.json.decode(made.raw) == data == made.data
    assert parse(with_changes(parse(MINIMAL), messages=[made])).messages == (made,)


def test_an_error_does_not_quote_the_contents() -> None:
    refused = refusal(b'{"model":"m","messages":[{"role":"user","content":"my secret is 1234\xff"}]}')
    assert "secret" not in refused.message


HI = b'"messages":[{"role":"user","content":"hi"}]'
LOOSE = {
    "half an emoji": rb'{"model":"m","messages":[{"role":"user","content":"\ud83d"}]}',
    "the other half": rb'{"model":"m","messages":[{"role":"user","content":"\ude00 there"}]}',
    "half of one in a name": rb'{"model":"m","\ud83d":1,' + HI + b"}",
    "a byte order mark": b'\xef\xbb\xbf{"model":"m",' + HI + b"}",
    "NaN": b'{"model":"m","temperature":NaN,' + HI + b"}",
    "Infinity": b'{"model":"m","x":[Infinity,-Infinity],' + HI + b"}",
    "a number beyond a double": b'{"model":"m","seed":1e400,' + HI + b"}",
    "and one with thousands of digits": b'{"model":"m","seed":NaN,"x":' + b"9" * 10_000 + b"," + HI + b"}",
}


@pytest.mark.parametrize("body", LOOSE.values(), ids=LOOSE)
def test_a_body_that_only_a_strict_parser_refuses_is_a_request(body: bytes) -> None:
    with pytest.raises(BadRequest):
        parse(body)
    found = glimpse(body)
    assert found is not None
    assert (found.raw, found.model, found.stream, found.messages) == (body, "m", False, ())


def test_what_it_asks_for_is_read() -> None:
    found = glimpse(
        rb'{"model":"m-\udfff","stream":true,"user":"a\ud83d","metadata":{"x":["\udc00"]},"n":2,' + HI + b"}"
    )
    assert found is not None
    assert (found.model, found.stream) == ("m-\ufffd", True)
    assert found.fields["user"] == "a\ufffd"
    assert found.fields["metadata"] == {"x": ["\ufffd"]}
    assert "n" not in found.fields


def test_pairs_stay_what_they_are() -> None:
    found = glimpse(rb'{"model":"\ud83c\udf35","seed":NaN,' + HI + b"}")
    assert found is not None
    assert found.model == "🌵"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"NaN",
        b"\xef\xbb\xbf",
        b"[NaN]",
        b'{"model":"m",%b' % HI,
        b'{"model":"m",%b,}' % HI,
        b'{"model":"m","x":NaN}',
        b'{"model":"m","x":NaN,"messages":[]}',
        b'{"model":"m","x":NaN,"messages":["hi"]}',
        b'{"model":"m","x":NaN,"messages":{}}',
        b'{"x":NaN,%b}' % HI,
        b'{"model":"","x":NaN,%b}' % HI,
        b'{"model":NaN,%b}' % HI,
        b'{"model":"m","stream":NaN,%b}' % HI,
        b'{"model":"%b","x":NaN,%b}' % (b"m" * 501, HI),
        b'{"model":"m","x":NaN,"messages":[{"role":"user","content":"\xff"}]}',
        b'{"model":"m","x":NaN,"messages":[{"role":"user","content":"a\0"}]}',
        b'{"model":"m","x":NaN,"messages":%b%b}' % (b"[" * 100_000, b"]" * 100_000),
        '{"model":"m","messages":[{}]}'.encode("utf-16"),
    ],
)
def test_anything_else_is_none(body: bytes) -> None:
    assert glimpse(body) is None


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["user", "metadata", "stream_options", "x"]), _anything), st.booleans())
def test_whatever_is_read_can_be_encoded(fields: dict[str, Any], ascii_only: bool) -> None:
    whole = {"model": "m", "messages": [{"role": "user", "content": "\ud83d"}], **fields}
    body = json.dumps(whole, ensure_ascii=ascii_only).encode("utf-8", "replace")
    found = glimpse(body)
    assert found is not None
    assert msgspec.json.encode(found.fields)


@given(st.integers(0, 70), st.integers(0, 10), st.binary(max_size=4))
def test_a_damaged_one_is_a_request_or_none(position: int, removed: int, inserted: bytes) -> None:
    whole = LOOSE["half an emoji"]
    found = glimpse(whole[:position] + inserted + whole[position + removed :])
    assert found is None or found.messages == ()


def test_a_request_for_a_whole_answer_differs_in_nothing_else() -> None:
    raw = (
        b'{"model":"m","stream":true,"messages":[{"role":"user","content":"h\\u0069"}],"stream_options":{},"seed":1.0}'
    )
    whole = unstreamed(parse(raw))
    assert whole.raw == b'{"model":"m","messages":[{"role":"user","content":"h\\u0069"}],"seed":1.0}'
    assert (whole.stream, whole.wants_usage_chunk) == (False, False)
    assert unstreamed(whole) is whole


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 7, "max_tokens": 5}, 7),
        ({"max_tokens": "5"}, None),
    ],
)
def test_the_limit_of_an_answer_is_read_whatever_it_is_called(fields: dict[str, Any], limit: int | None) -> None:
    assert parse(body(user("hi"), **fields)).answer_limit == limit
