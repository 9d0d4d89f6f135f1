"""`olvido backup` and `olvido restore`, as they are called."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.storage.folder import SECRET
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.connection import open_database
from tests.storage.test_restoring import store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    store(tmp_path / "storage", "then")
    configure(tmp_path, "kind: sqlite")
    monkeypatch.setenv("OLVIDO_CONFIG", str(tmp_path / "olvido.yaml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "storage"


def configure(place: Path, storage: str, more: str = "") -> None:
    (place / "olvido.yaml").write_text(f"storage: {{path: {place / 'storage'}, {storage}}}\n{more}")


def scopes(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / DATABASE)) as reading:
        return [name for (name,) in reading.execute("SELECT name FROM scopes ORDER BY id")]


def test_what_was_backed_up_is_told_and_comes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", "b.tgz"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("b.tgz, ")
    assert "the database and the tenants' secret" in said
    assert "read back and is whole" in said
    store(folder, "later")
    assert scopes(folder) == ["then", "later"]
    assert main(["restore", "--check", "b.tgz"]) == 0
    assert "b.tgz is whole" in capsys.readouterr().out
    assert main(["restore", "--force", "--yes", "b.tgz"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Restored {folder} as it was at ")
    assert f"What was there is in {folder / 'aside-'}" in said
    assert scopes(folder) == ["then"]
    assert (folder / SECRET).read_bytes().strip() == b"then"


def test_nothing_is_replaced_that_was_not_meant(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["backup", "b.tgz"]) == 0
    before = Path("b.tgz").read_bytes()
    assert main(["backup", "b.tgz"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert Path("b.tgz").read_bytes() == before
    assert main(["backup", "--force", "b.tgz"]) == 0
    assert main(["restore", "b.tgz"]) == 2
    assert "not empty: --force" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert main(["restore", "--force", "b.tgz"]) == 2
    assert "--yes" in capsys.readouterr().err
    with closing(open_database(folder / DATABASE, 1.0)):
        assert main(["restore", "--force", "--yes", "b.tgz"]) == 1
    assert "in use: stop the proxy" in capsys.readouterr().err
    assert list(folder.glob("aside-*")) == []


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        ("kind: postgres, url: '${DATABASE_URL}'", "pg_dump"),
        ("kind: memory", "nothing outlives the process"),
        ("kind: 'off'", "nothing is kept"),
    ],
)
@pytest.mark.parametrize("command", ["backup", "restore"])
def test_what_is_not_in_a_folder_is_refused_with_what_to_do(
    command: str, storage: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@nowhere/x")
    configure(folder.parent, storage)
    assert main([command, "b.tgz"]) == 2
    assert told in (said := capsys.readouterr().err)
    assert "secret@" not in said
    assert not Path("b.tgz").exists()


def test_files_of_memory_are_counted_and_left_out_where_no_folder_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "memory" / "k").mkdir(parents=True)
    (folder.parent / "memory" / "k" / "MEMORY.md").write_text("x")
    configure(folder.parent, "kind: sqlite", f"memory: {{files: {{path: {folder.parent / 'memory'}}}}}\n")
    assert main(["backup", "b.tgz"]) == 0
    assert "and 1 file of memory" in capsys.readouterr().out
    configure(folder.parent, "kind: sqlite")
    assert main(["restore", "--force", "--yes", "b.tgz"]) == 0
    assert "1 file of memory was left out" in capsys.readouterr().out


def test_keys_that_are_not_at_hand_are_no_obstacle(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needy = "upstreams: [{name: up, base_url: 'https://x/v1', api_key: '${NOT_SET_ANYWHERE}'}]\n"
    configure(folder.parent, "kind: sqlite", needy)
    assert main(["backup", "b.tgz"]) == 0
    (folder.parent / "olvido.yaml").write_text(f"{needy}storage: {{path: '${{NOR_THIS}}/storage'}}\n")
    capsys.readouterr()
    assert main(["backup", "c.tgz"]) == 2
    assert "NOR_THIS is not set" in capsys.readouterr().err
    configure(folder.parent, "kind: sqlite", needy + "context: {mode: perhaps}\n")
    assert main(["backup", "c.tgz"]) == 2
    assert "context.mode" in capsys.readouterr().err


@pytest.mark.long
def test_who_was_erased_since_is_to_be_erased_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scope = f"{'b' * 32}/ana"
    store(folder, scope)
    assert main(["backup", "b.tgz"]) == 0
    assert main(["erase", "--scope", scope, "--yes"]) == 0
    capsys.readouterr()
    assert main(["restore", "--force", "--yes", "b.tgz"]) == 0
    assert f"olvido erase --scope '{scope}'" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["restore", "none.tgz"], ["restore", "--check", "none.tgz"]])
def test_a_backup_that_is_not_there_is_an_error(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for what in ("full", "empty"):
        if what == "empty":
            for path in folder.iterdir():
                path.unlink()
        assert main(arguments) == 1
        assert "none.tgz: No such file" in capsys.readouterr().err


def test_a_folder_that_nothing_was_kept_in_has_no_backup(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / DATABASE).unlink()
    assert main(["backup", "b.tgz"]) == 1
    assert "no proxy has kept anything here" in capsys.readouterr().err
