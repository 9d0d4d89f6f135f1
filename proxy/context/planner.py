"""Planner of prompts: the lookups around the decisions.

A short conversation is sent as it is, which costs little more than counting it. For any other, the state that its last
request left, the facts and old turns of its scope and the newest question's embedding are lookups up; then a worker
thread decides (proxy/context/planning.py).
"""

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from proxy.config import Config, Upstream, price_for
from proxy.config.profiles import Profile
from proxy.context import economics, planning, window
from proxy.context.draft import PlanContext
from proxy.context.recollect import RecallContext, recollect
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import Case, progress
from proxy.embedding.base import Embedder, EmbeddingUnavailable
from proxy.lru import Lru
from proxy.memory import facts
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.protocol.dialects import DIALECTS, violations
from proxy.storage.shared import Calibrations
from proxy.storage.shared.local import MOST_IDLE
from proxy.tasks import Offload
from proxy.tokens import RememberedCount, RoughCounter, TokenCounter
from proxy.types import ChatRequest, Directives, Identity, Incoming, Message, PathState, Plan, PromptTokens, Vector

_rough = RoughCounter()

# Bytes of a request above which the rough count will do: exact counts take seconds (half a second a MiB at worst).
MOST_COUNTED = 2 * 2**20
MOST_SHORTENED = 2_000  # shortened answers remembered
SURELY_WITHIN = 0.5  # share of a limit: the rough count, calibrated by prose, underestimates tables and code
EMBEDDING_DEADLINE = 0.25  # seconds: an embedding is not worth more of the client's time


class Refusable(Exception):
    """Raised when the upstream would refuse the planned messages."""


@dataclass(frozen=True, slots=True)
class _Lookups:
    """The lookups of one request."""

    shelf: Shelf
    state: PathState | None
    vector: Vector | None


