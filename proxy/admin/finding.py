"""Requests as a list: filtered and searched.

    GET /admin/api/requests?scope=&session=&before=&limit=&model=&route=&source=&plan=&unmanaged=&failed=&dearer=
                            &since=&until=&text=&questions=
            newest first; `next` is the `before` of the next page. Filters are those of `RowFilter`: `failed`, `dearer`
            and `unmanaged` are true or false. `text`: every word is in its newest question, its answer, its id, or the
            name of its conversation; contents are searched where they are kept and may be shown. An answer takes a
            fifth of a second at most: a page with fewer requests than asked for and a `next` has not looked at all of
            them, `looked_back_to` says how far it has. `questions=true`: with each one's newest question

A request comes with the first question of its conversation, where contents may be shown.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated

import msgspec

from proxy.admin.codec import Asked, Moment, RowNumber, as_json_offloaded, listed_json
from proxy.admin.parts import Admin
from proxy.admin.seeking import Sought, plain_line
from proxy.config import shows_content
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.protocol.newest import answer_text, newest_question
from proxy.types import ANY_ROW, Answer, Contents, Json, LedgerRow, PlanKind, RowFilter, Source

USUAL_REQUESTS, MOST_REQUESTS = 50, 500
SCANNED = 20_000  # rows that one statement looks at for a filter
BUDGET = 0.1  # seconds after which a search is told as far as it is
CHUNK, MOST_CHUNK = 25, 200  # requests whose contents are read at once
CHUNK_BYTES = 4 * 2**20  # of a chunk; larger ones have fewer requests
QUESTION = 160  # characters of a question in a list

Rows = Sequence[tuple[int, LedgerRow]]
Key = tuple[str, str]  # scope and request


class Wanted(Asked, frozen=True):
    """Parameters of requests that are filtered and searched."""

    scope: str | None = None
    session: str | None = None
    model: str | None = None
    route: str | None = None
    source: Source | None = None
    plan: PlanKind | None = None
    unmanaged: bool | None = None
    failed: bool | None = None
    dearer: bool | None = None
    since: Moment | None = None
    until: Moment | None = None
    text: Annotated[str, msgspec.Meta(max_length=200)] | None = None

    @property
    def like(self) -> RowFilter:
        """The condition on rows."""
        return RowFilter(
            model=self.model,
            route=self.route,
            source=self.source,
            plan=self.plan,
            unmanaged=self.unmanaged,
            failed=self.failed,
            dearer=self.dearer,
            since=self.since,
            until=self.until,
        )


class RequestsAsked(Wanted, frozen=True):
    """Parameters of a page of them."""

    before: RowNumber | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_REQUESTS)] = USUAL_REQUESTS
    questions: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A request of a list, with what its contents say. None: they are not kept, or not asked for."""

    number: int
    row: LedgerRow
    question: str | None = None
    excerpt: str | None = None  # where a search has found it


class Scan:
    """A walk over the rows that are wanted, newest first, a chunk at a time."""

    def __init__(self, services: Services, wanted: Wanted, before: int | None) -> None:
        self._accounts = services.storage.accounts
        self._wanted = wanted
        self._before = before
        self._first = 0
        self.top: int | None = None  # no row from this number on is left; None: it has not begun

    async def begin(self) -> None:
        """Finds out where the span begins and ends."""
        wanted, accounts = self._wanted, self._accounts
        top = self._before or await accounts.last() + 1
        # Rows are not quite in the order of time: one is written at its end, or once a database is back.
        if wanted.until is not None:
            top = min(top, await accounts.number_at(wanted.until) + SCANNED)
        if wanted.since is not None:
            self._first = await accounts.number_at(wanted.since) - SCANNED
        self.top = top

    def is_over(self) -> bool:
        """True if there is nothing left to look at."""
        return self.top is not None and self.top <= max(self._first, 1)

    async def next(self, size: int) -> Rows:
        """Returns the next rows, `size` at most; fewer where no more were found in as many rows as are looked at."""
        assert self.top is not None, "it has not begun"
        wanted = self._wanted
        floor = max(self._first, self.top - SCANNED)
        rows = await self._accounts.rows(
            scope=wanted.scope,
            session=wanted.session,
            before=self.top,
            limit=size,
            like=wanted.like,
            first=floor,
        )
        self.top = rows[-1][0] if len(rows) == size else floor
        return rows


