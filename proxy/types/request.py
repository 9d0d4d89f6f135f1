"""Aliases and literals that every module uses; a request, its messages and tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Json: TypeAlias = Any
Headers: TypeAlias = tuple[tuple[str, str], ...]  # lower-case names, in the order received
Vector: TypeAlias = npt.NDArray[np.float32]  # an embedding: one dimension, of length 1; or a matrix of them, a row each

# The scope, and the session, of ledger rows of requests whose own scope no upstream has answered yet.
UNANSWERED = "unanswered/"
UNMANAGED = "unmanaged"  # the session of ledger rows of requests that are passed through
MANAGED_ROUTE = "/v1/chat/completions"

ApiName = Literal["chat", "responses", "messages"]  # of an API for conversations
Source = Literal["upstream", "exact", "intent", "command"]
Mode = Literal["on", "meter", "off"]
PlanKind = Literal["untouched", "managed", "over-budget", "fail-open"]
SessionSource = Literal["header", "client", "prompt_cache_key", "metadata", "chain", "new"]
Continuity = Literal["new", "continued", "branched", "regenerated"]
# Kinds of stored rows. cut_links: links that are not stored, since a request has too many.
RowKind = Literal[
    "links",
    "cut_links",
    "turns",
    "states",
    "contents",
    "reuse",
    "ledger",
    "facts",
    "shelves",
    "jobs",
    "desks",
    "keys",
    "quality",
    "deletions",
]
Outcome = Literal["complete", "client_gone", "upstream_broken", "upstream_error", "our_error"]


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call of an assistant message. Parts that cannot be read are "", or None."""

    id: str
    name: str
    arguments: str | None  # as the model wrote them: JSON, if all is well


class Part(msgspec.Struct, frozen=True):
    """One element of a content that is a list."""

    kind: Literal["text", "image", "media", "other"]  # media: sound, video, a file
    definition: Json  # as the client wrote it; opaque
    text: str = ""
    is_low: bool = False  # of an image: asked for in low detail


class Message(Protocol):
    """A message of a conversation: the client's own bytes, and properties read from them, the same for every API.
    `proxy/protocol` makes messages, and changed ones from them; nothing else reads `data`."""

    @property
    def raw(self) -> bytes:
        """The client's bytes, JSON."""

    @property
    def data(self) -> Mapping[str, Json]:
        """The bytes, decoded. Opaque outside of `proxy/protocol`."""

    @property
    def span(self) -> bytes:
        """The client's bytes in the API that it has used: items or blocks, joined by commas. b"": it is that of chat
        completions, or the message is none of the client's own, or a changed one."""

    @property
    def is_sealed(self) -> bool:
        """True if it holds what only its own API can say, such as reasoning that is encrypted or signed: nothing in it
        may be rewritten."""

    @property
    def role(self) -> str:
        """The role; "" if there is none."""

    @property
    def text(self) -> str:
        """The text parts, joined by line ends; "" if there are none."""

    @property
    def is_plain(self) -> bool:
        """True if the content is one string."""

    @property
    def is_bare(self) -> bool:
        """True if nothing in it costs tokens but a role and one string."""

    @property
    def texts(self) -> Sequence[str]:
        """The text parts, each by itself."""

    @property
    def has_only_text(self) -> bool:
        """True if the content is made of text alone."""

    @property
    def sole_text(self) -> str | None:
        """The text; None if the message has anything else, or an unknown field."""

    @property
    def written(self) -> str:
        """The text of all parts, those in another API's or provider's form included."""

    @property
    def is_multimodal(self) -> bool:
        """True if it has parts that are not text."""

    @property
    def parts(self) -> Sequence[Part]:
        """The parts of a content that is a list."""

    @property
    def beside(self) -> Sequence[Json]:
        """Texts and JSON values that cost tokens beside the content: reasoning, a refusal, calls."""

    @property
    def name(self) -> str | None:
        """The name of the author, or None."""

    @property
    def reasoning(self) -> str:
        """The reasoning of an assistant message, from each provider's own fields."""

    @property
    def calls_tools(self) -> bool:
        """True if it calls tools."""

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls of an assistant message."""

    @property
    def tool_call_id(self) -> str:
        """The id of the call that a tool's result answers."""


