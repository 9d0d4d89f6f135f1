import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxy.config import Config
from proxy.embedding import PROBES, EmbeddingOff, EmbeddingRefused, EmbeddingUnavailable, Vectors
from proxy.embedding.service import FAILURES, MOST_CHARACTERS, EngineEmbedder, export_folders, open_embedder, vectors_of
from tests.embedding.engines import FakeEngine, unavailable, until, vector, vectors


@asynccontextmanager
async def ready(engine: FakeEngine, *, retry_seconds: float = 0.001) -> AsyncIterator[EngineEmbedder]:
    """Started and warm; the engine has forgotten the probes."""
    embedder = EngineEmbedder(engine, retry_seconds=retry_seconds)
    embedder.start()
    try:
        await until(lambda: embedder.state == "ready")
        engine.runs.clear()
        yield embedder
    finally:
        await embedder.close()


async def test_until_it_is_warm_it_refuses_and_says_what_it_does() -> None:
    engine = FakeEngine()
    engine.gate.clear()
    embedder = EngineEmbedder(engine)
    embedder.start()
    await until(lambda: engine.runs)
    assert (embedder.state, embedder.detail) == ("warming", "opening")
    with pytest.raises(EmbeddingUnavailable, match="warming"):
        await embedder.embed(["a"])
    engine.gate.set()
    await until(lambda: embedder.state == "ready")
    assert (embedder.detail, embedder.version) == ("", "fake/1")
    np.testing.assert_allclose(await embedder.embed(["a"]), vectors(["a"]), rtol=1e-6)
    await embedder.close()
    assert engine.closed


async def test_a_text_seen_before_needs_no_run() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        first = await embedder.embed(["a", "b", "a"])
        again = await embedder.embed(["b", "a", "c"])
        assert engine.runs == [["a", "b"], ["c"]]
        np.testing.assert_array_equal(again[:2], first[[1, 0]])


async def test_no_texts_need_no_run() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        assert (await embedder.embed([])).shape == (0, 8)
        assert engine.runs == []


async def test_a_long_text_is_cut_and_a_lone_surrogate_replaced() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        await embedder.embed(["x" * (MOST_CHARACTERS + 1), "x" * MOST_CHARACTERS, "a\ud800b"])
        assert engine.runs == [["x" * MOST_CHARACTERS, "a?b"]]


async def test_each_run_is_observed_with_its_size_and_time() -> None:
    seen: list[tuple[int, float]] = []
    embedder = EngineEmbedder(FakeEngine(), lambda size, seconds: seen.append((size, seconds)))
    embedder.start()
    await until(lambda: embedder.state == "ready")
    await asyncio.gather(embedder.embed(["a"]), embedder.embed(["b", "c"]))
    await embedder.embed(["a"])
    assert [size for size, _ in seen] == [3]
    assert all(seconds >= 0 for _, seconds in seen)
    await embedder.close()


def nan(texts: Sequence[str]) -> Vectors:
    return vectors(texts) * np.float32("nan")


def zero(texts: Sequence[str]) -> Vectors:
    return vectors(texts) * 0


def constant(texts: Sequence[str]) -> Vectors:
    return np.stack([vector("same")] * len(texts))


def shorter(texts: Sequence[str]) -> Vectors:
    return vectors(texts, 4)


def broken(texts: Sequence[str]) -> Vectors:
    raise RuntimeError(f"bad input {texts[0]!r}")


@pytest.mark.parametrize("wrong", [nan, zero, constant, shorter, broken, unavailable])
async def test_a_run_that_goes_wrong_is_no_vector_and_is_not_remembered(
    wrong: Callable[[Sequence[str]], Vectors],
) -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        engine.give = wrong
        texts = ["one", "two", "three"]
        with pytest.raises(EmbeddingUnavailable) as caught:
            await embedder.embed(texts)
        assert "one" not in str(caught.value).split("'")
        assert embedder.state == "ready"  # one such run may be the text's own fault
        engine.give = vectors
        np.testing.assert_allclose(await embedder.embed(texts), vectors(texts), rtol=1e-6)


