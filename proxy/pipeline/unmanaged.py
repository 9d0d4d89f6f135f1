"""Requests to other routes than the managed one, on their way through: what is noticed of each in passing, and its row
in the ledger once it is over, with its metrics; a look at the list of models has none. Bytes pass as they come and are
never held back: kept are the first and the last few kilobytes of an answer, and read are the model and the usage that
they tell. Where a route that is billed by the token tells no usage, it is estimated by what has passed.
"""

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass, field
from time import perf_counter, time

from proxy.config import price_for
from proxy.conversation.names import end_user
from proxy.observe.metrics import Metrics
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.ledger import cost_of
from proxy.pipeline.record import DEADLINE, Settle
from proxy.protocol import headers as wire_headers
from proxy.protocol.headers import read_directives
from proxy.protocol.routes import ANSWERLESS, MOST_MODEL, is_counted, is_traffic, model_in, route_of, usage_in
from proxy.storage.opening import Storage
from proxy.storage.pending import BEGUN
from proxy.tasks import Attempts, Tasks
from proxy.types import UNANSWERED, UNMANAGED, Headers, LedgerRow, Outcome, Price, Scope, Usage
from proxy.upstream.client import Router

KEPT = 8 * 1024  # bytes of each end of an answer
SEARCHED = 2**20  # bytes of a request in which its model is looked for
BYTES_PER_TOKEN = 4


