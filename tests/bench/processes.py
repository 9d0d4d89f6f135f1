"""Processes of a benchmark: started, waited for, looked at from outside, and gone in any case."""

import ctypes
import os
import re
import resource
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_libc = ctypes.CDLL(None)
_SWITCHES = re.compile(r"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)
_Stream: TypeAlias = int | IO[bytes] | None


class Unusable(Exception):
    """A process that was needed did not come up, or ended. The message says how, and its last words."""


class Status(msgspec.Struct, frozen=True):
    """A process, seen from outside."""

    rss_mb: float
    threads: int
    files: int  # open file descriptors
    sockets: int  # those of them that are sockets


def cpu_seconds(pid: int) -> float:
    """CPU that a process and its children have used, user and system, all threads, in nanosecond steps (/proc/PID/stat
    counts in steps of 10 ms)."""
    return sum(map(_own_cpu_seconds, _tree(pid)))


def switches(pid: int) -> int:
    """How often the threads of a process, but for its main one, have gone to sleep: each was woken for something."""
    return sum(
        int(_SWITCHES.findall(_read(task / "status") or "voluntary_ctxt_switches: 0")[0])
        for each in _tree(pid)
        for task in Path(f"/proc/{each}/task").iterdir()
        if task.name != str(each)
    )


def _tree(pid: int) -> list[int]:
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in _read(task / "children").split()
    ]
    return [pid, *(each for child in children for each in _tree(child))]


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""  # the thread has ended meanwhile


def _own_cpu_seconds(pid: int) -> float:
    clock = ctypes.c_int()
    if error := _libc.clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise Unusable(f"process {pid} has no CPU clock: {os.strerror(error)}")
    return time.clock_gettime(clock.value)


def settle(pid: int, *, quiet: float = 0.5, most: float = 300.0) -> None:
    """Returns when the process has been idle for `quiet` seconds, so that what it still does for earlier requests is
    counted with them: writes in batches, what is learnt, embeddings. Fails after `most` seconds."""
    deadline = time.monotonic() + most
    used, since = cpu_seconds(pid), time.monotonic()
    while time.monotonic() < since + quiet:
        if time.monotonic() > deadline:
            raise Unusable(f"process {pid} is never idle")
        time.sleep(0.02)
        now = cpu_seconds(pid)
        if now - used > 0.0005:
            since = time.monotonic()
        used = now


def status(pid: int) -> Status:
    lines = Path(f"/proc/{pid}/status").read_text()
    links = [_target(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    return Status(
        rss_mb=int(re.findall(r"VmRSS:\s+(\d+)", lines)[0]) / 1024,
        threads=int(re.findall(r"Threads:\s+(\d+)", lines)[0]),
        files=len(links),
        sockets=sum(link.startswith("socket:") for link in links),
    )


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""  # closed meanwhile


def allow_files() -> None:
    """As many open files as the system lets this process have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server:
    """A process that listens."""

    def __init__(self, port: int, pid: int) -> None:
        self.port = port
        self.pid = pid


@contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """`python -m ARGUMENTS`, whose first line of output is its port."""
    with running(*arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.strip().isdigit():
            raise Unusable(f"python -m {' '.join(arguments)} printed no port but {line!r}")
        yield Server(int(line), process.pid)


@contextmanager
def proxy(folder: Path, upstream: str, sections: str = "") -> Iterator[Server]:
    """The proxy as users run it, with its default configuration but for `sections` (YAML), everything that it keeps in
    `folder`."""
    folder.mkdir(exist_ok=True)
    config, log = folder / "olvido.yaml", folder / "proxy.log"
    config.write_text(
        f"server: {{port: 0}}\n"
        f"upstreams: [{{name: bench, base_url: '{upstream}', dialect: openai}}]\n"
        f"storage: {{path: '{folder / 'storage'}'}}\n"
        f"{sections}\n"
    )
    with (
        log.open("wb") as output,
        running("proxy", "serve", "--config", str(config), stdout=output, stderr=output) as process,
    ):
        yield _when_ready(process, log, lambda: _port_in(log), "/readyz")


@contextmanager
def litellm(folder: Path, upstream: str, executable: Path) -> Iterator[Server]:
    """LiteLLM's proxy in front of the same upstream, as it comes: one worker, no database."""
    config, log = folder / "litellm.yaml", folder / "litellm.log"
    config.write_text(
        "model_list:\n  - model_name: bench-model\n    litellm_params:\n"
        f"      {{model: openai/bench-model, api_base: '{upstream}', api_key: sk-bench}}\n"
        "general_settings: {dangerously_permit_weak_or_unset_master_key: true}\n"
    )
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = [str(executable), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output, _running(command, stdout=output, stderr=output) as process:
        yield _when_ready(process, log, lambda: port, "/health/liveliness")


def _port_in(log: Path) -> int | None:
    found = re.search(r"http://[\d.]+:(\d+)/v1", log.read_text())
    return int(found[1]) if found else None


def _when_ready(process: subprocess.Popen[bytes], log: Path, find: Callable[[], int | None], path: str) -> Server:
    deadline = time.monotonic() + START_SECONDS
    while (port := find()) is None or not _ready(port, path):
        if process.poll() is not None or time.monotonic() > deadline:
            how = "ended at once" if process.poll() is not None else f"is not ready after {START_SECONDS:g} s"
            raise Unusable(f"a proxy {how}; its last words:\n{log.read_text()[-3000:]}")
        time.sleep(0.05)
    return Server(port, process.pid)


def _ready(port: int, path: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def running(
    *arguments: str, stdin: _Stream = None, stdout: _Stream = None, stderr: _Stream = None
) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m ARGUMENTS` while the block lasts."""
    with _running([sys.executable, "-m", *arguments], stdin=stdin, stdout=stdout, stderr=stderr) as process:
        yield process


@contextmanager
def _running(
    command: Sequence[str], *, stdin: _Stream = None, stdout: _Stream = None, stderr: _Stream = None
) -> Iterator[subprocess.Popen[bytes]]:
    # A proxy of this machine's network must not stand between us and our own loopback.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = subprocess.Popen(command, env=environment, stdin=stdin, stdout=stdout, stderr=stderr)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
