"""The request, who asks, and in which conversation."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from proxy.types.base import Continuity, Headers, Json, Mode, SessionSource


class ToolCall(msgspec.Struct, frozen=True):
    """A call that an assistant message makes. What cannot be read of it is "", or None."""

    id: str
    name: str
    arguments: str | None  # as the model wrote them: JSON, if all is well


class Part(msgspec.Struct, frozen=True):
    """One element of a content that is a list."""

    kind: Literal["text", "image", "media", "other"]  # media: sound, video, a file
    text: str
    is_low: bool  # of an image: asked for in low detail
    definition: Json  # as the client wrote it; opaque


class Message(Protocol):
    """One element of a conversation: the client's own bytes, and what they say, whichever API they are written for.
    `proxy/protocol` makes them, and changed ones from them; nothing else reads `data`."""

    @property
    def raw(self) -> bytes: ...
    @property
    def data(self) -> Mapping[str, Json]: ...  # the bytes, decoded. Opaque outside of `proxy/protocol`
    @property
    def role(self) -> str: ...
    @property
    def text(self) -> str: ...  # the text parts, joined by line ends; "" if there are none
    @property
    def is_plain(self) -> bool: ...  # is the content one string?
    @property
    def is_bare(self) -> bool: ...  # is there nothing in it that costs tokens but a role and one string?
    @property
    def texts(self) -> Sequence[str]: ...  # the text parts, each by itself
    @property
    def has_only_text(self) -> bool: ...  # is the content made of nothing but text?
    # The text; None if the message carries anything else, or a field that nobody has heard of
    @property
    def sole_text(self) -> str | None: ...
    @property
    def written(self) -> str: ...  # the text of all parts, those in another API's or provider's form included
    @property
    def is_multimodal(self) -> bool: ...
    @property
    def parts(self) -> Sequence[Part]: ...  # of a content that is a list
    # Texts and JSON values that cost tokens beside the content: reasoning, a refusal, calls
    @property
    def beside(self) -> Sequence[Json]: ...
    @property
    def name(self) -> str | None: ...
    @property
    def reasoning(self) -> str: ...  # the thinking that an assistant message tells, in each provider's own places
    @property
    def calls_tools(self) -> bool: ...
    @property
    def tool_calls(self) -> Sequence[ToolCall]: ...
    @property
    def tool_call_id(self) -> str: ...  # of the call that a tool's result answers


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and everything up to the next one. Messages before the first user message form the preamble
    (`start == 0`, no user message). `units` are index ranges that must never be cut inside: an assistant message
    with `tool_calls` together with all its tool results, or a single message."""

    start: int  # index of the first message
    stop: int  # index after the last message
    units: tuple[tuple[int, int], ...]  # half-open index ranges that tile [start, stop)


class Tool(msgspec.Struct, frozen=True):
    """A function that the client offers to the model."""

    name: str  # "": it cannot be read
    parameters: Json  # JSON Schema of its arguments
    definition: Json  # as the client wrote it; opaque


class ResponseFormat(msgspec.Struct, frozen=True):
    """The form that an answer must have."""

    kind: str  # "text", "json_object", "json_schema"; "": it cannot be read
    schema: Json = None  # that a JSON answer satisfies; None: it need not be JSON


class Sampling(msgspec.Struct, frozen=True):
    """None: not given, or no number."""

    temperature: float | None
    seed: int | None


class ChatRequest(Protocol):
    """A request for the next message of a conversation, parsed once, whichever API it is written for. `raw` is what
    the client sent, to the byte; nothing but `proxy/protocol` reads `fields`."""

    @property
    def raw(self) -> bytes: ...
    # All of the request but its messages, decoded. Opaque outside of `proxy/protocol`
    @property
    def fields(self) -> Mapping[str, Json]: ...
    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def model(self) -> str: ...
    @property
    def stream(self) -> bool: ...
    @property
    def wants_usage_chunk(self) -> bool: ...
    @property
    def n(self) -> float: ...  # answers asked for; 0: it is no number
    @property
    def sampling(self) -> Sampling: ...
    @property
    def has_tools(self) -> bool: ...
    @property
    def tools(self) -> Sequence[Tool]: ...
    # Of every tool that the client would run; None for one that the provider runs, or that cannot be read
    @property
    def tool_names(self) -> Sequence[str | None]: ...
    @property
    def tool_choice(self) -> str | None: ...  # "none", "auto", "required" (also where one is named); None: not given
    @property
    def response_format(self) -> ResponseFormat | None: ...
    # Must the text of the answer follow a grammar, a schema or a choice, by a field of the provider's own?
    @property
    def constrains_text(self) -> bool: ...
    @property
    def wants_token_details(self) -> bool: ...  # does it ask for the tokens of the answer, or their probabilities?
    @property
    def wants_audio(self) -> bool: ...
    @property
    def wants_search(self) -> bool: ...  # is the provider told to look things up while it answers?
    # The values that cost tokens beside the messages: tools, the response format
    @property
    def beside(self) -> Mapping[str, Json]: ...
    # The name of the conversation that the body gives, and where
    @property
    def session_hint(self) -> tuple[str, SessionSource] | None: ...
    @property
    def user_hint(self) -> str: ...  # the end user that the body names; "" if none


@dataclass(frozen=True, slots=True)
class Directives:
    """What the client tells us by its headers: `x-olvido-*`, `Cache-Control`, and those of well-known clients."""

    mode: Mode = "on"
    lookup: bool = True  # may this request be answered from memory?
    store: bool = True  # may its answer be remembered?
    remember: bool = True  # may what is said be kept for later requests?
    opted_in: bool = False  # `x-olvido-cache: on|refresh`: reuse even if the request is not deterministic
    session: str | None = None  # `x-olvido-session`
    client_session: str | None = None  # a header by which a known client names the conversation
    user: str | None = None  # `x-olvido-user`, or a known client's header


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
