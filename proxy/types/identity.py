"""The sender of a request, its conversation, and what its headers direct."""

import sys
from dataclasses import dataclass, field

from proxy.types.request import Continuity, Headers, Mode, SessionSource


@dataclass(frozen=True, slots=True)
class Directives:
    """The client's directives by headers: `x-olvido-*`, `Cache-Control`, and those of well-known clients."""

    mode: Mode = "on"
    settled: bool = False  # the mode is what was decided, the configuration included
    held: str = ""  # why the proxy itself has weakened it; "": it has not
    lookup: bool = True  # this request may be answered by reuse
    store: bool = True  # its answer may be stored for reuse
    remember: bool = True  # its texts may be kept in memory
    opted_in: bool = False  # `x-olvido-cache: on|refresh`: reuse even if the request is not deterministic
    session: str | None = None  # `x-olvido-session`
    client_session: str | None = None  # a header by which a known client names the conversation
    user: str | None = None  # `x-olvido-user`, or a known client's header
    ends: bool = False  # `x-olvido-session-end`: the conversation ends with this answer
    tools: bool | None = None  # `x-olvido-tools: on | off`: memory that the model manages; None: as configured
    project: str | None = None  # `x-olvido-project`
    pins: bool = False  # `x-olvido-pin`: the newest user message is to stay


@dataclass(frozen=True, slots=True)
class Incoming:
    """An HTTP request to the managed route, before any decision."""

    request_id: str
    headers: Headers
    body: bytes
    received_at: float  # time.time(): the clock of every decision about this request
    tenant: str = ""  # keyed hash of the client's API key, hex
    query: str = ""  # of the URL, without its question mark


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of stored data: every read and write of memory, cache, index and ledger is by scope, never across
    it."""

    tenant: str  # keyed hash of the API key, hex
    user: str = ""  # the end user that the client names, or ""
    id: str = field(init=False, repr=False, compare=False)  # the name of the scope, `<tenant>/<user>`

    def __post_init__(self) -> None:
        """Makes the name once: a request asks for it a dozen times, and it is part of many keys that are kept."""
        # The tenant has a fixed length, so no user name can make two scopes collide.
        object.__setattr__(self, "id", sys.intern(f"{self.tenant}/{self.user}"))


@dataclass(frozen=True, slots=True)
class Identity:
    """The scope and the conversation of a request. `chain[i]` identifies messages 0..i within the scope: equal links
    mean equal histories."""

    scope: Scope
    session: str
    session_source: SessionSource
    chain: tuple[bytes, ...]  # 16 bytes a link, one per message
    known: int = 0  # leading messages that an earlier request of this session already had
    continuity: Continuity = "new"
    private: bool = True  # the scope is one person's: memories of one conversation may be used in another
    # An upstream has answered this scope before, as far as could be looked up; until then nothing is stored for it.
    is_answered: bool = True
    # Link of the message before the first of a user, where a command has cleared what was said before: that message.
    root: bytes = b""

    @property
    def memory(self) -> str:
        """The scope of memory. Where unnamed people share a key it is the conversation's own, with a name that no end
        user can have."""
        return self.scope.id if self.private else sys.intern(f"{self.scope.id}~{self.session}")
