"""`olvido export`: all that is kept of an end user, and of nobody else. Over real servers: tests/e2e/test_erase.py."""

import asyncio
import hashlib
import json
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import main
from proxy.http.access import Authenticator
from proxy.storage.answers import DiskAnswers
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import ANSWERS, DATABASE
from proxy.types import StoredAnswer
from tests.builders import NOW, config
from tests.every_table import fill

KEY = "sk-of-a-client"
FOR_EVER = 1e12


@dataclass(frozen=True, slots=True)
class Kept:
    file: Path
    folder: Path
    to: Path
    tenant: str
    tables: set[str]
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *options: str, to: Path | None = None) -> tuple[int, str, str]:
        status = main(["export", "--config", str(self.file), "--to", str(to or self.to), *options])
        return (status, *self.capsys.readouterr())

    def records(self) -> list[dict[str, Any]]:
        lines = [line for path in sorted(self.to.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
        return [json.loads(line) for line in lines]

    def manifest(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.to / "manifest.json").read_text(encoding="utf-8"))
        return told


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kept:
    folder, file, root = tmp_path / "storage", tmp_path / "olvido.yaml", tmp_path / "memory"
    file.write_text(f"storage: {{path: {folder}}}\nmemory: {{files: {{path: {root}}}}}\n", encoding="utf-8")
    gate = Authenticator(config(), tenant_secret(folder))
    tenant = gate.tenant((("authorization", f"Bearer {KEY}"),))
    scopes = [f"{tenant}/ana", f"{tenant}/beto", f"{tenant}/ana~s-1", f"{'0' * 32}/ana"]
    tables = fill(folder / DATABASE, scopes)

    async def put() -> None:
        answers = DiskAnswers(folder / ANSWERS, max_bytes=2**20, max_entry_bytes=2**20)
        for scope in scopes:
            said = json.dumps({"choices": [{"message": {"content": f"answered to {scope}"}}]}).encode()
            await answers.put(scope, f"key of {scope}", StoredAnswer(said, NOW, "up", "m", streamed=False), FOR_EVER)
        await answers.close()

    asyncio.run(put())
    for name in ("ana", "beto"):
        own = root / tenant[:8] / name
        for place in ("MEMORY.md", ".history/000001-x", "sessions/s-1/tape.jsonl", "snapshots/trip.md", ".lock"):
            (own / place).parent.mkdir(parents=True, exist_ok=True)
            (own / place).write_text(f"file of {name}", encoding="utf-8")
        (own / ".olvido.json").write_text(json.dumps({"scope": f"{tenant}/{name}"}), encoding="utf-8")
        (own / "link.md").symlink_to(tmp_path / "olvido.yaml")
    return Kept(file, folder, tmp_path / "out", tenant, tables, capsys)


def test_every_table_that_has_rows_of_a_scope_is_there_and_nobody_elses_row(kept: Kept) -> None:
    status, out, _ = kept("--user", "ana", "--key", KEY)
    assert status == 0
    records = kept.records()
    assert {each["table"] for each in records if "table" in each} == kept.tables - {"shelves"}
    scopes = {each["scope"] for each in records}
    assert scopes == {f"{kept.tenant}/ana", f"{kept.tenant}/ana~s-1"}
    whole = b"".join(path.read_bytes() for path in kept.to.rglob("*") if path.is_file())
    assert b"beto" not in whole
    assert b"0" * 32 not in whole
    assert KEY.encode() not in whole
    assert f"{kept.tenant}/ana" in out


def test_all_scopes_of_a_name_are_meant_where_no_key_is_given(kept: Kept) -> None:
    assert kept("--user", "ana")[0] == 0
    assert len(kept.manifest()["scopes"]) == 3


def test_records_have_names_and_words_where_the_database_has_numbers_and_bytes(kept: Kept) -> None:
    kept("--user", "ana", "--key", KEY)
    by_table = {each["table"]: each for each in kept.records() if each.get("scope") == f"{kept.tenant}/ana"
                and "table" in each}  # fmt: skip
    assert by_table["ledger"]["session"] == f'"said by {kept.tenant}/ana"'
    assert by_table["contents"]["body"] == f"said by {kept.tenant}/ana"  # JSON, read
    assert by_table["desk_documents"]["text"] == f'"said by {kept.tenant}/ana"'  # a text, as it is
    assert "vectors" not in by_table["archive"]
    assert kept.manifest()["left_out"].keys() >= {"search", "archive.vectors", "hot"}


def test_answers_and_files_are_there_older_texts_and_tapes_too(kept: Kept) -> None:
    kept("--user", "ana", "--key", KEY)
    answers = [each for each in kept.records() if "completion" in each]
    assert {each["completion"]["choices"][0]["message"]["content"] for each in answers} == {
        f"answered to {kept.tenant}/ana", f"answered to {kept.tenant}/ana~s-1",
    }  # fmt: skip
    own = kept.to / "files" / kept.tenant[:8] / "ana"
    found = {path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_file()}
    assert found == {"MEMORY.md", ".history/000001-x", "sessions/s-1/tape.jsonl", "snapshots/trip.md", ".olvido.json"}
    counts = kept.manifest()["counts"]
    assert (counts["files"], counts["tapes"], counts["answers"]) == (4, 1, 2)


def test_the_manifest_has_counts_and_hashes_of_all_files(kept: Kept) -> None:
    kept("--user", "ana", "--key", KEY)
    manifest = kept.manifest()
    named = {each["name"]: each for each in manifest["files"]}
    there = {path.relative_to(kept.to).as_posix() for path in kept.to.rglob("*") if path.is_file()}
    assert named.keys() == there - {"manifest.json"}
    for name, told in named.items():
        data = (kept.to / name).read_bytes()
        assert (told["bytes"], told["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        if name.endswith(".jsonl") and "/" not in name:
            assert told["records"] == len(data.splitlines())
    assert manifest["not_reached"] == {}


def test_only_its_owner_may_read_it(kept: Kept) -> None:
    kept("--user", "ana")
    for path in (kept.to, *kept.to.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) in (0o700, 0o600)


def test_a_zip_file_has_the_same(kept: Kept) -> None:
    kept("--user", "ana", "--key", KEY)
    packed = kept.to.with_name("ana.zip")
    assert kept("--user", "ana", "--key", KEY, to=packed)[0] == 0
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        for name in set(archive.namelist()) - {"manifest.json"}:
            assert archive.read(name) == (kept.to / name).read_bytes()


def test_nothing_is_written_over_and_nothing_half_written_stays(kept: Kept) -> None:
    assert kept("--user", "ana")[0] == 0
    status, _, complaint = kept("--user", "ana")
    assert (status, "is there already" in complaint) == (2, True)
    assert sorted(path.name for path in kept.to.parent.iterdir() if path.name.endswith(".part")) == []


def test_of_whom_nothing_is_kept_the_manifest_says_so(kept: Kept) -> None:
    status, out, _ = kept("--user", "nobody")
    assert status == 0
    assert "nothing is kept of them" in out
    assert "x-olvido-user" in out  # perhaps another name is meant
    assert (kept.manifest()["scopes"], kept.manifest()["counts"]) == ([], {})


@pytest.mark.parametrize(
    ("options", "why"),
    [([], "say whom"), (["--scope", "ana"], "32 hex digits"), (["--user", "a", "--tenant", "x"], "32 hex digits")],
)
def test_what_is_not_clear_exports_nothing(options: list[str], why: str, kept: Kept) -> None:
    status, _, complaint = kept(*options)
    assert (status, why in complaint) == (2, True)
    assert not kept.to.exists()


def test_a_place_that_cannot_be_reached_is_told_and_the_rest_is_there(kept: Kept) -> None:
    kept.file.write_text(f"{kept.file.read_text()}shared: {{url: 'unix:///nowhere/redis.sock'}}\n", encoding="utf-8")
    status, out, _ = kept("--user", "ana", "--key", KEY)
    assert status == 1
    assert "answers" in kept.manifest()["not_reached"]
    assert "not reached" in out
    assert kept.manifest()["counts"]["facts"] == 2


def test_where_nothing_outlives_the_process_it_says_so(kept: Kept) -> None:
    kept.file.write_text("storage: {kind: memory}\n", encoding="utf-8")
    status, _, complaint = kept("--user", "ana")
    assert (status, "nothing outlives" in complaint) == (2, True)
