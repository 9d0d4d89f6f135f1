import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from proxy.embedding.base import EmbeddingUnavailable
from proxy.embedding.endpoint import EndpointEngine
from tests.embedding.engines import vector, vectors
from tests.scripted.server import listen
from tests.servers import run_app

KEY = "sk-embedding-0123456789"


class Endpoint:
    """A server for /v1/embeddings. `answer` makes its answer from the texts."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, Any], str | None]] = []
        self.answer: Callable[[list[str]], Response] = right

    async def __call__(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append((body, request.headers.get("authorization")))
        return self.answer(body["input"])


def of(data: object) -> Response:
    return Response(json.dumps({"object": "list", "data": data}), media_type="application/json")


def items(texts: list[str]) -> list[dict[str, Any]]:
    return [{"object": "embedding", "index": i, "embedding": vector(text).tolist()} for i, text in enumerate(texts)]


def right(texts: list[str]) -> Response:
    return of(items(texts))


@asynccontextmanager
async def opened(endpoint: Endpoint, key: str | None = KEY) -> AsyncIterator[EndpointEngine]:
    async def handle(request: Request) -> Response:
        return await endpoint(request)

    with run_app(Starlette(routes=[Route("/v1/embeddings", handle, methods=["POST"])])) as url:
        engine = EndpointEngine(f"{url}/v1", "text-embedding-3-small", key)
        await engine.open()
        try:
            yield engine
        finally:
            await engine.close()


@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), (None, None)])
async def test_texts_go_out_in_one_request_and_their_vectors_come_back(key: str | None, sent: str | None) -> None:
    endpoint = Endpoint()
    async with opened(endpoint, key) as engine:
        np.testing.assert_allclose(await engine.vectors(["uno", "dos"]), vectors(["uno", "dos"]), rtol=1e-6)
    body = {"model": "text-embedding-3-small", "input": ["uno", "dos"], "encoding_format": "float"}
    assert endpoint.requests == [(body, sent)]


async def test_vectors_are_ordered_by_their_index() -> None:
    endpoint = Endpoint()
    endpoint.answer = lambda texts: of(items(texts)[::-1])
    async with opened(endpoint) as engine:
        np.testing.assert_allclose(await engine.vectors(["uno", "dos"]), vectors(["uno", "dos"]), rtol=1e-6)


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: of(items(texts)[:1]),
        lambda texts: of([*items(texts), *items(texts)]),
        lambda texts: of([items(texts)[0]] * 2),
        lambda texts: of([items(texts)[0], {"index": 1, "embedding": [1.0]}]),
        lambda _: of([]),
        lambda _: of(None),
        lambda texts: of([{"index": i, "embedding": "AAAA"} for i, _ in enumerate(texts)]),
        lambda texts: of([{"index": i, "embedding": [None]} for i, _ in enumerate(texts)]),
        lambda _: Response("<html>", media_type="application/json"),
        lambda _: Response(b'{"data": "\xff"}', media_type="application/json"),
        lambda _: Response("", status_code=200),
        lambda _: Response('{"error": {"message": "no"}}', status_code=401),
        lambda _: Response("busy", status_code=429),
        lambda _: Response("broken", status_code=500),
        lambda _: RedirectResponse("/elsewhere"),
    ],
    ids=[
        "too few", "too many", "one index twice", "two lengths", "none", "null", "base64", "null in a vector",
        "no JSON", "no UTF-8", "nothing", "401", "429", "500", "redirect",
    ],
)  # fmt: skip
async def test_an_answer_that_is_no_vectors_is_refused(answer: Callable[[list[str]], Response]) -> None:
    endpoint = Endpoint()
    endpoint.answer = answer
    async with opened(endpoint) as engine:
        with pytest.raises(EmbeddingUnavailable, match="endpoint") as caught:
            await engine.vectors(["uno", "dos"])
        assert KEY not in str(caught.value)
        assert len(endpoint.requests) == 1


async def test_a_number_too_large_becomes_what_the_checks_refuse() -> None:
    endpoint = Endpoint()
    endpoint.answer = lambda _: of([{"index": 0, "embedding": [1e300, 1.0]}])
    async with opened(endpoint) as engine:
        assert not np.isfinite(await engine.vectors(["uno"])).all()


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    gone = listen()
    host, port = gone.getsockname()
    gone.close()
    engine = EndpointEngine(f"http://{host}:{port}/v1", "m", KEY)
    await engine.open()
    with pytest.raises(EmbeddingUnavailable, match="did not answer"):
        await engine.vectors(["uno"])
    await engine.close()


def test_its_version_names_model_and_server_and_no_key() -> None:
    assert EndpointEngine("https://api.example.com/v1", "m-3", KEY).version == "m-3@api.example.com"
    assert KEY not in repr(EndpointEngine("https://api.example.com/v1", "m-3", KEY))
