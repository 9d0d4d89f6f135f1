"""The conversations of `make bench-context` through each API: what they cost against pass-through, and whether the
prompt holds what a question at the end needs. Played by `python -m tests.bench.apis --rows cost`.

The upstream bills each prompt by its provider's rules, and tells it as usage: chat completions and Responses with a
prefix cache that needs no breakpoints, Messages with Anthropic's (tests/anthropic_cache.py), at Claude Opus 5's prices:
a read costs .1 of the input, a write 1.25, for an hour 2, and 512 tokens are the least. Pass-through is billed by the
same rules for the client's own bodies. Words alone are
compared, without vectors, and the proxy's deadlines are long: a busy machine changes nothing.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import httpx
import msgspec

from proxy.app import create_app
from proxy.protocol import apis
from proxy.protocol.message import chat_message
from proxy.tokens import PER_MESSAGE
from proxy.types import ApiName
from tests.anthropic_cache import AnthropicCache
from tests.bench import context_data
from tests.bench.apis_bodies import body_of, plain
from tests.bench.context_data import Conversation, Question
from tests.bench.context_replay import Received, repeated
from tests.builders import config, counter
from tests.native import Native
from tests.servers import eventually, run_app, run_proxy

Json = Any
Marks = Literal["", "system and end", "automatic", "system", "an hour", "none"]

WHOLE, WORST, RECALL = 1.02, 1.10, 0.01
READ, WRITE, HOUR, LEAST = 0.1, 1.25, 2.0, 512
MODEL = "claude-opus-5"
CLAUDE, OTHER = (5.0, 25.0), (1.0, 4.0)  # dollars per million tokens of input and output
ANSWERED = 10  # tokens of each answer
EXACT = 1e-6  # dollars
MOST_QUESTIONS = 24  # of a conversation, spread over all that it has
READY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Way:
    """How conversations go: the client's API, what the upstream has, and where the client sets breakpoints."""

    name: str
    api: ApiName
    spoken: tuple[ApiName, ...] = ("chat",)
    marks: Marks = ""

    @property
    def is_anthropic(self) -> bool:
        return self.marks != ""


WAYS = (
    Way("chat completions", "chat"),
    Way("Responses, translated", "responses"),
    Way("Responses, its own", "responses", ("chat", "responses")),
    Way("Messages, translated", "messages"),
    Way("Messages, marks behind system and at the end", "messages", ("chat", "messages"), "system and end"),
    Way("Messages, automatic caching", "messages", ("chat", "messages"), "automatic"),
    Way("Messages, marks for an hour", "messages", ("chat", "messages"), "an hour"),
    Way("Messages, a mark behind system alone", "messages", ("chat", "messages"), "system"),
    Way("Messages, no marks", "messages", ("chat", "messages"), "none"),
)


@dataclass(slots=True)
class Course:
    """One conversation: the ratio of costs as a whole and at its worst point, and the shares of evidence found."""

    name: str
    ours: float = 0.0
    alone: float = 0.0
    worst: float = 0.0
    requests: int = 0
    managed: int = 0
    found: list[float] = field(default_factory=list)

    @property
    def whole(self) -> float:
        return self.ours / self.alone

    def add(self, ours: float, alone: float) -> None:
        self.ours += ours
        self.alone += alone
        self.worst = max(self.worst, self.whole)


# --- bills ------------------------------------------------------------------------------------------------------------


@lru_cache(200_000)
def _tokens(block: str) -> int:
    """Tokens of a block, as a chat completion's message has them: an API that told more would have shorter prompts."""
    told = json.loads(block)
    text = told.get("text", told.get("content")) if told.get("type") in ("text", "tool_result") else None
    return counter().text(text if isinstance(text, str) else block) + PER_MESSAGE


