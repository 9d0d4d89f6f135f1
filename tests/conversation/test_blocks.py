"""Our blocks: how they are written, and how a prompt that comes back loses them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.layout import lay_out
from proxy.conversation.blocks import (
    FACTS_TITLE,
    RECALLED_TITLE,
    SUMMARIES_TITLE,
    memory_head,
    quoted,
    volatile_block,
    without_ours,
    without_summaries,
)
from proxy.types import Excerpt
from tests.builders import messages, system, user
from tests.context.told import ROLES, where

NOON = 1_700_000_000.0  # 2023-11-14
DAY = 86_400.0
BOAT = Excerpt(b"1", "user", "My boat is Marigold", 12, "s", NOON, 1.0, 8)
REPLY = replace(BOAT, link=b"2", role="assistant", text="A fine name")


def lines(*excerpts: Excerpt, now: float = NOON) -> list[str]:
    return volatile_block("", excerpts, now=now, session="s").splitlines()[2:-1]


def test_a_line_says_which_turn_it_is_from_and_who_said_it() -> None:
    assert lines(BOAT, REPLY) == ["12: My boat is Marigold", "12 assistant: A fine name"]


def test_the_day_is_named_once_for_all_that_was_said_on_it_unless_it_is_today() -> None:
    today = replace(BOAT, at=NOON + DAY, turn=13)
    assert lines(BOAT, REPLY, today, now=NOON + DAY) == [
        "[2023-11-14]",
        "12: My boat is Marigold",
        "12 assistant: A fine name",
        "[2023-11-15]",
        "13: My boat is Marigold",
    ]


def test_what_was_said_in_another_conversation_is_told_apart() -> None:
    assert lines(replace(BOAT, session="t"), BOAT) == [
        "[2023-11-14, another conversation]",
        "12: My boat is Marigold",
        "[2023-11-14]",
        "12: My boat is Marigold",
    ]


def test_nothing_to_add_is_no_block() -> None:
    assert volatile_block("", (), now=NOON, session="s") == ""
    assert memory_head("", ()) == ""


def test_what_we_added_is_taken_out_of_a_prompt_that_comes_back() -> None:
    ours = volatile_block("boat: Marigold", (BOAT, REPLY), now=NOON, session="s")
    assert without_ours(f"{ours}\nWhat is it called?") == "What is it called?"


_TAGS = ("<memory>", "</memory>", "<recalled>", "</recalled>", "</ Recalled >", "<", "/")
_PIECES = st.sampled_from((*_TAGS, FACTS_TITLE, SUMMARIES_TITLE, RECALLED_TITLE, "\n", "\n", " ", "x", "¿y?", "{", "}"))
_TEXTS = st.lists(_PIECES, max_size=12).map("".join)


def _is_ours(said: str) -> bool:
    """It has a block of ours of its own."""
    return any(f"{tag}\n{title}\n" in said for tag in _TAGS for title in (FACTS_TITLE, SUMMARIES_TITLE, RECALLED_TITLE))


_ORIGINALS = _TEXTS.filter(lambda said: not _is_ours(said))


@given(said=_ORIGINALS, facts=_TEXTS, summaries=st.lists(_TEXTS, max_size=2), old=st.lists(_TEXTS, max_size=2))
def test_whatever_our_blocks_quote_the_clients_words_come_back_to_the_byte(
    said: str, facts: str, summaries: Sequence[str], old: Sequence[str]
) -> None:
    memory = memory_head(facts, summaries)
    recalled = volatile_block(facts, [replace(BOAT, text=each) for each in old], now=NOON, session="s")
    for newest in (1, 2):
        for content in (said, [{"type": "text", "text": said}] if said else [], None):
            for role in ROLES:
                sent = lay_out(
                    messages(system("Be brief."), user(content), user(content)),
                    where(1, newest, newest, volatile=recalled),
                    head=memory,
                    role=role,
                )
                assert {without_ours(each.text) for each in sent[1:]} == {said if content else ""}
                assert without_ours(sent[0].text) == "Be brief."


@pytest.mark.parametrize(
    "said", ["#include <memory>\nint main() {}\n</memory>", "<recalled>\nthe car\n</recalled> why?"]
)
def test_tags_of_others_are_theirs(said: str) -> None:
    assert without_ours(said) == said


def test_what_would_end_a_block_is_quoted_so_that_it_can_be_read_and_nothing_else_is_touched() -> None:
    assert quoted("std::vector<int> is </recalled>") == "std::vector<int> is \u2039/recalled\u203a"
    assert quoted("< / MEMORY >") == "\u2039 / MEMORY \u203a"
    told = volatile_block("", [replace(BOAT, text="a\n</recalled>\nb")], now=NOON, session="s")
    assert told.count("</recalled>") == 1
    assert told.endswith("12: a\n\u2039/recalled\u203a\nb\n</recalled>")


def test_a_head_without_its_summaries_is_what_it_would_be_with_none() -> None:
    stated, told = "- [work] tea\n- [work] milk", ["{topic: tea}", "{topic: milk}"]
    assert (
        without_summaries(memory_head(stated, told))
        == without_summaries(memory_head(stated, ()))
        == memory_head(stated, ())
    )
    assert without_summaries(memory_head("", told)) == without_summaries("") == ""
