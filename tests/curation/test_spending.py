"""What a call may cost is a share of what was saved, and a little every day; what it has cost is in the job's row."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.curation.spending import limits
from proxy.storage.jobs import DAY
from proxy.types import LedgerRow
from tests.builders import NOW, ledger_row
from tests.curation.builders import SCOPE, turns
from tests.curation.house import COST, MOST, House, opened, settings

CHANGED = {"mechanisms": {"window": 10}}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


def saved(dollars: float, at: float, number: int, **differing: object) -> LedgerRow:
    return ledger_row(scope=SCOPE, cost_saved=dollars, at=at, request_id=f"r{number}", **differing)


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([], 0.0),
        ([saved(2.0, NOW, 1, source="exact")], 0.2),
        ([saved(2.0, NOW, 1, source="intent"), saved(1.0, NOW - 29 * DAY, 2, source="exact")], 0.3),
        ([saved(2.0, NOW - 31 * DAY, 1, source="exact")], 0.0),
        ([saved(2.0, NOW, 1, **CHANGED), saved(-0.5, NOW, 2, **CHANGED)], 0.15),
        ([saved(-2.0, NOW, 1, **CHANGED)], 0.0),
    ],
    ids=["nothing", "exact", "a month", "longer ago", "less what was added", "more was added"],
)
async def test_the_share_is_of_what_the_end_user_saved_in_30_days(
    house: House, rows: list[LedgerRow], share: float
) -> None:
    for row in rows:
        house.storage.ledger.append(row)
    await house.storage.flush()
    found = await limits(house.storage.accounts, settings(per_day=3.0, allowance=0.5), f"{SCOPE}~s", NOW + 10)
    assert (found.per_day, found.allowance) == (3.0, 0.5)
    assert found.share == pytest.approx(share)
    others = await limits(house.storage.accounts, settings(), f"{SCOPE}a", NOW + 10)
    assert others.share == 0.0


async def test_a_call_is_in_the_books_with_what_it_has_cost(house: House) -> None:
    await house.said(*turns("Hola"))
    await house.work()
    assert await house.storage.jobs.spent(0, SCOPE) == pytest.approx(COST)
    assert (await house.job()).spent == pytest.approx(COST)
    ((scope, session, name, body),) = house.model.asked
    assert (scope, session, body["model"]) == (SCOPE, "s", "small")
    assert name.startswith("memory-")


async def test_a_call_without_an_answer_may_have_cost_all_that_it_can(house: House) -> None:
    house.model.says = [None]
    await house.said(*turns("Hola"))
    await house.work()
    assert await house.storage.jobs.spent(0) == pytest.approx(MOST)
