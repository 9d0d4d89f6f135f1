import pytest

from proxy.embed.base import Embedder, EmbeddingOff, EmbeddingUnavailable, Lent


async def test_embedding_that_is_off_says_so_and_refuses() -> None:
    off: Embedder = EmbeddingOff()
    off.start()
    assert (off.state, off.detail, off.version, off.dimensions) == ("off", "", "", None)
    with pytest.raises(EmbeddingUnavailable, match="off"):
        await off.embed(["a"])
    await off.close()


async def test_a_lent_embedder_says_what_its_owners_does_and_is_left_as_it_is() -> None:
    class Own(EmbeddingOff):
        closed = False

        async def close(self) -> None:
            self.closed = True

    own = Own()
    lent = Lent(own)
    await lent.close()
    assert (lent.version, lent.state, lent.detail, lent.dimensions) == (
        own.version,
        own.state,
        own.detail,
        own.dimensions,
    )
    assert not own.closed
    with pytest.raises(EmbeddingUnavailable):
        await lent.embed(["a text"])
