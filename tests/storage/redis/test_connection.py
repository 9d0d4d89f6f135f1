"""The connection of a process: what it says of itself while Redis is well, gone, slow, full or none at all; that
nothing ever waits for long, and that it comes back by itself."""

import asyncio
import logging
import signal
from pathlib import Path
from time import time

import pytest

from proxy.storage.base import SharedUnavailable
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.wire import MOST_LATE
from tests.redis_server import all_told, bulk, connected, fresh_redis, run_redis, stub, until

IMPATIENT_MS = 50
INFO = "redis_version:7.2.0\r\ncluster_enabled:0\r\n"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == "proxy.storage.redis.connection"]


async def test_it_says_when_it_is_ready_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    states: list[str] = []
    async with connected(fresh_redis().url, changed=states.append) as (connection, _):
        assert (connection.status, connection.state, connection.troubles) == ("ready", "ready", {})
        assert await connection.ask("answers", "ECHO", "heard") == b"heard"
    assert states == ["ready"]
    assert lines(caplog) == ["Redis is reached"]


async def test_nobody_there_is_said_once_and_asked_without_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[tuple[str, str]] = []
    nowhere = f"unix://{tmp_path}/none"
    async with connected(nowhere, failed=lambda *told: failures.append(told)) as (connection, _):
        assert connection.state == "down: Redis cannot be reached: No such file or directory"
        assert connection.troubles == {"redis": "Redis cannot be reached: No such file or directory"}
        for _ in range(3):
            with pytest.raises(SharedUnavailable):
                await connection.ask("answers", "GET", "k")
        connection.tell("throttle", "SET", "k", "v")
    assert failures == [*[("answers", "down")] * 3, ("throttle", "down")]
    assert lines(caplog) == ["Redis is done without: this process answers by itself"]


async def test_a_server_that_stands_still_costs_a_few_time_outs_and_then_nothing_until_it_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    reasons: list[str] = []
    with run_redis() as server:
        async with connected(server.url, timeout_ms=IMPATIENT_MS, failed=lambda _, reason: reasons.append(reason)) as (
            connection,
            _,
        ):
            server.signal(signal.SIGSTOP)
            async with asyncio.timeout(100):
                while connection.status == "ready":
                    await asyncio.sleep(0)
                    with pytest.raises(SharedUnavailable):
                        await connection.ask("answers", "GET", "k")
            assert 1 <= reasons.count("timeout") <= MOST_LATE + 1
            with pytest.raises(SharedUnavailable, match="down"):
                await connection.ask("answers", "GET", "k")
            assert connection.state == "down: Redis does not answer in time"
            server.signal(signal.SIGCONT)
            await until(lambda: connection.status == "ready")
            assert await connection.ask("answers", "ECHO", "heard") == b"heard"
    assert lines(caplog) == [
        "Redis is reached",
        "Redis is done without: this process answers by itself",
        "Redis is reached",
    ]


async def test_a_late_reply_is_no_answer_to_the_next_question() -> None:
    with run_redis() as server:
        async with connected(server.url, timeout_ms=IMPATIENT_MS) as (connection, _):
            server.signal(signal.SIGSTOP)
            with pytest.raises(SharedUnavailable, match="timeout"):
                await connection.ask("answers", "ECHO", "late")
            server.signal(signal.SIGCONT)
            for _ in range(3):  # the first one may be late itself, where the machine is busy
                try:
                    assert await connection.ask("answers", "ECHO", "next") == b"next"
                except SharedUnavailable:
                    continue


async def test_one_that_is_killed_and_started_again_is_found_again() -> None:
    with run_redis() as server:
        async with connected(server.url) as (connection, _):
            server.kill()
            await until(lambda: connection.status == "down")
            server.start()
            await until(lambda: connection.status == "ready")
            assert await connection.ask("answers", "ECHO", "heard") == b"heard"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "asks for a password: set `shared.password`, or one in `shared.url`"),
        ("?password=not-that-one", "refuses the user name or the password"),
    ],
)
async def test_a_wrong_password_is_named_and_never_shown(
    given: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with run_redis("--requirepass", "the-right-one") as server:
        async with connected(server.url + given) as (connection, _):
            assert connection.state == f"down: Redis {told}"
            assert "not-that-one" not in repr(connection.settings)
        async with connected(server.url + "?password=the-right-one") as (connection, _):
            assert connection.status == "ready"
    assert not [record for record in caplog.records if "-one" in str(vars(record))]


async def test_a_replica_is_not_written() -> None:
    with run_redis("--replicaof", "127.0.0.1", "1") as server:
        async with connected(server.url) as (connection, _):
            assert connection.state == "down: Redis is a read-only replica: name the primary"


async def test_a_primary_that_becomes_a_replica_is_left() -> None:
    with run_redis() as server:
        async with connected(server.url) as (connection, _):
            server.do("REPLICAOF", "127.0.0.1", "1")
            with pytest.raises(SharedUnavailable, match="readonly"):
                await connection.ask("answers", "SET", "k", "v")
            await until(lambda: connection.status == "down")
            server.do("REPLICAOF", "NO", "ONE")
            await until(lambda: connection.status == "ready")


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ({"INFO": b"-LOADING Redis is loading the dataset in memory\r\n"}, "is still loading its data"),
        ({"INFO": bulk(INFO), "SET": b"-LOADING loading\r\n"}, "is still loading its data"),
        ({"INFO": bulk(INFO), "SET": b"-MOVED 3999 10.0.0.1:6381\r\n"}, "is a node of a cluster, which is not supp"),
        ({"INFO": bulk(INFO), "SET": b"-MISCONF Errors writing to the AOF\r\n"}, "takes no writes, since it cannot"),
        ({"INFO": bulk(INFO), "SET": b"-BUSY running a script\r\n"}, "is busy with somebody's script"),
        ({"INFO": b"-NOPERM this user has no permissions\r\n"}, "does not let this user run a command that"),
        ({"INFO": bulk(INFO.replace("7.2.0", "5.0.3"))}, "has version 5.0.3, and 6.2 or later is needed"),
        ({"INFO": bulk(INFO.replace("enabled:0", "enabled:1"))}, "is a node of a cluster"),
        ({"INFO": b"-ERR unknown command\r\n"}, "answers with the error"),
        ({"INFO": b"HTTP/1.1 400 Bad Request\r\n\r\n"}, "does not speak the protocol of Redis"),
    ],
)
async def test_a_server_that_cannot_be_used_is_named(replies: dict[str, bytes], told: str) -> None:
    async with stub(replies) as url, connected(url) as (connection, _):
        assert connection.state.startswith(f"down: Redis {told}")


