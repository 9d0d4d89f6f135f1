"""The ledger as the page shows it: sums over time and by what requests have in common, conversations, the live stream.

    GET /admin/api/summary?from=&to=&by=&scope=
            sums of a span of time, the last hour if none is named, by nothing, mechanism, model, upstream, source, plan
            or route; in points of a minute, an hour or a day, as the span is long, but for those in which nothing
            happened. It begins with a whole point: `from` says where. Requests to other routes than the managed one are
            in the sums `unmanaged` and `unmanaged_cost` alone
    GET /admin/api/live
            server-sent events. `requests`: the new ones, oldest first; `totals`: of the minute that runs, and of the
            last sixty; a comment now and then, so that nobody takes a quiet stream for a dead one. It ends when the
            client goes, and when the server stops: whoever watches connects again, to the next one
    GET /admin/api/sessions?scope=&before=&limit=&text=
            conversations whose last request was before a moment, latest first, each with its first question where
            contents may be shown. `text`: those alone that have every word in their first question or name; a page with
            fewer than asked for and a `next` has not looked at all of them
    GET /admin/api/sessions/{session}?scope=&before=
            one: its requests, oldest first, and the tree of its turns; of more than 500 requests the newest, `next` is
            the `before` of older ones. `attempts`: of requests that an SDK made again, the first try, by request

A name may be a conversation's in several scopes; without a scope the latest is meant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from time import perf_counter, time
from typing import Annotated, Literal

import msgspec

from proxy.admin.attempts import first_of_each
from proxy.admin.codec import (
    Asked,
    Moment,
    RowNumber,
    added_up,
    as_json,
    as_json_offloaded,
    page,
    row_json,
    sums_json,
    total,
)
from proxy.admin.finding import BUDGET, MOST_REQUESTS
from proxy.admin.parts import Admin
from proxy.admin.seeking import Sought, plain_line
from proxy.config import shows_content
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.storage.accounts import Dimension, Width
from proxy.types import Answer, Bucket, Headers, Json, SessionCard, Sums, TurnCard

HOUR, DAY = 3_600.0, 86_400.0
USUAL_SPAN, MOST_SPAN = HOUR, 20 * 366 * DAY
WIDTHS: tuple[tuple[float, Width], ...] = ((6 * HOUR, 60), (14 * DAY, 3_600), (MOST_SPAN, 86_400))  # up to which span

By = Literal["", "mechanism", "model", "upstream", "source", "plan", "route"]
LEFT_OUT = ("window", "capped", "tools", "elided", "pruned")
ADDED = ("summaries", "facts", "recall", "desk")

USUAL_SESSIONS, MOST_SESSIONS = 50, 200
SOUGHT = 500  # conversations that are looked at at once
LIVE_HEADERS: Headers = (
    ("content-type", "text/event-stream"),
    ("cache-control", "no-store"),
    ("x-accel-buffering", "no"),  # nginx would keep events until they fill a buffer
    ("x-content-type-options", "nosniff"),
)


# --- sums ---


class SummaryAsked(Asked, frozen=True):
    """Parameters of sums."""

    start: Moment | None = msgspec.field(default=None, name="from")
    to: Moment | None = None
    by: By = ""
    scope: str | None = None


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
    saved = (
        ("exact", exact, totals.saved_exact, totals.reused_exact),
        ("intent", intent, totals.saved_intent, totals.reused_intent),
        ("context", context, totals.saved_context - totals.added_context, totals.managed),
    )
    keys = ("name", "tokens_saved", "dollars_saved", "requests")
    others = ({"name": name, "tokens": getattr(totals, name)} for name in (*LEFT_OUT, *ADDED))
    return [*(dict(zip(keys, each, strict=True)) for each in saved), *others]


# --- conversations ---


class LiveAsked(Asked, frozen=True):
    """Parameters of the live stream."""

    scope: str | None = None


class SessionsAsked(Asked, frozen=True):
    """Parameters of the list of conversations."""

    scope: str | None = None
    before: Moment = 0.0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SESSIONS)] = USUAL_SESSIONS
    text: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class SessionAsked(Asked, frozen=True):
    """Parameters of a conversation."""

    scope: str | None = None
    before: RowNumber | None = None


async def live(call: Call, admin: Admin, asked: LiveAsked) -> Answer:
    """Answers with the live stream of requests and totals."""
    if call.method == "HEAD":
        return Answer(200, LIVE_HEADERS, b"")
    call.watch.start()
    listener = admin.feed.listen(asked.scope)
    call.watch.on_server_stop(listener.end)
    return Answer(200, LIVE_HEADERS, listener)


async def sessions(call: Call, admin: Admin, asked: SessionsAsked) -> Answer:
    """Answers with a page of the conversations."""
    services, until = admin.services, perf_counter() + BUDGET
    sought = None if asked.text is None else Sought.of(asked.text)
    found: list[tuple[SessionCard, str]] = []
    before, after = asked.before or None, None
    while True:
        cards, after = await _some_sessions(services, asked.scope, before, asked.limit if sought is None else SOUGHT)
        found += [each for each in cards if sought is None or sought.is_in(each[1], each[0].session)]
        if sought is None or after is None or len(found) >= asked.limit or perf_counter() > until:
            break
        before = after
    if len(found) > asked.limit:
        after = found[asked.limit - 1][0].last_at
    told = [
        asdict(card) | {"sums": sums_json(card.sums), "question": plain_line(question) or None}
        for card, question in found[: asked.limit]
    ]
    return as_json({"sessions": told, "next": after})


async def _some_sessions(
    services: Services, scope: str | None, before: float | None, limit: int
) -> tuple[list[tuple[SessionCard, str]], float | None]:
    """Returns conversations with their first questions, "" where they are not known or may not be shown; and the place
    of the last, if there are more."""
    accounts = services.storage.accounts
    cards, after = page(
        await accounts.sessions(scope=scope, before=before, limit=limit + 1), limit, lambda card: card.last_at
    )
    questions: Mapping[tuple[str, str], str] = {}
    if shows_content(services.config):
        questions = await accounts.questions({(card.scope, card.session) for card in cards})
    return [(card, questions.get((card.scope, card.session), "")) for card in cards], after


async def session(call: Call, admin: Admin, asked: SessionAsked) -> Answer:
    """Answers with the requests and the turns of a conversation."""
    services = admin.services
    name = call.parameters["session"]
    newest = await services.storage.accounts.rows(scope=asked.scope, session=name, limit=1)
    if not newest:
        raise UnknownRoute(f"There is no session {name[:40]!r}.")
    scope = newest[0][1].scope
    rows = await services.storage.accounts.rows(scope=scope, session=name, before=asked.before, limit=MOST_REQUESTS + 1)
    found, after = page(rows, MOST_REQUESTS, lambda each: each[0])
    cards = await services.storage.accounts.turns(scope, name)
    with_text = shows_content(services.config)

    def told() -> Json:
        theirs = [row_json(number, row, whole=True) for number, row in reversed(found)]
        turns = [_turn(card, with_text=with_text) for card in cards]
        tried = first_of_each([row for _, row in reversed(found)])
        asked_first = plain_line(next((card.begins for card in cards if card.begins), "")) if with_text else ""
        head = {"scope": scope, "session": name, "question": asked_first or None, "next": after}
        return {**head, "requests": theirs, "turns": turns, "attempts": tried}

    return await as_json_offloaded(services, told)


def _turn(card: TurnCard, *, with_text: bool) -> Json:
    told = {"link": card.link.hex(), "parent": card.parent.hex(), "turn": card.turn, "at": card.at}
    return {**told, "begins": card.begins} if with_text else told
