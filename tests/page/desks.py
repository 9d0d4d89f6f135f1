"""Desks as they are left in a proxy's store, for tests of what its page makes of them."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import time
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from proxy.pipeline import Services
from proxy.types import DeskTrail, Trail
from proxy.types.desk import (
    Applied,
    Called,
    DeskEvent,
    Document,
    Edit,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    TapeLine,
)
from tests.builders import TENANT, calling, ledger_row, result, user
from tests.page.conftest import PRICE, Open
from tests.proxied import KEY, in_front_of, run_upstream
from tests.servers import Inside, proxy_app, run_proxy

MARKUP = '<img src="x" onerror="document.title=1"> is in it'
SECTIONS = {"agent_notes": 50}
NOW = float(int(time()))  # of the run: what is old would be gone as soon as retention comes round
numbers = count(1)


@dataclass(frozen=True, slots=True)
class Desks:
    """A proxy whose desks are written by tests."""

    open: Open
    services: Services
    inside: Inside

    def made(self, *payloads: Payload, lines: Sequence[TapeLine] = (), desks: Sequence[DeskTrail] = ()) -> "Kept":
        """A session of somebody who is new, with its requests, events and lines."""
        number = next(numbers)
        kept = Kept(self, f"{TENANT}/person-{number}", f"agents/run {number}", f"req_desk_{number}")
        for at, desk in enumerate(desks or [None]):
            told = Trail(limit=None, turns=1, kept=1, start=0, newest=0, desk=desk)
            name = f"{kept.request}_{at}" if at else kept.request
            row = ledger_row(
                request_id=name,
                scope=kept.scope,
                session=kept.session,
                at=NOW,
                trail=told,
                cost=0.2,
                tokens_billed=500,
            )
            self.inside.do(partial(self.services.storage.ledger.append, row))
        events = [DeskEvent(NOW, kept.request, each) for each in payloads]
        self.inside.do(lambda: self.services.storage.desks.write(kept.scope, kept.session, lines, events))
        return kept


@dataclass(frozen=True, slots=True)
class Kept:
    """A session with a desk."""

    desks: Desks
    scope: str
    session: str
    request: str  # the first

    @property
    def address(self) -> str:
        return f"#/desk/{quote(self.session, safe='')}?scope={quote(self.scope, safe='')}"

    def put(self, name: str, text: str, version: int = 0) -> None:
        store = self.desks.services.storage.desks
        self.desks.inside.do(lambda: store.put(self.scope, name, text, version=version, at=NOW, by="model"))

    def document(self, name: str) -> Document | None:
        found: Document | None = self.desks.inside.do(
            lambda: self.desks.services.storage.desks.document(self.scope, name)
        )
        return found

    def told(self) -> Any:
        return self.desks.open.api("desk", session=self.session, scope=self.scope)


def served(stack: ExitStack, **sections: Any) -> Desks:
    upstream = stack.enter_context(run_upstream())
    tools = {"enabled": True, "sections": SECTIONS}
    given = in_front_of(upstream, upstream={"price": PRICE}, tenancy="shared", memory={"tools": tools}, **sections)
    app = proxy_app(given)
    url = stack.enter_context(run_proxy(given, inside := Inside(app)))
    headers = {"authorization": f"Bearer {KEY}"}
    http = stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False, headers=headers))
    return Desks(Open(url, http, upstream), app.state.services, inside)


def line(number: int, said: object, role: str = "user", *, is_hidden: bool = False) -> TapeLine:
    content = None if said is None else msgspec.json.encode(said)
    return TapeLine(0, number.to_bytes(16, "big"), NOW, role, 7, content, is_hidden)


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


LINES = (
    line(1, user("Where is the bug?")),
    line(2, calling("c1"), "assistant", is_hidden=True),
    line(3, result("c1", MARKUP), "tool", is_hidden=True),
)
TRAILS = (
    DeskTrail(200, 1_000, 0.25, "low"),
    DeskTrail(600, 1_000, 0.75, "medium", schemas=40, rounds=2, cost=0.05),
    DeskTrail(960, 1_000, 1.2, "high", schemas=40, rounds=1, cost=0.05),
)
WAITING = Edit("edit_section", "user_profile.md", "", "likes tea", "waiting")


def full(desks: Desks) -> Kept:
    """A desk with something of everything on it."""
    kept = desks.made(
        Offered("en", ("prune_messages",), "pressure"),
        Mark("prune", (link(1),), 1, 1, tokens=90),
        Mark("range", (link(2), link(3)), 2, 3, f"a summary {MARKUP}", 120),
        Applied((2,), "economic", 80),
        Pin(link(1)),
        Edit("edit_section", "agent_notes.md", "one\ntwo\nthree", "one\n2\nthree", version=1),
        WAITING,
        Called("prune_messages", "{}", "ok", 1),
        Hidden(link(1), b"a" * 16, tuple(map(msgspec.json.encode, (calling("c1"), result("c1", MARKUP))))),
        lines=LINES,
        desks=TRAILS,
    )
    kept.put("agent_notes.md", "one\n2\nthree")
    kept.put("plan.md", "first the tests")
    return kept
