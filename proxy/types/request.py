"""The request, who asks, and in which conversation."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from proxy.types.base import Continuity, Headers, Json, Mode, SessionSource


class Message(msgspec.Struct, frozen=True):
    """One element of `messages`: the client's own bytes, and what they say. A msgspec struct, since there are many to
    a request: it is made in a tenth of a frozen dataclass's time."""

    raw: bytes
    data: Mapping[str, Json]

    @property
    def role(self) -> str:
        role = self.data.get("role")
        return role if isinstance(role, str) else ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and everything up to the next one. Messages before the first user message form the preamble
    (`start == 0`, no user message). `units` are index ranges that must never be cut inside: an assistant message
    with `tool_calls` together with all its tool results, or a single message."""

    start: int  # index of the first message
    stop: int  # index after the last message
    units: tuple[tuple[int, int], ...]  # half-open index ranges that tile [start, stop)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A `/v1/chat/completions` body, parsed once. `raw` is what the client sent, to the byte."""

    raw: bytes
    fields: Mapping[str, Json]  # every top-level field but `messages`, decoded
    messages: tuple[Message, ...]

    @property
    def model(self) -> str:
        return str(self.fields["model"])

    @property
    def stream(self) -> bool:
        return self.fields.get("stream") is True

    @property
    def wants_usage_chunk(self) -> bool:
        options = self.fields.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True


@dataclass(frozen=True, slots=True)
class Directives:
    """What the client asks of us, and not of the upstream: `x-olvido-*` and `Cache-Control`."""

    mode: Mode = "on"
    lookup: bool = True  # may this request be answered from memory?
    store: bool = True  # may its answer be remembered?
    remember: bool = True  # may what is said be kept for later requests?
    opted_in: bool = False  # `x-olvido-cache: on|refresh`: reuse even if the request is not deterministic
    session: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """One HTTP request to the managed route, before anything is decided."""

    request_id: str
    headers: Headers
    body: bytes
    received_at: float  # time.time(): the clock of every decision about this request
    tenant: str = ""  # keyed hash of the client's API key, hex
    query: str = ""  # of the URL, without its question mark


@dataclass(frozen=True, slots=True)
class Scope:
    """The wall nothing crosses: every read and write of memory, cache, index and ledger is by scope."""

    tenant: str  # keyed hash of the API key, hex
    user: str = ""  # the end user that the client names, or ""

    @property
    def id(self) -> str:
        # The tenant has a fixed length, so no user name can make two scopes collide.
        return sys.intern(f"{self.tenant}/{self.user}")  # it is part of many keys that are kept


@dataclass(frozen=True, slots=True)
class Identity:
    """`chain[i]` identifies messages 0..i within the scope: equal links mean equal histories."""

    scope: Scope
    session: str
    session_source: SessionSource
    chain: tuple[bytes, ...]  # 16 bytes a link, one per message
    known: int = 0  # how many leading messages an earlier request of this session already had
    continuity: Continuity = "new"
    private: bool = True  # the scope is one person's: what is said in one conversation may be told in another
    is_answered: bool = True  # an upstream has answered this scope before; until then nothing is made for it

    @property
    def memory(self) -> str:
        """The scope of what is remembered. Among unnamed people who share a key it is the conversation's own, named as
        no end user can be."""
        return self.scope.id if self.private else sys.intern(f"{self.scope.id}~{self.session}")
