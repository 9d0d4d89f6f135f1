"""A client that names its conversation (`x-olvido-session`) may send only what is new: what the user says, or the
results of the calls that the last answer made. The history is supplied from the archive, the turn that is going on from
this process's memory, and from then on the request is as if the client had sent all of it.

A request that comes again, since its answer was lost on the way, takes the place of the first one. Some repeat it to
the letter and mean something else: whoever says "continue" for the second time wants more. So a few words are only
taken for a repetition if the client calls it one.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from proxy.conversation.turns import messages_of, up_to_calls
from proxy.errors import BadRequest
from proxy.offload import Offload
from proxy.protocol import turns
from proxy.protocol.headers import is_retry
from proxy.protocol.request import with_messages
from proxy.protocol.turns import INSTRUCTIONS
from proxy.storage.recollection import Archive
from proxy.storage.shared import OpenTurns
from proxy.types import ArchivedTurn, ChatRequest, Identity, Incoming, Message

MOST_TURNS = 2_000
AGAIN_SECONDS = 600.0  # the same question within as long is the same request, as for reuse by intent
FEW_WORDS = 3


@dataclass(frozen=True, slots=True)
class _History:
    """What stands before what is new."""

    messages: Sequence[Message]
    is_again: bool = False  # and an answer to what is new stood behind it


async def resume(
    incoming: Incoming,
    request: ChatRequest,
    identity: Identity,
    *,
    archive: Archive,
    open_turns: OpenTurns,
    settled: Callable[[Identity], Awaitable[None]],
    chains: turns.Chains,
    offload: Offload,
) -> tuple[ChatRequest, Identity]:
    """The request with its history; as it is if it has one, or there is none. `settled`: returns when what was just
    answered in this session is in the archive. Raises BadRequest for results of calls that nobody here has made: no
    upstream would take them."""
    if identity.session_source != "header" or identity.known:
        return request, identity
    new = [said for said in request.messages if said.role not in INSTRUCTIONS]
    calls = _answered(new)
    if not calls and not _is_said_by_user(new):
        return request, identity
    await settled(identity)
    latest = await archive.latest(identity.memory, identity.session)
    path = await archive.path(identity.memory, latest.link, MOST_TURNS) if latest else []
    if calls:
        going_on, before = await open_turns.get(identity.memory, identity.session), path
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


def _is_said_by_user(new: Sequence[Message]) -> bool:
    """Nothing but what the user says: who sends a history sends answers, too."""
    return bool(new) and all(said.role == "user" for said in new)


def _answered(new: Sequence[Message]) -> tuple[str, ...]:
    """The ids of the calls whose results are sent; none if anything else is than results, and what the user says to
    them."""
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
    """Up to the calls that these are the results of: in the turn that goes on, or, sent again, in the newest one that
    is over. `before`: what stands before the turn that goes on."""
    if begun := up_to_calls(going_on, calls):
        return _History((*_said(before), *begun))
    if path and (begun := up_to_calls(messages_of(path[-1]), calls)):
        return _History((*_said(path[:-1]), *begun), is_again=True)
    raise BadRequest(
        f"Session {session!r} has no answer here that made exactly these calls: {', '.join(calls)[:200]}. Send the "
        "results of all calls of its newest answer, or the whole conversation.",
        param="messages",
    )


def _of_question(incoming: Incoming, new: Sequence[Message], path: Sequence[ArchivedTurn]) -> _History:
    """All that was said, but for the question itself and its answer, if it comes again."""
    asked = [said for turn in path[-len(new) :] for said in messages_of(turn) if said.role == "user"]
    is_same = [turns.identity(said) for said in asked] == [turns.identity(said) for said in new]
    if is_same and (is_retry(incoming.headers) or _is_soon(incoming, new, path[-1])):
        return _History(_said(path[: -len(new)]), is_again=True)
    return _History(_said(path))


def _is_soon(incoming: Incoming, new: Sequence[Message], latest: ArchivedTurn) -> bool:
    words = sum(len(said.text.split()) for said in new)
    return words > FEW_WORDS and incoming.received_at - latest.at < AGAIN_SECONDS


def _said(path: Sequence[ArchivedTurn]) -> list[Message]:
    return [said for turn in path for said in messages_of(turn)]


def _joined(old: Sequence[Message], new: Sequence[Message]) -> tuple[Message, ...]:
    """Instructions that come with the new message take the place of those that came with the first one."""
    instructions = tuple(said for said in new if said.role in INSTRUCTIONS)
    if instructions:
        first = next((index for index, said in enumerate(old) if said.role not in INSTRUCTIONS), len(old))
        old = [*instructions, *old[first:]]
    return (*old, *(said for said in new if said.role not in INSTRUCTIONS))
