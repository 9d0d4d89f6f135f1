"""The channel between the supervisor and one worker: a socket pair of whole messages, one byte each, in order.

A socket of a new connection goes with its message. The supervisor keeps its own copy until the worker has taken it:
what waits for a worker that is killed goes to another one. The kernel queues a handful of messages
(net.unix.max_dgram_qlen, 10): a worker that hangs holds no more connections than that, the others get the rest. The
channel's end says that the other process has ended.
"""

import socket
from dataclasses import dataclass
from enum import Enum

import msgspec


class Says(Enum):
    """The messages."""

    CONNECTION = b"c"  # to the worker: serve this socket
    DRAIN = b"d"  # to the worker: there will be no other; finish, and end
    UP = b"u"  # to the supervisor: it can serve
    READY = b"r"  # to the supervisor: it is warm
    TAKEN = b"t"  # to the supervisor: the oldest connection is in its hands, and not read yet
    LEAVING = b"l"  # to the supervisor: it was told to end, and waits for DRAIN
    END = b""  # the other process has ended


class Order(msgspec.Struct, frozen=True):
    """The argument that a worker is started with."""

    name: str
    folder: str  # the run-time folder
    channel: int  # file descriptor
    config: str | None  # the file
    server: dict[str, str | int | None]  # settings that replace the file's


@dataclass(frozen=True, slots=True)
class Received:
    """A message, and the socket that came with it."""

    says: Says
    connection: socket.socket | None = None


def pair() -> tuple[socket.socket, socket.socket]:
    """Returns both ends of a channel: the supervisor's, which does not block, and the worker's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    return ours, theirs


def say(channel: socket.socket, says: Says, connection: socket.socket | None = None) -> bool:
    """Sends a message; False if the other end is too busy, or has ended. `connection` is sent with it, and stays open
    here."""
    try:
        if connection is None:
            channel.send(says.value)
        else:
            socket.send_fds(channel, [says.value], [connection.fileno()])
    except OSError:
        return False
    return True


def hear(channel: socket.socket) -> Received | None:
    """Returns the next message; None if there is none now. A connection whose socket could not be taken, since this
    process has no file descriptor left, comes without one."""
    try:
        data, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    except BlockingIOError:
        return None
    except OSError:
        return Received(Says.END)
    if not descriptors:
        return Received(Says(data))
    connection = socket.socket(fileno=descriptors[0])
    connection.set_inheritable(False)  # the function above does not pass a flag on that would say so
    return Received(Says(data), connection)
