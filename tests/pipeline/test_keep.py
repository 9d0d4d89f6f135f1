"""What is kept of a request to be looked at: what was said and sent; no key, nothing that must not be remembered."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from proxy.context.fates import unpack
from proxy.pipeline.keep import Keeper
from proxy.protocol.request import message
from proxy.types import Contents, Directives, Exchange, Fates, Plan, PromptTokens, ReuseMiss
from tests import stores
from tests.builders import assistant, chat, identity, incoming, messages, user

REQUEST = chat(user("What is a black hole?"), assistant("A region."), user("And a red dwarf?"))
UNTOUCHED = Plan("untouched", PromptTokens(30, 30))
FATES = Fates(preamble=0, left=2, start=2, newest=2)
MANAGED = Plan("managed", PromptTokens(30, 10), messages=messages(user("And a red dwarf?")), fates=FATES)
ANSWER = assistant("A small star.")


async def kept(
    plan: Plan = UNTOUCHED,
    directives: Directives | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    *,
    is_forgotten: bool = False,
) -> Contents | None:
    contents = stores.contents()
    who = identity(REQUEST)
    exchange = Exchange(
        replace(incoming(REQUEST.raw), headers=headers),
        REQUEST,
        who,
        directives or Directives(),
        ReuseMiss("absent"),
        plan,
        "up",
        started=0.0,
    )
    asked: list[tuple[str, tuple[bytes, ...]]] = []

    def has_forgotten(scope: str, links: Sequence[bytes]) -> bool:
        asked.append((scope, tuple(links)))
        return is_forgotten

    Keeper(contents, has_forgotten).keep(exchange, [message(ANSWER)])
    assert asked in ([], [(who.memory, who.chain)])
    return await contents.get(who.scope.id, exchange.incoming.request_id)


async def test_an_untouched_request_is_kept_as_the_client_sent_it_and_the_answer_with_it() -> None:
    found = await kept()
    assert found is not None
    assert (found.body, found.sent, found.fates) == (REQUEST.raw, b"", b"")
    assert msgspec.json.decode(found.answer) == ANSWER


async def test_of_a_managed_one_what_went_upstream_is_kept_and_the_fates_of_its_messages() -> None:
    found = await kept(MANAGED)
    assert found is not None
    assert msgspec.json.decode(found.sent) == [user("And a red dwarf?")]
    assert unpack(found.fates) == FATES


@pytest.mark.parametrize(
    ("directives", "is_forgotten"),
    [(Directives(remember=False), False), (Directives(mode="off"), False), (Directives(), True)],
)
async def test_what_must_not_be_remembered_is_not_kept(directives: Directives, is_forgotten: bool) -> None:
    assert await kept(directives=directives, is_forgotten=is_forgotten) is None


async def test_no_header_that_may_carry_a_key_is_kept() -> None:
    names = ("authorization", "api-key", "x-api-key", "cookie", "proxy-authorization", "x-goog-api-key", "traceparent")
    ours = (("x-olvido-session", "s"), ("user-agent", "openai-python"))
    found = await kept(headers=(*((name, "sk-secret") for name in names), *ours))
    assert found is not None
    assert found.headers == dict(ours)