async def test_it_fails_after_several_wrong_runs_and_comes_back_by_its_own_probes() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        engine.give = nan
        for number in range(FAILURES):
            assert embedder.state == "ready"
            with pytest.raises(EmbeddingUnavailable):
                await embedder.embed([f"text {number}"])
        assert embedder.state == "failed"
        assert "NaN" in embedder.detail
        runs = len(engine.runs)
        with pytest.raises(EmbeddingUnavailable, match="failed"):
            await embedder.embed(["another"])
        engine.give = vectors
        await until(lambda: embedder.state == "ready")
        assert engine.runs[runs:][-1] == list(PROBES)
        assert len(await embedder.embed(["another"])) == 1


async def test_a_good_run_between_makes_wrong_runs_count_anew() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        for number in range(2 * FAILURES):
            engine.give = vectors if number % 2 else nan
            await asyncio.gather(embedder.embed([f"text {number}"]), return_exceptions=True)
        assert embedder.state == "ready"


@pytest.mark.parametrize("wrong", [nan, zero, constant, broken, unavailable])
async def test_probes_that_look_wrong_keep_it_from_being_ready(wrong: Callable[[Sequence[str]], Vectors]) -> None:
    embedder = EngineEmbedder(FakeEngine(wrong))
    embedder.start()
    await until(lambda: embedder.state == "failed")
    assert embedder.detail
    await embedder.close()


async def test_an_engine_that_can_not_be_opened_now_is_tried_again() -> None:
    engine = FakeEngine()
    engine.opening = EmbeddingUnavailable("nobody there")
    embedder = EngineEmbedder(engine, retry_seconds=0.001)
    embedder.start()
    await until(lambda: engine.opened > 2)
    assert (embedder.state, embedder.detail) == ("failed", "nobody there")
    engine.opening = None
    await until(lambda: embedder.state == "ready")
    assert embedder.detail == ""
    await embedder.close()


@pytest.mark.parametrize("error", [EmbeddingRefused("altered"), RuntimeError("a secret text")])
async def test_an_engine_that_never_will_is_not_tried_again(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    engine = FakeEngine()
    engine.opening = error
    embedder = EngineEmbedder(engine, retry_seconds=0)
    embedder.start()
    await until(lambda: embedder.state == "failed")
    assert "secret" not in embedder.detail
    for _ in range(10):
        await asyncio.sleep(0)
    assert engine.opened == 1
    await embedder.close()


async def test_vectors_that_come_back_with_other_dimensions_are_never_used() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        engine.give = shorter
        for number in range(FAILURES):
            await asyncio.gather(embedder.embed([f"text {number}"]), return_exceptions=True)
        await until(lambda: "had 8 dimensions, and now 4" in embedder.detail)
        assert embedder.state == "failed"


async def test_closing_refuses_what_waits_and_what_comes_after() -> None:
    engine = FakeEngine()
    async with ready(engine) as embedder:
        engine.gate.clear()
        waiting = asyncio.gather(embedder.embed(["a"]), return_exceptions=True)
        await until(lambda: engine.runs)
        await embedder.close()
        assert [type(result) for result in await waiting] == [EmbeddingUnavailable]
        with pytest.raises(EmbeddingUnavailable, match="closed"):
            await embedder.embed(["a"])


async def test_closing_while_it_warms_up_ends_the_warming() -> None:
    engine = FakeEngine()
    engine.gate.clear()
    embedder = EngineEmbedder(engine)
    embedder.start()
    await until(lambda: engine.runs)
    await embedder.close()
    assert engine.closed
    assert embedder.state == "failed"


async def test_a_kept_vector_is_its_own_and_not_a_part_of_its_run() -> None:
    async with ready(FakeEngine()) as embedder:
        await embedder.embed(["a", "b"])
        kept = embedder._cache.values()  # noqa: SLF001 (a view would keep the whole run's vectors alive)
        assert [row.base for row in kept] == [None, None]


ENDPOINT = {"base_url": "http://127.0.0.1:9/v1", "model": "text-embedding-3-small", "api_key": "sk-0123456789abcdef"}


@pytest.mark.parametrize(
    ("settings", "version"),
    [
        ({}, "minilm-l6-v2/int8/3"),
        ({"embedding": ENDPOINT}, "text-embedding-3-small@127.0.0.1:9"),
        ({"embedding": {"model": "multilingual"}}, "multilingual-e5-small/int8/2"),
        ({"embedding": {"model": "org/some-model"}}, ""),  # only its export can tell
        ({"storage": {"kind": "memory"}}, "minilm-l6-v2/int8/3"),
    ],
)
async def test_the_configuration_chooses_the_engine(settings: dict[str, Any], version: str) -> None:
    embedder = open_embedder(Config.model_validate(settings))
    assert isinstance(embedder, EngineEmbedder)
    assert (embedder.version, embedder.state) == (version, "warming")
    await embedder.close()


def test_what_tells_models_apart_is_known_before_any_is_loaded() -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"model": "multilingual"},
        {"model": "org/some-model"},
        {"model": "another/some-model"},
        ENDPOINT,
        {**ENDPOINT, "base_url": "http://127.0.0.1:8/v1"},
        {"enabled": False},
    ]
    found = [vectors_of(Config.model_validate({"embedding": each})) for each in settings]
    assert found[0] == "minilm-l6-v2/int8/3"
    assert found[-1] == ""
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"storage": {"kind": "off"}},
        {"embedding": {"enabled": False}},
        {"reuse": {"intent": {"enabled": False}}, "context": {"mode": "off"}},
    ],
)
def test_it_is_off_where_nothing_would_use_it(settings: dict[str, Any]) -> None:
    assert isinstance(open_embedder(Config.model_validate(settings)), EmbeddingOff)


