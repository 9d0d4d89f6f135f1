"""What a client pays through the proxy and without it, at providers whose prefix caches are simulated: a cache finds
whatever an earlier prompt began with, or only where an earlier one ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.protocol.request import parse
from tests.bench.context_cost import Till
from tests.bench.context_data import Said
from tests.bench.context_replay import Bench, Provider, Received, bench
from tests.builders import assistant, body, system, user

pytestmark = pytest.mark.long

KIMI = Provider("kimi", "kimi", 0.17, "hits", 0.17)
OPENAI = Provider("openai", "openai", 0.25, "hits", 0.25, minimum=1024)
GPT_6 = Provider("gpt-6", "openai", 0.1, "nothing", 0.1, minimum=1024, breakpoints=True, model="gpt-6-sol")
DEEPSEEK = Provider("deepseek", "deepseek", 0.033, "nothing", 0.033, breakpoints=True)
S = system("You help with software. " + "Be exact, and say when you do not know something. " * 30)
STATED = (
    "I prefer PostgreSQL for the billing service.",
    "I've decided that the billing service is written in Go.",
    "My billing service runs on port 8443.",
    "My deadline for the billing service is March 3.",
)
ASKED = (
    "invoices",
    "webhooks",
    "retries",
    "an index",
    "paging",
    "logs",
    "versions",
    "keys",
    "refunds",
    "taxes",
    "coupons",
)


@dataclass
class Bill:
    """Costs so far, in uncached prompt tokens, and their highest ratio on the way."""

    of: Provider
    direct: float = 0.0
    ours: float = 0.0
    tills: tuple[Till, Till] = field(init=False)

    def __post_init__(self) -> None:
        self.tills = (Till(self.of), Till(self.of))

    def ask(self, running: Bench, said: Sequence[Said], reply: Said) -> Received:
        got = running.ask("sk-bill", said, reply=reply)
        self.direct += self.tills[0].priced(Received(parse(body(*said)).messages, b""))[1]
        self.ours += self.tills[1].priced(got)[1]
        return got


def answer(number: int) -> Any:
    return assistant(f"Answer {number}: " + " ".join(f"step {number}.{at} is done so" for at in range(20)))


def questions() -> Iterator[Any]:
    for number, subject in enumerate(ASKED):
        yield user(f"How should the billing service handle {subject}, and why in that way? It is point {number}.")


@pytest.mark.parametrize("of", [KIMI, OPENAI, GPT_6, DEEPSEEK], ids=lambda of: of.name)
def test_what_is_known_of_the_user_from_before_costs_its_own_tokens_once(of: Provider) -> None:
    with bench(of) as running:
        said: list[Any] = [S]
        for stated in STATED:
            said += [user(stated), assistant("Noted.")]
            running.ask("sk-bill", said[:-1], reply=said[-1])
        running.settle()
        bill, now, told = Bill(of), list[Any]([S]), 0
        for number, asked in enumerate(questions()):
            now.append(asked)
            got = bill.ask(running, now, answer(number))
            now.append(answer(number))
            told = got.text.count("What the user has stated:")
    assert told > 0
    assert bill.ours <= 1.10 * bill.direct
