from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.profiles import BUILT_IN
from proxy.context.window import cap, cap_message, kept, window_turns
from proxy.protocol.message import message
from proxy.types import TurnDigest

NUMBERS = BUILT_IN["lean"].window
HIGH, LOW = NUMBERS.high_continuity + 0.1, NUMBERS.low_continuity - 0.1
BETWEEN = (NUMBERS.high_continuity + NUMBERS.low_continuity) / 2


def words(text: str) -> int:
    return len(text.split())


def digest(tokens: int = 100, continuity: float | None = None) -> TurnDigest:
    return TurnDigest(b"", tokens, continuity, None)


@pytest.mark.note("1.2/3", "1.2/4", "1.2/5", "2.2/5", "9.2/3")
@pytest.mark.parametrize(
    ("continuities", "turns"),
    [
        ([], 6),
        ([None], 6),
        ([HIGH], 6),  # one turn is not enough
        ([HIGH, HIGH], 8),
        ([HIGH, NUMBERS.high_continuity], 6),  # above, not at
        ([LOW, LOW], 4),
        ([LOW, NUMBERS.low_continuity], 6),
        ([HIGH, LOW], 6),
        ([LOW, HIGH], 6),
        ([LOW, LOW, HIGH, HIGH], 8),  # only the last two count
        ([HIGH, HIGH, BETWEEN], 6),
        ([LOW, None], 6),
    ],
)
def test_the_window_follows_the_continuity_of_the_last_two_turns(continuities: list[float | None], turns: int) -> None:
    assert window_turns([digest(continuity=near) for near in continuities], NUMBERS) == turns


@pytest.mark.note("2.1/4")
@pytest.mark.parametrize(
    ("tokens", "limit", "turns", "expected"),
    [
        ([], 1_200, 6, 0),
        ([5_000], 1_200, 6, 1),  # the newest is whole, whatever it costs
        ([10, 5_000], 1_200, 6, 1),
        ([100] * 10, 1_200, 6, 6),
        ([300] * 10, 1_200, 6, 4),
        ([100, 1_101], 1_200, 6, 1),
        ([100, 1_100], 1_200, 6, 2),
        ([10, 1_300, 10], 1_200, 6, 1),  # none behind one that does not fit
        ([100] * 3, 1_200, 0, 1),
    ],
)
def test_a_fold_keeps_the_newest_turn_and_older_ones_that_fit(
    tokens: list[int], limit: int, turns: int, expected: int
) -> None:
    assert kept([digest(each) for each in tokens], limit, turns) == expected


@pytest.mark.note("3.2/3")
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=20), st.integers(0, 3_000), st.integers(0, 10))
def test_what_is_kept_fits_or_is_the_newest_turn_alone(tokens: list[int], limit: int, turns: int) -> None:
    number = kept([digest(each) for each in tokens], limit, turns)
    assert number >= 1
    assert number == 1 or (number <= turns and sum(tokens[-number:]) <= limit)


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = " ".join(f"w{number}" for number in range(500))
    shorter = cap(text, 60, words)
    assert shorter.startswith("w0 w1 ")
    assert shorter.endswith(" w498 w499")
    assert "tokens left out] …" in shorter
    assert 50 <= words(shorter) <= 60


def test_the_marker_says_how_much_is_left_out() -> None:
    text = " ".join(f"w{number}" for number in range(500))
    shorter = cap(text, 60, words)
    said = int(shorter.split("[")[1].split()[0])
    assert said == 500 - sum(word.startswith("w") for word in shorter.split())


def test_a_text_that_fits_is_untouched() -> None:
    assert cap("  two\n words ", 2, words) == "  two\n words "


@pytest.mark.note("2.1/4")
@given(st.text(max_size=400), st.integers(0, 60))
def test_a_capped_text_never_has_more_than_it_may(text: str, most: int) -> None:
    for count in (words, len):
        shorter = cap(text, most, count)
        assert count(shorter) <= most or shorter == text
        assert count(shorter) <= most
        assert shorter == cap(text, most, count)


LONG = "one two three four five six seven eight nine ten " * 10


@pytest.mark.parametrize(
    "data",
    [
        {"role": "assistant", "content": LONG, "tool_calls": [{"id": "a", "type": "function"}]},
        {"role": "assistant", "content": LONG, "function_call": {"name": "f"}},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "short"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:" + LONG}}]},
        {"role": "assistant", "content": 7},
    ],
)
def test_what_must_not_or_cannot_be_capped_stays_the_very_same_message(data: dict[str, Any]) -> None:
    said = message(data)
    assert cap_message(said, 20, words) is said


def test_every_other_field_of_a_capped_message_is_kept() -> None:
    said = message(
        {"role": "assistant", "content": LONG, "name": "x", "x_unknown": {"a": [1]}, "reasoning_content": LONG}
    )
    shorter = cap_message(said, 20, words)
    assert words(shorter.data["content"]) <= 20
    assert {**shorter.data, "content": LONG} == said.data
    assert b"left out" in shorter.raw


def test_parts_share_the_limit_and_what_is_no_text_stays() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    said = message(
        {"role": "assistant", "content": [{"type": "text", "text": LONG}, image, {"type": "text", "text": LONG}]}
    )
    content = cap_message(said, 30, words).data["content"]
    assert image in content
    assert sum(words(part["text"]) for part in content if part["type"] == "text") <= 30
