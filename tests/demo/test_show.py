"""The demonstration: the same conversation twice, and a table of what each was billed."""

import re

import pytest

from proxy.demo import show
from proxy.demo.conversation import CONVERSATION
from proxy.demo.show import Bill
from proxy.types import Usage


def test_the_table_compares_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.run(0, stay=False) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    head = next(line for line in lines if "direct" in line and "through olvido" in line)
    rows = {
        cells[0].strip(): cells[1:]
        for line in lines[lines.index(head) + 2 :]
        if (cells := re.split(r"\s{2,}", line.strip()))
    }
    requests = [int(cell) for cell in rows["requests"][:2]]
    assert requests[0] == requests[1] >= len(CONVERSATION)
    direct, proxied = (float(cell) for cell in rows["cost, US$ (prices of kimi-k2.6)"][:2])
    assert 0 < proxied < direct
    reused = [int(cell) for cell in rows["answered from memory"][:2]]
    assert reused[0] == 0 < reused[1]
    recalled = rows["facts recalled when asked"]
    assert recalled[0] == recalled[1]


def test_a_bill_adds_up_what_was_billed_and_nothing_else() -> None:
    bill = Bill()
    bill.add(Usage(1_000_000, 500_000, cached_tokens=400_000), reused=False)
    bill.add(Usage(1_000_000, 500_000), reused=True)
    bill.add(None, reused=False)
    assert (bill.requests, bill.reused) == (3, 1)
    assert (bill.prompt, bill.cached, bill.completion) == (1_000_000, 400_000, 500_000)
    assert bill.cost == pytest.approx(0.6 * 0.95 + 0.4 * 0.16 + 0.5 * 4.0)
