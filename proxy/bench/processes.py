"""Processes of a benchmark: started, waited for, looked at from outside, and gone in any case."""

import ctypes
import http.client
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

import msgspec

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_ROOT = Path(__file__).parents[2]
_ALIEN = re.compile(r"_proxy$|^prometheus_multiproc_dir$")  # variables of the environment, in small letters
_libc = ctypes.CDLL(None)
_SWITCHES = re.compile(r"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)
_Stream: TypeAlias = int | IO[bytes] | None


class Unusable(Exception):
    """An error for a process that was needed and did not come up, or ended. The message says how, and its last
    words."""


class Status(msgspec.Struct, frozen=True):
    """A process, seen from outside."""

    rss_mb: float
    threads: int
    files: int  # open file descriptors
    sockets: int  # those of them that are sockets


def machine() -> str:
    """Returns its processor, cores and Python. Raises Unusable if it is not Linux."""
    if not Path("/proc/self/task").is_dir():
        raise Unusable("it needs Linux: the CPU of processes is read from /proc")
    lines = _read(Path("/proc/cpuinfo")).splitlines()
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def cpu_seconds(pid: int) -> float:
    """Returns the CPU that a process and its children have used, user and system, all threads, in nanosecond steps
    (/proc/PID/stat counts in steps of 10 ms). Raises Unusable if the process has ended."""
    return sum(map(_own_cpu_seconds, _tree(pid)))


def switches(pid: int) -> int:
    """Returns how often the threads of a process, but for its main one, have gone to sleep: each was woken for
    something."""
    return sum(
        int(_SWITCHES.findall(_read(task / "status") or "voluntary_ctxt_switches: 0")[0])
        for each in _tree(pid)
        for task in _threads(each)
        if task.name != str(each)
    )


def _tree(pid: int) -> list[int]:
    children = [int(child) for task in _threads(pid) for child in _read(task / "children").split()]
    return [pid, *(each for child in children for each in _tree(child))]


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []  # the process has ended meanwhile


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
    """Waits until the process has been idle for `quiet` seconds, so that what it still does for earlier requests is
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
    """Returns what a process has now."""
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
    """Lets this process have as many open files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server(NamedTuple):
    """A process that listens."""

    port: int
    pid: int


@contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """Runs `python -m ARGUMENTS`, whose first line of output is its port, while the block lasts."""
    with running(*arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.strip().isdigit():
            raise Unusable(f"python -m {' '.join(arguments)} printed no port but {line!r}")
        yield Server(int(line), process.pid)


@contextmanager
def proxy(folder: Path, upstream: str, sections: str = "", workers: int = 1, storage: str = "") -> Iterator[Server]:
    """Runs the proxy as users do, with its default configuration but for `sections` (YAML) and `storage` (entries of
    that section), everything that it keeps in `folder`; its model of vectors is ready, too, in every worker. The
    server's process is the supervisor's, if there is one."""
    folder.mkdir(exist_ok=True)
    config, log = folder / "olvido.yaml", folder / "proxy.log"
    config.write_text(
        f"server: {{port: 0, workers: {workers}}}\n"
        f"upstreams: [{{name: bench, base_url: '{upstream}', dialect: openai}}]\n"
        f"storage: {{path: '{folder / 'storage'}'{storage and f', {storage}'}}}\n"
        f"{sections}\n",
        encoding="utf-8",
    )
    with (
        log.open("wb") as output,
        running("proxy", "serve", "--config", str(config), stdout=output, stderr=output) as process,
    ):
        port = when_ready(process, log, lambda: _port_in(log), lambda at: _are_warm(at, workers))
        yield Server(port, process.pid)


def _port_in(log: Path) -> int | None:
    found = re.search(r"http://[\d.]+:(\d+)/v1", log.read_text())
    return int(found[1]) if found else None


def _are_warm(port: int, workers: int) -> bool:
    """Returns False while a worker is still loading: connections are given to them in turn."""
    if workers > 1 and f"\nolvido_workers {workers}.0\n".encode() not in get(port, "/metrics"):
        return False
    return all(_is_warm(port) for _ in range(workers))


def _is_warm(port: int) -> bool:
    """Returns False while the proxy is still loading. Raises Unusable if it cannot embed although it should."""
    if not (told := get(port, "/readyz")):
        return False
    parts: dict[str, object] = msgspec.json.decode(told)["parts"]
    if parts["embedding"] == "failed":
        raise Unusable("its embedding model cannot be used (`olvido doctor` says why)")
    return parts["embedding"] != "warming"


def when_ready(
    process: subprocess.Popen[bytes], log: Path, find: Callable[[], int | None], is_ready: Callable[[int], bool]
) -> int:
    """Returns the port of a server, `find`'s, as soon as it is ready. Raises Unusable with the end of its log."""
    deadline = time.monotonic() + START_SECONDS
    while (port := find()) is None or not is_ready(port):
        if process.poll() is not None or time.monotonic() > deadline:
            how = "ended at once" if process.poll() is not None else f"is not ready after {START_SECONDS:g} s"
            raise Unusable(f"a proxy {how}; its last words:\n{log.read_text()[-3000:]}")
        time.sleep(0.05)
    return port


def get(port: int, path: str) -> bytes:
    """Returns what a server on this machine answers to a GET; nothing if it has no such answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.read() if answer.status == 200 else b""
    except (OSError, http.client.HTTPException):
        return b""
    finally:
        connection.close()


def end_children() -> None:
    """Kills what this process has started and nobody ended: a signal may come while a process is being started."""
    for child in _tree(os.getpid())[1:]:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


@contextmanager
def running(
    *arguments: str, stdin: _Stream = None, stdout: _Stream = None, stderr: _Stream = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs `python -m ARGUMENTS` while the block lasts."""
    with running_command(
        [sys.executable, "-P", "-m", *arguments], stdin=stdin, stdout=stdout, stderr=stderr
    ) as process:
        yield process


@contextmanager
def running_command(
    command: Sequence[str], *, stdin: _Stream = None, stdout: _Stream = None, stderr: _Stream = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command while the block lasts; nothing that it has started outlives that."""
    # A proxy of this machine's network must not stand between us and our own loopback.
    environment = {name: value for name, value in os.environ.items() if not _ALIEN.search(name.lower())}
    # Our own code, whatever the folder that we are in has (-P) or is installed.
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_ROOT), environment.get("PYTHONPATH"))))
    # In a group of its own, so that a Ctrl-C in the terminal reaches us alone, and its children can be found. Not in a
    # session: Linux schedules each apart from the others, which makes a request dearer (floor: by a third, 2026-11-23).
    process = subprocess.Popen(  # noqa: S603 (our own commands)
        command, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, process_group=0
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
