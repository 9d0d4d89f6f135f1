"""Decision whether a conversation is managed, metered or passed through: by key and model, by a canary share, and since
it has turned dearer than pass-through or was reported wrong. Pure.

The weakest of what the client asks and what is configured holds. Whether a conversation is of the canary share is a
hash of its scope and session: it stays in or out, on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import blake2b

from proxy.config.model import Context, Rule
from proxy.types import Directives, Mode, Plan, Sums

# Requests before which a conversation is not judged: folds and definitions of tools are advance payments. An agent with
# memory's tools is 54 % dearer after its first managed request, and cheaper from the 16th on (`olvido demo --agent`).
LEAST_MANAGED = 20
PAYS_BACK = 0.9  # share of the excess that is left, at most, after as many requests again, of one that is paid back
LEAST_DOLLARS = 0.01  # excess; a conversation is not to lose its memory for less than a cent
_WEAKER: Sequence[Mode] = ("on", "meter", "off")


@dataclass(frozen=True, slots=True)
class Held:
    """The mode of a conversation, and why it is weaker than `on`; "": the client or the configuration says so."""

    mode: Mode
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Advance:
    """The excess of a conversation over pass-through, as a share of that, after so many managed requests."""

    share: float
    managed: int


def weaker(one: Mode, other: Mode) -> Mode:
    """Returns the weaker of two modes."""
    return max(one, other, key=_WEAKER.index)


def decide(
    settings: Context, *, key: str, model: str, scope: str, session: str, asked: Mode, returned: str = ""
) -> Held:
    """Returns the mode of a request. `key`: the name of the key, if it is ours; `asked`: by the client; `returned`: why
    the conversation has returned to pass-through, if it has."""
    rule = next((each for each in settings.rules if _fits(each, key, model)), None)
    mode = weaker(asked, settings.mode if rule is None else rule.mode)
    if mode != "on":
        ruled = rule is not None and weaker(asked, settings.mode) != mode
        return Held(mode, "rule" if ruled else "")
    if returned:
        return Held("meter", f"returned={returned}")
    share = settings.canary if rule is None or rule.canary is None else rule.canary
    return Held("on") if share_of(scope, session) < share else Held("meter", "canary")


def _fits(rule: Rule, key: str, model: str) -> bool:
    return fnmatchcase(key, rule.key) and fnmatchcase(model, rule.model)


def share_of(scope: str, session: str) -> float:
    """Returns a number in [0, 1) that is a conversation's own."""
    hashed = blake2b(f"{scope}\0{session}".encode("utf-8", "surrogatepass"), digest_size=8, person=b"olvido-canary")
    return int.from_bytes(hashed.digest()[:6], "big") / 2**48


def directed(directives: Directives, held: Held) -> Directives:
    """Returns the directives of a request under a decision. What has returned, or is no canary, gets no answer from
    memory either; what a rule switches off is passed through, as if its client had said so."""
    changed = replace(directives, mode=held.mode, settled=True, held=held.reason)
    if held.mode == "off" and held.reason:
        return replace(changed, lookup=False, store=False, remember=False)
    return replace(changed, lookup=False) if held.reason and held.reason != "rule" else changed


def told(plan: Plan, reason: str) -> Plan:
    """Returns the plan with the reason for which it is none; what it would have sent stays behind it."""
    if not reason or plan.kind != "untouched":
        return plan
    return replace(plan, reason=f"{reason};{plan.reason}" if plan.reason else reason)


def has_turned_dearer(sums: Sums, limit: float) -> bool:
    """Tells whether a conversation has come to cost more than pass-through would have, by more than `limit`, a share of
    that. `sums`: of its requests so far; 0 is no limit."""
    if not limit or sums.managed + sums.over_budget < LEAST_MANAGED:
        return False
    more, passed_through = _excess(sums)
    return more > LEAST_DOLLARS and more > limit * passed_through


def watched(sums: Sums, before: Advance | None) -> Advance | None:
    """Returns the advance by which a conversation that has turned dearer is judged from here on; None if the one before
    was not paid back in as many requests again (Lindy): a prompt that is rewritten is dear once, and cheap from then
    on. `before`: None if it was not dearer so far."""
    more, passed_through = _excess(sums)
    now = Advance(more / max(passed_through, LEAST_DOLLARS), sums.managed + sums.over_budget)
    if before is None or now.managed < 2 * before.managed:
        return before or now
    return now if now.share <= PAYS_BACK * before.share else None


def _excess(sums: Sums) -> tuple[float, float]:
    """Returns the dollars of a conversation beyond pass-through, and what that would have cost."""
    more = sums.added_context - sums.saved_context
    return more, sums.cost - sums.quality - more
