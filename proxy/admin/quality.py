"""Quality of managed answers, beside those of the same request as it was: whether it has held.

    GET /admin/api/quality?from=&to=&scope=
            the share that has held, its 95 % interval, and how many pairs it is of; what comparing has cost, and what
            may be spent today. The last 30 days if no span is named. `is_on`: false where nothing is compared
    GET /admin/api/quality/pairs?scope=&only=&before=&limit=
            pairs, newest first, without their texts; `only=lost`: those whose answer has not held
    GET /admin/api/quality/pairs/{id}?scope=
            the pair of a request, with both answers where contents are shown

What is shown here is an estimate, and says of how many pairs. A key sees the pairs of its own scopes; what comparing
may cost on a day is everybody's, and told to an administrator alone.
"""

from dataclasses import asdict
from time import time
from typing import Annotated, Literal

import msgspec

from proxy.admin.codec import Asked, Moment, RowNumber, as_json, page
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.quality.held import held
from proxy.types import Answer, Json
from proxy.types.quality import QualityPair

SPAN = 30 * 86_400.0  # seconds
USUAL_PAIRS, MOST_PAIRS = 50, 200


class HeldAsked(Asked, frozen=True):
    """Parameters of the share."""

    start: Moment | None = msgspec.field(default=None, name="from")
    to: Moment | None = None
    scope: str | None = None


class PairsAsked(Asked, frozen=True):
    """Parameters of the list."""

    scope: str | None = None
    only: Literal["", "lost"] = ""
    before: RowNumber | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_PAIRS)] = USUAL_PAIRS


class PairAsked(Asked, frozen=True):
    """Parameters of one pair."""

    scope: str | None = None


async def share(call: Call, admin: Admin, asked: HeldAsked) -> Answer:
    """Answers with the share that has held."""
    now = time()
    end = now if asked.to is None else asked.to
    start = max(0.0, end - SPAN) if asked.start is None else asked.start
    if not start < end:
        raise BadRequest("from is before to", param="from")
    config, store = admin.services.config.quality, admin.services.storage.quality
    sums = await store.sums(start, end, asked.scope)
    told = {
        "is_on": admin.services.mirror is not None,
        "from": start,
        "to": end,
        **asdict(held(sums.pairs, sums.held)),
        "cost": sums.cost,
    }
    if config is not None and asked.scope is None:
        judge = None if config.judge is None else config.judge.model
        told |= {"spent_today": await store.spent(now), "max_spend": config.max_spend, "judge": judge}
        told |= {"sampled": config.share}
    return as_json(told)


async def pairs(call: Call, admin: Admin, asked: PairsAsked) -> Answer:
    """Answers with a page of pairs."""
    found = await admin.services.storage.quality.recent(
        scope=asked.scope, before=asked.before, limit=asked.limit + 1, only_lost=asked.only == "lost"
    )
    listed, after = page(found, asked.limit, lambda each: each[0])
    return as_json({"pairs": [_pair(pair) for _, pair in listed], "next": after})


async def pair(call: Call, admin: Admin, asked: PairAsked) -> Answer:
    """Answers with one pair."""
    request = call.parameters["id"]
    found = await admin.services.storage.quality.get(request, asked.scope)
    if found is None:
        raise UnknownRoute(f"No request {request[:60]!r} was asked twice.")
    is_shown = shows_content(admin.services.config)
    texts = {name: getattr(found, name) for name in ("question", "managed", "original", "verdict")}
    has_texts = is_shown and any(texts.values())
    return as_json({**_pair(found), "has_texts": has_texts, **(texts if has_texts else {})})


def _pair(pair: QualityPair) -> Json:
    told = {
        name: getattr(pair, name)
        for name in ("scope", "session", "at", "model", "upstream", "saved", "cost", "tokens_original", "tokens_sent")
    }
    comparison = pair.comparison
    decided = {"held": comparison.held, "reason": comparison.reason, "way": comparison.way}
    return {"request_id": pair.request_id, **told, **decided, "measures": asdict(comparison.measures)}
