"""Until an upstream has answered a scope nothing is stored for it."""

import gc
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from time import time
from types import FunctionType, ModuleType

import pytest

from proxy.pipeline import Services
from proxy.pipeline.answered_scopes import AnsweredScopes, OnRecord
from proxy.pipeline.chat import handle
from proxy.storage.base import StorageError
from proxy.storage.opening import DATABASE
from proxy.types import UNANSWERED, Headers, Incoming
from tests.builders import assistant, body, user
from tests.proxied import Upstream, ask, build_services, composed, in_front_of, run_upstream
from tests.stores import nothing_on_record

REFUSED = (("x-demo-fault", "401"),)
KEYS = 2_000


@pytest.mark.parametrize(("are_ours", "scope"), [(False, UNANSWERED), (True, "t/")])
def test_what_was_asked_before_an_answer_is_nobodys_unless_the_key_is_known(scope: str, *, are_ours: bool) -> None:
    assert AnsweredScopes(nothing_on_record, are_ours=are_ours).before("t/invented") == scope


async def test_a_scope_is_known_once_it_was_answered_here_or_is_on_record() -> None:
    asked: list[str] = []

    async def on_record(scope: str) -> bool:
        asked.append(scope)
        return scope == "old/"

    answered = AnsweredScopes(on_record)
    assert [await answered.has(scope) for scope in ("old/", "new/", "old/")] == [True, False, True]
    answered.add("new/")
    assert await answered.has("new/")
    assert asked == ["old/", "new/"]


async def test_the_least_recently_used_leave() -> None:
    answered = AnsweredScopes(nothing_on_record, most=2)
    for scope in ("a/", "b/"):
        answered.add(scope)
    await answered.has("a/")
    answered.add("c/")
    assert [await answered.has(scope) for scope in ("a/", "b/", "c/")] == [True, False, True]
    assert len(answered) == 2


# --- with everything there is -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


@pytest.fixture
async def services(upstream: Upstream, tmp_path: Path) -> AsyncIterator[Services]:
    storage = {"kind": "sqlite", "path": str(tmp_path)}
    async with build_services(in_front_of(upstream, storage=storage, admin={"show_content": True})) as built:
        yield built


def asked(number: int) -> bytes:
    """Long enough for the context engine to look into it."""
    turns = [said for turn in range(4) for said in (user(f"{number}: {turn} " + "word " * 120), assistant("yes " * 90))]
    return body(*turns, user(f"What did I say in {number}?"), model="demo-chat", temperature=0, user="u")


async def refused(services: Services, number: int) -> int:
    """Asked now, with a key that the upstream does not know; the status."""
    headers: Headers = (("authorization", f"Bearer sk-{number}"), ("content-type", "application/json"), *REFUSED)
    asking = Incoming(f"r-{number}", headers, asked(number), time(), services.authenticator.tenant(headers))
    return (await handle(asking, services)).status


async def settled(services: Services) -> None:
    while len(services.tasks):
        await services.tasks.drain(10)
    await services.storage.sessions.flush()


def held(services: Services) -> int:
    """Objects that are reachable from the services."""
    seen: set[int] = set()
    open_: list[object] = [services]
    while open_:
        each = open_.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | FunctionType):
            continue
        seen.add(id(each))
        open_.extend(gc.get_referents(each))
    return len(seen)


def rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        return {name: count for name, count in counts.items() if count}


@pytest.mark.long
async def test_keys_that_are_refused_leave_rows_in_one_ledger_and_nothing_else(
    services: Services, tmp_path: Path
) -> None:
    assert {await refused(services, number) for number in range(200)} == {401}
    await settled(services)
    few, before = held(services), rows(tmp_path)
    for number in range(200, KEYS):
        await refused(services, number)
    await settled(services)
    grown = {name: count - before.get(name, 0) for name, count in rows(tmp_path).items() if count != before.get(name)}
    assert grown.pop("ledger") == KEYS - 200
    # Sums by minute, and where SQLite counts its own.
    assert {name: count for name, count in grown.items() if count > 10} == {}
    assert rows(tmp_path)["scopes"] == rows(tmp_path)["sessions"] == 1
    assert held(services) - few < 500
    assert (len(services.answered), services.library.held().scopes) == (0, 0)
    assert {row.scope for row in await services.storage.ledger.recent(UNANSWERED, 5_000)} == {UNANSWERED}


