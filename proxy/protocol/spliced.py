"""The ways to splice an answer out of several rounds, by the API in which upstreams give it: as a stream, or whole; and
the body of a further round. What the rounds do in common is decided in `pipeline/tool_turns.py`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from proxy.errors import OlvidoError
from proxy.protocol import apis, sse, tool_results
from proxy.protocol.apis import Reader
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.message import spanned
from proxy.protocol.messages import blocks
from proxy.protocol.messages import bodies as message_bodies
from proxy.protocol.messages.events import events_of
from proxy.protocol.messages.rounds import MessageRound, MessageSplice
from proxy.protocol.messages.whole_rounds import WholeMessageRound, WholeMessageSplice
from proxy.protocol.origin import Origin
from proxy.protocol.responses import bodies as response_bodies
from proxy.protocol.responses import items, reasoning
from proxy.protocol.responses.echoed import Echo, echo_of
from proxy.protocol.responses.events import event
from proxy.protocol.responses.item_events import whole_response
from proxy.protocol.responses.rounds import ResponseRound, ResponseSplice
from proxy.protocol.responses.whole_rounds import WholeResponseRound, WholeResponseSplice
from proxy.protocol.rounds import RoundReader, Whose
from proxy.protocol.splicing import Splice
from proxy.protocol.tool_results import Said
from proxy.protocol.whole_rounds import WholeRound, WholeSplice
from proxy.types import ApiName, ChatRequest, Json, Message, Prompt

_object = msgspec.json.Decoder(dict[str, Any])
_objects = msgspec.json.Decoder(list[dict[str, Any]])


_FREE = (None, "auto")  # choices among tools that leave it to the model


def unspliceable(request: ChatRequest, *, keeps_chains: bool) -> str:
    """Returns the reason why answers in the request's own API cannot be made of several rounds; "": they can.
    `keeps_chains`: responses are kept here, in the provider's place. A response that the provider stores holds what the
    client must not see, or lacks what we have hidden, and a later request may go on from it."""
    origin = request.origin
    if not isinstance(origin, Origin) or origin.api != "responses":
        return ""
    if not request.messages:
        return "input"
    return "stored" if origin.is_kept and not (keeps_chains and origin.is_whole) else ""


def takes_tools(request: ChatRequest, names: Collection[str]) -> bool:
    """Tells whether a request that is sent in its own API can have more tools, of these names: what a chat completion
    cannot express does not forbid it."""
    origin = request.origin
    if not isinstance(origin, Origin) or origin.api != "responses":
        return True
    match origin.fields.get("text"):
        case {"format": dict() as form}:
            is_text = form.get("type") == "text"
        case _:
            is_text = True
    is_free = origin.fields.get("tool_choice") in _FREE
    return is_text and is_free and items.added_tools(request.messages).isdisjoint(names)


def unstored(request: ChatRequest) -> ChatRequest:
    """Returns the request as one of which the provider is to store nothing; itself if it says so."""
    origin = request.origin
    if not isinstance(request, ChatCompletionRequest) or not isinstance(origin, Origin) or not origin.is_kept:
        return request
    return replace(request, origin=replace(origin, is_unstored=True))


class ReadRound(Protocol):
    """A round that has been read, streamed or not."""

    @property
    def ours(self) -> tuple[int, ...]:
        """Positions of the calls that are answered here."""

    @property
    def has_theirs(self) -> bool:
        """True if it has calls of the client's."""

    @property
    def has_text(self) -> bool:
        """True if it has a text for the client."""

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none."""


class StreamSplice(Protocol):
    """A streamed answer, round after round: `splicing.Splice` documents it."""

    @property
    def has_said(self) -> bool: ...  # noqa: D102 (Splice's)
    @property
    def has_calls(self) -> bool: ...  # noqa: D102 (its name says it)
    @property
    def usage(self) -> Mapping[str, Json] | None: ...  # noqa: D102 (its name says it)
    @property
    def answer(self) -> Reader: ...  # noqa: D102 (its name says it)
    def end_round(self, usage: Mapping[str, Json] | None) -> None: ...  # noqa: D102 (its name says it)


class StreamRound(ReadRound, Protocol):
    """A round that is read as a stream: `rounds.RoundReader` documents it."""

    @property
    def failed(self) -> bool: ...  # noqa: D102 (RoundReader's)
    @property
    def is_untouched(self) -> bool: ...  # noqa: D102 (its name says it)
    def feed(self, chunk: bytes) -> bytes: ...  # noqa: D102 (its name says it)
    def end(self) -> bytes: ...  # noqa: D102 (its name says it)
    def closing(self) -> bytes: ...  # noqa: D102 (its name says it)


class WholeOne(ReadRound, Protocol):
    """A round whose body is read at once: `whole_rounds.WholeRound` documents it."""

    @property
    def completion(self) -> Mapping[str, Json]: ...  # noqa: D102 (WholeRound's)
    @property
    def failed(self) -> bool: ...  # noqa: D102 (its name says it)
    def end_round(self) -> None: ...  # noqa: D102 (its name says it)
    def closing(self) -> bytes: ...  # noqa: D102 (its name says it)


class Stream:
    """One streamed answer, in the API of its first round."""

    def __init__(self, api: ApiName, request: ChatRequest | None = None) -> None:
        """`request`: the client's, of which an answer may repeat something."""
        self._splice: Splice | MessageSplice | ResponseSplice
        match api:
            case "messages":
                self._splice = MessageSplice()
            case "responses":
                self._splice = ResponseSplice(_echo(request))
            case "chat":
                self._splice = Splice()

    @property
    def splice(self) -> StreamSplice:
        """The answer so far."""
        return self._splice

    def round(self, whose: Whose) -> StreamRound:
        """Returns a reader of one more round."""
        match self._splice:
            case MessageSplice() as message:
                return MessageRound(message, whose)
            case ResponseSplice() as response:
                return ResponseRound(response, whose)
            case chat:
                return RoundReader(chat, whose)

    def error_event(self, api: ApiName, error: OlvidoError) -> bytes:
        """Returns the event by which the answer says that it has broken off."""
        number = self._splice.number if isinstance(self._splice, ResponseSplice) else 0
        return apis.error_event(api, error, number)


