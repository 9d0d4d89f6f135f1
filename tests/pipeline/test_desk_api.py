"""The desk of a session as an API: with the client's own key, of its own sessions, durable."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, UnknownSession
from proxy.pipeline import Services
from proxy.pipeline.desk_api import pin, reset
from proxy.storage.base import StorageError
from proxy.types import Headers, Incoming, Scope
from proxy.types.desk import DeskEvent, Edit, Pin, Reset, TapeLine
from tests.builders import NOW, body, user
from tests.proxied import KEY, ask, build_services, in_front_of, run_upstream


@asynccontextmanager
async def proxied() -> AsyncIterator[Services]:
    """A session `s` with a message and a document that the model has written."""
    with run_upstream() as upstream:
        async with build_services(in_front_of(upstream)) as services:
            await ask(services, body(user("Hello."), model="demo-chat"), headers=(("x-olvido-session", "s"),))
            store, scope = services.storage.desks, scope_of(services)
            await store.put(scope, "agent_notes.md", "by the model", version=0, at=NOW, by="model")
            edit = Edit("edit_section", "agent_notes.md", "", "by the model", version=1)
            await store.write(scope, "s", [TapeLine(0, b"l" * 16, NOW, "user", 1)], [DeskEvent(NOW, "", edit)])
            yield services


def scope_of(services: Services) -> str:
    return Scope(services.authenticator.tenant((("authorization", f"Bearer {KEY}"),))).id


async def call(services: Services, what: Any, name: str, said: object = None, *, key: str = KEY) -> Any:
    given: Headers = (("authorization", f"Bearer {key}"),)
    raw = said if isinstance(said, bytes) else b"" if said is None else msgspec.json.encode(said)
    answer = await what(Incoming("req_1", given, raw, NOW, services.authenticator.tenant(given)), name, services)
    assert answer.status == 200
    return msgspec.json.decode(answer.body)


async def payloads(services: Services) -> list[object]:
    events = (await services.storage.desks.since(scope_of(services), "s", 0, 0)).events
    return [each.payload for each in events if not isinstance(each.payload, Edit)]


@pytest.mark.note("SMMA 8/2")
async def test_a_reset_undoes_the_edits_of_the_session() -> None:
    async with proxied() as services:
        assert await call(services, reset, "s") == {"session": "s", "undone": ["agent_notes.md"]}
        assert await services.storage.desks.documents(scope_of(services)) == []
        assert await payloads(services) == [Reset(("agent_notes.md",))]
        assert await call(services, reset, "s", {}) == {"session": "s", "undone": []}


@pytest.mark.note("SMMA 8/4")
async def test_a_message_is_pinned_and_released() -> None:
    async with proxied() as services:
        told = await call(services, pin, "s", {"message": 1})
        assert told == {"session": "s", "message": 1, "pinned": True}
        assert not (await call(services, pin, "s", {"message": 1, "pinned": False}))["pinned"]
        assert await payloads(services) == [Pin(b"l" * 16), Pin(b"l" * 16, is_pinned=False)]
        with pytest.raises(UnknownSession):
            await call(services, pin, "s", {"message": 2})


@pytest.mark.parametrize(("name", "key"), [("other", KEY), ("s", "sk-other")])
async def test_what_belongs_to_another_is_unknown(name: str, key: str) -> None:
    async with proxied() as services:
        for what, said in ((reset, None), (pin, {"message": 1})):
            with pytest.raises(UnknownSession):
                await call(services, what, name, said, key=key)
        assert await payloads(services) == []


@pytest.mark.parametrize("said", [{}, {"message": 0}, {"message": "1"}, {"message": 1, "more": 2}, [], b"", b"{"])
async def test_a_wish_that_is_none_is_refused(said: object) -> None:
    async with proxied() as services:
        with pytest.raises((BadRequest, InvalidJson)):
            await call(services, pin, "s", said)


async def test_while_storage_is_away_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StorageError("away")

    async with proxied() as services:
        monkeypatch.setattr(type(services.storage.desks), "since", away)
        monkeypatch.setattr(type(services.storage.desks), "tape", away)
        for what, said in ((reset, None), (pin, {"message": 1})):
            with pytest.raises(ContextUnavailable):
                await call(services, what, "s", said)