class Till:
    """Bills one client's prompts, one after another, by its provider's rules."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._cache = AnthropicCache(_tokens, minimum=LEAST)
        self._before: Received | None = None
        self.cost = 0.0  # of the last one, in tokens at the input price

    def usage(self, body: Json, api: ApiName) -> Json:
        """The usage of a prompt, as its API tells it; sets `cost`. Raises Refused."""
        if api == "messages":
            bill = self._cache.billed(body)
            self.cost = bill.cost(READ, WRITE, HOUR)
            return {**bill.usage, "output_tokens": ANSWERED}
        now = _received(body, api)
        read = repeated(self._before, now)
        self._before = now
        self.cost = now.tokens - read + READ * read
        if api == "responses":
            told = {"input_tokens": now.tokens, "input_tokens_details": {"cached_tokens": read}}
            return {**told, "output_tokens": ANSWERED, "total_tokens": now.tokens + ANSWERED}
        told = {"prompt_tokens": now.tokens, "prompt_tokens_details": {"cached_tokens": read}}
        return {**told, "completion_tokens": ANSWERED, "total_tokens": now.tokens + ANSWERED}


def _received(body: Json, api: ApiName) -> Received:
    raw = msgspec.json.encode(body)
    chat = json.loads(raw if api == "chat" else apis.APIS[api].parse(raw).raw)
    messages = tuple(chat_message(msgspec.json.encode(said), said) for said in chat["messages"])
    return Received(messages, msgspec.json.encode(chat["tools"]) if chat.get("tools") else b"")


class Billing(Native):
    """Answers as it is told to, and bills."""

    def __init__(self, way: Way) -> None:
        super().__init__(seals=False)
        self.way = way
        self.tills: dict[str, Till] = {}
        self.replies: dict[str, Json] = {}
        self.refused = 0
        self.dollars = 0.0  # of all prompts and answers

    def _answer(self, path: str, asked: Json, told: Json) -> tuple[int, bytes, bytes]:
        key = self.headers[-1]["authorization"]
        status, kind, raw = super()._answer(path, asked, told or self.replies[key])
        names: tuple[ApiName, ...] = ("chat", "responses", "messages")
        api = next(name for name in names if path == f"/v1{apis.path_of(name)}")
        self.asked[:-1] = []
        self.raw[:] = [b""]
        self.headers[:-1] = []
        if status >= 400:
            self.refused += 1
            return status, kind, raw
        till = self.tills.setdefault(key, Till(self.way))
        answer = json.loads(raw)
        answer["usage"] = till.usage(asked, api)
        dollars = CLAUDE if self.way.is_anthropic else OTHER
        self.dollars += (till.cost * dollars[0] + ANSWERED * dollars[1]) / 1_000_000
        return status, kind, json.dumps(answer).encode()


# --- conversations ----------------------------------------------------------------------------------------------------


def marked(body: Json, marks: Marks) -> Json:
    """A body of Messages with the client's breakpoints."""
    mark: Json = {"type": "ephemeral", **({"ttl": "1h"} if marks == "an hour" else {})}
    if marks == "automatic":
        return {**body, "cache_control": mark}
    if marks in ("system and end", "an hour", "system") and body["system"]:
        body = {**body, "system": [{"type": "text", "text": body["system"], "cache_control": mark}]}
    if marks in ("system and end", "an hour"):
        *before, last = body["messages"]
        blocks = last["content"]
        body = {
            **body,
            "messages": [*before, {**last, "content": [*blocks[:-1], {**blocks[-1], "cache_control": mark}]}],
        }
    return body


@contextmanager
def proxied(way: Way) -> Iterator[tuple[Billing, httpx.Client]]:
    upstream = Billing(way)
    with run_app(upstream) as url:
        entry: Json = {
            "name": "up",
            "base_url": f"{url}/v1",
            "apis": list(way.spoken),
            "retries": 0,
            "dialect": "anthropic" if way.is_anthropic else "kimi",
        }
        if not way.is_anthropic:
            entry["price"] = {"input": OTHER[0], "cached": READ, "output": OTHER[1]}
        settings = config(
            upstreams=[entry],
            storage={"kind": "memory"},
            embedding={"enabled": False},
            server={"port": 0, "drain": 5},
            reuse={"exact": {"enabled": False}, "intent": {"enabled": False}},
        )
        with (
            run_proxy(settings, create_app(settings, patience=60)) as address,
            httpx.Client(base_url=address, trust_env=False, timeout=120) as http,
        ):
            yield upstream, http


def _asked(way: Way, conversation: Conversation, said: Sequence[Json]) -> Json:
    body = body_of(way.api, conversation, [plain(each) for each in said])
    return {**marked(body, way.marks), "model": MODEL} if way.is_anthropic else body


