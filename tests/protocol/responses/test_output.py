"""A response object of a completion, and a completion of a response object."""

from typing import Any

import pytest

from proxy.protocol.answers import is_finished
from proxy.protocol.origin import Origin
from proxy.protocol.responses.output import Frame, completion_of, response_of
from proxy.protocol.responses.request import parse

Json = Any


def frame() -> Frame:
    origin = parse(
        b'{"model":"m","input":"x","temperature":0.5,"metadata":{"a":"b"},"previous_response_id":"r"}'
    ).origin
    assert isinstance(origin, Origin)
    return Frame("1", "m", 1.5, origin, sent_tokens=40)


def completion(message: Json, finish: str = "stop", **more: Json) -> Json:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


@pytest.mark.parametrize(
    ("finish", "status", "details"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
    ],
)
def test_how_an_answer_has_ended(finish: str, status: str, details: Json) -> None:
    told = response_of(completion({"content": "Hi"}, finish), frame())
    assert (told["status"], told["incomplete_details"], told["output"][0]["status"]) == (status, details, status)


def test_a_response_repeats_what_was_asked() -> None:
    told = response_of(completion({"content": "Hi"}, model="n"), frame())
    asked = {name: told[name] for name in ("temperature", "metadata", "previous_response_id", "model", "created_at")}
    assert asked == {
        "temperature": 0.5,
        "metadata": {"a": "b"},
        "previous_response_id": "r",
        "model": "n",
        "created_at": 1,
    }


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 6}, (10, 6, 0, 4, 0)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (10, 5, 2, 4, 3),
        ),
        (None, (40, 0, 0, 3, 0)),
    ],
)
def test_usage_is_told_or_estimated(usage: Json, told: tuple[int, ...]) -> None:
    found = response_of(completion({"content": "12345678"}, usage=usage), frame())["usage"]
    details, more = found["input_tokens_details"], found["output_tokens_details"]
    numbers = (found["input_tokens"], details["cached_tokens"], details["cache_write_tokens"])
    assert (*numbers, found["output_tokens"], more["reasoning_tokens"]) == told


@pytest.mark.parametrize(
    ("item", "may_be_stored"),
    [
        ({"type": "message", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}, True),
        ({"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}, True),
        ({"type": "message", "content": [{"type": "output_text", "text": "Hi", "annotations": [{"url": "x"}]}]}, False),
        ({"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}, False),
        ({"type": "web_search_call", "id": "w"}, False),
    ],
)
def test_an_answer_that_a_completion_cannot_express_is_not_stored(item: Json, may_be_stored: bool) -> None:
    assert is_finished(completion_of({"status": "completed", "output": [item]})) == may_be_stored


def test_sealed_reasoning_is_not_stored() -> None:
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    assert not is_finished(completion_of({"status": "completed", "output": [sealed, said]}))
