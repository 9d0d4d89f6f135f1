"""Who is let in, how much of a body is read, and what happens when the client leaves."""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config import key_hash
from proxy.errors import BadRequest, RequestTimeout, TooLarge, Unauthorized
from proxy.http.edge import (
    AsgiMessage,
    Authenticator,
    CancelOnDisconnect,
    ClientGone,
    Connection,
    Receive,
    discard_body,
    read_body,
    refuse_coding,
    stream_body,
)
from proxy.tasks import Tasks
from proxy.types import Headers
from tests.builders import config

SECRET = b"s" * 32
MIB = 2**20
GONE: AsgiMessage = {"type": "http.disconnect"}


def part(body: bytes, *, more: bool = True) -> AsgiMessage:
    return {"type": "http.request", "body": body, "more_body": more}


class Client:
    """What a client sends, message by message; then nothing more, for ever."""

    def __init__(self, *messages: AsgiMessage) -> None:
        self.left = list(messages)

    async def __call__(self) -> AsgiMessage:
        if not self.left:
            await asyncio.Event().wait()
        return self.left.pop(0)


# --- the gate -------------------------------------------------------------------------------------------------------


def gate(*keys: tuple[str, str]) -> Authenticator:
    if not keys:
        return Authenticator(config(), SECRET)
    listed = [{"name": name, "key": key_hash(key)} for name, key in keys]
    return Authenticator(config(auth={"mode": "keys", "keys": listed}), SECRET)


def bearing(key: str) -> Headers:
    return (("authorization", f"Bearer {key}"),)


def test_a_tenant_is_a_hash_that_the_key_cannot_be_told_from() -> None:
    tenant = gate().tenant(bearing("sk-secret"))
    assert len(tenant) == 32
    assert tenant == tenant.lower() == f"{int(tenant, 16):032x}"
    assert tenant != blake2b(b"key:sk-secret", digest_size=16).hexdigest()
    assert tenant != Authenticator(config(), b"t" * 32).tenant(bearing("sk-secret"))
    assert tenant == gate().tenant(bearing("sk-secret"))


@pytest.mark.parametrize(
    "headers",
    [
        (("authorization", "Bearer sk-1"),),
        (("authorization", "bearer  sk-1 "),),
        (("api-key", "sk-1"),),
        (("x-api-key", "sk-1"),),
        (("authorization", "Bearer "), ("api-key", "sk-1")),
        (("authorization", "Basic dTpw"), ("x-api-key", "sk-1")),
        (("authorization", "sk-1"),),
    ],
)
def test_one_key_is_one_tenant_wherever_it_stands(headers: Headers) -> None:
    assert gate().tenant(headers) == gate().tenant(bearing("sk-1"))


@pytest.mark.parametrize(
    "name", ["api-key", "x-api-key", "x-goog-api-key", "ocp-apim-subscription-key", "helicone-auth"]
)
def test_who_has_the_same_dummy_and_another_key_is_another_tenant(name: str) -> None:
    for dummy in ((), bearing("dummy")):
        tenants = {gate().tenant((*dummy, *key)) for key in ((), ((name, "k-1"),), ((name, "k-2"),))}
        assert len(tenants) == 3
    assert gate().tenant((*bearing("a"), *bearing("b"))) != gate().tenant(bearing("a"))


@given(st.lists(st.text(st.characters(max_codepoint=255), max_size=6), unique_by=str.strip, min_size=2))
def test_no_two_keys_are_one_tenant(keys: list[str]) -> None:
    tenants = [gate().tenant((("x-api-key", key.strip()),)) for key in keys]
    assert len(set(tenants)) == len(tenants)


ANA, EVA = "ana-key-0123456789", "eva-key-0123456789"


def test_with_own_keys_only_those_get_in() -> None:
    guarded = gate(("ana", ANA), ("eva", EVA))
    assert guarded.tenant(bearing(ANA)) != guarded.tenant(bearing(EVA))
    assert guarded.tenant((("x-api-key", EVA),)) == guarded.tenant(bearing(EVA))


@pytest.mark.parametrize(
    "headers",
    [(), bearing("no"), bearing(""), bearing(ANA + "x"), bearing(ANA[:-1]), bearing(key_hash(ANA)), bearing("\xe9")],
)
def test_and_nobody_else_does(headers: Headers) -> None:
    with pytest.raises(Unauthorized) as caught:
        gate(("ana", ANA)).tenant(headers)
    assert ANA not in caught.value.message


def test_a_key_that_is_changed_keeps_its_tenant() -> None:
    assert gate(("ana", ANA)).tenant(bearing(ANA)) == gate(("ana", EVA)).tenant(bearing(EVA))


def test_a_name_is_not_taken_for_a_key() -> None:
    assert gate((ANA, ANA)).tenant(bearing(ANA)) != gate().tenant(bearing(ANA))


# --- reading a body -------------------------------------------------------------------------------------------------


