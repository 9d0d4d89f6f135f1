"""Sessions as an API, with the client's own key.

    POST /olvido/sessions/{session}/end {user}
    POST /olvido/sessions/{session}/report {user}

The first ends a conversation of the key and end user, as silence would; the second says that an answer in it was
wrong. `proxy/openapi.yaml` has the types.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from proxy.conversation import names
from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, UnknownSession
from proxy.pipeline import Services
from proxy.protocol.headers import read_directives
from proxy.storage.base import StorageError
from proxy.tasks import within
from proxy.types import Answer, Headers, Identity, Incoming

DEADLINE = 5.0  # seconds that storage may take


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request, which may be empty."""

    user: Annotated[str, msgspec.Meta(min_length=1)] | None = None


async def report(incoming: Incoming, name: str, services: Services) -> Answer:
    """Takes the report that an answer in a session was wrong: the session returns to pass-through. The answer says
    whether it has just done so. Raises as `end` does."""
    who = whose(incoming, name, decoded(incoming.body).user, services)
    await check_known(who, name, services)
    returned = services.rollout.give_back(who.scope.id, who.session, "reported")
    return told({"session": who.session, "mode": "meter", "returned": returned})


async def end(incoming: Incoming, name: str, services: Services) -> Answer:
    """Ends a session; the answer says whether it was open. Raises BadRequest, UnknownSession if there is no such
    session in the scope, ContextUnavailable if storage can't be read."""
    who = whose(incoming, name, decoded(incoming.body).user, services)
    await check_known(who, name, services)
    ended = services.ends.end(who.memory, who.session, "api")
    return told({"session": who.session, "ended": ended})


def told(said: Mapping[str, object]) -> Answer:
    """Returns an answer in JSON that nobody may keep."""
    headers: Headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    return Answer(200, headers, msgspec.json.encode(said))


def whose(incoming: Incoming, name: str, user: str | None, services: Services) -> Identity:
    """Returns the identity of a session of the client's key. `user`: the end user that the body names; the header
    wins."""
    user = read_directives(incoming.headers).user or user
    scope = names.scope_named(incoming.tenant, user)
    private = names.is_private(scope, personal=services.config.tenancy == "personal")
    return Identity(scope, names.session_named(name), "header", (), private=private)


async def check_known(who: Identity, name: str, services: Services) -> None:
    """Raises UnknownSession if there is no such session in the scope, ContextUnavailable if storage can't be read."""
    try:
        is_known = await within(DEADLINE * services.patience, _is_known(who, services))
    except (StorageError, TimeoutError):
        raise ContextUnavailable("The storage of conversations can't be read now.") from None
    if not is_known:
        raise UnknownSession(f"No session {name[: names.MAX_NAME]!r} of this key and end user is known.")


async def _is_known(who: Identity, services: Services) -> bool:
    if not await services.answered.has(who.scope.id):
        return False
    if services.ends.knows(who.memory, who.session):
        return True
    await services.learner.settled(who)
    return await services.library.archive.latest(who.memory, who.session) is not None


def decoded(body: bytes) -> Asked:
    """Decodes the body of a request. Raises BadRequest."""
    if not body.strip():
        return Asked()
    try:
        return msgspec.json.decode(body, type=Asked)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {str(error)[:120]}.") from None
    except (ValueError, RecursionError):
        raise InvalidJson("The request body is not valid JSON.") from None
