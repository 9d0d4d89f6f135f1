"""Reused answers: what was decided about one, and that it was wrong.

    GET  /admin/api/reuse?scope=S&limit=N   the reuse log of a scope, newest first
    GET  /admin/api/reuse/{id}              an entry and its lines of the log
    POST /admin/api/reuse/{id}/wrong        the entry is evicted, and needs more than it had to be reused again

The id is in the `x-olvido-reuse` header of every reused answer.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from time import time
from urllib.parse import parse_qs

import msgspec

from proxy.call import Call
from proxy.errors import BadRequest, UnknownRoute
from proxy.services import Services
from proxy.types import Answer, Json, ReuseDecision, ReuseEntry

MOST_LINES = 1_000
USUAL_LINES = 100


async def log(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    query = parse_qs(call.query)
    scope = query.get("scope", [""])[0]
    if not scope:
        raise BadRequest("Name the scope whose reuse log you want: ?scope=…", param="scope")
    limit = _limit(query.get("limit", [str(USUAL_LINES)])[0])
    await call.answer(_json({"scope": scope, "log": _lines(await services.reuse.recent(scope, limit))}))


async def entry(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    found = await services.reuse.find(call.parameters["id"])
    if found is None:
        raise _unknown(call)
    scope, kept = found
    lines = [line for line in await services.reuse.recent(scope, MOST_LINES) if line.entry_id == kept.id]
    await call.answer(_json({"scope": scope, "entry": _entry(kept), "log": _lines(lines)}))


async def wrong(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    ended = await services.intent.reports.wrong(call.parameters["id"], time())
    if ended is None:
        raise _unknown(call)
    await call.answer(
        _json({"id": ended.id, "evicted": True, "min_cosine": ended.min_cosine, "strikes": ended.strikes})
    )


def _unknown(call: Call) -> UnknownRoute:
    return UnknownRoute(f"There is no reuse entry {call.parameters['id'][:40]!r}.")


def _limit(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_LINES:
        raise BadRequest(f"limit is a number from 1 to {MOST_LINES}", param="limit")
    return int(given)


def _entry(kept: ReuseEntry) -> Json:
    return {**asdict(kept), "evicted": kept.is_evicted}


def _lines(decisions: Sequence[ReuseDecision]) -> Json:
    return [asdict(line) for line in decisions]


def _json(value: Json) -> Answer:
    return Answer(
        200, (("content-type", "application/json"), ("cache-control", "no-store")), msgspec.json.encode(value)
    )
