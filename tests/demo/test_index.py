"""Waiting for a proxy of the demonstration: for what it says that it still has to do."""

from typing import Any

import httpx
import pytest

from proxy.demo import index
from proxy.demo.index import Index


async def readiness(*answers: dict[str, Any]) -> tuple[bool, int]:
    """What waiting for a proxy that says these things one after the other comes to, and how often it was asked."""
    left = list(answers)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"parts": left.pop(0)})

    async with httpx.AsyncClient(base_url="http://x", transport=httpx.MockTransport(answer)) as client:
        was = await Index([client]).warm()
    return was, len(answers) - len(left)


async def test_it_waits_for_vectors_and_for_what_compares_questions() -> None:
    warming, words = {"embedding": "warming"}, {"embedding": "ready", "reuse by intent": "warming"}
    ready = {"embedding": "ready", "reuse by intent": "ready", "upstreams": {}}
    assert await readiness(warming, words, ready, ready) == (True, 3)
    assert await readiness({"embedding": "off"}) == (True, 1)


async def test_waiting_in_vain_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "PATIENCE_SECONDS", 0.0)
    assert (await readiness(*[{"embedding": "warming"}] * 3))[0] is False


async def test_what_several_proxies_tell_is_added_up() -> None:
    told = 'olvido_memory_pending 2.0\nolvido_reuse_entries 3.0\nolvido_tasks{kind="a"} 1.0\n'
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text=told))
    async with httpx.AsyncClient(base_url="http://x", transport=transport) as client:
        both = Index([client, client])
        assert await both.entries() == 6.0
        assert await both.numbers("olvido_tasks", "kind") == {"a": 2.0}
