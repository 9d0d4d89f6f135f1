"""The image is built for arm64 too, where no machine of ours is: every wheel of it is there."""

import pytest

from tests.deploy import wheels


@pytest.mark.long
def test_everything_in_the_image_has_a_wheel_for_arm64() -> None:
    assert wheels.missing("linux/arm64", "3.11") == ""


@pytest.mark.long
def test_a_wheel_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # of a package that is not pinned, or pip would name the conflict
    monkeypatch.setattr(wheels, "wanted", lambda: ["tabulate==0.0.0.1"])
    assert "tabulate==0.0.0.1" in wheels.missing("linux/arm64", "3.11")
