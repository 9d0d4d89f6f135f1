"""The way of one logged request through the stages that serve live ones, and what it would have cost.

identify ─ resume ─ plan ─ assemble ─ price ─ remember and learn, before the next one comes
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from proxy.attempt import Attempts
from proxy.config import Config, price_for
from proxy.embed.base import EmbeddingUnavailable
from proxy.errors import BadRequest
from proxy.memory import economics, prefix_cache
from proxy.memory.block import without_ours
from proxy.offload import Offload
from proxy.replay.fates import inside
from proxy.replay.means import Means
from proxy.replay.pricing import PrefixCache, Prompt, Weights, sliding
from proxy.replay.reading import Logged
from proxy.replay.report import Costs, Replayed
from proxy.stages import assemble, identify, resume
from proxy.stages.learn import Learner
from proxy.stages.plan import Planner
from proxy.storage.library import Library
from proxy.storage.opening import Storage
from proxy.storage.shared.local import local_state
from proxy.tasks import Tasks
from proxy.types import ChatRequest, Directives, Headers, Identity, Incoming, Message, Passage, Plan, ReuseMiss
from proxy.upstream.client import Upstream
from proxy.upstream.routing import Router
from proxy.wire import turns
from proxy.wire.headers import read_directives
from proxy.wire.request import parse

DEADLINE = 60.0  # seconds for each stage: nobody waits for an answer


@dataclass(frozen=True, slots=True)
class Way:
    """One request's."""

    logged: Logged
    incoming: Incoming
    request: ChatRequest
    directives: Directives
    upstream: Upstream
    attempts: Attempts


