"""The desk of a conversation, the memory that its model manages itself, for a person to see and to correct.

    GET  /admin/api/desk?session=&scope=
            whether tools are offered, and since when; `pressure`: of its newest requests, oldest first, those that were
            planned for a desk; `schemas`: what the tools' definitions have come to in them, in tokens and dollars, and
            of how much; `sections` and `documents` of the person's folder; `marks`, `pins` and `edits`, newest first,
            with what became of each; `last`: the greatest id of a message
    GET  /admin/api/desk/document?session=&scope=&name=
            a document, its text, and its older versions; version 0 if there is none
    POST /admin/api/desk/document {session, scope, name, version, text}
            what a person has made of that version is written, merged with what has come since; "" removes it
    GET  /admin/api/desk/tape?session=&scope=&after=&limit=
            messages as they arrived, those that the client never saw too, by ids above `after`; `next` is the `after`
            of the next page
    POST /admin/api/desk/pins {session, scope, message, pinned}
            a message is pinned, which no prune touches then, or the pin is taken away
    POST /admin/api/desk/edits {session, scope, edit, is_allowed}
            an edit that has waited for a person is carried out, or declined
    POST /admin/api/desk/reset {session, scope}
            all edits and marks of the session are undone; `undone` names documents and ids of facts

A name may be a conversation's in several scopes; to look at it without a scope means the latest. Texts are told where
contents are shown (`admin.show_content`), else null; long ones without their end.
"""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec

from proxy.admin import desk_json
from proxy.admin.codec import Asked, RowNumber, as_json, as_json_offloaded, page
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.conversation import names
from proxy.desk.looking import SeenEdit, rounds, seen
from proxy.desk.tools import may_be_written, section_of
from proxy.errors import BadRequest, Conflict, UnknownRoute
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.pipeline.desk_reset import DeskReset, Unknown
from proxy.tasks import Offload
from proxy.types import Answer, Identity, Json, LedgerRow, Scope

MOST_REQUESTS = 500  # whose pressure is told
MOST_EDITS = 100  # beside those that wait
MOST_ROUND_EVENTS = 500  # of a request
USUAL_LINES, MOST_LINES = 50, 500


class DeskAsked(Asked, frozen=True):
    """Parameters of a desk."""

    session: str
    scope: str | None = None


class DocumentAsked(DeskAsked, frozen=True, kw_only=True):
    """Parameters of a document."""

    name: str


class TapeAsked(DeskAsked, frozen=True):
    """Parameters of the tape."""

    after: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_LINES)] = USUAL_LINES


class Whose(Asked, frozen=True):
    """The body of a reset, and what every other one has."""

    session: str
    scope: str


class DocumentEdit(Whose, frozen=True, kw_only=True):
    """The body of a person's edit."""

    name: str
    version: Annotated[int, msgspec.Meta(ge=0, le=2**53)]  # that it was made of; 0: there was none
    text: str


class PinWish(Whose, frozen=True, kw_only=True):
    """The body of a pin."""

    message: Annotated[int, msgspec.Meta(ge=1, le=2**53)]  # its id
    pinned: bool = True


class Decision(Whose, frozen=True, kw_only=True):
    """The body of a decision about an edit."""

    edit: RowNumber  # number of its event
    is_allowed: bool


# --- to look at ---


async def desk(call: Call, admin: Admin, asked: DeskAsked) -> Answer:
    """Answers with the desk of a conversation."""
    services = admin.services
    rows = await _rows(services, asked.session, asked.scope, MOST_REQUESTS)
    scope = rows[0].scope
    whose, store = memory_of(services, scope, asked.session), services.storage.desks
    news = await store.since(whose, asked.session, 0, 0)
    documents = await store.documents(whose)
    found = seen(news.events)
    pinned = {line.link: line for line in await store.tape(whose, asked.session, links=tuple(found.pins))}
    cut = desk_json.cutting(shows=shows_content(services.config))

    def told() -> Json:
        return {
            "scope": scope,
            "session": asked.session,
            "is_enabled": services.config.memory.tools.enabled,
            "is_kept": store.keeps,
            "show_content": shows_content(services.config),
            "offered": desk_json.offer(found),
            "reset_at": found.reset_at or None,
            "calls": found.calls,
            "pressure": desk_json.pressures(rows),
            "schemas": desk_json.schemas(rows),
            **desk_json.folder(documents, services.config.memory.tools, services.counter.text, cut),
            "marks": [desk_json.mark(each, cut) for each in reversed(found.marks)],
            "pins": [desk_json.pin(pinned[link], at, cut) for link, at in found.pins.items() if link in pinned],
            "edits": [desk_json.edit(each, cut) for each in _newest(found.edits)],
            "last": max((line.id for line in news.lines), default=0),
        }

    return await as_json_offloaded(services, told)


async def document(call: Call, admin: Admin, asked: DocumentAsked) -> Answer:
    """Answers with a document and its older versions."""
    services, store = admin.services, admin.services.storage.desks
    whose = await _whose(services, asked.session, asked.scope)
    _check_name(asked.name)
    now = await store.document(whose, asked.name)
    older = await store.older(whose, asked.name)
    with_text = shows_content(services.config)

    def told() -> Json:
        shown = desk_json.version(now, with_text=with_text)
        return {"name": asked.name, **shown, "older": [desk_json.version(each, with_text=False) for each in older]}

    return await as_json_offloaded(services, told)


