import pytest

from proxy.embed.base import Embedder, EmbeddingOff, EmbeddingUnavailable


async def test_embedding_that_is_off_says_so_and_refuses() -> None:
    off: Embedder = EmbeddingOff()
    off.start()
    assert (off.state, off.detail, off.version, off.dimensions) == ("off", "", "", None)
    with pytest.raises(EmbeddingUnavailable, match="off"):
        await off.embed(["a"])
    await off.close()
