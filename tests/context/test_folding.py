"""What leaves the window, and what stands in its place."""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest

from proxy.context.budget import TokenBudget
from proxy.context.draft import Draft, Memory, TooMuch
from proxy.context.folding import FoldPlanner, window_turns
from proxy.conversation.blocks import memory_head
from proxy.conversation.progress import PURPOSES, VectorsNeeded, progress
from proxy.types import Fact, Fold, TurnDigest
from tests.builders import Said, assistant, messages, system, user
from tests.context.told import COLD, LEAN, Teller, by_model, case, context, counter, exchange, fact, profile, words

S = system("Be brief.")
STRICT = profile(fold="strict", window={"turns": 2, "min_turns": 2, "max_turns": 2, "tokens": 10_000})


def folder(said: Sequence[Said], memory: Memory | None = None, *, limit: int | None = None) -> FoldPlanner:
    of = case(messages(*said), profile=STRICT)
    so_far = progress(of)
    assert so_far is not None
    return FoldPlanner(TokenBudget(of, so_far, context(of, limit=limit, rates=COLD)), memory or Memory())


def history(turns: int) -> list[Said]:
    return [S, *(each for number in range(1, turns + 1) for each in exchange(number)), user("last?")]


def folded(made: FoldPlanner) -> Fold:
    fold = made.folded(Draft(None, made.progress.open)).fold
    assert fold is not None
    return fold


def test_where_the_size_of_a_fold_depends_on_the_topic_vectors_are_asked_for_first() -> None:
    wide = profile(fold="strict", window={"turns": 2, "min_turns": 1, "max_turns": 3, "tokens": 10_000})
    for turns, of, depends in ((1, wide, False), (2, wide, True), (5, wide, True), (5, STRICT, False)):
        asked = replace(case(messages(*history(turns)), profile=of), lacks=PURPOSES)
        so_far = progress(asked)
        assert so_far is not None
        made = FoldPlanner(TokenBudget(asked, so_far, context(asked, rates=COLD)), Memory())
        with pytest.raises(VectorsNeeded) if depends else nullcontext():
            made.folded(Draft(None, so_far.open))


def test_turns_that_leave_become_summaries_of_three_the_newest_of_which_are_kept() -> None:
    made = folded(folder(history(18)))
    assert [(each.first_turn, each.last_turn) for each in made.summaries] == [(7, 9), (10, 12), (13, 15), (16, 16)]
    assert (made.start, made.turn) == (33, 19)
    assert made.head.startswith("<memory>\nEarlier parts of this conversation:\n")
    assert made.head_tokens == counter.text(made.head) + 4


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ([(1, 6)], [(1, 6), (7, 9), (10, 12), (13, 15), (16, 16)]),
        ([(10, 14)], [(4, 6), (7, 9), (10, 14), (15, 16)]),  # the segments end where it begins
        ([(10, 16)], [(1, 3), (4, 6), (7, 9), (10, 16)]),
        ([(1, 4), (5, 16)], [(1, 4), (5, 16)]),
        ([(10, 17)], [(7, 9), (10, 12), (13, 15), (16, 16)]),  # turn 17 has not left
        ([(1, 17)], [(7, 9), (10, 12), (13, 15), (16, 16)]),
    ],
)
def test_a_models_summaries_take_the_slots_of_the_turns_that_they_cover(
    made: list[tuple[int, int]], expected: list[tuple[int, int]]
) -> None:
    five = profile(STRICT, summaries={"slots": len(expected)})
    of = case(messages(*history(18)), profile=five)
    so_far = progress(of)
    assert so_far is not None
    stored = tuple(by_model(of, *span) for span in made)
    planner = FoldPlanner(TokenBudget(of, so_far, context(of, rates=COLD)), Memory(summaries=stored))
    fold = folded(planner)
    assert [(each.first_turn, each.last_turn) for each in fold.summaries] == expected
    used = {(each.first_turn, each.last_turn) for each in fold.summaries if each.by_model}
    assert used == {span for span in made if span in expected}
    assert all((f"tea of turns {first} to {last}" in fold.head) == ((first, last) in used) for first, last in made)


