"""The row `faults` of `tests.bench.cluster`: Redis or PostgreSQL is gone for a while under a steady load.

Requests are sent when they are due, whether earlier ones have been answered or not; each belongs to a conversation that
sends its history. Every answer is looked at, and afterwards every row: of the ledger, of the archive, of the facts.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

import aiohttp
import psycopg

BEFORE, AFTER = 10.0, 10.0  # seconds
OPENING = 2.0  # seconds after which breakers are open
PEOPLE = 60
TURNS = 8  # of a conversation; then the person begins another
SETTLED = 90.0  # seconds that rows may take afterwards
EVERY = 5  # requests, of which one states a fact


@dataclass(eq=False)
class Person:
    number: int
    said: list[Mapping[str, str]] = field(default_factory=list)
    is_waiting: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    at: float  # since the beginning, when it was due
    seconds: float  # until the whole answer
    status: int
    request_id: str
    token: str  # that its question has
    states: bool  # a fact


@dataclass(frozen=True, slots=True)
class Outcome:
    sent: Sequence[Sent]
    seconds: float  # of the fault
    missing: Mapping[str, int]  # rows by what they are
    double: Mapping[str, int]

    def p99(self, since: float, until: float) -> float:
        """Milliseconds."""
        taken = [each.seconds for each in self.sent if since <= each.at < until]
        return quantiles(taken, n=100, method="inclusive")[98] * 1e3

    @property
    def errors(self) -> int:
        return sum(each.status != 200 for each in self.sent)

    @property
    def added(self) -> float:
        """Milliseconds of the p99, once the breakers are open."""
        return self.p99(BEFORE + OPENING, BEFORE + self.seconds) - self.p99(2.0, BEFORE)

    def row(self, name: str) -> str:
        first = self.p99(BEFORE, BEFORE + OPENING) - self.p99(2.0, BEFORE)
        cells = (
            *(name, f"{len(self.sent)}", f"{self.errors}", f"{self.p99(2.0, BEFORE):.0f}"),
            *(
                f"+{first:.0f}",
                f"+{self.added:.0f}",
                f"+{self.p99(BEFORE + self.seconds, 1e9) - self.p99(2.0, BEFORE):.0f}",
            ),
            *(str(dict(self.missing)), str(dict(self.double))),
        )
        return f"| {' | '.join(cells)} |"


HEAD = (
    "| gone | requests | errors | p99 ms before | first 2 s | then | afterwards | missing | double |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


async def under(fault: AbstractContextManager[None], url: str, database: str, seconds: float, rate: float) -> Outcome:
    """Loads the proxy at `url` before, during and after a fault, and reads what became of it."""
    people = [Person(number) for number in range(PEOPLE)]
    sent: list[Sent] = []
    began = time.monotonic()
    total, connector = aiohttp.ClientTimeout(total=60.0), aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, timeout=total, connector=connector) as http:

        async def ask(person: Person, number: int, due: float) -> None:
            token, states = f"tok{number:06}", number % EVERY == 0
            text = f"Remember that the code of box {number} is {token}." if states else f"What of {token}, please?"
            if len(person.said) >= 2 * TURNS:
                person.said.clear()
            person.said.append({"role": "user", "content": text})
            body: dict[str, Any] = {"model": "bench-model", "messages": person.said}
            key = {"authorization": f"Bearer sk-{person.number}"}
            try:
                async with http.post("/v1/chat/completions", json=body, headers=key) as answer:
                    told = await answer.json()
                status, name = answer.status, answer.headers.get("x-olvido-request", "")
                person.said.append(told["choices"][0]["message"])
            except (aiohttp.ClientError, TimeoutError, KeyError, ValueError):
                status, name = 0, ""
                person.said.clear()
            sent.append(Sent(due, time.monotonic() - began - due, status, name, token, states))
            person.is_waiting = False

        async def load() -> None:
            async with asyncio.TaskGroup() as asking:
                for number in range(round((BEFORE + seconds + AFTER) * rate)):
                    due = number / rate
                    await asyncio.sleep(max(0.0, began + due - time.monotonic()))
                    free = [person for person in people if not person.is_waiting]
                    person = free[number % len(free)] if free else Person(PEOPLE + number)
                    person.is_waiting = True
                    asking.create_task(ask(person, number, due))

        async def break_it() -> None:
            await asyncio.sleep(BEFORE)
            with fault:
                await asyncio.sleep(seconds)

        await asyncio.gather(load(), break_it())
        missing, double = await asyncio.to_thread(_rows, database, sent)
    return Outcome(sent, seconds, missing, double)


def _rows(database: str, sent: Sequence[Sent]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """What is missing once everything was written, and what is there twice."""
    good = [each for each in sent if each.status == 200]
    wanted = {
        "ledger": {each.request_id for each in good},
        "turns": {each.token for each in good},
        "facts": {each.token for each in good if each.states},
    }
    until = time.monotonic() + SETTLED
    while True:
        found = _found(database)
        missing = {name: len(wanted[name] - found[name].keys()) for name in wanted}
        if not any(missing.values()) or time.monotonic() > until:
            break
        time.sleep(0.5)
    return missing, {name: sum(found[name][each] > 1 for each in wanted[name]) for name in wanted}


def _found(database: str) -> dict[str, Counter[str]]:
    with psycopg.connect(database) as connection:
        ledger = [str(row[0]) for row in connection.execute("SELECT request_id FROM ledger").fetchall()]
        turns = [
            bytes(row[0]).decode() for row in connection.execute("SELECT messages FROM archive WHERE at IS NOT NULL")
        ]
        facts = [str(row[0]) for row in connection.execute("SELECT value FROM facts WHERE superseded_by IS NULL")]
    first = [re.findall(r"tok\d{6}", text)[:1] for text in turns]
    stated = [re.findall(r"tok\d{6}", text)[:1] for text in facts]
    return {
        "ledger": Counter(ledger),
        "turns": Counter(token for tokens in first for token in tokens),
        "facts": Counter(token for tokens in stated for token in tokens),
    }


@contextmanager
def killed(kill: Callable[[], object], start: Callable[[], object]) -> Iterator[None]:
    """Is without a server while the block lasts."""
    kill()
    try:
        yield
    finally:
        start()
