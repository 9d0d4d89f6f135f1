"""Nothing is answered by intent yet: why there was no exact answer stands."""

from proxy.stages import intent
from proxy.types import ReuseMiss
from tests.builders import chat, identity


async def test_every_request_misses_for_the_reason_it_missed_before() -> None:
    request, miss = chat(), ReuseMiss("absent", "key")
    assert await intent.lookup(request, identity(request), miss) is miss
