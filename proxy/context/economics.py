"""When to fold and how far, from prices: a fold costs now and saves later, and none may risk more than was saved.

The unit of cost is one prompt token at the input price. Tokens that the upstream's prefix cache holds cost `cached` of
it, those that it has yet to hold `write`. A fold rewrites what stands behind it, so it is an advance payment: now

    advance = cost of the folded prompt - cost of the prompt as it stands

and every request to come saves the cached price of what left. Three rules decide:

1. Ski rental: without need, fold once the turns that would leave have cost as much, since they left the window, as the
   advance. For turns of even length that is the cheapest rhythm there is (the square-root rule of economic lots), and
   it implies Lindy's rule, `cached · D · n ≥ (write - cached) · K + write · S` with as many turns n to come as there
   have been.
2. Never pay more: without need, no fold brings what was spent above what pass-through would have cost by now. What
   earlier folds saved pays for later ones.
3. A limit is a limit: what it forces is done, but of the window it keeps only what is affordable (`REGRET`, `FORCED`).
4. While tools are called and answered nothing is folded that a limit does not force: the next call hangs on what was
   thought before it, which some providers keep only behind an unchanged prefix (`Rates.rethinking`).

A cold cache, or none, makes the advance negative: then every fold pays at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.config import Upstream
from proxy.config.prices import UNPRICED, prefix_cache
from proxy.types import BreakEven, FoldReason, PrefixCache, Price

# By how much what was spent may pass what pass-through would have cost by now, as a share of it: for what is needed,
# and for the newest complete turn, without which an answer may have nothing to refer to. Chosen so that no conversation
# of `tests.bench.economics` ends above 1.02 or is ever above 1.10.
REGRET = 0.02
FORCED = 0.09
# What facts that nothing asks for must leave of the savings: the next fold that a limit forces is paid with it.
RESERVE = 0.05
# Where the prefix cache is cheaper than that, a prompt that is far from its limit is left alone: what a fold would save
# does not pay for recalling what it left out, once that is asked for.
DEAR = 0.4


NO_CACHE = PrefixCache()


def assumed_cache(upstream: Upstream, model: str, price: Price, *, shown_none: bool = False) -> PrefixCache:
    """The prefix cache to reckon with. Every upstream is taken to have one, until the configuration says otherwise or
    its own usage has shown it (`shown_none`, by `CacheEvidence`): where there is a cache that was not reckoned with,
    each fold costs up to ten times what it should, while not to fold where there is none merely saves less."""
    costs_the_same = 0 < price.input <= price.cached
    if upstream.cache == "none" or costs_the_same or shown_none:
        return NO_CACHE
    return prefix_cache(upstream.dialect, upstream.aliases.get(model, model))


@dataclass(frozen=True, slots=True)
class Rates:
    """What a prompt token costs at the moment, input price = 1, and how the prefix cache finds it."""

    cached: float  # found in the prefix cache; as `write` while the cache is cold
    write: float  # not found
    block: int = 1  # tokens: a prefix is found in multiples of this
    minimum: int = 0  # tokens: shorter prompts are neither cached nor written
    breakpoints: bool = False  # nothing is found once the turns behind the instructions have changed
    rethinking: float = 0.0  # a token of thinking that is lost because something before it has changed

    @property
    def shortest(self) -> int:
        """Tokens that a prompt must have for anything of it to be found."""
        return max(self.minimum, self.block)

    def cost(self, tokens: int, repeated: int) -> float:
        """Of a prompt whose first `repeated` tokens stood at the beginning of the request before it, too."""
        if tokens < self.minimum:
            return float(tokens)
        found = self.held(tokens, repeated)
        return self.cached * found + self.write * (tokens - found)

    def least(self, tokens: int, repeated: int) -> float:
        """What it costs at least: where blocks begin is the upstream's affair. So is pass-through reckoned with, lest a
        fold be paid with what was not spent."""
        return replace(self, block=1).cost(tokens, repeated)

    def held(self, tokens: int, repeated: int) -> int:
        """How many of these the prefix cache finds while it is warm. A breakpoint at which the prompt was too short is
        not kept."""
        shortest = repeated if self.breakpoints else tokens
        return repeated - repeated % self.block if shortest >= self.minimum else 0


def rates(price: Price, cache: PrefixCache, *, idle: float, hit_share: float | None = None) -> Rates:
    """The rates `idle` seconds after the request before. `hit_share`: how much of what the cache should have held it
    was seen to hold (`cached_tokens` of the usage); None: not seen yet."""
    write = max(price.write, price.input) / price.input if price.input else 1.0
    if cache.ttl <= 0:
        return Rates(1.0, 1.0)  # nothing is written either
    # What is lost is thought again, at most, and costs what it did.
    rethinking = price.output / price.input if cache.reasoning and price.input else 0.0
    if cache.ttl <= idle:
        return Rates(write, write, cache.block, cache.minimum, cache.breakpoints, rethinking)
    cached = min(price.cached / price.input, write) if price.input else UNPRICED
    share = 1.0 if hit_share is None else min(max(hit_share, 0.0), 1.0)
    warm = share * cached + (1 - share) * write
    return Rates(warm, write, cache.block, cache.minimum, cache.breakpoints, rethinking)


@dataclass(frozen=True, slots=True)
class Standing:
    """The prompt as it would be sent without a fold, in tokens."""

    prefix: int  # system and tools
    head: int  # the memory head
    open: Sequence[int]  # complete turns, oldest first
    newest: int  # the newest user message and all after it
    repeated: int  # how much of its beginning stood at the beginning of the request before it
    thought: Sequence[int] = ()  # of thinking in the open turns, and in the newest
    in_loop: bool = False  # the newest turn is a tool loop that goes on

    @property
    def tokens(self) -> int:
        return self.prefix + self.head + sum(self.open) + self.newest

    def folded(self, keep: int, head: int) -> int:
        """Tokens of the prompt with `keep` complete turns behind a new head."""
        return self.prefix + head + sum(self.open[len(self.open) - keep :]) + self.newest


@dataclass(frozen=True, slots=True)
class CostSoFar:
    """Costs of the conversation so far, by `Rates.cost`."""

    baseline: float  # of pass-through, this request included
    spent: float  # of what was sent, up to the request before


@dataclass(frozen=True, slots=True)
class Terms:
    """What is wanted of a fold, and what demands one."""

    turns: int  # complete turns to keep
    tokens: int  # of these turns at most; the newest is kept even above it
    head: int  # tokens of the new memory head, at most
    limit: int | None = None  # tokens of the whole prompt
    pressure: int | None = None  # tokens of the prompt above which a fold need not pay off, only be affordable
    strict: bool = False  # fold whenever the window is exceeded, whatever it costs
    flush: bool = False  # the user has closed the topic: keep nothing


@dataclass(frozen=True, slots=True)
class Folding:
    leave: int  # complete turns that leave, oldest first
    reason: FoldReason


def decide(rates: Rates, standing: Standing, costs: CostSoFar, terms: Terms) -> Folding | None:
    """The fold to make before this request is sent, if any."""
    turns = len(standing.open)
    if not turns:
        return None
    fold = _Fold(rates, standing, costs, terms.head)
    limit = math.inf if terms.limit is None else terms.limit
    wanted = _window(standing, terms, 0 if terms.strict else rates.shortest)
    is_forced = standing.tokens > limit and fold.size(0) <= limit

    if standing.in_loop and not is_forced:
        return None
    if terms.strict:
        return Folding(turns - wanted, "strict") if wanted < turns else None
    if is_forced:
        least = 1 if fold.size(1) <= limit and fold.regret(1) <= FORCED else 0
        kept = (keep for keep in range(wanted, least, -1) if fold.size(keep) <= limit and fold.regret(keep) <= REGRET)
        return Folding(turns - next(kept, least), "limit")
    if terms.flush and fold.size(0) < standing.tokens and fold.regret(0) <= REGRET / 2:
        return Folding(turns, "flush")
    if rates.cached < DEAR * rates.write and terms.pressure is not None and standing.tokens <= terms.pressure:
        return None
    if wanted == turns or fold.size(wanted) >= standing.tokens or fold.regret(wanted) > 0:
        return None
    if terms.pressure is not None and standing.tokens > terms.pressure:
        return Folding(turns - wanted, "pressure")
    if fold.advance(wanted) <= _carried(rates, standing.open[: turns - wanted]):
        return Folding(turns - wanted, "economic")
    return None


def weighed(rates: Rates, standing: Standing, costs: CostSoFar, terms: Terms, decided: Folding | None) -> BreakEven:
    """The numbers behind `decided`: of the fold that is made, or else of the one that was considered."""
    turns = len(standing.open)
    fold = _Fold(rates, standing, costs, terms.head)
    leave = decided.leave if decided else turns - _window(standing, terms, 0 if terms.strict else rates.shortest)
    return BreakEven(
        leave=decided.leave if decided else 0,
        reason=decided.reason if decided else "",
        cached=rates.cached,
        write=rates.write,
        turns=turns,
        standing=standing.tokens,
        folded=fold.size(turns - leave),
        advance=fold.advance(turns - leave),
        carried=_carried(rates, standing.open[:leave]),
        regret=fold.regret(turns - leave),
        baseline=costs.baseline,
        spent=costs.spent,
    )


def allowance(rates: Rates, tokens: int, repeated: int, costs: CostSoFar, *, regret: float = REGRET) -> int:
    """How many tokens of memory may be added to a prompt of `tokens`, so that what is spent stays within `regret`."""
    left = (1 + regret) * costs.baseline - costs.spent - rates.cost(tokens, repeated)
    return max(0, math.floor(left / rates.write))


@dataclass(frozen=True, slots=True)
class _Fold:
    """What folds of one prompt would be like, by the number of complete turns that they keep."""

    rates: Rates
    standing: Standing
    costs: CostSoFar
    head: int

    def size(self, keep: int) -> int:
        return self.standing.folded(keep, self.head)

    def cost(self, keep: int) -> float:
        """What is thought in the turns that stay is lost."""
        found = 0 if self.rates.breakpoints else min(self.standing.prefix, self.standing.repeated)
        lost = sum(self.standing.thought[len(self.standing.open) - keep :]) if self.standing.thought else 0
        return self.rates.cost(self.size(keep), found) + self.rates.rethinking * lost

    def advance(self, keep: int) -> float:
        return self.cost(keep) - self.rates.cost(self.standing.tokens, self.standing.repeated)

    def regret(self, keep: int) -> float:
        """By how much this brings what was spent above pass-through, as a share of it; below 0: not at all."""
        return (self.costs.spent + self.cost(keep)) / self.costs.baseline - 1 if self.costs.baseline else 0.0


def _window(standing: Standing, terms: Terms, minimum: int) -> int:
    """How many of the newest complete turns to keep. More than `terms` say, if the prompt would become too short for
    the prefix cache: OpenAI's holds none below 1,024 tokens, and one of 900 would be billed in full for ever, as is one
    that is shorter than a block."""
    keep = tokens = 0
    for turn in reversed(standing.open):
        tokens += turn
        within = keep < terms.turns and tokens <= terms.tokens
        if keep and not within and standing.folded(keep, 0) >= minimum:  # the head may come out smaller
            break
        keep += 1
    return keep


def _carried(rates: Rates, leaving: Sequence[int]) -> float:
    """What turns that the window doesn't hold have cost since they left it. The newest of them is carried for the first
    time now, which the advance has counted; each one before it once more."""
    return rates.cached * sum(tokens * times for times, tokens in enumerate(reversed(leaving)))
