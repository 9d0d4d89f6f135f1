"""The copies of what is kept of a person: every place that has one, for how long, what erases it, what exports it. The
commands `olvido erase` and `olvido export`, the document of operations and a test over the whole schema read it here.

A new table, store, kind of key in Redis or kind of file is named here, or `tests/storage/test_copies.py` fails.
"""

from dataclasses import dataclass
from typing import Literal

Place = Literal["database", "answers", "Redis", "spool", "files", "aside", "memory"]
Ending = Literal["forget", "wipe", "session"]  # what else ends a copy, beside `olvido erase` and its time


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of what somebody has said, or of what was made of it."""

    name: str  # of its file in an export, too
    what: str
    place: Place
    tables: tuple[str, ...] = ()  # that have rows of a scope
    parts: tuple[str, ...] = ()  # tables whose rows go with those of another one
    stores: tuple[str, ...] = ()  # fields of `Storage`
    keys: tuple[str, ...] = ()  # kinds of keys in Redis
    settings: tuple[str, ...] = ()  # that say for how long it is kept
    kept: str = ""  # the same, where no setting says it
    ends: tuple[Ending, ...] = ()
    not_exported: str = ""  # why; "": it is exported


COPIES: tuple[Copy, ...] = (
    Copy(
        "sessions",
        "conversations: their names and aliases, hashes of their messages, states of their prompts, sums",
        "database",
        tables=("sessions", "links", "path_states", "returned_sessions", "session_sums", "aliases"),
        stores=("sessions", "states", "aliases", "returns"),
        settings=("storage.keep.links", "storage.keep.requests"),
        ends=("wipe",),
    ),
    Copy(
        "requests",
        "the ledger: tokens, costs and decisions of each request, without a word of it; sums by the hour and day",
        "database",
        tables=("ledger", "rollups"),
        stores=("ledger", "accounts"),
        settings=("storage.keep.requests", "storage.keep.minutes", "storage.keep.hours"),
        kept="sums by the day: until erased",
    ),
    Copy(
        "contents",
        "what requests and answers said, where `admin.show_content` lets it be kept",
        "database",
        tables=("contents",),
        stores=("contents",),
        settings=("storage.keep.contents", "storage.keep.contents_mb"),
        ends=("forget", "wipe"),
    ),
    Copy(
        "facts",
        "what is remembered",
        "database",
        tables=("facts",),
        stores=("facts",),
        kept="until forgotten",
        ends=("forget", "wipe"),
    ),
    Copy(
        "turns",
        "the archive of what was said, verbatim",
        "database",
        tables=("archive",),
        parts=("archive_links",),
        stores=("archive",),
        settings=("memory.archive_ttl",),
        ends=("forget", "wipe"),
    ),
    Copy(
        "search",
        "the search index of a person with many turns",
        "database",
        tables=("shelves",),
        settings=("memory.archive_ttl",),
        ends=("forget", "wipe"),
        not_exported="made from the turns, and read by nothing but this program",
    ),
    Copy(
        "wiped",
        "facts, turns and documents that were wiped, and can be brought back",
        "database",
        tables=(
            *("wiped_facts", "wiped_archive", "wiped_links"),
            *("wiped_desk_lines", "wiped_desk_events", "wiped_desk_documents"),
        ),
        stores=("wipes",),
        settings=("memory.undo",),
        ends=("forget",),
    ),
    Copy(
        "reuse",
        "questions that may be answered again, with their vectors, and the log of decisions",
        "database",
        tables=("reuse_entries", "reuse_log"),
        stores=("reuse",),
        settings=("reuse.intent.ttl", "reuse.intent.log_rows"),
        kept="with a report against it: 30 days longer",
    ),
    Copy(
        "jobs",
        "what memory's model was shown and has answered, and what it has cost",
        "database",
        tables=("jobs", "job_lines", "job_links", "spending"),
        stores=("jobs",),
        settings=("storage.keep.requests", "memory.archive_ttl"),
        kept="costs: 40 days, and nobody's once their person is erased",
        ends=("forget", "wipe"),
    ),
    Copy(
        "diary",
        "events, digests and summaries that memory's model has written",
        "database",
        tables=("events", "digests", "summaries"),
        settings=("memory.archive_ttl", "storage.keep.requests"),
        kept="digests of days and weeks: until forgotten",
        ends=("forget", "wipe"),
    ),
    Copy(
        "desk",
        "tapes, events and documents of memory that the model manages itself, with their earlier versions",
        "database",
        tables=("desks", "desk_lines", "desk_events", "desk_documents", "desk_older"),
        stores=("desks",),
        settings=("memory.tools.tape_ttl",),
        kept="documents: until removed",
        ends=("forget", "wipe"),
    ),
    Copy(
        "quality",
        "managed answers beside those of the same request as it was",
        "database",
        tables=("quality",),
        stores=("quality",),
        settings=("storage.keep.quality",),
        ends=("forget", "wipe"),
    ),
    Copy(
        "answers",
        "answers for identical requests, on this machine or in Redis",
        "answers",
        stores=("answers",),
        keys=("answer", "flight"),
        settings=("reuse.exact.ttl", "reuse.exact.max_mb"),
    ),
    Copy(
        "hot",
        "hot contexts of conversations, turns under way, what was served last",
        "Redis",
        keys=("hot", "hot keys", "learning", "open_turns", "last_served", "window", "stopped"),
        settings=("shared.hot_context_ttl",),
        ends=("forget", "wipe", "session"),
        not_exported="copies of sessions and turns, gone within minutes",
    ),
    Copy(
        "waiting",
        "rows on their way to PostgreSQL while it is away",
        "spool",
        settings=("storage.spool_mb",),
        kept="until it is back",
    ),
    Copy(
        "files",
        "memory as files: `MEMORY.md`, logs, snapshots, documents, older texts in `.history/`, what a wipe put aside",
        "files",
        settings=(),
        kept="until removed; logs, snapshots and older texts too",
        ends=("forget", "wipe"),
    ),
    Copy(
        "tapes",
        "tapes of sessions on disk: the folder `sessions/` of a person's files",
        "files",
        settings=("memory.tools.tape_ttl", "memory.tools.tape_mb"),
        ends=("forget", "wipe"),
    ),
    Copy(
        "aside",
        "what was there before a backup was restored: an older state of all of this",
        "aside",
        kept="until its folder is removed",
        not_exported="an older state of what is exported",
    ),
    Copy(
        "memory",
        "what processes that serve have in memory",
        "memory",
        kept="until they need the room, or end",
        ends=("forget", "wipe"),
        not_exported="copies of what stands elsewhere",
    ),
)

# Tables, stores and kinds of keys that are no person's, and why.
NOBODYS: dict[str, str] = {
    "scopes": "names of scopes: a person's goes with what is theirs; an export's manifest has it",
    "erased": "hashes of scopes that were erased, for 90 days: by them processes refuse what was said before",
    "rollup_labels": "names of models, upstreams and routes",
    "rollup_progress": "a time",
    "contents_size": "a size",
    "embedded_by": "the name of a model",
    "quality_spending": "sums of money by the day",
    "api_keys": "keys that the proxy has given out: an end user has none",
    "key_sums": "sums of a key by the day, of all its end users",
    "calibrations": "numbers of models",
    "misses": "numbers of models",
    "breakers": "states of upstreams",
    "throttle": "addresses of those who gave a wrong admin token, for a minute",
    "logouts": "hashes of admin cookies that have ended",
    "keys": "keys and their sums, as above",
    "rates": "counts of requests and tokens within a minute, under a hash",
    "under_way": "counts of requests under way, under a hash",
}
