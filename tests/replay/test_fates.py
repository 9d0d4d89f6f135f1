"""What became of a message."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from proxy.memory.block import head, volatile
from proxy.memory.layout import Layout, lay_out
from proxy.replay.fates import Inside, inside
from proxy.types import Excerpt, Fold, Mechanisms, Message, PathState, Plan, Summary, TurnDigest
from tests.builders import Said, assistant, calling, messages, result, system, user

# 0 system | 1 2 turn 1 | 3 4 5 turn 2 | 6 7 turn 3 | 8 9 10 turn 4 | 11 turn 5
TOLD = (
    system("s"),
    *(user("one"), assistant("first\nanswer")),
    *(user("two"), assistant(None, tool_calls=[]), result("c")),
    *(user("three"), assistant("third")),
    *(user("four"), result("d"), assistant("fourth")),
    user("five"),
)
STATE = PathState(
    turns=5, at=0.0, newest=11, before=0, original=0, sent=0, stable=0, baseline=0.0, spent=0.0,
    open=(TurnDigest(b"", 1, None, None, start=6), TurnDigest(b"", 1, None, None, start=8)),
)  # fmt: skip
SUMMARY = Summary("t", (), "", (), (), first_turn=2, last_turn=2)
FOLD = Fold(6, head="<memory>…</memory>", summaries=(SUMMARY,))


def looked_into(state: PathState | None, *, is_changed: bool = True, told: Sequence[Said] = TOLD) -> Inside:
    said = messages(*told)
    plan = Plan("managed", 1, 1, messages=said if is_changed else None, state=state)
    return inside(said, plan, lambda each: len(each.raw))


def fates(state: PathState | None, **more: Any) -> list[str]:
    return [seen.fate for seen in looked_into(state, **more).messages]


@pytest.mark.parametrize("state", [None, replace(STATE, fold=FOLD)])
def test_of_a_request_that_was_not_changed_every_message_is_kept(state: PathState | None) -> None:
    assert set(fates(state, is_changed=False)) == {"kept"}


def test_what_left_the_window_is_folded_as_long_as_a_summary_tells_of_it() -> None:
    left, folded, kept = ["left out"] * 2, ["folded", "folded", "left out"], ["kept"] * 6
    assert fates(replace(STATE, fold=FOLD)) == ["kept", *left, *folded, *kept]


@pytest.mark.parametrize(
    ("changes", "index", "fate"),
    [
        ({"fold": replace(FOLD, capped=(7,))}, 7, "shortened"),
        ({"fold": FOLD, "folded_results": (9,)}, 9, "marker"),
        ({"fold": FOLD, "lent": 1}, 7, "left out"),
        ({"fold": FOLD, "lent": 1}, 8, "kept"),
        ({"fold": FOLD, "lent": 2}, 10, "left out"),
        ({"fold": FOLD, "lent": 2}, 11, "kept"),
        ({"fold": replace(FOLD, instructions=(2,))}, 2, "kept"),
        ({"lent": 0}, 1, "kept"),
    ],
)
def test_each_has_its_reason(changes: dict[str, Any], index: int, fate: str) -> None:
    seen = looked_into(replace(STATE, **changes)).messages[index]
    assert seen.fate == fate
    assert seen.why


def test_what_an_excerpt_says_is_recalled() -> None:
    of = Excerpt(b"", "assistant", "first\nanswer", turn=1, session="s", at=0.0, score=1.0, tokens=2)
    elsewhere = replace(of, role="user", text="other words", session="another")
    block = volatile("", (of, elsewhere), now=0.0, session="s")
    found = looked_into(replace(STATE, fold=FOLD, volatile=block))
    assert [seen.index for seen in found.messages if seen.fate == "recalled"] == [2]
    assert (found.head, found.volatile) == (FOLD.head, block)


def test_instructions_without_a_part_of_them_are_shortened() -> None:
    told = messages(system("a <format>b</format>"), system("whole"), user("q"))
    sent = messages(system("a\n\n<memory>\nm\n</memory>"), system("whole"), user("q"))
    state = replace(STATE, newest=2)
    plan = Plan("managed", 1, 1, messages=sent, mechanisms=Mechanisms(elided=5), state=state)
    assert [seen.fate for seen in inside(told, plan, lambda _: 1).messages] == ["shortened", "kept", "kept"]


def test_messages_are_shown_on_one_line_and_not_whole() -> None:
    (seen,) = looked_into(None, told=[user("a\n b " + "c" * 99)]).messages
    assert seen.begins == "a b " + "c" * 56


# --- where the state is gone ------------------------------------------------------------------------------------------

HEAD = head("- vive en Rosario", ())
EXCERPT = Excerpt(b"", "assistant", "first\nanswer", turn=1, session="s", at=0.0, score=1.0, tokens=2)
RECALLED = volatile("- es alérgica", (EXCERPT,), now=0.0, session="s")


def by_what_was_sent(sent: Sequence[Message], told: Sequence[Said] = TOLD) -> Inside:
    return inside(messages(*told), Plan("managed", 1, 1, messages=tuple(sent)), lambda each: len(each.raw))


def laid_out(
    start: int, *, head: str = HEAD, volatile: str = RECALLED, told: Sequence[Said] = TOLD
) -> Sequence[Message]:
    newest = max(index for index, said in enumerate(told) if said["role"] == "user")
    return lay_out(messages(*told), Layout(1, start, newest, head=head, volatile=volatile))


def test_what_was_sent_is_kept_what_it_quotes_is_recalled_and_the_rest_is_left_out() -> None:
    found = by_what_was_sent(laid_out(6))
    fates = [seen.fate for seen in found.messages]
    assert fates == ["kept", "left out", "recalled", *["left out"] * 3, *["kept"] * 6]
    assert (found.head, found.volatile) == (HEAD, RECALLED)
    assert all(seen.why for seen in found.messages)


@pytest.mark.parametrize(
    ("start", "head", "volatile"),
    [(6, HEAD, RECALLED), (6, HEAD, ""), (6, "", RECALLED), (11, HEAD, RECALLED), (11, HEAD, ""), (6, "", "")],
)
def test_the_blocks_are_read_back_from_where_they_stand(start: int, head: str, volatile: str) -> None:
    found = by_what_was_sent(laid_out(start, head=head, volatile=volatile))
    assert (found.head, found.volatile) == (head, volatile)


def test_the_head_behind_the_instructions_is_found_too_and_leaves_them_whole() -> None:
    sent = lay_out(messages(*TOLD), Layout(1, 6, 11, head=HEAD, volatile=RECALLED, role="system"))
    found = by_what_was_sent(sent)
    assert (found.head, found.volatile, found.messages[0].fate) == (HEAD, RECALLED, "kept")


def test_shortened_answers_markers_and_instructions_are_known_by_what_is_left_of_them() -> None:
    long = "The beginning of it, " + "and the middle, " * 50 + "and at last the end of it."
    told = [
        system("a <format>b</format>"),
        user("q"),
        assistant(long),
        user("look"),
        calling("c"),
        result("c", "x" * 99),
    ]
    told += [user("so?")]
    short = assistant("The beginning of it, and […] and at last the end of it.")
    sent = [system("a"), user("q"), short, user("look"), calling("c"), result("c", "[old result]"), user("so?")]
    found = by_what_was_sent(messages(*sent), told)
    fates = [seen.fate for seen in found.messages]
    assert fates == ["shortened", "kept", "shortened", "kept", "kept", "marker", "kept"]


def test_instructions_that_moved_to_the_others_are_kept() -> None:
    told = [system("s"), user("one"), system("t"), assistant("a"), user("two")]
    sent = messages(system("s"), system("t"), user("two"))
    assert [seen.fate for seen in by_what_was_sent(sent, told).messages] == [
        "kept",
        "left out",
        "kept",
        "left out",
        "kept",
    ]
