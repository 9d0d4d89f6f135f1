"""Orders to memory where something that they need cannot be reached."""

import pytest

from tests import stores
from tests.builders import body, user
from tests.proxied import Sessions, Upstream, ask, in_front_of, raises, serving


@pytest.mark.parametrize("fails", ["identify", "resume"])
async def test_an_order_to_forget_reaches_the_named_session_whose_history_was_not_found(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    ordered = list[str]()
    named = (("x-olvido-session", "mine"),)
    sessions = Sessions(look=raises) if fails == "identify" else Sessions()
    async with serving(in_front_of(upstream, tenancy="shared"), sessions=sessions, **stores.remembering()) as services:
        monkeypatch.setattr(services.obedience, "obey", lambda memory, _order: _noted(ordered, memory))
        await ask(services, body(user("Hello."), model="demo-chat"))  # an upstream has answered this key
        if fails == "resume":
            monkeypatch.setattr(services.library.archive, "latest", raises)
        raw = body(user("Forget that my boat is called Marigold."), model="demo-chat")
        await ask(services, raw, headers=named)
    assert [memory.partition("/")[2] for memory in ordered] == ["~mine"]


async def _noted(ordered: list[str], memory: str) -> None:
    ordered.append(memory)
