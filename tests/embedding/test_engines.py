import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from proxy.embedding import PROBES, EmbeddingRefused, EmbeddingUnavailable, Vectors, checked, checked_probes
from proxy.embedding.engines import EndpointEngine, LocalEngine, Session
from proxy.embedding.exported import BUILTIN, read, source_of
from tests.embedding.engines import until, vector, vectors
from tests.embedding.sentences import ODD, SENTENCES
from tests.scripted.server import listen
from tests.servers import run_app

# What a server does, in a process of its own: which libraries has it loaded when it serves vectors?
_SERVE = """
import asyncio, sys
from pathlib import Path
from proxy.embedding.engines import LocalEngine
from proxy.embedding.service import EngineEmbedder

async def main(model, folder):
    embedder = EngineEmbedder(LocalEngine(model, [Path(folder)]))
    embedder.start()
    early = {"onnxruntime", "tokenizers"} & sys.modules.keys()
    while embedder.state == "warming":
        await asyncio.sleep(0.01)
    print(embedder.state, embedder.detail)
    print(len(await embedder.embed(["abc", "x y z"])), embedder.version)
    print(sorted(early), sorted({"torch", "transformers", "sentence_transformers", "onnx"} & sys.modules.keys()))
    await embedder.close()

asyncio.run(main(*sys.argv[1:]))
"""


def serve(model: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _SERVE, model, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_an_export_that_is_there_is_served_without_torch(embedding_folder: Path) -> None:
    assert serve(BUILTIN, embedding_folder) == ["ready ", "2 minilm-l6-v2/int8/3", "[] []"]


@pytest.mark.long
def test_a_model_by_its_folder_is_exported_without_torch_in_the_serving_process(tiny: Path, tmp_path: Path) -> None:
    model = str(tiny)
    state, version, loaded = serve(model, tmp_path / "kept")
    exported = read(tmp_path / "kept" / source_of(model).folder, source_of(model))
    assert exported is not None
    assert (exported.manifest.prompt, exported.manifest.max_tokens, exported.manifest.dimensions) == ("query: ", 12, 32)
    assert [state, version, loaded] == ["ready ", f"2 {exported.manifest.version}", "[] []"]
    assert exported.manifest.version.startswith("tiny/")


async def test_the_export_is_found_in_whichever_folder_has_it(embedding_folder: Path, tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path / "empty", embedding_folder])
    await engine.open()
    assert (await engine.vectors(["a", "b"])).shape == (2, 384)
    assert not (tmp_path / "empty").exists()
    await engine.close()


async def test_before_it_is_open_it_has_no_vectors(tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path])
    assert engine.version == "minilm-l6-v2/int8/3"
    with pytest.raises(EmbeddingUnavailable):
        await engine.vectors(["a"])
    await engine.close()


async def test_opening_it_again_keeps_what_is_loaded(minilm: LocalEngine) -> None:
    before = await minilm.vectors(["a"])
    await minilm.open()
    np.testing.assert_array_equal(await minilm.vectors(["a"]), before)


async def test_closing_ends_an_export_that_is_being_made(tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path])
    opening = asyncio.gather(engine.open())
    scratch = tmp_path / source_of(BUILTIN).folder / "scratch"
    await until(scratch.exists, seconds=60)
    assert engine.doing.startswith("exporting")
    opening.cancel()
    with suppress(asyncio.CancelledError):
        await opening
    await engine.close()
    assert not scratch.exists()
    assert read(scratch.parent, source_of(BUILTIN)) is None


async def test_an_export_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / source_of(BUILTIN).folder).touch()
    engine = LocalEngine(BUILTIN, [tmp_path])
    with pytest.raises(EmbeddingRefused, match="File exists"):
        await engine.open()
    await engine.close()


async def test_without_a_folder_to_write_the_export_goes_into_one_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def temporary(below: str = "") -> list[Path]:
        return list(tmp_path.glob(f"olvido-*/{below}"))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    engine = LocalEngine(BUILTIN, [tmp_path / "file" / "below"])
    opening = asyncio.gather(engine.open())
    await until(lambda: temporary(f"{source_of(BUILTIN).folder}/lock"), seconds=60)
    opening.cancel()
    with suppress(asyncio.CancelledError):
        await opening
    await engine.close()
    assert not temporary()


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


# --- the vectors of a loaded export ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session(embedding_folder: Path) -> Session:
    source = source_of(BUILTIN)
    exported = read(embedding_folder / source.folder, source)
    assert exported is not None
    return Session(exported)


def cosines(vectors: Vectors) -> Vectors:
    every: Vectors = vectors @ vectors.T
    np.fill_diagonal(every, -1)
    return every


@pytest.mark.long
def test_the_exported_model_agrees_with_the_original(session: Session, originals: Vectors) -> None:
    agreement = (checked(SENTENCES, session.vectors(SENTENCES)) * originals[: len(SENTENCES)]).sum(axis=1)
    assert agreement.mean() >= 0.995
    assert agreement.min() >= 0.99
    cut_and_odd = (checked(ODD, session.vectors(ODD)) * originals[len(SENTENCES) :]).sum(axis=1)
    assert cut_and_odd.min() >= 0.98


@pytest.mark.long
def test_it_ranks_as_the_original_does(session: Session, originals: Vectors) -> None:
    ours = cosines(checked(SENTENCES, session.vectors(SENTENCES)))
    theirs = cosines(originals[: len(SENTENCES)])
    # The neighbour it finds is the original's own, or one that the original holds for as near to a hundredth.
    found = theirs[np.arange(len(ours)), ours.argmax(axis=1)]
    assert (theirs.max(axis=1) - found).max() < 0.01
    pairs = np.triu_indices(len(ours), 1)
    ranks = [every[pairs].argsort().argsort() for every in (ours, theirs)]
    assert statistics.correlation(*(rank.tolist() for rank in ranks)) > 0.995


@pytest.mark.long
def test_what_means_the_same_is_near(session: Session) -> None:
    nearest = cosines(checked(SENTENCES, session.vectors(SENTENCES))).argmax(axis=1)
    assert sum(int(index) == place ^ 1 for place, index in enumerate(nearest)) >= 0.8 * len(SENTENCES)


@pytest.mark.long
def test_a_text_has_the_same_vector_in_any_company(session: Session) -> None:
    together = session.vectors([*SENTENCES, *ODD])
    for place in (0, 7, len(SENTENCES)):
        np.testing.assert_array_equal(session.vectors([[*SENTENCES, *ODD][place]])[0], together[place])


@pytest.mark.long
def test_its_probes_are_far_apart(session: Session) -> None:
    assert checked_probes(session.vectors(PROBES)).shape == (3, 384)


def test_what_runs_it_leaves_no_id_of_the_machine_behind(tmp_path: Path) -> None:
    told = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environ = {**told, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import proxy.embedding.exported, onnxruntime"], env=environ, check=True)
    assert list(tmp_path.iterdir()) == []