def played(way: Way, conversation: Conversation, upstream: Billing, http: httpx.Client) -> Course:
    course, alone = Course(conversation.name), Till(way)
    native: ApiName = way.api if way.api in way.spoken else "chat"
    key = f"Bearer sk-{conversation.source}-{conversation.name}"

    def send(body: Json, answer: Json) -> bool:
        upstream.replies[key] = plain(answer).data
        answered = http.post(f"/v1{apis.path_of(way.api)}", json=body, headers={"authorization": key})
        answered.raise_for_status()
        return answered.headers["x-olvido-plan"].startswith("managed")

    for history, answer in conversation.requests():
        body = _asked(way, conversation, history)
        course.managed += send(body, answer)
        course.requests += 1
        as_sent = body if native == way.api else json.loads(apis.chat_body(
            apis.APIS[way.api].parse(msgspec.json.encode(body)),
            None, tools=None, model=None, ask_usage=False, dialect="kimi",
        ))  # fmt: skip
        alone.usage(as_sent, native)
        course.add(upstream.tills[key].cost, alone.cost)
    eventually(lambda: "\nolvido_memory_pending 0.0" in http.get("/metrics").text, READY_SECONDS)
    questions = [each for each in conversation.questions if each.evidence or each.answers]
    step = -(-len(questions) // MOST_QUESTIONS) or 1
    for question in questions[::step]:
        send(
            _asked(way, conversation, [*conversation.messages, {"role": "user", "content": question.text}]),
            {"role": "assistant", "content": "All right."},
        )
        course.found.append(_share(_received(upstream.asked[-1][1], native).text, question))
    return course


def told_by_the_ledger(http: httpx.Client) -> float:
    """Dollars that all requests have cost, as they were recorded."""
    lines = http.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("olvido_cost_dollars_total"))


def _share(prompt: str, question: Question) -> float:
    """The share of the evidence, or of the answers, that stands before the question."""
    before, _, _ = prompt.rpartition(question.text)
    if question.evidence:
        return sum(each in before for each in question.evidence) / len(question.evidence)
    held = [each.casefold() in before.casefold() for each in question.answers]
    return sum(held) / len(held)


def conversations(*, quick: bool) -> list[Conversation]:
    """49 of those of `make bench-context`: of the long ones, and of tau-bench, where they are alike, not all."""
    long = [*context_data.locomo()[:1], *context_data.beam()[:2]]
    every = [*context_data.authored(), *context_data.agents(), *context_data.swe(), *context_data.tau()[:25]]
    return every[::6] if quick else [*long, *every]


def costs(*, quick: bool, only: str = "") -> bool:
    """Prints what conversations cost through each API; True if no must is missed."""
    told = conversations(quick=quick)
    print(f"\n{len(told)} conversations; costs are shares of pass-through in the same API")
    print(f"  {'':46} whole: dearest, mean   worst point   evidence (n)    rewritten")
    is_well, of_chat = True, None
    for way in WAYS:
        if only and only not in way.name and way.api != "chat":
            continue
        began = time.monotonic()
        with proxied(way) as (upstream, http):
            done = [played(way, each, upstream, http) for each in told]
            apart = told_by_the_ledger(http) - upstream.dollars
        whole, worst = max(done, key=lambda each: each.whole), max(done, key=lambda each: each.worst)
        mean = sum(each.whole for each in done) / len(done)
        found = [share for each in done for share in each.found]
        recall = sum(found) / len(found) if found else 1.0
        of_chat = recall if of_chat is None else of_chat
        requests, managed = sum(each.requests for each in done), sum(each.managed for each in done)
        missed = [
            name
            for name, is_missed in (
                (f"whole ({whole.name})", whole.whole > WHOLE),
                (f"worst ({worst.name})", worst.worst > WORST),
                ("evidence", recall < of_chat - RECALL),
                (f"{upstream.refused} refused", upstream.refused > 0),
                (f"the ledger is ${apart:.6f} apart", abs(apart) > EXACT),
            )
            if is_missed
        ]
        print(
            f"  {way.name:46} {whole.whole:14.3f}, {mean:.3f} {worst.worst:13.3f} {recall:10.1%} ({len(found)})"
            f" {managed:6} of {requests}, {time.monotonic() - began:.0f} s"
            f" {'MISSED: ' if missed else ''}{', '.join(missed)}",
            flush=True,
        )
        is_well = is_well and not missed
    return is_well
