"""`olvido memory` on a storage folder: what it tells, what it changes in the file, and the status it exits with."""

import asyncio
import io
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import Any, TypeVar
from unittest.mock import ANY

import pytest

from proxy.cli import main
from proxy.config import key_hash
from proxy.http.access import Authenticator
from proxy.storage.folder import tenant_secret
from proxy.storage.hot import HotContext
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.hot import RedisHotContexts
from proxy.storage.sqlite.aliases import SqliteAliases
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.sessions import SqliteStates
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, FactSource, Utterance
from tests.builders import TENANT, config
from tests.redis_server import run_redis

T = TypeVar("T")

DAY = 86_400.0
ANA, BETO = f"{TENANT}/ana", f"{TENANT}/beto"
KEY = "sk-of-a-client"


def fact(number: int = 1, **differing: Any) -> Fact:
    now = time()
    made = Fact(f"f-{number:016x}", "personal", "ciudad", "vivo en Rosario", "medium", "explicit", "s", 3, now, now)
    return replace(made, **differing)


@dataclass(frozen=True, slots=True)
class Olvido:
    folder: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def path(self) -> Path:
        return self.folder / "storage" / "olvido.db"

    @property
    def file(self) -> str:
        return str(self.folder / "olvido.yaml")

    def __call__(self, command: str, *arguments: str) -> tuple[int, str, str]:
        """Status, standard output and standard error."""
        status = main(["memory", *command.split(), "--config", self.file, *arguments])
        return (status, *self.capsys.readouterr())

    def configured(self, text: str) -> None:
        Path(self.file).write_text(text, encoding="utf-8")

    def stored(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """What a proxy does with the file."""

        async def doing() -> T:
            database = Database(self.path, Tasks())
            try:
                return await work(database)
            finally:
                await database.close()

        return asyncio.run(doing())

    def known(self, scope: str, *facts: Fact) -> None:
        async def put(database: Database) -> None:
            SqliteFacts(database).put(scope, facts)

        self.stored(put)

    def facts(self, scope: str) -> list[Fact]:
        return self.stored(lambda database: SqliteFacts(database).all(scope))


@pytest.fixture
def olvido(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Olvido:
    (tmp_path / "storage").mkdir(mode=0o700)
    made = Olvido(tmp_path, capsys)
    made.configured(f"storage: {{path: {tmp_path / 'storage'}}}\n")
    return made


# --- restore ---------------------------------------------------------------------------------------------------------


def wiped(olvido: Olvido, *scopes: str, undo: float = DAY) -> None:
    """Each had a fact, and has said that all shall be forgotten."""

    async def wipe(database: Database) -> None:
        for scope in scopes:
            SqliteFacts(database).put(scope, [fact(created_at=1.0)])
            SqliteWipes(database).wipe(scope, [], at=time(), until=time() + undo)

    olvido.stored(wipe)


def test_what_was_wiped_comes_back_once_and_as_it_was(olvido: Olvido) -> None:
    wiped(olvido, ANA)
    assert olvido.facts(ANA) == []
    status, told, complaint = olvido("restore", "--yes")
    assert (status, told, complaint) == (0, "Brought back: 1 fact and 0 turns.\n", "")
    assert olvido.facts(ANA) == [fact(created_at=1.0, last_confirmed_at=olvido.facts(ANA)[0].last_confirmed_at)]
    assert olvido("restore", "--yes", "--scope", ANA)[:2] == (1, "")


def test_two_wipes_are_undone_one_after_the_other(olvido: Olvido) -> None:
    async def two(database: Database) -> None:
        facts, wipes, now = SqliteFacts(database), SqliteWipes(database), time()
        facts.put(ANA, [fact(created_at=1.0)])
        wipes.wipe(ANA, [], at=now - 50, until=now - 50 + DAY)
        facts.put(ANA, [replace(fact(created_at=now - 30), id="f-2222222222222222", key="second")])
        wipes.wipe(ANA, [], at=now, until=now + DAY)

    olvido.stored(two)
    assert olvido("restore", "--yes")[:2] == (0, "Brought back: 1 fact and 0 turns.\n")
    assert [each.id for each in olvido.facts(ANA)] == ["f-2222222222222222"]
    assert olvido("restore", "--yes")[:2] == (0, "Brought back: 1 fact and 0 turns.\n")
    assert len(olvido.facts(ANA)) == 2
    assert olvido("restore", "--yes")[0] == 1


def test_whoever_does_not_agree_brings_nothing_back(olvido: Olvido, monkeypatch: pytest.MonkeyPatch) -> None:
    wiped(olvido, ANA)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    status, told, _ = olvido("restore")
    assert (status, olvido.facts(ANA)) == (1, [])
    assert "They are kept until 20" in told


@pytest.mark.parametrize("undo", [0.0, -DAY])
def test_after_its_time_nothing_comes_back(undo: float, olvido: Olvido) -> None:
    wiped(olvido, ANA, undo=undo)
    status, _, complaint = olvido("restore", "--yes")
    assert (status, olvido.facts(ANA)) == (1, [])
    assert "nothing was wiped" in complaint


def test_of_several_one_must_be_named(olvido: Olvido) -> None:
    wiped(olvido, ANA, BETO)
    status, _, complaint = olvido("restore", "--yes")
    assert (status, ANA in complaint, BETO in complaint) == (2, True, True)
    assert olvido("restore", "--yes", "--scope", BETO)[0] == 0
    assert (len(olvido.facts(ANA)), len(olvido.facts(BETO))) == (0, 1)


# --- list and show ---------------------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Fase 3/4")
def test_a_table_tells_what_is_remembered_newest_first(olvido: Olvido) -> None:
    now = time()
    olvido.known(
        ANA,
        fact(1, created_at=now - 200 * DAY, last_confirmed_at=now - 100 * DAY),
        fact(2, key="perro", value="tengo una perra, Ñata\n\x1b[2J", domain="hogar", pinned=True),
    )
    status, told, complaint = olvido("list")
    assert (status, complaint) == (0, "")
    title, newest, oldest = told.splitlines()
    assert title.split() == ["ID", "STATUS", "PINNED", "CONFIDENCE", "CONFIRMED", "DOMAIN", "KEY", "VALUE"]
    assert newest.startswith("f-0000000000000002  active          yes     medium")
    assert newest.endswith("hogar     perro   tengo una perra, Ñata  [2J")
    assert oldest.startswith("f-0000000000000001  retrieval-only")
    assert oldest.endswith("personal  ciudad  vivo en Rosario")


@pytest.mark.note("9.4/3")
@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ([], [1, 2, 3, 4]),
        (["--status", "active"], [1, 2]),
        (["--status", "retrieval-only"], [3]),
        (["--status", "stale"], []),
        (["--status", "superseded"], [4]),
        (["--domain", "work"], [2, 4]),
        (["--domain", "work", "--status", "active"], [2]),
        (["--domain", "projects"], []),
    ],
)
def test_facts_are_listed_by_status_and_domain(options: list[str], numbers: list[int], olvido: Olvido) -> None:
    now = time()
    olvido.known(
        ANA,
        fact(1, created_at=now - 1),
        fact(2, created_at=now - 2, domain="work"),
        fact(3, created_at=now - 91 * DAY, last_confirmed_at=now - 91 * DAY),
        fact(4, created_at=now - 92 * DAY, domain="work", superseded_by=fact(2).id),
    )
    status, told, _ = olvido("list", "--json", *options)
    assert status == 0
    cards = [json.loads(line) for line in told.splitlines()]
    assert [card["id"] for card in cards] == [fact(number).id for number in numbers]
    assert all(card["scope"] == ANA for card in cards)
    told = olvido("list", *options)[1]
    assert all(fact(number).id in told for number in numbers)
    assert numbers or told == "Nothing of that is remembered.\n"


