"""Plays the conversations through the whole proxy, in front of an upstream that answers as they are written, and tells
what became of each request. All of it is seen from outside: bodies, headers, the admin API.

Nothing told depends on the moment or the machine: ids become numbers in the order in which they appear, times and
durations are left out, numbers are rounded, old turns are found by their words and questions by made-up vectors.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests import postgres
from tests.builders import config
from tests.golden.conversations import CONVERSATIONS, Conversation, questions
from tests.redis_server import PATIENT_MS, fresh_redis
from tests.servers import proxy_app, run_app

EXCERPT = 160  # characters
WRITTEN = 480  # of what the proxy wrote
DIMENSIONS = 64
SECONDS = 60.0  # that what follows an answer may take
PRICE = {"input": 1.0, "cached": 0.25, "output": 4.0}
_SMALL = {
    "base": "lean",
    "budget": 700,
    "window": {"tokens": 250, "answer_tokens": 60},
    "summaries": {"slots": 2, "tokens": 40},
    "facts": {"tokens": 100},
}
_STRICT = {
    "base": "lean",
    "fold": "strict",
    "window": {"turns": 3, "min_turns": 2, "max_turns": 3, "tokens": 400},
    "summaries": {"segment_turns": 1},
    "tool_results": {"keep": 1},
}
PROXIES: Mapping[str, Mapping[str, Any]] = {
    "small": {"profiles": {"golden": _SMALL}, "context": {"profile": "golden", "profile_with_tools": "golden"}},
    "strict": {"profiles": {"golden": _STRICT}, "context": {"profile": "golden", "profile_with_tools": "golden"}},
    "defaults": {},
}
Outputs = dict[str, list[str]]  # lines, by what they tell of
STORAGES = ("memory", "postgres+redis")
PROXIES_AT_ONCE = 3  # over PostgreSQL and Redis

_UNTOLD = re.compile(r"(^|_)(at|now|seconds|ms|time|from|to|until|since|last|first|started|ended)$|^(created|version)")
_ID = re.compile(r"\b(?:req_[0-9a-zA-Z]+|[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
_SINCE = 1_500_000_000  # a number above is a moment
_TIE = 1 + 1e-9  # what lies between two rounded numbers is rounded up, in whatever order it was summed


@dataclass
class Upstream:
    """Answers what the conversation of a key says, and keeps what it receives."""

    replies: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    arrived: list[bytes] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.answer, methods=["POST"]),
                Route("/v1/embeddings", embeddings, methods=["POST"]),
            ]
        )

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        self.arrived.append(raw)
        key = request.headers["authorization"].removeprefix("Bearer ")
        message = self.replies[key]
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": 40, "total_tokens": len(raw) // 4 + 40}
        body = msgspec.json.decode(raw)
        told = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            whole = {**told, "object": "chat.completion", "choices": [choice], "usage": usage}
            return Response(msgspec.json.encode(whole), media_type="application/json")
        chunk = {**told, "object": "chat.completion.chunk"}
        chunks = (
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**chunk, "choices": [], "usage": usage},
        )
        events = [b"data: " + msgspec.json.encode(each) + b"\n\n" for each in chunks]
        return StreamingResponse(iter([*events, b"data: [DONE]\n\n"]), media_type="text/event-stream")


async def embeddings(request: Request) -> Response:
    """Vectors of the trigrams of a text's letters: alike for texts that are."""
    given = msgspec.json.decode(await request.body())
    texts = [given["input"]] if isinstance(given["input"], str) else given["input"]
    data = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    return Response(msgspec.json.encode({"object": "list", "data": data, "model": given["model"]}))


def vector(text: str) -> list[float]:
    letters = f"  {re.sub(r'[^a-z0-9áéíóúüñ]+', ' ', text.lower())}  "
    counts = [0.0] * DIMENSIONS
    for at in range(len(letters) - 2):
        counts[crc32(letters[at : at + 3].encode()) % DIMENSIONS] += 1
    return counts


class Names:
    """A number for each id, in the order in which they appear."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        return _ID.sub(lambda found: f"<{self._known.setdefault(found[0], len(self._known) + 1)}>", text)


def told(value: Any, names: Names) -> Any:
    """A JSON value without what another run would tell otherwise."""
    if isinstance(value, Mapping):
        return {names(str(key)): told(each, names) for key, each in value.items() if not _UNTOLD.search(str(key))}
    if isinstance(value, list):
        return [told(each, names) for each in value]
    if isinstance(value, float):
        return "<time>" if value > _SINCE else float(f"{value * _TIE:.5g}")
    if isinstance(value, int) and value > _SINCE:
        return "<time>"
    return names(value) if isinstance(value, str) else value


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:12]


def excerpt(text: str, size: int = EXCERPT) -> str:
    """Its beginning and its end, in one line."""
    line = text.replace("\n", "⏎")
    return line if len(line) <= size else f"{line[: size - 41]} … {line[-38:]}"


def prompt_lines(arrived: bytes, sent: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the upstream got: the client's own messages by their number, others by their beginning and a hash."""
    body = msgspec.json.decode(arrived)
    own = {msgspec.json.encode(said): at for at, said in reversed(list(enumerate(sent)))}
    lines, kept = [], []
    for said in body.pop("messages"):
        raw = msgspec.json.encode(said)
        if raw in own:
            kept.append(str(own[raw]))
            continue
        if kept:
            lines.append(f"  as sent: {' '.join(kept)}")
            kept = []
        content = said.get("content")
        text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
        lines.append(f"  {said['role']} {digest(raw)}: {excerpt(text, WRITTEN)}")
    if kept:
        lines.append(f"  as sent: {' '.join(kept)}")
    rest = msgspec.json.encode(body, order="sorted")
    return [f"  fields: {excerpt(rest.decode())}", *lines]


