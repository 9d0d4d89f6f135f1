"""Clients whose every question reaches back, where caches find whole prompts alone, pay what pass-through costs."""

import pytest

from tests.bench import bills_clients
from tests.bench.bills import PROVIDERS, RUNNING, WHOLE, bills


@pytest.mark.long
@pytest.mark.parametrize("name", ["gpt-6", "deepseek"])
def test_a_client_that_keeps_reaching_back_pays_what_pass_through_costs(name: str) -> None:
    (of,) = [each for each in PROVIDERS if each.name == name]
    (bill,) = bills([bills_clients.DEV[0]()], of)
    assert bill.whole <= WHOLE
    assert bill.running <= RUNNING
    # What the planner reckons with is what the provider bills, but for the framing of blocks.
    for each in bill.requests[2:]:
        assert each.expected_direct == pytest.approx(each.direct_cost, abs=40)
        assert each.expected == pytest.approx(each.ours_cost, abs=40)
