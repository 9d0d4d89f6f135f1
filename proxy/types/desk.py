"""Records of the desk: the memory that the model manages itself. Its tools, what it did with them, the tape.

A session's desk is a list of events, append-only, numbered from 1 per session, and a tape of all messages. `link` is as
in memory.py; of what the client never saw it continues the link before it, so that it is unique in the session. Times
are seconds since the epoch, tokens by our count. `raw` of a message is its JSON.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from proxy.types.request import ApiName

ToolName = Literal[
    "prune_messages",
    "summarize_range",
    "recall_original",
    "save_to_disk",
    "load_from_disk",
    "edit_section",
    "remember",
    "forget",
]
SectionName = Literal["user_profile", "project_context", "current_task", "agent_notes"]
Pressure = Literal["low", "medium", "high"]
EditedBy = Literal["model", "person", "api", "memory model", "reset"]


# --- the tape --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TapeLine:
    """A message of a session as it arrived. Its id is never given again, nor changed."""

    id: int  # from 1, in the order of arrival; 0: not numbered yet
    link: bytes
    at: float
    role: str
    tokens: int
    content: bytes | None = None  # the message's JSON; None: forgotten, or not read
    is_hidden: bool = False  # the client never saw it


# --- events ----------------------------------------------------------------------------------------------------------


class Offered(msgspec.Struct, frozen=True, tag="offered"):
    """From here on the tools are offered in this session."""

    language: str
    names: tuple[str, ...]  # as they are offered, in the order of the schemas
    reason: str  # of a bounded set: first, fold, pressure, economic


class Hidden(msgspec.Struct, frozen=True, tag="hidden"):
    """An exchange that the client does not see, to be put back where it was: between the request's last message and its
    answer, and in place of that answer and behind it."""

    link: bytes  # of the last message of the request
    answer: bytes  # link of the answer as the client got it
    before: tuple[bytes, ...]  # messages between request and answer, raw, in their order
    instead: bytes = b""  # the answer as the model gave it, raw; b"": as the client got it
    after: tuple[bytes, ...] = ()  # results of our calls that stand beside the client's: right behind the answer, raw
    calls: tuple[str, ...] = ()  # ids of the calls in the answer as the client got it
    tokens: int = 0  # of all rounds but the last: prompt and completion
    spans: tuple[bytes, ...] = ()  # of `before`, then of `instead`: bytes in another API; (): they have none
    api: ApiName = "messages"  # of these


class Board(msgspec.Struct, frozen=True, tag="board"):
    """A dashboard that was sent with a message, and stays there to the byte."""

    link: bytes  # of the message
    text: str
    level: Pressure
    recommended: str  # of a bounded set; "": nothing


class Mark(msgspec.Struct, frozen=True, tag="mark"):
    """A wish of the model to leave messages out: each by a marker, or all together for a summary of its own."""

    kind: Literal["prune", "range"]
    links: tuple[bytes, ...]  # of the messages
    first: int  # least and greatest id, for display
    last: int
    text: str = ""  # of a range: the summary
    tokens: int = 0  # of the messages when it was made


class Applied(msgspec.Struct, frozen=True, tag="applied"):
    """From this request on marks have taken effect."""

    marks: tuple[int, ...]  # numbers of their events
    reason: str  # of a bounded set: fold, pressure, economic
    saved: int  # tokens


class Pin(msgspec.Struct, frozen=True, tag="pin"):
    """A person's wish that a message stays, or that it need not any more."""

    link: bytes
    is_pinned: bool = True


class Edit(msgspec.Struct, frozen=True, tag="edit"):
    """A change of a document or of the facts, by a tool. `before` and `after` undo it."""

    tool: ToolName | Literal[""]  # "": no tool, but the end of the session, or a person in their own file
    name: str  # of the document, or the key of the fact
    before: str
    after: str
    state: Literal["done", "waiting", "declined"] = "done"  # waiting: for a person, who confirms or declines it
    version: int = 0  # of the document behind it
    fact: str = ""  # id
    by: EditedBy = "model"  # "person": in their own file; a reset leaves it


class Called(msgspec.Struct, frozen=True, tag="called"):
    """A call of one of our tools, and how it ended."""

    tool: str
    arguments: str  # as the model wrote them, at most 2,000 characters
    result: str  # "ok", or the reason of a bounded set why not
    round: int  # from 1


class Confirmed(msgspec.Struct, frozen=True, tag="confirmed"):
    """A person's word on an edit that has waited for it."""

    edit: int  # number of its event
    is_allowed: bool


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The offer ends for this session."""

    reason: str  # of a bounded set: loop, person


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """A person has undone all edits and marks of the session up to here."""

    undone: tuple[str, ...]  # names of documents and keys of facts


Payload: TypeAlias = Offered | Hidden | Board | Mark | Applied | Pin | Edit | Called | Confirmed | Ended | Reset

KINDS = ("offered", "hidden", "board", "mark", "applied", "pin", "edit", "called", "confirmed", "ended", "reset")


@dataclass(frozen=True, slots=True)
class DeskEvent:
    """Something that happened at the desk of a session."""

    at: float
    request_id: str  # "": no request
    payload: Payload
    number: int = 0  # from 1 per session; 0: not stored yet


@dataclass(frozen=True, slots=True)
class DeskNews:
    """Events and lines of a session after those that a reader knows, in their order. Lines are without content."""

    events: tuple[DeskEvent, ...] = ()
    lines: tuple[TapeLine, ...] = ()


# --- documents -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """A text of a person's folder that model and person edit: a section, or a file that the model has saved."""

    name: str  # file name, ".md" included
    text: str
    version: int  # from 1; a removed one keeps counting
    at: float
    by: EditedBy
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class DeskCard:
    """A session with a desk, as a list shows it."""

    session: str
    last_at: float
    messages: int
    events: int


# --- planning ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeskPlan:
    """The decisions of planning about the desk."""

    offers: str = ""  # why the tools are offered from this request on: first, fold, pressure, economic; "": no change
    has_tools: bool = False  # the request carries them
    schemas: int = 0  # how many, at the end of the plan's tools
    applied: tuple[int, ...] = ()  # marks that take effect with this request
    reason: str = ""  # why they do: fold, pressure, economic
    saved: int = 0  # tokens that these marks leave out
    definitions: int = 0  # tokens of the schemas
    used: int = 0  # tokens of the prompt in the upstream's own count, the board not included
