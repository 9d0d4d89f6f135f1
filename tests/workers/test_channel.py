"""What supervisor and worker hear of each other, over a real socket pair."""

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from proxy.workers.channel import Received, Says, hear, pair, say

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Pair]:
    ours, theirs = pair()
    theirs.setblocking(False)
    with closing(ours), closing(theirs):
        yield ours, theirs


def test_messages_arrive_whole_and_in_order(ends: Pair) -> None:
    ours, theirs = ends
    for said in (Says.UP, Says.READY, Says.LEAVING):
        assert say(theirs, said)
    assert [hear(ours), hear(ours), hear(ours), hear(ours)] == [
        Received(Says.UP),
        Received(Says.READY),
        Received(Says.LEAVING),
        None,
    ]


def test_a_connection_goes_with_its_message_and_stays_open_here(ends: Pair) -> None:
    ours, theirs = ends
    client, accepted = socket.socketpair()
    with client, accepted:
        assert say(ours, Says.CONNECTION, accepted)
        taken = hear(theirs)
        assert taken is not None
        assert taken.says is Says.CONNECTION
        assert taken.connection is not None
        assert not taken.connection.get_inheritable()
        with taken.connection as connection:
            connection.sendall(b"from the worker")
        assert client.recv(100) == b"from the worker"
        accepted.sendall(b"from the supervisor")
        assert client.recv(100) == b"from the supervisor"


def test_an_end_that_does_not_listen_takes_only_a_few(ends: Pair) -> None:
    ours, theirs = ends
    taken = 0
    while say(ours, Says.DRAIN):
        taken += 1
    assert 0 < taken < 2_000
    assert hear(theirs) == Received(Says.DRAIN)
    assert say(ours, Says.DRAIN)  # there is room again


def test_an_end_that_has_ended_is_heard_of_and_told_nothing(ends: Pair) -> None:
    ours, theirs = ends
    assert say(theirs, Says.READY)
    theirs.close()
    assert not say(ours, Says.DRAIN)
    assert hear(ours) == Received(Says.READY)
    assert hear(ours) == Received(Says.END)
