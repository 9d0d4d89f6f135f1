"""The tools of the desk, run: each order carried out durably, by scope, and answered with a sentence.

Nothing here raises: what goes wrong is counted, logged, and a sentence to the model. Orders are safe to repeat: a text
that is there already, a fact that is known, a mark that stands change nothing the second time.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter

import msgspec

from proxy.config.memory import MemoryTools
from proxy.conversation.blocks import without_ours
from proxy.desk import memory_tool, repeated, tools, trust, wishes
from proxy.desk.memory_tool import Command, Create, Delete, Insert, Rename, Replace, View
from proxy.desk.merging import merged
from proxy.desk.schemas import MEMORY
from proxy.desk.sentences import sentence
from proxy.desk.tools import EditSection, Forget, Load, Order, Prune, Recall, Remember, Save, Summarise, Unclear
from proxy.desk.wishes import Numbered, Unfit
from proxy.memory.library import Library
from proxy.pipeline.desk_documents import Documents, Tells, Unwritten
from proxy.pipeline.desk_facts import DeskFacts
from proxy.pipeline.desk_memory import MemoryFolder
from proxy.protocol.calls import meant
from proxy.storage.base import StorageError
from proxy.storage.desk import DeskStore
from proxy.tasks import Attempts, Offload
from proxy.tokens import TokenCounter
from proxy.types import Language, Message, ToolCall
from proxy.types.desk import Called, DeskEvent, Edit, Ended, Hidden, Mark, Payload, ToolName

DEADLINE = 4.0  # seconds for a call
LONGEST_TOLD = 2_000  # characters of a call's arguments that are kept
INLINE = 4_096  # bytes that are read on the event loop

OnCall = Callable[[str, str], object]  # (tool, result) → the metric


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of one request at the desk of its session."""

    scope: str  # of memory
    session: str
    request_id: str
    at: float
    language: Language
    names: tuple[str, ...]  # of the tools as they are offered, in the order of `schemas.NAMES`; (): they are not
    numbered: Numbered
    marked: frozenset[bytes]  # links under standing marks
    edits: tuple[Edit, ...]  # of the session, the newest first
    begun_at: float  # when the desk of the session began
    is_ended: bool = False
    project: str = ""
    versions: Mapping[str, int] = field(default_factory=dict)  # of the documents, by name
    keeps_facts: bool = True  # facts may be kept of this request
    results: Mapping[tuple[str, bytes], str] = field(default_factory=dict)  # of the client's tools: `repeated.results`