def test_the_status_goes_by_the_numbers_of_the_configuration(olvido: Olvido) -> None:
    olvido.known(ANA, fact(created_at=time() - 50, last_confirmed_at=time() - 50))
    settings = Path(olvido.file).read_text(encoding="utf-8")
    olvido.configured(settings + "memory: {unconfirmed_after: 20s, stale_after: 40s, drop_low_after: 10s}\n")
    assert json.loads(olvido("list", "--json")[1])["status"] == "stale"


def test_a_fact_is_shown_whole_with_its_history(olvido: Olvido) -> None:
    value = "vivo en Córdoba, " * 10
    olvido.known(
        ANA,
        fact(1, superseded_by=fact(2).id, value="vivo en Rosario"),
        fact(2, superseded_by=fact(3).id, value=value, pinned=True),
        fact(3, value="vivo en Salta"),
        fact(4, key="perro", value="tengo un perro"),
    )
    status, told, _ = olvido("show", fact(2).id)
    assert status == 0
    assert f"value              {value.strip()}\n" in told
    assert f"scope              {ANA}\n" in told
    assert "status             superseded\n" in told
    assert "pinned             yes\n" in told
    before, after = told.split("It took the place of:\n")[1].split("What took its place:\n")
    assert "vivo en Rosario" in before
    assert "vivo en Salta" in after
    assert "perro" not in told


