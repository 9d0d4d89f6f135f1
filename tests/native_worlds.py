"""A proxy before an upstream that plays patterns of calls in an API of its own, Responses or Messages: what it sends,
and what its model has had it do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proxy.app import create_app
from proxy.pipeline import Services
from proxy.types import Fact
from proxy.types.desk import Document
from tests.e2e.test_played import Tap
from tests.looping import settings
from tests.playing_messages import MessagePlayer
from tests.playing_responses import ResponsePlayer
from tests.proxied import total
from tests.servers import Inside, run_app, run_proxy

FIRST = {"enabled": True, "offer": "first"}

Player = TypeVar("Player", ResponsePlayer, MessagePlayer)


@dataclass(slots=True)
class World(Generic[Player]):
    """The upstream, and the proxy before it."""

    player: Player
    url: str  # of the proxy, without a path
    tap: Tap
    inside: Inside
    services: Callable[[], Services]
    counted: float = 0.0

    def calls(self) -> float:
        """Calls of memory's tools that were run since the last look."""
        now = total(self.services(), "olvido_memory_tool_calls_total")
        before, self.counted = self.counted, now
        return now - before

    def scope(self, **headers: str) -> str:
        """The scope of a client that sends these headers."""
        given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        return f"{self.services().authenticator.tenant(given)}/"

    def facts(self, scope: str) -> list[Fact]:
        storage = self.services().storage
        found: list[Fact] = list(self.inside.do(lambda: storage.facts.all(scope)))
        return found

    def documents(self, scope: str) -> list[Document]:
        found: list[Document] = self.inside.do(lambda: self.services().storage.desks.documents(scope))
        return found

    def did_nothing_twice(self, scope: str, *, least: int) -> None:
        """Asserts that each order of the model's had its effect once. `least`: effects that there are, at least."""
        facts, documents = self.facts(scope), self.documents(scope)
        assert len({fact.key for fact in facts}) == len(facts)
        assert len(facts) + len(documents) >= least
        assert all(document.version == 1 for document in documents)


@contextmanager
def running(
    player: Player, *, timeout: float = 30, take_over: bool = False, **upstream: Any
) -> Iterator[World[Player]]:
    """`upstream`: its settings. `take_over`: chains of responses are kept here."""
    with run_app(player) as player.url:
        patience = {"first_byte": timeout, "answer": timeout, "idle": timeout}
        given = settings(player.url, tools=FIRST, timeout=patience, **upstream)
        if take_over:
            given = given.model_copy(update={"responses": given.responses.model_copy(update={"take_over": True})})
        app = create_app(given)
        inside = Inside(app)
        tap = Tap(inside)
        with run_proxy(given, tap) as url:
            yield World(player, url, tap, inside, lambda: app.state.services)
    assert player.refused == []
