"""Processes of a benchmark: started, waited for, looked at from outside, and gone in any case."""

import ctypes
import os
import re
import resource
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_libc = ctypes.CDLL(None)
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
    """CPU that a process has used, user and system, all its threads, in nanosecond steps (its /proc/PID/stat counts in
    steps of 10 ms)."""
    clock = ctypes.c_int()
    if error := _libc.clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise Unusable(f"process {pid} has no CPU clock: {os.strerror(error)}")
    return time.clock_gettime(clock.value)


def settle(pid: int, *, quiet: float = 0.3, most: float = 3.0) -> None:
    """Returns when the process has been idle for `quiet` seconds, so that what it still writes for earlier requests is
    counted with them; after `most` seconds in any case."""
    deadline = time.monotonic() + most
    used, since = cpu_seconds(pid), time.monotonic()
    while time.monotonic() < min(since + quiet, deadline):
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
def proxy(folder: Path, upstream: str) -> Iterator[Server]:
    """The proxy as users run it, everything it keeps in `folder`, but without context management: hundreds of new
    histories a second would all be embedded, and what that takes `tests.bench.context` tells."""
    config, log = folder / "olvido.yaml", folder / "proxy.log"
    config.write_text(
        f"server: {{port: 0}}\n"
        f"upstreams: [{{name: bench, base_url: '{upstream}', dialect: openai}}]\n"
        f"storage: {{path: '{folder / 'storage'}'}}\n"
        f"context: {{mode: 'off'}}\n"
    )
    with (
        log.open("wb") as output,
        running("proxy", "serve", "--config", str(config), stdout=output, stderr=output) as process,
    ):
        deadline = time.monotonic() + START_SECONDS
        while not (found := re.search(r"http://[\d.]+:(\d+)/v1", log.read_text())) or not _ready(int(found[1])):
            if process.poll() is not None or time.monotonic() > deadline:
                how = "ended at once" if process.poll() is not None else f"is not ready after {START_SECONDS:g} s"
                raise Unusable(f"the proxy {how}; its last words:\n{log.read_text()[-3000:]}")
            time.sleep(0.05)
        yield Server(int(found[1]), process.pid)


def _ready(port: int) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def running(
    *arguments: str, stdin: _Stream = None, stdout: _Stream = None, stderr: _Stream = None
) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m ARGUMENTS` while the block lasts."""
    # A proxy of this machine's network must not stand between us and our own loopback.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments], env=environment, stdin=stdin, stdout=stdout, stderr=stderr
    )
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
