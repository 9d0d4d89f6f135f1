"""Where the process listens, and why it cannot."""

import contextlib
import errno
import socket

import pytest

from proxy.server import base_url, listen, why_not
from tests.builders import config


def test_a_port_that_is_taken_is_an_error_before_anything_is_served() -> None:
    with contextlib.closing(listen(config(server={"port": 0}))) as taken, pytest.raises(OSError, match="in use"):
        listen(config(server={"port": taken.getsockname()[1]}))


@pytest.mark.parametrize(
    ("host", "error", "told"),
    [
        ("127.0.0.1", OSError(errno.EADDRINUSE, "in use"), "port 80 is in use: choose another one with --port"),
        ("127.0.0.1", OSError(errno.EACCES, "denied"), "choose one above 1023 with --port"),
        ("10.9.9.9", OSError(errno.EADDRNOTAVAIL, "no"), "10.9.9.9 is no address of this machine"),
        ("nowhere", socket.gaierror(-2, "unknown"), "nowhere is no address of this machine"),
        ("127.0.0.1", OSError(errno.ENOBUFS, "none"), "cannot listen on 127.0.0.1:80: none"),
    ],
)
def test_why_it_cannot_listen_is_a_sentence_that_says_what_to_do(host: str, error: OSError, told: str) -> None:
    assert told in why_not(error, host, 80)


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "[::1]")]
)
def test_the_base_url_is_one_that_a_client_can_use(host: str, shown: str) -> None:
    class Bound(socket.socket):
        def getsockname(self) -> tuple[str, int]:
            return host, 8484

    with Bound() as bound:
        assert base_url(bound) == f"http://{shown}:8484/v1"