def test_a_summary_of_another_path_or_with_other_numbers_is_not_used() -> None:
    planner = folder(history(18))
    right = by_model(planner.case, 10, 16)
    wrong = (
        replace(right, link=b"x" * 16),
        replace(right, link=by_model(planner.case, 10, 15).link),
        replace(right, summary=replace(right.summary, first_turn=0)),
        replace(right, summary=replace(right.summary, first_turn=17)),
        replace(right, summary=replace(right.summary, topic="")),
    )
    assert folded(folder(history(18), Memory(summaries=wrong))) == folded(planner)
    assert folded(folder(history(18), Memory(summaries=(*wrong, right)))) != folded(planner)


def test_what_a_model_says_of_what_is_to_be_forgotten_is_not_used() -> None:
    planner = folder(history(18))
    stored = (by_model(planner.case, 1, 6), by_model(planner.case, 7, 9))
    fold = folded(folder(history(18), Memory(summaries=stored, forgotten=frozenset({planner.case.chain[5]}))))
    assert [each.first_turn for each in fold.summaries if each.by_model] == [7]


def test_a_models_summary_waits_for_a_fold_and_stands_as_it_is_until_something_is_forgotten() -> None:
    teller, said = Teller(rates=COLD), history(9)
    calm = profile(STRICT, fold="economic")
    before = teller.tell(*said, profile=STRICT)[-1]
    assert before.state.fold is not None
    assert [(each.first_turn, each.last_turn) for each in before.state.fold.summaries] == [
        (4, 4), (5, 5), (6, 6), (7, 7),
    ]  # fmt: skip
    ready = Memory(summaries=(by_model(before.case, 1, 6, topic="a bit of tea"),))
    later = (*said, *exchange(10)[1:], user("And?"))
    waiting = teller.ask(*later, profile=calm, memory=ready)
    assert waiting.state.fold == before.state.fold
    used = teller.ask(*later, assistant("a"), user("So?"), profile=STRICT, memory=ready).state.fold
    assert used is not None
    assert [(each.first_turn, each.last_turn, each.by_model) for each in used.summaries] == [
        (1, 6, True), (7, 7, False), (8, 9, False),
    ]  # fmt: skip
    assert "a bit of tea" in used.head
    again = replace(ready.summaries[0], summary=replace(ready.summaries[0].summary, topic="other words"))
    more = (*later, assistant("a"), user("So?"), assistant("b"), user("Well?"))
    after = teller.ask(*more, profile=STRICT, memory=Memory(summaries=(again, *ready.summaries))).state.fold
    assert after is not None
    assert after.turn > used.turn
    assert after.summaries[0] == used.summaries[0]
    rebuilt = teller.ask(
        *more, assistant("c"), user("Eh?"), profile=calm, memory=Memory(summaries=(), forgotten=frozenset({b"x"}))
    ).state.fold
    assert rebuilt is not None
    assert rebuilt.summaries == ()


def test_on_the_event_loop_no_model_summary_is_counted() -> None:
    planner = folder(history(18))
    memory = Memory(summaries=(by_model(planner.case, 1, 6),))
    here = replace(planner.context, in_place=True)
    with pytest.raises(TooMuch):
        folded(FoldPlanner(TokenBudget(planner.case, planner.progress, here), memory))


def test_of_a_small_budget_the_head_takes_a_small_share() -> None:
    made = folded(folder(history(18), limit=1_000))
    assert made.head_tokens <= 93
    assert len(made.summaries) < LEAN.summaries.slots


def test_the_share_of_the_head_is_the_profiles() -> None:
    wide = profile(STRICT, head_share=0.2)
    of = case(messages(*history(18)), profile=wide)
    so_far = progress(of)
    assert so_far is not None
    made = folded(FoldPlanner(TokenBudget(of, so_far, context(of, limit=1_000, rates=COLD)), Memory()))
    assert 93 < made.head_tokens <= 200
    assert len(made.summaries) > len(folded(folder(history(18), limit=1_000)).summaries)


