"""Identification of the scope and the session of a request.

The scope is the tenant (a keyed hash of the API key: the key itself is never stored) and the end user that the client
names. The session is the one that the client names, or else the conversation that the hash chain recognises: the
longest part of this history that an earlier request already had.
"""

from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b

from proxy.conversation.names import is_private, scope_of, session_of
from proxy.protocol.chains import Chains, chain_of
from proxy.storage.base import KnownPrefix, SessionStore
from proxy.tasks import Offload
from proxy.types import (
    ChatRequest,
    Continuity,
    Directives,
    Identity,
    Incoming,
    Message,
    Scope,
)


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
    named, source = session_of(request, directives)
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
        session = new_session(scope, chain, first_user, incoming, private=private)
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
    named, source = session_of(request, directives)
    first_user = _first_user(request.messages)
    session = named or new_session(scope, chain, first_user, incoming, private=private)
    return Identity(scope, session, source, chain, private=private, is_answered=False)


def identify_unreadable(
    incoming: Incoming, request: ChatRequest, directives: Directives, scope: Scope, *, is_answered: bool
) -> Identity:
    """Returns the identity of a request whose messages can't be read: they belong to no history."""
    named, source = session_of(request, directives)
    return Identity(scope, named or f"c-{incoming.request_id}", source, chain=(), is_answered=is_answered)


def _first_user(messages: Sequence[Message]) -> int:
    """Returns the number of messages before the first of a user."""
    return next((at for at, said in enumerate(messages) if said.role == "user"), len(messages))


def _is_own(prefix: KnownPrefix, messages: tuple[Message, ...]) -> bool:
    """True if a prefix identifies a conversation among unnamed people: it ends with the newest answer of a single
    session, which no request has continued yet. Anything else, examples and questions included, two people may have in
    common."""
    last = messages[prefix.length - 1]
    return last.role == "assistant" and prefix.is_tip and len(prefix.sessions) == 1 and prefix.length < len(messages)


def new_session(scope: Scope, chain: tuple[bytes, ...], first_user: int, incoming: Incoming, *, private: bool) -> str:
    """Returns the name of a new session. In a private scope the opening determines it, so all workers choose the same
    one; elsewhere it is unique."""
    if private:
        return "c-" + chain[min(first_user, len(chain) - 1)].hex()
    return "c-" + blake2b(f"{scope.id}/{incoming.request_id}".encode(), digest_size=16).hexdigest()
