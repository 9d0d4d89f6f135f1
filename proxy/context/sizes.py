"""Sizes of a prompt against its limit, and in the upstream's tokens. Pure."""

from dataclasses import replace

from proxy.config import Upstream
from proxy.config.profiles import Profile
from proxy.memory.shelf import Shelf
from proxy.tokens import RoughCounter
from proxy.types import ChatRequest, Plan, PromptTokens

SURELY_WITHIN = 0.5  # share of a limit: the rough count, calibrated by prose, underestimates tables and code

_rough = RoughCounter()


def is_left_alone(counted: Plan, profile: Profile, limit: int | None, shelf: Shelf) -> bool:
    """True if the prompt fits into the window and there are no facts that could go with it."""
    most = profile.window.tokens if limit is None else min(profile.window.tokens, SURELY_WITHIN * limit)
    return profile.fold == "economic" and counted.tokens.original <= most and not shelf.facts


def limit_of(profile: Profile, upstream: Upstream, factor: float) -> int | None:
    """Returns the limit of a prompt in tokens of our count; None if there is none."""
    limits = [] if profile.budget == "economic" else [float(profile.budget)]
    if upstream.context_tokens is not None:
        limits.append(upstream.context_tokens * profile.context_share)
    return int(min(limits) / max(1.0, factor)) if limits else None


def most_of(profile: Profile, upstream: Upstream, factor: float) -> int | None:
    """Returns the most tokens of our count that the model's context has room for; None if that is not known."""
    if upstream.context_tokens is None:
        return None
    return int(upstream.context_tokens * profile.context_share / max(1.0, factor))


def judged(as_it_came: Plan, tokens: float, limit: int | None) -> Plan:
    """Returns the plan, marked as over budget if these tokens (of our count) exceed the limit."""
    return replace(as_it_came, kind="over-budget") if limit is not None and tokens > limit else as_it_came


def priced(request: ChatRequest, counted: Plan, made: Plan, factor: float, *, metered: bool) -> Plan:
    """Returns the plan with sizes in the upstream's tokens, as far as these are known. `counted`: the plan to send the
    request unchanged."""
    tokens = made.tokens.scaled(factor)
    if made.messages is not None and not metered:
        return replace(made, tokens=replace(tokens, rough=_rough.request(request, made.messages)))
    as_it_came = PromptTokens(
        tokens.original,
        tokens.original,
        rough=counted.tokens.rough,
        counted=made.tokens.original,
        repeated=tokens.repeated,
        expected=0 if metered else tokens.expected,
    )
    return Plan(
        "untouched" if metered else made.kind,
        as_it_came,
        "" if made.messages is None else f"meter;would_send={tokens.sent}",
        state=made.state,
        trail=made.trail,
    )
