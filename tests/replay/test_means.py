"""What is opened for a replay."""

import pytest

from proxy.embed.base import EmbeddingUnavailable
from proxy.replay.means import opened
from tests.builders import config


@pytest.mark.usefixtures("embedding_folder")
async def test_it_is_there_once_texts_can_be_embedded() -> None:
    async with opened(config(storage={"kind": "memory"})) as means:
        assert means.embedder.state == "ready"
        assert (await means.embedder.embed(["hola"])).shape == (1, 384)
        assert means.counter.text("hola") == 1
    with pytest.raises(EmbeddingUnavailable):
        await means.embedder.embed(["adiós"])


async def test_without_embedding_nothing_is_loaded() -> None:
    async with opened(config(storage={"kind": "memory"}), embedding=False) as means:
        assert means.embedder.state == "off"


async def test_a_model_that_does_not_come_is_not_waited_for() -> None:
    settings = config(storage={"kind": "memory"}, embedding={"model": "m", "base_url": "http://127.0.0.1:1/v1"})
    async with opened(settings) as means:
        assert means.embedder.state == "failed"
