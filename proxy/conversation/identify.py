"""Identification of the scope and the session of a request.

The scope is the tenant (a keyed hash of the API key: the key itself is never stored) and the end user that the client
names. The session is the one that the client names, or else the conversation that the hash chain recognises: the
longest part of this history that an earlier request already had.
"""

import re
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from proxy.protocol import turns
from proxy.storage.base import KnownPrefix, SessionStore
from proxy.tasks import Offload
from proxy.types import ChatRequest, Continuity, Directives, Identity, Incoming, Message, Scope, SessionSource

MAX_NAME = 128
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
    chains: turns.Chains,
    offload: Offload,
) -> Identity:
    """Returns scope, session and known history of a request. `is_answered` tells whether an upstream has answered a
    scope before: if not, nothing is known of it, and nothing kept. `private`: a scope belongs to one person (personal
    tenancy, or a named end user), so a beginning that was seen before is the same conversation, started again, branched
    or regenerated. Unnamed people who share a scope may begin with the same words, so there it is not."""
    scope = scope_of(incoming, request, directives)
    private = is_private(scope, personal=private)
    answered = await is_answered(scope.id)
    chain_of = chains.of if answered else turns.chain
    chain = await offload(lambda: chain_of(scope.id, request.messages))
    named, source = _named_session(request, directives)
    first_user, first_answer = _opening(request.messages)

    prefix = await sessions.longest_prefix(scope.id, chain) if answered else None
    if prefix is not None and prefix.length <= (first_user if private else first_answer):
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


async def identify_unreadable(
    incoming: Incoming, request: ChatRequest, directives: Directives, *, is_answered: Callable[[str], Awaitable[bool]]
) -> Identity:
    """Returns the identity of a request whose messages can't be read: they belong to no history."""
    scope = scope_of(incoming, request, directives)
    named, source = _named_session(request, directives)
    answered = await is_answered(scope.id)
    return Identity(scope, named or f"c-{incoming.request_id}", source, chain=(), is_answered=answered)


def scope_of(incoming: Incoming, request: ChatRequest, directives: Directives) -> Scope:
    """Returns the scope of a request, tenant and end user, without any lookup."""
    named = directives.user or request.user_hint
    return Scope(incoming.tenant, end_user(named) if named else "")


def is_private(scope: Scope, *, personal: bool) -> bool:
    """True if the scope belongs to one person."""
    return personal or scope.user != ""


def _is_own(prefix: KnownPrefix, messages: tuple[Message, ...]) -> bool:
    """True if a prefix identifies a conversation among unnamed people: it ends with the newest answer of a single
    session, which no request has continued yet. Anything else, examples and questions included, two people may have in
    common."""
    last = messages[prefix.length - 1]
    return last.role == "assistant" and prefix.is_tip and len(prefix.sessions) == 1 and prefix.length < len(messages)


def _opening(messages: tuple[Message, ...]) -> tuple[int, int]:
    """Returns the number of messages before the first user message, and that number with it included. Only a longer
    prefix tells who is talking."""
    for index, message in enumerate(messages):
        if message.role == "user":
            return index, index + 1
    return len(messages), len(messages)


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
