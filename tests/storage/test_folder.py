import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from proxy.storage import folder as module
from proxy.storage.base import SecretUnsafe
from proxy.storage.folder import LOGOUTS, MOST_LOGOUTS, SECRET, FileLogouts, private_file, private_folder, tenant_secret
from tests.builders import NOW


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "storage"
    secret = tenant_secret(folder)
    assert len(secret) == 32
    assert tenant_secret(folder) == secret
    assert (mode(folder), mode(folder / SECRET)) == (0o700, 0o600)
    assert [path.name for path in folder.iterdir()] == [SECRET]


def test_two_folders_have_two_secrets(tmp_path: Path) -> None:
    assert tenant_secret(tmp_path / "a") != tenant_secret(tmp_path / "b")


def test_all_that_start_together_get_the_same_secret(tmp_path: Path) -> None:
    together = Barrier(8)

    def start(_: int) -> bytes:
        together.wait()
        return tenant_secret(tmp_path / "storage")

    for _ in range(10):
        with ThreadPoolExecutor(8) as threads:
            assert len(set(threads.map(start, range(8)))) == 1
        (tmp_path / "storage" / SECRET).unlink()


@pytest.mark.parametrize("open_to", [0o640, 0o604, 0o620, 0o666])
def test_a_secret_that_others_can_reach_is_refused(tmp_path: Path, open_to: int) -> None:
    tenant_secret(tmp_path)
    (tmp_path / SECRET).chmod(open_to)
    with pytest.raises(SecretUnsafe, match=f"mode {open_to:04o}.*chmod 600"):
        tenant_secret(tmp_path)


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_secret_of_the_wrong_length_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / SECRET
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(SecretUnsafe, match="not a secret of 32 bytes"):
        tenant_secret(tmp_path)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SecretUnsafe, match="file"):
        tenant_secret(tmp_path / "file" / "storage")


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_private_file_loses_what_others_could_do_but_not_its_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("kept")
    path.chmod(0o644)
    private_file(path)
    assert (mode(path), path.read_text()) == (0o600, "kept")


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
    assert stat.S_IMODE((tmp_path / LOGOUTS).stat().st_mode) == 0o600


async def test_and_by_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REREAD", 0.0)
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
    assert not (tmp_path / LOGOUTS).exists()


async def test_as_many_are_known_as_there_is_room_for() -> None:
    known = FileLogouts(None, Clock())
    known._ended = {str(number): ENDS for number in range(MOST_LOGOUTS)}  # noqa: SLF001 (one by one takes a while)
    await known.add("new", ENDS)
    assert (known.has("new"), known.has("0"), known.has("1")) == (True, False, True)


@pytest.mark.parametrize("found", [b"", b"garbage\n", b"a -5\n", b"\xff\xfe 12\n", b"a 12 13\n", b" \n\n"])
async def test_a_file_that_is_something_else_ends_nothing(found: bytes, tmp_path: Path) -> None:
    (tmp_path / LOGOUTS).write_bytes(found)
    known = FileLogouts(tmp_path, Clock())
    await known.refresh()
    assert not known.has("a")


async def test_a_disk_that_fails_costs_the_restart_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / LOGOUTS).mkdir()
    known = FileLogouts(tmp_path, Clock())
    await known.refresh()
    await known.add("a", ENDS)
    assert known.has("a")
    assert "logouts are known to this process alone" in caplog.text
