"""The model of memory behind an upstream. Each question to it is a request of our own (`own_requests.py`): paid for, a
row of the ledger with `memory` for a reason, never on the way of an answer."""

from collections.abc import Mapping
from concurrent.futures import Executor
from time import time

from proxy.config import price_for
from proxy.config.memory import MemoryModel as Settings
from proxy.curation.model import MOST_ANSWER, Reply
from proxy.errors import BreakerOpen, UpstreamError, UpstreamUnreachable
from proxy.pipeline.ledger import cost_of
from proxy.pipeline.outcome import decoded
from proxy.pipeline.own_requests import HEADERS, OwnRequests
from proxy.protocol.answers import find_usage, first_text
from proxy.protocol.chains import chain_of
from proxy.protocol.request import parse
from proxy.storage.erasures import base_of
from proxy.tasks import Attempts, Offload
from proxy.types import Identity, Incoming, Json, Scope, Usage
from proxy.upstream.client import Route, Router

DEADLINE = 120.0  # seconds of a question
MOST_BYTES = 2**20  # of an answer; a longer one is cut off, and none
WITH_SCHEMAS = frozenset({"openai", "kimi", "mistral", "vllm"})  # dialects that have `json_schema`
# Dialects whose models take a temperature. OpenAI's and Kimi's newer ones know none but their own; of a generic
# upstream nobody knows.
WITH_TEMPERATURE = frozenset({"deepseek", "mistral", "vllm"})


class UpstreamMemoryModel:
    """A `MemoryModel` behind the upstream that the configuration names, without its fallbacks."""

    def __init__(
        self,
        config: Settings,
        router: Router,
        requests: OwnRequests,
        executor: Executor,
        *,
        deadline: float = DEADLINE,
    ) -> None:
        upstream = router.named(config.upstream)
        dialect = upstream.config.dialect
        # OpenAI's newer models know no `max_tokens`.
        limit = "max_completion_tokens" if dialect == "openai" else "max_tokens"
        sampling = {"temperature": 0} if dialect in WITH_TEMPERATURE else {}
        self.name = config.model
        self.settings: Mapping[str, Json] = {"model": config.model, limit: MOST_ANSWER, **sampling}
        self.schemas = dialect in WITH_SCHEMAS
        self._route = Route(upstream)
        self._price = price_for(upstream.config, config.model)
        self._requests = requests
        self._executor = executor
        self._deadline = deadline

    def most(self, body: bytes) -> float:
        """As for a `MemoryModel`: no text has more tokens than bytes."""
        return cost_of(Usage(len(body), MOST_ANSWER), self._price)

    async def ask(self, scope: str, session: str, name: str, body: bytes) -> Reply | None:
        """As for a `MemoryModel`. An error status is not billed, nor is what never got there; a timeout may be."""
        attempts = self._requests.attempts()
        asking = self._ask(scope, session, name, body, attempts)
        try:
            return await attempts.run("memory", asking, fallback=None, deadline=self._deadline)
        except (BreakerOpen, UpstreamUnreachable):
            return Reply("", 0.0, is_out=True)
        except UpstreamError:
            return None  # the ledger and the metrics tell of it

    async def _ask(self, scope: str, session: str, name: str, body: bytes, attempts: Attempts) -> Reply | None:
        request = parse(body)
        tenant, _, user = base_of(scope).partition("/")
        owner = Scope(tenant, user)
        incoming = Incoming(name, HEADERS, body, time(), tenant)
        identity = Identity(
            owner, session, "header", chain_of(owner.id, request.messages), private=base_of(scope) == scope
        )
        plan = await self._requests.plan(request, identity, self._route.upstream.config)
        answer, _ = await self._requests.send(
            "memory", incoming, request, identity, plan, self._route, attempts, whole=MOST_BYTES
        )
        if not isinstance(answer.body, bytes):
            await answer.body.aclose()  # nobody asked for a stream, nor for as much as that
            return None
        if answer.status != 200:
            return Reply("", 0.0, is_out=answer.status == 429 or answer.status >= 500)
        raw = answer.body
        completion = await Offload(self._executor, len(raw))(lambda: decoded(raw))
        usage = find_usage(completion)
        return Reply(first_text(completion), self.most(body) if usage is None else cost_of(usage, self._price))
