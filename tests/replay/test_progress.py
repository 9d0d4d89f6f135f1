"""Progress on a terminal, and silence elsewhere."""

import io
import re

import pytest

from proxy.replay.progress import Progress, duration


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(out: io.StringIO) -> list[str]:
    return [re.sub(r"\x1b\[K", "", each).strip() for each in out.getvalue().split("\r")[1:]]


def test_a_terminal_sees_percent_and_then_the_time_that_is_left() -> None:
    now = 0.0
    out = Screen()
    progress = Progress(out, lambda: now)
    progress.say("getting ready")
    for done in range(101):
        progress(done, 100)
        now += 1.0
    shown = lines(out)
    assert shown[:3] == ["getting ready …", "0%", "1%"]
    assert shown[26] == "25%, about 1 min 15 s left"
    assert shown[-2].startswith("99%, about 1 s left")
    assert shown[-1] == ""  # the line is cleared


def test_what_is_quick_is_not_written_for_every_step() -> None:
    out = Screen()
    progress = Progress(out, lambda: 0.0)
    for done in range(1, 1_000):
        progress(done, 1_000)
    assert len(lines(out)) == 1


def test_what_is_said_of_a_block_is_cleared_at_its_end_however_it_ends() -> None:
    out = Screen()
    with pytest.raises(ValueError, match="broken"), Progress(out).saying("editing"):  # noqa: PT012 (what is shown until then)
        assert lines(out) == ["editing …"]
        raise ValueError("broken")
    assert lines(out) == ["editing …", ""]


def test_a_pipe_sees_nothing() -> None:
    out = io.StringIO()
    progress = Progress(out)
    progress.say("reading")
    progress(1, 2)
    progress(2, 2)
    with progress.saying("editing"):
        pass
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "1 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3_599, "59 min 59 s"), (7_260, "2 h 01 min")],
)
def test_times_are_as_exact_as_anybody_needs(seconds: float, told: str) -> None:
    assert duration(seconds) == told
