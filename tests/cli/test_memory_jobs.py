"""`olvido memory jobs`, `digest` and `undo`: what the model of memory did, and its undoing, without a proxy."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from time import gmtime, strftime, time
from typing import TypeVar

import pytest

from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.types.curation import Digest, MemoryEvent, OutcomeLine
from tests.cli.test_memory import ANA, BETO, DAY, Olvido, fact
from tests.finished_jobs import finished

T = TypeVar("T")

OLD = fact(1, value="works at Sky", superseded_by="f-0000000000000002", superseded_at=1.0)
NEW = fact(2, value="works at Acme", source="auto")
LINE = OutcomeLine("update", "kept", "", "work", "employer", NEW.value, "I'm at Acme", 3, b"l", NEW.id, (OLD.id,))
REFUSED = OutcomeLine("add", "refused", "handed over", "work", "employer", "works at Moon", "he's at Moon", 4, b"m")


@pytest.fixture
def helped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Olvido:
    """A job of Ana's has changed a fact, and was refused another one; one of Beto's came to nothing."""
    (tmp_path / "storage").mkdir(mode=0o700)
    made = Olvido(tmp_path, capsys)
    made.configured(f"storage: {{path: {tmp_path / 'storage'}}}\n")
    made.known(ANA, OLD, NEW)
    jobs(made, lambda store: finished(store, ANA, "trips", LINE, REFUSED))
    jobs(made, lambda store: finished(store, BETO, "plans"))
    return made


def jobs(olvido: Olvido, work: Callable[[SqliteJobs], Awaitable[T]]) -> T:
    return olvido.stored(lambda database: work(_of(database)))


def _of(database: Database) -> SqliteJobs:
    return SqliteJobs(database)


def run(olvido: Olvido, command: str, *arguments: str) -> str:
    status, told, complaint = olvido(command, *arguments)
    assert (status, complaint) == (0, "")
    return told


def values(olvido: Olvido) -> set[str]:
    return {each.value for each in olvido.facts(ANA) if each.superseded_by is None}


def test_the_jobs_are_listed_newest_first_of_all_or_of_a_scope(helped: Olvido) -> None:
    titles, second, first = run(helped, "jobs").splitlines()
    assert titles.split() == ["JOB", "STATE", "KIND", "ABOUT", "WHEN", "KEPT", "REFUSED", "UNDONE", "COST", "REASON"]
    assert second.split()[:4] == ["2", "done", "extract", "plans"]
    assert first.split()[:4] == ["1", "done", "extract", "trips"]
    assert first.split()[-3:] == ["1", "1", "$0.0010"]
    assert [line.split()[0] for line in run(helped, "jobs", "--scope", BETO).splitlines()] == ["JOB", "2"]
    assert run(helped, "jobs", "--state", "given-up") == "There are no such jobs.\n"


def test_a_job_is_shown_with_what_came_of_each_line_and_why(helped: Olvido) -> None:
    told = run(helped, "jobs", "1")
    assert "extract.en 3f2a91c0" in told
    titles = next(number for number, line in enumerate(told.splitlines()) if line.startswith("RESULT"))
    kept, refused = (line.split() for line in told.splitlines()[titles + 1 : titles + 3])
    assert kept[:3] == ["kept", "update", NEW.id]
    assert refused[:4] == ["refused", "add", "handed", "over"]
    assert "turn 3: I'm at Acme" in told


def test_where_contents_are_not_shown_neither_are_values_nor_quotations(helped: Olvido) -> None:
    helped.configured(f"storage: {{path: {helped.folder / 'storage'}}}\nadmin: {{show_content: false}}\n")
    told = run(helped, "jobs", "1") + run(helped, "show", NEW.id)
    assert "admin.show_content" in told
    assert "I'm at" not in told
    assert "Moon" not in told


def test_a_derived_fact_is_shown_with_the_words_it_rests_on(helped: Olvido) -> None:
    assert "  job 1, turn 3: I'm at Acme\n" in run(helped, "show", NEW.id)
    assert "rests on" not in run(helped, "show", OLD.id)


def test_what_a_job_has_kept_is_undone_once(helped: Olvido) -> None:
    assert values(helped) == {"works at Acme"}
    assert "works at Sky" in run(helped, "undo", "1", NEW.id)
    assert values(helped) == {"works at Sky"}
    job = jobs(helped, lambda store: store.job(1))
    assert job is not None
    assert [line.result for line in job.lines] == ["undone", "refused"]
    status, told, complaint = helped("undo", "1", NEW.id)
    assert (status, told) == (1, "")
    assert "or it was undone" in complaint
    assert values(helped) == {"works at Sky"}


@pytest.mark.parametrize("arguments", [["99", NEW.id], ["2", NEW.id], ["1", NEW.id, "--scope", BETO]])
def test_nothing_else_is_undone(arguments: list[str], helped: Olvido) -> None:
    status, _, complaint = helped("undo", *arguments)
    assert status == 1
    why = "job 2 has kept nothing" if arguments[0] == "2" else "there is no job"
    assert complaint.startswith(f"olvido memory: {why}")
    assert values(helped) == {"works at Acme"}


def test_what_happened_is_told_by_day_with_its_events(helped: Olvido) -> None:
    now = time()
    today = now - now % DAY
    event = MemoryEvent("e-1", today - DAY, "trips", 3, "Began\nat Acme.", b"l")
    digest = Digest("day", today - DAY, "Ana began at Acme.", by_model=True)
    jobs(helped, lambda store: finished(store, ANA, "day x", kind="digest", events=[event], digest=digest))
    day = strftime("%Y-%m-%d", gmtime(today - DAY))
    told = run(helped, "digest", ANA)
    assert told.splitlines()[0] == f"{day}  Ana began at Acme."
    assert told.splitlines()[-1].endswith("trips, turn 3: Began at Acme.")
    assert told == run(helped, "digest", "--scope", ANA)
    assert "Ana began" not in run(helped, "digest", ANA, "--span", "week")
    assert run(helped, "digest", BETO) == "Nothing was written down.\n"
    assert helped("digest", ANA, "--scope", BETO)[0] == 2


def test_programs_are_told_jobs_digests_and_what_was_undone_as_json(helped: Olvido) -> None:
    assert [json.loads(line)["id"] for line in run(helped, "jobs", "--json").splitlines()] == [2, 1]
    shown = json.loads(run(helped, "jobs", "1", "--json"))
    assert (shown["job"]["kept"], [line["result"] for line in shown["lines"]]) == (1, ["kept", "refused"])
    told = json.loads(run(helped, "show", NEW.id, "--json"))
    assert [(each["job"], each["quote"]) for each in told["quotations"]] == [(1, "I'm at Acme")]
    assert json.loads(run(helped, "digest", ANA, "--json")) == {"digests": [], "events": []}
    undone = json.loads(run(helped, "undo", "1", NEW.id, "--json"))["facts"]
    assert {each["id"] for each in undone} == {OLD.id, NEW.id}


def test_a_job_of_nobody_whose_words_a_terminal_would_obey_is_shown_plain(helped: Olvido) -> None:
    line = replace(REFUSED, value="\x1b[2J", quote="a\x07b\nc")
    number = jobs(helped, lambda store: finished(store, BETO, "x\x1b[31m", line))
    assert not {"\x1b", "\x07"} & set(run(helped, "jobs", str(number)) + run(helped, "jobs"))
