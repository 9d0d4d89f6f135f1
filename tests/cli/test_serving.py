"""`olvido serve`: what it refuses before it serves, and how it tells."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.server import listen
from tests.builders import config


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--workers", "300"],
        ["serve", "--port", "-1"],
        ["serve", "--host", "0.0.0.0"],
        ["serve", "--config", "/nothing.yaml"],
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_runs(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("workers", ["0", "-1", "two"])
def test_there_is_at_least_one_worker(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--workers", workers])
    assert "--workers" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_taken_is_told_in_one_line(workers: str, tmp_path: Path) -> None:
    with contextlib.closing(listen(config(server={"port": 0}))) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "olvido.yaml").write_text(f"storage: {{path: {tmp_path / 'storage'}}}\n")
        command = [sys.executable, "-m", "proxy", "serve", "--config", str(tmp_path / "olvido.yaml")]
        command += ["--port", str(port), "--workers", workers]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    said = json.loads(line)
    assert (said["level"], said["port"]) == ("error", port)
    assert said["message"].startswith(f"port {port} is in use: choose another one with --port")
    assert not (tmp_path / "storage").exists()


def test_so_it_is_by_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    from proxy.demo import show

    with contextlib.closing(listen(config(server={"port": 0}))) as taken:
        assert show.run(taken.getsockname()[1], stay=False) == 1
    assert "--port 0" in capsys.readouterr().err
