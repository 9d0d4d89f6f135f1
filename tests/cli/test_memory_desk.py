"""`olvido memory sections`, `log` and `reset`: the desk of a person, without a proxy."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.types.desk import DeskEvent, Edit, Reset, TapeLine
from tests.builders import NOW
from tests.cli.test_memory import ANA, BETO, Olvido, fact

T = TypeVar("T")


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Olvido:
    """A model has edited Ana's notes in the session "s"."""
    (tmp_path / "storage").mkdir(mode=0o700)
    made = Olvido(tmp_path, capsys)
    made.configured(f"storage: {{path: {tmp_path / 'storage'}}}\n")
    made.known(ANA, fact(1, value="works at Sky"))
    said = [TapeLine(0, bytes([n]) * 16, NOW, "user", 4, json.dumps({"content": f"said {n}"}).encode()) for n in (1, 2)]
    note = Edit("edit_section", "agent_notes.md", "old\n", "new\n", version=2)

    async def work(store: SqliteDesks) -> None:
        await store.put(ANA, "agent_notes.md", "old\n", version=0, at=NOW, by="person")
        await store.put(ANA, "agent_notes.md", "new\n", version=1, at=NOW, by="model")
        await store.write(ANA, "s", said, [DeskEvent(NOW, "r", note)])

    desks(made, work)
    return made


def desks(olvido: Olvido, work: Callable[[SqliteDesks], Awaitable[T]]) -> T:
    return olvido.stored(lambda database: work(_of(database)))


def _of(database: Database) -> SqliteDesks:
    return SqliteDesks(database)


def run(olvido: Olvido, command: str, *arguments: str) -> str:
    status, told, complaint = olvido(command, *arguments)
    assert (status, complaint) == (0, "")
    return told


def refused(olvido: Olvido, *arguments: str) -> str:
    status, told, complaint = olvido(*arguments)
    assert (status, told) == (1, "")
    return complaint


def test_sections_are_listed_and_one_is_read(desk: Olvido) -> None:
    assert run(desk, "sections").split()[0] == "agent_notes.md"
    assert run(desk, "sections", "agent_notes") == "new\n"
    assert run(desk, "sections", "--scope", BETO) == "There are none.\n"
    assert "there is no current_task.md" in refused(desk, "sections", "current_task")


@pytest.mark.note("SMMA 4/2")
def test_a_tape_is_lines_of_json(desk: Olvido) -> None:
    assert run(desk, "log").split()[:2] == ["s", "2"]
    rows = [json.loads(line) for line in run(desk, "log", "s").splitlines()]
    assert [(row["id"], row["content"]["content"]) for row in rows] == [(1, "said 1"), (2, "said 2")]
    assert "there is no tape of t" in refused(desk, "log", "t")
    assert "there is no tape of s" in refused(desk, "log", "s", "--scope", BETO)


def test_contents_are_shown_where_the_configuration_allows_it(desk: Olvido, tmp_path: Path) -> None:
    desk.configured(f"storage: {{path: {tmp_path / 'storage'}}}\nadmin: {{show_content: false}}\n")
    assert "contents are not shown" in refused(desk, "sections", "agent_notes")
    assert [json.loads(line)["content"] for line in run(desk, "log", "s").splitlines()] == [None, None]


@pytest.mark.note("SMMA 8/2")
def test_a_reset_undoes_what_the_model_has_edited(desk: Olvido) -> None:
    assert run(desk, "reset", "s", "--yes") == "Undone: agent_notes.md.\n"
    assert run(desk, "sections", "agent_notes") == "old\n"
    events = desks(desk, lambda store: store.events(ANA, "s"))
    assert isinstance(events[0].payload, Reset)
    assert "there is no desk of t" in refused(desk, "reset", "t", "--yes")


def test_programs_are_told_the_desk_as_json(desk: Olvido) -> None:
    (listed,) = run(desk, "sections", "--json").splitlines()
    about = {"name": "agent_notes.md", "at": NOW, "by": "model"}
    assert json.loads(listed) == {**about, "characters": 4}
    assert json.loads(run(desk, "sections", "agent_notes", "--json")) == {**about, "text": "new\n"}
    assert json.loads(run(desk, "log", "--json"))["session"] == "s"
    status, told, complaint = desk("reset", "s", "--json")
    assert (status, told, "say --yes" in complaint) == (2, "", True)
    assert json.loads(run(desk, "reset", "s", "--yes", "--json")) == {"undone": ["agent_notes.md"], "left": []}
