import os
import signal
import sys
import time
from pathlib import Path

import pytest

from proxy.bench.processes import Unusable, cpu_seconds, get, running, running_command, serving, settle, when_ready
from tests.scripted.server import listen

PARENT = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); sys.stdin.read()"


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").exists() and bool(Path(f"/proc/{pid}/cmdline").read_bytes())


def test_nothing_that_a_process_has_started_outlives_the_block() -> None:
    with running_command([sys.executable, "-c", PARENT], stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)  # it cannot clear up behind itself
    deadline = time.monotonic() + 10
    while is_there(child):  # its new parent has to bury it
        assert time.monotonic() < deadline


def test_what_is_measured_is_the_code_that_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proxy.py").write_text("raise SystemExit('something else of this name')")
    monkeypatch.chdir(tmp_path)
    with serving("proxy.bench.upstream") as server:
        assert server.port


def test_what_prints_no_port_is_told() -> None:
    with pytest.raises(Unusable, match="printed no port"), serving("this"):
        pass


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("cannot listen")
    with running("this", stdout=-1) as process:
        process.wait()
        with pytest.raises(Unusable, match=r"ended at once[^$]*cannot listen"):
            when_ready(process, log, lambda: None, lambda _port: True)


def test_the_cpu_of_a_process_is_that_of_its_children_too() -> None:
    before = cpu_seconds(os.getpid())
    with running_command(
        [sys.executable, "-c", "import sys; sum(range(10**7)); sys.stdin.read()"], stdin=-1
    ) as process:
        settle(process.pid, quiet=0.2)
        assert cpu_seconds(os.getpid()) - before >= cpu_seconds(process.pid) > 0


def test_an_ended_process_has_no_cpu() -> None:
    with running_command([sys.executable, "-c", ""]) as process:
        process.wait()
        with pytest.raises(Unusable, match="no CPU clock"):
            cpu_seconds(process.pid)


def test_where_nobody_answers_there_is_no_answer() -> None:
    bound = listen()
    assert get(bound.getsockname()[1], "/metrics") == b""
    bound.close()
