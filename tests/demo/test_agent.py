"""The model of the demonstration's agent: it decides by its prompt alone."""

import json
from typing import Any

import pytest

from proxy.demo import agent
from proxy.demo.script import Scripted, ToolCall
from tests.builders import Said, assistant, result, system, user

OURS = ("prune_messages", "summarize_range", "recall_original", "edit_section", "save_to_disk", "remember")
STATUS = (
    "<memory>\nStatus of your memory:\nAdvice: {advice} on it. Largest, by id: 3\u201312: 5 results, 2,635.\n</memory>"
)


def act(*said: Said, tools: bool = True) -> Scripted:
    names = ("read_part", *(OURS if tools else ()))
    return agent.scripted({"tools": [{"function": {"name": name}} for name in names]}, [TASK[0], TASK[1], *said])


def calls(done: Scripted) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in done.calls]


def calling(name: str, **arguments: Any) -> Said:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return assistant(None, tool_calls=[{"id": "c", "type": "function", "function": function}])


def step(number: int, more: str = "") -> tuple[Said, Said]:
    return calling("read_part", number=number), result("c", agent.part(number) + more)


TASK = (system("s"), user(agent.TASK))


def test_it_reads_part_after_part() -> None:
    assert calls(act(tools=False)) == [("read_part", {"number": 1})]
    assert calls(act(*step(8))) == [("read_part", {"number": 9})]
    assert act(*step(80), tools=False).content == "All 80 parts are read."


@pytest.mark.note("SMMA 6/2")
def test_it_begins_with_its_task_and_keeps_notes_beside_its_steps() -> None:
    assert [name for name, _ in calls(act())] == ["edit_section", "read_part"]
    assert [name for name, _ in calls(act(*step(1)))] == ["remember", "read_part"]
    assert [name for name, _ in calls(act(*step(40)))] == ["edit_section", "save_to_disk", "read_part"]


@pytest.mark.note("SMMA 6/4")
def test_it_does_what_the_dashboard_advises_once() -> None:
    pruned = act(*step(8, STATUS.format(advice="prune_messages")))
    assert calls(pruned) == [("prune_messages", {"message_ids": list(range(3, 11))})]
    summarised = act(*step(8, STATUS.format(advice="summarize_range")))
    assert calls(summarised)[0][1]["end_id"] == 10
    done = (calling("summarize_range", start_id=3, end_id=10, summary_text="x"), result("c", "done"))
    assert calls(act(*step(8, STATUS.format(advice="summarize_range")), *done)) == [("read_part", {"number": 9})]


@pytest.mark.note("SMMA 6/5")
def test_a_seal_that_it_has_is_told_and_one_that_has_left_is_recalled() -> None:
    asked = user(agent.question(7))
    assert act(*step(7), asked).content == f"The seal of part 7 is {agent.seal(7)}."
    gone = result("c", '<summary of="3-24">\nread\n</summary>')
    assert calls(act(calling("read_part", number=9), gone, asked)) == [("recall_original", {"message_id": 17})]
    recalled = (calling("recall_original", message_id=17), result("c", agent.part(5)))
    assert calls(act(asked, *recalled)) == [("recall_original", {"message_id": 21})]
    assert calls(act(*step(9), asked, tools=False)) == [("read_part", {"number": 7})]


def test_a_scripted_action_is_a_call_or_a_text() -> None:
    assert act(*step(80), tools=False) == Scripted(content="All 80 parts are read.")
    assert act(*step(2), tools=False).calls == (ToolCall("read_part", '{"number":3}'),)
