"""Cookies that have ended stay ended: after a restart, and for every process that shares the folder."""

import stat
from pathlib import Path

import pytest

from proxy.storage.shared import logouts
from proxy.storage.shared.logouts import FILE_NAME, MOST, FileLogouts
from tests.builders import NOW

ENDS = int(NOW) + 3_600


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


async def test_what_was_ended_is_known_at_once() -> None:
    known = FileLogouts(None, Clock())
    await known.add("a", ENDS)
    await known.refresh()
    assert (known.has("a"), known.has("b")) == (True, False)


async def test_and_after_a_restart(tmp_path: Path) -> None:
    await FileLogouts(tmp_path, Clock()).add("a", ENDS)
    again = FileLogouts(tmp_path, Clock())
    await again.refresh()
    assert again.has("a")
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


async def test_and_by_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logouts, "REREAD", 0.0)
    one, other = FileLogouts(tmp_path, Clock()), FileLogouts(tmp_path, Clock())
    await one.refresh()
    for number in range(3):
        await other.add(str(number), ENDS)
        await one.refresh()
        assert one.has(str(number))


async def test_one_that_would_have_ended_by_itself_is_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    await FileLogouts(tmp_path, clock).add("a", ENDS)
    clock.now = ENDS
    later = FileLogouts(tmp_path, clock)
    await later.refresh()
    assert not later.has("a")
    assert not (tmp_path / FILE_NAME).exists()


async def test_as_many_are_known_as_there_is_room_for() -> None:
    known = FileLogouts(None, Clock())
    known._ended = {str(number): ENDS for number in range(MOST)}  # noqa: SLF001 (one by one takes a while)
    await known.add("new", ENDS)
    assert (known.has("new"), known.has("0"), known.has("1")) == (True, False, True)


@pytest.mark.parametrize("found", [b"", b"garbage\n", b"a -5\n", b"\xff\xfe 12\n", b"a 12 13\n", b" \n\n"])
async def test_a_file_that_is_something_else_ends_nothing(found: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(found)
    known = FileLogouts(tmp_path, Clock())
    await known.refresh()
    assert not known.has("a")


async def test_a_disk_that_fails_costs_the_restart_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE_NAME).mkdir()
    known = FileLogouts(tmp_path, Clock())
    await known.refresh()
    await known.add("a", ENDS)
    assert known.has("a")
    assert "logouts are known to this process alone" in caplog.text
