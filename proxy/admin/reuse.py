"""Reused answers, for whoever runs the proxy: the log of decisions, and reports that an answer was wrong.

    GET    /admin/api/reuse?scope=&before=&limit=
            the reuse log of a scope, newest first; of the entries that were reused, those that were reported as wrong
    GET    /admin/api/reuse/{id}
            an entry and its lines of the log
    POST   /admin/api/reuse/{id}/wrong
            the entry is evicted, and needs more than it had to be reused again

The id of an entry is in the `x-olvido-reuse` header of every reused answer.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from time import time
from typing import Annotated

import msgspec

from proxy.admin.codec import Asked, as_json, page
from proxy.admin.parts import Admin
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.types import Answer, Json, ReuseDecision, ReuseEntry

MOST_RETURNED = 50  # conversations that one report returns to pass-through
MOST_LINES = 1_000
USUAL_LINES = 100


class LogAsked(Asked, frozen=True):
    """Parameters of the reuse log."""

    scope: str
    before: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_LINES)] = USUAL_LINES


async def reuse_log(call: Call, admin: Admin, asked: LogAsked) -> Answer:
    """Answers with a page of the log of a scope."""
    services = admin.services
    # As many are kept of a scope as can be read at once.
    most = asked.limit + 1 if asked.before is None else services.config.reuse.intent.log_rows
    kept_lines = await services.storage.reuse.recent(asked.scope, most)
    rest = kept_lines if asked.before is None else _following(kept_lines, asked.before)
    lines, after = page(rest, asked.limit, _line_name)
    reused = {line.entry_id for line in lines if line.result == "hit"}
    entries = [await services.storage.reuse.get(asked.scope, name) for name in sorted(reused)]
    reported = {kept.id: _report(kept) for kept in entries if kept is not None and kept.strikes}
    return as_json({"scope": asked.scope, "log": lines, "reported": reported, "next": after})


async def reuse_entry(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with an entry and its lines of the log."""
    found = await admin.services.storage.reuse.find(call.parameters["id"])
    if found is None:
        raise _unknown(call)
    scope, kept = found
    lines = [line for line in await admin.services.storage.reuse.recent(scope, MOST_LINES) if line.entry_id == kept.id]
    return as_json({"scope": scope, "entry": {**asdict(kept), "evicted": kept.is_evicted}, "log": lines})


async def report_wrong(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Takes the report that an answer was wrong."""
    services, entry = admin.services, call.parameters["id"]
    known = await services.storage.reuse.find(entry)
    ended = await services.intent.reports.wrong(entry, time())
    if ended is None or known is None:
        raise _unknown(call)
    await _give_back(services, known[0], entry)
    return as_json({"id": ended.id, "evicted": True, "min_cosine": ended.min_cosine, "strikes": ended.strikes})


async def _give_back(services: Services, scope: str, entry: str) -> None:
    """Returns the conversations to pass-through that the entry has answered lately."""
    lines = await services.storage.reuse.recent(scope, MOST_LINES)
    answered = [line.request_id for line in lines if line.entry_id == entry and line.result == "hit"]
    for request_id in answered[:MOST_RETURNED]:
        row = await services.storage.accounts.row(request_id, scope)
        if row is not None:
            services.rollout.give_back(scope, row.session, "reported")


def _line_name(line: ReuseDecision) -> str:
    """The place of a line in its log, as `before` takes it."""
    return f"{line.at!r}~{blake2b(repr(line).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _following(lines: Sequence[ReuseDecision], before: str) -> Sequence[ReuseDecision]:
    """The lines after that place; where its line has left the log meanwhile, so have all that were older. Raises
    BadRequest."""
    if not re.fullmatch(r"[0-9.e+-]{1,30}~[0-9a-f]{16}", before):
        raise BadRequest("before is the `next` of the page before", param="before")
    place = next((number for number, line in enumerate(lines) if _line_name(line) == before), len(lines))
    return lines[place + 1 :]


def _unknown(call: Call) -> UnknownRoute:
    return UnknownRoute(f"There is no reuse entry {call.parameters['id'][:40]!r}.")


def _report(kept: ReuseEntry) -> Json:
    return {"min_cosine": kept.min_cosine, "strikes": kept.strikes, "evicted_at": kept.evicted_at}
