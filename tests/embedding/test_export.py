"""Agreement with the original, and the process around all of this, are in test_engines.py."""

import sys
import threading
from pathlib import Path

import pytest

from proxy.embedding import EmbeddingRefused
from proxy.embedding.export import export, main
from proxy.embedding.exported import MODEL, Made, Source
from tests.embedding.exports import SOURCE, kept, made


class Maker:
    """Makes an export, and counts; lets another thread try meanwhile."""

    def __init__(self) -> None:
        self.scratches: list[Path] = []
        self.meanwhile = threading.Event()

    def __call__(self, source: Source, scratch: Path) -> Made:
        self.scratches.append(scratch)
        (scratch / "float32.onnx").write_bytes(b"large")
        assert self.meanwhile.wait(10)
        return made(source)


def test_several_that_export_at_once_make_one_export(tmp_path: Path) -> None:
    maker = Maker()
    threads = [threading.Thread(target=export, args=(SOURCE, tmp_path, maker)) for _ in range(4)]
    for thread in threads:
        thread.start()
    maker.meanwhile.set()
    for thread in threads:
        thread.join(100)
    assert len(maker.scratches) == 1
    assert kept(tmp_path) == made()
    assert not maker.scratches[0].exists()


def test_a_damaged_export_is_made_again(tmp_path: Path) -> None:
    maker = Maker()
    maker.meanwhile.set()
    export(SOURCE, tmp_path, maker)
    (tmp_path / MODEL).write_bytes(b"0nnx")
    export(SOURCE, tmp_path, maker)
    assert len(maker.scratches) == 2
    assert kept(tmp_path) == made()


def test_what_a_killed_export_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "half").touch()
    (tmp_path / "half-abc").touch()
    maker = Maker()
    maker.meanwhile.set()
    export(SOURCE, tmp_path, maker)
    assert not (tmp_path / "scratch").exists()
    assert not (tmp_path / "half-abc").exists()


def test_an_export_that_fails_leaves_nothing_and_the_next_can_succeed(tmp_path: Path) -> None:
    def failing(_source: Source, scratch: Path) -> Made:
        (scratch / "float32.onnx").touch()
        raise EmbeddingRefused("altered")

    with pytest.raises(EmbeddingRefused):
        export(SOURCE, tmp_path, failing)
    assert not (tmp_path / "scratch").exists()
    assert kept(tmp_path) is None
    export(SOURCE, tmp_path, made)
    assert kept(tmp_path) == made()


def test_a_folder_that_can_not_be_written_is_one_line_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["builtin", str(tmp_path / "file" / "below")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("model", ["/nowhere/at/all", "./nowhere", "../nowhere/at/all", "~/nowhere"])
def test_a_folder_that_is_not_there_is_told_before_a_library_is_loaded_or_a_hub_is_asked(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # importing it would fail
    assert main([model, str(tmp_path / "export")]) == 1
    assert capsys.readouterr().err == f"{model} is no folder\n"
