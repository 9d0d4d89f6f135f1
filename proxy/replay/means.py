"""What a replay needs and takes long to load."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proxy.config import Config
from proxy.embed.base import Embedder, EmbeddingOff
from proxy.embed.opening import open_embedder
from proxy.tokens import TokenCounter, load_tokenizer

READY_EVERY = 0.05  # seconds between two looks at an embedder that is warming up


@dataclass(frozen=True, slots=True)
class Means:
    """A proxy that runs has all of it."""

    counter: TokenCounter
    embedder: Embedder
    executor: Executor


@asynccontextmanager
async def opened(config: Config, *, embedding: bool = True) -> AsyncIterator[Means]:
    """Returns once texts can be embedded as configured, or it is clear that they can't be. Raises OSError or ValueError
    if the token ranks are not there."""
    embedder = open_embedder(config) if embedding else EmbeddingOff()
    with ThreadPoolExecutor(2, thread_name_prefix="replay") as executor:
        embedder.start()
        try:
            encoding = await asyncio.get_running_loop().run_in_executor(executor, load_tokenizer)
            while embedder.state == "warming":  # noqa: ASYNC110 (an Embedder tells its state, and no event)
                await asyncio.sleep(READY_EVERY)
            yield Means(TokenCounter(encoding), embedder, executor)
        finally:
            await embedder.close()
