"""Whole files as one log."""

import json
from typing import Any

import pytest

from proxy.protocol import headers
from proxy.replay.files import log_of
from proxy.replay.gateways import ANSWER_ONLY
from tests.builders import completion
from tests.replay.test_gateways import HELICONE, LANGFUSE

BODY = {"model": "m", "messages": [{"role": "user", "content": "hola"}]}
LINES = b"\n".join(json.dumps(BODY).encode() for _ in range(3))


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        b"\xef\xbb\xbf" + LINES + b"\n\n",
        LINES.replace(b"\n", b"\r\n"),
        json.dumps([BODY] * 3).encode(),
        json.dumps([BODY] * 3, indent=2).encode(),
        json.dumps({"data": [BODY] * 3}, indent=2).encode(),
        json.dumps([{**LANGFUSE, "id": n} for n in range(3)]).encode(),
        json.dumps([HELICONE] * 3, indent=2).encode(),
    ],
    ids=["lines", "mark", "crlf", "array", "pretty", "page", "langfuse", "helicone"],
)
def test_lines_arrays_and_pages_are_read(data: bytes) -> None:
    requests, skipped = log_of([data])
    assert len(requests) == 3
    assert skipped == []


def test_a_request_keeps_the_number_of_its_line_or_element() -> None:
    requests, skipped = log_of([b"\n{no\n" + LINES])
    assert [each.line for each in requests] == [3, 4, 5]
    assert [each.line for each in skipped] == [2]
    requests, skipped = log_of([json.dumps([BODY, 3, BODY]).encode()])
    assert [each.line for each in requests] == [1, 3]
    assert [each.line for each in skipped] == [2]


def test_a_single_object_over_many_lines_is_one_request() -> None:
    assert len(log_of([json.dumps(BODY, indent=2).encode()])[0]) == 1


def test_an_array_that_was_cut_off_says_so() -> None:
    requests, (skipped,) = log_of([json.dumps([BODY] * 3, indent=2).encode()[:-4]])
    assert requests == []
    assert "not complete" in skipped.why


def asked(name: str) -> dict[str, Any]:
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": BODY}


def told(name: str) -> dict[str, Any]:
    return {
        "id": f"batch_req_{name}",
        "custom_id": name,
        "response": {"status_code": 200, "request_id": "r", "body": completion(f"to {name}")},
        "error": None,
    }


def test_the_output_of_a_batch_answers_its_input_whichever_comes_first() -> None:
    files = [b"\n".join(json.dumps(each(name)).encode() for name in ("a", "b")) for each in (asked, told)]
    for given in (files, files[::-1]):
        requests, skipped = log_of(given)
        assert skipped == []
        assert [each.answer and each.answer.text for each in requests] == ["to a", "to b"]


def test_an_output_alone_has_no_request() -> None:
    requests, (skipped,) = log_of([json.dumps(told("a")).encode()])
    assert requests == []
    assert skipped.why == ANSWER_ONLY


def test_a_session_that_one_request_alone_has_is_none() -> None:
    lines = [{"session": name, "body": BODY} for name in ("made up", "real", "real")]
    requests, _ = log_of([b"\n".join(json.dumps(each).encode() for each in lines)])
    assert [headers.get(each.headers, "x-olvido-session") for each in requests] == [None, "real", "real"]
