"""The composition root: every part, built once from the configuration, and closed in the reverse order."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import tiktoken

from proxy.config import Config
from proxy.edge import Gate
from proxy.observe.metrics import Metrics
from proxy.stages.exact import Flights
from proxy.stages.record import Recorder
from proxy.storage.base import AnswerCache, Ledger, SessionStore
from proxy.storage.opening import Storage, open_storage
from proxy.tasks import Tasks
from proxy.tokens import Calibration, TokenCounter, load_tokenizer
from proxy.upstream.client import Upstream
from proxy.upstream.routing import Router
from proxy.wire.turns import Chains

# Two: one large request being parsed must not hold up another's tokens, and more would only compete for the cores.
CPU_THREADS = 2


@dataclass(frozen=True, slots=True)
class Services:
    config: Config
    gate: Gate
    router: Router
    metrics: Metrics
    sessions: SessionStore
    ledger: Ledger
    answers: AnswerCache
    chains: Chains
    flights: Flights
    calibration: Calibration
    recorder: Recorder
    tasks: Tasks
    executor: ThreadPoolExecutor
    counter: TokenCounter
    storage: Storage

    async def close(self) -> None:
        """Let what runs finish, write what is queued, close what is open."""
        await self.tasks.drain(self.config.server.drain)
        await self.storage.close()
        for upstream in self.router.upstreams:
            await upstream.close()
        self.executor.shutdown(wait=False, cancel_futures=True)


async def build(config: Config, *, encoding: Callable[[], tiktoken.Encoding] = load_tokenizer) -> Services:
    """Raises StorageError if the storage folder can't be used, and OSError or ValueError if the token ranks can't."""
    executor = ThreadPoolExecutor(CPU_THREADS, thread_name_prefix="cpu")
    counter = TokenCounter(await asyncio.get_running_loop().run_in_executor(executor, encoding))
    tasks = Tasks()
    metrics = Metrics()
    storage = await open_storage(config, tasks)
    router = Router(
        [Upstream(upstream) for upstream in config.upstreams], reject_unknown=config.server.unknown_model == "reject"
    )
    calibration = Calibration()
    flights = Flights()
    recorder = Recorder(
        ledger=storage.ledger,
        sessions=storage.sessions,
        answers=storage.answers,
        counter=counter,
        calibration=calibration,
        metrics=metrics,
        router=router,
        flights=flights,
        tasks=tasks,
        executor=executor,
        ttl=config.reuse.exact.ttl,
    )
    return Services(
        config=config,
        gate=Gate(config, storage.secret),
        router=router,
        metrics=metrics,
        sessions=storage.sessions,
        ledger=storage.ledger,
        answers=storage.answers,
        chains=Chains(),
        flights=flights,
        calibration=calibration,
        recorder=recorder,
        tasks=tasks,
        executor=executor,
        counter=counter,
        storage=storage,
    )