def test_times_are_told_as_dates_to_people_and_as_numbers_to_programs(olvido: Olvido) -> None:
    olvido.known(ANA, fact(1, created_at=99.5, last_confirmed_at=time()), fact(2, superseded_by=fact(1).id))
    told = olvido("show", fact(1).id)[1]
    assert "created_at         1970-01-01 00:01:39 UTC\n" in told
    assert re.search(r"becomes            retrieval-only on \d{4}-\d\d-\d\d [\d:]+ UTC\n", told)
    assert not set("{}[]'") & set(told)
    shown = json.loads(olvido("show", fact(1).id, "--json")[1])
    assert shown["fact"]["created_at"] == 99.5
    assert shown["fact"]["becomes"] == {"status": "retrieval-only", "at": ANY}
    assert [each["id"] for each in shown["history"]["before"]] == [fact(2).id]
    assert (shown["said"]["state"], shown["quotations"]) == ("gone", [])


@pytest.mark.note("Rumi Fact/2")
@pytest.mark.parametrize(
    ("source", "turn", "told"),
    [
        ("explicit", 3, "is not kept any more"),
        ("explicit", 0, "added by hand"),
        ("file", 0, "written into MEMORY.md"),
        ("api", 0, "the admin API"),
        ("auto", 0, "a model derived it"),
    ],
)
def test_a_fact_is_shown_with_where_it_comes_from(source: FactSource, turn: int, told: str, olvido: Olvido) -> None:
    olvido.known(ANA, fact(source=source, turn=turn))
    shown = olvido("show", fact().id)[1]
    assert f"source             {source}\n" in shown
    assert told in shown


def test_a_fact_is_shown_with_the_messages_that_said_it_unless_contents_are_not(olvido: Olvido) -> None:
    link = b"l" * 16
    said = ArchivedTurn(b"a" * 16, b"", "c-1", 7, 99.5, b"[]", (Utterance("user", "¡Hola!\nVivo en Rosario.", link),))

    async def archive(database: Database) -> None:
        SqliteFacts(database).put(ANA, [fact(links=(link,))])
        SqliteArchive(database, DAY * 40_000).add(ANA, said, None)

    olvido.stored(archive)
    told = olvido("show", fact().id)[1].split("The messages that said it:\n")[1]
    assert told == "1970-01-01 00:01:39 UTC  c-1, turn 7: ¡Hola! Vivo en Rosario.\n"
    olvido.configured(f"storage: {{path: {olvido.folder / 'storage'}}}\nadmin: {{show_content: false}}\n")
    told = olvido("show", fact().id)[1]
    assert "Hola" not in told
    assert "admin.show_content" in told