async def requests(call: Call, admin: Admin, asked: RequestsAsked) -> Answer:
    """Answers with a page of the ledger."""
    services = admin.services
    found, after = await (_page if asked.like == ANY_ROW and asked.text is None else _sought)(services, asked)
    shown = shows_content(services.config)
    if asked.questions and shown and asked.text is None:
        found = await _with_questions(services, found)
    named: Mapping[Key, str] = {}
    if shown:
        named = await services.storage.accounts.questions({(each.row.scope, each.row.session) for each in found})
    looked_back_to: float | None = None
    if after is not None and len(found) < asked.limit:
        oldest = await services.storage.accounts.rows(scope=asked.scope, before=after + 1, limit=1)
        looked_back_to = oldest[0][1].at if oldest else None

    def told() -> Json:
        rows = [listed(each, named) for each in found]
        return {"requests": rows, "next": after, "looked_back_to": looked_back_to}

    return await as_json_offloaded(services, told)


def listed(found: Found, named: Mapping[Key, str]) -> dict[str, Json]:
    """Encodes a request of a list. `named`: first questions of conversations."""
    told = listed_json(found.number, found.row, named)
    if found.question is not None:
        told["question"] = plain_line(found.question[: 4 * QUESTION])[:QUESTION]
    if found.excerpt is not None:
        told["excerpt"] = found.excerpt
    return told


async def _page(services: Services, asked: RequestsAsked) -> tuple[list[Found], int | None]:
    rows = await services.storage.accounts.rows(
        scope=asked.scope, session=asked.session, before=asked.before, limit=asked.limit + 1
    )
    after = rows[asked.limit - 1][0] if len(rows) > asked.limit else None
    return [Found(*each) for each in rows[: asked.limit]], after


async def _sought(services: Services, asked: RequestsAsked) -> tuple[list[Found], int | None]:
    """Returns what was found within the budget, and the number from which to go on, if not all was looked at."""
    until = perf_counter() + BUDGET
    scan = Scan(services, asked, asked.before)
    await scan.begin()
    found: list[Found] = []
    size = CHUNK if asked.text is not None else asked.limit
    while not scan.is_over():
        rows = await scan.next(size)
        matching, read = await matched(services, rows, asked.text)
        found += matching
        if len(found) >= asked.limit:
            last = found[asked.limit - 1].number
            return found[: asked.limit], None if scan.is_over() and len(found) == asked.limit else last
        if perf_counter() > until:
            break
        if asked.text is not None:
            size = CHUNK if read > CHUNK_BYTES else min(2 * size, MOST_CHUNK)
    return found, None if scan.is_over() else scan.top


async def matched(services: Services, rows: Rows, text: str | None) -> tuple[list[Found], int]:
    """Returns the requests in which a text is found, all if there is none to be sought, and the bytes that were
    read."""
    if text is None or not rows:
        return [Found(*each) for each in rows], 0
    contents = await contents_of(services, rows)
    sessions: Mapping[Key, str] = {}
    if shows_content(services.config):
        sessions = await services.storage.accounts.questions({(row.scope, row.session) for _, row in rows})
    sought = Sought.of(text)

    def compared() -> list[Found]:
        each = (_compared(number, row, contents, sessions, sought) for number, row in rows)
        return [found for found in each if found is not None]

    found = await asyncio.get_running_loop().run_in_executor(services.executor, compared)
    return found, sum(len(each.body) for each in contents.values())


def _compared(
    number: int, row: LedgerRow, contents: Mapping[Key, Contents], sessions: Mapping[Key, str], sought: Sought
) -> Found | None:
    said = contents.get((row.scope, row.request_id))
    question = newest_question(said.body) if said is not None else ""
    answer = answer_text(said.answer) if said is not None else ""
    named = sessions.get((row.scope, row.session), "")
    if not sought.is_in(question, answer, row.request_id, row.session, named):
        return None
    return Found(number, row, question if said is not None else None, sought.place_in(answer))


async def _with_questions(services: Services, found: Sequence[Found]) -> list[Found]:
    contents = await contents_of(services, [(each.number, each.row) for each in found])

    def told() -> list[Found]:
        return [
            each if said is None else replace(each, question=newest_question(said.body))
            for each in found
            for said in (contents.get((each.row.scope, each.row.request_id)),)
        ]

    return await asyncio.get_running_loop().run_in_executor(services.executor, told)


async def contents_of(services: Services, rows: Rows) -> Mapping[Key, Contents]:
    """Returns what requests said, where it is kept and may be shown."""
    if not shows_content(services.config):
        return {}
    return await services.storage.contents.several([(row.scope, row.request_id) for _, row in rows])