async def read(client: Receive, headers: Headers = (), *, max_bytes: int = MIB, seconds: float = 10.0) -> bytes:
    return await read_body(client, headers, max_bytes=max_bytes, seconds=seconds)


@given(st.binary(max_size=50), st.lists(st.integers(0, 50), max_size=5))
def test_a_body_is_read_whole_wherever_it_is_cut(body: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [part(body[start:stop]) for start, stop in pairwise(edges)]
    assert asyncio.run(read(Client(*pieces, part(b"", more=False)))) == body
    pieces[-1]["more_body"] = False
    assert asyncio.run(read(Client(*pieces))) == body


async def test_a_message_may_leave_out_what_is_empty() -> None:
    assert await read(Client({"type": "http.request"})) == b""


@pytest.mark.parametrize("length", [str(MIB + 1), "99999999999", "9" * 5_000, "0" * 5_000 + "9" * 20])
async def test_a_body_announced_as_too_large_is_refused_unread(length: str) -> None:
    client = Client(part(b"x", more=False))
    with pytest.raises(TooLarge) as caught:
        await read(client, (("content-length", length),))
    assert "1 MiB" in caught.value.message
    assert len(client.left) == 1


@pytest.mark.parametrize("length", [str(MIB), "0", "1", "-1", "1e99", "many", "", "²", "0" * 5_000 + "1"])
async def test_any_other_announcement_is_no_reason(length: str) -> None:
    assert await read(Client(part(b"x", more=False)), (("content-length", length),)) == b"x"


async def test_a_body_that_turns_out_too_large_is_refused_as_soon_as_it_is() -> None:
    client = Client(*[part(b"x" * 10)] * 5)
    with pytest.raises(TooLarge):
        await read(client, max_bytes=25)
    assert len(client.left) == 2


async def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    assert await read(Client(part(b"x" * 25, more=False)), max_bytes=25) == b"x" * 25


async def test_a_body_that_does_not_come_is_a_timeout() -> None:
    with pytest.raises(RequestTimeout):
        await read(Client(part(b"x")), seconds=0.0)


async def test_a_client_that_leaves_while_it_sends_is_gone() -> None:
    with pytest.raises(ClientGone):
        await read(Client(part(b"x"), GONE))


# --- streaming one through -------------------------------------------------------------------------------------------


async def streamed(client: Receive, ended: list[bool], *, idle: float = 10.0) -> list[bytes]:
    return [piece async for piece in stream_body(client, idle=idle, on_end=lambda: ended.append(True))]


@pytest.mark.parametrize(
    ("messages", "pieces"),
    [
        ([part(b"a"), part(b"b"), part(b"c", more=False)], [b"a", b"b", b"c"]),
        ([part(b"a"), part(b""), part(b"", more=False)], [b"a"]),
        ([part(b"", more=False)], []),
        ([{"type": "http.request"}], []),
    ],
)
async def test_a_body_passes_piece_by_piece_and_its_end_is_told(
    messages: Sequence[AsgiMessage], pieces: list[bytes]
) -> None:
    ended: list[bool] = []
    assert await streamed(Client(*messages, GONE), ended) == pieces
    assert ended == [True]


async def test_a_piece_passes_before_the_next_has_come() -> None:
    body = stream_body(Client(part(b"a")), idle=10.0, on_end=lambda: None)
    assert await anext(body) == b"a"


async def test_a_client_that_leaves_or_falls_silent_has_not_ended_its_body() -> None:
    ended: list[bool] = []
    with pytest.raises(ClientGone):
        await streamed(Client(part(b"a"), GONE), ended)
    with pytest.raises(RequestTimeout):
        await streamed(Client(part(b"a")), ended, idle=0.0)
    assert ended == []


# --- throwing the rest away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "max_bytes", "left"),
    [
        ([part(b"x" * 10), part(b"x", more=False), GONE], 100, 1),
        ([part(b"x" * 10), GONE, part(b"x")], 100, 1),
        ([part(b"x" * 10)] * 5, 25, 2),
        ([part(b"x" * 10)] * 5, 0, 5),
    ],
)
async def test_what_is_not_wanted_is_read_up_to_its_end_or_the_limit(
    messages: list[AsgiMessage], max_bytes: int, left: int
) -> None:
    client = Client(*messages)
    await discard_body(client, max_bytes=max_bytes, seconds=10.0)
    assert len(client.left) == left


async def test_and_not_for_ever() -> None:
    await discard_body(Client(part(b"x")), max_bytes=100, seconds=0.0)


# --- when the client leaves ------------------------------------------------------------------------------------------


class Door:
    """A client that leaves when it is told to, as every ASGI server tells it: by `receive`."""

    def __init__(self, tasks: Tasks) -> None:
        self._leaves = asyncio.Event()
        self.watch = CancelOnDisconnect(self._receive, self._connection(), tasks)

    def _connection(self) -> Connection | None:
        return None

    async def _receive(self) -> AsgiMessage:
        await self._leaves.wait()
        return GONE

    def leave(self) -> None:
        self._leaves.set()