@pytest.mark.parametrize("command", ["show", "confirm", "restore", "edit"])
def test_a_fact_that_is_not_there_is_said_so(command: str, olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    otherwise = ("--pinned",) if command == "edit" else ()
    assert olvido(command, "f-ffffffffffffffff", *otherwise) == (
        1,
        "",
        "olvido memory: there is no fact f-ffffffffffffffff\n",
    )
    assert olvido(command, fact().id, *otherwise, "--scope", BETO)[0] == 1
    assert olvido(command, fact().id, *otherwise, "--scope", ANA)[0] == (1 if command == "restore" else 0)


# --- whose -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [["export"], ["forget", "Rosario", "--yes"], ["forget", "--all", "--yes"], ["add", "tengo un perro"]]
)
def test_of_several_scopes_one_must_be_named(command: list[str], olvido: Olvido) -> None:
    olvido.known(ANA, fact(1), fact(2))
    olvido.known(BETO, fact(3))
    status, told, complaint = olvido(*command)
    assert (status, told) == (2, "")
    assert f"  {ANA}  2\n  {BETO}  1\n" in complaint
    assert all(option in complaint for option in ("--scope", "--user", "--key"))
    status, told, _ = olvido(*command, "--scope", BETO)
    assert status == 0
    assert fact(1).id not in told
    assert len(olvido.facts(ANA)) == 2


def test_the_facts_of_everybody_are_listed_by_whose_they_are(olvido: Olvido) -> None:
    olvido.known(ANA, fact(1), fact(2))
    olvido.known(BETO, fact(3), fact(4, domain="work"))

    async def name(database: Database) -> None:
        await SqliteAliases(database).put(BETO, "the night shift")

    olvido.stored(name)
    first, second = olvido("list")[1].split("\n\n")
    assert first.splitlines()[0] == f"{ANA}: 2 facts"
    assert second.splitlines()[0] == f"{BETO} (the night shift): 2 facts"
    assert fact(3).id in second
    assert olvido("list", "--domain", "work")[1].splitlines()[0] == f"{BETO} (the night shift): 1 fact"
    assert [json.loads(line)["scope"] for line in olvido("list", "--json")[1].splitlines()] == [ANA, ANA, BETO, BETO]


def test_an_end_user_is_named_without_the_key(olvido: Olvido) -> None:
    olvido.known(ANA, fact(1))
    olvido.known(BETO, fact(2))
    assert json.loads(olvido("list", "--json", "--user", "beto")[1])["id"] == fact(2).id
    assert olvido("forget", "--all", "--yes", "--user", "beto")[0] == 0
    assert (len(olvido.facts(ANA)), olvido.facts(BETO)) == (1, [])
    status, told, complaint = olvido("list", "--user", "carla")
    assert (status, told) == (1, "")
    assert complaint == f"olvido memory: nothing is remembered of an end user carla; facts are kept of:\n  {ANA}  1\n"


def test_an_end_user_under_several_keys_is_listed_for_each_and_one_is_to_be_named_else(olvido: Olvido) -> None:
    other = f"{TENANT[::-1]}/ana"
    olvido.known(ANA, fact(1))
    olvido.known(other, fact(2))
    olvido.known(BETO, fact(3))
    assert {json.loads(line)["scope"] for line in olvido("list", "--json", "--user", "ana")[1].splitlines()} == {
        ANA,
        other,
    }
    status, _, complaint = olvido("add", "tengo un perro", "--user", "ana")
    assert (status, ANA in complaint, other in complaint, BETO in complaint) == (2, True, True, False)


def test_a_wipe_of_an_end_user_of_whom_nothing_is_left_is_undone_by_name(olvido: Olvido) -> None:
    wiped(olvido, ANA, BETO)
    assert olvido("restore", "--yes", "--user", "beto")[0] == 0
    assert (len(olvido.facts(ANA)), len(olvido.facts(BETO))) == (0, 1)


def test_a_key_and_a_user_name_the_scope_that_their_requests_have(olvido: Olvido) -> None:
    gate = Authenticator(config(), tenant_secret(olvido.path.parent))
    tenant = gate.tenant((("authorization", f"Bearer {KEY}"),))
    olvido.known(f"{tenant}/", fact(1))
    olvido.known(f"{tenant}/ana", fact(2))
    olvido.known(ANA, fact(3))
    for options, number in ((["--key", KEY], 1), (["--key", KEY, "--user", "ana"], 2)):
        assert json.loads(olvido("list", "--json", *options)[1])["id"] == fact(number).id
    assert olvido("list", "--json", "--key", KEY, "--user", "josé maría")[1] == ""
    assert olvido("list", "--json", "--key", "sk-of-another")[1] == ""