async def test_nor_do_their_bodies_that_nobody_can_read(services: Services, tmp_path: Path) -> None:
    loose = asked(1).replace(b"What did", b"\\ud83d What did")
    assert (await ask(services, loose, key="sk-1", headers=REFUSED)).status == 401
    await settled(services)
    assert rows(tmp_path)["scopes"] == 1
    assert [row.reuse_reason for row in await services.storage.ledger.recent(UNANSWERED)] == ["unreadable"]


class Slow:
    """Says nothing of a scope the first time."""

    def __init__(self, on_record: OnRecord) -> None:
        self._on_record = on_record
        self._asked: set[str] = set()

    async def __call__(self, scope: str) -> bool:
        if scope not in self._asked:
            self._asked.add(scope)
            raise StorageError("not now")
        return await self._on_record(scope)


@pytest.mark.parametrize("storage", ["on disk", "not to be asked"])
@pytest.mark.parametrize("command", ["Forget everything.", "Forget that I'm allergic to nuts."])
async def test_nor_do_their_commands_to_forget_which_name_nothing(
    command: str, storage: str, services: Services, tmp_path: Path
) -> None:
    asked = body(user("I'm allergic to nuts."), assistant("Noted."), user(command), model="demo-chat", user="u")
    if storage == "not to be asked":
        services = composed(services, answered=AnsweredScopes(Slow(services.storage.database.has_scope)))
    for number in range(3):
        got = await ask(services, asked, key=f"sk-{number}", headers=REFUSED)
        assert (got.status, got.plan.startswith("fail-open")) == (401, storage == "not to be asked")
    await settled(services)
    assert rows(tmp_path)["scopes"] == rows(tmp_path)["sessions"] == 1
    assert {"archive", "facts", "wiped_links"}.isdisjoint(rows(tmp_path))
    assert (len(services.answered), len(services.library.orders)) == (0, 0)
    if storage == "on disk":
        assert services.library.held().scopes == 0


async def test_what_the_first_request_says_itself_is_forgotten_at_its_command(
    services: Services, tmp_path: Path
) -> None:
    history = [user("My name is Ana."), assistant("Hello Ana."), user("I'm allergic to nuts."), assistant("Noted.")]
    said = [*history, user("Forget everything.")]
    await ask(services, body(*said, model="demo-chat", user="u"), key="sk-1")
    await settled(services)
    await ask(services, body(*said, assistant("Done."), user("Hi"), model="demo-chat", user="u"), key="sk-1")
    await settled(services)
    (scope,) = await services.library.facts.scopes() or [""]
    assert (scope, len(services.library.orders)) == ("", 0)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        kept = connection.execute("SELECT CAST(messages AS TEXT) FROM archive WHERE at IS NOT NULL").fetchall()
    assert [told for (told,) in kept if "nuts" in told or "Ana" in told] == []


async def test_a_scope_that_is_answered_is_remembered_from_then_on(services: Services) -> None:
    nobody = await ask(services, asked(1), key="sk-1", headers=REFUSED)
    first = await ask(services, asked(1), key="sk-1")
    await settled(services)
    again = await ask(services, asked(1), key="sk-1")
    later = await ask(services, asked(2), key="sk-1", headers=REFUSED)
    assert [got.status for got in (nobody, first, again, later)] == [401, 200, 200, 401]
    assert again.headers["x-olvido-session"] == first.headers["x-olvido-session"]
    await settled(services)
    assert services.library.held().scopes == 1
    (scope,) = [name for name, _ in await services.storage.accounts.scopes() if name != UNANSWERED]
    assert len(await services.storage.ledger.recent(scope)) == 3
    assert len(await services.storage.ledger.recent(UNANSWERED)) == 1


async def test_what_is_on_record_is_known_after_a_start(upstream: Upstream, tmp_path: Path) -> None:
    settings = in_front_of(upstream, storage={"kind": "sqlite", "path": str(tmp_path)})
    for known in (False, True):
        async with build_services(settings) as services:
            await ask(services, asked(1), key="sk-1", headers=REFUSED)
            await settled(services)
            assert bool(len(services.answered)) is known
            await ask(services, asked(1), key="sk-1")
            await settled(services)
