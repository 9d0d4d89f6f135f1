"""The supervisor before and around its workers: its folder, what it cannot do, and what it says then."""

import socket
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config import ConfigError
from proxy.workers.supervisor import LONGEST_FOLDER, run, run_time_folder


@pytest.fixture(autouse=True)
def run_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def written(folder: Path, **sections: Any) -> Path:
    file = folder / "olvido.yaml"
    settings = {"storage": {"path": str(folder / "storage")}, "embedding": {"enabled": False}, **sections}
    file.write_text(yaml.safe_dump(settings))
    return file


def test_its_folder_is_private_and_where_the_system_wants_it(run_time: Path) -> None:
    folder = run_time_folder()
    assert folder.parent == run_time
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("named", ["/absent", "", "x" * LONGEST_FOLDER])
def test_where_that_cannot_be_used_another_one_is(named: str, monkeypatch: pytest.MonkeyPatch, run_time: Path) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", named)
    assert run_time_folder().parent == run_time
    monkeypatch.setenv("XDG_RUNTIME_DIR", named)
    folder = run_time_folder()
    folder.rmdir()
    assert len(str(folder / "1000.sock")) < 107  # of a socket's path


def test_a_port_that_is_taken_is_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture, run_time: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(written(tmp_path), {"port": port, "workers": 2}) == 1
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert record.getMessage().startswith(f"port {port} is in use: choose another one with --port")
    assert list(run_time.iterdir()) == []


def test_a_wrong_configuration_is_told_by_the_name_of_its_file(tmp_path: Path, run_time: Path) -> None:
    file = written(tmp_path, server={"wrokers": 2})
    with pytest.raises(ConfigError) as refused:
        run(file, {})
    assert str(refused.value).startswith(f"{file}: 1 problem")
    assert list(run_time.iterdir()) == []
