"""The lines of jobs for people: what is told of a job, which words a fact rests on, what undoing it writes."""

from dataclasses import replace

import pytest

from proxy.curation.looking import Undoing, card, line_cards, quotations, session_of, undoing
from proxy.types import Fact
from proxy.types.curation import Job, JobKind, OutcomeLine

NOW = 1_800_000_000.0
JOB = Job(1, "t/ana", "extract", "trips", "done", NOW - 60, NOW - 60, done_at=NOW - 5, model="small")
OLD = Fact("f-1", "work", "employer", "works at Google", "medium", "explicit", "trips", 1, NOW - 99, NOW - 99)
NEW = replace(OLD, id="f-2", value="works at Acme", source="auto")
FACTS = {
    "f-1": replace(OLD, superseded_by="f-2", superseded_at=NOW - 5),
    "f-2": NEW,
    "f-3": replace(OLD, id="f-3", key="city"),
}
UPDATE = OutcomeLine("update", "kept", "", "work", "employer", NEW.value, "I'm at Acme", 3, b"l", "f-2", ("f-1",))
REFUSED = replace(UPDATE, result="refused", reason="explicit", quote="I'm at Sky")
EVENT = OutcomeLine("event", "kept", value="Began at Acme.", turn=3)


def test_a_card_counts_the_lines_by_what_came_of_them() -> None:
    told = card(replace(JOB, lines=(UPDATE, REFUSED, EVENT, replace(UPDATE, result="undone"))))
    assert (told["kept"], told["refused"], told["undone"]) == (2, 1, 1)
    assert "shown" not in told
    assert "answer" not in told


@pytest.mark.parametrize(
    ("kind", "session"), [("extract", "trips"), ("consolidate", ""), ("digest", ""), ("conclude", "trips")]
)
def test_a_session_is_read_for_facts_or_concluded(kind: JobKind, session: str) -> None:
    job = replace(JOB, kind=kind, subject="shop/trips" if kind == "conclude" else JOB.subject)
    assert session_of(job) == session
    assert card(job)["session"] == (session or None)


def test_a_card_of_a_line_without_texts_says_what_came_of_it_alone() -> None:
    job = replace(JOB, lines=(UPDATE,))
    (hidden,) = line_cards(job, {}, NOW, with_text=False)
    assert [hidden[name] for name in ("key", "value", "quote")] == [None, None, None]
    assert (hidden["op"], hidden["result"], hidden["fact"]) == ("update", "kept", "f-2")
    (shown,) = line_cards(job, {}, NOW, with_text=True)
    assert [shown[name] for name in ("key", "value", "quote")] == ["employer", "works at Acme", "I'm at Acme"]


@pytest.mark.parametrize(
    ("line", "can"), [(UPDATE, True), (REFUSED, False), (EVENT, False), (replace(UPDATE, result="undone"), False)]
)
def test_a_kept_line_about_a_fact_can_be_undone_and_no_other(line: OutcomeLine, can: bool) -> None:
    job = replace(JOB, lines=(line,))
    (told,) = line_cards(job, FACTS, NOW, with_text=True)
    assert told["can_undo"] is undoing(job, "f-2", FACTS, NOW).is_possible is can


def test_a_fact_rests_on_the_quotations_that_were_kept_oldest_job_first() -> None:
    undone = replace(UPDATE, result="undone", quote="at Acme now", turn=5)
    jobs = [
        replace(JOB, id=9, lines=(undone, replace(UPDATE, fact_id="f-9"))),
        replace(JOB, id=4, lines=(REFUSED, UPDATE, EVENT)),
    ]
    assert [(each.job, each.turn, each.quote, each.is_undone) for each in quotations(jobs, "f-2")] == [
        (4, 3, "I'm at Acme", False),
        (9, 5, "at Acme now", True),
    ]


def test_what_is_undone_gives_the_rows_that_change() -> None:
    rows = undoing(replace(JOB, lines=(EVENT, UPDATE)), "f-2", FACTS, NOW).rows
    after = FACTS | {row.id: row for row in rows}
    assert {row.id for row in rows} == {"f-1", "f-2"}
    assert after["f-1"].superseded_by is None
    assert after["f-2"].superseded_by is not None


@pytest.mark.parametrize(
    ("fact", "is_possible"),
    [
        (None, True),
        (replace(NEW, superseded_by="f-2"), True),  # deleted: what is left is to say so
        (replace(NEW, superseded_by="f-7"), False),
    ],
)
def test_of_a_fact_that_is_gone_nothing_is_written_and_one_that_others_rest_on_stays(
    fact: Fact | None, is_possible: bool
) -> None:
    job = replace(JOB, lines=(replace(UPDATE, before=()),))
    facts = {} if fact is None else {"f-2": fact}
    assert undoing(job, "f-2", facts, NOW) == Undoing((), is_possible)
    (told,) = line_cards(job, facts, NOW, with_text=True)
    assert not told["can_undo"]