async def test_one_that_drops_what_it_likes_is_warned_of_once_and_used(caplog: pytest.LogCaptureFixture) -> None:
    with run_redis("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru") as server:
        async with connected(server.url) as (connection, _):
            assert connection.status == "ready"
            assert list(connection.troubles) == ["redis eviction"]
            server.kill()
            await until(lambda: connection.status == "down")
            server.start()
            await until(lambda: connection.status == "ready")
    assert lines(caplog).count("Redis may fail us") == 1


async def test_one_that_is_full_is_left_until_there_is_room() -> None:
    with run_redis("--maxmemory", "4mb", "--maxmemory-policy", "noeviction") as server:
        async with connected(server.url) as (connection, _):
            sets = [connection.ask("answers", "SET", f"k{number}", b"x" * 100_000) for number in range(100)]
            results = await asyncio.gather(*sets, return_exceptions=True)
            assert str(next(each for each in results if isinstance(each, SharedUnavailable))) == "memory"
            await until(lambda: connection.status == "down")
            assert connection.state == "down: Redis is full, and its maxmemory-policy lets nothing leave"
            server.do("FLUSHALL")
            await until(lambda: connection.status == "ready")


async def test_a_clock_that_differs_is_told() -> None:
    async with connected(fresh_redis().url, clock=lambda: time() - 60) as (connection, _):
        assert connection.status == "ready"
        assert connection.troubles["redis clock"] == "Redis: its clock and this machine's differ by 60 seconds"


async def test_an_error_of_one_command_is_its_own() -> None:
    async with connected(fresh_redis().url) as (connection, _):
        await connection.ask("answers", "SET", "k", "text")
        with pytest.raises(SharedUnavailable, match="error"):
            await connection.ask("answers", "LRANGE", "k", 0, -1)
        assert await connection.ask("answers", "GET", "k") == b"text"


async def test_scripts_are_known_again_to_a_server_that_has_lost_them() -> None:
    states: list[str] = []
    with run_redis() as server:
        scripted = connected(server.url, lambda over: over.script("return ARGV[1]"), changed=states.append)
        async with scripted as (connection, script):
            assert await connection.run("flights", script, "k", "heard") == b"heard"
            server.do("SCRIPT", "FLUSH")
            with pytest.raises(SharedUnavailable):
                await connection.run("flights", script, "k", "heard")
            await until(lambda: states == ["ready", "down", "ready"])
            assert await connection.run("flights", script, "k", "heard") == b"heard"


async def test_news_reach_the_others_and_letters_the_one_that_they_are_for() -> None:
    url = fresh_redis().url
    heard: list[tuple[str, object]] = []
    letters: list[tuple[str, bytes]] = []

    def listen(each: Connection) -> None:
        each.on_news("greeting", lambda told: heard.append((each.process, told)))
        each.on_letter(lambda told: letters.append((each.process, told)))

    async with connected(url, listen) as (one, _), connected(url, listen) as (other, _):
        one.publish("breakers", "greeting", ["hello", 1])
        one.publish("breakers", "of another kind", None)
        one.tell("breakers", "PUBLISH", one.names.news, b"\xc1 planted")
        one.tell("flights", "PUBLISH", one.names.inbox(other.process), b"to you")
        await until(lambda: letters)
        await all_told(one, other)
    assert heard == [(other.process, ["hello", 1])]
    assert letters == [(other.process, b"to you")]


async def test_what_was_told_is_done_before_it_is_closed() -> None:
    server = fresh_redis()
    async with connected(server.url) as (connection, _):
        for number in range(100):
            connection.tell("answers", "SET", f"k{number}", "v")
    assert server.do("DBSIZE") in (b":100\r\n", b":101\r\n")  # the probe may be there still


async def test_what_is_under_way_when_it_is_closed_fails() -> None:
    with run_redis() as server:
        async with connected(server.url, timeout_ms=IMPATIENT_MS) as (connection, _):
            server.signal(signal.SIGSTOP)
            asking = asyncio.gather(connection.ask("answers", "GET", "k"), return_exceptions=True)
            await asyncio.sleep(0)
            await connection.close()
            (failed,) = await asking
    assert isinstance(failed, SharedUnavailable)
