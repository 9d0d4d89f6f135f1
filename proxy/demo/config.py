"""What a demo upstream is: its dialect, its models, how it streams, what it remembers, how it fails."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from proxy.config.prices import prefix_cache
from proxy.types import PrefixCache
from proxy.wire.dialects import DIALECTS, Dialect

Encode: TypeAlias = Callable[[str], Sequence[int]]  # text to token ids

CHAT_MODELS = ("demo-chat", "demo-reasoner", "gpt-4o-mini", "kimi-k2.6", "deepseek-v4-flash", "mistral-small-latest")
EMBEDDING_MODELS = ("text-embedding-3-small",)
CACHE = prefix_cache("kimi", "")


def four_bytes_a_token(text: str) -> Sequence[int]:
    """The usual estimate, as ids: cheap, deterministic, and equal for equal beginnings."""
    data = text.encode("utf-8", "replace")
    return memoryview(data + bytes(-len(data) % 4)).cast("I").tolist()


@dataclass(frozen=True, slots=True)
class DemoConfig:
    dialect: Dialect = DIALECTS["openai"]
    models: tuple[str, ...] = CHAT_MODELS + EMBEDDING_MODELS
    thinking_models: frozenset[str] = frozenset({"demo-reasoner", "kimi-k2.6", "deepseek-v4-flash"})
    api_keys: frozenset[str] = frozenset()  # empty: any key will do, but there must be one
    seed: int = 0
    strict: bool = True  # enforce the dialect's order rules
    chunks: int = 8  # content deltas of a streamed answer; `x-demo-chunks` overrides it
    chunk_delay: float = 0.0  # seconds between two chunks; `x-demo-chunk-delay` overrides it
    fault: str = ""  # of every request whose `x-demo-fault` says nothing; see faults.py
    record: bool = False
    encode: Encode = four_bytes_a_token
    clock: Callable[[], float] = time.monotonic
    cache: PrefixCache = CACHE  # whatever the dialect: OpenAI's minimum hides what a short demo shows
    cache_blocks: int = 100_000  # the least recently used leave
