"""The command `olvido`: its exit status, and what it refuses."""

import fcntl
import signal
import subprocess
import sys
import termios
from pathlib import Path
from subprocess import PIPE

import pytest

from proxy.cli import INTERRUPTED, UNREAD, main
from tests.servers import eventually


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("olvido 0.")


@pytest.mark.parametrize("arguments", [["serve", "--port", "many"], ["demo", "--fly"], ["replay"]])
def test_what_is_no_command_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: olvido" in capsys.readouterr().err


def test_a_wrong_configuration_is_told_and_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--config", "/nothing.yaml"]) in (1, 2)
    assert main(["serve", "--config", "/nothing.yaml"]) == 2
    assert "/nothing.yaml: 1 problem" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="nothing tells what a process waits for")
def test_who_reads_no_further_and_who_interrupts_see_no_traceback() -> None:
    command = [sys.executable, "-m", "proxy"]
    with subprocess.Popen([*command, "check-config", "--schema"], stdout=PIPE, stderr=PIPE) as unread:
        assert unread.stdout is not None
        assert unread.stderr is not None
        unread.stdout.read(10)
        unread.stdout.close()
        assert unread.stderr.read() == b""
    assert unread.returncode == UNREAD
    # Whoever runs the tests in the background has SIGINT ignored, and so have their children.
    attentive = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"import sys; {attentive}; from proxy.cli import main; sys.exit(main(['replay', '-']))"
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stderr=PIPE) as interrupted:
        assert interrupted.stdin is not None
        assert interrupted.stderr is not None
        interrupted.stdin.write(b"\n")
        interrupted.stdin.flush()
        pipe, waiting, reader = interrupted.stdin.fileno(), bytearray(4), Path(f"/proc/{interrupted.pid}/wchan")
        eventually(lambda: fcntl.ioctl(pipe, termios.FIONREAD, waiting) == 0 and not any(waiting), 60)
        eventually(lambda: b"pipe" in reader.read_bytes(), 60)  # it waits for more
        interrupted.send_signal(signal.SIGINT)
        assert interrupted.stderr.read() == b"\n"
    assert interrupted.returncode == INTERRUPTED
