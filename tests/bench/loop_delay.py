"""How long text takes through the loop of memory's tools: from the moment the upstream says a piece to the moment the
client has it, in each round of an answer.

    python -m tests.bench.loop_delay [--quick]

An upstream says pieces of text 10 ms apart, each piece the time at which it is said. In a first round it goes on to
call a tool of memory's, which the proxy runs; in a second one it goes on with text. The same answers without such
calls are asked for from the upstream itself and, as plain streams, through the proxy without tools: what is more is
the loop's. The proxy has a process of its own, one request at a time. Fails if the loop adds more than 5 ms to a
median piece of a round, or to 99 of 100.
"""

import asyncio
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from tests.e2e.running import run_proxy
from tests.playing import LOOK, has_ours
from tests.servers import body_of, run_app

PIECES, APART = 10, 0.010
ANSWERS, QUICK = 100, 20
LIMIT = 5.0  # ms
CALL = {"name": "remember", "arguments": '{"key":"k","value":"v"}'}


class Clock:
    """An ASGI application: the upstream."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = await body_of(receive)
        asked = msgspec.json.decode(raw)
        round_ = 2 if asked["messages"][-1]["role"] == "tool" else 1
        calls = has_ours(asked) and round_ == 1
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for _ in range(PIECES):
            await asyncio.sleep(APART)
            await send(_chunk({"content": f"{round_} {time.perf_counter_ns()}\n"}))
        if calls:
            call = {"index": 0, "id": f"m{time.perf_counter_ns()}", "type": "function", "function": CALL}
            await send(_chunk({"tool_calls": [call]}))
        await send(_chunk({}, "tool_calls" if calls else "stop"))
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    body = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    return {"type": "http.response.body", "body": body, "more_body": True}


def delays(url: str, answers: int, key: str) -> dict[int, list[float]]:
    """Milliseconds from said to heard, of each piece, by round."""
    found: dict[int, list[float]] = {}
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    for at in range(answers + 2):  # the first two open the desk and warm up
        talk = [{"role": "user", "content": f"Question {at}?"}]
        asked = {"model": "m", "stream": True, "messages": talk, "tools": [LOOK]}
        connection.request("POST", "/v1/chat/completions", json.dumps(asked), headers)
        response = connection.getresponse()
        for line in iter(response.readline, b""):
            heard = time.perf_counter_ns()
            if not line.startswith(b"data: {"):
                continue
            for choice in msgspec.json.decode(line[6:])["choices"]:
                for piece in (choice["delta"].get("content") or "").splitlines():
                    round_, said = piece.split()
                    if at > 1:
                        found.setdefault(int(round_), []).append((heard - int(said)) / 1e6)
    connection.close()
    return found


@contextmanager
def proxied(upstream: str, *, tools: bool) -> Iterator[str]:
    settings = {
        "upstreams": [{"name": "it", "base_url": f"{upstream}/v1", "models": ["*"], "dialect": "openai"}],
        "memory": {"tools": {"enabled": tools, "offer": "first"}},
    }
    with tempfile.TemporaryDirectory() as folder, run_proxy(settings, Path(folder)) as proxy:
        yield proxy.url


def main() -> int:
    answers = QUICK if "--quick" in sys.argv else ANSWERS
    rows: list[tuple[str, list[float]]] = []
    with run_app(Clock()) as upstream:
        rows.append(("direct", delays(upstream, answers, "sk-d")[1]))
        with proxied(upstream, tools=False) as url:
            rows.append(("proxy without tools", delays(url, answers, "sk-p")[1]))
        with proxied(upstream, tools=True) as url:
            rounds = delays(url, answers, "sk-t")
        rows += [(f"tools, round {round_}", found) for round_, found in sorted(rounds.items())]
    print("| text, ms from said to heard | n | median | p99 | most |\n|---|---|---|---|---|")
    for name, found in rows:
        print(f"| {name} | {len(found)} | {median(found):.2f} | {quantiles(found, n=100)[-1]:.2f} | {max(found):.2f} |")
    plain = rows[1][1]
    looped = [found for name, found in rows if name.startswith("tools")]
    is_whole = [len(found) for found in looped] == [answers * PIECES] * 2
    added = max(median(found) - median(plain) for found in looped)
    late = max(quantiles(found, n=100)[-1] - quantiles(plain, n=100)[-1] for found in looped)
    print(f"\nThe loop adds {added:.2f} ms to a median piece and {late:.2f} ms to 99 of 100 (at most {LIMIT:g}).")
    return 0 if is_whole and max(added, late) <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
