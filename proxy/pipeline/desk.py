"""The desk of a request: opened before its prompt is planned, written to once it is planned, before anything is sent.

    news of the session ─ view ─ lines of new messages ─ sections ─▶ DeskInput ─ planning ─▶ dashboard ─ events

What a process knows of sessions it keeps, bounded; each request reads what is new. Nothing is read or kept of a scope
that no upstream has answered yet: the first request there has an empty desk.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from proxy.config import Upstream
from proxy.config.memory import MemoryTools
from proxy.config.reuse import ToolReuse
from proxy.context.planner import MOST_COUNTED
from proxy.context.shortening import cap
from proxy.desk import boarding, dashboard, sections
from proxy.desk.identity import Identity as Rules
from proxy.desk.offering import offer, offerable
from proxy.desk.planned import DeskInput, Marked, View
from proxy.desk.protecting import protected
from proxy.desk.repeated import results
from proxy.desk.schemas import MEMORY_OFFER, definitions
from proxy.desk.state import DeskState
from proxy.desk.view import numbered, viewed
from proxy.desk.wishes import Numbered
from proxy.lru import Lru
from proxy.memory.library import Library
from proxy.pipeline.desk_states import DeskStates, Read
from proxy.pipeline.desk_tools import DeskTools, OnCall, Seat
from proxy.protocol import apis
from proxy.protocol.dialects import DIALECTS
from proxy.protocol.spliced import takes_tools
from proxy.storage.base import ForeignWrites, none_foreign
from proxy.storage.desk import DeskStore
from proxy.storage.erasures import base_of
from proxy.tasks import Attempts, Offload
from proxy.tokens import INLINE_BYTES, TokenCounter
from proxy.types import ChatRequest, Directives, Identity, Incoming, Plan
from proxy.types.desk import Board, DeskEvent, Document, Offered, Pin, SectionName, TapeLine

MOST_SECTIONS = 2_000  # shortened texts of sections that are remembered


@dataclass(frozen=True, slots=True)
class OpenDesk:
    """The desk of one request: what planning is told, and what its tools work on."""

    scope: str  # of memory
    session: str
    request_id: str
    at: float
    chain: tuple[bytes, ...]  # links of the client's own messages
    read: Read
    input: DeskInput
    tools: Offered  # as they are offered, or would be
    project: str
    versions: Mapping[str, int]  # of the documents, by name
    sections: int  # that are loaded
    is_kept: bool  # something may be kept of its scope: an upstream has answered it
    may_show: bool  # its last message may carry a dashboard

    @property
    def state(self) -> DeskState:
        """The desk of the session."""
        return self.read.state

    @property
    def view(self) -> View:
        """The messages as planning sees them."""
        return self.input.view


class Desks:
    """The desks of requests, over the store of all desks."""

    def __init__(
        self,
        settings: MemoryTools,
        store: DeskStore,
        *,
        counter: TokenCounter,
        executor: Executor,
        idempotent: ToolReuse,
        foreign_writes: ForeignWrites = none_foreign,
        on_call: OnCall = lambda _tool, _result: None,
        on_written: Callable[[str], None] = lambda _scope: None,
    ) -> None:
        """`on_call`: the metric of calls, with tool and result. `on_written`: told of a scope whose tapes have
        new lines. Raises ValueError if the rules of a configured folder can't be read."""
        self.states = DeskStates(store, executor, foreign_writes, on_written)
        self._settings = settings
        self._counter = counter
        self._executor = executor
        self._idempotent = idempotent
        self._on_call = on_call
        self._rules = Rules(settings.identity)
        self._shortened: Lru[tuple[str, str, int], str] = Lru(MOST_SECTIONS)

    def is_wanted(self, directives: Directives) -> bool:
        """Tells whether a request has a desk: it says so, or the configuration, and what it says may be kept."""
        wish = self._settings.enabled if directives.tools is None else directives.tools
        return wish and directives.mode == "on" and directives.remember and self.states.store.keeps

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        self.states.drop(scope)
        for each in [each for each in self._shortened if base_of(each[0]) == scope]:
            self._shortened.drop(each)

    def forget(self) -> None:
        """Removes everything from memory: something is forgotten in storage, and the rest is read again."""
        self.states.forget()
        self._shortened.clear()

    # --- before planning ----------------------------------------------------------------------------------------------

    async def opened(
        self, incoming: Incoming, request: ChatRequest, identity: Identity, directives: Directives, upstream: Upstream
    ) -> OpenDesk | None:
        """Returns the desk of a request, with its new messages numbered; None for one that is too large to be planned.
        Raises StorageError."""
        if len(request.raw) > MOST_COUNTED:
            return None
        scope, session, is_kept = identity.memory, identity.session, identity.is_answered
        read, documents = Read(DeskState()), list[Document]()
        if is_kept:
            read, documents = await self.states.read(scope, session)
        view = await self._viewed(request, identity, read)
        may_show = is_kept and boarding.may_show(view, read.state)
        if is_kept:
            read = await self._numbered(incoming, request, identity, directives, view, read)
            view = replace(view, ids=numbered(view, read.state))
        project = sections.project_of(directives.project or self._settings.project)
        texts = await self._sections(scope, documents, project)
        state = read.state
        tools = offer(request, self._settings.language, state.offered, has_memory=_has_memory(request, upstream))
        return OpenDesk(
            scope=scope,
            session=session,
            request_id=incoming.request_id,
            at=incoming.received_at,
            chain=identity.chain,
            read=read,
            input=self._input(request, upstream, view, state, tools, sections.told(texts.items())),
            tools=tools,
            project=project,
            versions={document.name: document.version for document in documents},
            sections=len(texts),
            is_kept=is_kept,
            may_show=may_show,
        )

    def _input(
        self, request: ChatRequest, upstream: Upstream, view: View, state: DeskState, tools: Offered, told: str
    ) -> DeskInput:
        settings, language = self._settings, boarding.language_of(tools)
        may_be_offered = state.offered is not None or not state.ended
        schemas = definitions(language, tools.names) if may_be_offered else ()
        stay = frozenset(protected(view.messages, view.chain, state.pins)) if state.marks else frozenset[int]()
        return DeskInput(
            view=view,
            sections=told,
            rules=self._rules.rules(language, tools.names),
            schemas=schemas if _takes(request, upstream, tools.names) else (),
            offered=tools if state.offered is not None else None,
            ended=bool(state.ended),
            at_once=settings.offer == "first",
            marks=tuple(Marked(number, mark, stay) for number, mark in state.marks.items()),
            limit=settings.limit or upstream.context_tokens,
            threshold=settings.threshold,
        )

    async def _viewed(self, request: ChatRequest, identity: Identity, read: Read) -> View:
        messages, chain = request.messages, identity.chain
        api = "chat" if request.origin is None else request.origin.api
        # Of what is put back the tokens are counted once: later requests look them up.
        work = Offload(self._executor, read.news, inline_bytes=INLINE_BYTES)
        return await work(lambda: viewed(messages, chain, read.state, self._counter.known, api))

    async def _numbered(
        self,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        directives: Directives,
        view: View,
        read: Read,
    ) -> Read:
        """Returns what is known once the new messages have lines, and the newest question is pinned if that is the
        client's wish."""
        state, at = read.state, incoming.received_at
        contents = {index: said.raw for index, said in zip(view.own, request.messages, strict=True)}
        new = [index for index, link in enumerate(view.chain) if link not in state.lines]
        events: list[DeskEvent] = []
        asked = next((index for index in reversed(view.own) if view.messages[index].role == "user"), None)
        if directives.pins and asked is not None and view.chain[asked] not in state.pins:
            events.append(DeskEvent(at, incoming.request_id, Pin(view.chain[asked])))
        if not new and not events:
            return read

        def lines() -> list[TapeLine]:
            return [
                TapeLine(
                    id=0,
                    link=view.chain[index],
                    at=at,
                    role=view.messages[index].role,
                    tokens=self._counter.known(view.messages[index], view.keys[index]),
                    content=contents.get(index, view.messages[index].raw),
                    is_hidden=index in view.hidden,
                )
                for index in new
            ]

        size = sum(len(view.messages[index].raw) for index in new)
        made = await Offload(self._executor, size, inline_bytes=INLINE_BYTES)(lines)
        return await self.states.write(identity.memory, identity.session, read, made, events)

    async def _sections(self, scope: str, documents: Sequence[Document], project: str) -> Mapping[SectionName, str]:
        """Returns the texts of the sections that have one, none longer than its limit."""
        known = {document.name: document for document in documents}
        found: dict[SectionName, str] = {}
        for section, name in sections.files(project).items():
            if (document := known.get(name)) is not None and document.text.strip():
                found[section] = await self._within(scope, document, getattr(self._settings.sections, section))
        return found

    async def _within(self, scope: str, document: Document, most: int) -> str:
        key = (scope, document.name, document.version)
        if (text := self._shortened.used(key)) is None:
            work = Offload(self._executor, len(document.text), inline_bytes=INLINE_BYTES)
            text = await work(lambda: cap(document.text, most, self._counter.text))
            self._shortened.put(key, text)
        return text

    # --- once it is planned -------------------------------------------------------------------------------------------

    async def boarded(self, desk: OpenDesk, plan: Plan) -> Plan:
        """Returns the plan with the dashboard, where one is due, once what it has decided about the desk is durable.
        Raises StorageError: then the prompt must not be sent as planned."""
        if plan.desk is None or not desk.is_kept:
            return plan
        payloads = boarding.decided(plan, desk.input, desk.state, desk.tools)
        size = sum(len(said.raw) for said in desk.view.messages)
        shown = await Offload(self._executor, size)(lambda: self._shown(desk, plan))
        if shown is not None:
            plan, board = shown
            payloads.append(board)
        if payloads:
            events = [DeskEvent(desk.at, desk.request_id, payload) for payload in payloads]
            await self.states.write(desk.scope, desk.session, desk.read, (), events)
        return plan

    def _shown(self, desk: OpenDesk, plan: Plan) -> tuple[Plan, Board] | None:
        view, state = desk.view, desk.state
        found = None
        if desk.may_show and desk.tools.names != MEMORY_OFFER:  # which marks nothing
            found = boarding.standing(plan, desk.input, state, desk.sections, self._tokens(view))
        before = boarding.shown(plan, view, state)
        if found is None or not dashboard.is_due(found, before, always=self._settings.dashboard == "always"):
            return None
        names = boarding.offered_by_name(desk.tools)
        text = dashboard.rendered(found, boarding.language_of(desk.tools), names, self._counter.text)
        made = boarding.with_dashboard(plan, view, text, self._counter.text(text))
        return None if made is None else (made, Board(view.chain[-1], text, found.level, found.advice))

    # --- for the tools ------------------------------------------------------------------------------------------------

    def runner(self, desk: OpenDesk, plan: Plan, library: Library, attempts: Attempts) -> DeskTools | None:
        """Returns the runner of the tools of a planned request; None if no call is answered here."""
        seat = self.seat(desk, plan)
        return (
            None
            if seat is None
            else DeskTools(
                seat,
                store=self.states.store,
                library=library,
                counter=self._counter,
                executor=self._executor,
                settings=self._settings,
                attempts=attempts,
                on_call=self._on_call,
            )
        )

    def seat(self, desk: OpenDesk, plan: Plan) -> Seat | None:
        """Returns the place of a planned request at the desk; None if no call is answered there."""
        view, state = desk.view, desk.state
        has_tools = plan.desk is not None and plan.desk.has_tools
        patterns, since = self._idempotent.idempotent, desk.at - self._idempotent.ttl
        known = results(view, patterns, state.times, since) if patterns else {}
        if not has_tools and not known:
            return None
        return Seat(
            scope=desk.scope,
            session=desk.session,
            request_id=desk.request_id,
            at=desk.at,
            language=boarding.language_of(desk.tools),
            names=desk.tools.names if has_tools else (),
            numbered=Numbered(view, state.last, state.pins, self._tokens(view)),
            marked=state.marked,
            edits=state.edits,
            begun_at=state.begun_at or desk.at,
            is_ended=bool(state.ended),
            project=desk.project,
            versions=desk.versions,
            results=known,
        )

    def _tokens(self, view: View) -> "_Tokens":
        return _Tokens(self._counter, view)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens of the messages of a view, by index."""

    counter: TokenCounter
    view: View

    def __call__(self, index: int) -> int:
        return self.counter.known(self.view.messages[index], self.view.keys[index])


def _takes(request: ChatRequest, upstream: Upstream, names: Collection[str]) -> bool:
    """Tells whether a request can carry tools of these names."""
    is_native = apis.has_native(request.origin, upstream.spoken)
    return offerable(request, DIALECTS[upstream.dialect]) and (not is_native or takes_tools(request, names))


def _has_memory(request: ChatRequest, upstream: Upstream) -> bool:
    """Tells whether the provider has a memory tool, and gets the request in the API of that."""
    native = request.origin is not None and request.origin.api == "messages" and "messages" in upstream.spoken
    return native and upstream.dialect == "anthropic"
