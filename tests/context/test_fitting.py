"""A limit: what gives way, what stays, and a prompt that no plan can shorten."""

from dataclasses import replace

import pytest

from proxy.context.draft import Memory
from tests.builders import Said, assistant, calling, result, system, user
from tests.context.told import (
    ELSEWHERE,
    S,
    Teller,
    asking,
    exchange,
    history,
    words,
)


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


def test_a_turn_does_not_leave_in_vain_beside_a_block_of_facts_that_has_to() -> None:
    teller = Teller(limit=300)
    memory = Memory(relevant=(ELSEWHERE,), facts=frozenset({ELSEWHERE.id}))
    said = [S, *exchange(1, 12), user("2?"), calling("a"), result("a", words(60))]
    began = teller.ask(*said, memory=memory)
    assert began.state.volatile.text
    room = 300 - began.tokens + began.state.volatile.tokens // 2
    told = teller.ask(*said, calling("b"), result("b", words(room - 20)), memory=memory)
    assert not told.state.volatile.text
    assert told.state.fold is None
    assert told.managed.tokens.mechanisms.window == 0
    assert told.tokens <= 300
