"""Records of memory with a model's help: jobs, what a model proposed and what came of it, events, digests, summaries.

Times are seconds since the epoch, money is in US dollars. `link` is as in memory.py.
"""

from dataclasses import dataclass
from typing import Literal

from proxy.types.memory import Summary

JobKind = Literal["extract", "consolidate", "digest", "conclude"]
# answered: the model's answer is in the row, what it proposes is not carried out yet.
JobState = Literal["waiting", "running", "answered", "done", "given-up"]
OperationName = Literal["add", "update", "invalidate", "merge"]
DigestSpan = Literal["hour", "day", "week"]


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work for the model, a row: at most one of a scope, kind and subject waits."""

    id: int
    scope: str  # of memory
    kind: JobKind
    subject: (
        str  # extract: the session; consolidate: ""; digest: its span and begin, "day 2026-11-23" (`digest_subject`);
        # conclude: project and session, "shop/trips"
    )
    state: JobState
    created_at: float
    due_at: float  # not before
    attempts: int = 0  # begun, the running one included
    reason: str = ""  # why it waits longer, or was given up, or what came of it: of a bounded set
    owner: str = ""  # who runs it
    lease_until: float = 0.0  # after which another may run it
    done_at: float = 0.0
    model: str = ""
    prompt: str = ""  # name and version of the prompt: "extract.es 3f2a91c0"
    spent: float = 0.0  # what its calls have cost, and what is set aside for one under way
    shown: bytes = (
        b""  # JSON, for the reader of the answer: the versions of the facts that the model was shown, and more
    )
    read: tuple[bytes, ...] = ()  # links of the messages that the model was shown
    answer: bytes = b""  # the model's, until it is carried out
    lines: tuple["OutcomeLine", ...] = ()


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """One thing that the model proposed, and what came of it."""

    op: str  # an OperationName, "event", "summary", "slug"; of a conclusion "task", "lesson", "note", "project",
    # "outdated"; or "" for an answer of which nothing could be read
    result: Literal["kept", "refused", "undone"]
    reason: str = ""  # why it was refused, of a bounded set
    domain: str = ""
    key: str = ""
    value: str = ""  # the proposed one, cut
    quote: str = ""  # the user's words it rests on
    turn: int = 0
    link: bytes = b""  # of the quoted message
    fact_id: str = ""  # the fact that it made or changed
    before: tuple[str, ...] = ()  # ids of the facts that it ended


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """Something that happened, worth a line of a diary. `code` names it within its scope."""

    code: str  # "e-" and 16 hex digits: a hash of its job and its place there
    at: float  # of the turn that tells of it
    session: str
    turn: int
    text: str
    link: bytes  # of the user message of that turn


@dataclass(frozen=True, slots=True)
class Digest:
    """A short text of all that happened in an hour, a day or a week of UTC."""

    span: DigestSpan
    at: float  # its beginning
    text: str
    by_model: bool  # False: put together of its events without one


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary that a model has made of turns of a conversation."""

    link: bytes  # of the last message of the last turn: it identifies the path
    session: str
    at: float
    summary: Summary


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a job, written in one transaction with its end."""

    lines: tuple[OutcomeLine, ...] = ()
    events: tuple[MemoryEvent, ...] = ()
    digest: Digest | None = None
    summary: StoredSummary | None = None
    slug: str = ""  # name for the snapshot of the conversation
    reason: str = ""  # a word for what came of it, such as "nothing new"


@dataclass(frozen=True, slots=True)
class SpendLimits:
    """The limits of what memory's calls may cost, all of them hard."""

    per_day: float  # of all scopes, per day of UTC
    allowance: float  # of one end user per day, whatever was saved
    share: float  # what the last 30 days of an end user may cost beyond the allowances of their days


@dataclass(frozen=True, slots=True)
class MemorySpend:
    """The sums that memory's calls have cost, for the page."""

    today: float  # of all, since midnight UTC
    scope_today: float
    scope_30_days: float