async def tape(call: Call, admin: Admin, asked: TapeAsked) -> Answer:
    """Answers with a page of the tape."""
    services = admin.services
    whose = await _whose(services, asked.session, asked.scope)
    found = await services.storage.desks.tape(whose, asked.session, after=asked.after, limit=asked.limit + 1)
    lines, after = page(found, asked.limit, lambda line: line.id)
    cut = desk_json.cutting(shows=shows_content(services.config))
    return await as_json_offloaded(
        services, lambda: {"lines": [desk_json.line(each, cut) for each in lines], "next": after}
    )


async def hidden_rounds(services: Services, row: LedgerRow) -> Callable[[], Json]:
    """Reads the hidden rounds of a request. Returns what makes their JSON, which may be long."""
    whose = memory_of(services, row.scope, row.session)
    events = await services.storage.desks.events(whose, row.session, limit=MOST_ROUND_EVENTS, request=row.request_id)
    cut = desk_json.cutting(shows=shows_content(services.config))
    return lambda: [desk_json.round_(each, cut) for each in rounds(events[::-1], services.counter.message)]


# --- to correct ---


async def edit_document(call: Call, admin: Admin, asked: DocumentEdit) -> Answer:
    """Writes a person's text."""
    services = admin.services
    whose = await _whose(services, asked.session, asked.scope)
    _check_name(asked.name)
    await _check_size(services, asked.name, asked.text)
    try:
        wrote = await _desk(services).edit(whose, asked.name, asked.text, asked.version)
    except Unknown:
        raise Conflict("That version is not kept any more: look at the document as it is now.") from None
    except ValueError as error:
        raise BadRequest(f"{error}.".capitalize(), param="text") from None
    told = desk_json.version(wrote, with_text=shows_content(services.config))
    is_merged = wrote is not None and not wrote.is_removed and wrote.text != asked.text
    return as_json({"name": asked.name, **told, "is_merged": is_merged})


async def pin(call: Call, admin: Admin, asked: PinWish) -> Answer:
    """Pins a message, or takes the pin away."""
    services = admin.services
    whose = await _whose(services, asked.session, asked.scope)
    try:
        await _desk(services).pin(whose, asked.session, asked.message, is_pinned=asked.pinned)
    except Unknown:
        raise UnknownRoute(f"The session has no message {asked.message}.") from None
    return as_json({"message": asked.message, "pinned": asked.pinned})


async def decide(call: Call, admin: Admin, asked: Decision) -> Answer:
    """Carries out an edit that has waited, or declines it."""
    services = admin.services
    whose = await _whose(services, asked.session, asked.scope)
    try:
        await _desk(services).confirm(whose, asked.session, asked.edit, is_allowed=asked.is_allowed)
    except Unknown:
        raise UnknownRoute(f"No edit {asked.edit} waits.") from None
    return as_json({"edit": asked.edit, "is_allowed": asked.is_allowed})


async def reset(call: Call, admin: Admin, asked: Whose) -> Answer:
    """Undoes all edits and marks of a session."""
    services = admin.services
    whose = await _whose(services, asked.session, asked.scope)
    undone = await _desk(services).reset(whose, asked.session)
    return as_json({"session": asked.session, "undone": list(undone.names)})


# --- whose ---


def memory_of(services: Services, scope: str, session: str) -> str:
    """Returns the scope of memory of a conversation in a scope of the ledger."""
    tenant, _, user = scope.partition("/")
    owner = Scope(tenant, user)
    private = names.is_private(owner, personal=services.config.tenancy == "personal")
    return Identity(owner, session, "header", (), private=private).memory


async def _whose(services: Services, session: str, scope: str | None) -> str:
    """Returns the scope of memory of a conversation that is known."""
    newest, *_ = await _rows(services, session, scope, 1)
    return memory_of(services, newest.scope, session)


async def _rows(services: Services, session: str, scope: str | None, limit: int) -> list[LedgerRow]:
    """Returns the newest requests of a conversation in one scope, newest first; one at least."""
    accounts = services.storage.accounts
    newest = await accounts.rows(scope=scope, session=session, limit=1)
    if not newest:
        raise UnknownRoute(f"There is no session {session[:40]!r}.")
    if limit == 1:
        return [row for _, row in newest]
    found = await accounts.rows(scope=newest[0][1].scope, session=session, limit=limit)
    return [row for _, row in found]


def _desk(services: Services) -> DeskReset:
    return DeskReset(services.storage.desks, services.library, time.time)


def _check_name(name: str) -> None:
    if not may_be_written(name):
        raise BadRequest("name is that of a .md file: a-z, 0-9, _ and -, no date, none of ours.", param="name")


async def _check_size(services: Services, name: str, text: str) -> None:
    section = section_of(name)
    if section is None:
        return
    most: int = getattr(services.config.memory.tools.sections, section)
    size = len(text.encode("utf-8", "replace"))
    tokens = await Offload(services.executor, size)(lambda: services.counter.text(text)) if size > most else size
    if tokens > most:
        raise BadRequest(f"{name} has {most:,} tokens at most, this text {tokens:,}.", param="text")


def _newest(edits: Sequence[SeenEdit]) -> list[SeenEdit]:
    """Returns the newest edits, and all that wait, newest first."""
    recent = edits[-MOST_EDITS:]
    waiting = [each for each in edits[:-MOST_EDITS] if each.state == "waiting"]
    return [*waiting, *recent][::-1]
