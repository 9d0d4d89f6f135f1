"""Conversations.

    GET /admin/api/sessions?scope=&before=&limit=   whose last request was before a moment, latest first
    GET /admin/api/sessions/{session}?scope=&before=
                                                    one: its requests, oldest first, and the tree of its turns; of more
                                                    than 500 requests the newest, `next` is the `before` of older ones

A name may be a conversation's in several scopes; without a scope the latest is meant.
"""

from proxy.admin import form, rows
from proxy.call import Call
from proxy.config.rules import shows_content
from proxy.errors import UnknownRoute
from proxy.services import Services
from proxy.types import Json, TurnCard

USUAL_SESSIONS, MOST_SESSIONS = 50, 200
MOST_REQUESTS = 500
MOST_NUMBER = 2**63 - 1  # of SQLite


async def listed(call: Call, services: Services) -> None:
    query = form.Query(call)
    limit = query.whole("limit", USUAL_SESSIONS, most=MOST_SESSIONS)
    before = query.moment("before", 0.0) or None
    found = await services.storage.accounts.sessions(scope=query.word("scope"), before=before, limit=limit + 1)
    cards = [
        {
            "scope": card.scope,
            "session": card.session,
            "first_at": card.first_at,
            "last_at": card.last_at,
            "sums": rows.summed(card.sums),
        }
        for card in found[:limit]
    ]
    more = len(found) > limit
    await call.answer(form.answered({"sessions": cards, "next": found[limit - 1].last_at if more else None}))


async def shown(call: Call, services: Services) -> None:
    query = form.Query(call)
    session, scope = call.parameters["session"], query.word("scope")
    before = query.whole("before", 0, most=MOST_NUMBER) or None
    newest = await services.storage.accounts.rows(scope=scope, session=session, limit=1)
    if not newest:
        raise UnknownRoute(f"There is no session {session[:40]!r}.")
    scope = newest[0][1].scope
    rest = await services.storage.accounts.rows(scope=scope, session=session, before=before, limit=MOST_REQUESTS + 1)
    found = rest[:MOST_REQUESTS]
    after = found[-1][0] if len(rest) > MOST_REQUESTS else None
    cards = await services.storage.accounts.turns(scope, session)
    with_text = shows_content(services.config)

    def told() -> Json:
        theirs = [rows.told(number, row, whole=True) for number, row in reversed(found)]
        turns = [_turn(card, with_text=with_text) for card in cards]
        return {"scope": scope, "session": session, "requests": theirs, "turns": turns, "next": after}

    await call.answer(await form.made(services, told))


def _turn(card: TurnCard, *, with_text: bool) -> Json:
    told: dict[str, Json] = {
        "link": card.link.hex(),
        "parent": card.parent.hex(),
        "turn": card.turn,
        "at": card.at,
    }
    return told | {"begins": card.begins} if with_text else told
