"""What is read of a body that only strict parsers refuse, and that nothing else is taken for one."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest
from proxy.protocol.loose import glimpse
from proxy.protocol.request import parse

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
