"""The way of a request, from bytes to answer, and the record of its outcome. Here are the services that handle
requests, built once for a process (`proxy/services/` composes them), and the context of one request.

On its way, in this order:

    other_apis.py       the Responses and Messages APIs: their requests handled as any other, their answers in their own
                        shape
    response_chains.py  for it: responses that are kept, and requests that go on from them
    chat.py             the way itself, from bytes to answer, a stage a line (start reading here)
    limits.py           for limits of keys and end users: what a request may come to, estimated
    identifying.py      the identity of a request, and the history that its client left out
    rollout.py          the mode of each conversation; conversations that return to pass-through
    obeying.py          orders to memory, carried out: commands, and what is to be forgotten
    commanding.py       for it: commands as whole messages (/remember, /clear, …), answered by the system
    reusing.py          a stored answer, looked up, waited for, and replayed
    desk.py             the desk of a request, where the model manages its own memory
    desk_states.py      for it: what this process knows of the desks of sessions
    tool_loop.py        an answer in which the model calls tools of ours: round after round, spliced into one
    tool_rounds.py      for it: the upstream calls of such an answer, their prompts and accounts
    tool_turns.py       for it: the decision after each round, and what is kept of it
    tool_stream.py      for it: the answer as a stream, on its way to the client
    desk_tools.py       for it: tools of the desk, run: orders carried out, and answered with a sentence
    desk_facts.py       for these: facts, remembered and forgotten
    desk_documents.py   for these: the documents of a person's folder, read and written
    desk_memory.py      for these: Anthropic's memory tool, carried out over a person's folder
    telling.py          for other APIs: a chat completion, told whole or as events

After the answer:

    record.py           ledger, metrics, session, stored answer, what was said
    outcome.py          for it: what an upstream has delivered, read
    answered_scopes.py  for it: scopes that an upstream has answered: nothing is stored for others
    ledger.py           for it: the row of costs and savings, and the contents where they are kept
    mirror.py           a sample of managed requests asked once more as they were, and both answers compared
    own_requests.py     other requests of our own: the upstream's answer for a sample of the reused ones; the judge
                        of reuse
    memory_model.py     the model that memory asks, behind an upstream
    ending_sessions.py  the end of a conversation, by idleness or at the client's word, and who is told of it

Beside the way, each with its own routes:

    context_api.py      the context of a conversation as an API, told from the archive
    sessions_api.py     sessions as an API: their end
    desk_api.py         the desk of a session as an API: reset, pins
    desk_reset.py       a person's word on a desk: reset, confirmation, pins
    kept_responses.py   responses that are kept, told and deleted; tokens of a message's request, counted
    unmanaged.py        requests to other routes, on their way through: what is noticed of them, and their rows in the
                        ledger
"""

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass, field

from proxy.config import Config
from proxy.context.planner import Planner
from proxy.curation.working import Curator
from proxy.files.serving import Files
from proxy.http.access import Authenticator, OriginPolicy
from proxy.keys.book import KeyBook
from proxy.keys.limiting import Limiter
from proxy.keys.limits import with_room
from proxy.memory.learn import Learner
from proxy.memory.library import Library
from proxy.memory.obedience import Obedience
from proxy.observe.ledger import LedgerTotals
from proxy.observe.metrics import Metrics
from proxy.observe.tracing import Tracing
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.commanding import Commander
from proxy.pipeline.desk import Desks
from proxy.pipeline.ending_sessions import Ends
from proxy.pipeline.mirror import Mirror
from proxy.pipeline.own_requests import Verifier
from proxy.pipeline.record import Recorder
from proxy.pipeline.rollout import Rollout
from proxy.pipeline.unmanaged import Unmanaged
from proxy.protocol.chains import Chains
from proxy.reuse.intent import Intent
from proxy.reuse.judging import Judging
from proxy.storage.opening import Storage
from proxy.storage.shared import SharedState
from proxy.tasks import Attempts, Offload, Tasks
from proxy.tokens import TokenCounter
from proxy.types import Answer, ChatRequest, Directives, Exchange, Headers, Identity, Incoming, Plan, ReuseMiss
from proxy.upstream.client import Route, Router


@dataclass(frozen=True, slots=True)
class Services:
    """All services of one process."""

    config: Config
    authenticator: Authenticator
    keys: KeyBook
    limiter: Limiter
    rollout: Rollout
    origins: OriginPolicy
    router: Router
    metrics: Metrics
    totals: LedgerTotals
    answered: AnsweredScopes
    chains: Chains
    intent: Intent
    judging: Judging | None
    verifier: Verifier
    library: Library
    planner: Planner
    learner: Learner
    obedience: Obedience
    commander: Commander | None  # None: no message is a command
    ends: Ends
    desks: Desks
    files: Files | None  # None: memory is in the database alone
    curator: Curator | None  # None: memory does without a model
    recorder: Recorder
    unmanaged: Unmanaged
    tasks: Tasks
    executor: Executor
    counter: TokenCounter
    storage: Storage
    shared: SharedState
    mirror: Mirror | None = None  # None: no answer is compared
    patience: float = 1.0  # factor of the deadlines of all stages
    tracing: Tracing | None = None  # None: nothing is traced

    async def close(self) -> None:
        """Drains background work, writes queued rows, and closes what is open."""
        self.storage.stop()
        self.keys.stop()
        self.rollout.stop()
        self.ends.stop()
        if self.curator is not None:
            self.curator.stop()
        if self.files is not None:
            self.files.stop()
        await self.tasks.drain(self.config.server.drain)
        await self.ends.close()
        if self.curator is not None:
            await self.curator.close()
        await self.intent.embedder.close()
        if self.files is not None:
            self.files.close()
        await self.storage.close()
        for upstream in self.router.upstreams:
            await upstream.close()
        if self.tracing is not None:
            await asyncio.to_thread(self.tracing.close)
        self.executor.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class RequestContext:
    """One request on its way: what its stages share. Three of them change it: `identify` sets the identity, `resume`
    may add the history, `command` may leave messages out."""

    incoming: Incoming
    services: Services
    attempts: Attempts
    offload: Offload
    started: float  # perf_counter
    request: ChatRequest
    directives: Directives
    route: Route
    identity: Identity = field(init=False)
    room: Headers = ()  # that limits leave, for the answer
    own: Identity | None = None  # with the links of all messages, where some are left out

    def exchange(self, miss: ReuseMiss, plan: Plan, upstream: str) -> Exchange:
        """Returns the request with the decisions about it, for recording."""
        decided = miss, plan, upstream
        return Exchange(
            self.incoming, self.request, self.identity, self.directives, *decided, self.started, own=self.own
        )

    def labelled(self, answer: Answer, exchange: Exchange) -> Answer:
        """Returns the answer with the headers that say what we did to it."""
        plan = exchange.plan
        done = f"{plan.kind};{plan.reason}" if plan.reason else plan.kind
        if self.attempts.failed:
            done = f"fail-open;stage={','.join(self.attempts.failed)}"
        ours: Headers = (
            ("x-olvido-source", answer.source),
            ("x-olvido-session", exchange.identity.session),
            ("x-olvido-request", exchange.incoming.request_id),
            ("x-olvido-tokens-original", str(plan.tokens.original)),
            ("x-olvido-tokens-sent", str(plan.tokens.sent)),
            ("x-olvido-plan", done),
        )
        headers = (*with_room(answer.headers, self.room), *ours)
        origin = exchange.request.origin
        is_unstored = origin is not None and origin.is_unstored
        return Answer(answer.status, headers, answer.body, answer.source, answer.api, is_unstored=is_unstored)