class Whole:
    """One answer that is not streamed, in the API of its first round."""

    def __init__(self, api: ApiName, request: ChatRequest | None = None) -> None:
        """`request`: the client's, of which an answer may repeat something."""
        self._splice: WholeSplice | WholeMessageSplice | WholeResponseSplice
        match api:
            case "messages":
                self._splice = WholeMessageSplice()
            case "responses":
                self._splice = WholeResponseSplice(_echo(request))
            case "chat":
                self._splice = WholeSplice()

    @property
    def rounds(self) -> int:
        """Rounds that have ended."""
        return self._splice.rounds

    @property
    def has_said(self) -> bool:
        """True if an earlier round has said something, reasoning aside."""
        return self._splice.has_said

    def round(self, whose: Whose, body: bytes) -> WholeOne:
        """Returns one more round. Raises ValueError if its body is no JSON object."""
        match self._splice:
            case WholeMessageSplice() as message:
                return WholeMessageRound(message, whose, body)
            case WholeResponseSplice() as response:
                return WholeResponseRound(response, whose, body)
            case chat:
                return WholeRound(chat, whose, body)


def _echo(request: ChatRequest | None) -> Echo:
    origin = None if request is None else request.origin
    return echo_of(origin) if isinstance(origin, Origin) else Echo()


def followed(prompt: Prompt, more: Sequence[Message]) -> bytes:
    """Returns the body of a further round: that of the prompt, with `more` behind its messages. Raises ValueError if it
    is no request with messages."""
    match prompt.api:
        case "messages":
            return message_bodies.followed(prompt.body, more)
        case "responses":
            return response_bodies.followed(prompt.body, more)
        case "chat":
            return tool_results.followed(prompt.body, more)


def in_span(said: Message, span: bytes) -> Message:
    """Returns a message that is kept as one of a chat completion, in the bytes that another API has for it: blocks, or
    items; b"": it has none. Raises ValueError if they are neither."""
    if not span:
        return said
    parts = _objects.decode(b"[%b]" % span)
    is_sealed = blocks.are_signed(parts) or any(map(reasoning.is_sealed, parts))
    return spanned(said, span, is_sealed=is_sealed)


def as_stream(api: ApiName, body: bytes, *, include_usage: bool) -> bytes:
    """Returns a whole answer as the stream that it would have been. Raises ValueError."""
    whole = _object.decode(body)
    if api == "messages":
        return events_of(whole)
    if api == "responses":
        return b"".join(map(event, whole_response(whole)))
    return b"".join(sse.as_sse(whole, include_usage=include_usage))


def completion_in(api: ApiName, body: bytes) -> dict[str, Any]:
    """Returns a whole answer as a completion. Raises ValueError."""
    return _object.decode(apis.as_completion(api, body) or body)
