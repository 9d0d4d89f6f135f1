"""What an agent's history costs where the model manages its own memory, and whether every upstream takes it.

    python -m tests.bench.desk [--quick]

SWE-agent and tau-bench histories are had turn by turn through the whole proxy, over HTTP, by a client that sends its
whole history every time. The upstream answers as the data says; where the dashboard advises it, it first calls memory's
tools, as a model would: prunes or summarises what the dashboard names. Everything that it gets is priced with a prefix
cache that forgets nothing (r = 0.17, as Kimi's), definitions of the tools and hidden rounds included, and what the
calls cost at the price of output; against what passing every request through would have cost. So are histories that
are spliced to 40,000 tokens and more, within a limit of 32,000.

Then, with tools offered at once and a model that saves a note in every third answer: of the requests that follow such a
hidden exchange, the tokens that a prefix cache finds, against what it would find had the client sent it itself: the
whole prompt of the last round. Requests in which something is folded are counted apart.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from proxy.protocol.dialects import DIALECTS, violations
from tests.bench import context_replay
from tests.bench.context_cost import Till
from tests.bench.context_data import Conversation, Said, swe, tau
from tests.bench.context_replay import Provider, Received, Upstream, bench, original, provider, received
from tests.builders import completion, counter

RATIO, OUTPUT = 0.17, 4.2  # prices of a cached token and of one that is generated, against an uncached one
SPLICED = 40_000  # tokens, at least
LIMIT = 32_000
QUICK = 10
FOLDED = 0.9  # share of a prompt below which something of it was folded

_HEAPS = re.compile(r"Largest, by id: ([^<]*)")
_HEAP = re.compile(r"(\d+)(?:\u2013(\d+))?: ")
_PRUNES, _SUMMARISES = "prune_messages", "summarize_range"


@dataclass(slots=True)
class Pruner(Upstream):
    """Answers as it is told to, and follows the dashboard first, or saves a note in every third answer."""

    saves: bool = False
    calls: int = 0
    answers: int = 0
    generated: dict[str, int] = field(default_factory=dict)  # tokens of calls, by key

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        call = self._call(received(body))
        if call is None:
            return await Upstream.answer(self, request)
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.arrived.setdefault(key, []).append(body)
        self.calls += 1
        made = {"id": f"mem{self.calls:06d}", "type": "function", "function": call}
        said = {"role": "assistant", "content": None, "tool_calls": [made]}
        tokens = counter().text(msgspec.json.encode(call).decode())
        self.generated[key] = self.generated.get(key, 0) + tokens
        answer = completion()
        answer["choices"][0] = {"index": 0, "message": said, "finish_reason": "tool_calls"}
        prompt = received(body).tokens
        answer["usage"] = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
        return Response(msgspec.json.encode(answer), media_type="application/json")

    def _call(self, got: Received) -> dict[str, str] | None:
        if _PRUNES.encode() not in got.tools:
            return None
        last = got.messages[-1]
        if last.role == "tool" and last.tool_call_id.startswith("mem"):
            return None
        if self.saves:
            self.answers += 1
            note = msgspec.json.encode(
                {"file_name": "notes.md", "content": f"So far: {self.answers} answers."}
            ).decode()
            return {"name": "save_to_disk", "arguments": note} if self.answers % 3 == 0 else None
        board = last.text if "Advice:" in last.text else ""
        found = _HEAPS.search(board)
        if found is None:
            return None
        heaps = [(int(each[1]), int(each[2] or each[1])) for each in _HEAP.finditer(found[1])]
        if not heaps:
            return None
        if _SUMMARISES in board and _PRUNES not in board:
            text = "The steps so far: read what was needed, changed what was asked for; nothing is open."
            wanted: Any = {"start_id": heaps[0][0], "end_id": heaps[-1][1], "summary_text": text}
            return {"name": _SUMMARISES, "arguments": msgspec.json.encode(wanted).decode()}
        ids = [each for first, last_id in heaps for each in range(first, last_id + 1)]
        return {"name": _PRUNES, "arguments": msgspec.json.encode({"message_ids": ids}).decode()}


@dataclass(frozen=True, slots=True)
class Course:
    """A conversation's costs, in uncached prompt tokens."""

    name: str
    full: float
    ours: float
    longest: int  # tokens of the longest history
    calls: int
    worst: float
    kept: tuple[float, ...] = ()  # of what a cache would find, the share that it finds, after hidden exchanges

    @property
    def ratio(self) -> float:
        return self.ours / self.full


def courses(
    conversations: Sequence[Conversation], tools: dict[str, Any], *, saves: bool = False
) -> tuple[list[Course], dict[str, int]]:
    """Has the conversations. Returns their costs, and violations by dialect."""
    of = provider(RATIO)
    broken = dict.fromkeys(DIALECTS, 0)
    upstream = Pruner(tells=of.tells, saves=saves)
    with bench(of, upstream=lambda **_: upstream, memory={"tools": {"enabled": True, **tools}}) as running:
        return [_course(running, upstream, each, of, broken) for each in conversations], broken


