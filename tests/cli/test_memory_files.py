"""`olvido memory files`: the state of the folders and their syncs, by hand, without a proxy."""

import json
import os
from pathlib import Path

import pytest

from proxy.files.document import parse
from proxy.files.names import folder_of
from proxy.storage.sqlite.desk import SqliteDesks
from tests.cli.test_memory import ANA, BETO, Olvido, fact

DOG, CAT, TEA = (
    fact(n, key=f"k{n}", value=value) for n, value in enumerate(("I have a dog", "I have a cat", "I like tea"), 1)
)


@pytest.fixture
def filed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Olvido:
    """Ana has three facts, Beto one; nothing was synced yet."""
    (tmp_path / "storage").mkdir(mode=0o700)
    made = Olvido(tmp_path, capsys)
    made.configured(f"storage: {{path: {tmp_path / 'storage'}}}\nmemory: {{files: {{path: {tmp_path / 'files'}}}}}\n")
    made.known(ANA, DOG, CAT, TEA)
    made.known(BETO, fact(9, value="I live in Lima"))
    return made


def run(olvido: Olvido, command: str, *arguments: str) -> str:
    status, told, complaint = olvido(f"files {command}", *arguments)
    assert (status, complaint) == (0, "")
    return told


def file(olvido: Olvido, scope: str) -> Path:
    return olvido.folder / "files" / folder_of(scope) / "MEMORY.md"


def lines(olvido: Olvido, scope: str) -> list[str]:
    return [each.text for each in parse(file(olvido, scope).read_text()).bullets]


def holding(olvido: Olvido, scope: str) -> set[str]:
    return {each.value for each in olvido.facts(scope) if each.superseded_by is None}


def test_a_sync_writes_the_files_and_takes_what_people_write(filed: Olvido) -> None:
    assert run(filed, "status").count("to be synced") == 2
    assert run(filed, "sync").count("in step") == 2
    assert lines(filed, ANA) == ["I have a dog", "I have a cat", "I like tea"]
    file(filed, BETO).write_text(file(filed, BETO).read_text().replace("Lima", "Quito"))
    assert run(filed, "sync") == f"{folder_of(BETO)}: in step; 2 facts changed by it\n"
    assert holding(filed, BETO) == {"I live in Quito"}
    assert run(filed, "sync") == ""
    assert run(filed, "status").count("in step") == 2


@pytest.mark.parametrize(
    ("command", "left"), [(["restore"], {DOG.value, CAT.value, TEA.value}), (["sync", "--confirm"], {TEA.value})]
)
def test_a_large_deletion_waits_and_is_decided(filed: Olvido, command: list[str], left: set[str]) -> None:
    run(filed, "sync")
    kept = [line for line in file(filed, ANA).read_text().splitlines() if "have a" not in line]
    file(filed, ANA).write_text("\n".join(kept))
    os.utime(file(filed, ANA), (1.0, 1.0))
    assert "waits: 2 of 3 lines were deleted" in run(filed, "sync", "--scope", ANA)
    assert "waits: 2 of 3 lines were deleted" in run(filed, "status")
    assert holding(filed, ANA) == {DOG.value, CAT.value, TEA.value}
    run(filed, *command, "--scope", ANA)
    assert (holding(filed, ANA), set(lines(filed, ANA))) == (left, left)


def test_other_folders_are_told_and_stay(filed: Olvido) -> None:
    run(filed, "sync")
    root = filed.folder / "files"
    file(filed, BETO).parent.rename(file(filed, BETO).parent.with_name("roberto"))
    (root / "stuff" / "mine").mkdir(parents=True)
    told = run(filed, "status")
    assert "stuff/mine  nobody's" in told
    assert f"{folder_of(BETO).rpartition('/')[0]}/roberto  is {folder_of(BETO)}'s" in told
    assert (root / "stuff" / "mine").is_dir()


def test_what_cannot_be_synced_is_told_and_the_status_says_so(filed: Olvido) -> None:
    run(filed, "sync")
    file(filed, ANA).write_bytes(b"<<<<<<< mine\n- x\n")
    status, told, complaint = filed("files sync")
    assert (status, complaint) == (1, "olvido memory: not all folders could be synced\n")
    assert "merge markers, in line 1" in told
    assert "merge markers, in line 1" in run(filed, "status")


def test_what_is_forgotten_leaves_the_files(filed: Olvido) -> None:
    run(filed, "sync")
    file(filed, ANA).write_text(file(filed, ANA).read_text() + "- one more\n")
    run(filed, "sync")
    assert filed("forget", DOG.id, "--yes")[0] == 0
    found = [each for each in (filed.folder / "files").rglob("*") if each.is_file() and b"a dog" in each.read_bytes()]
    assert found == []
    assert holding(filed, ANA) == {CAT.value, TEA.value, "one more"}


def test_programs_are_told_the_state_of_each_folder(filed: Olvido) -> None:
    found = [json.loads(line) for line in run(filed, "status", "--json").splitlines()]
    assert [(each["scope"], each["state"]) for each in found] == [(ANA, "to be synced"), (BETO, "to be synced")]
    (done,) = run(filed, "sync", "--json", "--user", "beto").splitlines()
    assert json.loads(done)["folder"] == folder_of(BETO)


def test_without_files_the_commands_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "storage").mkdir(mode=0o700)
    made = Olvido(tmp_path, capsys)
    made.configured(f"storage: {{path: {tmp_path / 'storage'}}}\n")
    made.known(ANA, DOG)
    status, _, complaint = made("files status")
    assert (status, complaint) == (
        2,
        "olvido memory: memory.files.path names no folder: see the configuration\n",
    )


def test_with_tools_documents_of_the_desk_are_synced_too(filed: Olvido) -> None:
    text = (filed.folder / "olvido.yaml").read_text()
    filed.configured(text.replace("memory: {", "memory: {tools: {enabled: true, sections: {agent_notes: 3}}, "))
    filed.stored(lambda database: SqliteDesks(database).put(ANA, "plan.md", "one", version=0, at=1.0, by="model"))
    run(filed, "sync")
    plan = file(filed, ANA).with_name("plan.md")
    assert plan.read_text() == "one\n"
    plan.write_text("two\n")
    assert run(filed, "status").count("to be synced") == 1
    assert run(filed, "sync") == f"{folder_of(ANA)}: in step; taken from there: plan.md\n"
    found = filed.stored(lambda database: SqliteDesks(database).document(ANA, "plan.md"))
    assert found is not None
    assert (found.text, found.by) == ("two\n", "person")
    file(filed, ANA).with_name("agent_notes.md").write_text("far too long for so few tokens\n")
    assert "agent_notes.md is too long: it has 3 tokens at most, this one 8" in run(filed, "status")
