"""Decision to fold, and its size, from prices: a fold costs now and saves later, and none may risk more than was saved.

The unit of cost is one prompt token at the input price. Tokens that the upstream's prefix cache holds cost `cached` of
it, those that it has yet to hold `write`. A fold rewrites what stands behind it, so it is an advance payment: now

    advance = cost of the folded prompt - cost of the prompt as it stands

and every request to come saves the cached price of what left. Four rules decide:

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
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from proxy.config import Upstream
from proxy.config.upstreams import UNPRICED, prefix_cache
from proxy.types import BreakEven, FoldReason, PrefixCache, Price

# Allowed excess of spending over pass-through, as a share of the latter: for anything needed, and for keeping the
# newest complete turn, without which an answer may have nothing to refer to. Chosen so that no conversation of
# `tests.bench.economics` ends above 1.02 or is ever above 1.10.
REGRET = 0.02
FORCED = 0.09
# Share of the baseline that facts which nothing asks for must leave unspent: it pays the next fold that a limit forces.
RESERVE = 0.05
# Price of cached tokens, relative to writing, below which a prompt far from its limit is not folded: the savings would
# not pay for recalling old turns later.
DEAR = 0.4
# Seconds: the shortest time that a provider documents for its cache (Kimi, Anthropic). Later it may be gone.
MOST_IDLE = 300.0


NO_CACHE = PrefixCache()


def assumed_cache(upstream: Upstream, model: str, price: Price) -> PrefixCache:
    """Returns the prefix cache to assume for a model until the upstream's usage shows none (`CacheEvidence`). Every
    upstream is taken to have one, unless the configuration says otherwise: to overlook a cache makes each fold cost up
    to ten times more, while to assume one that is missing merely saves less."""
    costs_the_same = 0 < price.input <= price.cached
    if upstream.cache == "none" or costs_the_same:
        return NO_CACHE
    return prefix_cache(upstream.dialect, upstream.aliases.get(model, model))


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a prompt token now, relative to the input price, and the granularity of the prefix cache."""

    cached: float  # price of a token in the prefix cache; as `write` while the cache is cold
    write: float  # price of any other token
    block: int = 1  # tokens: a prefix is found in multiples of this
    minimum: int = 0  # tokens: shorter prompts are neither cached nor written
    breakpoints: bool = False  # nothing is found once the turns behind the instructions have changed
    rethinking: float = 0.0  # price of a token of reasoning that is lost because something before it changed
    marked: bool = False  # held is what an earlier request has ended at a breakpoint of its own
    indivisible: bool = False  # nor are the instructions by themselves, if what is behind them has changed
    most: int = sys.maxsize  # tokens at the beginning that can be held: those up to the last breakpoint
    tail: float | None = None  # price of a token behind the last breakpoint, which is not written; None: as `write`

    @property
    def added(self) -> float:
        """The price of a token that only this request has."""
        return self.write if self.tail is None else self.tail

    @property
    def shortest(self) -> int:
        """Tokens that a prompt must have for the prefix cache to hold any of it."""
        return max(self.minimum, self.block)

    def cost(self, tokens: int, repeated: int) -> float:
        """Returns the cost of a prompt whose first `repeated` tokens also began the previous prompt, in uncached prompt
        tokens."""
        reach = min(tokens, self.most)
        if reach < self.minimum:
            return float(tokens)
        found = self.held(tokens, repeated)
        return self.cached * found + self.write * (reach - found) + (tokens - reach)

    def least(self, tokens: int, repeated: int) -> float:
        """Returns the lowest cost that the prompt may have, wherever cache blocks begin. Pass-through is estimated so,
        lest a fold be paid with savings that do not exist."""
        return replace(self, block=1).cost(tokens, repeated)

    def held(self, tokens: int, repeated: int) -> int:
        """Returns how many of the repeated tokens the prefix cache holds while it is warm. A breakpoint below the
        minimal prompt size is not kept."""
        reach, repeated = min(tokens, self.most), min(repeated, self.most)
        shortest = repeated if self.breakpoints or self.marked else reach
        return repeated - repeated % self.block if shortest >= self.minimum else 0


def rates(price: Price, cache: PrefixCache, *, idle: float) -> Rates:
    """Returns the rates `idle` seconds after the previous request."""
    write = max(price.write, price.input) / price.input if price.input else 1.0
    if cache.ttl <= 0:
        return Rates(1.0, 1.0)  # nothing is written either
    # At most, lost reasoning is generated again, at the price of output.
    rethinking = price.output / price.input if cache.reasoning and price.input else 0.0
    if cache.ttl <= idle:
        return Rates(write, write, cache.block, cache.minimum, cache.breakpoints, rethinking)
    cached = min(price.cached / price.input, write) if price.input else UNPRICED
    return Rates(cached, write, cache.block, cache.minimum, cache.breakpoints, rethinking)


@dataclass(frozen=True, slots=True)
class PromptSizes:
    """Sizes of the prompt as it would be sent without a fold, in tokens."""

    prefix: int  # instructions and tools
    head: int  # the memory head
    open: Sequence[int]  # complete turns, oldest first
    newest: int  # the newest user message and all after it
    repeated: int  # the beginning that it shares with the previous prompt
    reasoning: Sequence[int] = ()  # reasoning in each open turn, and in the newest
    in_loop: bool = False  # the newest turn is a tool loop in progress

    @property
    def tokens(self) -> int:
        """Tokens of the whole prompt."""
        return self.prefix + self.head + sum(self.open) + self.newest

    def folded(self, keep: int, head: int) -> int:
        """Returns the tokens of the prompt with `keep` complete turns behind a new head."""
        return self.prefix + head + sum(self.open[len(self.open) - keep :]) + self.newest


