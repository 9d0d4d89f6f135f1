"""The floor is what costs are told in: it stays as it is."""

import pytest

from proxy.bench import measuring
from proxy.bench.measuring import floor_hash
from proxy.bench.processes import Unusable


def test_it_is_the_file_that_all_numbers_told_so_far_are_of() -> None:
    assert floor_hash() == measuring.FLOOR


def test_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "FLOOR", "0" * 64)
    with pytest.raises(Unusable, match=r"floor\.py is not the floor"):
        floor_hash()
