"""What the clients cost whose bills are the dearest, at each kind of prefix cache, against plain pass-through.

    python -m tests.bench.bills [--unseen] [--client WORDS] [--at PROVIDER] [--trace] [--json FILE]

The whole proxy, over HTTP, with its default profiles; words alone are compared, without vectors, and deadlines are
long, so that two runs are the same. Every prompt that arrives is priced by its provider's rules. `whole` is what all
requests cost as a share of pass-through, `running` its highest value on the way, `request` that of a single request.
`--unseen`: clients that nothing was tuned on. `--trace`: what each request cost beside what the planner thought. Ends
with 1 if a row misses what it must reach.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from proxy.types import PathState
from tests.bench import bills_clients
from tests.bench.bills_clients import Client
from tests.bench.context_cost import Till
from tests.bench.context_replay import Bench, Provider, Received, Tells, Upstream, bench, original

WHOLE, RUNNING = 1.05, 1.10
# By prices of proxy/config/models.yaml: a cached token, and one that is written, relative to input.
PROVIDERS = (
    Provider("gpt-6", "openai", 0.1, "hits", 0.1, 1.25, minimum=1_024, breakpoints=True, model="gpt-6-sol"),
    Provider("gpt-6.1", "openai", 0.05, "hits", 0.05, 1.25, minimum=1_024, breakpoints=True, model="gpt-6.1-sol"),
    Provider("deepseek", "deepseek", 0.033, "hits", 0.033, breakpoints=True),
    Provider("kimi", "kimi", 0.17, "hits", 0.17, block=256),
    Provider("openai, blocks of 128", "openai", 0.25, "hits", 0.25, minimum=1_024, block=128),
    Provider("generic, no price", "generic", None, "nothing", 0.25),
    Provider("no cache", "generic", 1.0, "misses", 1.0),
)
KINDS = {True: "whole prompts", False: "beginnings"}


class Request(msgspec.Struct, frozen=True):
    """One request: tokens and costs, the latter in uncached tokens."""

    direct: int
    direct_cost: float
    ours: int
    ours_cost: float
    plan: str
    recalled: bool
    expected: float = 0.0  # by the planner: what ours costs
    expected_direct: float = 0.0


class Bill(msgspec.Struct, frozen=True):
    client: str
    provider: str
    requests: list[Request]

    @property
    def whole(self) -> float:
        return sum(each.ours_cost for each in self.requests) / sum(each.direct_cost for each in self.requests)

    @property
    def request(self) -> float:
        return max(each.ours_cost / each.direct_cost for each in self.requests)

    @property
    def running(self) -> float:
        ours = direct = worst = 0.0
        for each in self.requests:
            ours, direct = ours + each.ours_cost, direct + each.direct_cost
            worst = max(worst, ours / direct)
        return worst

    @property
    def has_failed(self) -> bool:
        return self.whole > WHOLE or self.running > RUNNING


class Telling(Upstream):
    """Says of every prompt what its provider's cache held."""

    def __init__(self, of: Provider, tells: Tells) -> None:
        super().__init__(tells=tells)
        self._of = of
        self._tills: dict[str, Till] = {}

    def found(self, key: str, got: Received) -> int | None:
        """Tokens of a prompt that the cache held; None where its provider says nothing."""
        till = self._tills.setdefault(key, Till(self._of))
        till.priced(got)
        return None if self.tells == "nothing" else till.found


@dataclass(slots=True)
class _Planned:
    """The planner's sums, as they grow."""

    spent: float = 0.0
    baseline: float = 0.0

    def next(self, state: PathState | None) -> tuple[float, float]:
        """The planner's costs of one more request, as it was sent and passed through."""
        if state is None:
            return 0.0, 0.0
        cost = state.spent - self.spent, state.baseline - self.baseline
        self.spent, self.baseline = state.spent, state.baseline
        return cost


def billed(running: Bench, client: Client, of: Provider, states: Sequence[PathState | None]) -> Bill:
    """The client's conversation, had turn by turn. `states`: where those of its plans come, one a request."""
    conversation, requests = client.conversation, []
    alone, mine, planned = Till(of), Till(of), _Planned()
    for messages, reply in conversation.requests():
        got = running.ask(
            client.name.replace(",", "").replace(" ", "-"), messages, reply=reply, tools=conversation.tools
        )
        running.settle()
        direct, direct_cost = alone.priced(original(conversation, messages))
        ours, ours_cost = mine.priced(got)
        expected = planned.next(states[-1] if states else None)
        requests.append(Request(direct, direct_cost, ours, ours_cost, got.plan, "<recalled>" in got.text, *expected))
    return Bill(client.name, of.name, requests)


def bills(clients: Sequence[Client], of: Provider) -> Iterator[Bill]:
    for client in clients:
        overrides = {"profiles": dict(client.profiles)} if client.profiles else {}
        with bench(
            of, upstream=partial(Telling, of), patience=60.0, embedding={"enabled": False}, **overrides
        ) as running:
            states = _watched(running)
            yield billed(running, client, of, states)


def _watched(running: Bench) -> Sequence[PathState | None]:
    """The states of all plans from now on."""
    states: list[PathState | None] = []
    planner = running.services.planner
    plan = planner.plan

    async def planned(*given: object, **named: object) -> object:
        made = await plan(*given, **named)  # type: ignore[arg-type]  # passed on as they came
        states.append(made.state)
        return made

    object.__setattr__(planner, "plan", planned)
    return states


def _line(bill: Bill, of: Provider) -> str:
    failed = " **missed**" if bill.has_failed else ""
    recalled = sum(each.recalled for each in bill.requests)
    managed = sum(each.plan.startswith("managed") for each in bill.requests)
    return (
        f"| {bill.client} | {of.name} | {KINDS[of.breakpoints]} | {bill.whole:.3f}{failed} | {bill.request:.2f} "
        f"| {bill.running:.3f} | {managed} of {len(bill.requests)} | {recalled} |"
    )


def _traced(bill: Bill) -> str:
    lines = ["    at  direct     cost  thought    ours     cost  thought  running"]
    ours = direct = 0.0
    for at, each in enumerate(bill.requests):
        ours, direct = ours + each.ours_cost, direct + each.direct_cost
        lines.append(
            f"  {at:4}{each.direct:8}{each.direct_cost:9.0f}{each.expected_direct:9.0f}{each.ours:8}"
            f"{each.ours_cost:9.0f}{each.expected:9.0f}{ours / direct:9.3f}  {each.plan.partition(';')[0]}"
            f"{' recalled' if each.recalled else ''}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unseen", action="store_true", help="the clients that nothing was tuned on")
    parser.add_argument("--client", default="", help="those alone whose name has these words")
    parser.add_argument("--at", default="", help="those providers alone whose name begins so")
    parser.add_argument("--trace", action="store_true", help="every request")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    made = bills_clients.UNSEEN if options.unseen else bills_clients.DEV
    clients = [client for each in made if options.client in (client := each()).name]
    print("| client | provider | its cache finds | whole | request | running | managed | recalled |")
    print("|---|---|---|---|---|---|---|---|")
    found = []
    for of in PROVIDERS:
        if not of.name.startswith(options.at):
            continue
        for bill in bills(clients, of):
            found.append(bill)
            print(_line(bill, of), flush=True)
            if options.trace:
                print(_traced(bill), flush=True)
    if options.json:
        options.json.write_bytes(msgspec.json.encode(found))
    return int(any(bill.has_failed for bill in found))


if __name__ == "__main__":
    sys.exit(main())
