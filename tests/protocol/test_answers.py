"""Completions: what was said, how it ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.answers import (
    answers_of,
    find_usage,
    first_text,
    generated_text,
    has_error,
    is_finished,
    model_of,
    parse_usage,
    sole_text,
)
from proxy.types import Usage
from tests.builders import calling, completion

CALLS = calling("a")["tool_calls"]
TWICE = {"choices": completion()["choices"] * 2}


@pytest.mark.parametrize(
    ("given", "said", "sole", "finished"),
    [
        (completion("hello"), "hello", "hello", True),
        (completion("hello", finish_reason="length"), "hello", None, True),
        (completion("hello", finish_reason="content_filter"), "hello", None, False),
        (completion(" "), " ", " ", False),
        (completion(None), "", None, False),
        (completion(None, tool_calls=CALLS, finish_reason="tool_calls"), "", None, True),
        (completion("hello", tool_calls=CALLS), "hello", None, True),
        (completion("hello", refusal=""), "hello", "hello", True),
        ({**completion("hello"), "error": "x"}, "hello", "hello", False),
        (TWICE, "hello", None, True),
        ({"choices": []}, "", None, False),
        ({"choices": "odd"}, "", None, False),
        ({"choices": [7]}, "", None, False),
        ({}, "", None, False),
    ],
)
def test_what_a_completion_says(given: Any, said: str, sole: str | None, finished: bool) -> None:
    assert (first_text(given), sole_text(given), is_finished(given)) == (said, sole, finished)


def test_an_answer_with_probabilities_is_more_than_its_text() -> None:
    choice = {**completion()["choices"][0], "logprobs": {}}
    assert sole_text({"choices": [choice]}) is None


def test_the_messages_of_all_choices() -> None:
    assert [said.text for said in answers_of(TWICE)] == ["hello", "hello"]
    assert answers_of(None) == answers_of({"choices": [7, {"message": 7}]}) == ()


def test_what_was_generated_holds_the_thinking_too() -> None:
    assert generated_text(completion("hello", reasoning_content="hm")) == "hm\nhello"
    assert generated_text(None) == ""


def test_model_and_error() -> None:
    assert (model_of(completion()), model_of({})) == ("m-2026", "")
    assert (has_error({"error": {}}), has_error({"error": {"a": 1}}), has_error(None)) == (False, True, False)


_counts = st.one_of(st.none(), st.booleans(), st.integers(-5, 50), st.floats(), st.text(max_size=3), st.just(10**40))
_details = st.one_of(
    _counts, st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens", "cache_write_tokens"]), _counts)
)
_keys = ["prompt_tokens", "completion_tokens", "cached_tokens", "prompt_cache_hit_tokens"]
_detail_keys = ["prompt_tokens_details", "completion_tokens_details"]


@pytest.mark.parametrize(
    ("usage", "parsed"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 4}, Usage(9, 5, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 5, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4}, Usage(9, 5, 4)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(9, 5, 4),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "cached_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
            Usage(9, 5, 4),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(9, 5, 0, 3),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 400}, Usage(9, 5, 9)),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 6}},
            Usage(9, 5, 0, 5),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None}, Usage(9, 5)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            },
            Usage(9, 5, 4, written_tokens=3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 4, "cache_creation_input_tokens": 7},
            Usage(9, 5, 4, written_tokens=5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": 0}},
            Usage(9, 5, written_tokens=0),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}},
            Usage(9, 5, reports_none_cached=True),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 0}, Usage(9, 5, reports_none_cached=True)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": None}}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": -1}, Usage(9, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": True}, Usage(9, 5)),
        ({"prompt_tokens": 9}, Usage(9, 0)),
        ({"prompt_tokens": "9", "completion_tokens": 5}, Usage(0, 5)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": True, "completion_tokens": -5}, None),
        ({"prompt_tokens": 10**40}, None),
        ({"prompt_tokens": 1.5}, None),
        ({"total_tokens": 5}, None),
        ({}, None),
        (None, None),
        ([], None),
        ("usage", None),
    ],
)
def test_usage_in_every_spelling(usage: Any, parsed: Usage | None) -> None:
    assert parse_usage(usage) == parsed


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_keys, _counts) | dict.fromkeys(_detail_keys, _details)))
def test_whatever_the_upstream_says_a_part_never_exceeds_its_whole(usage: dict[str, Any]) -> None:
    parsed = parse_usage(usage)
    assert parsed is None or (
        0 <= parsed.cached_tokens <= parsed.prompt_tokens < 2**63
        and 0 <= (parsed.written_tokens or 0) <= parsed.prompt_tokens - parsed.cached_tokens
        and 0 <= parsed.reasoning_tokens <= parsed.completion_tokens < 2**63
    )


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"usage": {"prompt_tokens": 1}}, Usage(1, 0)),
        ({"choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"usage": None, "choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"usage": {"prompt_tokens": 2}, "choices": [{"usage": {"prompt_tokens": 1}}]}, Usage(2, 0)),
        ({"choices": [{}, {"usage": {"prompt_tokens": 1}}]}, Usage(1, 0)),
        ({"choices": []}, None),
        ({"choices": None}, None),
        ({"choices": [None, 3, {"usage": 3}]}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_usage_is_found_in_a_body(body: Any, found: Usage | None) -> None:
    assert find_usage(body) == found