class Planner:
    """Plans requests: looks up the inputs of the decisions, which a worker thread then makes."""

    def __init__(
        self,
        config: Config,
        *,
        counter: TokenCounter,
        calibrations: Calibrations,
        library: Library,
        embedder: Embedder,
        executor: Executor,
    ) -> None:
        self._config = config
        self._counter = counter
        self._calibrations = calibrations
        self._library = library
        self._embedder = embedder
        self._executor = executor
        self._decay = facts.Decay(
            config.memory.unconfirmed_after, config.memory.stale_after, config.memory.drop_low_after
        )
        self._counted = RememberedCount(counter.text)
        self._shortened: Lru[tuple[bytes, int], Message] = Lru(MOST_SHORTENED)

    async def plan(
        self, incoming: Incoming, request: ChatRequest, identity: Identity, directives: Directives, upstream: Upstream
    ) -> Plan:
        """Returns the plan of a request, with sizes in the upstream's tokens. Raises `Refusable` if the upstream would
        refuse the planned messages and not the client's own."""
        counted = await self.count(request, identity, upstream)
        mode = self.mode(directives)
        if mode == "off":
            return counted
        profile = self.profile(request)
        factor = self._factor(request, upstream)
        limit = _limit(profile, upstream, factor)
        is_metered = mode == "meter"
        if len(request.raw) > MOST_COUNTED:
            return counted if is_metered else _judged(counted, counted.tokens.sent / max(1.0, factor), limit)
        shelf = await self._library.shelf(identity.memory) if identity.is_answered else Shelf.passing()
        if not directives.remember:
            shelf = shelf.apart()
        if self._is_left_alone(counted, profile, limit, shelf):
            return counted
        found = None
        if identity.is_answered:
            await self._library.index(identity.memory, shelf)
            found = await self._library.state(identity.memory, identity.chain)
        lookups = _Lookups(shelf, found[0] if found else None, await self._vector(request))
        work = partial(self._decided, incoming, request, identity, upstream, profile, limit, lookups)
        made = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        if made is None:
            tokens = await self._counter.request(request, identity.chain, self._executor)
            original = round(tokens * factor)
            exact = replace(counted, tokens=replace(counted.tokens, original=original, sent=original, counted=tokens))
            return exact if is_metered else _judged(exact, tokens, limit)
        return _priced(request, counted, made, factor, metered=is_metered)

    def _factor(self, request: ChatRequest, upstream: Upstream) -> float:
        """Returns the upstream's tokens per token of our exact count."""
        return self._calibrations.exact.factor(upstream.name, request.model) or 1.0

    async def count(self, request: ChatRequest, identity: Identity, upstream: Upstream) -> Plan:
        """Returns the plan to send the request unchanged, with the tokens that it is expected to cost at this
        upstream."""
        size = len(request.raw)
        rough = await Offload(self._executor, size)(lambda: _rough.request(request))
        factor = self._calibrations.rough.factor(upstream.name, request.model)
        if factor is None and not identity.is_answered and size <= MOST_COUNTED:
            tokens = await self._counter.once(request, self._executor)
        elif factor is None and size <= MOST_COUNTED:
            tokens = await self._counter.request(request, identity.chain, self._executor)
        else:
            tokens = round(rough * (factor or 1.0))
        return Plan("untouched", PromptTokens(tokens, tokens, rough=rough))

    def mode(self, directives: Directives) -> str:
        """Returns the weaker of the configured mode and the client's: on, meter or off."""
        return max(directives.mode, self._config.context.mode, key=("on", "meter", "off").index)

    def profile(self, request: ChatRequest) -> Profile:
        """Returns the profile for a request."""
        return self._config.profiles[self.profile_name(request)]

    def profile_name(self, request: ChatRequest) -> str:
        """Returns the name of that profile."""
        context = self._config.context
        has_tools = request.has_tools
        return context.profile_with_tools if has_tools else context.profile

    def _is_left_alone(self, counted: Plan, profile: Profile, limit: int | None, shelf: Shelf) -> bool:
        """True if the prompt fits into the window and there are no facts that could go with it."""
        most = profile.window.tokens if limit is None else min(profile.window.tokens, SURELY_WITHIN * limit)
        return profile.fold == "economic" and counted.tokens.original <= most and not shelf.facts

    async def _vector(self, request: ChatRequest) -> Vector | None:
        """Returns the embedding of the newest user message; None if there is no such message, or embedding takes too
        long."""
        if not (said := _newest(request)).strip():
            return None
        try:
            async with asyncio.timeout(EMBEDDING_DEADLINE):
                vectors = await self._embedder.embed([said])
        except (EmbeddingUnavailable, TimeoutError):
            return None
        vector: Vector = vectors[0]
        return vector

    # --- in a worker thread -------------------------------------------------------------------------------------------

    def _decided(
        self,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        upstream: Upstream,
        profile: Profile,
        limit: int | None,
        lookups: _Lookups,
    ) -> Plan | None:
        now = incoming.received_at
        recall_context = RecallContext(
            session=identity.session,
            is_private=identity.private,
            now=now,
            decay=self._decay,
            count=self._counted,
        )
        case = Case(
            messages=request.messages,
            chain=identity.chain,
            tokens=lambda index: self._counter.known(request.messages[index], identity.chain[index]),
            overhead=self._counter.overhead(request),
            profile=profile,
            state=lookups.state,
            vector=lookups.vector,
            embedding=self._embedder.version,
            was_seen=identity.known > 0,
        )
        so_far = progress(case, lookups.shelf.histories)
        if so_far is None:
            return None
        dialect = DIALECTS[upstream.dialect]
        price = price_for(upstream, request.model)
        shown_none = self._calibrations.caches.shows_none(upstream.name, request.model)
        known = economics.assumed_cache(upstream, request.model, price)
        cache = economics.assumed_cache(upstream, request.model, price, shown_none=shown_none)
        idle = now - lookups.state.at if lookups.state else (0.0 if case.was_seen else float("inf"))
        context = PlanContext(
            now=now,
            session=identity.session,
            rates=economics.rates(price, cache, idle=idle),
            limit=limit,
            role=self._config.memory.role,
            count=self._counted,
            cap=lambda index: self._capped(request, identity, profile, index),
            profile=self.profile_name(request),
        )
        with lookups.shelf.lock:
            lookups.shelf.settle()
            memory = recollect(recall_context, case, so_far, lookups.shelf, limit)
            made = planning.plan(request, case, so_far, memory, context)
        if idle > MOST_IDLE or made.tokens.sent < known.minimum:
            made = replace(made, tokens=replace(made.tokens, expected=0))
        if cache == economics.NO_CACHE:
            made = replace(made, tokens=replace(made.tokens, repeated=0, busted=0))
        offered = len(request.tools)
        if made.messages is not None and (found := violations(made.messages, dialect, offered)):
            if violations(request.messages, dialect, offered):
                return None  # the upstream would refuse the client's own messages, too
            raise Refusable(found[0].rule)
        return made

    def _capped(self, request: ChatRequest, identity: Identity, profile: Profile, index: int) -> Message:
        """Returns a message with its text shortened to `answer_tokens`. Remembered, since finding the cut takes a dozen
        counts."""
        key = (identity.chain[index], profile.window.answer_tokens)
        if (shorter := self._shortened.get(key)) is None:
            shorter = window.cap_message(request.messages[index], profile.window.answer_tokens, self._counter.text)
            self._shortened.put(key, shorter)
        return shorter


def _newest(request: ChatRequest) -> str:
    """Returns the newest user message without our blocks; "" if there is none."""
    newest = next((said for said in reversed(request.messages) if said.role == "user"), None)
    return "" if newest is None else without_ours(newest.text)


def _limit(profile: Profile, upstream: Upstream, factor: float) -> int | None:
    """Returns the limit of a prompt in tokens of our count; None if there is none."""
    limits = [] if profile.budget == "economic" else [float(profile.budget)]
    if upstream.context_tokens is not None:
        limits.append(upstream.context_tokens * profile.context_share)
    return int(min(limits) / max(1.0, factor)) if limits else None


def _judged(as_it_came: Plan, tokens: float, limit: int | None) -> Plan:
    """Returns the plan, marked as over budget if these tokens (of our count) exceed the limit."""
    return replace(as_it_came, kind="over-budget") if limit is not None and tokens > limit else as_it_came


def _priced(request: ChatRequest, counted: Plan, made: Plan, factor: float, *, metered: bool) -> Plan:
    """Returns the plan with sizes in the upstream's tokens, as far as these are known. `counted`: the plan to send the
    request unchanged."""
    tokens = made.tokens.scaled(factor)
    if made.messages is not None and not metered:
        return replace(made, tokens=replace(tokens, rough=_rough.request(request, made.messages)))
    as_it_came = PromptTokens(
        tokens.original,
        tokens.original,
        rough=counted.tokens.rough,
        counted=made.tokens.original,
        repeated=tokens.repeated,
        expected=0 if metered else tokens.expected,
    )
    return Plan(
        "untouched" if metered else made.kind,
        as_it_came,
        "" if made.messages is None else f"meter;would_send={tokens.sent}",
        state=made.state,
        trail=made.trail,
    )
