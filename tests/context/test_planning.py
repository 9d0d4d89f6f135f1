"""The decisions in their order: when a conversation is left alone, what stands where, what gives way under a limit."""

from dataclasses import replace

import pytest

from proxy.context.caching import Caching, caching
from proxy.context.draft import Memory, Pointed
from proxy.conversation.progress import Case
from proxy.types import Breakpoints, Fact, PrefixCache, Price, Repeats
from tests.builders import Said, assistant, calling, messages, result, system, user
from tests.context.told import (
    COLD,
    LEAN,
    WARM,
    Teller,
    Told,
    counter,
    excerpt,
    exchange,
    fact,
    profile,
    recalling,
    words,
)

S = system("Be brief.")
ELSEWHERE = fact("drinks tea without sugar", b"e" * 16, session="another")
STRICT = profile(fold="strict", window={"turns": 2, "min_turns": 2, "max_turns": 2, "tokens": 10_000})


def history(turns: int, tokens: int = 100) -> list[Said]:
    return [S, *(each for number in range(turns) for each in exchange(number, tokens))]


def test_a_conversation_that_nobody_adds_to_is_left_as_it_is() -> None:
    for told in Teller().tell(*history(3), user("3?")):
        managed = told.managed
        assert (managed.kind, managed.messages, managed.reason) == ("untouched", None, "")
        assert managed.tokens.sent == managed.tokens.original == told.tokens
        assert managed.tokens.mechanisms.items() == ()


@pytest.mark.parametrize("block", [1, 256])
def test_what_goes_as_it_came_costs_what_passing_it_through_does_wherever_blocks_begin(block: int) -> None:
    for told in Teller(rates=replace(WARM, block=block)).tell(*history(8, 30), user("8?")):
        assert told.managed.messages is None
        assert told.state.spent == pytest.approx(told.state.baseline)


def test_a_long_history_that_is_new_is_left_alone_unless_a_limit_forces() -> None:
    said = (*history(40), user("40?"))
    assert Teller(rates=COLD).ask(*said).managed.kind == "untouched"
    forced = Teller(rates=COLD, limit=2_000).ask(*said)
    assert forced.managed.kind == "managed"
    assert forced.tokens <= 2_000


def test_told_turn_by_turn_the_prompt_stops_growing() -> None:
    sent = [told.managed.tokens.sent for told in Teller(rates=COLD).tell(*history(60), user("60?"))]
    assert max(sent) < 3_000
    assert max(sent[30:]) <= max(sent[:30]) + 100


