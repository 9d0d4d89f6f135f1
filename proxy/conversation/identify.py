"""Identification of the scope and the session of a request, and resumption of a named session.

The scope is the tenant (a keyed hash of the API key: the key itself is never stored) and the end user that the client
names. The session is the one that the client names, or else the conversation that the hash chain recognises: the
longest part of this history that an earlier request already had.

In a session with a name (`x-olvido-session`) the client may send only what is new: user messages, or results of the
calls in the last answer. The archive supplies the history, this process's memory the turn that is going on; from then
on the request is as if the client had sent all of it. A request that is repeated, since its answer was lost on the way,
replaces the first one. Some repeat a message and mean more by it ("continue"), so a few words count as a repetition
only if the client marks them as one.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from proxy.conversation.turns import up_to_calls
from proxy.errors import BadRequest
from proxy.protocol.chat import INSTRUCTIONS, Chains, chain_of, identity_of
from proxy.protocol.headers import is_retry
from proxy.protocol.message import unpacked
from proxy.protocol.request import with_messages
from proxy.storage.base import KnownPrefix, SessionStore
from proxy.storage.recollection import Archive
from proxy.storage.shared import OpenTurns
from proxy.tasks import Offload
from proxy.types import (
    ArchivedTurn,
    ChatRequest,
    Continuity,
    Directives,
    Identity,
    Incoming,
    Message,
    Scope,
    SessionSource,
)

MAX_NAME = 128
MOST_TURNS = 2_000  # of a history that is resumed
AGAIN_SECONDS = 600.0  # within this time the same question is the same request, as for reuse by intent
FEW_WORDS = 3
ARRIVAL_LOOKS = 40  # for a turn of another process, which is in the archive after a batch interval or two
ARRIVAL_PAUSE = 0.03  # seconds between them
_HASHED = "h-"
_SAFE_NAME = re.compile(rf"[A-Za-z0-9._:@+/=-]{{1,{MAX_NAME}}}")
_SCOPE = re.compile(rf"[0-9a-f]{{32}}/(?:~?{_SAFE_NAME.pattern})?")


async def identify(
    incoming: Incoming,
    request: ChatRequest,
    directives: Directives,
    *,
    private: bool,
    is_answered: Callable[[str], Awaitable[bool]],
    sessions: SessionStore,
    chains: Chains,
    offload: Offload,
) -> Identity:
    """Returns scope, session and known history of a request. `is_answered` tells whether an upstream has answered a
    scope before: if not, nothing is known of it, and nothing kept. `private`: a scope belongs to one person (personal
    tenancy, or a named end user), so a beginning that was seen before is the same conversation, started again, branched
    or regenerated. Unnamed people who share a scope may begin with the same words, so there it is not."""
    scope = scope_of(incoming, request, directives)
    private = is_private(scope, personal=private)
    answered = await is_answered(scope.id)
    hashed = chains.of if answered else chain_of
    chain = await offload(lambda: hashed(scope.id, request.messages))
    named, source = _named_session(request, directives)
    first_user = _first_user(request.messages)

    prefix = await sessions.longest_prefix(scope.id, chain) if answered else None
    if prefix is not None and prefix.length <= (first_user if private else first_user + 1):
        prefix = None  # a shared system prompt (or a shared opening) is not a conversation
    known = prefix.length if prefix else 0

    if named is not None:
        if prefix is not None and named not in prefix.sessions:
            known = 0  # the prefix is another session's: this one's is not stored yet
        continuity: Continuity = "continued" if known else "new"
        return Identity(scope, named, source, chain, known, continuity, private, answered)
    if prefix is None or not (private or _is_own(prefix, request.messages)):
        session = _new_session(scope, chain, first_user, incoming, private=private)
        return Identity(scope, session, "new", chain, private=private, is_answered=answered)
    continuity = "regenerated" if known == len(chain) else "continued" if prefix.is_tip else "branched"
    return Identity(scope, prefix.sessions[0], "chain", chain, known, continuity, private)


def identify_unseen(
    incoming: Incoming,
    request: ChatRequest,
    directives: Directives,
    chain: tuple[bytes, ...],
    *,
    private: bool,
) -> Identity:
    """Returns the identity of a request while nothing can be looked up: of its scope, as a beginning. What somebody
    says is kept there under the same links as ever, so that no turn is stored twice. `chain`: of the messages."""
    scope = scope_of(incoming, request, directives)
    private = is_private(scope, personal=private)
    named, source = _named_session(request, directives)
    first_user = _first_user(request.messages)
    session = named or _new_session(scope, chain, first_user, incoming, private=private)
    return Identity(scope, session, source, chain, private=private, is_answered=False)


def identify_unreadable(
    incoming: Incoming, request: ChatRequest, directives: Directives, scope: Scope, *, is_answered: bool
) -> Identity:
    """Returns the identity of a request whose messages can't be read: they belong to no history."""
    named, source = _named_session(request, directives)
    return Identity(scope, named or f"c-{incoming.request_id}", source, chain=(), is_answered=is_answered)


