"""The decisions in their order: when a conversation is left alone, what stands where, what gives way under a limit."""

from dataclasses import replace

import pytest

from proxy.context.draft import Memory
from tests.builders import Said, assistant, calling, result, system, user
from tests.context.told import (
    COLD,
    ELSEWHERE,
    LEAN,
    WARM,
    S,
    Teller,
    Told,
    asking,
    counter,
    exchange,
    history,
    profile,
    words,
)

STRICT = profile(fold="strict", window={"turns": 2, "min_turns": 2, "max_turns": 2, "tokens": 10_000})


def test_a_conversation_that_nobody_adds_to_is_left_as_it_is() -> None:
    for told in Teller().tell(*history(3), user("3?")):
        managed = told.managed
        assert (managed.kind, managed.messages, managed.reason) == ("untouched", None, "")
        assert managed.tokens.sent == managed.tokens.original == told.tokens
        assert managed.tokens.mechanisms.items() == ()


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
    assert first.state.fold is not None
    assert first.managed.tokens.mechanisms.items() == (("facts", first.state.fold.fact_tokens),)
    assert second.sent[0].raw == first.sent[0].raw
    assert second.sent[1:] == second.case.messages[1:]


def test_once_it_is_forgotten_it_is_gone_from_the_head() -> None:
    teller = Teller()
    told = teller.ask(user("Hello"), memory=Memory(standing=(ELSEWHERE,), facts=frozenset({ELSEWHERE.id})))
    assert "without sugar" in str(told.sent[0].data)
    later = teller.ask(user("Hello"), assistant("Hi"), user("Tea?"))
    assert "without sugar" not in str([said.data for said in later.sent])


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
