"""Protocol of the store of the desk, the memory that the model manages itself: of each session the tape and the events,
of each scope the documents. Scopes, times and errors are as in base.py.

A session belongs to no process: numbers are given inside the transaction that writes, so every worker sees the same
ids, the same tape and the same order. Methods that write return when that is durable, and raise StorageError if it is
not.

What is forgotten leaves here in the transaction in which it leaves the archive, or a fact its store. Lines of forgotten
messages and of their turns lose their content (the line and its id stay), and are written without it if they come
again. Events that repeat them are dropped (hidden exchanges, dashboards, summaries) or lose their texts (edits, which
have nothing to undo then, and calls); so numbers may have gaps. Documents lose the words of a forgotten fact line by
line, their older versions too, and have another version then. A wipe puts all of it aside, and a restore brings it
back. Other processes learn of it as of all that is forgotten (`ForeignWrites`), and read from the beginning.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from proxy.types.desk import DeskCard, DeskEvent, DeskNews, Document, EditedBy, TapeLine

MOST_DOCUMENTS = 200  # of a scope
MOST_BYTES = 256 * 1024  # of a document
OLDER_VERSIONS = 50  # of a document that are kept


class DeskStore(Protocol):
    """The desks of all scopes. `scope` is one of memory, `session` the name of a conversation in it."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing: no tools are offered then."""

    async def since(self, scope: str, session: str, event: int, line: int) -> DeskNews:
        """Returns the events with numbers above `event`, and the lines with ids above `line`."""

    async def write(
        self, scope: str, session: str, lines: Sequence[TapeLine], events: Sequence[DeskEvent] = ()
    ) -> DeskNews:
        """Appends lines whose links the session does not have yet, and events, in one transaction. Returns what was
        appended, with ids and numbers, and for a link that was there already the line as it is, without content."""

    async def tape(
        self, scope: str, session: str, *, after: int = 0, limit: int = 500, links: Sequence[bytes] | None = None
    ) -> list[TapeLine]:
        """Returns lines with their content, in the order of their ids, with ids above `after`; with `links` only those
        of these messages."""

    async def events(
        self, scope: str, session: str, *, before: int | None = None, limit: int = 100, request: str | None = None
    ) -> list[DeskEvent]:
        """Returns the newest events with numbers below `before`, newest first; with `request` only those of that
        request."""

    async def sessions(self, scope: str, limit: int = 100) -> list[DeskCard]:
        """Returns the sessions that have a desk, the latest first."""

    async def documents(self, scope: str) -> list[Document]:
        """Returns all documents that are not removed, by name."""

    async def folders(self) -> dict[str, int]:
        """Returns the scopes that have documents, removed ones too, each with a number that is another one whenever
        something in them has changed."""

    def on_change(self, told: Callable[[str], object]) -> None:
        """Calls `told` with the scope whenever this process has changed documents."""

    async def document(self, scope: str, name: str) -> Document | None:
        """Returns a document, a removed one too; None if there never was one."""

    async def put(
        self,
        scope: str,
        name: str,
        text: str | None,
        *,
        version: int,
        at: float,
        by: EditedBy,
        session: str = "",
        events: Sequence[DeskEvent] = (),
    ) -> Document | None:
        """Writes a document whose version is `version` (0: there is none), or removes it where `text` is None; with it,
        in one transaction, `events` of a session, which tell of it. None if it has another version: then nothing is
        written, and the caller merges. Raises ValueError above `MOST_BYTES` or `MOST_DOCUMENTS`."""

    async def older(self, scope: str, name: str, limit: int = OLDER_VERSIONS) -> list[Document]:
        """Returns earlier versions of a document, the newest first."""

    async def unwritten(self, scope: str, after: int, limit: int = 500) -> list[tuple[int, str, TapeLine]]:
        """Returns lines of all sessions of a scope in the order in which they were written, with their change numbers
        above `after`, and sessions: for tapes on disk. A line that was redacted comes again, without content."""

    async def scrub(self, scope: str, values: Sequence[str]) -> None:
        """Removes what says one of these forgotten values: lines of documents, older versions included, texts of events
        and of hidden messages."""
