"""What folding costs, conversation by conversation: token counts and an exact prefix cache, no proxy and no texts.

    python -m tests.bench.economics [--each]

Replays every conversation of the evaluation data (`context_data`), a request for every answer, with `lean`'s numbers
and `economics.decide`, and compares what is billed with plain pass-through: over the whole conversation, and at the
worst moment on the way. Conversations with tools are replayed with `agent`'s numbers, as the proxy would, and once more
with `lean`'s to show what a hard limit costs there. Under "recall", 3 % of the requests after the first fold want 1,500
tokens of old turns. `--each` prints the conversations that miss a bound.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from statistics import fmean, linear_regression

from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.profiles import Profile
from proxy.context.economics import CostSoFar, PromptSizes, Rates, Terms, allowance, decide
from proxy.protocol.message import message
from tests.bench import context_data
from tests.bench.context_data import Conversation
from tests.bench.reuse_data import FOLDER
from tests.builders import counter

RATIOS = (0.1, 0.17, 0.25, 0.5, 1.0)
WHOLE, WORST = 1.02, 1.10
HEAD = 60  # tokens of a memory head without summaries
RECALL, RECALLS_PERCENT = 1_500, 3
SETTLED = 20  # requests after which the prompt must not grow
CACHES = {"": (1, 0), "blocks of 256": (256, 0), "blocks of 128 from 1,024": (128, 1_024)}
WITH_TOOLS = frozenset({"tau", "agents"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request in tokens."""

    prefix: int
    turns: tuple[int, ...]  # complete ones
    newest: int

    @property
    def tokens(self) -> int:
        return self.prefix + sum(self.turns) + self.newest


@dataclass(slots=True)
class Run:
    name: str
    baselines: list[float] = field(default_factory=list)  # per request
    costs: list[float] = field(default_factory=list)
    originals: list[int] = field(default_factory=list)  # tokens
    sizes: list[int] = field(default_factory=list)
    open: list[int] = field(default_factory=list)  # complete turns in the prompt
    kept: list[int] = field(default_factory=list)  # complete turns that a fold kept
    reasons: Counter[str] = field(default_factory=Counter)
    over: int = 0  # prompts above the limit

    @property
    def whole(self) -> float:
        return sum(self.costs) / sum(self.baselines)

    @property
    def worst(self) -> float:
        spent = baseline = worst = 0.0
        for cost, plain in zip(self.costs, self.baselines, strict=True):
            spent, baseline = spent + cost, baseline + plain
            worst = max(worst, spent / baseline)
        return worst

    def beyond(self, tokens: int) -> float | None:
        """The cost ratio of the requests whose full history is longer than this."""
        late = [at for at, original in enumerate(self.originals) if original > tokens]
        return sum(self.costs[at] for at in late) / sum(self.baselines[at] for at in late) if late else None

    @property
    def slope(self) -> float | None:
        """Tokens that the prompt grows by per request, once settled and folded."""
        late = self.sizes[SETTLED:]
        return linear_regression(range(len(late)), late).slope if len(late) > 1 and self.kept else None


def asked(conversation: Conversation) -> list[Asked]:
    return list(_asked([(said["role"], counter().message(message(said))) for said in conversation.messages]))


def _asked(messages: Sequence[tuple[str, int]]) -> Iterator[Asked]:
    prefix, turns = 0, list[int]()
    for index, (role, tokens) in enumerate(messages):
        if role == "assistant" and turns and messages[index - 1][0] != "assistant":
            yield Asked(prefix, tuple(turns[:-1]), turns[-1])
        if role == "user":
            turns.append(tokens)
        elif turns:
            turns[-1] += tokens
        else:
            prefix += tokens


