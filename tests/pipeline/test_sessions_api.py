"""The end of a session by the API: with the client's own key, of its own sessions, whoever listens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, UnknownSession
from proxy.pipeline import Services
from proxy.pipeline.sessions_api import decoded, end
from proxy.storage.base import StorageError
from proxy.types import Headers, Incoming, Scope
from tests.builders import NOW, body, user
from tests.proxied import KEY, Archive, ask, build_services, in_front_of, run_upstream, serving


@asynccontextmanager
async def proxied() -> AsyncIterator[Services]:
    with run_upstream() as upstream:
        async with build_services(in_front_of(upstream)) as services:
            yield services


async def ended(services: Services, name: str, *headers: tuple[str, str], key: str = KEY, said: bytes = b"") -> bool:
    given: Headers = (("authorization", f"Bearer {key}"), *headers)
    incoming = Incoming("req_1", given, said, NOW, services.authenticator.tenant(given))
    answer = await end(incoming, name, services)
    assert isinstance(answer.body, bytes)
    told = msgspec.json.decode(answer.body)
    assert (answer.status, told["session"]) == (200, name)
    return bool(told["ended"])


async def test_a_session_ends_once_until_it_goes_on() -> None:
    async with proxied() as services:
        session = (("x-olvido-session", "my/chat.1"),)
        await ask(services, body(user("Hello."), model="demo-chat"), headers=session)
        assert await ended(services, "my/chat.1")
        assert not await ended(services, "my/chat.1")
        await ask(services, body(user("Here again."), model="demo-chat"), headers=session)
        assert await ended(services, "my/chat.1")


async def test_a_session_of_an_earlier_process_is_found_in_the_archive() -> None:
    async with proxied() as services:
        got = await ask(services, body(user("Hello."), model="demo-chat"))
        session = got.headers["x-olvido-session"]
        services.ends.drop(Scope(services.authenticator.tenant((("authorization", f"Bearer {KEY}"),))).id)
        assert len(services.ends) == 0
        assert await ended(services, session)


async def test_a_session_of_another_key_or_person_is_unknown() -> None:
    async with proxied() as services:
        ana = ("x-olvido-user", "ana")
        await ask(services, body(user("Hello."), model="demo-chat"), headers=(("x-olvido-session", "s"), ana))
        for name, key, headers in (("s", "sk-other", (ana,)), ("s", KEY, ()), ("other", KEY, (ana,))):
            with pytest.raises(UnknownSession) as refused:
                await ended(services, name, *headers, key=key)
            assert (refused.value.status, refused.value.code) == (404, "session_not_found")
        assert await ended(services, "s", said=b'{"user": "ana"}')


async def test_storage_that_cannot_be_read_is_no_unknown_session() -> None:
    async def fails() -> None:
        raise StorageError("away")

    with run_upstream() as upstream:
        async with serving(in_front_of(upstream), archive=Archive(latest=fails)) as services:
            with pytest.raises(ContextUnavailable):
                await ended(services, "s")


def test_the_body_may_be_empty_and_is_otherwise_checked() -> None:
    assert decoded(b"").user is None
    assert decoded(b" {} ").user is None
    assert decoded(b'{"user": "ana"}').user == "ana"
    for wrong, error in ((b'{"user": 7}', BadRequest), (b'{"other": 1}', BadRequest), (b"{", InvalidJson)):
        with pytest.raises(error):
            decoded(wrong)
