"""The ageing of facts: the limits of a fact's age, its status at a time, and when that changes next."""

from dataclasses import dataclass

from proxy.config.memory import Memory
from proxy.types.memory import Fact, FactStatus

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Decay:
    """The limits of a fact's age, in seconds since its last confirmation. Defaults: the architecture note, section
    1.1."""

    unconfirmed_after: float = 90 * DAY  # beyond: only by retrieval, unless confidence is high
    stale_after: float = 180 * DAY  # beyond: never
    drop_low_after: float = 30 * DAY  # beyond: never, if confidence is low


def status(fact: Fact, now: float, decay: Decay) -> FactStatus:
    """Returns the status of a fact at `now`. At exactly a limit the fact is not yet past it."""
    if fact.is_deleted:
        return "deleted"
    if fact.superseded_by is not None:
        return "superseded"
    age = now - fact.last_confirmed_at
    if age > decay.stale_after or (fact.confidence == "low" and age > decay.drop_low_after):
        return "stale"
    if age > decay.unconfirmed_after and fact.confidence != "high":
        return "retrieval-only"
    return "active"


def next_status(fact: Fact, now: float, decay: Decay) -> tuple[FactStatus, float] | None:
    """Returns the next status of a fact that nobody confirms, and the second of the change; None if none follows."""
    is_now = status(fact, now, decay)
    limits = sorted({decay.unconfirmed_after, decay.drop_low_after, decay.stale_after})
    changes = ((status(fact, at, decay), at) for limit in limits if (at := fact.last_confirmed_at + limit + 1) > now)
    return next((change for change in changes if change[0] != is_now), None)


def decay(settings: Memory) -> Decay:
    """Returns the ageing limits of the configuration."""
    return Decay(settings.unconfirmed_after, settings.stale_after, settings.drop_low_after)
