"""`olvido db`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from proxy import cli
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.postgres.connection import connect
from proxy.storage.schema import MIGRATIONS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from tests import postgres
from tests.contract.test_fact_store import NEW


@pytest.fixture
def empty() -> str:
    return postgres.database(template="template1")


def run(*arguments: str) -> int:
    return cli.main(("db", *arguments))


def told(capsys: pytest.CaptureFixture[str]) -> Sequence[str]:
    return capsys.readouterr().out.splitlines()


def test_a_database_is_upgraded_once(empty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status", "--url", empty) == 1
    assert told(capsys)[0] == "0001_schema  missing"
    assert run("upgrade", "--url", empty) == 0
    assert told(capsys) == [f"{name}  applied" for name in MIGRATIONS]
    assert run("upgrade", "--url", empty) == 0
    assert told(capsys) == ["nothing to do"]
    assert run("status", "--url", empty) == 0
    assert told(capsys)[0] == "0001_schema  applied"


def test_a_newer_database_is_left_alone(empty: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("upgrade", "--url", empty)
    with connect(empty) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_newer', 0)")
    assert run("upgrade", "--url", empty) == 1
    assert "newer version" in capsys.readouterr().err
    assert run("status", "--url", empty) == 1
    assert "9999_newer  unknown" in capsys.readouterr().out


async def filled(folder: Path) -> Path:
    tenant_secret(folder)
    database = Database(folder / DATABASE, Tasks())
    SqliteFacts(database).put("a/", [NEW])
    await database.close()
    return folder


@pytest.mark.note("v2 Migración/2")
async def test_a_folder_is_copied_and_the_counts_are_told(
    tmp_path: Path, empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = await filled(tmp_path)
    assert run("copy", "--from", f"sqlite:{folder}", "--to", empty) == 0
    line = next(line for line in told(capsys) if line.startswith("facts"))
    assert line.split()[1:] == ["1", "→", "1"]


@pytest.mark.parametrize(
    ("arguments", "status", "why"),
    [
        (("copy", "--from", "folder", "--to", "postgresql://x/y"), 2, "--from"),
        (("copy", "--from", "sqlite:folder", "--to", "mysql://x"), 2, "--to"),
        (("copy", "--from", "sqlite:/nowhere", "--to", "EMPTY"), 1, "not there"),
        (("status", "--url", "postgresql://nobody:hidden@127.0.0.1:1/x"), 1, "PostgreSQL"),
        (("status",), 2, "storage.url"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_without_a_password(
    arguments: tuple[str, ...], status: int, why: str, empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*(empty if each == "EMPTY" else each for each in arguments)) == status
    said = capsys.readouterr().err
    assert why in said
    assert "hidden" not in said


@pytest.mark.parametrize(
    "command", [["status"], ["upgrade"], ["copy", "--from", "sqlite:a", "--to", "postgresql://b/c"]]
)
def test_without_the_driver_it_is_told_how_to_install_it(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)  # as if it were not installed
    assert run(*command) == 1
    assert capsys.readouterr().err.startswith("olvido db: needs the extra olvido[cluster]: pip install")


@pytest.mark.note("v2 Configuración/2")
def test_the_configuration_names_the_database(
    tmp_path: Path, empty: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty)
    (tmp_path / "olvido.yaml").write_text("storage: {kind: postgres, url: '${DATABASE_URL}'}\n")
    assert run("upgrade", "--config", str(tmp_path / "olvido.yaml")) == 0
    assert told(capsys) == [f"{name}  applied" for name in MIGRATIONS]
