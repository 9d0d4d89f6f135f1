"""A sync brings a file and memory to the same, whoever has changed them, and whatever ends it on the way."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from proxy.files.document import one_line, parse
from proxy.files.names import folder_of
from proxy.files.syncing import SETTLED, Synced, Syncs, read_line
from proxy.types import Fact
from tests import forked
from tests.files.syncing_once import SCOPE, Stored, once, sync
from tests.files.test_merging import fact
from tests.stores import AtOnce

FACTS = [fact(n, f"fact {n}", domain) for n, domain in enumerate(["work", "work", "personal", "projects"], 1)]


class Person:
    """A person's file, and the memory that it is synced with."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stored = Stored(AtOnce())
        self.executor = ThreadPoolExecutor(1)
        self.syncs = Syncs(root, self.stored, self.executor, clock=lambda: self.now)
        self.file = root / folder_of(SCOPE) / "MEMORY.md"
        self.now = 1e9

    async def remember(self, *facts: Fact) -> None:
        self.stored.store.put(SCOPE, facts)

    async def sync(self, *, is_settled: bool = True) -> Synced:
        if is_settled and self.file.exists() and not self.file.is_symlink():
            os.utime(self.file, (1.0, 1.0))
        return await self.syncs.sync(SCOPE)

    async def holding(self) -> list[str]:
        return sorted(one_line(each.value) for each in await self.stored.facts(SCOPE) if each.superseded_by is None)

    def text(self) -> str:
        return self.file.read_text()

    def edit(self, change: Callable[[str], str]) -> None:
        self.file.write_text(change(self.text()))


@pytest.fixture
async def person(tmp_path: Path) -> Person:
    made = Person(tmp_path)
    await made.remember(*FACTS)
    await made.sync()
    return made


@pytest.mark.note("Capas/1", "Archivos/1", "Sync/3")
async def test_what_memory_has_is_in_the_file_and_a_second_sync_does_nothing(person: Person) -> None:
    assert [each.text for each in parse(person.text()).bullets] == ["fact 1", "fact 2", "fact 3", "fact 4"]
    before = person.file.stat()
    again = await person.sync(is_settled=False)
    assert (again.rows, again.is_written, again.problem) == (0, False, "")
    assert person.file.stat().st_ino == before.st_ino


@pytest.mark.note("Archivos/1", "Sync/2")
async def test_what_a_person_writes_is_in_memory(person: Person) -> None:
    person.edit(lambda text: text.replace("fact 1 ", "fact one ").replace("- fact 3", "- I have a dog\n- fact 3"))
    assert (await person.sync()).rows == 3
    assert await person.holding() == ["I have a dog", "fact 2", "fact 3", "fact 4", "fact one"]


async def test_whoever_saves_an_old_text_has_not_deleted_what_came_in_between(person: Person) -> None:
    old = person.text()
    await person.remember(fact(9, "fact 9"))
    await person.sync()
    person.file.write_text(old.replace("fact 1 ", "fact one "))
    await person.sync()
    assert await person.holding() == ["fact 2", "fact 3", "fact 4", "fact 9", "fact one"]
    assert "fact 9" in person.text()


async def test_a_line_that_came_last_can_be_deleted(person: Person) -> None:
    await person.remember(fact(9, "fact 9"))
    await person.sync()
    person.edit(lambda text: "".join(f"{line}\n" for line in text.splitlines() if "fact 9" not in line))
    await person.sync()
    assert "fact 9" not in await person.holding()


async def test_a_file_that_is_being_saved_is_left_alone_for_a_moment(person: Person) -> None:
    person.file.write_text("")
    person.now = person.file.stat().st_mtime + SETTLED / 2
    assert (await person.sync(is_settled=False)).is_unsettled
    assert person.text() == ""


@pytest.mark.note("Sync/2")
async def test_a_large_deletion_waits_is_told_in_the_first_line_and_confirmed_there(person: Person) -> None:
    person.edit(lambda text: "".join(f"{line}\n" for line in text.splitlines() if "fact" not in line))
    done = await person.sync()
    assert done.waiting is not None
    assert (done.waiting.deletions, done.waiting.of) == (4, 4)
    assert person.text().startswith("> [ ] 4 of 4 lines are gone from here.")
    assert len(await person.holding()) == 4
    again = await person.sync()
    assert (again.waiting, again.is_written) == (done.waiting, False)
    person.edit(lambda text: text.replace("> [ ]", "> [x]"))
    assert (await person.sync()).waiting is None
    assert await person.holding() == []
    assert not person.text().startswith(">")


async def test_or_it_comes_back(person: Person) -> None:
    person.file.unlink()
    assert (await person.sync()).waiting is not None
    await person.syncs.sync(SCOPE, "undo")
    assert [each.text for each in parse(person.text()).bullets] == ["fact 1", "fact 2", "fact 3", "fact 4"]
    assert (await person.sync()).waiting is None


async def test_a_file_that_is_removed_comes_back_as_the_question_whether_all_is_to_go(person: Person) -> None:
    person.file.unlink()
    person.now = person.file.parent.stat().st_mtime + SETTLED / 2  # an editor may be about to write it anew
    assert (await person.sync()).is_unsettled
    assert not person.file.exists()
    person.now += SETTLED
    assert (await person.sync()).waiting is not None
    assert person.text().startswith("> [ ] 4 of 4 lines are gone from here.")
    assert not (await person.sync()).is_written
    assert len(await person.holding()) == 4
    person.edit(lambda text: text.replace("> [ ]", "> [x]"))
    await person.sync()
    assert await person.holding() == []