def scope_of(incoming: Incoming, request: ChatRequest, directives: Directives) -> Scope:
    """Returns the scope of a request, tenant and end user, without any lookup."""
    named = directives.user or request.user_hint
    return Scope(incoming.tenant, end_user(named) if named else "")


def is_private(scope: Scope, *, personal: bool) -> bool:
    """True if the scope belongs to one person."""
    return personal or scope.user != ""


def _first_user(messages: Sequence[Message]) -> int:
    """Returns the number of messages before the first of a user."""
    return next((at for at, said in enumerate(messages) if said.role == "user"), len(messages))


def _is_own(prefix: KnownPrefix, messages: tuple[Message, ...]) -> bool:
    """True if a prefix identifies a conversation among unnamed people: it ends with the newest answer of a single
    session, which no request has continued yet. Anything else, examples and questions included, two people may have in
    common."""
    last = messages[prefix.length - 1]
    return last.role == "assistant" and prefix.is_tip and len(prefix.sessions) == 1 and prefix.length < len(messages)


def _new_session(scope: Scope, chain: tuple[bytes, ...], first_user: int, incoming: Incoming, *, private: bool) -> str:
    """Returns the name of a new session. In a private scope the opening determines it, so all workers choose the same
    one; elsewhere it is unique."""
    if private:
        return "c-" + chain[min(first_user, len(chain) - 1)].hex()
    return "c-" + blake2b(f"{scope.id}/{incoming.request_id}".encode(), digest_size=16).hexdigest()


def end_user(name: str) -> str:
    """Returns the end user of a scope from the client's own `name`."""
    # A name that looks like a hash is hashed: it could be another name's.
    return _hashed(name) if name.startswith(_HASHED) else _name(name)


def session_named(name: str) -> str:
    """Returns the session that a client means by `name`, with whatever header or field it says it."""
    return _name(name)


def is_scope(name: str) -> bool:
    """True if `name` could be the id of a scope; no request has any other."""
    return _SCOPE.fullmatch(name) is not None


def _named_session(request: ChatRequest, directives: Directives) -> tuple[str | None, SessionSource]:
    if directives.session:
        return _name(directives.session), "header"
    if directives.client_session:
        return _name(directives.client_session), "client"
    if (hint := request.session_hint) is not None:
        name, source = hint
        return _name(name), source
    return None, "new"


def _name(value: str) -> str:
    """Returns a client's own name if headers, tables and labels can hold it, else a hash of it."""
    return value if _SAFE_NAME.fullmatch(value) else _hashed(value)


def _hashed(value: str) -> str:
    return _HASHED + blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _History:
    """The messages before the new ones."""

    messages: Sequence[Message]
    is_again: bool = False  # a repetition: the new messages had an answer already


def may_lack_history(identity: Identity) -> bool:
    """True if the client may have sent only what is new: it names the session, of which the request has nothing."""
    return identity.session_source == "header" and not identity.known


def apart(incoming: Incoming, request: ChatRequest, identity: Identity) -> Identity:
    """Returns the identity of a request whose history could not be looked up. A turn without its history is no turn of
    the named session, which would have none from there on: it becomes, and is told to be, a session of its own."""
    if any(said.role == "assistant" for said in request.messages):
        return identity
    session = _new_session(identity.scope, identity.chain, 0, incoming, private=False)
    return replace(identity, session=session, session_source="new")


async def resume(
    incoming: Incoming,
    request: ChatRequest,
    identity: Identity,
    *,
    archive: Archive,
    open_turns: OpenTurns,
    settled: Callable[[Identity], Awaitable[None]],
    chains: Chains,
    offload: Offload,
) -> tuple[ChatRequest, Identity]:
    """Returns the request with its history; unchanged if it has one, or there is none. `settled` returns once the
    newest answer in this session is in the archive. Raises BadRequest for results of calls that no answer here made: no
    upstream would take them."""
    if not may_lack_history(identity):
        return request, identity
    new = [said for said in request.messages if said.role not in INSTRUCTIONS]
    calls = _answered(new)
    # User messages alone, or results: clients that send a history send answers, too.
    if not calls and (not new or any(said.role != "user" for said in new)):
        return request, identity
    await settled(identity)
    going_on = await open_turns.get(identity.memory, identity.session)
    if going_on is not None and going_on.is_elsewhere:
        await _arrive(archive, identity.memory, going_on.parent)
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


async def _arrive(archive: Archive, scope: str, link: bytes) -> None:
    """Returns once the turn `link` is in the archive, which another process may be about to write, or does not come."""
    for _ in range(ARRIVAL_LOOKS):
        if not link or await archive.path(scope, link, 1):
            return
        await asyncio.sleep(ARRIVAL_PAUSE)


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
