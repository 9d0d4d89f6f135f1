import asyncio

import pytest

from tests.bench.references import MUST, outcomes


@pytest.mark.long
def test_authored_references_have_their_item_and_where_nothing_was_listed_nothing_is_recalled() -> None:
    found = asyncio.run(outcomes())
    meant = [each for each in found if each.case.positions]
    assert len(meant) >= 80
    for lang in ("es", "en"):
        good = [each.good for each in meant if each.case.lang == lang]
        assert sum(good) >= MUST * len(good)
    assert not [each.case.query for each in meant if each.others]
    assert not [each.case.query for each in found if not each.case.positions and not each.good]
