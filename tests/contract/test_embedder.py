"""What every Embedder does, wherever its vectors come from."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxy.embedding import Embedder, EmbeddingUnavailable
from proxy.embedding.engines import EndpointEngine, LocalEngine
from proxy.embedding.exported import BUILTIN, MULTILINGUAL
from proxy.embedding.service import Engine, EngineEmbedder
from tests.embedding.engines import FakeEngine, until, vector
from tests.servers import run_app

Open = Callable[[], Engine]


async def _embeddings(request: Request) -> Response:
    texts = (await request.json())["input"]
    data: list[dict[str, Any]] = [{"index": i, "embedding": vector(text).tolist()} for i, text in enumerate(texts)]
    return Response(msgspec.json.encode({"data": data}), media_type="application/json")


# Two load a real model.
BACKENDS = ["fake", *(pytest.param(name, marks=pytest.mark.long) for name in ("local", "multilingual")), "endpoint"]


@pytest.fixture(params=BACKENDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Open]:
    match request.param:
        case "local":
            folder: Path = request.getfixturevalue("embedding_folder")
            yield lambda: LocalEngine(BUILTIN, [folder])
        case "multilingual":
            made: Path = request.getfixturevalue("multilingual_folder")
            yield lambda: LocalEngine(MULTILINGUAL, [made])
        case "endpoint":
            with run_app(Starlette(routes=[Route("/v1/embeddings", _embeddings, methods=["POST"])])) as url:
                yield lambda: EndpointEngine(f"{url}/v1", "m")
        case _:
            yield FakeEngine


@asynccontextmanager
async def _opened(engine: Open) -> AsyncIterator[Embedder]:
    embedder = EngineEmbedder(engine())
    embedder.start()
    try:
        await until(lambda: embedder.state == "ready")
        yield embedder
    finally:
        await embedder.close()


@pytest.fixture
async def embedder(engine: Open) -> AsyncIterator[Embedder]:
    async with _opened(engine) as opened:
        yield opened


class TestEmbedder:
    async def test_until_it_is_ready_it_refuses_at_once(self, engine: Open) -> None:
        embedder: Embedder = EngineEmbedder(engine())
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed(["a"])
        assert embedder.state == "warming"
        await embedder.close()

    async def test_when_ready_it_tells_its_version(self, embedder: Embedder) -> None:
        assert embedder.version
        assert embedder.detail == ""

    async def test_each_text_has_a_row_of_unit_length_of_its_own(self, embedder: Embedder) -> None:
        texts = [f"pregunta número {number}" for number in range(70)]
        rows = await embedder.embed(texts)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert len(np.unique(rows, axis=0)) == len(texts)

    async def test_no_texts_have_no_rows(self, embedder: Embedder) -> None:
        assert (await embedder.embed([])).shape == (0, (await embedder.embed(["a"])).shape[1])

    async def test_a_text_has_the_same_vector_in_any_company_and_after_a_restart(self, engine: Open) -> None:
        texts = ["¿Cómo activo el modo oscuro?", "a", "palabra " * 300, *(f"{number} + 2" for number in range(40)), "a"]
        async with _opened(engine) as first, _opened(engine) as second:
            together = await first.embed(texts)
            apart = np.concatenate([await second.embed([text]) for text in texts])
            np.testing.assert_array_equal(together, apart)

    @pytest.mark.parametrize("text", ["", " ", "\0", "a\ud800b", "🎉" * 9000, "x" * 1_000_000, "\n" * 10_000])
    async def test_any_text_has_a_vector(self, embedder: Embedder, text: str) -> None:
        rows = await embedder.embed([text, "hello"])
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)

    async def test_what_it_gave_is_the_callers_own(self, embedder: Embedder) -> None:
        first = await embedder.embed(["a"])
        kept = first.copy()
        first[:] = 0
        np.testing.assert_array_equal(await embedder.embed(["a"]), kept)

    async def test_a_caller_who_gives_up_takes_nothing_from_the_others(self, embedder: Embedder) -> None:
        async def give_up() -> None:
            async with asyncio.timeout(0):
                await embedder.embed(["given up"])

        results = await asyncio.gather(give_up(), embedder.embed(["kept"]), return_exceptions=True)
        assert isinstance(results[0], TimeoutError)
        assert isinstance(results[1], np.ndarray)
        assert len(await embedder.embed(["given up"])) == 1

    async def test_once_closed_it_refuses(self, embedder: Embedder) -> None:
        await embedder.close()
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed(["a"])