class Tool(msgspec.Struct, frozen=True):
    """A function that the client offers to the model."""

    name: str  # "": it cannot be read
    parameters: Json  # JSON Schema of its arguments
    definition: Json  # as the client wrote it; opaque


class ResponseFormat(msgspec.Struct, frozen=True):
    """The response format that a request asks for."""

    kind: str  # "text", "json_object", "json_schema"; "": it cannot be read
    schema: Json = None  # JSON Schema of the answer; None: there is none


class Sampling(msgspec.Struct, frozen=True):
    """The sampling parameters of a request. None: not given, or no number."""

    temperature: float | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The breakpoints that a client has set, in an API whose provider caches only what is marked (`cache_control`)."""

    instructions: bool = False  # in tools or instructions
    messages: bool = False
    automatic: bool = False  # the provider sets one on the last block
    for_an_hour: bool = False  # the last of them lasts for an hour, and not for five minutes

    @property
    def in_conversation(self) -> bool:
        """True if more than tools and instructions is cached."""
        return self.messages or self.automatic


class RequestOrigin(Protocol):
    """A request as it came in an API that is not chat completions. `proxy/protocol/origin.py` documents it."""

    @property
    def api(self) -> ApiName:
        """The API."""

    @property
    def hands_off(self) -> str:
        """The reason why it is sent on only as it came; "": it may be rewritten."""

    @property
    def is_unstored(self) -> bool:
        """True if the provider is to keep nothing of it, though the client may think so."""

    @property
    def foreign(self) -> str:
        """The field that no chat completion can express; "": there is none."""

    @property
    def is_bound(self) -> bool:
        """True if a chat completion in its place would lack something: what none can express, or the provider holds."""

    @property
    def breakpoints(self) -> Breakpoints | None:
        """The client's breakpoints; None: the API has none, its provider caches what it can."""


class ChatRequest(Protocol):
    """A request for the next message of a conversation, parsed once, whichever API it is written for. `raw` is what
    the client sent, to the byte; nothing but `proxy/protocol` reads `fields`."""

    @property
    def raw(self) -> bytes:
        """The client's bytes, JSON."""

    @property
    def fields(self) -> Mapping[str, Json]:
        """All of the request but its messages, decoded. Opaque outside of `proxy/protocol`."""

    @property
    def origin(self) -> "RequestOrigin | None":
        """The request as it came in another API than chat completions; None: it came in that."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""

    @property
    def model(self) -> str:
        """The model that is asked for."""

    @property
    def stream(self) -> bool:
        """True if the answer is to be streamed."""

    @property
    def wants_usage_chunk(self) -> bool:
        """True if the stream is to end with a chunk of usage."""

    @property
    def n(self) -> float:
        """The number of answers asked for; 0 if it is no number."""

    @property
    def answer_limit(self) -> int | None:
        """The tokens that the answer may have at most; None: not given."""

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters."""

    @property
    def has_tools(self) -> bool:
        """True if it offers tools."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The functions that it offers, but for those in the legacy form `functions`."""

    @property
    def tool_names(self) -> Sequence[str | None]:
        """The names of the tools that the client would run; None for one that the provider runs, or that is
        unreadable."""

    @property
    def tool_choice(self) -> str | None:
        """ "none", "auto", "required" (also if one is named); None: not given."""

    @property
    def response_format(self) -> ResponseFormat | None:
        """The response format; None: not given."""

    @property
    def constrains_text(self) -> bool:
        """True if a field of the provider's own binds the answer's text to a grammar, a schema or a choice."""

    @property
    def wants_token_details(self) -> bool:
        """True if it asks for the tokens of the answer, or their probabilities."""

    @property
    def wants_audio(self) -> bool:
        """True if it asks for sound."""

    @property
    def wants_search(self) -> bool:
        """True if the provider is to search while it answers."""

    @property
    def beside(self) -> Mapping[str, Json]:
        """The values that cost tokens beside the messages: tools, the response format."""

    @property
    def most_tokens(self) -> int | None:
        """The most tokens that the answer may have; None: not given."""

    @property
    def session_hint(self) -> tuple[str, SessionSource] | None:
        """The name of the conversation that the body gives, and its source; None: not given."""

    @property
    def user_hint(self) -> str:
        """The end user that the body names; "" if none."""
