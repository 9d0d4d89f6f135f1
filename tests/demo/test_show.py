"""The demonstration: the same conversation twice, and tables of what each was billed."""

import re
from pathlib import Path

import pytest

from proxy.demo import show
from proxy.demo.conversation import CONVERSATION, Ask, talk
from proxy.demo.show import Bill, growth, table
from proxy.types import Usage


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


def test_a_bill_adds_up_what_was_billed_and_nothing_else() -> None:
    bill = Bill()
    bill.add(Usage(1_000_000, 500_000, cached_tokens=400_000), reused=False)
    bill.add(Usage(1_000_000, 500_000), reused=True)
    bill.add(None, reused=False)
    assert (bill.requests, bill.reused) == (3, 1)
    assert (bill.prompt, bill.cached, bill.completion) == (1_000_000, 400_000, 500_000)
    assert bill.cost == pytest.approx(0.6 * 0.95 + 0.4 * 0.16 + 0.5 * 4.0)


@pytest.mark.parametrize(
    ("answer", "remembered"),
    [("It is 200.", 1), ("I don't know.", 0), ("It was 100.", 0), ("It was 100 and is 200.", 0)],
)
def test_what_holds_is_remembered_and_what_held_before_is_not(answer: str, remembered: int) -> None:
    bill = Bill()
    bill.check(Ask("How much?", expects="200", outdated="100"), answer)
    bill.check(Ask("Good morning."), answer)
    assert (bill.asked, bill.remembered) == (1, remembered)


def test_a_mark_stays_as_it_was() -> None:
    bill = Bill(prompt=1_000)
    bill.mark(20)
    bill.prompt += 1_000
    bill.mark(60)
    assert [(turns, mark.prompt) for turns, mark in bill.marks.items()] == [(20, 1_000), (60, 2_000)]


def test_the_tables_tell_both_plays_and_their_difference() -> None:
    direct, proxied = Bill(prompt=2_000), Bill(prompt=1_000, recalled=300)
    direct.mark(20)
    proxied.mark(20)
    assert growth(direct.marks, proxied.marks).splitlines()[-1].split() == [
        "20", "2,000", "1,000", "300", "0.0019", "0.0009", "-50%",
    ]  # fmt: skip
    assert "50.0%" in table(direct, proxied)
