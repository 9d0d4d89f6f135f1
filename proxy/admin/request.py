"""One request as the page shows it: what became of each of its messages, and what it came to.

    GET /admin/api/requests/{id}?scope=
            how its prompt came to be: what of each message was sent, and why; with texts while they are kept; `rounds`,
            in which the model called tools of ours and of which the client saw nothing; `verdict`, what it came to
            beside pass-through; `attempts`, all tries of it if its SDK made it again after a failure; the
            first question of its conversation

A name may be a request's in several scopes; without a scope the latest is meant.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from proxy.admin.attempts import REACH, Attempt, attempts
from proxy.admin.codec import Asked, as_json_offloaded, row_json
from proxy.admin.desk import hidden_rounds
from proxy.admin.parts import Admin
from proxy.admin.seeking import plain_line
from proxy.admin.verdict import verdict
from proxy.config import shows_content
from proxy.context import layout
from proxy.context.layout import ExplainedMessage
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.access import KEYS
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.protocol.message import message_of, unpacked
from proxy.protocol.request import parse
from proxy.types import Answer, Contents, Json, LedgerRow, Message, Sums, ToolCall

log = logging.getLogger(__name__)

MOST_TRIES = 20  # neighbours whose bodies are compared


class RequestAsked(Asked, frozen=True):
    """Parameters of a request."""

    scope: str | None = None


async def request(call: Call, admin: Admin, asked: RequestAsked) -> Answer:
    """Answers with one request, and the fate of each of its messages."""
    services = admin.services
    request_id = call.parameters["id"]
    row = await services.storage.accounts.row(request_id, asked.scope)
    if row is None:
        raise UnknownRoute(f"There is no request {request_id[:40]!r}.")
    contents: Contents | None = None
    if shows_content(services.config):
        contents = await services.storage.contents.get(row.scope, row.request_id)
    until = await services.storage.accounts.until(row.scope, row.session, row.at)
    first = await _first_question(services, row)
    tries = await _attempts(services, row)
    rounds = await hidden_rounds(services, row)
    call.watch.start()
    counted = services.counter.message
    return await as_json_offloaded(services, partial(_looked_into, row, contents, counted, rounds, until, tries, first))


async def _first_question(services: Services, row: LedgerRow) -> str | None:
    """Returns the first question of the conversation; None if it is not known, or may not be shown."""
    if not shows_content(services.config):
        return None
    found = await services.storage.accounts.questions({(row.scope, row.session)})
    return plain_line(found.get((row.scope, row.session), "")) or None


async def _attempts(services: Services, row: LedgerRow) -> tuple[Attempt, ...]:
    """Finds all tries of a request. Bodies are compared, not shown: they are read wherever they are kept."""
    near = await services.storage.accounts.between(row.scope, row.session, row.at - REACH, row.at + REACH)
    told = attempts(row, near, {})
    if not told or not services.storage.contents.keeps:
        return told
    ids = [each.request_id for each in told][:MOST_TRIES]
    found = [await services.storage.contents.get(row.scope, name) for name in ids]
    return attempts(row, near, {each.request_id: each for each in found if each is not None})


def _looked_into(
    row: LedgerRow,
    contents: Contents | None,
    tokens: Callable[[Message], int],
    rounds: Callable[[], Json],
    until: Sums,
    tries: Sequence[Attempt],
    first: str | None,
) -> Json:
    told = NOTHING_KEPT
    try:
        if contents is not None:
            told = explained(row, contents, tokens)
    except (BadRequest, ValueError):  # a body that was recorded is one that was read; its rules may have changed since
        log.warning("a kept request can't be read", extra={"request": row.request_id})
    return {
        "request": row_json(None, row, whole=True),
        **told,
        "rounds": rounds(),
        "verdict": verdict(row, until),
        "attempts": tries,
        "session_question": first,
    }


NOTHING_KEPT: Mapping[str, Json] = {
    "has_content": False,
    "messages": [],
    "head": "",
    "volatile": "",
    "sent": [],
    "answer": None,
    "answer_calls": [],
    "headers": {},
}

_SECRET = KEYS | {"cookie", "proxy-authorization"}


def explained(row: LedgerRow, contents: Contents, tokens: Callable[[Message], int]) -> Mapping[str, Json]:
    """Explains a request message by message. `tokens` counts those of a message. Raises BadRequest if the body is none,
    and ValueError if the fates can't be read."""
    request = parse(contents.body)
    sent = unpacked(contents.sent) if contents.sent else None
    found = layout.explained(request.messages, layout.unpack(contents.fates) if contents.fates else None, tokens)
    went = (sent or request.messages) if row.source == "upstream" else ()
    answer = message_of(contents.answer)
    called = _called(request.messages)
    explained_messages = zip(found.messages, request.messages, strict=True)
    return {
        "has_content": True,
        "messages": [_message(seen, said, called) for seen, said in explained_messages],
        "head": found.head,
        "volatile": found.volatile,
        "sent": [{"role": said.role, **_said(said, called)} for said in went],
        "answer": (answer.text or None) if answer is not None else None,
        "answer_calls": _calls(answer.tool_calls) if answer is not None else [],
        # They are not among those that are kept. Should that ever change, they are not shown.
        "headers": {name: value for name, value in contents.headers.items() if name.lower() not in _SECRET},
    }


def _called(messages: Iterable[Message]) -> Mapping[str, str]:
    """Returns the names of the called tools, by the ids of their calls."""
    return {call.id: call.name for said in messages for call in said.tool_calls}


def _message(seen: ExplainedMessage, said: Message, called: Mapping[str, str]) -> Json:
    known = {"index": seen.index, "role": seen.role, "tokens": seen.tokens, "fate": seen.fate, "why": seen.why}
    return {**known, **_said(said, called)}


def _said(said: Message, called: Mapping[str, str]) -> dict[str, Json]:
    """Returns what a message says; `tool` is the name of the tool that it is a result of."""
    return {
        "text": said.text or None,
        "images": sum(part.kind == "image" for part in said.parts),
        "calls": _calls(said.tool_calls),
        "tool": called.get(said.tool_call_id),
    }


def _calls(calls: Iterable[ToolCall]) -> list[Json]:
    return [{"name": call.name, "arguments": call.arguments or ""} for call in calls]
