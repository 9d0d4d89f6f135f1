"""Would every upstream take what it gets, and does nobody's prompt hold another's words?

    python -m tests.bench.context_validity [--quick]

Agents' histories, cut wherever an answer comes next, are sent through the whole proxy with budgets that are far too
small for them, once for every dialect. What arrives is judged by the dialect's own rules. Each conversation has a key
of its own, and a mark in whatever the user and the tools say.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, TypeAlias

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.routing import Route

from proxy.protocol.dialects import DIALECTS, violations
from tests.bench.context_data import Conversation, Said, agents, swe, tau
from tests.bench.context_replay import Received, Upstream, received
from tests.builders import config
from tests.servers import run_app, run_proxy

Row: TypeAlias = tuple[str, int, int]  # what is looked at, how often, how often it is not so

SETTINGS: tuple[tuple[str, int], ...] = (
    ("lean", 600),
    ("lean", 1_500),
    ("agent", 600),
    ("agent", 1_500),
    ("agent", 4_000),
)
UNCHANGED = "a prompt is the client's own"
QUICK = 12  # one in so many of the conversations that are many

_MARK = re.compile(r"#case-[\w-]+#")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and the prompt that arrived for it."""

    dialect: str
    budget: int
    mark: str
    asked: Received
    got: Received


@dataclass(frozen=True, slots=True)
class _Running:
    upstream: Upstream
    client: httpx.Client


def rows(*, quick: bool = False) -> list[Row]:
    every = QUICK if quick else 1
    conversations = [*tau()[::every], *swe()[::every], *agents()]
    found: Counter[str] = Counter()
    requests = managed = 0
    by_dialect: Counter[str] = Counter()
    for profile, budget in SETTINGS:
        with _bench(profile, budget) as running:
            for sent in _sent(running, conversations, budget):
                requests += 1
                by_dialect[sent.dialect] += 1
                managed += sent.got.messages != sent.asked.messages
                found.update(_wrong(sent))
    return [
        *((f"order, {name}", by_dialect[name], found[f"order, {name}"]) for name in DIALECTS),
        *((name, requests, found[name]) for name in (FAILED, FOREIGN, INSTRUCTIONS, NEWEST, BUDGET)),
        (UNCHANGED, requests, requests - managed),
    ]


FAILED = "failed open"
FOREIGN = "words of another conversation"
INSTRUCTIONS = "instructions or tools changed"
NEWEST = "newest user message changed"
BUDGET = "above the budget, and not marked"


def _wrong(sent: Sent) -> Iterator[str]:
    asked, got, dialect = sent.asked, sent.got, DIALECTS[sent.dialect]
    tools = len(msgspec.json.decode(asked.tools)) if asked.tools else 0
    before = Counter(each.rule for each in violations(asked.messages, dialect, tools))
    after = Counter(each.rule for each in violations(got.messages, dialect, tools))
    if after - before:
        yield f"order, {sent.dialect}"
    # What the upstream would have refused as it was, ours may refuse to change.
    if got.plan.startswith("fail-open") and not before:
        yield FAILED
    if set(_MARK.findall(got.text)) - {sent.mark}:
        yield FOREIGN
    if _of(asked, "system") != _of(got, "system") or asked.tools != got.tools:
        yield INSTRUCTIONS
    if not got.messages[_newest(got)].text.endswith(asked.messages[_newest(asked)].text):
        yield NEWEST
    if got.tokens > sent.budget and not got.plan.startswith(("over-budget", "fail-open")):
        yield BUDGET


def _of(prompt: Received, role: str) -> list[bytes]:
    return [said.raw for said in prompt.messages if said.role == role]


def _newest(prompt: Received) -> int:
    return max(index for index, said in enumerate(prompt.messages) if said.role == "user")


def _sent(running: _Running, conversations: Sequence[Conversation], budget: int) -> Iterator[Sent]:
    """Every conversation is had turn by turn, and once more by a client whose history is long when it is seen first."""
    for dialect in DIALECTS:
        for conversation in conversations:
            said = _spelled(_marked(conversation), dialect)
            mark = f"#case-{conversation.name}#"
            told = list(said.requests())
            for key, (messages, reply) in [
                *((f"{dialect}-{said.name}", each) for each in told),
                *((f"{dialect}-{said.name}-late-{at}", told[at]) for at in {len(told) // 2, len(told) - 1}),
            ]:
                running.upstream.replies[key] = reply
                asked = {"model": f"{dialect}-m", "messages": messages, **({"tools": said.tools} if said.tools else {})}
                body = msgspec.json.encode(asked)
                given = {"authorization": f"Bearer {key}", "content-type": "application/json"}
                answered = running.client.post("/v1/chat/completions", content=body, headers=given).raise_for_status()
                got = replace(running.upstream.last[key], plan=answered.headers["x-olvido-plan"])
                yield Sent(dialect, budget, mark, received(body), got)


def _marked(conversation: Conversation) -> Conversation:
    mark = f"\n#case-{conversation.name}#"
    messages = tuple(
        {**said, "content": f"{said['content']}{mark}"} if said["role"] in ("user", "tool") else said
        for said in conversation.messages
    )
    return replace(conversation, messages=messages)


def _spelled(conversation: Conversation, dialect: str) -> Conversation:
    """As a client of this provider has it: Mistral's calls have ids of nine characters."""
    if dialect != "mistral":
        return conversation
    return replace(conversation, messages=tuple(_with_short_ids(said) for said in conversation.messages))


def _with_short_ids(said: Said) -> Said:
    changed = dict(said)
    if said.get("tool_calls"):
        changed["tool_calls"] = [{**call, "id": _short(call["id"])} for call in said["tool_calls"]]
    if "tool_call_id" in said:
        changed["tool_call_id"] = _short(said["tool_call_id"])
    return changed


def _short(name: str) -> str:
    return blake2b(name.encode(), digest_size=5).hexdigest()[:9]


@contextmanager
def _bench(profile: str, budget: int) -> Iterator[_Running]:
    """One proxy with an upstream of every dialect, told by the model. Old turns are found by their words alone: what is
    measured is whether they may stand where they do."""
    upstream = Upstream()
    app = Starlette(routes=[Route("/v1/chat/completions", upstream.answer, methods=["POST"])])
    numbers: Mapping[str, Any] = {
        "base": profile,
        "budget": budget,
        "window": {"tokens": budget // 3},
        "summaries": {"slots": 2, "tokens": 40},
        "facts": {"tokens": 60},
        "tool_results": {"keep": 1},
    }
    with run_app(app) as url:
        entries = [
            {"name": name, "base_url": f"{url}/v1", "dialect": name, "models": [f"{name}-*"], "retries": 0}
            for name in DIALECTS
        ]
        settings = config(
            upstreams=entries,
            storage={"kind": "memory"},
            server={"port": 0, "drain": 5},
            reuse={"exact": {"enabled": False}, "intent": {"enabled": False}},
            embedding={"enabled": False},
            profiles={"small": numbers},
            context={"profile": "small", "profile_with_tools": "small"},
        )
        with run_proxy(settings) as address, httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            yield _Running(upstream, client)


def main() -> None:
    for name, looked, wrong in rows(quick="--quick" in sys.argv):
        print(f"{name:36} {looked:7,} {wrong:7,}")


if __name__ == "__main__":
    main()