@dataclass(slots=True)
class Passage:
    """A request on its way through, and what was noticed of it so far."""

    request_id: str
    at: float  # unix seconds
    route: str
    method: str
    scope: Scope
    upstream: str
    is_json: bool  # its body
    started: float  # perf_counter
    model: str = ""  # that it asks for; "": not seen
    status: int = 0  # 0: there was no answer
    outcome: Outcome = "upstream_error"
    stream: bool = False
    is_plain: bool = False  # the answer has no content coding, so that it can be read
    begins: bytes = b""  # of the answer
    ends: bytes = b""
    is_over: bool = False
    asked_bytes: int = 0
    told_bytes: int = 0
    told_events: int = 0  # of a stream
    _searched: int = field(default=0, repr=False)
    _rest: bytes = field(default=b"", repr=False)  # of the last piece of the request: a name may be cut in two

    def sent(self, piece: bytes) -> None:
        """Notices a piece of the request."""
        if not self.asked_bytes and piece[:1] == b"{":
            self.is_json = True  # whatever the client calls it: some servers do not look
        self.asked_bytes += len(piece)
        if self.model or not self.is_json or self._searched > SEARCHED:
            return
        self._searched += len(piece)
        self.model = model_in(self._rest + piece[:MOST_MODEL]) if self._rest else ""
        self.model = self.model or model_in(piece)
        self._rest = piece[-MOST_MODEL:]

    def answered(self, status: int, headers: Headers) -> None:
        """Notices the head of the answer."""
        self.status, self.outcome = status, "client_gone"  # until it has come to its end
        self.stream = wire_headers.is_event_stream(headers)
        self.is_plain = wire_headers.coding(headers) == "identity"

    def came(self, piece: bytes) -> None:
        """Notices a piece of the answer."""
        self.told_bytes += len(piece)
        if not self.is_plain:
            return
        if self.stream:
            self.told_events += piece.count(b"data:")
        if len(self.begins) < KEPT:
            self.begins += piece[: KEPT - len(self.begins)]
        self.ends = piece[-KEPT:] if len(piece) >= KEPT else (self.ends + piece)[-KEPT:]

    def estimated(self) -> Usage:
        """Returns what it may have come to where nobody tells: of a stream a token an event, of another answer by its
        size; of one with a content coding, which makes some bytes of a token, by the bytes that came."""
        is_billed = 200 <= self.status < 300 or (not self.status and self.outcome == "client_gone")
        if not (is_billed and self.is_json and self.asked_bytes and is_counted(self.route, streams=self.stream)):
            return Usage(0, 0)
        answer = self.told_bytes if not self.is_plain else self.told_bytes // BYTES_PER_TOKEN
        if self.stream and self.is_plain:
            answer = self.told_events
        return Usage(self.asked_bytes // BYTES_PER_TOKEN, 0 if self.route in ANSWERLESS else answer)


@dataclass(frozen=True, slots=True, eq=False)
class Unmanaged:
    """Records requests that are passed through, each on its own: a failure is counted and logged, and costs the client
    nothing."""

    answered: AnsweredScopes
    storage: Storage
    metrics: Metrics
    router: Router
    tasks: Tasks
    executor: Executor
    settle: Settle = lambda _row: None

    def begin(self, request_id: str, method: str, path: str, headers: Headers, tenant: str) -> Passage:
        """Returns a request that is about to go to the first upstream."""
        BEGUN.set(None)
        self.storage.database.erasures.begin()
        named = read_directives(headers).user
        return Passage(
            request_id,
            time(),
            route_of(method, path),
            method,
            Scope(tenant, end_user(named) if named else ""),
            self.router.default.name,
            is_json="json" in (wire_headers.get(headers, "content-type") or "json"),
            started=perf_counter(),
        )

    def end(self, passage: Passage, outcome: Outcome | None = None, status: int | None = None) -> None:
        """Records a request that is over, once. `outcome`, `status`: as far as they are not what was noticed."""
        if passage.is_over:
            return
        passage.is_over = True
        passage.outcome = outcome or passage.outcome
        passage.status = status or passage.status
        total = perf_counter() - passage.started
        self.tasks.spawn(self._record(passage, total), name="record unmanaged")

    async def _record(self, passage: Passage, total: float) -> None:
        attempts = Attempts(self.metrics.failed_open)
        usage = None
        if b'"usage"' in passage.ends or b'"usage"' in passage.begins:
            usage = await attempts.run("record", self._read(passage), fallback=None, deadline=DEADLINE)
        known = self.answered.has(passage.scope.id)
        is_known = await attempts.run("record", known, fallback=False, deadline=DEADLINE)
        # What is asked for with GET, as the list of models, some upstreams answer without looking at the key.
        if not is_known and passage.method == "POST" and 200 <= passage.status < 300:
            self.answered.add(passage.scope.id)
            is_known = True
        passage.model = passage.model or model_in(passage.begins)
        price = price_for(self.router.named(passage.upstream).config, passage.model)
        scope = passage.scope.id if is_known else self.answered.before(passage.scope.id)
        if self.storage.database.erasures.is_over(scope):
            scope = UNANSWERED
        keeps = is_traffic(passage.method, passage.route)
        row = row_of(passage, scope, usage, price, total)
        attempts.call("ledger", lambda: self._write(row, keeps=keeps), fallback=None)

    async def _read(self, passage: Passage) -> Usage | None:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, usage_in, passage.begins, passage.ends)

    def _write(self, row: LedgerRow, *, keeps: bool) -> None:
        if keeps:
            self.storage.ledger.append(row)
        self.settle(row)
        if keeps:
            self.metrics.passed_through(row)


def row_of(passage: Passage, scope: str, usage: Usage | None, price: Price, total: float) -> LedgerRow:
    """Returns the row of a request that was passed through. `total`: seconds."""
    told = usage or passage.estimated()
    return LedgerRow(
        request_id=passage.request_id,
        at=passage.at,
        scope=scope,
        session=UNANSWERED if scope == UNANSWERED else UNMANAGED,
        model=passage.model,
        upstream=passage.upstream,
        source="upstream",
        status=passage.status,
        outcome=passage.outcome,
        stream=passage.stream,
        plan="untouched",
        plan_reason="route",
        reuse_reason="route",
        tokens_original=told.prompt_tokens,
        tokens_sent=told.prompt_tokens,
        tokens_cached=told.cached_tokens,
        tokens_billed=told.prompt_tokens,
        tokens_completion=told.completion_tokens,
        measured=usage is not None,
        cost=cost_of(told, price),
        cost_saved=0.0,
        total_seconds=total,
        upstream_seconds=total,
        route=passage.route,
    )
