"""What the parts of a prompt cost, and what of it a prefix cache holds."""

from dataclasses import replace

import pytest

from proxy.context.budget import TokenBudget
from proxy.context.draft import FRAMING, Draft
from proxy.context.layout import lay_out
from proxy.conversation.blocks import memory_head
from proxy.conversation.progress import progress
from proxy.types import Fold
from tests.builders import Said, assistant, calling, messages, result, system, user
from tests.builders import counter as real
from tests.context.told import OVERHEAD, ROLES, WARM, Teller, case, context, counter, exchange, profile, where, words

S = system("Be brief.")
SAID: list[Said] = [
    S,
    *exchange(1, 40),
    user("2?"),
    system("Be kind."),
    assistant(words(300)),
    *exchange(3),
    user("4?"),
]
#                   0  1 2             3          4                    5                      6 7          8
CAPPING = profile(window={"answer_tokens": 50})


def budget(*said: Said, limit: int | None = None) -> TokenBudget:
    of = case(messages(*said), profile=CAPPING)
    so_far = progress(of)
    assert so_far is not None
    return TokenBudget(of, so_far, context(of, limit=limit))


def tokens(*said: Said) -> int:
    return sum(map(counter.message, messages(*said)))


def test_a_prompt_that_leaves_nothing_out_costs_what_the_client_sent() -> None:
    made = budget(*SAID)
    assert made.tokens(Draft(None, made.progress.open)) == made.original == OVERHEAD + tokens(*SAID)


def test_turns_that_left_cost_nothing_but_their_system_messages() -> None:
    made = budget(*SAID)
    draft = Draft(Fold(6, head="<H>", head_tokens=9, instructions=(4,)), made.progress.open[2:])
    assert made.tokens(draft) == OVERHEAD + tokens(S, SAID[4], *SAID[6:]) + 9
    assert (made.start(draft), made.instructions(draft)) == (6, (4,))


def test_nor_do_turns_that_make_room_for_once() -> None:
    made = budget(*SAID)
    draft = Draft(None, made.progress.open, omitted=2)
    assert made.tokens(draft) == OVERHEAD + tokens(S, SAID[4], *SAID[6:])
    assert (made.start(draft), made.instructions(draft)) == (6, (4,))
    assert made.start(replace(draft, omitted=3)) == 8


def test_a_long_answer_costs_what_is_left_of_it() -> None:
    made = budget(*SAID)
    whole = made.tokens(Draft(None, made.progress.open))
    made.cap_all([2, 4, 5])
    assert list(made.capped) == [5]  # what is short, or no answer, stays
    shorter = made.capped[5]
    assert made.tokens(Draft(None, made.progress.open)) == pytest.approx(
        whole - tokens(SAID[5]) + counter.message(shorter), abs=1
    )
    assert made.size(made.progress.open[1]) < made.progress.open[1].tokens
    assert made.size(made.progress.open[0]) == made.progress.open[0].tokens
    made.cap_all([])
    assert made.tokens(Draft(None, made.progress.open)) == whole


def test_thinking_stays_and_is_counted_when_the_answer_is_capped() -> None:
    made = budget(user("1?"), assistant(words(300), reasoning_content=words(200)), user("2?"))
    whole = made.tokens(Draft(None, made.progress.open))
    made.cap_all([1])
    saved = tokens(made.case.messages[1].data) - counter.message(made.capped[1])
    assert made.tokens(Draft(None, made.progress.open)) == pytest.approx(whole - saved, abs=4)


def test_a_marker_costs_less_than_its_result() -> None:
    said = [user("1?"), calling("c"), result("c", words(300)), assistant("a"), user("2?")]
    made = budget(*said)
    whole = made.tokens(Draft(None, made.progress.open))
    made.mark((2,))
    saved = tokens(said[2]) - counter.message(made.markers[2])
    assert made.tokens(Draft(None, made.progress.open)) == pytest.approx(whole - saved, abs=4)


def test_what_a_request_repeats_is_what_the_one_before_left() -> None:
    teller = Teller()
    said = [S, *exchange(1)]
    first = teller.ask(*said[:2])
    assert (first.state.sent, first.state.stable) == (first.tokens, first.tokens)
    second = teller.ask(*said, user("2?"))
    cost = WARM.cost(second.tokens, first.tokens)
    assert second.state.spent == pytest.approx(first.tokens + cost)
    assert second.state.baseline == pytest.approx(second.state.spent)


def test_of_a_conversation_that_was_sent_as_it_was_the_past_is_reckoned() -> None:
    of = case(messages(*SAID), was_seen=True)
    so_far = progress(of)
    assert so_far is not None
    known = TokenBudget(of, so_far, context(of)).costs()
    fresh = budget(*SAID).costs()
    assert fresh.spent == 0.0
    assert fresh.baseline == fresh.spent + WARM.cost(OVERHEAD + tokens(*SAID), 0)
    assert 0 < known.spent < known.baseline


@pytest.mark.parametrize(
    "said", ["", "hello", " hi", "\n\n\n", "\r\n/ a", "/>\n", "\\'s", "42", "漢字", "\u0301\u200d", "</b>"]
)
def test_a_block_costs_no_more_than_its_text_and_its_framing_whatever_stands_beside_it(said: str) -> None:
    count = real().text
    memory, recalled = memory_head("- [work] tea", ["{topic: tea}"]), "<recalled>\n1: tea\n</recalled>"
    at = where(1, 1, 1, volatile=recalled)
    for content in (said, [{"type": "text", "text": said}]):
        given = messages(S, user(content))
        for role in ROLES:
            sent = lay_out(given, at, head=memory, role=role)
            before, after = (sum(map(real().message, each)) for each in (given, sent))
            assert after <= before + count(memory) + count(recalled) + 2 * FRAMING


@pytest.mark.parametrize(
    ("fields", "thought"),
    [
        ({}, ""),
        ({"reasoning_content": "first this"}, "first this"),
        ({"reasoning": "first this"}, "first this"),
        ({"reasoning": "this", "reasoning_details": [{"type": "reasoning.text", "text": "this"}]}, "this"),
        ({"reasoning_details": [{"text": "first"}, {"type": "reasoning.encrypted", "data": "c2VjcmV0"}]}, "first"),
        ({"thinking_blocks": [{"thinking": "first"}, {"thinking": "then"}]}, "first\nthen"),
        ({"reasoning_content": None, "reasoning_details": "x", "thinking_blocks": [3, {"thinking": 3}]}, ""),
    ],
)
def test_thinking_is_read_where_each_provider_puts_it(fields: dict[str, object], thought: str) -> None:
    (said,) = messages(assistant("So.", **fields))
    assert said.reasoning == thought


def test_what_is_thought_is_counted_turn_by_turn_where_it_can_be_lost() -> None:
    said = (S, user("1?"), assistant("1", reasoning_content=words(30)), user("2?"), assistant("2"), user("3?"))
    of = case(messages(*said))
    so_far = progress(of)
    assert so_far is not None
    for rethinking, thought in ((0.0, ()), (5.0, (30, 0, 0))):
        known = TokenBudget(of, so_far, context(of, rates=replace(WARM, rethinking=rethinking)))
        assert known.sizes(Draft(None, so_far.open)).reasoning == thought
