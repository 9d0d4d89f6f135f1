"""Who asks, and in which conversation.

The scope is the tenant (a keyed hash of the API key: the key itself is never stored) and the end user that the client
names. The session is what the client says it is, or else the conversation that the hash chain recognises: the longest
part of this history that an earlier request already had.
"""

import re
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from proxy.offload import Offload
from proxy.protocol import turns
from proxy.storage.base import KnownPrefix, SessionStore
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
    """`is_answered`: has an upstream answered this scope before? If not, nothing is known of it, and nothing kept.
    `private` says that a scope belongs to one person (personal tenancy, or a named end user): then a beginning that was
    seen before is the same conversation, started again, branched or regenerated. In a scope shared by unnamed people it
    is not, since two of them may begin with the same words."""
    scope = whose(incoming, request, directives)
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
            known = 0  # another session's history: this session's is still to be written
        continuity: Continuity = "continued" if known else "new"
        return Identity(scope, named, source, chain, known, continuity, private, answered)
    if prefix is None or not (private or _is_own(prefix, request.messages)):
        session = _new_session(scope, chain, first_user, incoming, private=private)
        return Identity(scope, session, "new", chain, private=private, is_answered=answered)
    continuity = "regenerated" if known == len(chain) else "continued" if prefix.is_tip else "branched"
    return Identity(scope, prefix.sessions[0], "chain", chain, known, continuity, private)


async def unread(
    incoming: Incoming, request: ChatRequest, directives: Directives, *, is_answered: Callable[[str], Awaitable[bool]]
) -> Identity:
    """Whose request it is when its messages can't be read: so they are no part of any history."""
    scope = whose(incoming, request, directives)
    named, source = _named_session(request, directives)
    answered = await is_answered(scope.id)
    return Identity(scope, named or f"c-{incoming.request_id}", source, chain=(), is_answered=answered)


def whose(incoming: Incoming, request: ChatRequest, directives: Directives) -> Scope:
    """Tenant and end user, which nothing has to be looked up for."""
    named = directives.user or request.user_hint
    return Scope(incoming.tenant, end_user(named) if named else "")


def is_private(scope: Scope, *, personal: bool) -> bool:
    """Does the scope belong to one person?"""
    return personal or scope.user != ""


def _is_own(prefix: KnownPrefix, messages: tuple[Message, ...]) -> bool:
    """Among unnamed people a conversation is known by nothing but the answer it was given last: one that a single
    session has, and that none has gone on from. Whatever else two histories share, examples and questions included,
    two people may have sent."""
    last = messages[prefix.length - 1]
    return last.role == "assistant" and prefix.is_tip and len(prefix.sessions) == 1 and prefix.length < len(messages)


def _opening(messages: tuple[Message, ...]) -> tuple[int, int]:
    """How many messages there are before the first user message, and up to and including it. A prefix must be longer
    than that to say anything about who is talking."""
    for index, message in enumerate(messages):
        if message.role == "user":
            return index, index + 1
    return len(messages), len(messages)


def _new_session(scope: Scope, chain: tuple[bytes, ...], first_user: int, incoming: Incoming, *, private: bool) -> str:
    """In a private scope the opening names the conversation, so several workers give it the same name without asking
    each other; elsewhere every new conversation gets a name of its own."""
    if private:
        return "c-" + chain[min(first_user, len(chain) - 1)].hex()
    return "c-" + blake2b(f"{scope.id}/{incoming.request_id}".encode(), digest_size=16).hexdigest()


def end_user(name: str) -> str:
    """The end user of a scope, as the client's own `name` makes it."""
    # Nobody may call himself by the hash of another's name.
    return _hashed(name) if name.startswith(_HASHED) else _name(name)


def is_scope(name: str) -> bool:
    """Could it be a scope's id? One that no request can have is a typing error."""
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
    """A client's own name as it may stand in a header, a table and a label; a hash of it if it may not."""
    return value if _SAFE_NAME.fullmatch(value) else _hashed(value)


def _hashed(value: str) -> str:
    return _HASHED + blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()