@pytest.mark.note("v2 Roadmap/5")
def test_what_a_standing_fact_says_is_not_said_twice() -> None:
    said = history(6)
    chain = folder(said).case.chain
    left, kept = fact("left", chain[1], name="f-1"), fact("kept", chain[-1], name="f-2")
    elsewhere = fact("elsewhere", b"e" * 16, name="f-3")
    made = folded(folder(said, Memory(standing=(left, kept, elsewhere))))
    assert made.fact_ids == ("f-1", "f-3")
    assert "left" in made.head
    assert "kept" not in made.head


@pytest.mark.parametrize(("tokens", "expected"), [(40, 3), (75, 2), (80, 1)])
def test_facts_take_no_more_than_the_profile_gives_them(tokens: int, expected: int) -> None:
    stated = tuple(fact(words(tokens - 5), name=f"f-{number}") for number in range(5))
    taken = folder(history(1)).unsaid(stated, 1)
    assert len(taken) == expected
    assert len(folder(history(1)).unsaid(stated, 1, room=0)) == 0


def test_what_is_to_be_forgotten_is_in_no_summary() -> None:
    said = [S, user("My secret word is Marigold."), assistant("Noted."), *history(4)[1:]]
    chain = folder(said).case.chain
    assert "Marigold" in folded(folder(said)).head
    assert "Marigold" not in folded(folder(said, Memory(forgotten=frozenset({chain[1]})))).head


def test_what_we_had_added_is_in_no_summary() -> None:
    said = [S, user(memory_head("My word is Marigold.", ()) + "\n\nHello"), assistant("Hi."), *history(4)[1:]]
    assert "Marigold" not in folded(folder(said)).head


def test_system_messages_of_what_leaves_are_named() -> None:
    said = [S, user("1?"), system("Be kind."), assistant("1"), *history(3)[1:]]
    assert folded(folder(said)).instructions == (2,)


@pytest.mark.parametrize(
    ("facts", "forgotten", "is_made_anew"),
    [
        ({"f-1"}, (), False),
        ({"f-1", "f-2"}, (), False),
        ((), (), True),  # the fact is gone
        ({"f-1"}, (b"x",), True),  # a message that a summary may quote is to be forgotten
    ],
)
def test_a_head_stays_as_it_is_until_what_it_says_is_forgotten(
    facts: Collection[str], forgotten: Collection[bytes], is_made_anew: bool
) -> None:
    standing: tuple[Fact, ...] = (fact("likes tea", b"e" * 16),)
    teller = Teller()
    said = history(6)
    remembered = Memory(standing=standing, facts=frozenset({"f-1"}))
    before = teller.tell(*said, profile=STRICT, memory=remembered)[-1].state.fold
    assert before is not None
    still = tuple(each for each in standing if each.id in facts)
    asked = (*said, assistant("a"), user("And?"))
    calm = profile(STRICT, fold="economic")
    later = teller.ask(
        *asked, profile=calm, memory=Memory(standing=still, facts=frozenset(facts), forgotten=frozenset(forgotten))
    )
    after = later.state.fold
    assert after is not None
    assert (after != before) == is_made_anew
    assert after.start == before.start
    assert (after.summaries == ()) == is_made_anew


def test_where_the_window_is_full_older_answers_lose_their_middle() -> None:
    said = [S, *exchange(1), user("2?"), assistant(words(400)), user("3?"), assistant(words(400)), user("last?")]
    made = folder(said)
    full = profile(STRICT, window={"tokens": 500, "answer_tokens": 50})
    of = case(messages(*said), profile=full)
    fold = FoldPlanner(TokenBudget(of, made.progress, context(of)), Memory()).capped(Fold(3), made.progress.open[1:])
    assert fold.capped == (4,)  # the newest turn is whole
    assert folder(said).capped(Fold(3), made.progress.open[1:]).capped == ()


NUMBERS = LEAN.window
HIGH, LOW = NUMBERS.high_continuity + 0.1, NUMBERS.low_continuity - 0.1
BETWEEN = (NUMBERS.high_continuity + NUMBERS.low_continuity) / 2


def digest(continuity: float | None) -> TurnDigest:
    return TurnDigest(b"", 100, continuity, None)


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
    assert window_turns([digest(near) for near in continuities], NUMBERS) == turns