def test_a_strict_window_holds_its_turns_and_no_more() -> None:
    told = Teller().tell(*history(6), user("6?"), profile=STRICT)
    assert [len(each.state.open) for each in told] == [0, 1, 2, 2, 2, 2, 2]
    last = told[-1].managed
    assert (last.kind, last.reason) == ("managed", "turns=3")
    assert last.messages is not None
    assert [said.role for said in last.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert str(last.messages[1].data["content"]).startswith("<memory>\nEarlier parts of this conversation:\n")
    assert last.tokens.mechanisms.window == sum(map(counter.message, told[-1].case.messages[1:9]))


@pytest.mark.note("v2 Builder/3", "Rumi Prompt/1")
def test_a_standing_fact_goes_with_the_first_message_and_stays_there() -> None:
    memory = Memory(standing=(ELSEWHERE,), facts=frozenset({ELSEWHERE.id}))
    first, second = Teller().tell(user("Hello"), assistant("Hi"), user("Tea?"), memory=memory)
    assert "without sugar" in str(first.sent[0].data["content"])
    assert first.managed.tokens.mechanisms.items() == (("facts", first.state.fold.fact_tokens),)  # type: ignore[union-attr]
    assert second.sent[0].raw == first.sent[0].raw
    assert second.sent[1:] == second.case.messages[1:]


def test_once_it_is_forgotten_it_is_gone_from_the_head() -> None:
    teller = Teller()
    told = teller.ask(user("Hello"), memory=Memory(standing=(ELSEWHERE,), facts=frozenset({ELSEWHERE.id})))
    assert "without sugar" in str(told.sent[0].data)
    later = teller.ask(user("Hello"), assistant("Hi"), user("Tea?"))
    assert "without sugar" not in str([said.data for said in later.sent])


def asking(of: Case, relevant: tuple[Fact, ...] = ()) -> Memory:
    return Memory(relevant=relevant, wanted=600, is_asked_for=True, recall=recalling(of))


@pytest.mark.note("v2 Roadmap/2")
def test_what_is_recalled_stands_in_the_newest_message_and_is_not_repeated() -> None:
    teller = Teller(limit=2_000)
    said = [*history(30), user("What was the first thing?")]
    teller.tell(*said[:-1])
    told = teller.ask(*said, memory=asking)
    newest = str(told.sent[-1].data["content"])
    assert "<recalled>" in newest
    assert newest.endswith("\n\nWhat was the first thing?")
    assert told.managed.tokens.mechanisms.recall > 0
    later = teller.ask(*said, assistant("Tea."), user("Thanks"))
    assert "<recalled>" not in str([each.data for each in later.sent])


def test_while_a_turn_goes_on_what_was_recalled_stays() -> None:
    teller = Teller(limit=2_000)
    said = [*history(30), user("What was the first thing?")]
    teller.tell(*said[:-1])
    first = teller.ask(*said, memory=asking)
    second = teller.ask(*said, calling("c"), result("c", words(20)))
    assert second.sent[: len(first.sent)] == first.sent
    assert second.managed.tokens.busted == 0
    assert second.managed.tokens.mechanisms.recall == first.managed.tokens.mechanisms.recall


def test_so_do_facts_that_make_a_short_prompt_longer_than_the_clients() -> None:
    teller = Teller()
    first = teller.ask(user("Tea?"), memory=Memory(relevant=(ELSEWHERE,)))
    assert first.managed.tokens.sent > first.managed.tokens.original
    second = teller.ask(user("Tea?"), calling("c"), result("c"))
    assert second.sent[0].raw == first.sent[0].raw
    assert second.managed.tokens.mechanisms.facts == first.managed.tokens.mechanisms.facts > 0


def lending() -> tuple[Teller, list[Said], Told]:
    """A question about the past that takes the room of the window's older turns."""
    teller = Teller(limit=2_000)
    said = [*history(12, 150), user("What was the first thing?")]
    teller.tell(*said[:-1])
    return teller, said, teller.ask(*said, memory=lambda of: replace(asking(of), wanted=1_500))


def test_for_a_question_about_the_past_older_turns_make_room_and_return() -> None:
    teller, said, told = lending()
    state = told.state
    assert state.omitted > 0
    assert told.tokens <= 2_000
    later = teller.ask(*said, assistant("Tea."), user("Thanks"))
    assert later.state.omitted == 0
    assert [turn.start for turn in later.state.open][: len(state.open)] == [turn.start for turn in state.open]


def test_their_system_messages_are_sent_all_the_same() -> None:
    teller = Teller(limit=2_000)
    said = history(12, 150)
    late = [*said[:-4], system("Be kind."), *said[-4:]]
    teller.tell(*late)
    told = teller.ask(*late, user("What was the first thing?"), memory=lambda of: replace(asking(of), wanted=1_900))
    assert told.state.omitted > 0
    assert [each.data["content"] for each in told.sent if each.role == "system"] == ["Be brief.", "Be kind."]


@pytest.mark.note("v2 Troubleshooting/3", "v2 NO/4")
@pytest.mark.parametrize("limit", [200, 500, 1_000, 4_000])
def test_a_limit_is_a_limit(limit: int) -> None:
    for told in Teller(limit=limit).tell(*history(30), user("30?"), memory=asking):
        assert told.managed.kind != "over-budget"
        assert told.tokens <= limit


@pytest.mark.parametrize("said", [[system(words(500)), user("hi")], [S, user(words(500))]])
def test_what_no_plan_can_shorten_is_sent_with_the_least_memory_and_said_to_be_over(said: list[Said]) -> None:
    memory = Memory(standing=(ELSEWHERE,), relevant=(replace(ELSEWHERE, id="f-2"),), facts=frozenset({"f-1"}))
    told = Teller(limit=300).ask(*said[:1], *exchange(1), said[1], memory=memory)
    assert told.managed.kind == "over-budget"
    assert [each.raw for each in told.sent] == [each.raw for each in (told.case.messages[0], told.case.messages[-1])]


def test_system_messages_of_turns_that_a_limit_drops_are_kept() -> None:
    said = [S, user("1?"), system("Be kind."), assistant(words(400)), *exchange(2, 600), user("3?")]
    told = Teller(limit=500).ask(*said)
    assert [each.data["content"] for each in told.sent if each.role == "system"] == ["Be brief.", "Be kind."]
    assert told.tokens <= 500


def test_old_tool_results_leave_before_any_turn_does() -> None:
    agent = profile(tool_results={"fold_first": True, "keep": 1})
    said: list[Said] = [S, user("Look context.")]
    for number in range(6):
        said += [calling(f"c{number}"), result(f"c{number}", words(300, f"file{number}"))]
    told = Teller(limit=1_200).ask(*said, profile=agent)
    assert told.state.folded_results
    assert told.managed.tokens.mechanisms.tools > 0
    assert told.tokens <= 1_200
    assert len(told.sent) == len(said)
    assert told.sent[-1].raw == told.case.messages[-1].raw


@pytest.mark.parametrize(
    ("rethinking", "thought", "limit", "leaves"),
    [(0.0, "hm", None, True), (5.0, "", None, True), (5.0, "hm", None, False), (5.0, "hm", 1_600, True)],
)
def test_results_stay_where_what_was_thought_after_them_would_be_lost_unless_a_limit_demands_it(
    rethinking: float, thought: str, limit: int | None, *, leaves: bool
) -> None:
    agent = profile(tool_results={"fold_first": True, "keep": 1})
    said: list[Said] = [S, user("Look context.")]
    for number in range(12):
        call = {**calling(f"c{number}"), **({"reasoning_content": thought} if thought else {})}
        said += [call, result(f"c{number}", words(300, f"file{number}"))]
    rates = replace(WARM, rethinking=rethinking)
    *_, told = Teller(rates=rates, limit=limit).tell(*said, profile=agent)
    assert bool(told.state.folded_results) is leaves


@pytest.mark.parametrize("breakpoints", [False, True])
def test_behind_a_block_that_goes_a_breakpoint_is_lost_and_the_one_before_it_is_found(*, breakpoints: bool) -> None:
    teller = Teller(rates=replace(WARM, breakpoints=breakpoints))
    said = history(3)
    needed = Memory(pointed=Pointed(0, ("oolong",), excerpt(b"e" * 16, "oolong", session="another")))
    plain = teller.ask(*said, user("3?"))
    with_block = teller.ask(*said, user("3?"), assistant("3."), user("Tea?"), memory=needed)
    assert with_block.state.volatile.text
    after = teller.ask(*said, user("3?"), assistant("3."), user("Tea?"), assistant("Yes."), user("And now?"))
    answer = counter.message(messages(assistant("3."))[0])
    assert with_block.state.stable == plain.managed.tokens.sent + (0 if breakpoints else answer)
    assert after.state.spent - with_block.state.spent == teller.circumstances["rates"].cost(
        after.managed.tokens.sent, with_block.state.stable
    )


def test_results_that_leave_bust_what_stood_behind_the_first_of_them_and_no_more() -> None:
    agent = profile(tool_results={"fold_first": True, "keep": 1})
    said: list[Said] = [S, *exchange(1, 400), user("Look context.")]
    for number in range(4):
        said += [calling(f"c{number}"), result(f"c{number}", words(300, f"file{number}"))]
    done = Teller(limit=1_600).tell(*said, profile=agent)
    at = next(at for at, each in enumerate(done) if each.state.folded_results)
    before, told = done[at - 1], done[at]
    first = min(told.state.folded_results)
    assert told.managed.tokens.busted == sum(map(counter.message, before.case.messages[first:])) > 0


def test_a_result_whose_call_takes_more_tokens_to_name_than_it_has_stays() -> None:
    agent = profile(tool_results={"fold_first": True, "keep": 1})
    said: list[Said] = [S, user("Look context.")]
    for number in range(3):
        function = {"name": "look" * 300, "arguments": "{}"}
        call = assistant(None, tool_calls=[{"id": f"c{number}", "type": "function", "function": function}])
        said += [call, result(f"c{number}", words(150, f"file{number}"))]
    told = Teller(limit=300).ask(*said, profile=agent)
    assert told.state.folded_results == ()
    assert told.managed.tokens.sent == told.tokens
    assert told.managed.kind == "over-budget"


def test_a_fold_tells_how_much_of_the_cache_it_busts_and_the_next_request_nothing() -> None:
    told = Teller().tell(*history(6), user("6?"), profile=STRICT)
    folds = [each.managed.tokens.busted > 0 for each in told]
    assert folds == [False, False, False, True, True, True, True]
    calm = profile(LEAN, window={"tokens": 10_000})
    assert [each.managed.tokens.busted for each in Teller().tell(*history(6), profile=calm)] == [0] * 7


def marking(asked: Breakpoints, *, idle: float = 60.0) -> Caching:
    cache = PrefixCache(300.0, minimum=64, marked=True)
    return caching(Price(1.0, 0.1, 1.25, 5.0), cache, asked, idle=idle, prefix=20, may_set=True)


ALL, NONE = marking(Breakpoints(messages=True)), marking(Breakpoints())


def test_breakpoints_belong_at_the_end_of_what_the_next_turn_repeats() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(30), user("What was the first thing?")]
    calm = teller.tell(*said[:-1])[-1]
    assert calm.managed.repeats == Repeats(len(calm.sent), whole=True, minimum=64)
    asked = teller.ask(*said, memory=asking)
    assert asked.managed.repeats == Repeats(len(asked.before_newest), whole=False, minimum=64)
    calls = teller.ask(*said, calling("c"), result("c"))
    assert calls.managed.repeats == Repeats(len(asked.before_newest), whole=True, minimum=64)
    later = teller.ask(*said, calling("c"), result("c"), assistant("Tea."), user("Thanks"))
    assert later.sent[: len(asked.before_newest)] == asked.before_newest
    assert later.managed.repeats == Repeats(len(later.sent), whole=True, minimum=64)


