"""The prefix cache as one request finds it: a provider's rules and prices, and, where it caches only what is marked,
the breakpoints that the client has set and those that we may set. Pure.

Anthropic bills a prompt without breakpoints (`cache_control`) in full, every time. So pass-through costs what the
client's own breakpoints make of it: all cached, instructions alone, or nothing. A managed prompt gets the breakpoints
that it lacks; where the client has set none in its conversation, only once requests have followed each other within the
lifetime of an entry, since a write that nobody reads is a quarter of the price for nothing.
"""

from dataclasses import dataclass, replace

from proxy.context import economics
from proxy.context.economics import FORCED, CostSoFar, Rates
from proxy.types import Breakpoints, PrefixCache, Price

HOUR = 3_600.0  # seconds


@dataclass(frozen=True, slots=True)
class Caching:
    """Prices of the prompt of one request."""

    rates: Rates  # of a managed one
    alone: Rates  # of the client's own, passed through
    is_marked: bool = False  # the provider caches what is marked, and nothing else
    is_ours: bool = False  # whatever is cached of the conversation is so by our breakpoints
    is_split: bool = True  # instructions are found by themselves, whatever is sent: the client has a breakpoint there


def caching(
    price: Price,
    cache: PrefixCache,
    asked: Breakpoints | None,
    *,
    idle: float,
    prefix: int,
    may_set: bool,
    is_split: bool = False,
) -> Caching:
    """Returns the prices `idle` seconds after the previous request. `asked`: the client's breakpoints; None: the
    provider caches without. `prefix`: tokens of tools and instructions. `may_set`: breakpoints where there are none.
    `is_split`: the previous request has had one behind its instructions."""
    if asked is not None and asked.for_an_hour and cache.marked:
        price, cache = replace(price, write=price.hour), replace(cache, ttl=HOUR)
    rates = economics.rates(price, cache, idle=idle)
    if asked is None or not cache.marked:
        return Caching(rates, rates)
    whole = replace(rates, marked=True, indivisible=not (is_split or asked.instructions))
    rates = whole if asked.automatic else replace(whole, tail=1.0)
    if asked.in_conversation:
        return Caching(rates, whole, is_marked=True, is_split=asked.instructions)
    alone = replace(whole, most=prefix if asked.instructions else 0)
    if may_set and idle < cache.ttl:
        return Caching(rates, alone, is_marked=True, is_ours=True, is_split=asked.instructions)
    return Caching(alone, alone, is_split=asked.instructions)


def pays(of: Caching, costs: CostSoFar, cost: float, *, regret: float = FORCED) -> bool:
    """True if breakpoints are set: always where the client sets some; else if what they cost now, which later requests
    save again, stays within `regret`, a share of pass-through. `cost`: of the prompt with them."""
    return of.is_marked and (not of.is_ours or costs.spent + cost <= (1 + regret) * costs.baseline)
