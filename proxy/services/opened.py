"""The parts of a process that are opened before all others are composed around them."""

from concurrent.futures import Executor
from dataclasses import dataclass

from proxy.config import Config
from proxy.embedding import Embedder
from proxy.observe.metrics import Metrics
from proxy.storage.opening import Storage
from proxy.storage.shared import SharedState
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Parts that are open, with the configuration that they were opened by."""

    config: Config
    storage: Storage
    shared: SharedState
    counter: TokenCounter
    embedder: Embedder
    executor: Executor
    tasks: Tasks
    metrics: Metrics
