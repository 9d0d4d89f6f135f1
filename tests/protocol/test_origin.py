"""Bodies of other APIs, opened; what an origin tells of itself."""

from typing import Any

import pytest

from proxy.errors import BadRequest, InvalidJson
from proxy.protocol.origin import MOST_MODEL, Origin, elements, opened, told_result
from proxy.protocol.request import MAX_FIELDS
from proxy.protocol.responses.request import parse


def test_values_keep_their_bytes() -> None:
    values, fields = opened(b'{"model":"m","a":1.50,"b":{"c":  [1]}}')
    assert (bytes(values["a"]), bytes(values["b"])) == (b"1.50", b'{"c":  [1]}')
    assert fields == {"model": "m", "a": 1.5, "b": {"c": [1]}}
    assert elements(b'[1.50, {"a": 2}, "x"]') == [b"1.50", b'{"a": 2}', b'"x"']


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", InvalidJson),
        (b"\xff", InvalidJson),
        (b'{"model":"\\ud800"}', InvalidJson),
        (b'{"model":"m","a":' + b"[" * 100_000, InvalidJson),
        (b"7", BadRequest),
        (b"{}", BadRequest),
        (b'{"model":7}', BadRequest),
        (b'{"model":"%s"}' % (b"m" * (MOST_MODEL + 1)), BadRequest),
        (b'{"model":"m","stream":"yes"}', BadRequest),
        (b'{"model":"m"' + b"".join(b',"f%d":1' % n for n in range(MAX_FIELDS)) + b"}", BadRequest),
    ],
)
def test_what_is_no_request_is_refused(body: bytes, error: type[BadRequest]) -> None:
    with pytest.raises(error):
        opened(body)


@pytest.mark.parametrize(
    ("more", "previous", "is_kept"),
    [
        (b"", "", True),
        (b',"store":false', "", False),
        (b',"store":null,"previous_response_id":"resp_1"', "resp_1", True),
        (b',"store":true,"previous_response_id":7', "", True),
    ],
)
def test_an_origin_tells_what_it_goes_on_from(more: bytes, previous: str, is_kept: bool) -> None:
    origin = parse(b'{"model":"m","input":"x"%b}' % more).origin
    assert isinstance(origin, Origin)
    assert (origin.previous, origin.is_kept, origin.given) == (previous, is_kept, b'"x"')


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("found", "found"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (
            [{"type": "text", "text": "a"}, {"type": "image_url"}],
            [{"type": "text", "text": "a"}, {"type": "image_url"}],
        ),
        ([], ""),
        (None, ""),
    ],
)
def test_a_result_of_texts_alone_is_one_string(content: Any, told: Any) -> None:
    assert told_result(content) == told
