"""An answer as ASGI's messages: at once or as it comes, whole or visibly broken."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from proxy.errors import BadRequest, ShuttingDown, TooLarge, UpstreamBroken
from proxy.http.edge import AsgiMessage
from proxy.http.exchange import Call
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
