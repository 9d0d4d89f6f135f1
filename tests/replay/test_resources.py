"""What is opened for a replay."""

from collections.abc import Sequence

import numpy as np
import pytest

from proxy.embedding.base import EmbeddingOff, EmbeddingUnavailable, Vectors
from proxy.replay.resources import CachingEmbedder, open_resources
from tests.builders import config


@pytest.mark.usefixtures("embedding_folder")
async def test_it_is_there_once_texts_can_be_embedded() -> None:
    async with open_resources(config(storage={"kind": "memory"})) as resources:
        assert resources.embedder.state == "ready"
        assert (await resources.embedder.embed(["hola"])).shape == (1, 384)
        assert resources.counter.text("hola") == 1
    with pytest.raises(EmbeddingUnavailable):
        await resources.embedder.embed(["adiós"])


async def test_without_embedding_nothing_is_loaded() -> None:
    async with open_resources(config(storage={"kind": "memory"}), embedding=False) as resources:
        assert resources.embedder.state == "off"


async def test_a_model_that_does_not_come_is_not_waited_for() -> None:
    settings = config(storage={"kind": "memory"}, embedding={"model": "m", "base_url": "http://127.0.0.1:1/v1"})
    async with open_resources(settings) as resources:
        assert resources.embedder.state == "failed"


class Lengths(EmbeddingOff):
    """Embeds a text as its length."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text)] for text in texts], np.float32).reshape(-1, 1)


async def test_a_text_that_is_known_is_not_embedded_again() -> None:
    behind = Lengths()
    memo = CachingEmbedder(behind)
    assert (await memo.embed(["a", "bb", "a"])).tolist() == [[1], [2], [1]]
    assert (await memo.embed(["bb", "ccc"])).tolist() == [[2], [3]]
    assert behind.asked == ["a", "bb", "ccc"]
    assert (await memo.embed([])).shape == (0, 1)


async def test_the_oldest_leave() -> None:
    behind = Lengths()
    memo = CachingEmbedder(behind, most=1)
    assert (await memo.embed(["a", "bb"])).tolist() == [[1], [2]]
    await memo.embed(["bb", "a"])
    assert behind.asked == ["a", "bb", "a"]


async def test_what_cannot_be_embedded_is_told_as_the_one_behind_tells_it() -> None:
    memo = CachingEmbedder(EmbeddingOff())
    assert (memo.state, memo.version, memo.detail) == ("off", "", "")
    with pytest.raises(EmbeddingUnavailable):
        await memo.embed(["a"])
