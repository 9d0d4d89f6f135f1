"""The services that handle requests, built once for a process: `proxy/services.py` composes them."""

from concurrent.futures import Executor
from dataclasses import dataclass

from proxy.config import Config
from proxy.context.planner import Planner
from proxy.http.edge import Authenticator
from proxy.http.origins import OriginPolicy
from proxy.memory.learn import Learner, Obedience
from proxy.memory.library import Library
from proxy.observe.metrics import Metrics
from proxy.pipeline.record import Recorder
from proxy.pipeline.verify import Verifier
from proxy.protocol.turns import Chains
from proxy.reuse.intent import Intent
from proxy.reuse.judging import Judging
from proxy.storage.answered import AnsweredScopes
from proxy.storage.opening import Storage
from proxy.storage.shared import SharedState
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter
from proxy.upstream.routing import Router


@dataclass(frozen=True, slots=True)
class Services:
    """All services of one process."""

    config: Config
    authenticator: Authenticator
    origins: OriginPolicy
    router: Router
    metrics: Metrics
    answered: AnsweredScopes
    chains: Chains
    intent: Intent
    judging: Judging | None
    verifier: Verifier
    library: Library
    planner: Planner
    learner: Learner
    obedience: Obedience
    recorder: Recorder
    tasks: Tasks
    executor: Executor
    counter: TokenCounter
    storage: Storage
    shared: SharedState
    patience: float = 1.0  # factor of the deadlines of all stages

    async def close(self) -> None:
        """Drains background work, writes queued rows, and closes what is open."""
        self.storage.stop()
        await self.tasks.drain(self.config.server.drain)
        await self.intent.embedder.close()
        await self.storage.close()
        for upstream in self.router.upstreams:
            await upstream.close()
        self.executor.shutdown(wait=False, cancel_futures=True)
