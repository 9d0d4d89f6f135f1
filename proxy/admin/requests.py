"""Requests and conversations from the ledger.

    GET /admin/api/requests?scope=&session=&before=&limit=   newest first; `next` is the `before` of the next page
    GET /admin/api/requests/{id}?scope=                      how its prompt came to be: what of each message was sent,
                                                             and why; with texts while they are kept
    GET /admin/api/live                                      server-sent events. `requests`: the new ones, oldest first;
                                                             `totals`: of the minute that runs, and of the last sixty; a
                                                             comment now and then, so that nobody takes a quiet stream
                                                             for a dead one
    GET /admin/api/sessions?scope=&before=&limit=            conversations whose last request was before a moment,
                                                             latest first
    GET /admin/api/sessions/{session}?scope=&before=         one: its requests, oldest first, and the tree of its turns;
                                                             of more than 500 requests the newest, `next` is the
                                                             `before` of older ones

A name may be a conversation's in several scopes; without a scope the latest is meant. The live stream ends when the
client goes, and when the server stops: whoever watches connects again, to the next one.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

import msgspec

from proxy.admin.codec import Asked, Moment, RowNumber, as_json, as_json_offloaded, page, row_json, sums_json
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.context import fates
from proxy.context.fates import ExplainedMessage
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.edge import KEYS
from proxy.http.exchange import Call
from proxy.protocol.request import message_of, parse, unpacked
from proxy.types import Answer, Contents, Headers, Json, LedgerRow, Message, TurnCard

log = logging.getLogger(__name__)

USUAL_REQUESTS, MOST_REQUESTS = 50, 500
USUAL_SESSIONS, MOST_SESSIONS = 50, 200
LIVE_HEADERS: Headers = (
    ("content-type", "text/event-stream"),
    ("cache-control", "no-store"),
    ("x-accel-buffering", "no"),  # nginx would keep events until they fill a buffer
    ("x-content-type-options", "nosniff"),
)


class RequestsAsked(Asked, frozen=True):
    """Parameters of the list of requests."""

    scope: str | None = None
    session: str | None = None
    before: RowNumber | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_REQUESTS)] = USUAL_REQUESTS


class RequestAsked(Asked, frozen=True):
    """Parameters of a request."""

    scope: str | None = None


class SessionsAsked(Asked, frozen=True):
    """Parameters of the list of conversations."""

    scope: str | None = None
    before: Moment = 0.0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SESSIONS)] = USUAL_SESSIONS


class SessionAsked(Asked, frozen=True):
    """Parameters of a conversation."""

    scope: str | None = None
    before: RowNumber | None = None


async def listed(call: Call, admin: Admin, asked: RequestsAsked) -> Answer:
    """Answers with a page of the ledger."""
    rows = await admin.services.storage.accounts.rows(
        scope=asked.scope, session=asked.session, before=asked.before, limit=asked.limit + 1
    )
    found, after = page(rows, asked.limit, lambda each: each[0])
    return await as_json_offloaded(
        admin.services, lambda: {"requests": [row_json(number, row) for number, row in found], "next": after}
    )


async def shown(call: Call, admin: Admin, asked: RequestAsked) -> Answer:
    """Answers with one request, and the fate of each of its messages."""
    services = admin.services
    request_id = call.parameters["id"]
    row = await services.storage.accounts.row(request_id, asked.scope)
    if row is None:
        raise UnknownRoute(f"There is no request {request_id[:40]!r}.")
    contents: Contents | None = None
    if shows_content(services.config):
        contents = await services.storage.contents.get(row.scope, row.request_id)
    call.watch.start()
    return await as_json_offloaded(services, partial(_looked_into, row, contents, services.counter.message))


def _looked_into(row: LedgerRow, contents: Contents | None, tokens: Callable[[Message], int]) -> Json:
    request = {"request": row_json(None, row, whole=True)}
    if contents is None:
        return {**request, **NOTHING_KEPT}
    try:
        return {**request, **explained(row, contents, tokens)}
    except (BadRequest, ValueError):  # a body that was recorded is one that was read; its rules may have changed since
        log.warning("a kept request can't be read", extra={"request": row.request_id})
        return {**request, **NOTHING_KEPT}


async def live(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with the live stream of requests and totals."""
    if call.method == "HEAD":
        return Answer(200, LIVE_HEADERS, b"")
    call.watch.start()
    listener = admin.feed.listen()
    call.watch.on_server_stop(listener.end)
    return Answer(200, LIVE_HEADERS, listener)


async def sessions(call: Call, admin: Admin, asked: SessionsAsked) -> Answer:
    """Answers with a page of the conversations."""
    cards = await admin.services.storage.accounts.sessions(
        scope=asked.scope, before=asked.before or None, limit=asked.limit + 1
    )
    found, after = page(cards, asked.limit, lambda card: card.last_at)
    told = [
        {
            "scope": card.scope,
            "session": card.session,
            "first_at": card.first_at,
            "last_at": card.last_at,
            "sums": sums_json(card.sums),
        }
        for card in found
    ]
    return as_json({"sessions": told, "next": after})


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
        return {"scope": scope, "session": name, "requests": theirs, "turns": turns, "next": after}

    return await as_json_offloaded(services, told)


def _turn(card: TurnCard, *, with_text: bool) -> Json:
    told = {"link": card.link.hex(), "parent": card.parent.hex(), "turn": card.turn, "at": card.at}
    return {**told, "begins": card.begins} if with_text else told


NOTHING_KEPT: Mapping[str, Json] = {
    "has_content": False,
    "messages": [],
    "head": "",
    "volatile": "",
    "sent": [],
    "answer": None,
    "headers": {},
}

_SECRET = KEYS | {"cookie", "proxy-authorization"}


def explained(row: LedgerRow, contents: Contents, tokens: Callable[[Message], int]) -> Mapping[str, Json]:
    """Explains a request message by message. `tokens` counts those of a message. Raises BadRequest if the body is none,
    and ValueError if the fates can't be read."""
    request = parse(contents.body)
    sent = unpacked(contents.sent) if contents.sent else None
    found = fates.explained(request.messages, fates.unpack(contents.fates) if contents.fates else None, tokens)
    went = (sent or request.messages) if row.source == "upstream" else ()
    return {
        "has_content": True,
        "messages": [_message(seen, said) for seen, said in zip(found.messages, request.messages, strict=True)],
        "head": found.head,
        "volatile": found.volatile,
        "sent": [{"role": said.role, "text": said.text} for said in went],
        "answer": (answer.text or None) if (answer := message_of(contents.answer)) is not None else None,
        # They are not among those that are kept. Should that ever change, they are not shown.
        "headers": {name: value for name, value in contents.headers.items() if name.lower() not in _SECRET},
    }


def _message(seen: ExplainedMessage, said: Message) -> Json:
    return {
        "index": seen.index,
        "role": seen.role,
        "tokens": seen.tokens,
        "fate": seen.fate,
        "why": seen.why,
        "text": said.text or None,
        "images": sum(part.kind == "image" for part in said.parts),
        "calls": [{"name": call.name, "arguments": call.arguments or ""} for call in said.tool_calls],
    }
