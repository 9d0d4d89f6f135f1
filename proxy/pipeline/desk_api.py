"""A person's word on the desk of a session as an API, with the client's own key.

    POST /olvido/sessions/{session}/reset {user}
    POST /olvido/sessions/{session}/pins {message, pinned, user}

`proxy/openapi.yaml` has the types.
"""

import time
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

import msgspec

from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, UnknownSession
from proxy.pipeline import Services
from proxy.pipeline.desk_reset import DeskReset, Unknown
from proxy.pipeline.sessions_api import DEADLINE, check_known, decoded, told, whose
from proxy.storage.base import StorageError
from proxy.tasks import within
from proxy.types import Answer, Incoming

T = TypeVar("T")


class Pinned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request that pins a message."""

    message: Annotated[int, msgspec.Meta(ge=1, le=2**53)]  # its id
    pinned: bool = True
    user: Annotated[str, msgspec.Meta(min_length=1)] | None = None


async def reset(incoming: Incoming, name: str, services: Services) -> Answer:
    """Undoes all edits and marks of a session; the answer names what was undone. Raises BadRequest, UnknownSession,
    ContextUnavailable if storage can't be reached."""
    who = whose(incoming, name, decoded(incoming.body).user, services)
    await check_known(who, name, services)
    undone = await _done(_desk(services).reset(who.memory, who.session), services)
    return told({"session": who.session, "undone": list(undone.names)})


async def pin(incoming: Incoming, name: str, services: Services) -> Answer:
    """Pins a message, which no prune touches then, or takes the pin away. Raises as `reset`, and UnknownSession for an
    id that the session does not have."""
    wish = _wish(incoming.body)
    who = whose(incoming, name, wish.user, services)
    await check_known(who, name, services)
    work = _desk(services).pin(who.memory, who.session, wish.message, is_pinned=wish.pinned)
    try:
        await _done(work, services)
    except Unknown:
        raise UnknownSession(f"The session has no message {wish.message}.") from None
    return told({"session": who.session, "message": wish.message, "pinned": wish.pinned})


def _desk(services: Services) -> DeskReset:
    return DeskReset(services.storage.desks, services.library, time.time)


async def _done(work: Coroutine[Any, Any, T], services: Services) -> T:
    try:
        return await within(DEADLINE * services.patience, work)
    except (StorageError, TimeoutError):
        raise ContextUnavailable("Memory can't be reached now; nothing is certain to have changed.") from None


def _wish(body: bytes) -> Pinned:
    try:
        return msgspec.json.decode(body, type=Pinned)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {str(error)[:120]}.") from None
    except (ValueError, RecursionError):
        raise InvalidJson("The request body is not valid JSON.") from None
