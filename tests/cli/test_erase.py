"""`olvido erase`: whom it means, what it asks and tells, and its status. Beside proxies: tests/e2e/test_erase.py."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from proxy.cli import erase, main, whom
from proxy.files.names import folder_of
from proxy.http.access import Authenticator
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from tests.builders import config
from tests.contract.test_fact_store import NEW

KEY, OTHER = "sk-of-a-client", "0" * 32


@dataclass(frozen=True, slots=True)
class Kept:
    file: Path
    folder: Path
    tenant: str
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *options: str) -> tuple[int, str, str]:
        status = main(["erase", "--config", str(self.file), *options])
        return (status, *self.capsys.readouterr())

    def left(self) -> set[str]:
        async def asked() -> set[str]:
            database = Database(self.folder / DATABASE, Tasks())
            found = set(await SqliteFacts(database).scopes())
            await database.close()
            return found

        return {scope.replace(self.tenant, "t").replace(OTHER, "other") for scope in asyncio.run(asked())}


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setenv("UP", "sk-up")
    monkeypatch.setattr(erase, "NOTICED", 0.0)  # nobody serves
    folder, file = tmp_path / "storage", tmp_path / "olvido.yaml"
    file.write_text(f"storage: {{path: {folder}}}\n", encoding="utf-8")
    gate = Authenticator(config(), tenant_secret(folder))
    tenant = gate.tenant((("authorization", f"Bearer {KEY}"),))

    async def put() -> None:
        database = Database(folder / DATABASE, Tasks())
        for scope in (f"{tenant}/ana", f"{tenant}/beto", f"{tenant}/~c-1", f"{OTHER}/ana", f"{OTHER}/"):
            SqliteFacts(database).put(scope, [NEW])
        await database.close()

    asyncio.run(put())
    return Kept(file, folder, tenant, capsys)


ALL = {"t/ana", "t/beto", "t/~c-1", "other/ana", "other/"}


@pytest.mark.parametrize(
    ("options", "erased"),
    [
        (lambda _: ["--user", "ana"], {"t/ana", "other/ana"}),
        (lambda _: ["--user", "ana", "--key", KEY], {"t/ana"}),
        (lambda _: ["--user", "ana", "--tenant", OTHER], {"other/ana"}),
        (lambda kept: ["--scope", f"{kept.tenant}/beto"], {"t/beto"}),
        (lambda _: ["--key", KEY], {"t/~c-1"}),  # unnamed people, each conversation by itself
        (lambda _: ["--user", "nobody"], set()),
    ],
)
def test_whom_it_means(options: Callable[[Kept], list[str]], erased: set[str], kept: Kept) -> None:
    status, out, _ = kept(*options(kept), "--yes")
    assert status == 0
    assert kept.left() == ALL - erased
    assert ("SQLite   erased" in out) == bool(erased)
    assert kept(*options(kept), "--yes")[0] == 0  # again


def test_it_shows_what_there_is_and_asks(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer, status, left in (("n\n", 2, ALL), ("y\n", 0, ALL - {"t/ana", "other/ana"})):
        monkeypatch.setattr("sys.stdin", __import__("io").StringIO(answer))
        got, out, _ = kept("--user", "ana")
        assert got == status
        assert f"{kept.tenant}/ana" in out
        assert "facts 2" in out
        assert kept.left() == left


def test_of_a_name_that_nobody_has_it_says_what_may_be_meant(kept: Kept) -> None:
    assert "x-olvido-user" in kept("--user", "anna", "--yes")[1]
    assert "x-olvido-user" not in kept("--user", "beto", "--yes")[1]
    key = f"{{name: team-a, key: 'sha256:{'0' * 64}'}}"
    upstream = "{name: up, base_url: 'http://up.example/v1', api_key: '${UP}'}"
    with kept.file.open("a", encoding="utf-8") as file:
        file.write(f"auth: {{mode: keys, keys: [{key}]}}\nupstreams: [{upstream}]\n")
    told = kept("--user", "team-a", "--yes")[1]
    assert "team-a is the name of a key" in told
    tenant = told.partition("--tenant ")[2][:32]
    assert "In the database: 0 scopes" in kept("--tenant", tenant, "--yes")[1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "say whom"),
        (["--scope", "ana"], "32 hex digits"),
        (["--scope", f"{OTHER}/~c-1"], "32 hex digits"),
        (["--scope", f"{OTHER}/ana", "--user", "ana"], "already"),
        (["--user", "ana", "--tenant", "x"], "32 hex digits"),
    ],
)
def test_what_is_not_clear_erases_nothing(options: list[str], why: str, kept: Kept) -> None:
    status, _, complaint = kept(*options, "--yes")
    assert status == 2
    assert why in complaint
    assert kept.left() == ALL


def test_a_place_that_cannot_be_reached_is_told_and_the_next_run_finishes(kept: Kept) -> None:
    kept.file.write_text(f"{kept.file.read_text()}shared: {{url: 'unix:///nowhere/redis.sock'}}\n", encoding="utf-8")
    status, out, _ = kept("--user", "ana", "--yes")
    assert status == 1
    assert "Redis    not reached  Redis cannot be reached" in out
    assert "run the command again" in out
    assert kept.left() == ALL - {"t/ana", "other/ana"}
    kept.file.write_text(f"storage: {{path: {kept.folder}}}\n", encoding="utf-8")
    assert kept("--user", "ana", "--yes")[0] == 0


def test_a_database_that_is_away_is_a_place_that_cannot_be_reached(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "postgresql://me:secret123@127.0.0.1:1/none")
    kept.file.write_text(f"storage: {{kind: postgres, url: '${{WHERE}}', path: {kept.folder}}}\n", encoding="utf-8")
    status, out, complaint = kept("--user", "ana", "--yes")
    assert status == 1
    assert "PostgreSQL  not reached  PostgreSQL: " in out
    assert "spool       nothing" in out
    assert "secret123" not in out + complaint


def test_the_report_is_json_for_programs_and_tells_copies_and_places(kept: Kept) -> None:
    assert kept("--user", "ana", "--json")[0] == 2  # it asks nothing
    status, out, _ = kept("--user", "ana", "--json", "--yes")
    told = json.loads(out)
    assert (status, told["is_whole"]) == (0, True)
    assert told["rows"] == {"facts": 2}
    assert [each["place"] for each in told["places"]] == ["SQLite", "answers"]
    assert told["scopes"] == sorted([f"{kept.tenant}/ana", f"{OTHER}/ana"])
    assert "backups" in told["elsewhere"]


def test_files_are_told_by_kind(kept: Kept, tmp_path: Path) -> None:
    root = tmp_path / "memory"
    scope = f"{kept.tenant}/ana"
    own = root / folder_of(scope)
    for place in ("MEMORY.md", ".history/000001-20260101T000000-MEMORY-1.md", "snapshots/trip.md"):
        (own / place).parent.mkdir(parents=True, exist_ok=True)
        (own / place).write_text("words", encoding="utf-8")
    (own / ".olvido.json").write_text(json.dumps({"scope": scope}), encoding="utf-8")
    kept.file.write_text(f"{kept.file.read_text()}memory: {{files: {{path: {root}}}}}\n", encoding="utf-8")
    status, out, _ = kept("--user", "ana", "--yes")
    assert status == 0
    assert "1 folder: 3 files, 1 older texts" in out
    assert not own.exists()


def test_what_a_restore_put_aside_is_erased_as_well(kept: Kept) -> None:
    aside = kept.folder / "aside-20260101-000000"
    aside.mkdir()
    shutil.copy(kept.folder / DATABASE, aside / DATABASE)
    status, out, _ = kept("--user", "ana", "--yes")
    assert status == 0
    assert "aside    erased       2 scopes" in out
    with closing(sqlite3.connect(aside / DATABASE)) as older:
        names = {name for (name,) in older.execute("SELECT name FROM scopes")}
    assert not any(name.endswith("/ana") for name in names)
    assert f"{kept.tenant}/beto" in names


@pytest.mark.parametrize(("scopes", "told"), [(0, "0 scopes"), (1, "1 scope"), (2, "2 scopes")])
def test_scopes_are_counted_as_people_say_it(scopes: int, told: str) -> None:
    assert whom.counted(scopes) == told
