"""The database of a command: `olvido memory` on a shared one, and what is said where there is none."""

import asyncio
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.cli.opened import opened
from proxy.config import Config
from proxy.http.access import Authenticator
from proxy.storage.base import StorageError
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.opening import shared_secret
from tests import postgres
from tests.builders import config
from tests.contract.test_fact_store import NEW

KEY = "sk-of-a-client"


@pytest.fixture
def url() -> str:
    return postgres.database()


def written(tmp_path: Path) -> str:
    file = tmp_path / "olvido.yaml"
    file.write_text(f"storage: {{kind: postgres, url: '${{WHERE}}', path: {tmp_path / 'storage'}}}\n", encoding="utf-8")
    return str(file)


def scope_of(url: str, folder: Path) -> str:
    with connect(url) as connection:
        secret = shared_secret(connection, folder)
    return Authenticator(config(), secret).tenant((("authorization", f"Bearer {KEY}"),)) + "/ana"


def put(settings: Config, scope: str) -> None:
    async def doing() -> None:
        async with opened(settings) as database:
            database.stores.facts(database.database).put(scope, [NEW])

    asyncio.run(doing())


def test_facts_in_postgresql_are_listed_and_forgotten(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", url)
    file, scope = written(tmp_path), scope_of(url, tmp_path)
    put(config(storage={"kind": "postgres", "url": url, "path": str(tmp_path)}), scope)
    who = ("--config", file, "--key", KEY, "--user", "ana")
    assert main(["memory", "list", *who]) == 0
    assert NEW.value in capsys.readouterr().out
    assert main(["memory", "forget", *who, "--all", "--yes"]) == 0
    capsys.readouterr()
    assert main(["memory", "list", *who]) == 0
    assert NEW.value not in capsys.readouterr().out
    with connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone() == (0,)


def test_a_database_that_is_away_is_said_in_one_line_without_its_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "postgresql://me:secret123@127.0.0.1:1/none")
    file = tmp_path / "olvido.yaml"
    file.write_text("storage: {kind: postgres, url: '${WHERE}'}\n", encoding="utf-8")
    assert main(["memory", "list", "--config", str(file)]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("olvido memory: PostgreSQL: ")
    assert complaint.count("\n") == 1
    assert "secret123" not in complaint


def test_where_nothing_outlives_a_process_there_is_nothing_to_open() -> None:
    async def doing() -> None:
        async with opened(config(storage={"kind": "memory"})):
            pass

    with pytest.raises(StorageError, match="outlives"):
        asyncio.run(doing())
