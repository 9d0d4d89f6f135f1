"""The result of each replayed request, and sums of them: per model, in all, and at other prices."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from proxy.context.layout import ExplainedPrompt
from proxy.replay.pricing import worst
from proxy.types import Mechanisms, PlanKind


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of prompts in tokens at the input price (US dollars in `Total.dollars`), the prefix cache simulated."""

    full: float = 0.0  # as the client sent it
    sliding: float = 0.0  # the newest turns alone
    ours: float = 0.0


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of one request."""

    line: int
    at: float
    model: str
    upstream: str
    conversation: str
    kind: PlanKind
    reason: str
    tokens_full: int
    tokens_sliding: int
    tokens_sent: int
    mechanisms: Mechanisms
    costs: Costs
    ratio: float  # price of a cached token, input = 1
    price: float  # US dollars per million input tokens; 0: unknown
    inside: ExplainedPrompt | None = None  # if that was asked for


@dataclass(frozen=True, slots=True)
class Total:
    """Sums of requests."""

    requests: int
    conversations: int
    over_budget: int
    fail_open: int
    tokens_full: int
    tokens_sliding: int
    tokens_sent: int
    mechanisms: Mechanisms
    costs: Costs
    dollars: Costs | None  # None: the price of one of its models is unknown
    worst: float  # of the conversation in which it is highest: paid so far, against pass-through
    worst_in: str

    @property
    def ratio(self) -> float:
        """The cost through the proxy divided by that of pass-through."""
        return self.costs.ours / self.costs.full if self.costs.full else 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a replay."""

    requests: tuple[Replayed, ...]
    at_ratios: Mapping[float, Total]  # what it would have been where a cached token costs so much
    embedding: str  # by which old turns were found; "": by their words alone

    @property
    def total(self) -> Total:
        """Sums of all requests."""
        return total(self.requests)

    @property
    def by_model(self) -> dict[str, Total]:
        """Sums by model, in alphabetical order."""
        grouped: dict[str, list[Replayed]] = defaultdict(list)
        for each in self.requests:
            grouped[each.model].append(each)
        return {model: total(each) for model, each in sorted(grouped.items())}


def total(requests: Sequence[Replayed]) -> Total:
    """Sums requests. The worst ratio is that of the conversation in which it is highest."""
    conversations: dict[str, list[Replayed]] = defaultdict(list)
    for each in requests:
        conversations[each.conversation].append(each)
    worsts = {
        name: worst((each.costs.full, each.costs.ours) for each in theirs) for name, theirs in conversations.items()
    }
    worst_in = max(worsts, key=lambda name: worsts[name], default="")
    return Total(
        requests=len(requests),
        conversations=len(conversations),
        over_budget=sum(each.kind == "over-budget" for each in requests),
        fail_open=sum(each.kind == "fail-open" for each in requests),
        tokens_full=sum(each.tokens_full for each in requests),
        tokens_sliding=sum(each.tokens_sliding for each in requests),
        tokens_sent=sum(each.tokens_sent for each in requests),
        mechanisms=_mechanisms(each.mechanisms for each in requests),
        costs=_costs((each.costs, 1.0) for each in requests),
        dollars=_costs((each.costs, each.price / 1e6) for each in requests) if all(_prices(requests)) else None,
        worst=worsts.get(worst_in, 0.0),
        worst_in=worst_in,
    )


def _mechanisms(given: Iterable[Mechanisms]) -> Mechanisms:
    sums: dict[str, int] = defaultdict(int)
    for each in given:
        for name, tokens in each.items():
            sums[name] += tokens
    return Mechanisms(**sums)


def _costs(given: Iterable[tuple[Costs, float]]) -> Costs:
    sums = dict.fromkeys((each.name for each in fields(Costs)), 0.0)
    for costs, factor in given:
        for name in sums:
            sums[name] += getattr(costs, name) * factor
    return Costs(**sums)


def _prices(requests: Iterable[Replayed]) -> set[float]:
    return {each.price for each in requests}
