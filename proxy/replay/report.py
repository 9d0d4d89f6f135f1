"""The costs of replayed requests: the provider's prefix cache, simulated by the same rules for the prompts that were
sent and for those that might have been; the result of each request; and sums of them: per model, in all, and at other
prices.

A prefix cache finds the longest beginning that an earlier prompt had, within its time to live: the tools, then whole
messages, and of the first message that differs what both have in common.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from proxy.context.layout import ExplainedPrompt
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Mechanisms, Message, PlanKind

SLIDING_TURNS = 6  # of the plain sliding window that many clients have
# Cached messages in the place of one that is not cached, newest first, whose beginnings are compared.
MOST_LOOKED_AT = 8


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is priced."""

    preface: bytes  # the JSON before the messages: tools, response format
    preface_tokens: int
    messages: Sequence[Message]


class Weights:
    """A cache of token counts: each message is counted once."""

    def __init__(self, message: Callable[[Message], int], count: Callable[[str], int]) -> None:
        self._message = message
        self._known: dict[bytes, int] = {}
        self.text = count

    def __call__(self, said: Message) -> int:
        """Counts the tokens of a message."""
        if (tokens := self._known.get(said.raw)) is None:
            tokens = self._known[said.raw] = self._message(said)
        return tokens

    def prompt(self, prompt: Prompt) -> int:
        """Counts the tokens of a whole prompt."""
        return prompt.preface_tokens + sum(map(self, prompt.messages))


@dataclass(slots=True)
class _Node:
    """A prefix that was sent: all messages from the root to here."""

    said: Message | None
    at: float
    next: OrderedDict[bytes, "_Node"] = field(default_factory=OrderedDict)  # least recently sent first


class PrefixCache:
    """The simulated cache of a provider: the prompts of each owner (its customer, at one model), for `ttl` seconds."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._roots: dict[tuple[Hashable, bytes], _Node] = {}

    def send(self, owner: Hashable, prompt: Prompt, at: float, ttl: float) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before. `at`: unix seconds."""
        if ttl <= 0:
            return 0
        node = self._roots.get((owner, prompt.preface))
        is_held = node is not None and _is_alive(node, at, ttl)
        held = prompt.preface_tokens if is_held else 0
        if node is None:
            node = self._roots[owner, prompt.preface] = _Node(None, at)
        node.at = at
        for said in prompt.messages:
            found = node.next.get(said.raw)
            if is_held and found is not None and _is_alive(found, at, ttl):
                held += self._weights(said)
            elif is_held:
                is_held = False
                held += self._begun(node, said, at, ttl)
            if found is None:
                found = node.next[said.raw] = _Node(said, at)
            found.at = at
            node.next.move_to_end(said.raw)
            node = found
        return held

    def _begun(self, node: _Node, said: Message, at: float, ttl: float) -> int:
        """Counts the tokens that a message shares with a cached one that stood in its place."""
        latest = [child for _, child in zip(range(MOST_LOOKED_AT), reversed(node.next.values()), strict=False)]
        own = said.text
        longest = max(
            (
                common(own, child.said.text)
                for child in latest
                if child.said is not None and child.said.role == said.role and _is_alive(child, at, ttl)
            ),
            default=0,
        )
        return self._weights.text(own[:longest]) if longest else 0


def _is_alive(node: _Node, at: float, ttl: float) -> bool:
    return at - node.at <= ttl


def common(one: str, other: str) -> int:
    """The length of the common beginning of two texts, in characters."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    low, high = 0, shorter  # [:low] is equal, [:high] is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return low


def sliding(messages: Sequence[Message], turns: int = SLIDING_TURNS) -> tuple[Message, ...]:
    """The instructions and the newest `turns` turns: the plain sliding window of many clients."""
    starts = [index for index, said in enumerate(messages) if said.role == "user"]
    start = starts[-turns] if len(starts) > turns else 0
    return tuple(said for index, said in enumerate(messages) if index >= start or said.role in INSTRUCTIONS)


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
    worst_by: tuple[float, float]  # at that moment: ours, and pass-through, in input tokens

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
    moments = {
        name: dearest((each.costs.full, each.costs.ours) for each in theirs) for name, theirs in conversations.items()
    }
    worsts = {name: ours / full if full else 0.0 for name, (ours, full) in moments.items()}
    worst_in = max(worsts, key=lambda name: worsts[name], default="")
    is_priced = all(each.price for each in requests)
    return Total(
        requests=len(requests),
        conversations=len(conversations),
        over_budget=sum(each.kind == "over-budget" for each in requests),
        fail_open=sum(each.kind == "fail-open" for each in requests),
        tokens_full=sum(each.tokens_full for each in requests),
        tokens_sliding=sum(each.tokens_sliding for each in requests),
        tokens_sent=sum(each.tokens_sent for each in requests),
        mechanisms=_mechanisms(each.mechanisms for each in requests),
        costs=_costs([(each.costs, 1.0) for each in requests]),
        dollars=_costs([(each.costs, each.price / 1e6) for each in requests]) if is_priced else None,
        worst=worsts.get(worst_in, 0.0),
        worst_in=worst_in,
        worst_by=moments.get(worst_in, (0.0, 0.0)),
    )


def _mechanisms(given: Iterable[Mechanisms]) -> Mechanisms:
    sums: dict[str, int] = defaultdict(int)
    for each in given:
        for name, tokens in each.items():
            sums[name] += tokens
    return Mechanisms(**sums)


def _costs(given: Sequence[tuple[Costs, float]]) -> Costs:
    return Costs(*(sum((getattr(costs, each.name) * factor for costs, factor in given), 0.0) for each in fields(Costs)))


def dearest(costs: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The cost so far, ours and that of pass-through, at the request at which their ratio is highest. `costs`: of
    pass-through and of ours, a pair a request."""
    full = ours = 0.0
    found = (0.0, 0.0)
    for whole, sent in costs:
        full += whole
        ours += sent
        if full and ours * found[1] >= found[0] * full:
            found = (ours, full)
    return found
