"""A real nginx for tests, with the cluster's configuration in front of servers of ours."""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers import eventually

CONF = Path(__file__).parents[2] / "deploy" / "cluster" / "nginx" / "nginx.conf"
PORT, HEALTH_PORT = 8484, 8485  # as the file has them

needs_nginx = pytest.mark.skipif(
    shutil.which("nginx") is None, reason="needs nginx on the PATH (apt-get install nginx-light)"
)

_SERVER = re.compile(r"^ *server olvido-\d:8484 resolve (.*);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Nginx:
    url: str
    health_url: str
    folder: Path
    process: subprocess.Popen[bytes]

    def take_out(self, proxy: str) -> None:
        """As update.sh does; returns when the workers of before have ended."""
        file, address = self.folder / "nginx.conf", proxy.removeprefix("http://")
        file.write_text(file.read_text().replace(f"server {address} ", f"server {address} down "))
        before = self._workers()
        self.process.send_signal(signal.SIGHUP)
        eventually(lambda: self._workers() and not self._workers() & before)

    def _workers(self) -> set[str]:
        return set(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split())

    def log(self) -> str:
        return (self.folder / "access.log").read_text()


def localised(text: str, proxies: Sequence[str], ports: Sequence[int], folder: Path) -> str:
    """The configuration with these proxies (HOST:PORT) and ports instead of Docker's, in a folder of its own; without
    what only a newer nginx knows: a parameter for names, which goes with them, and a delay at a reload."""
    (parameters,) = set(_SERVER.findall(text))
    servers = "\n".join(f"server {proxy} {parameters};" for proxy in proxies)
    text = _SERVER.sub("", text).replace("zone proxies 128k;", f"zone proxies 128k;\n{servers}\n")
    text = re.sub(r"keepalive_min_timeout .*;", "", text)
    for given, port in zip((PORT, HEALTH_PORT), ports, strict=True):
        text = text.replace(f"listen {given};", f"listen 127.0.0.1:{port};")
    text = text.replace("worker_processes auto", "worker_processes 2").replace(" /tmp/", f" {folder}/")
    text = text.replace("error_log stderr", f"error_log {folder / 'error.log'}")
    return text.replace("/dev/stdout", str(folder / "access.log"))


def _free_ports(count: int) -> list[int]:
    bound = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in bound]
    for each in bound:
        each.close()
    return ports


@contextmanager
def run_nginx(proxies: Sequence[str], folder: Path) -> Iterator[Nginx]:
    """`proxies`: their addresses, like http://127.0.0.1:40001."""
    ports = _free_ports(2)
    written = folder / "nginx.conf"
    written.write_text(localised(CONF.read_text(), [url.removeprefix("http://") for url in proxies], ports, folder))
    more = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")  # else its workers may not write there
    command = ["nginx", "-p", str(folder), "-c", str(written), "-e", str(folder / "error.log"), "-g", more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:

        def listens() -> bool:
            assert process.poll() is None, (folder / "error.log").read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", ports[0])) == 0

        eventually(listens)
        yield Nginx(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}", folder, process)
    finally:
        process.terminate()
        process.wait(timeout=120)