@dataclass(frozen=True, slots=True)
class CostSoFar:
    """Costs of the conversation so far, in the unit of `Rates.cost`."""

    baseline: float  # of pass-through, this request included
    spent: float  # of what was sent, up to the request before


@dataclass(frozen=True, slots=True)
class Terms:
    """Goals of a fold, and conditions that force one."""

    turns: int  # complete turns to keep
    tokens: int  # of these turns at most; the newest is kept even above it
    head: int  # tokens of the new memory head, at most
    limit: int | None = None  # tokens of the whole prompt
    pressure: int | None = None  # tokens of the prompt above which a fold need not pay off, only be affordable
    strict: bool = False  # fold whenever the window is exceeded, whatever it costs
    flush: bool = False  # the user has closed the topic: keep nothing


def decide(rates: Rates, prompt: PromptSizes, costs: CostSoFar, terms: Terms) -> BreakEven:
    """Returns how many of the oldest complete turns to fold before this request is sent, and why; with the numbers of
    that fold, or, if there is none, of the one that was considered."""
    turns = len(prompt.open)
    fold = _Fold(rates, prompt, costs, terms.head)
    wanted = _window(prompt, terms, 0 if terms.strict else rates.shortest)
    leave, reason = _decided(fold, wanted, terms) if turns else (0, "")
    weighed = leave if reason else turns - wanted
    return BreakEven(
        leave=leave,
        reason=reason,
        cached=rates.cached,
        write=rates.write,
        turns=turns,
        standing=prompt.tokens,
        folded=fold.size(turns - weighed),
        advance=fold.advance(turns - weighed),
        carried=fold.carried(weighed),
        regret=fold.regret(turns - weighed),
        baseline=costs.baseline,
        spent=costs.spent,
    )


def _decided(fold: "_Fold", wanted: int, terms: Terms) -> tuple[int, FoldReason | Literal[""]]:
    """Returns how many complete turns leave, and the reason. `wanted`: how many to keep by the goals alone."""
    rates, prompt, turns = fold.rates, fold.prompt, len(fold.prompt.open)
    limit = math.inf if terms.limit is None else terms.limit
    is_forced = prompt.tokens > limit and fold.size(0) <= limit

    if prompt.in_loop and not is_forced:
        return 0, ""
    if terms.strict:
        return (turns - wanted, "strict") if wanted < turns else (0, "")
    if is_forced:
        least = 1 if fold.size(1) <= limit and fold.regret(1) <= FORCED else 0
        kept = (keep for keep in range(wanted, least, -1) if fold.size(keep) <= limit and fold.regret(keep) <= REGRET)
        return turns - next(kept, least), "limit"
    if terms.flush and fold.size(0) < prompt.tokens and fold.regret(0) <= REGRET / 2:
        return turns, "flush"
    if rates.cached < DEAR * rates.write and terms.pressure is not None and prompt.tokens <= terms.pressure:
        return 0, ""
    if wanted == turns or fold.size(wanted) >= prompt.tokens or fold.regret(wanted) > 0:
        return 0, ""
    if terms.pressure is not None and prompt.tokens > terms.pressure:
        return turns - wanted, "pressure"
    if fold.advance(wanted) <= fold.carried(turns - wanted):
        return turns - wanted, "economic"
    return 0, ""


def allowance(rates: Rates, tokens: int, repeated: int, costs: CostSoFar, *, regret: float = REGRET) -> int:
    """Returns how many tokens of memory may be added to a prompt of `tokens` so that spending stays within `regret`, a
    share of the baseline."""
    left = (1 + regret) * costs.baseline - costs.spent - rates.cost(tokens, repeated)
    return max(0, math.floor(left / rates.added))


@dataclass(frozen=True, slots=True)
class _Fold:
    """Sizes and costs of the possible folds of one prompt, by the number of complete turns that they keep."""

    rates: Rates
    prompt: PromptSizes
    costs: CostSoFar
    head: int

    def size(self, keep: int) -> int:
        return self.prompt.folded(keep, self.head)

    def cost(self, keep: int) -> float:
        """Returns the cost of the folded prompt, lost reasoning included."""
        is_whole = self.rates.breakpoints or self.rates.indivisible
        found = 0 if is_whole else min(self.prompt.prefix, self.prompt.repeated)
        lost = sum(self.prompt.reasoning[len(self.prompt.open) - keep :]) if self.prompt.reasoning else 0
        return self.rates.cost(self.size(keep), found) + self.rates.rethinking * lost

    def advance(self, keep: int) -> float:
        return self.cost(keep) - self.rates.cost(self.prompt.tokens, self.prompt.repeated)

    def carried(self, leave: int) -> float:
        """Returns the cost of the `leave` oldest turns since they left the window. The newest of them is carried for
        the first time now, which the advance has counted; each one before it once more."""
        leaving = reversed(self.prompt.open[:leave])
        return self.rates.cached * sum(tokens * times for times, tokens in enumerate(leaving))

    def regret(self, keep: int) -> float:
        """Returns the excess of spending over pass-through after this fold, as a share of pass-through; negative if
        there is none."""
        return (self.costs.spent + self.cost(keep)) / self.costs.baseline - 1 if self.costs.baseline else 0.0


def _window(prompt: PromptSizes, terms: Terms, minimum: int) -> int:
    """Returns how many of the newest complete turns to keep: more than `terms` say where the prompt would become too
    short for the prefix cache (OpenAI's holds none below 1,024 tokens: one of 900 would always be billed in full)."""
    keep = tokens = 0
    for turn in reversed(prompt.open):
        tokens += turn
        within = keep < terms.turns and tokens <= terms.tokens
        if keep and not within and prompt.folded(keep, 0) >= minimum:  # the head may come out smaller
            break
        keep += 1
    return keep
