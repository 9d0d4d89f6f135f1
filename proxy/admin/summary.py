"""Sums of requests, over time and by what they have in common.

    GET /admin/api/scopes?before=&limit=                    who asks, and when each was last heard of, latest first;
                                                            `next` is the `before` of the next page
    GET /admin/api/summary?from=&to=&by=&scope=             sums of a span of time, the last hour if none is named

`by` is nothing, mechanism, model, upstream, source or plan. Points are a minute, an hour or a day wide, as the span is
long; one in which nothing happened is left out. A span begins with a whole point: `from` says where.
"""

from collections.abc import Iterable, Mapping
from time import time
from typing import Annotated, Literal

import msgspec

from proxy.admin.codec import Asked, Moment, added_up, as_json, as_json_offloaded, page, sums_json, total
from proxy.admin.parts import Admin
from proxy.errors import BadRequest
from proxy.http.exchange import Call
from proxy.storage.base import Dimension, Width
from proxy.types import Answer, Bucket, Json, Sums

HOUR, DAY = 3_600.0, 86_400.0
USUAL_SPAN = HOUR
USUAL_SCOPES, MOST_SCOPES = 200, 1_000
MOST_SPAN = 20 * 366 * DAY
WIDTHS: tuple[tuple[float, Width], ...] = ((6 * HOUR, 60), (14 * DAY, 3_600), (MOST_SPAN, 86_400))  # up to which span

By = Literal["", "mechanism", "model", "upstream", "source", "plan"]
LEFT_OUT = ("window", "capped", "tools", "elided")
ADDED = ("summaries", "facts", "recall")


class ScopesAsked(Asked, frozen=True):
    """Parameters of the list of scopes."""

    before: Moment = 0.0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SCOPES)] = USUAL_SCOPES


class SummaryAsked(Asked, frozen=True):
    """Parameters of sums."""

    start: Moment | None = msgspec.field(default=None, name="from")
    to: Moment | None = None
    by: By = ""
    scope: str | None = None


async def scopes(call: Call, admin: Admin, asked: ScopesAsked) -> Answer:
    """Answers with a page of the scopes."""
    found = await admin.services.storage.accounts.scopes(asked.limit + 1, before=asked.before or None)
    listed, after = page(found, asked.limit, lambda each: each[1])
    return as_json({"scopes": [{"scope": scope, "last_at": at} for scope, at in listed], "next": after})


async def summary(call: Call, admin: Admin, asked: SummaryAsked) -> Answer:
    """Answers with the sums of a span of time."""
    end = time() if asked.to is None else asked.to
    start = max(end - USUAL_SPAN, 0.0) if asked.start is None else asked.start
    if not start < end <= start + MOST_SPAN:
        raise BadRequest("from is before to, by twenty years at most", param="from")
    width = point_width(end - start)
    start -= start % width
    by: Dimension = "source" if asked.by == "mechanism" else asked.by
    buckets = await admin.services.storage.accounts.buckets(start, end, width, asked.scope, by)
    head = {"from": start, "to": end, "width": width, "by": asked.by}
    # Hours of many models come to thousands of sums.
    return await as_json_offloaded(admin.services, lambda: head | summary_of(buckets, asked.by))


def point_width(span: float) -> Width:
    """The width of a point of a chart over `span` seconds, in seconds."""
    return next((width for most, width in WIDTHS if span <= most), WIDTHS[-1][1])


def summary_of(buckets: Iterable[Bucket], by: By) -> dict[str, Json]:
    """Builds totals, groups and points. `buckets` are named by what `by` asks for, or by source for mechanisms."""
    buckets = tuple(buckets)
    named = added_up((each.name, each.sums) for each in buckets)
    totals = total(named.values())
    if by == "mechanism":
        return {"totals": sums_json(totals), "groups": _mechanisms(named, totals), "points": _points(buckets)}
    if not by:
        return {"totals": sums_json(totals), "groups": [], "points": _points(buckets)}
    points = [{"at": each.at, "name": each.name, "sums": sums_json(each.sums)} for each in buckets]
    return {"totals": sums_json(totals), "groups": _groups(named), "points": points}


def _groups(named: Mapping[str, Sums]) -> list[Json]:
    """The dearest first."""
    ordered = sorted(named.items(), key=lambda each: (-each[1].cost, -each[1].requests, each[0]))
    return [{"name": name, "sums": sums_json(sums)} for name, sums in ordered]


def _points(buckets: Iterable[Bucket]) -> list[Json]:
    moments = added_up((each.at, each.sums) for each in buckets)
    return [{"at": at, "sums": sums_json(moments[at])} for at in sorted(moments)]


def _mechanisms(sources: Mapping[str, Sums], totals: Sums) -> list[Json]:
    """The mechanisms that save, with what each has saved; then what context management left out, and added."""
    exact, intent = (sources.get(name, Sums()).tokens_reused for name in ("exact", "intent"))
    context = totals.tokens_original - totals.tokens_sent
    return [
        _saver("exact", exact, totals.saved_exact, totals.reused_exact),
        _saver("intent", intent, totals.saved_intent, totals.reused_intent),
        _saver("context", context, totals.saved_context - totals.added_context, totals.managed),
        *({"name": name, "tokens": getattr(totals, name)} for name in (*LEFT_OUT, *ADDED)),
    ]


def _saver(name: str, tokens: int, dollars: float, requests: int) -> Json:
    return {"name": name, "tokens_saved": tokens, "dollars_saved": dollars, "requests": requests}