def test_an_own_key_names_the_scope_of_its_name(olvido: Olvido, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "sk-upstreams-own")
    olvido.configured(
        f"storage: {{path: {olvido.path.parent}}}\n"
        f"auth: {{mode: keys, keys: [{{name: ana, key: '{key_hash(KEY)}'}}]}}\n"
        "upstreams: [{name: up, base_url: 'https://up.example/v1', api_key: '${UPSTREAM_KEY}'}]\n"
    )
    settings = config(auth={"mode": "keys", "keys": [{"name": "ana", "key": key_hash(KEY)}]})
    tenant = Authenticator(settings, tenant_secret(olvido.path.parent)).tenant((("authorization", f"Bearer {KEY}"),))
    olvido.known(f"{tenant}/", fact(1))
    olvido.known(ANA, fact(2))
    assert json.loads(olvido("list", "--json", "--key", KEY)[1])["id"] == fact(1).id
    status, told, complaint = olvido("list", "--key", "sk-wrong")
    assert (status, told) == (1, "")
    assert "sk-wrong" not in complaint


@pytest.mark.parametrize(
    "options", [["--scope", "ana"], ["--scope", f"{TENANT}/a b"], ["--scope", ANA, "--user", "ana"]]
)
def test_a_scope_that_no_request_can_have_is_refused(options: list[str], olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    status, told, complaint = olvido("list", *options)
    assert (status, told) == (2, "")
    assert complaint.startswith("olvido memory: --")


# --- forget ----------------------------------------------------------------------------------------------------------


def remembering(olvido: Olvido) -> dict[str, bytes]:
    """Two facts of Ana and one of Beto, each with the turn that said it and a state that quotes it."""
    secrets = {ANA: ["soy alérgica al maní", "trabajo en Tucumán"], BETO: ["soy alérgico al maní"]}
    links: dict[str, bytes] = {}

    async def put(database: Database) -> None:
        facts, archive, states = SqliteFacts(database), SqliteArchive(database, 90 * DAY), SqliteStates(database)
        for number, (scope, value) in enumerate((scope, value) for scope, said in secrets.items() for value in said):
            link, answer = bytes([number]) * 16, bytes([100 + number]) * 16
            links[value] = answer
            key = "alergia" if "al maní" in value else "trabajo"
            facts.put(scope, [fact(number, key=key, value=value, links=(link,))])
            said = (Utterance("user", f"Recordá que {value}", link), Utterance("assistant", "Anotado.", answer))
            messages = f'[{{"role":"user","content":"Recordá que {value}"}}]'.encode()
            archive.add(scope, ArchivedTurn(answer, b"", f"s{number}", 1, time(), messages, said), vectors=None)
            states.put(scope, f"s{number}", answer, time(), f"head: {value}".encode())

    olvido.stored(put)
    return links


def in_file(olvido: Olvido, text: str) -> list[str]:
    """Tables that have `text` somewhere, and files that have its bytes."""
    with closing(sqlite3.connect(olvido.path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {table: database.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables}
    told = {table: "".join(map(str, found)) for table, found in rows.items()}
    encoded = str(text.encode())[2:-1]
    files = [file.name for file in olvido.path.parent.iterdir() if text.encode() in file.read_bytes()]
    return [*(table for table, found in told.items() if text in found or encoded in found), *files]


@pytest.mark.parametrize(
    "what", [["f-0000000000000000"], ["mi", "alergia", "al", "maní"], ["alergia al MANÍ"], ["alérgica"]]
)
def test_what_is_forgotten_is_gone_from_facts_archive_and_states(what: list[str], olvido: Olvido) -> None:
    links = remembering(olvido)
    assert in_file(olvido, "alérgica al maní") == ["facts", "archive", "path_states", "olvido.db"]
    status, told, complaint = olvido("forget", "--yes", *what, *(["--scope", ANA] if len(what[0]) < 18 else []))
    assert (status, complaint) == (0, "")
    assert "soy alérgica al maní" in told
    assert told.endswith("Forgotten: 1 fact.\n")
    assert in_file(olvido, "alérgica al maní") == []
    assert [each.value for each in olvido.facts(ANA)] == ["trabajo en Tucumán"]
    assert [each.value for each in olvido.facts(BETO)] == ["soy alérgico al maní"]

    async def kept(database: Database) -> set[bytes]:
        archive = SqliteArchive(database, 90 * DAY)
        every = list(links.values())
        return await archive.known(ANA, every) | await archive.known(BETO, every)

    assert olvido.stored(kept) == {links["trabajo en Tucumán"], links["soy alérgico al maní"]}
    assert "path_states" in in_file(olvido, "alérgico al maní")


def test_all_is_everything_of_one_scope(olvido: Olvido) -> None:
    remembering(olvido)
    assert olvido("forget", "--all", "--yes", "--scope", ANA)[0] == 0
    assert olvido.facts(ANA) == []
    assert in_file(olvido, "Tucumán") == []
    assert len(olvido.facts(BETO)) == 1


def test_facts_of_several_scopes_are_forgotten_by_their_ids(olvido: Olvido) -> None:
    remembering(olvido)
    ids = [fact(number).id for number in (2, 0, 2)]
    assert olvido("forget", "--yes", *ids)[1].endswith("Forgotten: 2 facts.\n")
    assert (len(olvido.facts(ANA)), olvido.facts(BETO)) == (1, [])


def test_what_the_configuration_no_longer_keeps_can_be_forgotten(olvido: Olvido) -> None:
    remembering(olvido)
    settings = Path(olvido.file).read_text(encoding="utf-8")
    olvido.configured(settings + "memory: {facts: false, archive_ttl: 0}\n")
    assert olvido("forget", "--all", "--yes", "--scope", ANA)[0] == 0
    assert in_file(olvido, "Tucumán") == []


@pytest.mark.parametrize(
    ("answer", "status"), [("y\n", 0), ("Sí\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1), ("forget\n", 1)]
)
def test_nobody_forgets_without_being_asked(
    answer: str, status: int, olvido: Olvido, monkeypatch: pytest.MonkeyPatch
) -> None:
    olvido.known(ANA, fact())
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    ended, told, _ = olvido("forget", "Rosario")
    assert ended == status
    assert "vivo en Rosario" in told
    assert "Forget 1 fact? [y/N] " in told
    assert len(olvido.facts(ANA)) == status


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 2),
        (["Rosario", "--all"], 2),
        ([""], 2),
        (["  "], 2),
        (["f-0000000000000001", "Rosario"], 2),
        (["f-ffffffffffffffff"], 1),
        (["f-0000000000000001", "f-ffffffffffffffff"], 1),
        (["my blood group"], 1),
        (["de", "la"], 1),
    ],
)
def test_what_is_not_clear_or_not_there_forgets_nothing(arguments: list[str], status: int, olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    ended, _, complaint = olvido("forget", "--yes", *arguments)
    assert ended == status
    assert complaint.startswith("olvido memory: ")
    assert len(olvido.facts(ANA)) == 1


def test_programs_are_told_what_is_gone_and_asked_nothing(olvido: Olvido) -> None:
    olvido.known(ANA, fact(1), fact(2))
    status, told, complaint = olvido("forget", fact(1).id, "--json")
    assert (status, told, complaint) == (2, "", "olvido memory: --json asks nothing: say --yes as well\n")
    assert len(olvido.facts(ANA)) == 2
    gone = json.loads(olvido("forget", fact(1).id, "--json", "--yes")[1])
    assert ([each["id"] for each in gone["forgotten"]], gone["left"]) == ([fact(1).id], [])


# --- restore one ------------------------------------------------------------------------------------------------------


def test_a_deleted_fact_is_listed_and_not_confirmed_but_restored(olvido: Olvido) -> None:
    gone = fact(1, superseded_by=fact(1).id, superseded_at=time())
    since = fact(2, value="vivo en Salta")
    olvido.known(ANA, gone, since)
    assert fact(1).id in (listed := olvido("list", "--status", "deleted")[1])
    assert fact(2).id not in listed
    status, _, complaint = olvido("confirm", fact(1).id)
    assert status == 1
    assert f"olvido memory restore {fact(1).id}" in complaint
    at = time()
    status, told, _ = olvido("restore", fact(1).id)
    assert status == 0
    assert "active" in told
    assert fact(2).id in told.split("It took the place of:")[1]
    kept = {each.id: each for each in olvido.facts(ANA)}
    assert (kept[fact(1).id].superseded_by, kept[fact(2).id].superseded_by) == (None, fact(1).id)
    assert kept[fact(1).id].last_confirmed_at >= at
    assert olvido("restore", fact(1).id) == (
        1,
        "",
        f"olvido memory: {fact(1).id} holds already: there is nothing to restore\n",
    )


# --- export and import -----------------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Fase 3/4")
def test_what_is_exported_is_imported_elsewhere_as_it_was_once(olvido: Olvido, tmp_path: Path) -> None:
    facts = [fact(1, superseded_by=fact(2).id, links=(b"\xff" * 16,)), fact(2, value="vivo en Córdoba «ñ» 🙂")]
    olvido.known(ANA, *facts)
    lines = tmp_path / "facts.jsonl"
    assert olvido("export", str(lines)) == (0, "", "")
    assert lines.stat().st_mode & 0o777 == 0o600
    assert olvido("export")[1] == lines.read_text(encoding="utf-8")

    olvido.configured(f"storage: {{path: {tmp_path / 'elsewhere'}}}\n")
    assert olvido("import", str(lines))[0] == 2  # nobody's yet
    assert olvido("import", str(lines), "--scope", BETO)[:2] == (0, "Imported: 2 facts new, 0 changed, of 2.\n")
    assert olvido("import", str(lines))[:2] == (0, "Imported: 0 facts new, 0 changed, of 2.\n")
    assert olvido("export")[1] == lines.read_text(encoding="utf-8")
    elsewhere = replace(olvido, folder=tmp_path)
    assert elsewhere("list", "--json", "--scope", BETO)[1].count("\n") == 2


def test_an_import_supersedes_what_is_older_and_keeps_what_is_newer(olvido: Olvido, tmp_path: Path) -> None:
    now = time()
    olvido.known(ANA, fact(1, created_at=now - 9, last_confirmed_at=now - 9), fact(3, key="perro", value="Ñata"))
    lines = tmp_path / "facts.jsonl"
    olvido("export", str(lines))
    olvido("forget", fact(1).id, "--yes")
    olvido.known(ANA, fact(2, value="vivo en Salta"))
    assert olvido("import", str(lines))[1] == "Imported: 1 fact new, 0 changed, of 2.\n"
    assert {each.id: each.superseded_by for each in olvido.facts(ANA)} == {
        fact(1).id: fact(2).id,
        fact(2).id: None,
        fact(3).id: None,
    }


def test_a_fact_that_is_copied_to_another_person_is_another_fact(olvido: Olvido, tmp_path: Path) -> None:
    olvido.known(ANA, fact(1, superseded_by=fact(2).id), fact(2, value="vivo en Salta"))
    lines = tmp_path / "facts.jsonl"
    olvido("export", str(lines))
    for new in ("2 facts", "0 facts"):
        assert olvido("import", str(lines), "--scope", BETO)[1] == f"Imported: {new} new, 0 changed, of 2.\n"
    old, current = olvido.facts(BETO)
    assert (old.superseded_by, current.value) == (current.id, "vivo en Salta")
    assert {old.id, current.id}.isdisjoint({fact(1).id, fact(2).id})
    olvido("forget", current.id, "--yes")
    assert len(olvido.facts(ANA)) == 2


def test_standard_input_is_imported(olvido: Olvido, monkeypatch: pytest.MonkeyPatch) -> None:
    olvido.known(ANA, fact())
    lines = olvido("export")[1].encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.replace(b"001", b"002")), encoding="ascii"))
    assert olvido("import", "-")[0] == 0
    assert len(olvido.facts(ANA)) == 2


