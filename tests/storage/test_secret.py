import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from proxy.storage.base import SecretUnsafe
from proxy.storage.secret import FILE_NAME, private_file, private_folder, tenant_secret


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "storage"
    secret = tenant_secret(folder)
    assert len(secret) == 32
    assert tenant_secret(folder) == secret
    assert (mode(folder), mode(folder / FILE_NAME)) == (0o700, 0o600)
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


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
        (tmp_path / "storage" / FILE_NAME).unlink()


@pytest.mark.parametrize("open_to", [0o640, 0o604, 0o620, 0o666])
def test_a_secret_that_others_can_reach_is_refused(tmp_path: Path, open_to: int) -> None:
    tenant_secret(tmp_path)
    (tmp_path / FILE_NAME).chmod(open_to)
    with pytest.raises(SecretUnsafe, match=f"mode {open_to:04o}.*chmod 600"):
        tenant_secret(tmp_path)


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_secret_of_the_wrong_length_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE_NAME
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
