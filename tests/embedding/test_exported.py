import hashlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.embedding.exported import LOCK, MANIFEST, MODEL, TOKENIZER, locked, read, writable, write
from proxy.embedding.source import Source
from tests.embedding.exports import SOURCE, kept, made


def test_an_export_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert kept(tmp_path) is None
    write(tmp_path, made())
    assert kept(tmp_path) == made()
    assert {path.name for path in tmp_path.iterdir()} == {MODEL, TOKENIZER, MANIFEST}
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_its_version_is_the_sources_own_or_follows_from_the_model() -> None:
    assert made(replace(SOURCE, version="own/1")).manifest.version == "own/1"
    assert made().manifest.version == f"tiny/int8/{hashlib.sha256(b'onnx').hexdigest()[:12]}"
    assert made(model=b"other").manifest.version != made().manifest.version


def altered(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"~")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
@pytest.mark.parametrize("damage", [cut, altered, Path.unlink])
def test_a_damaged_export_is_none(name: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path, made())
    damage(tmp_path / name)
    assert read(tmp_path, SOURCE) is None


@pytest.mark.parametrize("source", [replace(SOURCE, fingerprint="changed"), replace(SOURCE, version="tiny/2")])
def test_an_export_of_something_else_is_none(source: Source, tmp_path: Path) -> None:
    write(tmp_path, made())
    assert read(tmp_path, source) is None


def test_files_of_two_exports_are_none(tmp_path: Path) -> None:
    write(tmp_path, made())
    first = (tmp_path / MODEL).read_bytes()
    write(tmp_path, made(model=b"another"))
    (tmp_path / MODEL).write_bytes(first)
    assert read(tmp_path, SOURCE) is None


def test_only_one_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    entered = threading.Event()
    inside: list[str] = []

    def second() -> None:
        entered.set()
        with locked(tmp_path / "new"):
            inside.append("second")

    with locked(tmp_path / "new"):
        thread = threading.Thread(target=second)
        thread.start()
        assert entered.wait(10)
        inside.append("first")
    thread.join(10)
    assert inside == ["first", "second"]
    assert (tmp_path / "new" / LOCK).exists()


def test_a_folder_is_writable_or_not(tmp_path: Path) -> None:
    assert writable(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").touch()
    assert not writable(tmp_path / "file")
    assert not writable(tmp_path / "file" / "below")
