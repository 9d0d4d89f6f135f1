"""What the step to the upstream costs by itself, through each client that could make it: the choice that
proxy/upstream/client.py documents.

    python -m tests.bench.transports PORT ROUNDS REQUESTS      prints CPU µs per request, of each round, as JSON
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import httpx
import msgspec
import uvloop
from httpx_aiohttp import AiohttpTransport

from proxy.bench.bodies import Author
from proxy.config import Upstream as UpstreamConfig
from proxy.upstream.client import Upstream

CONNECTIONS = 8
WARM_UP = 20  # requests per connection
HEADERS = (
    ("content-type", "application/json"),
    ("accept", "application/json"),
    ("authorization", "Bearer sk-bench-000000000000"),
    ("user-agent", "OpenAI/Python 3.54.0"),
)

Post = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def by_transport(url: str, transport: httpx.AsyncBaseTransport) -> AsyncIterator[Post]:
    async def post(body: bytes) -> bytes:
        request = httpx.Request("POST", url, headers=list(HEADERS), content=body)
        response = await transport.handle_async_request(request)
        return await response.aread()

    async with transport:
        yield post


@asynccontextmanager
async def by_aiohttp(url: str) -> AsyncIterator[Post]:
    async def post(body: bytes) -> bytes:
        async with session.post(url, data=body, headers=HEADERS) as answer:
            return await answer.read()

    async with aiohttp.ClientSession() as session:
        yield post


@asynccontextmanager
async def by_ours(base_url: str) -> AsyncIterator[Post]:
    upstream = Upstream(UpstreamConfig(name="bench", base_url=base_url))

    async def post(body: bytes) -> bytes:
        response = await upstream.send("POST", upstream.url("/chat/completions"), HEADERS, body, 60.0)
        chunks = []
        while chunk := await response.read():
            chunks.append(chunk)
        return b"".join(chunks)

    try:
        yield post
    finally:
        await upstream.close()


async def main(port: int, rounds: int, requests: int) -> dict[str, list[float]]:
    base_url = f"http://127.0.0.1:{port}/v1"
    url = f"{base_url}/chat/completions"
    body = Author(0, stream=False).cold()
    async with AsyncExitStack() as stack:
        clients = {
            "httpx, its own transport": await stack.enter_async_context(by_transport(url, httpx.AsyncHTTPTransport())),
            "httpx, aiohttp transport": await stack.enter_async_context(by_transport(url, AiohttpTransport())),
            "aiohttp": await stack.enter_async_context(by_aiohttp(url)),
            "ours (proxy.upstream.client)": await stack.enter_async_context(by_ours(base_url)),
        }
        results: dict[str, list[float]] = {name: [] for name in clients}
        for post in clients.values():
            await _send(post, body, WARM_UP * CONNECTIONS)
        for _ in range(rounds):
            for name, post in clients.items():
                used = time.process_time()
                sent = await _send(post, body, requests)
                results[name].append((time.process_time() - used) / sent * 1e6)
        return results


async def _send(post: Post, body: bytes, requests: int) -> int:
    """How many it sent: at least `requests`."""
    each = -(-requests // CONNECTIONS)

    async def lane() -> None:
        for _ in range(each):
            answer = await post(body)
            assert answer.endswith(b"}"), answer

    await asyncio.gather(*(lane() for _ in range(CONNECTIONS)))
    return each * CONNECTIONS


if __name__ == "__main__":
    print(msgspec.json.encode(uvloop.run(main(*map(int, sys.argv[1:4])))).decode())
