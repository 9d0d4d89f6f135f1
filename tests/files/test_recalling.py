"""Today's and yesterday's logs and all snapshots are recalled, as far as nothing else has them."""

import pytest

from proxy.files import journal
from proxy.files.journal import Learnt, events, extended
from proxy.files.recalling import MOST_MESSAGES, gone, names, remembered
from proxy.files.scrubbing import Gone, scrubbed
from proxy.files.snapshots import rendered, taken
from proxy.memory.commands import mark
from proxy.types import ArchivedTurn
from proxy.types.curation import Digest, MemoryEvent
from tests.files.held import NOON, stated, talk
from tests.memory.indexed import link

DAY = journal.begun("2026-11-23.md")
TEA, LIMA = stated("I drink green tea", 1), stated("I live in Lima", 2)
LOG = extended("", events(Learnt((TEA, LIMA), {}, NOON)), DAY)
TALK = [talk("Where is Lima?", "In Peru.", number=4), talk("And Quito?", "In Ecuador.", number=5, at=NOON + 60)]
SNAPSHOT = rendered(taken(TALK, "s-7", "idle"))


def nothing(_link: bytes) -> bool:
    return False


def said(turns: tuple[ArchivedTurn, ...]) -> list[str]:
    return [each.text for turn in turns for each in turn.utterances]


def test_a_log_line_is_a_turn_of_its_day() -> None:
    first, second = remembered({"2026-11-23.md": LOG}, "a/b", nothing, NOON)
    assert said((first, second)) == ["I drink green tea", "I live in Lima"]
    assert (first.session, first.at, first.messages) == ("log-2026-11-23", NOON, b"")
    assert first.link == first.utterances[0].link != second.link
    assert len(first.link) == 16


@pytest.mark.parametrize(
    ("has", "left"),
    [
        ({link("m1")}, ["I live in Lima"]),
        ({mark("I live in Lima")}, ["I drink green tea"]),
        ({link("m1"), link("m2")}, []),
    ],
    ids=["its message is known", "its value was forgotten", "all are"],
)
def test_a_line_that_is_known_is_not_recalled(has: set[bytes], left: list[str]) -> None:
    assert said(remembered({"2026-11-23.md": LOG}, "a/b", has.__contains__, NOON)) == left


MOVED = MemoryEvent("e-0123456789abcdef", NOON + 60, "s", 3, "Ana has moved to Lima", link("3.0"))
DIGESTS = [Digest("day", DAY, "Ana moved.", by_model=True), Digest("week", DAY - 6 * 86_400, "A week.", by_model=True)]


@pytest.mark.parametrize(
    ("has", "left"),
    [
        (set(), [("assistant", "Ana has moved to Lima", NOON + 60)]),
        ({link("3.0")}, []),
        ({mark("Ana has moved to Lima")}, []),
    ],
    ids=["nobody has its message", "its message is known, or forgotten", "its value was forgotten"],
)
def test_what_a_model_has_noted_is_nobodys_words_and_its_digests_are_not_recalled(
    has: set[bytes], left: list[tuple[str, str, float]]
) -> None:
    told = [each for digest in DIGESTS if (each := journal.of_digest(digest))]
    log = extended("", [*journal.noted([MOVED]), *told], DAY) + "bought milk\n"
    turns = remembered({"2026-11-23.md": log}, "a/b", has.__contains__, NOON)
    found = [(each.role, each.text, turn.at) for turn in turns for each in turn.utterances]
    assert found == [*left, ("user", "bought milk", NOON + 60)]


def test_words_of_a_model_that_were_forgotten_are_found_by_their_message_or_as_the_value_that_they_are() -> None:
    told = [each for digest in DIGESTS if (each := journal.of_digest(digest))]
    files = {"2026-11-23.md": extended("", [*journal.noted([MOVED]), *told], DAY)}
    known = {link("3.0"), mark("Ana moved.")}
    assert gone(files, known.__contains__) == Gone(links=frozenset({link("3.0")}), values=frozenset({"Ana moved."}))


