"""Settings of a scripted upstream: its dialect, its models, how it streams, what it caches, how it fails."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proxy.demo.app import CACHE, CACHE_BLOCKS, CHAT_MODELS, CHUNKS
from proxy.demo.counting import Encode
from proxy.protocol.dialects import DIALECTS, Dialect
from proxy.types import PrefixCache

EMBEDDING_MODELS = ("text-embedding-3-small",)


def four_bytes_a_token(text: str) -> Sequence[int]:
    """The usual estimate, as ids: cheap, deterministic, and equal for equal beginnings."""
    data = text.encode("utf-8", "replace")
    return memoryview(data + bytes(-len(data) % 4)).cast("I").tolist()


@dataclass(frozen=True, slots=True)
class ScriptedConfig:
    dialect: Dialect = DIALECTS["openai"]
    models: tuple[str, ...] = CHAT_MODELS + EMBEDDING_MODELS
    api_keys: frozenset[str] = frozenset()  # empty: any key will do, but there must be one
    seed: int = 0
    strict: bool = True  # enforce the dialect's order rules
    chunks: int = CHUNKS  # content deltas of a streamed answer; `x-demo-chunks` overrides it
    chunk_delay: float = 0.0  # seconds between two chunks; `x-demo-chunk-delay` overrides it
    fault: str = ""  # of every request whose `x-demo-fault` says nothing; see faults.py
    record: bool = False
    encode: Encode = four_bytes_a_token
    clock: Callable[[], float] = time.monotonic
    cache: PrefixCache = CACHE  # whatever the dialect: OpenAI's minimum hides what a short demo shows
    cache_blocks: int = CACHE_BLOCKS