def test_none_of_a_prompt_without_its_older_turns_is_repeated_but_the_instructions() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(12, 150), user("What was the first thing?")]
    teller.tell(*said[:-1])
    told = teller.ask(*said, memory=lambda of: replace(asking(of), wanted=1_500))
    assert told.state.omitted > 0
    assert told.managed.repeats == Repeats(0, whole=False, minimum=64)


def test_behind_the_last_breakpoint_a_prompt_is_not_written() -> None:
    teller = Teller(limit=2_000, caching=ALL)
    said = [*history(30), user("What was the first thing?")]
    before = teller.tell(*said[:-1])[-1]
    told = teller.ask(*said, memory=asking)
    sent, stable, held = told.managed.tokens.sent, told.state.stable, before.state.stable
    assert told.state.spent - before.state.spent == pytest.approx(
        0.1 * held + 1.25 * (stable - held) + 1.0 * (sent - stable)
    )


def test_where_the_client_sets_none_pass_through_is_billed_in_full_and_ours_are_read_later() -> None:
    told = Teller(limit=1_500, caching=NONE).tell(*history(40), user("40?"))
    assert sum(each.managed.tokens.original for each in told[1:]) <= told[-1].state.baseline
    managed = [each for each in told if each.managed.messages is not None]
    assert all(each.managed.repeats is not None for each in managed)
    assert all(each.state.is_written == (each.managed.repeats is not None) for each in told)
    first = next(at for at, each in enumerate(told) if each.managed.messages is not None)
    assert told[first].managed.tokens.expected == 0  # before it nothing was written
    assert told[first + 1].managed.tokens.expected == told[first].state.stable
    assert all(each.state.spent <= 1.1 * each.state.baseline for each in told)
    assert all(each.managed.tokens.repeated == 0 for each in told)


