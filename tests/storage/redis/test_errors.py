"""Errors of Redis in our words."""

import socket
import ssl

import pytest
from redis import exceptions

from proxy.storage.redis.errors import REASONS, Refused, Trouble, is_reply, of_connecting, of_reply


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (exceptions.BusyLoadingError("loading", status_code="LOADING"), "loading"),
        (exceptions.ReadOnlyError("You can't write", status_code="READONLY"), "readonly"),
        (exceptions.AuthenticationError("nobody", status_code="WRONGPASS"), "auth"),
        (exceptions.AuthenticationError("takes none"), "auth"),
        (exceptions.OutOfMemoryError("full", status_code="OOM"), "memory"),
        (exceptions.MovedError("3999 127.0.0.1:6381", status_code="MOVED"), "cluster"),
        (exceptions.ResponseError("MISCONF Redis is configured to save"), "readonly"),
        (exceptions.ResponseError("WRONGTYPE Operation against a key"), None),
    ],
)
def test_an_error_reply_concerns_the_server_or_one_command(error: Exception, reason: str | None) -> None:
    assert is_reply(error)
    trouble = of_reply(error)
    assert (trouble and trouble.reason) == reason
    assert of_connecting(error).reason == (reason or "error")


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "cannot be reached: Connection refused"),
        (caused(exceptions.ConnectionError("…"), socket.gaierror(-2, "Name not known")), "reached: Name not known"),
        (caused(exceptions.ConnectionError("…"), ssl.SSLError(1, "wrong version")), "cannot be spoken to by TLS"),
        (TimeoutError(), "does not answer in time"),
        (exceptions.InvalidResponse("HTTP"), "does not speak the protocol"),
        (exceptions.ConnectionError("closed"), "cannot be reached, or closes the connection"),
        (Refused(Trouble("version", "is too old")), "is too old"),
    ],
)
def test_a_connection_that_does_not_begin_says_why_and_quotes_nothing(error: Exception, told: str) -> None:
    assert not is_reply(error)
    trouble = of_connecting(error)
    assert told in trouble.text
    assert trouble.reason in REASONS
