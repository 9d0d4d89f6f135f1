"""Sums: what requests came to, over time and by what they have in common.

    GET /admin/api/scopes?before=&limit=                    who asks, and when each was last heard of, latest first;
                                                            `next` is the `before` of the next page
    GET /admin/api/summary?from=&to=&by=&scope=             sums of a span of time, the last hour if none is named

`by` is nothing, mechanism, model, upstream, source or plan. Points are a minute, an hour or a day wide, as the span is
long; one in which nothing happened is left out. A span begins with a whole point: `from` says where.
"""

from collections.abc import Iterable, Mapping
from time import time

from proxy.admin import form
from proxy.admin.rows import added_up, summed, total
from proxy.call import Call
from proxy.errors import BadRequest
from proxy.services import Services
from proxy.storage.accounts import Dimension, Width
from proxy.types import Bucket, Json, Sums

HOUR, DAY = 3_600.0, 86_400.0
USUAL_SPAN = HOUR
USUAL_SCOPES, MOST_SCOPES = 200, 1_000
MOST_SPAN = 20 * 366 * DAY
WIDTHS: tuple[tuple[float, Width], ...] = ((6 * HOUR, 60), (14 * DAY, 3_600), (MOST_SPAN, 86_400))  # up to which span

# What is asked for: by what the storage adds up.
_DIMENSIONS: Mapping[str, Dimension] = {
    "": "",
    "mechanism": "source",
    "model": "model",
    "upstream": "upstream",
    "source": "source",
    "plan": "plan",
}
BY = tuple(_DIMENSIONS)
LEFT_OUT = ("window", "capped", "tools", "elided")
ADDED = ("summaries", "facts", "recall")


async def scopes(call: Call, services: Services) -> None:
    query = form.Query(call)
    limit = query.whole("limit", USUAL_SCOPES, most=MOST_SCOPES)
    found = await services.storage.accounts.scopes(limit + 1, before=query.moment("before", 0.0) or None)
    told = [{"scope": scope, "last_at": at} for scope, at in found[:limit]]
    after = found[limit - 1][1] if len(found) > limit else None
    await call.answer(form.answered({"scopes": told, "next": after}))


async def summary(call: Call, services: Services) -> None:
    query = form.Query(call)
    end = query.moment("to", time())
    start = query.moment("from", max(end - USUAL_SPAN, 0.0))
    by = query.choice("by", BY)
    if not start < end <= start + MOST_SPAN:
        raise BadRequest("from is before to, by twenty years at most", param="from")
    width = wide(end - start)
    start -= start % width
    buckets = await services.storage.accounts.buckets(start, end, width, query.word("scope"), _DIMENSIONS[by])
    head = {"from": start, "to": end, "width": width, "by": by}
    # Hours of many models come to thousands of sums.
    await call.answer(await form.made(services, lambda: head | summary_of(buckets, by)))


def wide(span: float) -> Width:
    """Seconds of a point."""
    return next((width for most, width in WIDTHS if span <= most), WIDTHS[-1][1])


def summary_of(buckets: Iterable[Bucket], by: str) -> dict[str, Json]:
    """Totals, groups and points. `buckets` are named by what `by` asks for, or by source for mechanisms."""
    buckets = tuple(buckets)
    named = added_up((each.name, each.sums) for each in buckets)
    totals = total(named.values())
    if by == "mechanism":
        return {"totals": summed(totals), "groups": _mechanisms(named, totals), "points": _points(buckets)}
    if not by:
        return {"totals": summed(totals), "groups": [], "points": _points(buckets)}
    points = [{"at": each.at, "name": each.name, "sums": summed(each.sums)} for each in buckets]
    return {"totals": summed(totals), "groups": _groups(named), "points": points}


def _groups(named: Mapping[str, Sums]) -> list[Json]:
    """The dearest first."""
    ordered = sorted(named.items(), key=lambda each: (-each[1].cost, -each[1].requests, each[0]))
    return [{"name": name, "sums": summed(sums)} for name, sums in ordered]


def _points(buckets: Iterable[Bucket]) -> list[Json]:
    moments = added_up((each.at, each.sums) for each in buckets)
    return [{"at": at, "sums": summed(moments[at])} for at in sorted(moments)]


def _mechanisms(sources: Mapping[str, Sums], totals: Sums) -> list[Json]:
    """What saves, each with what it has saved; then what context management left out, and what it added."""
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