@pytest.mark.parametrize("bad", [b"{", b'{"id": "f-1"}', b"[]", b"\xff", b'{"value": "x", "colour": "red"}'])
def test_a_malformed_line_is_told_by_its_number_and_nothing_is_imported(
    bad: bytes, olvido: Olvido, tmp_path: Path
) -> None:
    olvido.known(ANA, fact())
    good = olvido("export")[1].encode().replace(b"001", b"002")
    lines = tmp_path / "facts.jsonl"
    lines.write_bytes(good + b"\n" + bad + b"\n" + good)
    status, told, complaint = olvido("import", str(lines))
    assert (status, told) == (1, "")
    assert f"{lines}: line 3: " in complaint
    assert [each.id for each in olvido.facts(ANA)] == [fact().id]


# --- what cannot be --------------------------------------------------------------------------------------------------

COMMANDS = [["list"], ["show", "f-1"], ["forget", "x", "--yes"], ["confirm", "f-1"], ["export"], ["import", "x"]]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["memory", "off"])
def test_where_nothing_is_in_a_folder_that_is_said(kind: str, command: list[str], olvido: Olvido) -> None:
    olvido.configured(f"storage: {{kind: {kind}, path: {olvido.path.parent}}}\n")
    status, told, complaint = olvido(*command)
    assert (status, told) == (2, "")
    assert f"storage.kind is {kind}" in complaint
    assert not olvido.path.exists()


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_a_folder_that_no_proxy_has_used_is_left_alone(command: list[str], olvido: Olvido) -> None:
    status, told, complaint = olvido(*command)
    assert (status, told) == (1, "")
    assert str(olvido.path.parent) in complaint
    assert list(olvido.path.parent.iterdir()) == []


