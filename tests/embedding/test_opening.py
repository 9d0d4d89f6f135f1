from pathlib import Path
from typing import Any

import pytest

from proxy.config import Config
from proxy.embedding.base import EmbeddingOff
from proxy.embedding.opening import export_folders, open_embedder, vectors_of
from proxy.embedding.service import EngineEmbedder
from tests.embedding.engines import until

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
    assert (embedder.dimensions, seen) == (384, [2])
    await embedder.close()
