"""The verdict on one request: dearer or cheaper than pass-through, by how much, for which reason, and how its
conversation stands with it. It is decided here, from a ledger row and the sums of the conversation; the page puts it
into a sentence. Pure.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from proxy.types import LedgerRow, Sums

Kind: TypeAlias = Literal[
    "cheaper",
    "dearer",
    "same",  # as pass-through: nothing was changed, or it came to the same
    "reused",  # answered from memory
    "own",  # answered, or asked, by the proxy itself
    "failed",  # no answer, and nothing was billed
    "unpriced",  # its upstream has no price: only tokens can be told
]
Cause: TypeAlias = Literal[
    "left-out",  # old turns and the like were not sent
    "recalled",  # old turns went with the question
    "rewritten",  # a fold changed what the provider's cache held
    "remembered",  # the memory head: summaries and facts
    "desk",  # tools and sections of the model's own memory
    "other",  # the prompt alone does not explain it
    "untouched",  # sent as it came
    "metered",  # sent as it came, since context management only measures
    "returned",  # sent as it came, since its conversation had turned dearer, or was reported wrong
    "rollout",  # sent as it came, since a rule or the canary share leaves it out
    "unmanaged",  # sent as it came, since its route is not a managed one
    "fail-open",  # sent as it came, since a stage of ours failed
    "over-budget",  # too large for its limit, and nothing could be left out
    "exact",
    "intent",
    "command",
    "memory",  # asked by the model that helps memory
    "upstream",  # the upstream answered with an error, or broke off
    "client",  # the client went before the answer
    "ours",  # an error of ours
]

LEAST = 5e-10  # US dollars: less is no difference


@dataclass(frozen=True, slots=True)
class SoFar:
    """A conversation up to a request, this one included."""

    requests: int
    cost: float  # US dollars
    passthrough: float  # US dollars that pass-through would have cost
    original: int  # prompt tokens that the client has sent, of requests from memory too
    sent: int  # prompt tokens that went upstream


@dataclass(frozen=True, slots=True)
class Verdict:
    """A request against plain pass-through."""

    kind: Kind
    cause: Cause
    dollars: float  # saved; below 0: it was dearer
    share: float | None  # of what pass-through would have cost; None: that is nothing, or not known
    tokens: int  # of the cause: left out, recalled, billed anew, added, or that would have been left out; 0: none
    so_far: SoFar | None  # None: the request stands alone in its conversation, or nothing was billed so far


def verdict(row: LedgerRow, until: Sums) -> Verdict:
    """Judges a request. `until`: the sums of its conversation up to it, itself included."""
    kind, cause, tokens = _judged(row)
    whole = row.cost + row.cost_saved
    share = row.cost_saved / whole if whole > LEAST and kind != "unpriced" else None
    return Verdict(kind, cause, row.cost_saved, share, tokens, _so_far(until))


def _judged(row: LedgerRow) -> tuple[Kind, Cause, int]:
    """Returns kind and cause, and the tokens of the cause."""
    if row.source in ("exact", "intent"):
        return "reused", row.source, row.tokens_original + row.tokens_completion
    if row.reuse_reason == "memory":
        return "own", "memory", 0
    if row.source != "upstream":
        return "own", "command", 0
    if failure := _failure(row):
        return "failed", failure, 0
    cause, tokens = _cause(row)
    if not row.cost and abs(row.cost_saved) < LEAST:
        return "unpriced", cause, tokens
    if abs(row.cost_saved) < LEAST:
        return "same", cause, tokens
    return ("cheaper" if row.cost_saved > 0 else "dearer"), cause, tokens


def _failure(row: LedgerRow) -> Cause | None:
    """Returns the side that failed, if nothing was billed for that reason."""
    if row.cost or row.tokens_billed:
        return None
    if row.outcome == "our_error":
        return "ours"
    if row.outcome == "client_gone":
        return "client"
    return "upstream" if row.outcome != "complete" or not 200 <= row.status < 400 else None


def _cause(row: LedgerRow) -> tuple[Cause, int]:
    """Returns the greatest part of what made the prompt cheaper or dearer than the client's own."""
    if not row.mechanisms:
        return _unchanged(row) if abs(row.cost_saved) < LEAST else ("other", 0)
    added: tuple[tuple[Cause, int], ...] = (
        ("recalled", row.mechanisms.get("recall", 0)),
        ("rewritten", row.tokens_busted),
        ("remembered", row.mechanisms.get("summaries", 0) + row.mechanisms.get("facts", 0)),
        ("desk", row.mechanisms.get("desk", 0)),
    )
    left = row.tokens_original - row.tokens_sent
    if row.cost_saved < -LEAST or (not row.cost and left < 0):
        most = max(added, key=lambda each: each[1])
        return most if most[1] else ("other", 0)
    return ("left-out", left) if left > 0 else ("other", 0)


def _unchanged(row: LedgerRow) -> tuple[Cause, int]:
    """Returns why the prompt was sent as it came. Reasons are separated by semicolons: those of the rollout, by
    `context/rollout.py`, stand before those of the plan."""
    reasons = row.plan_reason.split(";")
    if reasons[0] == "route":
        return "unmanaged", 0
    if reasons[0].startswith("returned="):
        return "returned", 0
    if reasons[0] in ("canary", "rule"):
        return "rollout", 0
    would = next((each.partition("=")[2] for each in reasons if each.startswith("would_send=")), "")
    if reasons[0] == "meter" and would.isdecimal():
        return "metered", row.tokens_original - int(would)
    if "cheaper" in reasons:
        return "untouched", 0
    if row.plan in ("fail-open", "over-budget"):
        return row.plan, 0
    return "untouched", 0


def _so_far(until: Sums) -> SoFar | None:
    saved = until.saved_exact + until.saved_intent + until.saved_context - until.added_context - until.memory
    original = until.tokens_original + until.tokens_reused_prompt
    if until.requests < 2 or (not original and until.cost + saved <= LEAST):
        return None
    return SoFar(until.requests, until.cost, until.cost + saved, original, until.tokens_sent)