@dataclass(slots=True, eq=False)
class DeskTools:
    """The runner of one request (`ToolRunner`)."""

    seat: Seat
    _: KW_ONLY
    store: DeskStore
    library: Library
    counter: TokenCounter
    executor: Executor
    settings: MemoryTools
    attempts: Attempts
    on_call: OnCall = lambda _tool, _result: None
    _answered: dict[str, str] = field(default_factory=dict, init=False)  # by id of the call
    _edits: list[Edit] = field(default_factory=list, init=False)  # of this request, the newest first
    _marked: set[bytes] = field(default_factory=set, init=False)  # in this request
    _is_ended: bool = field(default=False, init=False)

    @property
    def may_answer(self) -> frozenset[str]:
        """As for a `ToolRunner`."""
        return frozenset((*self.seat.names, *(name for name, _ in self.seat.results)))

    def answers(self, call: ToolCall) -> bool:
        """As for a `ToolRunner`."""
        return meant(call.name, self.seat.names) is not None or repeated.call_key(call) in self.seat.results

    async def run(self, calls: Sequence[ToolCall], round_: int) -> Sequence[str]:
        """As for a `ToolRunner`."""
        return [await self._told(call, round_) for call in calls]

    async def keep(self, hidden: Hidden) -> bool:
        """As for a `ToolRunner`."""
        work = self._write(hidden)
        return await self.attempts.run("tools", work, fallback=False, deadline=DEADLINE)

    async def _write(self, *payloads: Payload) -> bool:
        await self.store.write(self.seat.scope, self.seat.session, (), self._events(payloads))
        return True

    def _events(self, payloads: Sequence[Payload]) -> list[DeskEvent]:
        return [DeskEvent(self.seat.at, self.seat.request_id, payload) for payload in payloads]

    async def _told(self, call: ToolCall, round_: int) -> str:
        if call.id in self._answered:
            return self._answered[call.id]
        if (name := meant(call.name, self.seat.names)) is None:
            key = repeated.call_key(call)
            found = self.seat.results.get(key) if key else None
            self.on_call("client", "ok" if found is not None else "unknown-tool")
            return found if found is not None else self._say("unknown-tool")
        work = self._carried_out(msgspec.structs.replace(call, name=name), round_)
        started = perf_counter()
        told = await self.attempts.run("tools", work, fallback=self._say("unreached"), deadline=DEADLINE)
        if (trace := self.attempts.trace) is not None:
            trace.tool(call.name, started, perf_counter(), self.attempts.failed.get("tools"))
        if call.id:
            self._answered[call.id] = told
        return told

    async def _carried_out(self, call: ToolCall, round_: int) -> str:
        name = tools.named(call.name, self.seat.names)
        assert name is not None, "asked for by name"
        done: list[Payload] = []
        result = "ok"
        size = len(call.arguments or "")

        def order() -> Order | Command:
            return memory_tool.read(call.arguments) if name == MEMORY else tools.read(name, call.arguments)

        try:
            told, done = await self._does(await Offload(self.executor, size, inline_bytes=INLINE)(order))
        except Unclear as unclear:
            result, told = unclear.reason, self._say(unclear.reason, about=unclear.about)
        except Unfit as unfit:
            result, told = unfit.reason, self._say(unfit.reason, **unfit.values)
        except Unwritten as unwritten:
            result, told = unwritten.reason, self._say(unwritten.reason, **unwritten.values)
        except StorageError:
            self.on_call(name, "unreached")
            raise
        self.on_call(name, result)
        arguments = (call.arguments or "")[:LONGEST_TOLD]
        await self._write(*done, Called(name, arguments, result, round_))
        return told

    async def _does(self, order: Order | Command) -> tuple[str, list[Payload]]:
        if self.seat.is_ended or self._is_ended:
            raise Unfit("ended")
        match order:
            case View() | Create() | Replace() | Insert() | Delete() | Rename():
                return await MemoryFolder(self._documents, self._written, self._removed).carried_out(order)
            case Prune() | Summarise():
                return await self._marks(order)
            case Recall():
                return await self._recalled(order.id), []
            case Save():
                return await self._saved(order.name, order.content)
            case EditSection():
                return await self._saved(self._documents.file_of(order.section), order.content)
            case Load():
                return await self._loaded(order.name), []
            case Remember():
                edit = await self._facts.remember(order, self._quotes)
                return self._say("waits" if edit.state == "waiting" else "remembered", key=edit.name), self._noted(edit)
            case Forget():
                edit = await self._facts.forget(order)
                return self._say("forgotten", what=edit.name), self._noted(edit)

    @property
    def _facts(self) -> DeskFacts:
        seat = self.seat
        return DeskFacts(self.library, seat.scope, seat.at, seat.keeps_facts)

    def _say(self, said: str, /, **values: object) -> str:
        return sentence(self.seat.language, said, **values)

    async def _count(self, text: str) -> int:
        return await Offload(self.executor, len(text), inline_bytes=INLINE)(lambda: self.counter.text(text))

    # --- marks --------------------------------------------------------------------------------------------------------

    async def _marks(self, order: Prune | Summarise) -> tuple[str, list[Payload]]:
        marked = self.seat.marked | self._marked
        made: Mark
        if isinstance(order, Prune):
            made, said = wishes.pruned(order, self.seat.numbered, marked), "marked"
        else:
            tokens = await self._count(order.text)
            made, said = wishes.summarised(order, self.seat.numbered, marked, tokens), "summarised"
        self._marked.update(made.links)
        return self._say(said, messages=len(made.links), tokens=made.tokens), [made]

    # --- originals ----------------------------------------------------------------------------------------------------

    async def _recalled(self, name: int) -> str:
        numbered = self.seat.numbered
        if name not in numbered.places:
            return await self._off_the_tape(name)
        index, view = numbered.places[name], numbered.view
        if self.library.has_forgotten(self.seat.scope, (view.chain[index],)):
            raise Unfit("was-forgotten", id=name)
        original = _original(view.messages[index])
        return without_ours(original) if view.ours[index] and index not in view.hidden else original

    async def _off_the_tape(self, name: int) -> str:
        """Returns a message of this session that is on another path, or was cleared."""
        if not 1 <= name <= self.seat.numbered.last:
            raise Unfit("unknown-id", id=name, last=self.seat.numbered.last)
        lines = await self.store.tape(self.seat.scope, self.seat.session, after=name - 1, limit=1)
        if not lines or lines[0].id != name:
            raise Unfit("gone", id=name)
        if lines[0].content is None or self.library.has_forgotten(self.seat.scope, (lines[0].link,)):
            raise Unfit("was-forgotten", id=name)
        return lines[0].content.decode()

    # --- documents ----------------------------------------------------------------------------------------------------

    @property
    def _documents(self) -> Documents:
        seat = self.seat
        return Documents(
            store=self.store,
            scope=seat.scope,
            project=seat.project,
            limits=self.settings.sections,
            since=seat.begun_at,
            at=seat.at,
            session=seat.session,
            versions=seat.versions,
        )

    async def _saved(self, name: str, content: str) -> tuple[str, list[Payload]]:
        instead = await self._written(name, content)
        if instead is not None:
            return instead
        tokens = await self._count(content)
        return self._say("edited" if tools.section_of(name) else "saved", name=name, tokens=tokens), []

    async def _written(self, name: str, content: str, made_of: str | None = None) -> tuple[str, list[Payload]] | None:
        """Writes a document; returns what the model is told instead where nothing was written. The document's events
        are written with it. `made_of`: the text that the model has changed; None: what it wrote there last."""
        documents = self._documents
        section = tools.section_of(name)
        tokens = await self._count(content)
        before = await documents.text(name)
        tool = self._tool(section)
        if section == "user_profile" and self._quotes(content, before):
            return self._say("waits"), self._noted(Edit(tool, name, before, content, "waiting"))
        known = self._own_last(name) if made_of is None else made_of
        wrote = await documents.write(name, content, tokens, known, merged, self._tells(tool, name))
        if wrote is None:
            return self._say("unchanged", name=name), self._noted(Edit(tool, name, content, content))
        self._noted(Edit(tool, name, wrote.before, wrote.document.text, version=wrote.document.version))
        return None

    async def _removed(self, name: str) -> None:
        """Removes a document; its events are written with it."""
        tool = self._tool(tools.section_of(name))
        wrote = await self._documents.remove(name, self._tells(tool, name))
        if wrote is not None:
            self._noted(Edit(tool, name, wrote.before, "", version=wrote.document.version))

    def _tells(self, tool: ToolName, name: str) -> Tells:
        return lambda before, after, version: self._events(self._of(Edit(tool, name, before, after, version=version)))

    def _tool(self, section: str | None) -> ToolName:
        return "edit_section" if section else "save_to_disk"

    def _own_last(self, name: str) -> str | None:
        """Returns what this session wrote there last."""
        made = (each for each in (*self._edits, *self.seat.edits) if each.tool)  # not at an end that it went on after
        return next((each.after for each in made if each.name == name and each.state == "done"), None)

    def _quotes(self, text: str, before: str) -> bool:
        messages = self.seat.numbered.view.messages
        return self.settings.confirm == "profile" and trust.quotes_others(text, messages, before)

    def _noted(self, edit: Edit) -> list[Payload]:
        """Returns the events of an edit, which counts from now on."""
        told = self._of(edit)
        self._is_ended = repeated.goes_round(self._known, edit)
        self._edits.insert(0, edit)
        return told

    def _of(self, edit: Edit) -> list[Payload]:
        """Returns the events of an edit: itself, and the end of the offer where it goes round in circles."""
        changes: list[Payload] = [edit] if edit.before != edit.after or edit.state == "waiting" else []
        return [*changes, *([Ended("loop")] if repeated.goes_round(self._known, edit) else [])]

    @property
    def _known(self) -> Sequence[Edit]:
        return (*self._edits, *self.seat.edits)

    async def _loaded(self, name: str) -> str:
        documents = self._documents
        section = tools.section_of(name)
        found = await documents.found(documents.file_of(section) if section else name)
        if found is not None:
            return found.text
        raise Unfit("no-file", name=name, files=self._files(await documents.names()))

    def _files(self, names: Sequence[str]) -> str:
        return self._say("files", files=", ".join(names)) if names else self._say("no-files")


def _original(said: Message) -> str:
    return said.text if said.has_only_text and not said.calls_tools else said.raw.decode()
