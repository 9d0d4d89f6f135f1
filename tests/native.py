"""An upstream that has all three APIs, over real sockets. It calls its tool and answers, seals its reasoning where the
API has that, refuses what its API does not allow, and writes down all requests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from proxy.protocol import sse
from proxy.protocol.messages import output as message_output
from proxy.protocol.messages.events import MessageEvents
from proxy.protocol.origin import Origin
from proxy.protocol.responses import output as response_output
from proxy.protocol.responses import request as response_request
from proxy.protocol.responses.events import ResponseEvents
from tests.other_apis import misplaced_blocks, misplaced_items
from tests.servers import body_of, run_app

Json = Any
ANSWERS = "x-answer"  # a header: the assistant message that is answered
ANSWER = "A long answer about it, of a dozen words or so, that says something."


class Native:
    """An ASGI application. `seals`: reasoning is encrypted, or signed."""

    def __init__(self, *, seals: bool = True) -> None:
        self.url = ""
        self.asked: list[tuple[str, Json]] = []  # path and body
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.method = ""
        self.finish = "stop"
        self.spoils = ""  # garbage: in the middle of streams; whole, events, nonsense: whatever was asked for
        self._seals = seals

    def bodies(self, path: str) -> list[Json]:
        return [body for each, body in self.asked if each == path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        self.raw.append(raw)
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        self.method = scope["method"]
        path, asked = scope["path"], msgspec.json.decode(raw) if raw else {}
        self.asked.append((path, asked))
        given = self.headers[-1].get(ANSWERS)
        status, kind, body = self._answer(path, asked, json.loads(given) if given else None)
        headers = [(b"content-type", kind), (b"x-of-the-upstream", b"1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, path: str, asked: Json, told: Json) -> tuple[int, bytes, bytes]:
        if path in ("/v1/models", "/v1/messages/batches"):
            return 200, b"application/json", b'{"data":[],"has_more":false}'
        if path == "/v1/messages/count_tokens":
            return 200, b"application/json", b'{"input_tokens":77}'
        if asked.get("thread"):  # as the API answers whom it has none for
            told_ = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
            error = {"type": "invalid_request_error", "message": "thread: unsupported", "details": told_}
            return 400, b"application/json", json.dumps({"type": "error", "error": error}).encode()
        faults = self._faults(path, asked)
        if faults:
            self.faults += faults
            error = {"message": f"invalid: {faults[0]}", "type": "invalid_request_error"}
            whole = {"type": "error", "error": error} if path == "/v1/messages" else {"error": error}
            return 400, b"application/json", json.dumps(whole).encode()
        completion = self._completion(path, asked)
        if told is not None:
            completion["choices"][0]["message"] = told
            del completion["usage"]  # no count of its own by which ours would be calibrated
        streamed = bool(asked.get("stream"))
        kind = b"text/event-stream" if streamed else b"application/json"
        match path:
            case "/v1/responses":
                body = self._response(asked, completion, streamed=streamed)
            case "/v1/messages":
                body = self._message(completion, streamed=streamed)
            case _:
                return self._chat(completion, streamed=streamed)
        if told is not None and not streamed:
            body = json.dumps({**json.loads(body), "usage": None}).encode()  # as above
        return 200, kind, body

    def _chat(self, completion: Json, *, streamed: bool) -> tuple[int, bytes, bytes]:
        events = sse.as_sse(completion, include_usage=True)
        match self.spoils:
            case "garbage":
                events[2:2] = [b"data: {no json\n\n"]
            case "nonsense":
                return 200, b"application/json", b"<html>"
        if self.spoils == "events" or (streamed and self.spoils != "whole"):
            return 200, b"text/event-stream", b"".join(events)
        return 200, b"application/json", json.dumps(completion).encode()

    @staticmethod
    def _faults(path: str, asked: Json) -> list[str]:
        match path:
            case "/v1/responses":
                given = asked.get("input")
                return [] if isinstance(given, str) or given is None else misplaced_items(given)
            case "/v1/messages":
                return misplaced_blocks(asked["messages"])
            case _:
                return []

    def _completion(self, path: str, asked: Json) -> Json:
        """The answer of a model that calls its tool once for every message of the user, and thinks first."""
        told = asked.get("input") if path == "/v1/responses" else asked["messages"]
        last = told[-1] if isinstance(told, list) and told else {}
        content = last.get("content")
        is_result = last.get("role") == "tool" or str(last.get("type", "")).endswith("_output")
        is_result = is_result or (isinstance(content, list) and any(map(_is_result, content)))
        number = len(told) if isinstance(told, list) else 1
        message: Json = {"role": "assistant", "content": ANSWER, "reasoning_content": "I think."}
        if asked.get("tools") and not is_result:
            function = {"name": "look", "arguments": '{"q": "x"}'}
            message = {"role": "assistant", "content": None, "reasoning_content": "I look."}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        finish = "tool_calls" if message.get("tool_calls") else self.finish
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1"}
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return {**head, "choices": [choice], "usage": usage}

    def _response(self, asked: Json, completion: Json, *, streamed: bool) -> bytes:
        origin = response_request.parse(msgspec.json.encode(asked)).origin
        assert isinstance(origin, Origin)
        frame = response_output.Frame(f"up{len(self.raw)}", "m-1", 1.0, origin)
        whole = response_output.response_of(completion, frame)
        events = ResponseEvents(frame)
        stream = b"".join(map(events.feed, _chunks(completion)))
        ending, last = events.ended()
        stream += ending + events.last(last)
        made = stream if streamed else json.dumps(whole).encode()
        return (
            made.replace(b'"type":"reasoning",', b'"type":"reasoning","encrypted_content":"sealed",').replace(
                b'"type": "reasoning",', b'"type": "reasoning", "encrypted_content": "sealed",'
            )
            if self._seals
            else made
        )

    def _message(self, completion: Json, *, streamed: bool) -> bytes:
        frame = message_output.Frame(f"up{len(self.raw)}", "m-1")
        if not streamed:
            made = json.dumps(message_output.message_of(completion, frame)).encode()
        else:
            events = MessageEvents(frame)
            made = b"".join(map(events.feed, _chunks(completion))) + events.ended()
        sealed = made.replace(b'"signature": ""', b'"signature": "signed"').replace(
            b'"type":"signature_delta","signature":""', b'"type":"signature_delta","signature":"signed"'
        )
        return sealed if self._seals else made


def _is_result(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _chunks(completion: Json) -> Iterator[Json]:
    parser = sse.SseParser()
    for raw in sse.as_sse(completion, include_usage=True):
        for event in parser.feed(raw):
            if event.data is not None and event.data != sse.DONE_DATA:
                yield msgspec.json.decode(event.data)


@contextmanager
def run_native(made: Native | None = None, *, seals: bool = True) -> Iterator[Native]:
    upstream = made or Native(seals=seals)
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream
