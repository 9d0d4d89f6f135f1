"""Planner of prompts: the lookups around the decisions.

A short conversation is sent as it is, which costs little more than counting it. For any other, the state that its last
request left and the facts and old turns of its scope are looked up; then it is decided (deciding.py): on
the event loop where little is new, else in a worker thread. Where that depends on vectors, they are made, and it is
decided again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TypeVar, cast

from proxy.config import Config, Upstream
from proxy.config.profiles import Profile
from proxy.context import desk_plans
from proxy.context.deciding import Asked, Decider
from proxy.context.draft import TooMuch
from proxy.context.rollout import weaker
from proxy.context.sizes import is_left_alone, judged, limit_of, most_of, priced
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import PURPOSES, Purpose, VectorsNeeded
from proxy.desk.planned import DeskInput
from proxy.embedding import EmbeddingUnavailable
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.memory.vectors import VectorQueue
from proxy.storage.shared import Calibrations
from proxy.tasks import Offload, in_place
from proxy.tokens import RoughCounter, TokenCounter
from proxy.types import (
    ChatRequest,
    ContextRead,
    Directives,
    Identity,
    Incoming,
    PathState,
    Plan,
    PromptTokens,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

_rough = RoughCounter()

# Bytes of a request above which the rough count will do: exact counts take seconds (half a second a MiB at worst).
MOST_COUNTED = 2 * 2**20
EMBEDDING_DEADLINE = 0.25  # seconds: vectors are not worth more of the client's time
EARLIER = 2  # user messages before the newest whose vectors tell how far the topic goes on


@dataclass(eq=False)
class Planner:
    """Plans requests: looks up the inputs of the decisions, and makes them where they belong."""

    config: Config
    _: KW_ONLY
    counter: TokenCounter
    calibrations: Calibrations
    library: Library
    vectors: VectorQueue
    executor: Executor
    patience: float = 1.0  # factor of every deadline
    on_read: Callable[[ContextRead], object] = lambda _result: None  # the metric of state look-ups
    on_compressed: Callable[[], object] = lambda: None  # the metric of prompts that turns have left
    _decider: Decider = field(init=False)

    def __post_init__(self) -> None:
        self._decider = Decider(self.config, self.counter)

    async def plan(
        self,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        directives: Directives,
        upstream: Upstream,
        desk: DeskInput | None = None,
    ) -> Plan:
        """Returns the plan of a request, with sizes in the upstream's tokens. Raises `Refusable` if the upstream would
        refuse the planned messages and not the client's own. With a `desk` it is a plan of its view; fates and trail
        are of the client's messages all the same."""
        counted = await self.count(request, identity, upstream)
        if desk is not None:
            request, identity = desk_plans.viewed(request, identity, desk.view)
        settings = self.config.context
        mode = directives.mode if directives.settled else weaker(directives.mode, settings.mode)
        if mode == "off":
            return counted
        is_metered = mode == "meter"
        name = settings.profile_with_tools if request.has_tools else settings.profile
        profile = self.config.profiles[name]
        # The upstream's tokens per token of our exact count.
        factor = self.calibrations.exact.factor(upstream.name, request.model) or 1.0
        limit, most = limit_of(profile, upstream, factor), most_of(profile, upstream, factor)
        if len(request.raw) > MOST_COUNTED:
            return counted if is_metered else judged(counted, counted.tokens.sent / max(1.0, factor), limit)
        with self._loading(identity):
            shelf = await self.library.shelf(identity.memory) if identity.is_answered else Shelf.passing()
        if not directives.remember:
            shelf = shelf.apart()
        if is_left_alone(counted, profile, limit, shelf) and (desk is None or desk_plans.is_idle(desk, counted)):
            return counted
        found = None
        if identity.is_answered:
            with self._loading(identity):
                await self.library.indexes.read(identity.memory, shelf)
                found = await self._loaded(request, identity, counted)
        lacks: frozenset[Purpose] = PURPOSES if self.vectors.is_ready else frozenset()
        if not (identity.is_answered and directives.remember):
            lacks -= {"turns"}  # the index is dropped with the request
        state, known = found or (None, 0)
        shows_none = self.calibrations.caches.shows_none(upstream.name, request.model)
        asked = Asked(incoming, request, identity, upstream, name, limit, shelf, state, known, lacks, shows_none)
        asked = replace(asked, most=most)
        made = await self._made(asked if desk is None else replace(asked, desk=desk, factor=factor))
        if made is None:
            tokens = await self.counter.request(request, identity.chain, self.executor)
            original = round(tokens * factor)
            exact = replace(counted, tokens=replace(counted.tokens, original=original, sent=original, counted=tokens))
            return exact if is_metered else judged(exact, tokens, limit)
        if not is_metered:
            self._tell(made, identity, state, profile)
        plan = priced(request, counted, made, factor, metered=is_metered)
        return plan if desk is None else desk_plans.told(plan, desk)

    async def _loaded(self, request: ChatRequest, identity: Identity, counted: Plan) -> tuple[PathState, int] | None:
        """Returns the state of the conversation before this request, and its number of messages; None if unknown."""
        read: list[ContextRead] = []
        is_new = identity.session_source == "new"
        found = await self.library.paths.last(identity.memory, identity.chain, is_new=is_new, on_read=read.append)
        for place in read:
            self.on_read(place)
        if "database" in read:
            turns, tokens = (len(found[0].open) if found else 0), counted.tokens.original
            extra = {"session": identity.session, "recent_turns": turns, "estimated_tokens": tokens}
            log.info("context_loaded_from_database", extra=extra)
        elif read:
            log.debug("context_loaded_from_cache", extra={"session": identity.session})
        return found if found is None or _is_of(*found, request) else None

    @contextlib.contextmanager
    def _loading(self, identity: Identity) -> Iterator[None]:
        """Tells of lookups that fail, a deadline included; what they raise passes through."""
        try:
            yield
        except (Exception, asyncio.CancelledError) as error:
            self.on_read("failed")
            log.warning("context_load_failed", extra={"session": identity.session, "why": type(error).__name__})
            raise

    def _tell(self, made: Plan, identity: Identity, before: PathState | None, profile: Profile) -> None:
        """Tells of a prompt that is near its limit, and of turns that have left it."""
        trail, fates = made.trail, made.fates
        if trail is None or fates is None:
            return
        decided, extra = trail.break_even, {"session": identity.session, "max_tokens": trail.limit}
        standing = decided.standing if decided else made.tokens.original
        if trail.limit is not None and standing > profile.pressure * trail.limit:
            log.info("context_needs_compression", extra={**extra, "estimated_tokens": standing})
        start = before.fold.start if before is not None and before.fold else fates.preamble
        if fates.left > start:
            self.on_compressed()
            reason = decided.reason if decided and decided.leave else "limit"
            log.info("context_compressed", extra={**extra, "estimated_tokens": made.tokens.sent, "reason": reason})

    async def count(self, request: ChatRequest, identity: Identity, upstream: Upstream) -> Plan:
        """Returns the plan to send the request unchanged, with the tokens that it is expected to cost at this
        upstream."""
        size = len(request.raw)
        rough = await Offload(self.executor, size)(lambda: _rough.request(request))
        factor = self.calibrations.rough.factor(upstream.name, request.model)
        if factor is None and not identity.is_answered and size <= MOST_COUNTED:
            tokens = await self.counter.once(request, self.executor)
        elif factor is None and size <= MOST_COUNTED:
            tokens = await self.counter.request(request, identity.chain, self.executor)
        else:
            tokens = round(rough * (factor or 1.0))
        return Plan("untouched", PromptTokens(tokens, tokens, rough=rough))

    async def _made(self, asked: Asked) -> Plan | None:
        """Returns the plan in tokens of our count; None if none can be made. Vectors that take too long are done
        without."""
        loop = asyncio.get_running_loop()
        until = loop.time() + EMBEDDING_DEADLINE * self.patience
        while True:
            try:
                return await self._tried(asked)
            except VectorsNeeded as needed:
                asked = replace(asked, lacks=asked.lacks - {needed.purpose})
                asked = await self._with_vectors(asked, needed, until)

    async def _with_vectors(self, asked: Asked, needed: VectorsNeeded, until: float) -> Asked:
        """Returns the request with the vectors that a decision needs, as far as they are there at `until` (the event
        loop's time)."""
        said = [without_ours(each.text) for each in asked.request.messages if each.role == "user"]
        texts = said[-1 - EARLIER :] if needed.purpose == "topic" else said[-1:]
        if not all(text.strip() for text in texts):
            return asked
        with contextlib.suppress(EmbeddingUnavailable, TimeoutError):
            async with asyncio.timeout_at(until):
                made = self.vectors.facts(asked.shelf) if needed.purpose == "facts" else None
                vectors = await self.vectors.of(texts)
                asked = replace(asked, vector=vectors[-1], before=vectors[-2::-1])
                if made is not None:
                    await made.wait()
                if needed.turns:
                    made = self.vectors.turns(asked.identity.memory, asked.shelf, needed.turns)
                    if needed.waits:
                        await made.wait()
        return asked

    async def _tried(self, asked: Asked) -> Plan | None:
        """Returns the plan in tokens of our count; None if none can be made. A short one is made on the event loop, a
        moment at a time: the round trip of a worker thread and its struggle for the interpreter would cost more."""
        version = self.vectors.version
        if asked.is_short:
            try:
                return await in_place(self._decider.steps(asked, version, is_here=True))
            except TooMuch:
                pass  # a fold or excerpts, which few requests have
        steps = self._decider.steps(asked, version)
        return await asyncio.get_running_loop().run_in_executor(self.executor, _last, steps)


def _last(steps: Generator[None, None, T]) -> T:
    """Returns the result of `steps`, all taken at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(T, end.value)


def _is_of(state: PathState, known: int, request: ChatRequest) -> bool:
    """True if a state counts messages as the request has them: of its history others are left out, or were not yet,
    since commands were switched on or off."""
    last = next((index for index in range(known - 1, -1, -1) if request.messages[index].role == "user"), None)
    return last == state.newest