def test_a_damaged_database_or_a_missing_file_is_said_in_one_line(olvido: Olvido, tmp_path: Path) -> None:
    olvido.known(ANA, fact())
    status, told, complaint = olvido("import", str(tmp_path / "nothing.jsonl"))
    assert (status, told, complaint.count("\n")) == (1, "", 1)
    assert "nothing.jsonl" in complaint
    olvido.path.write_bytes(b"x" * 4096)
    status, told, complaint = olvido("list")
    assert (status, told, complaint.count("\n")) == (1, "", 1)
    assert str(olvido.path) in complaint


def test_nobody_remembered_is_an_empty_list(olvido: Olvido) -> None:
    olvido.known(ANA)
    assert olvido("list") == (0, "Nothing of that is remembered.\n", "")
    assert olvido("list", "--json") == (0, "", "")
    assert olvido("export") == (0, "", "")
    assert olvido("forget", "--all", "--yes")[0] == 1


@pytest.mark.parametrize("arguments", [[], ["list", "--status", "old"], ["show"], ["import"]])
def test_what_is_no_command_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["memory", *arguments])
    assert ended.value.code == 2
    assert "usage: olvido memory" in capsys.readouterr().err


# --- hot contexts ----------------------------------------------------------------------------------------------------


def test_what_is_forgotten_is_gone_from_the_contexts_that_processes_share(olvido: Olvido) -> None:
    async def contexts_of(scope: str, *, put: bool) -> bool:
        shared = config(shared={"url": server.url}).shared
        assert shared is not None
        connection = Connection(shared, tenant_secret(olvido.path.parent))
        contexts = RedisHotContexts(connection, 60)
        await connection.open()
        if put:
            contexts.put(scope, b"link", HotContext("s", scope, b"before", b"it quotes Rosario"), None)
        try:
            return await contexts.has(scope)
        finally:
            await connection.close()

    with run_redis() as server:
        olvido.configured(f"storage: {{path: {olvido.path.parent}}}\nshared: {{url: '{server.url}'}}\n")
        olvido.known(ANA, fact())
        olvido.known(BETO, fact(2))
        assert all(asyncio.run(contexts_of(scope, put=True)) for scope in (ANA, BETO))
        assert olvido("forget", fact().id, "--yes") == (0, ANY, "")
        assert not asyncio.run(contexts_of(ANA, put=False))
        assert asyncio.run(contexts_of(BETO, put=False))


def test_where_redis_is_away_it_is_told_how_long_it_keeps_them(olvido: Olvido) -> None:
    olvido.configured(f"storage: {{path: {olvido.path.parent}}}\nshared: {{url: 'redis://127.0.0.1:1'}}\n")
    olvido.known(ANA, fact())
    status, told, _ = olvido("forget", fact().id, "--yes")
    assert status == 0
    assert "gone within 300 seconds" in told
    assert olvido.facts(ANA) == []
