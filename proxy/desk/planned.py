"""The desk of a request as planning is told of it. Its decisions are a `DeskPlan`."""

from dataclasses import dataclass

from proxy.types import Json, Message
from proxy.types.desk import Mark, Offered


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
class Marked:
    """A mark that stands, and what it must not touch."""

    number: int  # of its event
    mark: Mark
    stay: frozenset[int] = frozenset()  # indices: pins, instructions, the newest question and step


@dataclass(frozen=True, slots=True)
class DeskInput:
    """The desk of one request, for planning."""

    view: View
    sections: str = ""  # as a new head begins; "": there are none
    rules: str = ""  # for using the tools: before the sections, once they are offered
    schemas: tuple[Json, ...] = ()  # definitions, sorted; () where none can be offered
    offered: Offered | None = None  # they are offered in this session already
    ended: bool = False  # the offer has ended: their schemas stay until the next fold, then they are offered no more
    at_once: bool = False  # to be offered from the first request on
    marks: tuple[Marked, ...] = ()  # that stand, oldest first
    limit: int | None = None  # tokens of context that pressure is measured against
    threshold: float = 0.5

    @property
    def is_idle(self) -> bool:
        """True if nothing of the desk is in the prompt, nor is to be."""
        return not (
            self.offered or self.at_once or self.sections or self.marks or self.view.hidden or any(self.view.ours)
        )
