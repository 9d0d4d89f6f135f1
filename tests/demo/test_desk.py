"""The agent of the demonstration: the note's flow, end to end, through a real proxy."""

from pathlib import Path

import pytest

from proxy.demo import agent, desk


@pytest.mark.note("SMMA 1/2", "SMMA 2/10", "SMMA 6/3")
@pytest.mark.long
async def test_an_agent_of_eighty_steps_finishes_within_its_limit_and_pays_less(tmp_path: Path) -> None:
    direct, plain, managed, calls = await desk.plays(tmp_path)
    assert [each.is_finished for each in (direct, plain, managed)] == [True] * 3
    assert [each.exact for each in (direct, plain, managed)] == [len(agent.QUESTIONS)] * 3
    assert max(managed.pressures) < 1
    assert managed.bill.cost <= 0.6 * direct.bill.cost
    assert managed.bill.cost <= plain.bill.cost
    wanted = {"summarize_range", "prune_messages", "recall_original", "edit_section", "save_to_disk"}
    assert wanted <= {name for name, count in calls.items() if count}
    assert managed.names == {"read_part"}  # all that the client is asked to run
    text = "\n".join((desk.table(direct, plain, managed), desk.told(managed, calls)))
    assert "cost against no limit" in text
    assert "recall_original" in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_what_it_tells_fits_a_terminal() -> None:
    run = desk.Run(names={"read_part"})
    lines = desk.told(run, dict.fromkeys(("edit_section", "prune_messages", "recall_original", "summarize_range"), 10))
    assert max(map(len, lines.splitlines())) <= 80
    assert lines.splitlines()[-1] == "Its client was asked to run: read_part."
    assert desk.told(run, {}).startswith("The agent called: none of them.")