class Line(Door):
    """The same, as our own server tells it: by a call. Nobody needs to wait for it."""

    lost = False
    on_lost: Callable[[], None] | None = None
    stopping = False
    on_stopping: Callable[[], None] | None = None

    def _connection(self) -> Connection:
        return self

    def leave(self) -> None:
        asyncio.get_running_loop().call_soon(self._lose)

    def _lose(self) -> None:
        self.lost = True
        if self.on_lost is not None:
            self.on_lost()


@pytest.fixture
def tasks() -> Tasks:
    return Tasks()


@pytest.fixture(params=[Door, Line])
async def door(request: pytest.FixtureRequest, tasks: Tasks) -> Door:
    opened: Door = request.param(tasks)
    return opened


async def test_when_the_client_leaves_the_work_is_cancelled_and_the_task_goes_on(door: Door, tasks: Tasks) -> None:
    stopped = False
    async with asyncio.timeout(5):
        async with door.watch as watch:
            watch.start()
            door.leave()
            try:
                await asyncio.Event().wait()
            finally:
                stopped = True
    assert stopped
    assert door.watch.gone
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await tasks.drain(5.0) == 0


async def test_before_the_body_is_read_nobody_listens(door: Door, tasks: Tasks) -> None:
    door.leave()
    async with door.watch as watch:
        await asyncio.sleep(0)
    assert not watch.gone
    assert len(tasks) == 0


async def test_work_that_ends_in_time_ends_the_watch(door: Door, tasks: Tasks) -> None:
    async with door.watch as watch:
        watch.start()
        await asyncio.sleep(0)
    assert await tasks.drain(5.0) == 0
    assert not watch.gone


async def test_a_client_that_leaves_after_the_work_cancels_nothing(door: Door, tasks: Tasks) -> None:
    async with door.watch as watch:
        watch.start()
    door.leave()
    await tasks.drain(5.0)
    await asyncio.sleep(0)  # a cancellation would be raised here
    assert not watch.gone


async def test_other_messages_are_not_a_departure() -> None:
    tasks = Tasks()
    async with CancelOnDisconnect(Client(part(b""), part(b"")), None, tasks) as watch:
        watch.start()
        await asyncio.sleep(0)
    await tasks.drain(5.0)
    assert not watch.gone


async def test_an_error_of_the_work_is_raised_though_the_client_left(door: Door, tasks: Tasks) -> None:

    async def work() -> None:
        async with door.watch as watch:
            watch.start()
            door.leave()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError("boom") from None

    with pytest.raises(ValueError, match="boom"):
        await work()
    await tasks.drain(5.0)


async def test_a_cancellation_by_someone_else_passes_through(door: Door, tasks: Tasks) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        async with door.watch as watch:
            watch.start()
            begun.set()
            await asyncio.Event().wait()

    task = tasks.spawn(work(), name="work")
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_a_client_that_had_left_before_anybody_listened_has_left(door: Door, tasks: Tasks) -> None:
    door.leave()
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        async with door.watch as watch:
            watch.start()
            await asyncio.Event().wait()
    assert door.watch.gone
    await tasks.drain(5.0)


async def test_our_server_tells_it_without_a_task(tasks: Tasks) -> None:
    line = Line(tasks)
    async with line.watch as watch:
        watch.start()
        assert len(tasks) == 0
    assert line.on_lost is None


async def test_of_two_cancellations_only_the_departures_is_swallowed(door: Door, tasks: Tasks) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        async with door.watch as watch:
            watch.start()
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                door.leave()
                await asyncio.Event().wait()  # until the departure cancels it again

    task = tasks.spawn(work(), name="work")
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert door.watch.gone
    assert task.cancelled()


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, identity"])
def test_a_coded_body_is_refused(coding: str) -> None:
    with pytest.raises(BadRequest, match="Content-Encoding"):
        refuse_coding((("content-encoding", coding),))


@pytest.mark.parametrize("headers", [(), (("content-encoding", "identity"),), (("content-encoding", "Identity"),)])
def test_a_plain_one_is_not(headers: Headers) -> None:
    refuse_coding(headers)


async def test_an_answer_without_an_end_is_told_that_the_server_stops(tasks: Tasks) -> None:
    line, told = Line(tasks), []
    async with line.watch as watch:
        watch.on_server_stop(lambda: told.append("now"))
        assert line.on_stopping is not None
        line.on_stopping()
    assert told == ["now"]
    assert line.on_stopping is None


async def test_one_that_begins_when_the_server_has_stopped_already_is_told_at_once(tasks: Tasks) -> None:
    line, told = Line(tasks), []
    line.stopping = True
    async with line.watch as watch:
        watch.on_server_stop(lambda: told.append("now"))
    assert told == ["now"]


async def test_a_server_that_does_not_say_so_is_not_waited_for(tasks: Tasks) -> None:
    async with Door(tasks).watch as watch:
        watch.on_server_stop(lambda: pytest.fail("nobody said so"))
