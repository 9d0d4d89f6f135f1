from dataclasses import replace

from proxy.memory.block import head, volatile, without_ours, without_summaries
from proxy.types import Excerpt

NOON = 1_700_000_000.0  # 2023-11-14
DAY = 86_400.0
BOAT = Excerpt(b"1", "user", "My boat is Marigold", 12, "s", NOON, 1.0, 8)
REPLY = replace(BOAT, link=b"2", role="assistant", text="A fine name")


def lines(*excerpts: Excerpt, now: float = NOON) -> list[str]:
    return volatile("", excerpts, now=now, session="s").splitlines()[2:-1]


def test_a_line_says_which_turn_it_is_from_and_who_said_it() -> None:
    assert lines(BOAT, REPLY) == ["12 user: My boat is Marigold", "12 assistant: A fine name"]


def test_the_day_is_named_once_for_all_that_was_said_on_it_unless_it_is_today() -> None:
    today = replace(BOAT, at=NOON + DAY, turn=13)
    assert lines(BOAT, REPLY, today, now=NOON + DAY) == [
        "[2023-11-14]",
        "12 user: My boat is Marigold",
        "12 assistant: A fine name",
        "[2023-11-15]",
        "13 user: My boat is Marigold",
    ]


def test_what_was_said_in_another_conversation_is_told_apart() -> None:
    assert lines(replace(BOAT, session="t"), BOAT) == [
        "[2023-11-14, another conversation]",
        "12 user: My boat is Marigold",
        "[2023-11-14]",
        "12 user: My boat is Marigold",
    ]


def test_nothing_to_add_is_no_block() -> None:
    assert volatile("", (), now=NOON, session="s") == ""
    assert head("", ()) == ""


def test_what_we_added_is_taken_out_of_a_prompt_that_comes_back() -> None:
    ours = volatile("boat: Marigold", (BOAT, REPLY), now=NOON, session="s")
    assert without_ours(f"{ours}\nWhat is it called?") == "What is it called?"


def test_a_head_without_its_summaries_is_what_it_would_be_with_none() -> None:
    stated, told = "- [work] tea\n- [work] milk", ["{topic: tea}", "{topic: milk}"]
    assert without_summaries(head(stated, told)) == without_summaries(head(stated, ())) == head(stated, ())
    assert without_summaries(head("", told)) == without_summaries("") == ""
