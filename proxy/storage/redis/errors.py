"""Errors of Redis in our words: each is mapped once, to a bounded reason for metrics and a sentence for people. A
command that fails raises `SharedUnavailable` (`../base.py`) with the reason.

A `Trouble` concerns the whole server: after one the connection is begun anew, since a server that has just become a
replica may have another one behind the same name. Other error replies concern one command (`error`).
"""

import ssl
from dataclasses import dataclass
from typing import Literal, get_args

from redis import exceptions

Reason = Literal[
    "down",  # not connected: nothing is asked until it is
    "timeout",  # no reply in time
    "overload",  # too many commands are waiting for their replies
    "lost",  # the connection broke
    "auth",
    "loading",
    "readonly",
    "cluster",
    "memory",
    "version",
    "protocol",
    "error",  # an error reply to one command
]
REASONS: tuple[str, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why the server cannot be used, and a sentence for people, without secrets."""

    reason: Reason
    text: str


CLUSTER = Trouble("cluster", "is a node of a cluster, which is not supported: name a server that has all keys")
_BY_CODE = {
    "NOAUTH": Trouble("auth", "asks for a password: set `shared.password`, or one in `shared.url`"),
    "WRONGPASS": Trouble("auth", "refuses the user name or the password"),
    "NOPERM": Trouble("auth", "does not let this user run a command that is needed: allow ~olvido:* &olvido:* +@all"),
    "LOADING": Trouble("loading", "is still loading its data"),
    "BUSY": Trouble("loading", "is busy with somebody's script"),
    "MASTERDOWN": Trouble("loading", "is a replica that has lost its primary"),
    "READONLY": Trouble("readonly", "is a read-only replica: name the primary"),
    "MISCONF": Trouble("readonly", "takes no writes, since it cannot save its data to disk"),
    "MOVED": CLUSTER,
    "ASK": CLUSTER,
    "CLUSTERDOWN": CLUSTER,
    "CROSSSLOT": CLUSTER,
    "NOSCRIPT": Trouble("lost", "has forgotten our scripts"),  # a new connection makes them known again
    "OOM": Trouble("memory", "is full, and its maxmemory-policy lets nothing leave"),
}


def of_reply(error: Exception) -> Trouble | None:
    """Returns the trouble that an error reply tells of the whole server; None if it concerns the command alone."""
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    if (known := _BY_CODE.get(code)) is not None:
        return known
    if isinstance(error, exceptions.AuthenticationError):
        return Trouble("auth", "takes no such user or password")
    return None


def is_reply(error: Exception) -> bool:
    """Returns True for an error that is a reply, and not the end of the connection: redis-py makes `-LOADING` and
    `-NOAUTH` a ConnectionError."""
    of_server = exceptions.ResponseError | exceptions.BusyLoadingError | exceptions.AuthenticationError
    return isinstance(error, of_server)


def of_connecting(error: BaseException) -> Trouble:
    """Returns the trouble that kept a connection from beginning."""
    if isinstance(error, Refused):
        return error.trouble
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Exception) and is_reply(cause):
            return of_reply(cause) or Trouble("error", f"answers with the error {str(cause).partition(' ')[0][:40]!r}")
        if isinstance(cause, exceptions.InvalidResponse):
            return Trouble("protocol", "does not speak the protocol of Redis")
        if isinstance(cause, ssl.SSLError):
            return Trouble(
                "protocol", f"cannot be spoken to by TLS: {getattr(cause, 'reason', None) or 'no TLS there'}"
            )
        if isinstance(cause, TimeoutError | exceptions.TimeoutError):
            return Trouble("timeout", "does not answer in time")
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, exceptions.RedisError):
            return Trouble("lost", f"cannot be reached: {cause.strerror}")
        cause = cause.__cause__ or cause.__context__
    return Trouble("lost", "cannot be reached, or closes the connection")


class Refused(Exception):
    """An error for a server that was reached, and cannot be used."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.text)
        self.trouble = trouble
