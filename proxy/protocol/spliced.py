"""The ways to splice an answer out of several rounds, by the API in which upstreams give it: as a stream, or whole; and
the body of a further round. What the rounds do in common is decided in `pipeline/tool_turns.py`."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from proxy.protocol import apis, sse, tool_results
from proxy.protocol.apis import Reader
from proxy.protocol.messages import bodies
from proxy.protocol.messages.events import events_of
from proxy.protocol.messages.rounds import MessageRound, MessageSplice
from proxy.protocol.messages.whole_rounds import WholeMessageRound, WholeMessageSplice
from proxy.protocol.rounds import RoundReader, Whose
from proxy.protocol.splicing import Splice
from proxy.protocol.tool_results import Said
from proxy.protocol.whole_rounds import WholeRound, WholeSplice
from proxy.types import ApiName, Json, Message, Prompt

SPLICED: frozenset[ApiName] = frozenset({"chat", "messages"})  # APIs whose answers can be spliced

_object = msgspec.json.Decoder(dict[str, Any])


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
    def has_calls(self) -> bool: ...  # noqa: D102
    @property
    def usage(self) -> Mapping[str, Json] | None: ...  # noqa: D102
    @property
    def answer(self) -> Reader: ...  # noqa: D102
    def end_round(self, usage: Mapping[str, Json] | None) -> None: ...  # noqa: D102


class StreamRound(ReadRound, Protocol):
    """A round that is read as a stream: `rounds.RoundReader` documents it."""

    @property
    def failed(self) -> bool: ...  # noqa: D102 (RoundReader's)
    @property
    def is_untouched(self) -> bool: ...  # noqa: D102
    def feed(self, chunk: bytes) -> bytes: ...  # noqa: D102
    def end(self) -> bytes: ...  # noqa: D102
    def closing(self) -> bytes: ...  # noqa: D102


class WholeOne(ReadRound, Protocol):
    """A round whose body is read at once: `whole_rounds.WholeRound` documents it."""

    @property
    def completion(self) -> Mapping[str, Json]: ...  # noqa: D102 (WholeRound's)
    @property
    def failed(self) -> bool: ...  # noqa: D102
    def end_round(self) -> None: ...  # noqa: D102
    def closing(self) -> bytes: ...  # noqa: D102


class Stream:
    """One streamed answer, in the API of its first round."""

    def __init__(self, api: ApiName) -> None:
        self._splice: Splice | MessageSplice = MessageSplice() if api == "messages" else Splice()

    @property
    def splice(self) -> StreamSplice:
        """The answer so far."""
        return self._splice

    def round(self, whose: Whose) -> StreamRound:
        """Returns a reader of one more round."""
        if isinstance(self._splice, MessageSplice):
            return MessageRound(self._splice, whose)
        return RoundReader(self._splice, whose)


class Whole:
    """One answer that is not streamed, in the API of its first round."""

    def __init__(self, api: ApiName) -> None:
        self._splice: WholeSplice | WholeMessageSplice = WholeMessageSplice() if api == "messages" else WholeSplice()

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
        if isinstance(self._splice, WholeMessageSplice):
            return WholeMessageRound(self._splice, whose, body)
        return WholeRound(self._splice, whose, body)


def followed(prompt: Prompt, more: Sequence[Message]) -> bytes:
    """Returns the body of a further round: that of the prompt, with `more` behind its messages. Raises ValueError if it
    is no request with messages."""
    work = bodies.followed if prompt.api == "messages" else tool_results.followed
    return work(prompt.body, more)


def as_stream(api: ApiName, body: bytes, *, include_usage: bool) -> bytes:
    """Returns a whole answer as the stream that it would have been. Raises ValueError."""
    whole = _object.decode(body)
    if api == "messages":
        return events_of(whole)
    return b"".join(sse.as_sse(whole, include_usage=include_usage))


def completion_in(api: ApiName, body: bytes) -> dict[str, Any]:
    """Returns a whole answer as a completion. Raises ValueError."""
    return _object.decode(apis.as_completion(api, body) or body)
