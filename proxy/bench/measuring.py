"""Rows of a benchmark and what was measured of them, and the rounds: each measures every row once, so that what else
the machine does falls on all of them. A number is the median of the rounds, with the least and the most.

CPU is the server's, user and system, its children's included, over requests sent as fast as the connections go, with
all that it still does for them afterwards until it is idle: writing, learning, embedding. A floor is the CPU of
floor.py in the same round. Latencies are measured at a rate that leaves most servers idle most of the time: at full
load they would only repeat the throughput.
"""

import hashlib
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Literal, TypeVar

import msgspec

from proxy.bench.bodies import Kind
from proxy.bench.load import Job, Outcome, StallJob, StallOutcome, StreamsJob, StreamsOutcome
from proxy.bench.processes import Server, Unusable

CONNECTIONS = 8
RATE = 100.0  # requests per second at which latency is measured
FLOOR_FILE = Path(__file__).with_name("floor.py")
# sha256 of that file: costs that are told in floors can be compared as long as it is the same.
FLOOR = "dfd37428e1e8411677cc14e78e58c5264175828987b6e399b1380b7b182cc021"

T = TypeVar("T")
Measure = Literal["floors", "switches", "p50", "p99", "lag"]


def floor_hash() -> str:
    """Returns the hash of the floor. Raises Unusable if it is another one than the numbers told so far are of."""
    found = hashlib.sha256(FLOOR_FILE.read_bytes()).hexdigest()
    if found != FLOOR:
        raise Unusable(f"{FLOOR_FILE} is not the floor that costs are told in: sha256 {found} instead of {FLOOR}")
    return found


class Limit(msgspec.Struct, frozen=True):
    """A limit of a row: floors, switches a request, ms."""

    of: Measure
    most: float
    aim: float


class Row(msgspec.Struct, frozen=True):
    """One way to the answer, measured once a round. `direct` and `floor` name the rows it is compared with."""

    name: str
    server: str
    kind: Kind
    stream: bool
    expected: str  # in the label of every answer
    direct: str
    floor: str
    limits: tuple[Limit, ...] = ()
    outcomes: list[Outcome] = []

    @property
    def cpu(self) -> list[float]:
        """µs per request, of each round."""
        return [outcome.cpu / outcome.fast * 1e6 for outcome in self.outcomes]

    @property
    def switches(self) -> list[float]:
        """Times that other threads than the main one went to sleep, per request, of each round."""
        return [outcome.switches / outcome.fast for outcome in self.outcomes]

    @property
    def rate(self) -> list[float]:
        """Requests per second, of each round."""
        return [outcome.fast / outcome.seconds for outcome in self.outcomes]

    @property
    def lag(self) -> float | None:
        """The 99th percentile of how late the event loop was, ms, of all rounds: it is looked at twice a second. None
        if the server does not tell, or was not looked at."""
        looks: Counter[str] = Counter()
        for outcome in self.outcomes:
            looks.update(outcome.lags)
        seconds = _quantile(sorted((float(upto), looks[upto]) for upto in looks), 0.99)
        return None if seconds is None else seconds * 1e3

    @property
    def answers(self) -> Counter[str]:
        """Answers by their label."""
        return sum((Counter(outcome.answers) for outcome in self.outcomes), Counter())

    def latency(self, percent: int) -> list[float]:
        """Returns a percentile, ms, at the fixed rate, of each round."""
        return [quantiles(o.paced, n=100, method="inclusive")[percent - 1] * 1e3 for o in self.outcomes]

    def pooled_latency(self, percent: int) -> float:
        """Returns a percentile, ms, at the fixed rate, of all rounds together."""
        seconds = [each for outcome in self.outcomes for each in outcome.paced]
        return quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1e3

    def floors(self, floor: "Row") -> list[float]:
        """Returns its CPU in floors, of each round."""
        return [mine / least for mine, least in zip(self.cpu, floor.cpu, strict=True)]

    def added(self, direct: "Row", percent: int) -> list[float]:
        """Returns a percentile of its latency beyond that of no proxy, ms, of each round."""
        return [mine - least for mine, least in zip(self.latency(percent), direct.latency(percent), strict=True)]


def _quantile(looks: Sequence[tuple[float, float]], share: float) -> float | None:
    """Returns a quantile of a histogram, interpolated within its bucket as Prometheus does. `looks`: the upper bound of
    each bucket, and how many are at most so large."""
    if not looks or not looks[-1][1]:
        return None
    rank = share * looks[-1][1]
    for (lower, below), (upper, upto) in pairwise(((0.0, 0.0), *looks)):
        if upto >= rank and upto > below:
            return lower if upper == float("inf") else lower + (upper - lower) * (rank - below) / (upto - below)
    return None


def spread(values: Sequence[float], digits: int) -> str:
    """Returns the median, the least and the most as text."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def with_needed(rows: Sequence[Row], is_wanted: Callable[[Row], bool]) -> list[Row]:
    """Returns the rows that are wanted, and those that they are compared with, without outcomes."""
    wanted = [row for row in rows if is_wanted(row)]
    needed = {name for row in wanted for name in (row.name, row.direct, row.floor)}
    return [msgspec.structs.replace(row, outcomes=[]) for row in rows if row.name in needed]


@dataclass(frozen=True, slots=True)
class Round:
    """The size of a round."""

    requests: int  # of each row, as fast as they go
    paced: int  # of each row, at the fixed rate
    quiet: float = 0.5  # seconds without CPU after which a server is idle


class Bench:
    """Servers, and the load that is told what to do to them."""

    def __init__(self, load: subprocess.Popen[bytes], servers: Mapping[str, Server]) -> None:
        self.servers = servers
        self._load = load
        self._seeds = count(1)

    def run(self, server: str, kind: Kind, *, stream: bool, size: Round) -> Outcome:
        """Measures a server once."""
        to = self.servers[server]
        job = Job(
            to.port, to.pid, kind, stream, size.requests, size.paced, RATE, CONNECTIONS, next(self._seeds), size.quiet
        )
        return self._ask(job, Outcome)

    def rounds(
        self, rows: Sequence[Row], rounds: Iterable[int], size: Round, tell: Callable[[int, Row], object]
    ) -> None:
        """Measures rows in turns. `tell` is called before each, with the number of the round."""
        for number in rounds:
            for row in rows:
                tell(number, row)
                row.outcomes.append(self.run(row.server, row.kind, stream=row.stream, size=size))

    def streams(self, server: str, streams: int) -> StreamsOutcome:
        """Opens so many streams at once."""
        to = self.servers[server]
        return self._ask(StreamsJob(to.port, to.pid, streams, next(self._seeds)), StreamsOutcome)

    def stall(self, server: str, megabytes: int) -> StallOutcome:
        """Sends a large message, and looks at how it holds up others."""
        to = self.servers[server]
        return self._ask(StallJob(to.port, to.pid, megabytes, next(self._seeds)), StallOutcome)

    def _ask(self, job: Job | StallJob | StreamsJob, answer: type[T]) -> T:
        assert self._load.stdin is not None
        assert self._load.stdout is not None
        try:
            self._load.stdin.write(msgspec.json.encode(job) + b"\n")
            self._load.stdin.flush()
            return msgspec.json.decode(self._load.stdout.readline(), type=answer)
        except (BrokenPipeError, msgspec.DecodeError):
            raise Unusable(f"the load ended during {job}; its error stands above") from None
