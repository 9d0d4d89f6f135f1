"""An upstream that does next to nothing: the same answer to every request, at the least CPU that Python allows; an
answer of its own to each question of a long conversation, which a client sends back as it came.

    python -m proxy.bench.upstream      prints its port

A body with `"stream":true` gets the answer as 30 events, each in a write of its own; the model `bench-slow` gets one
event every `SLOW_SECONDS`.
"""

import asyncio
import re
import sys

import httptools
import msgspec
import uvloop

from proxy.bench.bodies import ANSWER, answer_to, asked
from proxy.bench.processes import allow_files

EVENTS = 30
SLOW_SECONDS = 0.4
_TOLD = re.compile(rb'"bench-told-(\w\w)"')

_USAGE = {
    "prompt_tokens": 1250,
    "completion_tokens": 61,
    "total_tokens": 1311,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0},
}
_ID = {"id": "chatcmpl-CbE7nV2wqkR5mX0sJt8yZ1aLpQ4uH", "created": 1767225600, "model": "bench-model"}
_HEAD = "HTTP/1.1 200 OK\r\nx-request-id: req_5b0f3c\r\nopenai-processing-ms: 412\r\ncontent-type: "


def _completion(answer: str = ANSWER) -> bytes:
    message: dict[str, object] = {"role": "assistant", "content": answer, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    body = msgspec.json.encode(
        {**_ID, "object": "chat.completion", "choices": [choice], "usage": _USAGE, "service_tier": "default"}
    )
    return f"{_HEAD}application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def _events() -> list[bytes]:
    words = ANSWER.split(" ")
    each = -(-len(words) // (EVENTS - 3))
    pieces = [" ".join(words[i : i + each]) + " " for i in range(0, len(words), each)]
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
    chunks = [
        {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None if delta else "stop"} for delta in deltas
    ]
    head = {**_ID, "object": "chat.completion.chunk", "service_tier": "default", "system_fingerprint": "fp_44709d6fcb"}
    datas = [msgspec.json.encode({**head, "choices": [chunk]}) for chunk in chunks]
    return [b"data: " + data + b"\n\n" for data in (*datas, b"[DONE]")]


COMPLETION = _completion()
_FRAMES = [b"%x\r\n%b\r\n" % (len(event), event) for event in _events()]
STREAM = [
    f"{_HEAD}text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n".encode() + _FRAMES[0],
    *_FRAMES[1:-1],
    _FRAMES[-1] + b"0\r\n\r\n",
]


class Answering(asyncio.Protocol):
    """A connection of the proxy."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP is both ways
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, part: bytes) -> None:
        self._body.append(part)

    def on_message_complete(self) -> None:
        body = b"".join(self._body)
        self._body.clear()
        if (language := _TOLD.search(body)) is not None:
            self._transport.write(_completion(answer_to(asked(body), language[1].decode())))
            return
        if b'"stream":true' not in body:
            self._transport.write(COMPLETION)
            return
        self._send(0, SLOW_SECONDS if b'"bench-slow"' in body else 0)

    def _send(self, position: int, seconds: float) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(STREAM[position])
        if position + 1 < len(STREAM):
            # In a later iteration of the loop even without a delay, or all writes would become one.
            self._loop.call_later(seconds, self._send, position + 1, seconds)


async def main() -> None:
    """Serves until a signal ends it."""
    allow_files()
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))
