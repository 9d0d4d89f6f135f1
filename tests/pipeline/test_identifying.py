"""A request whose conversation cannot be looked up."""

import pytest

from tests.builders import assistant, body, stored, user
from tests.proxied import Answers, Sessions, Upstream, ask, gives, in_front_of, raises, serving


@pytest.mark.parametrize("tenancy", ["personal", "shared"])
async def test_who_is_unknown_by_a_failure_shares_nothing(upstream: Upstream, tenancy: str) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    answers, on = Answers(get=gives(stored())), in_front_of(upstream, tenancy=tenancy)
    async with serving(on, sessions=Sessions(look=raises), answers=answers) as services:
        one, other = await ask(services, raw), await ask(services, raw)
        assert (one.source, other.source) == ("upstream", "upstream")
        is_same = one.headers["x-olvido-session"] == other.headers["x-olvido-session"]
        assert is_same is (tenancy == "personal")
        assert len(upstream.bodies()) == 2


@pytest.mark.parametrize("tenancy", ["personal", "shared"])
async def test_a_conversation_that_could_not_be_looked_up_goes_on_where_it_was(
    upstream: Upstream, tenancy: str
) -> None:
    talk, told = [user("I have a dog."), assistant("A good one?"), user("What is a dog?")], list[str]()
    sessions = Sessions(look=raises, remember=lambda: told.append("noted"))
    async with serving(in_front_of(upstream, tenancy=tenancy), sessions=sessions) as services:
        await ask(services, body(*talk, model="demo-chat"))
    assert told == (["noted"] if tenancy == "personal" else [])
