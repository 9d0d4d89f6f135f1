"""Days and months of UTC."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.keys.spending import DAY, days_of


@pytest.mark.parametrize(
    ("moment", "day", "first"),
    [
        ("2026-11-28T00:00:00", "2026-11-28", "2026-11-01"),
        ("2026-11-28T23:59:59", "2026-11-28", "2026-11-01"),
        ("2024-02-29T12:00:00", "2024-02-29", "2024-02-01"),
        ("2026-01-01T00:00:00", "2026-01-01", "2026-01-01"),
    ],
)
def test_a_day_and_the_first_of_its_month(moment: str, day: str, first: str) -> None:
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    days = [datetime.fromtimestamp(each * DAY, UTC).date().isoformat() for each in days_of(now)]
    assert days == [day, first]


@given(st.integers(0, 4_000_000_000))
def test_a_month_begins_on_its_first_and_holds_the_day(now: int) -> None:
    today, first = days_of(float(now))
    assert datetime.fromtimestamp(first * DAY, UTC).day == 1
    assert 0 <= today - first <= 30