@pytest.mark.parametrize(
    ("line", "words", "at"),
    [
        ("bought milk", "bought milk", DAY),
        ("- 09:30 bought milk", "bought milk", DAY + 34_200),
        ("  * bought milk <!-- o:abcd -->", "bought milk", DAY),
        ("1. bought\tmilk\r", "bought milk", DAY),
        ("# A good day", None, 0),
        ("---", None, 0),
        ("<!-- my own -->", None, 0),
        ("- forgotten", None, 0),
        ("- 12:00 forgotten <!-- o:abcdefghijklm -->", None, 0),
        ("", None, 0),
    ],
)
def test_a_line_that_a_person_wrote_is_recalled(line: str, words: str | None, at: float) -> None:
    turns = remembered({"2026-11-23.md": f"# 2026-11-23\n{line}\n"}, "a/b", nothing, NOON)
    assert [(each.at, each.utterances[0].text) for each in turns] == ([] if words is None else [(at, words)])


def test_a_line_has_another_link_in_another_scope_or_file_and_when_it_is_changed() -> None:
    files = [
        ("a/b", "2026-11-23.md", "x"),
        ("a/c", "2026-11-23.md", "x"),
        ("a/b", "2026-11-22.md", "x"),
        ("a/b", "2026-11-23.md", "y"),
    ]
    links = [remembered({name: text}, scope, nothing, NOON)[0].link for scope, name, text in files]
    assert len(set(links)) == len(files)
    moved = remembered({"2026-11-23.md": "z\nx"}, "a/b", nothing, NOON)
    assert moved[1].link == links[0]


@pytest.mark.note("Snapshots/3")
def test_the_turns_of_a_snapshot_have_the_links_of_their_messages() -> None:
    first, second = remembered({"snapshots/a.md": SNAPSHOT}, "a/b", nothing, NOON)
    assert (first.session, first.number, first.at, first.link) == ("s-7", 4, NOON, link("4.1"))
    assert [(each.role, each.text, each.link) for each in second.utterances] == [
        ("user", "And Quito?", link("5.0")),
        ("assistant", "In Ecuador.", link("5.1")),
    ]


@pytest.mark.note("Logs/3", "Rumi ADR/4")
def test_messages_that_the_archive_has_and_forgotten_ones_are_not_recalled() -> None:
    assert said(remembered({"snapshots/a.md": SNAPSHOT}, "a/b", {link("5.0"), link("4.1")}.__contains__, NOON)) == [
        "Where is Lima?", "In Ecuador.",
    ]  # fmt: skip
    left = scrubbed(SNAPSHOT, Gone(links=frozenset([link("4.0")])))
    assert said(remembered({"snapshots/a.md": left}, "a/b", nothing, NOON)) == ["And Quito?", "In Ecuador."]


def test_a_message_in_two_snapshots_is_recalled_once() -> None:
    later = rendered(taken([*TALK, talk("Thanks", number=6)], "s-8", "idle"))
    files = {"snapshots/a.md": SNAPSHOT, "snapshots/b.md": later}
    assert sorted(said(remembered(files, "a/b", nothing, NOON))) == sorted(
        ["Where is Lima?", "In Peru.", "And Quito?", "In Ecuador.", "Thanks"]
    )


@pytest.mark.note("Logs/3", "Decisiones/1")
def test_only_the_logs_of_two_days_count_and_new_snapshots_come_first() -> None:
    every = [
        "2026-11-20.md",
        "2026-11-22.md",
        "2026-11-23.md",
        "2026-11-24.md",
        "snapshots/2026-01-02-a.md",
        "snapshots/2026-11-02-a.md",
    ]
    assert names(every, NOON) == [
        "2026-11-23.md",
        "2026-11-22.md",
        "snapshots/2026-11-02-a.md",
        "snapshots/2026-01-02-a.md",
    ]


def test_the_number_of_messages_is_bounded() -> None:
    log = "\n".join(f"line {number}" for number in range(MOST_MESSAGES + 10))
    assert len(remembered({"2026-11-23.md": log}, "a/b", nothing, NOON)) == MOST_MESSAGES


def test_a_snapshot_that_a_person_broke_is_read_as_far_as_it_goes() -> None:
    broken = SNAPSHOT.replace("s-7", "").split("\n", 3)[3].replace("m:", "n:")
    turns = remembered({"snapshots/a.md": broken}, "a/b", nothing, NOON)
    assert said(turns) == ["Where is Lima?", "In Peru.", "And Quito?", "In Ecuador."]
    assert len({each.link for turn in turns for each in turn.utterances}) == 4
