import hashlib
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.embedding import EmbeddingRefused
from proxy.embedding.exported import (
    BUILTIN,
    E5,
    LOCK,
    MANIFEST,
    MINILM,
    MODEL,
    MULTILINGUAL,
    TOKENIZER,
    Source,
    clear,
    local_path,
    locked,
    read,
    slug,
    source_of,
    writable,
    write,
)
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
    thread.join(100)
    assert inside == ["first", "second"]
    assert (tmp_path / "new" / LOCK).exists()


def test_what_is_half_made_is_cleared_unless_it_is_being_made(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    with locked(tmp_path):
        clear(tmp_path)
        assert (tmp_path / "scratch").exists()
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    clear(tmp_path / "lock")  # where there is no folder to clear, nothing happens


def test_a_folder_is_writable_or_not(tmp_path: Path) -> None:
    assert writable(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").touch()
    assert not writable(tmp_path / "file")
    assert not writable(tmp_path / "file" / "below")


def test_the_package_is_found_and_not_imported() -> None:
    assert MINILM.path().is_file()
    assert MINILM.name not in sys.modules


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(EmbeddingRefused, match="no-such-model is not installed"):
        replace(MINILM, name="no_such_model").path()


def test_the_packaged_files_are_the_ones_that_were_checked() -> None:
    assert MINILM.read()
    assert MINILM.read_tokenizer()


def test_a_file_with_one_altered_byte_is_refused(tmp_path: Path) -> None:
    data = bytearray(MINILM.read_tokenizer())
    data[len(data) // 2] ^= 1
    (tmp_path / "tokenizer.json").write_bytes(data)
    with pytest.raises(EmbeddingRefused, match=r"tokenizer\.json is not that of all-MiniLM-L6-v2"):
        replace(MINILM, tokenizer=tmp_path / "tokenizer.json").read_tokenizer()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingRefused, match="No such file"):
        MINILM.read(tmp_path / "model.onnx")


def test_the_built_in_model_has_one_version_and_one_folder() -> None:
    source = source_of(BUILTIN)
    assert (source.version, source.folder) == ("minilm-l6-v2/int8/3", "minilm-l6-v2-int8-3")


def test_an_extra_that_is_not_installed_is_named() -> None:
    with pytest.raises(EmbeddingRefused, match=r"pip install 'olvido\[multilingual\]'"):
        replace(E5, name="no_such_model").path()


def test_the_multilingual_model_has_a_version_and_a_folder_of_its_own() -> None:
    source = source_of(MULTILINGUAL)
    assert (source.version, source.folder) == ("multilingual-e5-small/int8/2", "multilingual-e5-small-int8-2")


def test_a_folder_is_another_source_once_its_files_change(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = source_of(str(tmp_path))
    assert source_of(str(tmp_path)) == first
    (tmp_path / "config.json").write_text("{ }")
    second = source_of(str(tmp_path))
    assert (second.folder, second.version) == (first.folder, "")
    assert second.fingerprint != first.fingerprint


def test_models_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    models = ("a/minilm", "b/minilm", str(tmp_path / "minilm"))
    (tmp_path / "minilm").mkdir()
    assert len({source_of(model).folder for model in models}) == 3


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-small", "multilingual-e5-small"),
        ("/srv/models/My Model_v2/", "my-model-v2"),
        ("..", "model"),
        ("ñ", "model"),
        ("x" * 99, "x" * 48),
    ],
)
def test_a_name_becomes_fit_for_a_folder(model: str, expected: str) -> None:
    assert slug(model) == expected


@pytest.mark.parametrize("model", ["org/name", "x" * 5000, "a\0b", "~nobody-of-that-name/model"])
def test_what_is_no_folder_is_a_name(model: str) -> None:
    assert local_path(model) is None
