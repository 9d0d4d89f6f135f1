"""A person's files and the documents of their desk come to the same, whoever has changed them, and whatever ends a
sync on the way."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.config.memory import MemoryTools
from proxy.files.desk_syncing import desk_files
from proxy.files.folder import Folder
from proxy.files.names import folder_of
from proxy.files.remembering import forget
from proxy.files.scrubbing import Gone
from proxy.files.syncing import Synced
from proxy.storage.desk import MOST_BYTES, MOST_DOCUMENTS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.tasks import Tasks
from proxy.types.desk import Document, Edit, TapeLine
from tests import forked
from tests.files.desk_syncing_once import LIMITS, RULES, once, sync, syncs
from tests.files.syncing_once import SCOPE

NOTES, PLAN = "agent_notes.md", "plan.md"
TEXT = "one\n\ntwo\n\nthree\n"


class Person:
    """A person's folder, and the desk that it is synced with."""

    def __init__(self, root: Path) -> None:
        self.root, self.database = root / "memory", Database(root / "olvido.db", Tasks())
        self.desks = SqliteDesks(self.database)
        self.executor = ThreadPoolExecutor(1)
        self.steps: list[str] = []
        self.on_step: Callable[[str], None] = self.steps.append
        self.syncs = syncs(self.root, self.database, self.executor, self._step)
        self.folder = self.root / folder_of(SCOPE)

    def _step(self, name: str) -> None:
        self.on_step(name)

    async def sync(self) -> Synced:
        return await self.syncs.sync(SCOPE)

    async def model(self, name: str, text: str | None) -> None:
        """The model writes a document."""
        now = await self.desks.document(SCOPE, name)
        version = now.version if now else 0
        assert await self.desks.put(SCOPE, name, text, version=version, at=5.0, by="model") is not None

    async def document(self, name: str) -> Document:
        found = await self.desks.document(SCOPE, name)
        assert found is not None
        return found

    async def text(self, name: str) -> str | None:
        found = await self.desks.document(SCOPE, name)
        return None if found is None or found.is_removed else found.text

    def file(self, name: str) -> Path:
        return self.folder / name

    def read(self, name: str) -> str:
        return self.file(name).read_text()

    def save(self, name: str, text: str | bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        self.file(name).write_bytes(data)

    def edit(self, name: str, old: str, new: str) -> None:
        assert old in self.read(name)
        self.save(name, self.read(name).replace(old, new))

    def older(self) -> str:
        """All that `.history/` has."""
        return "\n".join(each.read_text() for each in sorted(self.folder.glob(".history/*")))

    async def edits(self) -> list[Edit]:
        events = await self.desks.events(SCOPE, "s")
        return [event.payload for event in events[::-1] if isinstance(event.payload, Edit)]

    async def talk(self) -> None:
        """A session has a desk from now on."""
        await self.desks.write(SCOPE, "s", [TapeLine(0, b"x" * 16, 1.0, "user", 1, b"{}")])


@pytest.fixture
async def person(tmp_path: Path) -> AsyncIterator[Person]:
    made = Person(tmp_path)
    yield made
    await made.database.close()
    made.executor.shutdown()


async def in_step(person: Person) -> None:
    """One more sync does nothing."""
    person.steps.clear()
    done = await person.sync()
    assert (done.documents, done.is_written, done.is_unsettled, done.problem) == ((), False, False, "")
    assert [step for step in person.steps if step not in ("locked", "read")] == ["look"]


# --- both ways --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [NOTES, PLAN, "project_context-olvido.md"])
async def test_what_the_model_writes_is_a_file_and_what_the_person_makes_of_it_a_document(
    person: Person, name: str
) -> None:
    await person.model(name, TEXT)
    assert (await person.sync()).is_written
    assert person.read(name) == TEXT
    await in_step(person)
    person.edit(name, "two", "2")
    done = await person.sync()
    assert (done.documents, done.is_written) == ((name,), False)
    found = await person.document(name)
    assert (found.text, found.version, found.by) == (TEXT.replace("two", "2"), 2, "person")
    await in_step(person)


async def test_a_file_that_a_person_puts_there_is_a_document(person: Person) -> None:
    person.save(PLAN, "to do")
    assert (await person.sync()).documents == (PLAN,)
    assert await person.text(PLAN) == "to do\n"
    await person.sync()
    await in_step(person)


async def test_the_next_text_of_the_model_takes_the_place_of_the_file_and_the_older_one_is_kept(person: Person) -> None:
    await person.model(PLAN, "first\n")
    await person.sync()
    await person.model(PLAN, "second, without an end")
    await person.sync()
    assert person.read(PLAN) == "second, without an end\n"
    assert person.older() == "first\n"
    assert await person.text(PLAN) == "second, without an end", "its end is no edit"
    await in_step(person)


async def test_where_both_have_changed_something_both_is_there(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    await person.model(PLAN, TEXT.replace("one", "1"))
    person.edit(PLAN, "three", "3")
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "1\n\ntwo\n\n3\n"
    await in_step(person)


async def test_where_both_have_changed_the_same_lines_the_persons_stay_and_the_models_are_an_older_version(
    person: Person,
) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    await person.model(PLAN, TEXT.replace("two", "the model's"))
    person.edit(PLAN, "two", "the person's")
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == TEXT.replace("two", "the person's")
    assert "the model's" in (await person.desks.older(SCOPE, PLAN))[0].text
    await in_step(person)


async def test_a_persons_edit_is_in_the_ledger_of_the_desk_with_before_and_after(person: Person) -> None:
    await person.talk()
    await person.model(NOTES, "old")
    await person.sync()
    person.save(NOTES, "new\n")
    await person.sync()
    assert await person.edits() == [Edit("", NOTES, "old", "new\n", version=2, by="person")]


async def test_a_file_that_is_removed_removes_its_document_once_nobody_can_be_saving_it(person: Person) -> None:
    await person.talk()
    await person.model(PLAN, TEXT)
    await person.sync()
    person.file(PLAN).unlink()
    assert person.syncs.desk is not None
    person.syncs.desk = replace(person.syncs.desk, clock=lambda: person.folder.stat().st_mtime)
    assert (await person.sync()).is_unsettled
    assert await person.text(PLAN) == TEXT
    person.syncs.desk = replace(person.syncs.desk, clock=lambda: person.folder.stat().st_mtime + 10)
    await person.sync()
    assert await person.text(PLAN) is None
    assert [(each.before, each.after) for each in await person.edits()] == [(TEXT, "")]
    assert not person.file(PLAN).exists()
    await in_step(person)


async def test_an_empty_file_removes_its_document_and_is_filled_when_the_model_writes_again(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    person.save(PLAN, " \n")
    await person.sync()
    assert await person.text(PLAN) is None
    await in_step(person)
    await person.model(PLAN, "again\n")
    await person.sync()
    assert person.read(PLAN) == "again\n"


async def test_a_document_that_was_removed_has_no_file_and_its_text_is_kept(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    await person.model(PLAN, None)
    await person.sync()
    assert not person.file(PLAN).exists()
    assert person.older() == TEXT
    await in_step(person)


@pytest.mark.parametrize("side", ["file", "document"])
async def test_what_one_side_removes_and_the_other_has_changed_stays(person: Person, side: str) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    if side == "file":
        person.file(PLAN).unlink()
        await person.model(PLAN, "changed\n")
    else:
        await person.model(PLAN, None)
        person.save(PLAN, "changed\n")
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "changed\n"
    await in_step(person)


async def test_a_folder_that_was_lost_is_written_anew_and_an_old_copy_of_it_edits_nothing(person: Person) -> None:
    await person.model(PLAN, "first\n")
    await person.sync()
    backup = person.read(PLAN)
    await person.model(PLAN, "second\n")
    await person.sync()
    shutil.rmtree(person.folder)
    await person.sync()
    assert person.read(PLAN) == "second\n"
    shutil.rmtree(person.folder)
    person.save(PLAN, backup)
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "second\n"


async def test_two_texts_that_nobody_can_compare_are_both_kept(person: Person) -> None:
    await person.model(PLAN, "the model's\n")
    person.save(PLAN, "the person's\n")
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "the person's\nthe model's\n"
    await in_step(person)


# --- what files may say -----------------------------------------------------------------------------------------------


async def test_the_rules_are_written_and_what_a_person_makes_of_them_is_not_read(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    assert person.read("identity.md") == f"{RULES}\n"
    assert person.file("identity.md").stat().st_mode & 0o222 == 0
    person.file("identity.md").unlink()
    person.save("identity.md", "Do as you like.\n")
    await person.sync()
    assert person.read("identity.md") == f"{RULES}\n"
    assert person.older() == "Do as you like.\n"
    assert [each.name for each in await person.desks.documents(SCOPE)] == [PLAN]


async def test_where_there_is_no_document_there_are_no_rules(person: Person) -> None:
    await person.sync()
    assert not person.file("identity.md").exists()


@pytest.mark.parametrize(
    "name",
    ["Plan.md", "plan.txt", "my plan.md", "plan", f"{'a' * 65}.md", "2026-11-23.md", "memory.md", "session_log.md",
     "plan.md~", ".plan.md", "more/plan.md"],
)  # fmt: skip
async def test_a_file_with_any_other_name_is_left_alone(person: Person, name: str) -> None:
    person.folder.mkdir(parents=True)
    person.file(name).parent.mkdir(exist_ok=True)
    person.save(name, TEXT)
    await person.sync()
    assert await person.desks.documents(SCOPE) == []
    assert person.read(name) == TEXT


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        (b"\xef\xbb\xbfone\r\ntwo\r\n", "one\ntwo\n"),
        ("año\n".encode("utf-16"), "año\n"),
        ("año\n".encode("cp1252"), "año\n"),
    ],
)
async def test_a_file_is_read_however_an_editor_has_saved_it(person: Person, saved: bytes, text: str) -> None:
    person.save(PLAN, saved)
    await person.sync()
    assert await person.text(PLAN) == text
    assert person.file(PLAN).read_bytes() == saved
    await in_step(person)


async def test_a_file_is_written_as_its_person_saves_it(person: Person) -> None:
    person.save(PLAN, b"\xef\xbb\xbfone\r\ntwo\r\n")
    await person.sync()
    await person.model(PLAN, "one\n2\n")
    await person.sync()
    assert person.file(PLAN).read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"


@pytest.mark.parametrize(
    ("saved", "why"),
    [
        (b"\0\1", "plan.md is not text"),
        (b"\xff\xfe\x00", "plan.md is not text"),
        (b"a\n<<<<<<< ours\n", "plan.md has merge markers, in line 2"),
        (b"x" * (MOST_BYTES + 1), "plan.md is too long: a document has 262,144 bytes at most, this one 262,146"),
        (b"x" * (4 * 2**20 + 1), "plan.md is larger than 4 MiB"),
    ],
)
async def test_a_file_that_cannot_be_taken_is_left_as_it_is_and_others_are_synced(
    person: Person, saved: bytes, why: str
) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    person.save(PLAN, saved)
    person.save("other.md", TEXT)
    await person.model(PLAN, "the next\n")
    done = await person.sync()
    assert (done.problem, done.documents) == (why, ("other.md",))
    assert person.file(PLAN).read_bytes() == saved
    assert await person.text(PLAN) == "the next\n"


async def test_a_section_that_is_longer_than_its_limit_is_refused_like_the_api_does_it(person: Person) -> None:
    await person.model(NOTES, "short\n")
    await person.sync()
    person.save(NOTES, "word " * LIMITS.agent_notes + "more\n")
    done = await person.sync()
    assert done.problem == "agent_notes.md is too long: it has 20 tokens at most, this one 21"
    assert await person.text(NOTES) == "short\n"
    person.save(NOTES, "word " * LIMITS.agent_notes + "\n")
    assert (await person.sync()).problem == ""
    assert await person.text(NOTES) == "word " * LIMITS.agent_notes + "\n"


async def test_beyond_a_number_of_documents_a_file_is_none(person: Person) -> None:
    for number in range(MOST_DOCUMENTS):
        await person.model(f"n{number}.md", "x\n")
    await person.sync()
    person.save(PLAN, TEXT)
    assert (await person.sync()).problem == "plan.md cannot be taken: there are 200 documents at most"
    assert person.read(PLAN) == TEXT


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
async def test_no_link_is_followed_and_nothing_but_a_file_is_read(person: Person, tmp_path: Path, kind: str) -> None:
    await person.model(NOTES, "notes\n")
    secret = tmp_path / "secret.md"
    secret.write_text("secret\n")
    person.folder.mkdir(parents=True)
    for name in (NOTES, PLAN):
        match kind:
            case "link":
                person.file(name).symlink_to(secret)
            case "folder":
                person.file(name).mkdir()
            case _:
                os.mkfifo(person.file(name))
    done = await person.sync()
    assert done.problem.startswith("agent_notes.md is ")
    assert [each.text for each in await person.desks.documents(SCOPE)] == ["notes\n"]
    assert secret.read_text() == "secret\n"


async def test_whatever_the_model_writes_comes_to_rest(person: Person) -> None:
    text = "\ufeffa\0b\ud800\r\nc\r<<<<<<< d\n=======\n>>>>>>> e"
    await person.model(PLAN, text)
    await person.sync()
    await in_step(person)
    assert await person.text(PLAN) == text
    person.save(PLAN, person.read(PLAN) + "mine\n")
    await person.sync()
    assert (await person.text(PLAN) or "").endswith(">>>>>>> e\nmine\n")


# --- forgetting -------------------------------------------------------------------------------------------------------


async def forgotten(person: Person, value: str, *, in_files: bool = True) -> None:
    await person.desks.scrub(SCOPE, [value])
    if in_files:
        folder = Folder(person.root, SCOPE)
        await asyncio.to_thread(forget, folder, Gone(values=frozenset({value})), ())


def said_in(person: Person, words: str) -> list[str]:
    files = (each for each in person.folder.rglob("*") if each.is_file())
    return [each.relative_to(person.folder).as_posix() for each in files if words in each.read_text()]


@pytest.mark.parametrize("in_files", [True, False])
async def test_what_is_forgotten_leaves_files_and_their_history_also_where_a_killed_process_was_to_do_it(
    person: Person, in_files: bool
) -> None:
    text = "- the dog is Fido\n- the cat is Tom\n"
    await person.model(PLAN, text)
    await person.sync()
    await person.model(PLAN, text + "- both are old\n")
    await person.sync()
    assert len(said_in(person, "Fido")) == 3, "the file, its base, and an older text"
    await forgotten(person, "the dog is Fido", in_files=in_files)
    await person.sync()
    assert said_in(person, "Fido") == []
    assert person.read(PLAN) == "- forgotten\n- the cat is Tom\n- both are old\n"
    assert await person.text(PLAN) == person.read(PLAN)
    assert (await person.document(PLAN)).by == "model", "nobody has edited it"
    await in_step(person)


async def test_a_file_of_the_person_that_never_was_a_document_is_not_touched(person: Person) -> None:
    await person.sync()
    person.save(PLAN, "- the dog is Fido\n")
    await asyncio.to_thread(forget, Folder(person.root, SCOPE), Gone(values=frozenset({"the dog is Fido"})), ())
    assert person.read(PLAN) == "- the dog is Fido\n"


async def test_a_wipe_puts_them_aside_and_brings_them_back(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    folder = Folder(person.root, SCOPE)
    await asyncio.to_thread(folder.put_aside, 9e9)
    await person.model(PLAN, None)
    await person.sync()
    assert not person.file(PLAN).exists()
    await asyncio.to_thread(folder.bring_back, 9e9)
    await person.model(PLAN, TEXT)
    await person.sync()
    assert person.read(PLAN) == TEXT
    await in_step(person)


# --- others, and kills ------------------------------------------------------------------------------------------------


async def test_what_somebody_saves_while_a_sync_is_under_way_is_merged(person: Person) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    await person.model(PLAN, TEXT.replace("one", "1"))
    rest = iter([f"file {PLAN}"])

    def save(step: str) -> None:
        if step == f"file {PLAN}" and next(rest, None):
            person.edit(PLAN, "three", "3")

    person.on_step = save
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "1\n\ntwo\n\n3\n"


async def test_what_the_model_writes_while_an_edit_is_under_way_is_merged(person: Person, tmp_path: Path) -> None:
    await person.model(PLAN, TEXT)
    await person.sync()
    person.edit(PLAN, "three", "3")
    rest = iter([f"store {PLAN}"])

    def write(step: str) -> None:
        if step == f"store {PLAN}" and next(rest, None):
            asyncio.run(other(tmp_path, TEXT.replace("one", "1")))

    person.on_step = lambda step: run_apart(lambda: write(step))
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "1\n\ntwo\n\n3\n"


async def other(folder: Path, text: str) -> None:
    """Another process, in which the model writes."""
    database = Database(folder / "olvido.db", Tasks())
    try:
        assert await SqliteDesks(database).put(SCOPE, PLAN, text, version=1, at=6.0, by="model")
    finally:
        await database.close()


def run_apart(work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(work).result()


def changes(text: str) -> list[tuple[str, str]]:
    """What the model makes of a text, and the person: each adds to a line that the other has changed."""
    return [
        (text.replace("two", "2"), text.replace("two", "two\ntwo and a half")),
        (text.replace("one", "0\none"), text.replace("one", "one\n1.5")),
        (text, text.replace("three", "3")),
        (text + "four\n", text),
        (text.replace("one", "1"), ""),
    ]


@pytest.mark.long
@pytest.mark.parametrize("which", range(5))
async def test_kill_9_at_any_step_loses_nothing_and_does_nothing_twice(
    person: Person, tmp_path: Path, which: int
) -> None:
    await person.talk()
    await person.model(PLAN, TEXT)
    await person.sync()
    model, own = changes(TEXT)[which]
    await person.model(PLAN, model)
    person.save(PLAN, own)
    await person.database.close()
    begun = tmp_path / "begun"
    shutil.copytree(tmp_path, begun)
    shutil.copytree(begun, tmp_path / "whole")
    expected = await outcome(tmp_path / "whole")
    for step in range(100):
        again = tmp_path / f"at-{step}"
        shutil.copytree(begun, again)
        run = await asyncio.to_thread(forked.run, once, again / "memory", again, step)
        assert run.stderr == b""
        assert await outcome(again) == expected, run.stdout.decode().split()[-3:]
        if run.returncode == 0:
            break
    assert step > 5


async def outcome(folder: Path) -> tuple[object, ...]:
    """What there is after a sync, and that another one does nothing: texts, versions, edits."""
    await sync(folder / "memory", folder)
    again = await sync(folder / "memory", folder)
    assert (again.documents, again.is_written, again.problem) == ((), False, "")
    made = Person(folder)
    try:
        found = await made.document(PLAN)
        file = made.file(PLAN).read_text() if made.file(PLAN).exists() else None
        left = [each.name for each in made.folder.iterdir() if each.name.endswith(".tmp")]
        notes = sorted(each.name for each in made.folder.glob(".desk/*"))
        return found.text, found.version, found.is_removed, file, await made.edits(), left, notes
    finally:
        await made.database.close()
        made.executor.shutdown()


class Killed(BaseException):
    """The process ends here."""


async def killed_at(person: Person, step: str) -> None:
    def kill(said: str) -> None:
        if said == step:
            raise Killed

    person.on_step = kill
    with pytest.raises(Killed):
        await person.sync()
    person.on_step = person.steps.append


async def test_what_is_noted_of_an_earlier_step_is_settled_before_the_next_is_taken(person: Person) -> None:
    person.save(PLAN, "mine\n")
    await person.model(PLAN, "the model's\n")
    await killed_at(person, f"stored {PLAN}")
    await killed_at(person, f"base {PLAN}")
    assert person.read(PLAN) == "mine\nthe model's\n"
    await person.model(PLAN, "the model's\n")
    await person.sync()
    assert person.read(PLAN) == await person.text(PLAN) == "the model's\n"
    await in_step(person)


async def test_two_processes_on_one_folder_lose_and_double_nothing(person: Person, tmp_path: Path) -> None:
    await person.talk()
    await person.model(PLAN, TEXT)
    await person.sync()
    for number in range(5):
        person.edit(PLAN, "three", f"three\nperson {number}")
        await person.model(PLAN, f"model {number}\n{await person.text(PLAN)}")
        await asyncio.gather(*(sync(tmp_path / "memory", tmp_path) for _ in range(3)))
    await person.sync()
    lines = person.read(PLAN).splitlines()
    wanted = [f"{who} {number}" for who in ("model", "person") for number in range(5)]
    assert sorted(line for line in lines if line[-1:].isdigit()) == wanted
    assert len(await person.edits()) == 5


# --- where ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("enabled", "expected"), [(True, True), (False, False)])
def test_there_are_files_only_where_the_model_has_tools(person: Person, enabled: bool, expected: bool) -> None:
    assert (desk_files(MemoryTools(enabled=enabled), person.desks, len) is not None) == expected


async def test_to_look_changes_nothing(person: Person) -> None:
    await person.model(NOTES, "notes\n")
    person.save(PLAN, TEXT)
    done = await person.syncs.sync(SCOPE, only_look=True)
    assert (done.documents, done.is_written) == ((PLAN,), True)
    assert await person.text(PLAN) is None
    assert sorted(each.name for each in person.folder.iterdir()) == [PLAN]
