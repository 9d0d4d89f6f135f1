"""What planning adds to a request: the time of its stages by the proxy's own clock, with the real embedding model. What
the messages say is made up; how many there are is what matters."""

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.context_data import Said
from tests.bench.context_replay import Bench, bench

TEXT = """
the team wants to move the billing service of Rosario to another region before November because latency grew and the
invoices of Quiron arrive late so we compare prices of three providers while Marta checks the contract el presupuesto
nuevo alcanza para dos servidores y una base de datos con réplica en San Pablo si el proveedor baja el costo del tráfico
que pagamos cada mes por las copias que hacemos todas las noches
"""
WORDS = TEXT.split()
STAGES = ("resume", "plan", "assemble")
SAMPLES = 200


@dataclass(frozen=True, slots=True)
class Timed:
    name: str
    milliseconds: tuple[float, ...]  # of our stages, a request each
    cpu: float  # milliseconds of this process a request: proxy, upstream and client together

    @property
    def median(self) -> float:
        return statistics.median(self.milliseconds)

    @property
    def p99(self) -> float:
        return sorted(self.milliseconds)[max(0, round(0.99 * len(self.milliseconds)) - 1)]


class Talk:
    """A conversation of made-up words."""

    def __init__(self, turns: int, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self.messages: list[Said] = [{"role": "system", "content": "You are a helpful assistant."}]
        for _ in range(turns):
            self.go_on()

    def go_on(self) -> None:
        self.messages += [self.question(), {"role": "assistant", "content": self._said(30)}]

    def question(self) -> Said:
        return {"role": "user", "content": f"{self._said(18)}?"}

    def _said(self, words: int) -> str:
        return " ".join(self._random.choice(WORDS) for _ in range(words)) + f" {self._random.randint(1, 9999)}"


def measured(samples: int = SAMPLES) -> list[Timed]:
    with bench() as running:
        short = _going_on(running, "20 turns", Talk(20), samples // 4)
        long = _going_on(running, "600 messages", Talk(300), samples // 2)
        asked = _questions(running, "another question after the same 600 messages", Talk(300, seed=4), samples)
        briefly = _questions(running, "another question after the same 20 turns", Talk(20, seed=5), samples)
        early = _going_on(running, "from turn 100 on", Talk(99, seed=2), samples // 4)
        late = _going_on(running, "from turn 2,000 on", Talk(1_999, seed=3), samples // 4)
    return [short, long, asked, briefly, early, late]


def _questions(running: Bench, name: str, talk: Talk, samples: int) -> Timed:
    """Different questions after the same history, which has been read."""
    _first(running, name, talk)
    return _timed(running, name, [[*talk.messages, talk.question()] for _ in range(samples)])


def _going_on(running: Bench, name: str, talk: Talk, samples: int) -> Timed:
    """The conversation goes on, a turn a request."""
    _first(running, name, talk)
    requests = []
    for _ in range(samples):
        requests.append([*talk.messages, talk.question()])
        talk.messages += [requests[-1][-1], {"role": "assistant", "content": "All right."}]
    return _timed(running, name, requests)


def _first(running: Bench, name: str, talk: Talk) -> None:
    running.ask(name, [*talk.messages, talk.question()])
    running.settle()


def _timed(running: Bench, name: str, requests: Sequence[Sequence[Said]]) -> Timed:
    rows: list[float] = []
    cpu = 0.0
    for messages in requests:
        before = time.process_time()
        running.ask(name, messages)
        cpu += time.process_time() - before
        rows.append(1_000 * sum(running.stages(name).get(stage, 0.0) for stage in STAGES))
        running.settle()
    return Timed(name, tuple(rows), 1_000 * cpu / len(requests))