@dataclass(frozen=True, slots=True)
class Playing:
    """A proxy, its upstream, and a client. Of several proxies each request goes to the next."""

    upstream: Upstream
    proxies: Iterator[tuple[httpx.AsyncClient, Starlette]]
    names: Names

    async def ask(self, key: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx.Response:
        """Returns when all that follows the answer has been done, too."""
        given = {"authorization": f"Bearer {key}", **headers}
        http, app = next(self.proxies)
        answer = await http.post("/v1/chat/completions", json=body, headers=given)
        assert answer.status_code == 200, answer.text
        await app.state.services.tasks.drain(SECONDS)
        await app.state.services.storage.flush()
        return answer

    async def look(self, path: str, **query: str) -> Any:
        http, _ = next(self.proxies)
        return (await http.get(f"/admin/api/{path}", params=query)).raise_for_status().json()

    async def is_ready(self) -> None:
        """Returns when questions are compared, by whichever proxy."""
        async with asyncio.timeout(SECONDS):
            for _ in range(PROXIES_AT_ONCE):
                http, _ = next(self.proxies)
                while (await http.get("/readyz")).json()["parts"]["reuse by intent"] != "ready":  # noqa: ASYNC110 (asked from outside)
                    await asyncio.sleep(0.005)

    def arrived(self) -> list[bytes]:
        """Since the last look."""
        seen = self.upstream.arrived[:]
        self.upstream.arrived.clear()
        return seen


def stored(storage: str, folder: Path) -> dict[str, Any]:
    """The sections that keep a proxy's memory there, empty."""
    if storage == "memory":
        return {"storage": {"kind": "memory"}}
    return {
        "storage": {"kind": "postgres", "url": postgres.database(), "path": folder, "pool": 4, "timeout_ms": 20_000},
        "shared": {"url": fresh_redis().url, "timeout_ms": PATIENT_MS},
    }


@asynccontextmanager
async def playing(storage: str = "memory", **sections: Any) -> AsyncIterator[Playing]:
    upstream = Upstream()
    with run_app(upstream.app) as url, TemporaryDirectory(prefix="olvido-golden-") as folder:
        entry = {"name": "golden", "base_url": f"{url}/v1", "dialect": "openai", "price": PRICE, "retries": 0}
        settings = {
            "upstreams": [entry],
            **stored(storage, Path(folder)),
            "embedding": {"enabled": False},
            "reuse": {"intent": {"enabled": False}},
            **({name: given(url) if callable(given) else given for name, given in sections.items()}),
        }
        async with AsyncExitStack() as stack:
            proxies = []
            for _ in range(1 if storage == "memory" else PROXIES_AT_ONCE):
                app = proxy_app(config(**settings))
                await stack.enter_async_context(app.router.lifespan_context(app))
                transport = httpx.ASGITransport(app)
                http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8484", timeout=SECONDS)
                proxies.append((await stack.enter_async_context(http), app))
            yield Playing(upstream, cycle(proxies), Names())


async def play(conversation: Conversation, at: Playing) -> Outputs:
    """Each request of a conversation, and what is known afterwards."""
    outputs: Outputs = {}
    history: list[Mapping[str, Any]] = []
    if conversation.system:
        history.append({"role": "system", "content": conversation.system})
    for number, step in enumerate(conversation.steps):
        del history[len(history) - step.back :]
        history += step.said
        at.upstream.replies[conversation.key] = reply = conversation.answer(number)
        sent = list(step.said) if conversation.delta and number else history
        body = {"model": "golden", "messages": sent, **conversation.fields}
        answer = await at.ask(conversation.key, body, conversation.headers)
        names = ("source", "plan", "tokens-original", "tokens-sent")
        lines = [" ".join(f"{name}={answer.headers.get(f'x-olvido-{name}')}" for name in names)]
        for arrived in at.arrived():
            lines += [f"  body {digest(arrived)}", *prompt_lines(arrived, history)]
        shown = await at.look(f"requests/{answer.headers['x-olvido-request']}")
        lines += shown_lines(told(shown, at.names))
        outputs[f"{conversation.name} / {number + 1:02} {excerpt(str(history[-1].get('content')))[:60]}"] = lines
        history.append(reply)
    facts = await at.look("facts", scope=shown["request"]["scope"], limit="100")
    outputs[f"{conversation.name} / facts"] = fact_lines(facts["facts"], at.names)
    wiped = await at.look("facts/wiped", scope=shown["request"]["scope"])
    outputs[f"{conversation.name} / wiped"] = flat(told(wiped, at.names))
    return outputs


def flat(value: Any) -> list[str]:
    """A JSON object as lines, an entry each, and of a list each of its own: long ones by a hash, too."""
    lines = []
    for key, each in value.items():
        for part in each if isinstance(each, list) else [each]:
            text = msgspec.json.encode(part, order="sorted").decode()
            lines.append(f"  {key}{f' {digest(text.encode())}' if len(text) > EXCERPT else ''}: {excerpt(text)}")
    return lines


def pairs(said: Mapping[str, Any], *, without: Sequence[str] = ()) -> str:
    """What a JSON object says, without what is empty or zero, in the order of its keys."""
    told_of = {
        key: each for key, each in said.items() if each not in (None, "", 0, False, {}, []) and key not in without
    }
    return " ".join(f"{key}={msgspec.json.encode(told_of[key]).decode()}" for key in sorted(told_of))


def shown_lines(shown: Mapping[str, Any]) -> list[str]:
    """A request as the page tells it: the ledger's row, its trail, and what became of each message."""
    row = dict(shown["request"])
    trail = row.pop("trail", None) or {}
    lines = [f"  row: {pairs(row, without=('model', 'number', 'request_id', 'route', 'scope', 'session', 'upstream'))}"]
    if trail:
        lines.append(f"  trail: {pairs(trail)}")
    for (fate, why), group in groupby(shown.get("messages") or (), key=lambda each: (each["fate"], each.get("why"))):
        members = list(group)
        tokens = sum(each.get("tokens") or 0 for each in members)
        lines.append(f"  {fate} {members[0]['index']} to {members[-1]['index']}, {tokens} tokens: {why}")
    return lines + [f"  {name} {digest(shown[name].encode())}" for name in ("head", "volatile") if shown.get(name)]


def fact_lines(listed: Sequence[Mapping[str, Any]], names: Names) -> list[str]:
    """Facts in the order of their words. Another one is named by what it says."""
    values = {fact["id"]: f"“{fact['value']}”" for fact in listed}
    clean = []
    for fact in listed:
        known = {key: values.get(each, each) if isinstance(each, str) else each for key, each in fact.items()}
        clean.append(told({key: each for key, each in known.items() if key not in ("id", "scope", "session")}, names))
    return [f"  {pairs(fact)}" for fact in sorted(clean, key=lambda fact: msgspec.json.encode(fact, order="sorted"))]


async def _afterwards(name: str, at: Playing) -> Outputs:
    """What the admin API tells when all has been said."""
    outputs: Outputs = {}
    for path in ("scopes", "summary", "sessions", "requests"):
        query = {"limit": "100"} if path in ("sessions", "requests") else {}
        found = await at.look(path, **query)
        found.pop("points", None)  # the same sums by the minute, whichever that was
        outputs[f"admin {name} / {path}"] = flat(told(found, at.names))
    for session in (await at.look("sessions", limit="100"))["sessions"]:
        shown = await at.look(f"sessions/{session['session']}", scope=session["scope"])
        outputs[f"admin {name} / session {at.names(session['session'])}"] = flat(told(shown, at.names))
    return outputs


async def contexts(storage: str = "memory") -> Outputs:
    """What was sent in place of the conversations."""
    outputs: Outputs = {}
    for name, sections in PROXIES.items():
        async with playing(storage, **sections) as at:
            for conversation in CONVERSATIONS:
                if conversation.proxy == name:
                    outputs |= await play(conversation, at)
            outputs |= await _afterwards(name, at)
    return outputs


async def reuses(storage: str = "memory") -> Outputs:
    """Which questions got the answer of another one, and why not."""
    outputs: Outputs = {}
    async with playing(
        storage,
        embedding=lambda url: {"base_url": f"{url}/v1", "model": "trigrams"},
        reuse={"intent": {"enabled": True, "min_cosine": 0.3}},
    ) as at:
        await at.is_ready()
        for name, earlier, asked in questions():
            key = f"sk-{name}"
            at.upstream.replies[key] = {"role": "assistant", "content": f"An answer to: {earlier}"}
            lines = [earlier, asked]
            for text in (earlier, asked):
                answer = await at.ask(key, {"model": "golden", "messages": [{"role": "user", "content": text}]}, {})
                shown = await at.look(f"requests/{answer.headers['x-olvido-request']}")
                reason = shown.get("request", shown).get("intent_reason")
                lines.append(f"  {answer.headers['x-olvido-source']} {reason}")
            log = await at.look("reuse", scope=shown["request"]["scope"])
            lines += [f"  {pairs(told(each, at.names), without=('entry_id', 'request_id'))}" for each in log["log"]]
            lines.append(f"  {excerpt(answer.json()['choices'][0]['message']['content'])}")
            outputs[f"intent / {name}"] = lines
    return outputs
