"""Of random examples the quick tests try a tenth, and never none."""

import pytest
from hypothesis import settings

from tests.examples import QUICK, examples


@pytest.mark.parametrize(
    ("profile", "whole", "tried"),
    [("olvido", 400, 400), ("olvido", 8, 8), ("quick", 400, 40), ("quick", 60, QUICK), ("quick", 8, 8)],
)
def test_a_property_is_tried_with_so_many(profile: str, whole: int, tried: int) -> None:
    before = settings.get_current_profile_name()
    settings.load_profile(profile)
    try:
        assert examples(whole) == tried
    finally:
        settings.load_profile(before)
