"""Who asks, and in which conversation.

The scope is the tenant (a keyed hash of the API key: the key itself is never stored) and the end user that the client
names. The session is what the client says it is, or else the conversation that the hash chain recognises: the longest
part of this history that an earlier request already had.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from proxy.offload import Offload
from proxy.storage.base import KnownPrefix, SessionStore
from proxy.types import ChatRequest, Continuity, Directives, Headers, Identity, Incoming, Message, Scope, SessionSource
from proxy.wire import headers as wire_headers
from proxy.wire import turns

# Headers by which known clients name the conversation, first match wins.
SESSION_HEADERS = (
    "x-openwebui-chat-id",  # Open WebUI, ENABLE_FORWARD_USER_INFO_HEADERS
    "session-id",  # Codex CLI
    "session_id",
    "x-session-id",
    "x-session-affinity",  # opencode
    "x-claude-code-session-id",
    "helicone-session-id",
    "x-conversation-id",
    "x-litellm-session-id",
)
USER_HEADERS = ("x-openwebui-user-id",)
SESSION_METADATA = ("session_id", "conversation_id", "thread_id", "chat_id")

MAX_NAME = 128
_HASHED = "h-"
_SAFE_NAME = re.compile(rf"[A-Za-z0-9._:@+/=-]{{1,{MAX_NAME}}}")
_SCOPE = re.compile(rf"[0-9a-f]{{32}}/(?:~?{_SAFE_NAME.pattern})?")

_encode = msgspec.json.Encoder(order="deterministic").encode


def read_directives(headers: Headers) -> Directives:
    """What the client asks of us. Unknown values are ignored: a typo must not cost an answer."""
    given = {name: value for name, value in headers if name.startswith(wire_headers.OURS) or name == "cache-control"}
    if not given:
        return Directives()
    control = ",".join(value for name, value in headers if name == "cache-control").lower()  # there may be several
    wish = given.get("x-olvido-cache", "").lower()
    mode = given.get("x-olvido-mode", "").lower()
    off = wish == "off" or "no-store" in control or mode == "off"
    return Directives(
        mode="meter" if mode == "meter" else "off" if mode == "off" else "on",
        lookup=not off and wish != "refresh" and "no-cache" not in control,
        store=not off,
        remember=mode != "off" and "no-store" not in control,
        opted_in=wish in ("on", "refresh"),
        session=given.get("x-olvido-session") or None,
        user=given.get("x-olvido-user") or None,
    )


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
    named, source = _named_session(incoming.headers, request.fields, directives)
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
    named, source = _named_session(incoming.headers, request.fields, directives)
    answered = await is_answered(scope.id)
    return Identity(scope, named or f"c-{incoming.request_id}", source, chain=(), is_answered=answered)


def whose(incoming: Incoming, request: ChatRequest, directives: Directives) -> Scope:
    """Tenant and end user, which nothing has to be looked up for."""
    return Scope(incoming.tenant, _user(incoming.headers, request.fields, directives))


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


def _user(headers: Headers, fields: Mapping[str, Any], directives: Directives) -> str:
    candidates = (
        directives.user,
        *(wire_headers.get(headers, name) for name in USER_HEADERS),
        fields.get("safety_identifier"),
        fields.get("user"),
    )
    for named in candidates:
        if named is not None and named != "":
            # Some clients number their users: two numbers are two people, whatever the upstream says to it.
            return end_user(named if isinstance(named, str) else _encode(named).decode())
    return ""


def end_user(name: str) -> str:
    """The end user of a scope, as the client's own `name` makes it."""
    # Nobody may call himself by the hash of another's name.
    return _hashed(name) if name.startswith(_HASHED) else _name(name)


def is_scope(name: str) -> bool:
    """Could it be a scope's id? One that no request can have is a typing error."""
    return _SCOPE.fullmatch(name) is not None


def _named_session(
    headers: Headers, fields: Mapping[str, Any], directives: Directives
) -> tuple[str | None, SessionSource]:
    if directives.session:
        return _name(directives.session), "header"
    given = dict(headers)
    for name in SESSION_HEADERS:
        if value := given.get(name):
            return _name(value), "client"
    if isinstance(key := fields.get("prompt_cache_key"), str) and key:
        return _name(key), "prompt_cache_key"
    metadata = fields.get("metadata")
    if isinstance(metadata, dict):
        for name in SESSION_METADATA:
            if isinstance(value := metadata.get(name), str) and value:
                return _name(value), "metadata"
    return None, "new"


def _name(value: str) -> str:
    """A client's own name as it may stand in a header, a table and a label; a hash of it if it may not."""
    return value if _SAFE_NAME.fullmatch(value) else _hashed(value)


def _hashed(value: str) -> str:
    return _HASHED + blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()
