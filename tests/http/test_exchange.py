"""An answer as ASGI's messages: at once or as it comes, whole or visibly broken. How much of a body is read, and what
happens when the client leaves."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest, RequestTimeout, ShuttingDown, TooLarge, UpstreamBroken
from proxy.http.exchange import (
    AsgiMessage,
    Call,
    CancelOnDisconnect,
    ClientGone,
    Connection,
    Receive,
    discard_body,
    read_body,
    refuse_coding,
    stream_body,
)
from proxy.protocol import sse
from proxy.tasks import Tasks
from proxy.types import Answer, Headers

HEADERS: Headers = (("content-type", "text/plain"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-name", "ñ"))


class Wire:
    """Both directions: what the client still sends, and what it has got."""

    def __init__(self, *unread: bytes) -> None:
        self.unread = list(unread)
        self.sent: list[AsgiMessage] = []

    async def receive(self) -> AsgiMessage:
        if not self.unread:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self.unread.pop(0), "more_body": bool(self.unread)}

    async def send(self, message: AsgiMessage) -> None:
        self.sent.append(message)

    def call(self, **differing: Any) -> Call:
        scope = {
            "type": "http",
            "method": "POST",
            "raw_path": b"/v1/files/a%2Fb",
            "query_string": b"x=%31",
            "headers": [(b"x-name", "ñ".encode("latin-1")), (b"accept", b"*/*")],
            **differing,
        }
        return Call(scope, self.receive, self.send, Tasks())

    @property
    def head(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])


class Body:
    """An answer that comes in pieces, and may break off."""

    def __init__(self, *pieces: bytes, error: BaseException | None = None) -> None:
        self._pieces = pieces
        self._error = error
        self.closed = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if self._error:
            raise self._error

    async def aclose(self) -> None:
        self.closed += 1


def test_a_request_is_what_the_client_sent() -> None:
    call = Wire().call()
    assert (call.method, call.path, call.query) == ("POST", "/v1/files/a%2Fb", "x=%31")
    assert call.headers == (("x-name", "ñ"), ("accept", "*/*"))


@pytest.mark.parametrize(
    ("differing", "parameters"), [({}, {}), ({"path_params": {}}, {}), ({"path_params": {"id": "r-1"}}, {"id": "r-1"})]
)
def test_the_parts_of_its_path_that_a_route_names_are_told(
    differing: dict[str, Any], parameters: dict[str, str]
) -> None:
    assert Wire().call(**differing).parameters == parameters


def test_no_two_requests_have_one_id() -> None:
    ids = {Wire().call().request_id for _ in range(1_000)}
    assert len(ids) == 1_000
    assert all(re.fullmatch(r"req_[0-9a-f]{24}", each) for each in ids)


async def test_a_whole_answer_has_its_length_and_every_header_in_order() -> None:
    wire = Wire()
    call = wire.call()
    await call.answer(Answer(201, HEADERS, b"hello"))
    start, body = wire.sent
    assert start["status"] == 201
    assert start["headers"] == [
        *((name.encode(), value.encode("latin-1")) for name, value in HEADERS),
        (b"content-length", b"5"),
    ]
    assert (body["body"], body.get("more_body", False)) == (b"hello", False)
    assert call.answered


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_that_can_have_no_body_has_no_length(status: int) -> None:
    wire = Wire()
    await wire.call().answer(Answer(status, HEADERS, b""))
    assert (wire.sent[0]["status"], b"content-length" in wire.head) == (status, False)
    assert wire.sent[1]["body"] == b""


@pytest.mark.parametrize(("client", "told"), [(("10.0.0.7", 4711), "10.0.0.7"), (None, "")])
def test_the_address_that_a_request_comes_from_is_told(client: Any, told: str) -> None:
    assert Wire().call(client=client).client == told


async def test_a_streamed_answer_is_passed_on_piece_by_piece_and_ended() -> None:
    wire, body = Wire(), Body(b"a", b"b")
    await wire.call().answer(Answer(200, HEADERS, body))
    assert b"content-length" not in wire.head
    assert [(each["body"], each.get("more_body", False)) for each in wire.sent[1:]] == [
        (b"a", True),
        (b"b", True),
        (b"", False),
    ]
    assert body.closed == 1


async def test_one_that_breaks_off_is_closed_and_not_ended() -> None:
    wire, body = Wire(), Body(b"a", error=UpstreamBroken("gone"))
    with pytest.raises(UpstreamBroken):
        await wire.call().answer(Answer(200, HEADERS, body))
    assert all(each.get("more_body", True) for each in wire.sent)
    assert body.closed == 1


async def test_a_body_is_closed_though_the_client_does_not_even_take_its_head() -> None:
    class Gone(Wire):
        async def send(self, message: AsgiMessage) -> None:
            raise OSError("gone")

    body = Body(b"a")
    with pytest.raises(OSError, match="gone"):
        await Gone().call().answer(Answer(200, HEADERS, body))
    assert body.closed == 1


async def test_a_refusal_is_in_openais_shape_and_names_the_request() -> None:
    wire = Wire()
    call = wire.call()
    await call.refuse(BadRequest("no", param="model", headers=(("x-more", "1"),)))
    start, body = wire.sent
    assert start["status"] == 400
    assert wire.head[b"x-request-id"] == wire.head[b"x-olvido-request"] == call.request_id.encode()
    assert (wire.head[b"content-type"], wire.head[b"x-more"]) == (b"application/json", b"1")
    assert b"connection" not in wire.head
    assert body["body"].startswith(b'{"error":{"message":"no"')
    assert not body["more_body"]


async def test_who_is_refused_while_sending_may_go_on_for_a_while() -> None:
    wire = Wire(b"x" * 10, b"x" * 10, b"x" * 10)
    await wire.call().refuse(TooLarge("too large"), unread=25)
    assert wire.head[b"connection"] == b"close"
    assert [each.get("more_body", False) for each in wire.sent[1:]] == [True, False]
    assert wire.unread == []


async def test_but_not_for_ever() -> None:
    wire = Wire(*[b"x" * 10] * 10)
    await wire.call().refuse(TooLarge("too large"), unread=25)
    assert len(wire.unread) == 7


async def test_a_stream_that_we_break_off_says_why_and_has_no_end() -> None:
    wire = Wire()
    call = wire.call()
    body = Body(b'data: {"half', error=asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await call.answer(Answer(200, (("content-type", "text/event-stream; charset=utf-8"),), body))
    await call.break_off(ShuttingDown("stopped"))
    await call.break_off(ShuttingDown("stopped"))  # once is enough
    assert wire.sent[-1]["body"] == b"\n\n" + sse.error_event(ShuttingDown("stopped").body())
    assert all(each.get("more_body", True) for each in wire.sent[1:])
    assert len(wire.sent) == 3


@pytest.mark.parametrize(
    "headers",
    [
        (("content-type", "application/json"),),
        (("content-type", "text/event-stream"), ("content-encoding", "gzip")),
    ],
)
async def test_of_anything_else_that_has_begun_nothing_more_is_said(headers: Headers) -> None:
    wire = Wire()
    call = wire.call()
    with pytest.raises(asyncio.CancelledError):
        await call.answer(Answer(200, headers, Body(b"a", error=asyncio.CancelledError())))
    await call.break_off(ShuttingDown("stopped"))
    assert [each.get("body") for each in wire.sent[1:]] == [b"a"]


async def test_a_stream_that_has_ended_is_left_alone() -> None:
    wire = Wire()
    call = wire.call()
    await call.answer(Answer(200, (("content-type", "text/event-stream"),), Body(b"a")))
    await call.break_off(ShuttingDown("stopped"))
    assert wire.sent[-1] == {"type": "http.response.body", "body": b""}


async def test_who_has_no_answer_yet_gets_the_reason_as_one() -> None:
    wire = Wire()
    await wire.call().break_off(ShuttingDown("stopped"))
    assert (wire.sent[0]["status"], b"shutting_down" in wire.sent[1]["body"]) == (503, True)


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
    async with asyncio.timeout(100):
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
    async with asyncio.timeout(100):
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
