"""The plan of a request with all that was looked up for it, decided a step at a time: on the event loop, or at once in
a worker thread. Counts and cuts are remembered for the next one; nothing is looked up."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from proxy.config import Config, Upstream, price_for
from proxy.context import desk_plans, economics, shortening
from proxy.context.caching import Caching, caching
from proxy.context.draft import PlanContext, TooMuch
from proxy.context.recollecting import read_question, recollect
from proxy.conversation.progress import Case, Purpose, progress
from proxy.desk.planned import DeskInput
from proxy.lru import Lru
from proxy.memory.ageing import decay
from proxy.memory.current import read_new
from proxy.memory.shelf import Shelf
from proxy.protocol import apis
from proxy.protocol.dialects import DIALECTS, violations
from proxy.tokens import RememberedCount, TokenCounter
from proxy.types import (
    ChatRequest,
    Identity,
    Incoming,
    Message,
    PathState,
    Plan,
    Vector,
)

# What is planned on the event loop: at most so many bytes of new messages, messages, facts, facts since the last plan.
# Of 700 facts and one more, all that is in proportion to them takes 0.3 ms; of 100 new ones the same.
INLINE_BYTES = 4 * 1024
INLINE_MESSAGES = 1_000
INLINE_FACTS = 700
INLINE_NEW_FACTS = 100

MOST_SHORTENED = 2_000  # shortened answers remembered


class Refusable(Exception):
    """Raised when the upstream would refuse the planned messages."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, with all that was looked up for its plan."""

    incoming: Incoming
    request: ChatRequest
    identity: Identity
    upstream: Upstream
    profile: str  # name
    limit: int | None  # tokens of the prompt
    shelf: Shelf
    state: PathState | None  # of the request before
    known: int  # messages of that request; 0: unknown
    lacks: frozenset[Purpose]  # purposes for which vectors may be looked up
    shows_none: bool  # the upstream has shown that it has no prefix cache
    vector: Vector | None = None  # of the newest user message
    before: Sequence[Vector] = ()  # of those before it, the last one first
    desk: DeskInput | None = None  # the request's messages are its view then
    factor: float = 1.0  # the upstream's tokens per token of our count
    most: int | None = None  # tokens of the prompt that the model's context has room for

    @property
    def is_short(self) -> bool:
        """True if its plan should take about a moment: little is new since the request before, and memory is small."""
        new = sum([len(said.raw) for said in self.request.messages[self.known :]])
        is_little = self.state is not None and new <= INLINE_BYTES and len(self.identity.chain) <= INLINE_MESSAGES
        facts, current = len(self.shelf.facts), self.shelf.current
        is_near = facts - (len(current.known) if current is not None else 0) <= INLINE_NEW_FACTS
        return is_little and is_near and facts <= INLINE_FACTS and not self.shelf.leaving


class Decider:
    """The decisions of one process's plans, and what is remembered from one to the next."""

    def __init__(self, config: Config, counter: TokenCounter) -> None:
        self._config, self._counter = config, counter
        self._counted = RememberedCount(counter.text)
        self._shortened: Lru[tuple[bytes, int], Message] = Lru(MOST_SHORTENED)  # by link and tokens
        self._decay = decay(config.memory)

    def steps(self, asked: Asked, embedding: str, *, is_here: bool = False) -> Generator[None, None, Plan | None]:
        """Makes the plan; None if none can be made. `embedding`: the version of vectors. `is_here`: on the event loop;
        raises TooMuch if it takes too long there. Raises Refusable."""
        request, upstream = asked.request, asked.upstream
        case = self._case(asked, embedding)
        so_far = progress(case, asked.shelf.histories)
        if so_far is None:
            return None
        yield
        if is_here and asked.shelf.facts:
            yield from read_new(asked.shelf.facts.values(), asked.shelf.current)
            read_question(case, so_far)
            yield
        price = price_for(upstream, request.model)
        known = economics.assumed_cache(upstream, request.model, price)
        cache = economics.NO_CACHE if asked.shows_none else known
        idle = asked.incoming.received_at - asked.state.at if asked.state else (0.0 if case.was_seen else float("inf"))
        is_native = apis.has_native(request.origin, upstream.spoken)
        found = caching(
            price,
            cache,
            request.origin.breakpoints if request.origin is not None and is_native else None,
            idle=idle,
            prefix=case.overhead + so_far.preamble_tokens,
            may_set=upstream.breakpoints == "ours",
            is_split=asked.state is not None and asked.state.is_split,
        )
        context = self._context(asked, case, found, ttl=known.ttl, is_here=is_here)
        if not asked.shelf.lock.acquire(blocking=not is_here):
            raise TooMuch
        try:
            asked.shelf.settle()
            memory = recollect(context, case, so_far, asked.shelf)
            made = desk_plans.plan(request, case, so_far, memory, context)
        finally:
            asked.shelf.lock.release()
        if idle > economics.MOST_IDLE or made.tokens.sent < known.minimum:
            made = replace(made, tokens=replace(made.tokens, expected=0))
        if cache == economics.NO_CACHE:
            made = replace(made, tokens=replace(made.tokens, repeated=0, busted=0))
        return allowed(made, request, upstream)

    def _case(self, asked: Asked, embedding: str) -> Case:
        request, identity, desk = asked.request, asked.identity, asked.desk
        keys = identity.chain if desk is None else desk.view.keys
        return Case(
            messages=request.messages,
            chain=identity.chain,
            tokens=lambda index: self._counter.known(request.messages[index], keys[index]),
            overhead=self._counter.overhead(request),
            profile=self._config.profiles[asked.profile],
            state=asked.state,
            vector=asked.vector,
            before=asked.before,
            lacks=asked.lacks,
            embedding=embedding,
            was_seen=identity.known > 0,
            added=0 if desk is None else sum(desk.view.ours),
        )

    def _context(self, asked: Asked, case: Case, found: Caching, *, ttl: float, is_here: bool) -> PlanContext:
        desk = asked.desk
        return PlanContext(
            now=asked.incoming.received_at,
            session=asked.identity.session,
            is_private=asked.identity.private,
            caching=found,
            limit=asked.limit,
            role=self._config.memory.role,
            count=self._counted,
            cap=lambda index: self._capped(case, index, in_place=is_here),
            decay=self._decay,
            profile=asked.profile,
            desk=desk,
            desk_limit=None if desk is None or desk.limit is None else desk.limit / max(1.0, asked.factor),
            in_place=is_here,
            may_exceed=case.profile.fold == "economic" and asked.limit != asked.most,
            most=asked.most,
            ttl=ttl,
        )

    def _capped(self, case: Case, index: int, *, in_place: bool) -> Message:
        """Returns a message with its text shortened to `answer_tokens`. Remembered, since finding the cut takes a dozen
        counts."""
        most = case.profile.window.answer_tokens
        if (shorter := self._shortened.get((case.chain[index], most))) is None:
            if in_place:
                raise TooMuch
            shorter = shortening.cap_message(case.messages[index], most, self._counter.text)
            self._shortened.put((case.chain[index], most), shorter)
        return shorter


def allowed(made: Plan, request: ChatRequest, upstream: Upstream) -> Plan | None:
    """Returns the plan for the dialect of an upstream; None if it would refuse the client's own messages, too. Raises
    Refusable if it would refuse the planned ones alone."""
    dialect, offered = DIALECTS[upstream.dialect], len(made.tools if made.tools is not None else request.tools)
    if made.messages is not None and (found := violations(made.messages, dialect, offered)):
        if violations(request.messages, dialect, offered):
            return None
        raise Refusable(found[0].rule)
    return replace(made, dialect=upstream.dialect)
