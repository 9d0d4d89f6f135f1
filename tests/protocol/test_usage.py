"""Usage is found in every provider's spelling, and garbage is no usage."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.usage import find_usage, parse_usage
from proxy.types import Usage

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