def _course(
    running: context_replay.Bench, upstream: Pruner, conversation: Conversation, of: Provider, broken: dict[str, int]
) -> Course:
    key = conversation.name
    whole, mine = Till(of), Till(of)
    full = ours = worst = 0.0
    longest = seen = 0
    before: Received | None = None
    kept: list[float] = []
    thinks = False
    for messages, reply in conversation.requests():
        running.ask(key, messages, reply=reply, tools=conversation.tools)
        tokens, cost = whole.priced(original(conversation, messages))
        longest, full = max(longest, tokens), full + cost
        arrived = [received(each) for each in upstream.arrived[key][seen:]]
        seen = len(upstream.arrived[key])
        if before is not None:
            kept.append(_kept(before, arrived[0]))
        before = arrived[-1] if len(arrived) > 1 else None
        for got in arrived:
            ours += mine.priced(got)[1]
            for name, dialect in DIALECTS.items():
                given = violations(original(conversation, messages).messages, dialect, thinking=thinks)
                left = violations(got.messages, dialect, thinking=thinks)
                broken[name] += len(left) > len(given)
        worst = max(worst, ours / full)
    ours += OUTPUT * upstream.generated.get(key, 0)
    return Course(key, full, ours, longest, upstream.generated.get(key, 0), worst, tuple(kept))


def _kept(before: Received, now: Received) -> float:
    """The share of the last round's prompt that begins the next request's, where nothing was folded or marked."""
    if before.tools != now.tools:
        return 0.0
    found = context_replay.repeated(before, now)
    return found / before.tokens


def spliced(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Histories one after the other, until each has so many tokens."""
    made: list[Conversation] = []
    messages: list[Said] = []
    tools: dict[str, Any] = {}
    for each in conversations:
        messages += [said for said in each.messages if not messages or said["role"] != "system"]
        tools |= {tool["function"]["name"]: tool for tool in each.tools}
        name = f"spliced-{len(made)}"
        now = Conversation(name, "spliced", "en", tuple(messages), tuple(tools.values()))
        if original(now, messages).tokens >= SPLICED:
            made.append(_with_ids(now))
            messages, tools = [], {}
    return made


def _with_ids(conversation: Conversation) -> Conversation:
    """The conversation with ids of calls that are its own: histories number theirs alike."""
    names: dict[str, str] = {}
    messages: list[Said] = []
    for at, said in enumerate(conversation.messages):
        if calls := said.get("tool_calls"):
            names = {call["id"]: f"c{at:05d}{number:03d}" for number, call in enumerate(calls)}
            messages.append({**said, "tool_calls": [{**call, "id": names[call["id"]]} for call in calls]})
        elif said["role"] == "tool" and said.get("tool_call_id") in names:
            messages.append({**said, "tool_call_id": names[said["tool_call_id"]]})
        else:
            messages.append(said)
    return replace(conversation, messages=tuple(messages))


def table(name: str, found: Sequence[Course], broken: dict[str, int]) -> str:
    whole = sum(each.ours for each in found) / sum(each.full for each in found)
    ratios = [each.ratio for each in found]
    worst = max(each.worst for each in found)
    cost = f"whole {whole:.3f}, median {median(ratios):.3f}, dearest {max(ratios):.3f}, at the worst moment {worst:.3f}"
    lines = [
        f"{name}: n = {len(found)}, of up to {max(each.longest for each in found):,} tokens",
        f"  cost against pass-through: {cost}",
        f"  conversations with calls: {sum(each.calls > 0 for each in found)}",
        f"  violations: {', '.join(f'{dialect} {count}' for dialect, count in broken.items())}",
    ]
    return "\n".join(lines)


def prefix(found: Sequence[Course]) -> str:
    """Returns what a prefix cache finds after hidden exchanges."""
    every = [share for each in found for share in each.kept]
    kept = [share for share in every if share > FOLDED]
    return (
        f"prefix after hidden exchanges: n = {len(kept)}, median {median(kept):.4f}, least {min(kept):.4f}; "
        f"{len(every) - len(kept)} more in which something was folded"
    )


def main() -> None:
    quick = QUICK if "--quick" in sys.argv else 1
    histories = [*tau()[::quick], *swe()]
    for name, conversations, tools in (
        ("as they are", histories, {}),
        ("as they are, offered at once", histories, {"offer": "first"}),
        (f"spliced, limit {LIMIT:,}", spliced([*swe(), *tau()[::quick]]), {"limit": LIMIT}),
    ):
        print(table(name, *courses(conversations, tools)), flush=True)
    print(prefix(courses(histories, {"offer": "first"}, saves=True)[0]))


if __name__ == "__main__":
    main()
