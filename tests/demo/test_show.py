"""The demonstration: the same conversation twice, and tables of what each was billed."""

import re
from pathlib import Path

import pytest

from proxy.demo import show
from proxy.demo.conversation import CONVERSATION, talk


def rows_under(said: str, *heads: str) -> dict[str, list[str]]:
    """The cells of a table, by the first of each row."""
    lines = said.splitlines()
    head = next(number for number, line in enumerate(lines) if all(title in line for title in heads))
    found = {}
    for line in lines[head + 2 :]:
        if not line.strip():
            break
        first, *cells = re.split(r"\s{2,}", line.strip())
        found[first] = cells
    return found


@pytest.mark.long
def test_the_table_compares_both_ways(capsys: pytest.CaptureFixture[str], embedding_folder: Path) -> None:
    assert embedding_folder.is_dir()
    assert show.run(0, stay=False, short=True) == 0
    said = capsys.readouterr()
    assert said.err == ""
    rows = rows_under(said.out, "direct", "saved")
    requests = [int(cell) for cell in rows["requests"][:2]]
    assert requests[0] == requests[1] >= len(CONVERSATION)
    direct, proxied = (float(cell) for cell in rows["cost, US$ (prices of kimi-k2.6)"][:2])
    assert 0 < proxied < direct
    reused = [int(cell) for cell in rows["answered from memory"][:2]]
    assert reused[0] == 0 < reused[1]
    recalled = rows["facts recalled when asked"]
    assert recalled[0] == recalled[1]
    assert list(rows_under(said.out, "turns", "of these recalled")) == ["20", "40"]


@pytest.mark.long
def test_the_long_one_saves_the_more_the_longer_it_gets(
    capsys: pytest.CaptureFixture[str], embedding_folder: Path
) -> None:
    assert embedding_folder.is_dir()
    assert show.run(0, stay=False) == 0
    said = capsys.readouterr().out
    lines = rows_under(said, "turns", "of these recalled")
    assert list(lines) == ["20", "60", "100", "200"]
    differences = [int(cells[-1].removesuffix("%")) for cells in lines.values()]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < -25
    prompt, recalled = (int(cell.replace(",", "")) for cell in lines["200"][1:3])
    assert 0 < recalled < prompt
    asked = f"{sum(bool(ask.expects) for ask in talk())}"
    assert rows_under(said, "direct", "saved")["facts recalled when asked"] == [f"{asked} of {asked}"] * 2
