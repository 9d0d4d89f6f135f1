"""Resumption of a session with a name (`x-olvido-session`), whose client may send only what is new: user messages, or
results of the calls in the last answer.

The archive supplies the history, this process's memory the turn that is going on; from then on the request is as if the
client had sent all of it. A request that is repeated, since its answer was lost on the way, replaces the first one.
Some repeat a message and mean more by it ("continue"), so a few words count as a repetition only if the client marks
them as one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from proxy.conversation.identify import new_session
from proxy.conversation.turns import up_to_calls
from proxy.errors import BadRequest
from proxy.protocol.chains import Chains, identity_of
from proxy.protocol.headers import is_retry
from proxy.protocol.message import INSTRUCTIONS, unpacked
from proxy.protocol.request import with_messages
from proxy.storage.recollection import Archive
from proxy.storage.shared import OpenTurns
from proxy.tasks import Offload
from proxy.types import (
    ArchivedTurn,
    ChatRequest,
    Identity,
    Incoming,
    Message,
)

MOST_TURNS = 2_000  # of a history that is resumed
AGAIN_SECONDS = 600.0  # within this time the same question is the same request, as for reuse by intent
FEW_WORDS = 3
ARRIVAL_LOOKS = 40  # for a turn of another process, which is in the archive after a batch interval or two
ARRIVAL_PAUSE = 0.03  # seconds between them


def may_lack_history(identity: Identity) -> bool:
    """True if the client may have sent only what is new: it names the session, of which the request has nothing."""
    return identity.session_source == "header" and not identity.known


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """The places where the history of a session is found."""

    archive: Archive
    open_turns: OpenTurns
    settled: Callable[[Identity], Awaitable[None]]  # returns once the newest answer in this session is in the archive
    late: Callable[[], object] = lambda: None  # is called if a turn that another process was to write does not come


async def resume(
    incoming: Incoming, request: ChatRequest, identity: Identity, histories: Histories, chains: Chains, offload: Offload
) -> tuple[ChatRequest, Identity]:
    """Returns the request with its history; unchanged if it has one, or there is none. Raises BadRequest for results of
    calls that no answer here made: no upstream would take them."""
    if not may_lack_history(identity):
        return request, identity
    new = [said for said in request.messages if said.role not in INSTRUCTIONS]
    calls = _answered(new)
    # User messages alone, or results: clients that send a history send answers, too.
    if not calls and (not new or any(said.role != "user" for said in new)):
        return request, identity
    archive = histories.archive
    await histories.settled(identity)
    going_on = await histories.open_turns.get(identity.memory, identity.session)
    if going_on is not None and going_on.is_elsewhere and not await _arrives(archive, identity.memory, going_on.parent):
        histories.late()
    latest = await archive.latest(identity.memory, identity.session)
    path = await archive.path(identity.memory, latest.link, MOST_TURNS) if latest else []
    if calls:
        before = path
        if going_on is not None:
            before = await archive.path(identity.memory, going_on.parent, MOST_TURNS)
        begun = going_on.messages if going_on else ()
        history = await offload(lambda: _of_results(calls, begun, before, path, identity.session))
    elif path:
        history = await offload(lambda: _of_question(incoming, new, path))
    else:
        return request, identity
    messages = await offload(lambda: _joined(history.messages, request.messages))
    chain = await offload(lambda: chains.of(identity.scope.id, messages))
    return (
        await offload(lambda: with_messages(request, messages)),
        replace(
            identity,
            chain=chain,
            known=len(messages) - (0 if history.is_again else len(new)),
            continuity="regenerated" if history.is_again else "continued",
        ),
    )


def apart(incoming: Incoming, request: ChatRequest, identity: Identity) -> Identity:
    """Returns the identity of a request whose history could not be looked up. A turn without its history is no turn of
    the named session, which would have none from there on: it becomes, and is told to be, a session of its own."""
    if any(said.role == "assistant" for said in request.messages):
        return identity
    session = new_session(identity.scope, identity.chain, 0, incoming, private=False)
    return replace(identity, session=session, session_source="new")


@dataclass(frozen=True, slots=True)
class _History:
    """The messages before the new ones."""

    messages: Sequence[Message]
    is_again: bool = False  # a repetition: the new messages had an answer already


async def _arrives(archive: Archive, scope: str, link: bytes) -> bool:
    """Returns True once the turn `link` is in the archive, which another process may be about to write; False if it
    does not come."""
    for _ in range(ARRIVAL_LOOKS):
        if not link or await archive.path(scope, link, 1):
            return True
        await asyncio.sleep(ARRIVAL_PAUSE)
    return False


def _answered(new: Sequence[Message]) -> tuple[str, ...]:
    """Returns the ids of the calls whose results are sent; () if there is anything besides results and user messages
    after them."""
    results = [said for said in new if said.role == "tool"]
    rest = new[len(results) :]
    if not results or new[0].role != "tool" or any(said.role != "user" for said in rest):
        return ()
    return tuple(said.tool_call_id for said in results)


def _of_results(
    calls: tuple[str, ...],
    going_on: Sequence[Message],
    before: Sequence[ArchivedTurn],
    path: Sequence[ArchivedTurn],
    session: str,
) -> _History:
    """Returns the history up to the calls with these results: in the turn that goes on, or, for a repetition, in the
    newest complete one. `before`: the turns before the one that goes on."""
    if begun := up_to_calls(going_on, calls):
        return _History((*_said(before), *begun))
    if path and (begun := up_to_calls(unpacked(path[-1].messages), calls)):
        return _History((*_said(path[:-1]), *begun), is_again=True)
    raise BadRequest(
        f"Session {session!r} has no answer here that made exactly these calls: {', '.join(calls)[:200]}. Send the "
        "results of all calls of its newest answer, or the whole conversation.",
        param="messages",
    )


def _of_question(incoming: Incoming, new: Sequence[Message], path: Sequence[ArchivedTurn]) -> _History:
    """Returns the whole history, without the question itself and its answer if it is a repetition."""
    asked = [said for turn in path[-len(new) :] for said in unpacked(turn.messages) if said.role == "user"]
    is_same = [identity_of(said) for said in asked] == [identity_of(said) for said in new]
    if is_same and (is_retry(incoming.headers) or _is_soon(incoming, new, path[-1])):
        return _History(_said(path[: -len(new)]), is_again=True)
    return _History(_said(path))


def _is_soon(incoming: Incoming, new: Sequence[Message], latest: ArchivedTurn) -> bool:
    words = sum(len(said.text.split()) for said in new)
    return words > FEW_WORDS and incoming.received_at - latest.at < AGAIN_SECONDS


def _said(path: Sequence[ArchivedTurn]) -> list[Message]:
    return [said for turn in path for said in unpacked(turn.messages)]


def _joined(old: Sequence[Message], new: Sequence[Message]) -> tuple[Message, ...]:
    """Returns the history with the new messages; new instructions replace old ones."""
    instructions = tuple(said for said in new if said.role in INSTRUCTIONS)
    if instructions:
        first = next((index for index, said in enumerate(old) if said.role not in INSTRUCTIONS), len(old))
        old = [*instructions, *old[first:]]
    return (*old, *(said for said in new if said.role not in INSTRUCTIONS))