def test_none_are_set_where_the_conversation_rests() -> None:
    resting = marking(Breakpoints(), idle=400.0)
    told = Teller(limit=1_500, caching=resting).tell(*history(40), user("40?"))
    assert all(each.managed.repeats is None for each in told)
    assert all(each.managed.tokens.expected == 0 for each in told)
    assert told[-1].state.spent == pytest.approx(sum(each.managed.tokens.sent for each in told))


def test_near_its_limit_a_prompt_gets_the_breakpoint_that_its_first_fold_will_need() -> None:
    said = [system(words(200)), *history(8)[1:], user("8?")]
    told = Teller(limit=2_000, caching=ALL).tell(*said)
    ahead = [each for each in told if each.managed.messages == tuple(each.case.messages)]
    assert [each.managed.tokens.original > 1_000 for each in told] == [each in ahead for each in told]
    assert ahead
    assert all(each.managed.repeats is not None for each in ahead)
    assert all(each.managed.tokens.sent == each.managed.tokens.original for each in ahead)
    for other in (Caching(ALL.rates, ALL.alone, is_marked=True), Caching(ALL.rates, ALL.alone)):
        assert all(each.managed.messages is None for each in Teller(limit=2_000, caching=other).tell(*said))


def test_a_first_fold_finds_the_instructions_only_where_they_have_a_breakpoint_of_their_own() -> None:
    for is_split in (False, True):
        prices = caching(
            Price(1.0, 0.1, 1.25, 5.0),
            PrefixCache(300.0, minimum=64, marked=True),
            Breakpoints(messages=True),
            idle=60.0,
            prefix=20,
            may_set=True,
            is_split=is_split,
        )
        told = Teller(limit=2_000, caching=prices).tell(*history(30), user("30?"))
        folds = [each for each in told if each.managed.tokens.busted]
        assert folds
        assert all((each.managed.tokens.expected > 0) == is_split for each in folds)
