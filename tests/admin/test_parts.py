"""The admin API's own parts end before what they look at is closed."""

import asyncio

from proxy.admin.parts import Admin
from proxy.services import build
from tests.builders import config, encoding


async def test_whoever_watches_is_told_of_the_end_before_storage_is_closed() -> None:
    services = await build(config(storage={"kind": "memory"}), encoding=encoding)
    admin = Admin.of(services)
    listener = admin.feed.listen()
    await anext(listener)
    await asyncio.gather(admin.close(), asyncio.wait_for(anext(listener, None), 5.0))
    await listener.aclose()
    await services.close()
    assert (admin.feed.is_looking, admin.worker.is_busy) == (False, False)
