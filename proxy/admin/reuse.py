"""Reused answers: what was decided about one, and that it was wrong.

    GET  /admin/api/reuse?scope=&before=&limit=   the reuse log of a scope, newest first; `next` is the `before` of the
                                                  next page; of the entries that were reused, those that were reported
                                                  as wrong
    GET  /admin/api/reuse/{id}              an entry and its lines of the log
    POST /admin/api/reuse/{id}/wrong        the entry is evicted, and needs more than it had to be reused again

The id is in the `x-olvido-reuse` header of every reused answer.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
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
    before = query.word("before")
    # As many are kept of a scope as can be read at once.
    kept_lines = await services.storage.reuse.recent(
        scope, limit + 1 if before is None else services.config.reuse.intent.log_rows
    )
    rest = kept_lines if before is None else _following(kept_lines, before)
    lines, after = rest[:limit], _named(rest[limit - 1]) if len(rest) > limit else None
    reused = {line.entry_id for line in lines if line.result == "hit"}
    entries = [await services.storage.reuse.get(scope, name) for name in sorted(reused)]
    reported = {kept.id: _report(kept) for kept in entries if kept is not None and kept.strikes}
    await call.answer(form.answered({"scope": scope, "log": _lines(lines), "reported": reported, "next": after}))


async def entry(call: Call, services: Services) -> None:
    found = await services.storage.reuse.find(call.parameters["id"])
    if found is None:
        raise _unknown(call)
    scope, kept = found
    lines = [line for line in await services.storage.reuse.recent(scope, MOST_LINES) if line.entry_id == kept.id]
    await call.answer(form.answered({"scope": scope, "entry": _entry(kept), "log": _lines(lines)}))


async def wrong(call: Call, services: Services) -> None:
    ended = await services.intent.reports.wrong(call.parameters["id"], time())
    if ended is None:
        raise _unknown(call)
    await call.answer(
        form.answered({"id": ended.id, "evicted": True, "min_cosine": ended.min_cosine, "strikes": ended.strikes})
    )


def _named(line: ReuseDecision) -> str:
    """The place of a line in its log, as `before` takes it."""
    return f"{line.at!r}~{blake2b(repr(line).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _following(lines: Sequence[ReuseDecision], before: str) -> Sequence[ReuseDecision]:
    """The lines after that place; where its line has left the log meanwhile, so have all that were older. Raises
    BadRequest."""
    if not re.fullmatch(r"[0-9.e+-]{1,30}~[0-9a-f]{16}", before):
        raise BadRequest("before is the `next` of the page before", param="before")
    place = next((number for number, line in enumerate(lines) if _named(line) == before), len(lines))
    return lines[place + 1 :]


def _unknown(call: Call) -> UnknownRoute:
    return UnknownRoute(f"There is no reuse entry {call.parameters['id'][:40]!r}.")


def _report(kept: ReuseEntry) -> Json:
    return {"min_cosine": kept.min_cosine, "strikes": kept.strikes, "evicted_at": kept.evicted_at}


def _entry(kept: ReuseEntry) -> Json:
    return {**asdict(kept), "evicted": kept.is_evicted}


def _lines(decisions: Sequence[ReuseDecision]) -> Json:
    return [asdict(line) for line in decisions]