class Course:
    """Everything that lives from one request to the next; `storage` is closed with it."""

    def __init__(self, config: Config, means: Means, storage: Storage) -> None:
        self._is_private = config.tenancy == "personal"
        self._means = means
        self._storage = storage
        self._sessions = storage.sessions
        self._archive = storage.archive
        self._router = Router([Upstream(each) for each in config.upstreams], reject_unknown=False)
        self._chains = turns.Chains()
        self._tasks = Tasks()
        shared = local_state()
        self._open_turns = shared.open_turns
        library = Library(storage.facts, storage.archive, storage.states, storage.wipes, means.executor, self._tasks)
        self._planner = Planner(
            config,
            counter=means.counter,
            calibrations=shared.calibrations,
            library=library,
            embedder=means.embedder,
            executor=means.executor,
        )
        self._learner = Learner(library, means.embedder, means.executor, self._tasks, shared.open_turns)
        self._weights = Weights(means.counter.message, means.counter.text)
        self._caches = {name: PrefixCache(self._weights) for name in ("full", "sliding", "ours")}

    async def close(self) -> None:
        await self._tasks.drain(0)
        await self._storage.close()
        for upstream in self._router.upstreams:
            await upstream.close()

    async def take(self, logged: Logged, number: int, *, details: bool) -> Replayed:
        """`number` tells the request from all others."""
        headers = _unmetered(logged.headers)
        tenant = blake2b(logged.key.encode("utf-8", "replace"), digest_size=16).hexdigest()
        incoming = Incoming(f"replay-{number}", headers, logged.body, logged.at or 0.0, tenant)
        request = parse(logged.body)
        upstream = self._router.route(request.model).upstream
        directives, attempts = read_directives(headers), Attempts(lambda _stage, _reason: None)
        way = Way(logged, incoming, request, directives, upstream, attempts)

        identified = await attempts.run("identify", self._identified(way), fallback=None, deadline=DEADLINE)
        plan = Plan("fail-open", tokens_original=0, tokens_sent=0)
        sent, conversation = request, incoming.request_id
        if identified is not None:
            request, identity = identified
            conversation = f"{identity.scope.id}/{identity.session}"
            plan, sent = await self._planned(way, request, identity, plan)
            await self._remember(way, request, identity, plan)
        return self._priced(way, request, sent, plan, conversation, details=details)

    async def _identified(self, way: Way) -> tuple[ChatRequest, Identity]:
        offload = Offload(self._means.executor, len(way.logged.body))
        identity = await identify.identify(
            way.incoming,
            way.request,
            way.directives,
            private=self._is_private,
            is_answered=_always,  # whatever was logged was answered
            sessions=self._sessions,
            chains=self._chains,
            offload=offload,
        )
        try:
            return await resume.resume(
                way.incoming,
                way.request,
                identity,
                archive=self._archive,
                open_turns=self._open_turns,
                settled=self._learner.settled,
                chains=self._chains,
                offload=offload,
            )
        except BadRequest:  # results of calls that the log does not have
            return way.request, identity

    async def _planned(
        self, way: Way, request: ChatRequest, identity: Identity, fallback: Plan
    ) -> tuple[Plan, ChatRequest]:
        """The plan, and the request that the upstream would have got."""
        await self._embed(request)
        work = self._planner.plan(way.incoming, request, identity, way.directives, way.upstream)
        plan = await way.attempts.run("plan", work, fallback=fallback, deadline=DEADLINE)
        assembled = way.attempts.call(
            "assemble", lambda: assemble.assemble(request, plan, way.upstream.config), fallback=None
        )
        if assembled is None:
            return fallback, request
        return assembled.plan, request if assembled.body is request.raw else parse(assembled.body)

    async def _embed(self, request: ChatRequest) -> None:
        """The newest question, which planning waits for only as long as a client would."""
        newest = next((said for said in reversed(request.messages) if said.role == "user"), None)
        if newest is None or not (said := without_ours(newest.text)).strip():
            return
        try:
            await self._means.embedder.embed([said])
        except EmbeddingUnavailable:
            return  # as planning finds out for itself

    async def _remember(self, way: Way, request: ChatRequest, identity: Identity, plan: Plan) -> None:
        """Returns when all of it is learnt: in a log the next request follows at once."""
        if way.directives.mode == "off":
            return
        answers = () if way.logged.answer is None else (way.logged.answer,)
        chain = (*identity.chain, *turns.extend(identity.chain[-1], answers))
        at = way.incoming.received_at
        self._sessions.remember(identity.scope.id, identity.session, chain, identity.known, at)
        passage = Passage(
            incoming=way.incoming,
            request=request,
            identity=identity,
            directives=way.directives,
            miss=ReuseMiss("replayed"),
            plan=plan,
            upstream=way.upstream.name,
            started=0.0,
        )
        self._learner.delivered(passage, chain, answers, way.attempts)
        await self._tasks.drain(DEADLINE)
        await self._storage.flush()

    def _priced(
        self, way: Way, request: ChatRequest, sent: ChatRequest, plan: Plan, conversation: str, *, details: bool
    ) -> Replayed:
        price = price_for(way.upstream.config, request.model)
        cache = prefix_cache.assumed(way.upstream.config, request.model, price)
        rates = economics.rates(price, cache, idle=0.0)
        prompts = {
            "full": self._prompt(request, request.messages),
            "sliding": self._prompt(request, sliding(request.messages)),
            "ours": self._prompt(sent, sent.messages),
        }
        owner: Hashable = (way.incoming.tenant, way.upstream.name, request.model)
        tokens = {name: self._weights.prompt(prompt) for name, prompt in prompts.items()}
        costs = {
            name: rates.cost(tokens[name], self._caches[name].send(owner, prompt, way.incoming.received_at, cache.ttl))
            for name, prompt in prompts.items()
        }
        failed = ",".join(stage for stage in way.attempts.failed if stage != "learn")
        return Replayed(
            line=way.logged.line,
            at=way.incoming.received_at,
            model=request.model,
            upstream=way.upstream.name,
            conversation=conversation,
            kind="fail-open" if failed else plan.kind,
            reason=f"stage={failed}" if failed else plan.reason,
            tokens_full=tokens["full"],
            tokens_sliding=tokens["sliding"],
            tokens_sent=tokens["ours"],
            mechanisms=plan.mechanisms,
            costs=Costs(**costs),
            ratio=rates.cached / rates.write,
            price=price.input,
            inside=inside(request.messages, plan, self._weights) if details else None,
        )

    def _prompt(self, request: ChatRequest, messages: Sequence[Message]) -> Prompt:
        beside = request.beside
        return Prompt(
            preface=msgspec.json.encode(beside) if beside else b"",
            preface_tokens=self._means.counter.overhead(request),
            messages=messages,
        )


def _unmetered(headers: Headers) -> Headers:
    """Who only measured wants to know what would have been."""
    return tuple(each for each in headers if each != ("x-olvido-mode", "meter"))


async def _always(_scope: str) -> bool:
    return True
