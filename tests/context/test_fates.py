"""Fate of each message, as the plan decided it."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.context.draft import Memory
from proxy.context.fates import explained, pack, unpack
from proxy.conversation.progress import Case
from proxy.types import Fates
from tests.builders import assistant, calling, messages, result, system, user
from tests.context.told import Teller, counter, exchange, recalling

# 0 system | 1 2 turn 1 | 3 4 5 turn 2 | 6 7 turn 3 | 8 9 10 turn 4 | 11 turn 5
TOLD = messages(
    system("s"),
    *(user("one"), assistant("first\nanswer")),
    *(user("two"), assistant(None, tool_calls=[]), result("c")),
    *(user("three"), assistant("third")),
    *(user("four"), result("d"), assistant("fourth")),
    user("five"),
)
FOLDED = Fates(preamble=1, left=6, start=6, newest=11, summaries=((2, 2),), head="<memory>…</memory>")


def fates(decided: Fates | None) -> list[str]:
    return [said.fate for said in explained(TOLD, decided, lambda said: len(said.raw)).messages]


def test_of_a_request_that_was_not_changed_every_message_is_kept() -> None:
    assert set(fates(None)) == {"kept"}


def test_what_left_the_window_is_folded_as_long_as_a_summary_tells_of_it() -> None:
    left, folded, kept = ["left out"] * 2, ["folded", "folded", "left out"], ["kept"] * 6
    assert fates(FOLDED) == ["kept", *left, *folded, *kept]


@pytest.mark.parametrize(
    ("changes", "index", "fate", "why"),
    [
        ({"capped": (7,)}, 7, "shortened", "long older answer"),
        ({"markers": (9,)}, 9, "marker", "old tool result"),
        ({"start": 8}, 7, "left out", "makes room for what is recalled, this time"),
        ({"start": 8}, 8, "kept", "window"),
        ({"start": 11}, 10, "left out", "makes room for what is recalled, this time"),
        ({"start": 11}, 11, "kept", "newest turn"),
        ({"instructions": (2,)}, 2, "kept", "instructions"),
        ({"left": 1, "start": 1}, 1, "kept", "window"),
        ({"quoted": (2,)}, 2, "recalled", "the newest question needs it"),
        ({"start": 8, "quoted": (7,)}, 7, "recalled", "the newest question needs it"),
        ({"quoted": (7,)}, 7, "kept", "window"),
        ({"is_elided": True}, 0, "shortened", "what need not be repeated is left out"),
        ({}, 1, "left out", "turn 1 left the window, and no summary tells of it"),
        ({}, 3, "folded", "turn 2 left the window for a summary"),
        ({}, 5, "left out", "turn 2 left the window"),
    ],
)
def test_each_has_its_reason(changes: dict[str, Any], index: int, fate: str, why: str) -> None:
    found = explained(TOLD, replace(FOLDED, **changes), lambda said: len(said.raw)).messages[index]
    assert (found.index, found.role, found.tokens) == (index, TOLD[index].role, len(TOLD[index].raw))
    assert (found.fate, found.why) == (fate, why)


def test_the_blocks_are_told_with_it() -> None:
    found = explained(TOLD, replace(FOLDED, volatile="<recalled>…</recalled>"), lambda _: 1)
    assert (found.head, found.volatile) == ("<memory>…</memory>", "<recalled>…</recalled>")


def test_messages_are_shown_on_one_line_and_not_whole() -> None:
    (found,) = explained(messages(user("a\n b " + "c" * 99)), None, lambda _: 1).messages
    assert found.begins == "a b " + "c" * 56


def test_a_turn_that_opens_the_conversation_is_the_first() -> None:
    found = explained(messages(user("one"), assistant("1"), user("two")), Fates(0, 2, 2, 2), lambda _: 1)
    assert found.messages[0].why == "turn 1 left the window, and no summary tells of it"


def test_they_are_kept_as_they_were() -> None:
    assert unpack(pack(FOLDED)) == FOLDED


def test_planning_decides_them_and_a_turn_that_goes_on_keeps_what_was_recalled() -> None:
    def remembered(of: Case) -> Memory:
        return Memory(wanted=600, is_asked_for=True, recall=recalling(of, only=lambda index: index in (2, 5)))

    teller = Teller(limit=2_000)
    said = [*(each for number in range(30) for each in exchange(number)), user("What was the first thing?")]
    teller.tell(*said[:-1])
    asked = teller.ask(*said, memory=remembered)
    goes_on = teller.ask(*said, calling("c"), result("c"))
    for told in (asked, goes_on):
        found = explained(told.case.messages, told.managed.fates, counter.message)
        assert [each.index for each in found.messages if each.fate == "recalled"] == [2, 5]
        kept = [told.case.messages[each.index] for each in found.messages if each.why in ("window", "newest turn")]
        assert [each.role for each in kept] == [each.role for each in told.sent]
        assert (found.head in str(told.sent[0].data["content"]), "<recalled>" in found.volatile) == (True, True)