def replay(name: str, requests: Sequence[Asked], rates: Rates, profile: Profile, *, recall: bool = False) -> Run:
    """Warm: whatever the request before began with is in the cache. Cold rates cost the same wherever it is."""
    run = Run(name)
    limit = None if profile.budget == "economic" else profile.budget
    start = head = stable = before = 0
    for number, request in enumerate(requests):
        plain = rates.cost(request.tokens, before)
        before = request.tokens
        costs = CostSoFar(sum(run.baselines) + plain, sum(run.costs))
        wanted = RECALL if recall and start and _is_picked(f"{name} {number}") else 0
        terms = Terms(
            turns=profile.window.turns,
            tokens=profile.window.tokens,
            head=_head(profile, len(request.turns)),
            limit=limit,
            pressure=limit and int(limit * profile.pressure),
        )
        standing = PromptSizes(request.prefix, head, request.turns[start:], request.newest, stable)
        if (folding := decide(rates, standing, costs, terms)).leave:
            start, head = start + folding.leave, terms.head
            stable = min(stable, request.prefix)
            standing = PromptSizes(request.prefix, head, request.turns[start:], request.newest, stable)
            run.kept.append(len(standing.open))
            run.reasons[folding.reason] += 1
        added = min(wanted, allowance(rates, standing.tokens, stable, costs), max(0, (limit or 0) - standing.tokens))
        run.baselines.append(plain)
        run.costs.append(rates.cost(standing.tokens + added, stable))
        run.originals.append(request.tokens)
        run.sizes.append(standing.tokens + added)
        run.open.append(len(standing.open))
        run.over += limit is not None and standing.tokens + added > limit
        # What was added stands before the newest message: from there on the next request differs.
        stable = standing.tokens - (request.newest if added else 0)
    return run


def _head(profile: Profile, turns: int) -> int:
    segments = -(-max(1, turns - profile.window.turns) // profile.summaries.segment_turns)
    return HEAD + profile.summaries.tokens * min(profile.summaries.slots, segments)


def _is_picked(name: str) -> bool:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % 100 < RECALLS_PERCENT


def _line(title: str, ratio: float, runs: Sequence[Run]) -> str:
    def most(values: Sequence[float | None]) -> str:
        known = [value for value in values if value is not None]
        return f"{max(known):.2f}" if known else "-"

    kept = [fmean(run.kept) for run in runs if run.kept]
    reasons = sum((run.reasons for run in runs), Counter[str]())
    return (
        f"{title:15}{ratio:5}{max(run.whole for run in runs):8.3f}{fmean(run.whole for run in runs):7.3f}"
        f"{max(run.worst for run in runs):8.3f}"
        f"{most([run.beyond(15_000) for run in runs]):>6}{most([run.beyond(50_000) for run in runs]):>6}"
        f"{most([run.slope for run in runs]):>8}{fmean(fmean(run.open) for run in runs):6.1f}"
        f"{fmean(kept) if kept else nan:6.1f}{sum(run.over for run in runs):6}"
        f"  {', '.join(f'{reason} {count}' for reason, count in sorted(reasons.items()))}"
    )


def main(*, each: bool) -> None:
    if not FOLDER.exists():
        print(f"skipped: no evaluation data at {FOLDER} (set OLVIDO_EVAL_DATA)")
        return
    sets: dict[str, list[tuple[str, list[Asked]]]] = {}
    for conversation in context_data.everything():
        if requests := asked(conversation):
            sets.setdefault(conversation.source, []).append((conversation.name, requests))
    lean, agent = BUILT_IN["lean"], BUILT_IN["agent"]
    for cache, (block, minimum) in CACHES.items():
        for recall in (False, True):
            print(f"\nprefix cache: {cache or 'any length'}{', recall' if recall else ''}")
            print(f"{'':15}{'r':>5}{'whole':>8}{'mean':>7}{'worst':>8}{'>15k':>6}{'>50k':>6}", end="")
            print(f"{'slope':>8}{'open':>6}{'kept':>6}{'over':>6}  folds")
            for source, conversations in sets.items():
                rows = [(source, lean)] if source not in WITH_TOOLS else [(source, agent), (f"{source}, lean", lean)]
                for (title, profile), ratio in ((row, ratio) for row in rows for ratio in RATIOS):
                    rates = Rates(ratio, 1.0, block, minimum)
                    runs = [replay(name, requests, rates, profile, recall=recall) for name, requests in conversations]
                    print(_line(title, ratio, runs))
                    missed = [run for run in runs if run.whole > WHOLE or run.worst > WORST]
                    if each and missed:
                        print(*(f"    {run.name}: {run.whole:.3f}, {run.worst:.3f}" for run in missed), sep="\n")


if __name__ == "__main__":
    main(each="--each" in sys.argv[1:])