async def test_a_folder_that_vanishes_takes_nothing_with_it(person: Person) -> None:
    shutil.rmtree(person.file.parent)
    done = await person.sync()
    assert (done.rows, done.waiting, len(await person.holding())) == (0, None, 4)
    assert "fact 4" in person.text()


async def test_of_looking_nothing_comes(person: Person) -> None:
    person.edit(lambda text: text.replace("fact 1 ", "fact one "))
    before = person.text()
    looked = await person.syncs.sync(SCOPE, only_look=True)
    assert (looked.rows, looked.is_written) == (2, True)
    assert (person.text(), await person.holding()) == (before, ["fact 1", "fact 2", "fact 3", "fact 4"])


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda file: file.write_text("<<<<<<< a\n- x\n=======\n- y\n>>>>>>> b\n"), "merge markers, in line 1"),
        (lambda file: file.write_bytes(b"- x\0y\n"), "is not text"),
        (lambda file: file.write_bytes(b"- x\n" * 1_300_000), "larger than"),
        (lambda file: (file.unlink(), file.symlink_to("/etc/passwd")), "symbolic link"),
        (lambda file: (file.unlink(), file.mkdir()), "is not a file"),
        (lambda file: [file.unlink(), subprocess.check_call(["mkfifo", file])], "is not a file"),
    ],
)
async def test_what_cannot_be_read_is_told_and_left_as_it_is(
    person: Person, spoil: Callable[[Path], object], told: str
) -> None:
    spoil(person.file)
    before = person.file.lstat()
    done = await person.sync(is_settled=False)
    assert told in done.problem
    assert "\n" not in done.problem
    after = person.file.lstat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    assert await person.holding() == ["fact 1", "fact 2", "fact 3", "fact 4"]


@pytest.mark.note("Decisiones/2")
@pytest.mark.parametrize(
    ("save", "encoding"),
    [
        (lambda text: b"\xef\xbb\xbf" + text.encode(), "utf-8-sig"),
        (lambda text: text.replace("\n", "\r\n").encode(), "utf-8"),
        (lambda text: text.encode("latin-1"), "utf-8"),
        (lambda text: b"\xff\xfe" + text.encode("utf-16-le"), "utf-16"),
    ],
)
async def test_it_is_read_however_an_editor_saves_it(
    person: Person, save: Callable[[str], bytes], encoding: str
) -> None:
    person.file.write_bytes(save(person.text().replace("fact 1 ", "mañana 1 ")))
    await person.sync()
    assert "mañana 1" in await person.holding()
    with closing(person.file.open(encoding=encoding, newline="")) as file:
        assert "mañana 1" in file.read()
    assert not (await person.sync()).is_written


async def test_who_saves_while_a_sync_is_under_way_is_read_as_well(person: Person) -> None:
    saved = False

    def step(name: str) -> None:
        nonlocal saved
        if name == "file" and not saved:
            saved = True
            person.edit(lambda text: text + "- said meanwhile\n")

    person.syncs.on_step = step
    person.edit(lambda text: text + "- said before\n")
    await person.sync()
    assert {"said before", "said meanwhile"} <= set(await person.holding())
    assert not (await person.sync()).is_written


@pytest.mark.long
async def test_a_process_that_is_killed_at_any_step_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    steps, step = 1, 0
    while step < steps:
        root, folder = tmp_path / f"files{step}", tmp_path / f"db{step}"
        folder.mkdir()
        await prepared(root, folder)
        done = await asyncio.to_thread(forked.run, once, root, folder, step)
        steps = max(steps, len(done.stdout.splitlines()))
        assert done.returncode == (-9 if step < len(done.stdout.splitlines()) else 0), done.stderr
        steps += done.returncode == -9 and step == steps - 1
        assert not (await sync(root, folder)).problem
        assert not (await sync(root, folder)).is_written
        file = root / folder_of(SCOPE) / "MEMORY.md"
        lines = sorted(each.text for each in parse(file.read_text()).bullets)
        assert lines == ["changed 2", "fact 4", "new of memory", "new of the person"], f"killed at step {step}"
        assert all(file.read_text().count(line) == 1 for line in lines)
        step += 1
    assert steps > 10


async def prepared(root: Path, folder: Path) -> None:
    """A file in which a line was added, one changed, one deleted; and memory has a new fact."""
    from proxy.storage.sqlite.database import Database
    from proxy.tasks import Tasks

    async def remember(*facts: Fact) -> None:
        database = Database(folder / "olvido.db", Tasks())
        await Stored(database).write(SCOPE, facts)
        await database.close()

    await remember(FACTS[0], FACTS[1], FACTS[3])
    await sync(root, folder)
    file = root / folder_of(SCOPE) / "MEMORY.md"
    lines = [line for line in file.read_text().splitlines() if "fact 1 " not in line]
    file.write_text("\n".join([*lines, "- new of the person"]).replace("fact 2 ", "changed 2 "))
    await remember(fact(9, "new of memory"))


@pytest.mark.note("Rumi Fact/4")
@pytest.mark.parametrize(
    ("text", "heading", "domain", "key"),
    [
        ("I work at Initech", "", "work", "job"),
        ("I work at Initech", "projects", "projects", "job"),
        ("Xyzzy, plugh!", "garden", "garden", "xyzzy-plugh"),
        ("¿?", "", "personal", "note"),
    ],
)
def test_a_new_line_is_read_for_its_domain_and_key(text: str, heading: str, domain: str, key: str) -> None:
    said = read_line(text, heading)
    assert (said.domain, said.key) == (domain, key)
