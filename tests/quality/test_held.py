"""The share that has held, and how sure one can be of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.quality.held import held


@pytest.mark.parametrize(
    ("pairs", "kept", "low", "high"),
    [(10, 10, 0.7225, 1.0), (100, 90, 0.8256, 0.9448), (1, 0, 0.0, 0.7935), (20, 10, 0.2993, 0.7007)],
)
def test_the_interval_is_wilsons(pairs: int, kept: int, low: float, high: float) -> None:
    told = held(pairs, kept)
    assert told.low == pytest.approx(low, abs=1e-4)
    assert told.high == pytest.approx(high, abs=1e-4)
    assert told.share == kept / pairs


def test_of_nothing_nothing_is_known() -> None:
    assert held(0, 0).share is None


@given(st.integers(1, 10_000), st.data())
def test_the_share_lies_in_its_interval(pairs: int, data: st.DataObject) -> None:
    told = held(pairs, data.draw(st.integers(0, pairs)))
    assert told.share is not None
    assert 0 <= told.low <= told.share + 1e-12
    assert told.share <= told.high + 1e-12 <= 1 + 1e-12