@pytest.mark.parametrize(
    ("kind", "environ", "expected"),
    [
        ("sqlite", {"HOME": "/home/ana"}, ["/kept/embedding", "/home/ana/.cache/olvido/embedding"]),
        ("sqlite", {"HOME": "/home/ana", "XDG_CACHE_HOME": "/c"}, ["/kept/embedding", "/c/olvido/embedding"]),
        ("sqlite", {}, ["/kept/embedding"]),
        ("memory", {"HOME": "/home/ana"}, ["/home/ana/.cache/olvido/embedding"]),
        ("memory", {}, []),
    ],
)  # fmt: skip
def test_the_export_is_kept_with_the_storage_else_in_the_users_cache(
    kind: str, environ: dict[str, str], expected: list[str]
) -> None:
    config = Config.model_validate({"storage": {"kind": kind, "path": "/kept"}})
    assert [str(path) for path in export_folders(config, environ)] == expected


async def test_the_default_is_ready_from_an_export_that_is_there(embedding_folder: Path) -> None:
    seen: list[int] = []
    embedder = open_embedder(
        Config.model_validate({"storage": {"kind": "memory"}}),
        observed=lambda size, _seconds: seen.append(size),
        environ={"XDG_CACHE_HOME": str(embedding_folder.parent.parent)},
    )
    embedder.start()
    await until(lambda: embedder.state == "ready")
    assert (await embedder.embed(["hola", "hello"])).shape == (2, 384)
    assert seen == [2]
    await embedder.close()


async def test_what_was_kept_is_made_anew_once_something_is_forgotten() -> None:
    engine = FakeEngine()
    embedder = EngineEmbedder(engine)
    embedder.start()
    await until(lambda: embedder.state == "ready")
    engine.runs.clear()
    for _ in range(2):
        await embedder.embed(["a secret"])
    assert engine.runs == [["a secret"]]
    engine.gate.clear()

    async def forget() -> None:
        await until(lambda: len(engine.runs) == 2)
        embedder.forget()
        engine.gate.set()

    await asyncio.gather(embedder.embed(["another"]), forget())
    await embedder.embed(["a secret", "another"])
    assert engine.runs[2:] == [["a secret", "another"]]
    await embedder.close()
