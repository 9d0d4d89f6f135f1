"""Reused answers: what was decided about one, and that it was wrong.

    GET  /admin/api/reuse?scope=S&limit=N   the reuse log of a scope, newest first; of the entries that were reused,
                                            those that were reported as wrong
    GET  /admin/api/reuse/{id}              an entry and its lines of the log
    POST /admin/api/reuse/{id}/wrong        the entry is evicted, and needs more than it had to be reused again

The id is in the `x-olvido-reuse` header of every reused answer.
"""

from collections.abc import Sequence
from dataclasses import asdict
from time import time

from proxy.admin import form
from proxy.call import Call
from proxy.errors import BadRequest, UnknownRoute
from proxy.services import Services
from proxy.types import Json, ReuseDecision, ReuseEntry

MOST_LINES = 1_000
USUAL_LINES = 100


async def log(call: Call, services: Services) -> None:
    query = form.Query(call)
    scope = query.word("scope")
    if scope is None:
        raise BadRequest("Name the scope whose reuse log you want: ?scope=…", param="scope")
    limit = query.whole("limit", USUAL_LINES, most=MOST_LINES)
    lines = await services.reuse.recent(scope, limit)
    reused = {line.entry_id for line in lines if line.result == "hit"}
    entries = [await services.reuse.get(scope, name) for name in sorted(reused)]
    reported = {kept.id: _report(kept) for kept in entries if kept is not None and kept.strikes}
    await call.answer(form.answered({"scope": scope, "log": _lines(lines), "reported": reported}))


async def entry(call: Call, services: Services) -> None:
    found = await services.reuse.find(call.parameters["id"])
    if found is None:
        raise _unknown(call)
    scope, kept = found
    lines = [line for line in await services.reuse.recent(scope, MOST_LINES) if line.entry_id == kept.id]
    await call.answer(form.answered({"scope": scope, "entry": _entry(kept), "log": _lines(lines)}))


async def wrong(call: Call, services: Services) -> None:
    ended = await services.intent.reports.wrong(call.parameters["id"], time())
    if ended is None:
        raise _unknown(call)
    await call.answer(
        form.answered({"id": ended.id, "evicted": True, "min_cosine": ended.min_cosine, "strikes": ended.strikes})
    )


def _unknown(call: Call) -> UnknownRoute:
    return UnknownRoute(f"There is no reuse entry {call.parameters['id'][:40]!r}.")


def _report(kept: ReuseEntry) -> Json:
    return {"min_cosine": kept.min_cosine, "strikes": kept.strikes, "evicted_at": kept.evicted_at}


def _entry(kept: ReuseEntry) -> Json:
    return {**asdict(kept), "evicted": kept.is_evicted}


def _lines(decisions: Sequence[ReuseDecision]) -> Json:
    return [asdict(line) for line in decisions]
