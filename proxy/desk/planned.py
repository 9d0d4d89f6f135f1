"""The desk of a request as planning is told of it. Its decisions are a `DeskPlan`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.types import Json, Message
from proxy.types.desk import Offered


@dataclass(frozen=True, slots=True)
class View:
    """A request's messages as they go into planning: the client's own, with what it never saw put back where it was. A
    later request's view begins with an earlier one's, so indices and links stay."""

    messages: tuple[Message, ...]
    chain: tuple[bytes, ...]  # links; the client's own for messages that it knows
    keys: tuple[bytes, ...]  # by which tokens of messages are remembered: of bytes that differ, they differ
    hidden: frozenset[int] = frozenset()  # messages that the client has not sent
    ids: tuple[int, ...] = ()  # of the tape; 0: not numbered
    own: tuple[int, ...] = ()  # index of each of the client's messages
    ours: tuple[int, ...] = ()  # tokens of each message that a client without our tools would not have sent


@dataclass(frozen=True, slots=True)
class MarkedEdit:
    """A mark of the model as it changes the view, valid in every dialect: never a call without its results, never what
    is pinned, never the newest step."""

    mark: int  # number of its event
    removed: tuple[int, ...] = ()  # indices
    replaced: Mapping[int, Message] = field(default_factory=dict)  # by index: a marker, a summary's carrier


@dataclass(frozen=True, slots=True)
class DeskInput:
    """The desk of one request, for planning."""

    view: View
    head: str = ""  # sections, as a new head begins; with the rules for the tools where these are offered
    rules: str = ""  # the rules for using the tools: before the sections, once they are offered
    schemas: tuple[Json, ...] = ()  # definitions, sorted; () where none can be offered
    offered: Offered | None = None  # they are offered in this session already
    at_once: bool = False  # to be offered from the first request on
    edits: tuple[MarkedEdit, ...] = ()  # all marks that stand, oldest first
    limit: int | None = None  # tokens of context that pressure is measured against
    threshold: float = 0.5
