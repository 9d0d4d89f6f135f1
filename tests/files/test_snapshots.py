"""A snapshot has the last messages of a conversation word for word; no message can look like another."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import snapshots
from proxy.files.lines import link_code, many_lines
from proxy.files.snapshots import LONGEST, MOST, SLUG, free, mark_of, parsed, rendered, slug, taken
from proxy.types import ArchivedTurn, Utterance
from tests.files.held import NOON, Held, talk
from tests.memory.indexed import link

FORGING = st.lists(
    st.sampled_from(
        [
            "\n",
            "**user**",
            " <!-- m:aaaa -->",
            "> ",
            "forgotten",
            "# a",
            "- session: x <!-- s:y -->",
            "\r",
            "\x0b",
            "b",
            "\ud800",
        ]
    )
).map("".join)
TURNS = st.lists(
    st.builds(
        lambda texts, number: talk(*texts, number=number),
        st.lists(st.text() | FORGING, min_size=1, max_size=3),
        st.integers(1, 9),
    ),
    max_size=4,
    unique_by=lambda turn: turn.number,
)
LIMA = (
    talk("Quiero viajar a Lima en mayo", "¿Con qué presupuesto?", number=1),
    talk("El presupuesto para Lima es de 900 dólares", "Buscá vuelos a Lima.", number=2, at=NOON + 60),
)


@pytest.mark.note("Capas/3", "Archivos/3")
def test_a_snapshot_is_a_text_that_a_person_reads() -> None:
    said = talk("Quiero viajar a Lima\nen mayo", "¿Con qué presupuesto?")
    codes = [link_code(each.link) for each in said.utterances]
    assert rendered(taken([said], "s-1", "idle")) == (
        "# Quiero, viajar, lima, mayo\n\n"
        f"- session: s-1 <!-- s:{mark_of('s-1')} -->\n"
        "- when: 2026-11-23 12:00 to 12:00 UTC\n"
        "- ended: idle\n\n"
        f"**user** <!-- m:{codes[0]} t:1 at:2026-11-23T12:00:00Z -->\n\n"
        "> Quiero viajar a Lima\n> en mayo\n\n"
        f"**assistant** <!-- m:{codes[1]} t:1 at:2026-11-23T12:00:00Z -->\n\n"
        "> ¿Con qué presupuesto?\n"
    )


@given(TURNS, st.text() | FORGING, st.text() | FORGING)
def test_a_snapshot_is_read_as_it_was_taken(turns: list[ArchivedTurn], session: str, why: str) -> None:
    snapshot = taken(turns, session, why)
    assert parsed(rendered(snapshot)) == snapshot


@given(TURNS)
def test_every_message_is_there_word_for_word(turns: list[ArchivedTurn]) -> None:
    said = [each for turn in turns for each in turn.utterances if each.text.strip()][-MOST:]
    read = parsed(rendered(taken(turns, "s", "idle"))).said
    assert [(each.role, each.text, each.link) for each in read] == [
        (each.role, "\n".join(many_lines(each.text)), each.link) for each in said
    ]


@pytest.mark.note("Snapshots/1")
def test_the_last_messages_are_taken_and_long_ones_cut() -> None:
    turns = [talk(f"question {number}", "x" * (LONGEST + number), number=number) for number in range(1, 11)]
    said = taken(turns, "s", "idle").said
    assert [each.turn for each in said] == [3, *(number for number in range(4, 11) for _ in range(2))]
    assert said[-1].text == "x" * LONGEST + " […]"


@given(TURNS, st.text())
def test_a_snapshot_is_read_with_the_name_that_a_model_has_given_it(turns: list[ArchivedTurn], said: str) -> None:
    snapshot = replace(taken(turns, "s", "idle"), called=snapshots.name_of(said))
    assert parsed(rendered(snapshot)) == snapshot


@given(st.binary(max_size=200))
def test_any_text_can_be_read(data: bytes) -> None:
    parsed(data.decode("latin-1"))


@pytest.mark.note("Snapshots/2")
@pytest.mark.parametrize(
    ("turns", "name"),
    [
        (LIMA, "2026-11-23-quiero-lima-presupuesto-dolares"),
        ([talk("Lima"), talk("Quito, o Lima", number=2)], "2026-11-23-lima-quito"),
        ([talk("Hola")], "2026-11-23"),
        ([talk("¿Qué?")], "2026-11-23"),
        ([talk("日本語の質問")], "2026-11-23"),
        ([talk("../../etc/passwd \x00 C:\\nul")], "2026-11-23-etc-passwd-nul"),
        ([talk("x" * 500 + " " + "abcdefghij" * 2 + " y")], "2026-11-23-abcdefghijabcdefghij"),
    ],
)
def test_a_slug_says_what_it_was_about(turns: list[ArchivedTurn], name: str) -> None:
    assert slug(taken(turns, "s", "idle")) == name


@given(TURNS)
def test_a_slug_is_a_name_for_any_file_system(turns: list[ArchivedTurn]) -> None:
    name = slug(taken(turns, "s", "idle"))
    assert len(name) <= SLUG
    assert all(mark.isascii() and (mark.isdigit() or mark.islower() or mark == "-") for mark in name)


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken_names = {"snapshots/a.md", "snapshots/a-2.md"}
    assert free("a", taken_names) == "snapshots/a-3.md"
    assert free("b", taken_names) == "snapshots/b.md"


# --- in a folder ------------------------------------------------------------------------------------------------------


def test_a_session_has_one_file_and_another_with_the_same_topic_has_its_own() -> None:
    files = Held()
    snapshots.write(files, taken(LIMA[:1], "s", "idle"))
    snapshots.write(files, taken(LIMA[:1], "t", "idle"))
    snapshots.write(files, taken([*LIMA, talk("Cambio de planes: vamos a Quito", number=3)], "s", "clear"))
    assert list(files) == [f"snapshots/2026-11-23-quiero-viajar-lima-mayo{end}.md" for end in ("", "-2")]
    assert files.sealed == set(files)
    assert files.older == []
    first, second = (parsed(data.decode()) for data in files.values())
    assert (first.session, first.why, len(first.said)) == ("s", "clear", 5)
    assert (second.session, len(second.said)) == ("t", 2)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("viaje-a-lima", "viaje-a-lima"),
        ("  Vuelos & hotel: ¡Perú!  ", "vuelos-hotel-peru"),
        ("../../etc/passwd\x00.md", "etc-passwd-md"),
        ("a" * 10_000_000, "a" * SLUG),
        ("旅行", ""),
        ("--", ""),
        ("", ""),
    ],
)
def test_a_name_that_a_model_gives_is_made_plain(said: str, name: str) -> None:
    assert snapshots.name_of(said) == name


def called(files: Held, name: str, session: str = "s") -> list[str]:
    snapshots.rename(files, mark_of(session), name)
    assert files.sealed >= set(files)
    return list(files)


def test_a_model_renames_the_snapshot_of_a_session_which_keeps_that_name() -> None:
    files = Held()
    snapshots.write(files, taken(LIMA[:1], "s", "idle"))
    before = dict(files)
    assert called(files, "peru", session="t") == list(before)
    assert called(files, "holidays-in-peru") == ["snapshots/2026-11-23-holidays-in-peru.md"]
    assert parsed(files.text()) == replace(taken(LIMA[:1], "s", "idle"), called="holidays-in-peru")
    snapshots.write(files, taken(LIMA, "s", "clear"))
    assert list(files) == ["snapshots/2026-11-23-holidays-in-peru.md"]
    assert parsed(files.text()) == replace(taken(LIMA, "s", "clear"), called="holidays-in-peru")
    once = dict(files)
    assert called(files, "holidays-in-peru") == list(once)
    assert files == once
    assert called(files, "two") == ["snapshots/2026-11-23-two.md"]
    assert files.older == []


def test_a_name_that_another_conversation_has_gets_a_number() -> None:
    files = Held({"snapshots/2026-11-23-peru.md": b"my own"})
    snapshots.write(files, taken(LIMA, "s", "idle"))
    names = ["snapshots/2026-11-23-peru.md", "snapshots/2026-11-23-peru-2.md"]
    files.sealed.add(names[0])
    assert called(files, "peru") == names
    assert called(files, "peru") == names
    assert files[names[0]] == b"my own"


def test_what_a_person_wrote_into_a_snapshot_stays_when_a_model_names_it_and_so_does_their_name_of_it() -> None:
    files = Held()
    snapshots.write(files, taken(LIMA[:1], "s", "idle"))
    (name,) = files
    head = b"- session: s <!-- s:" + mark_of("s").encode()
    edited = files[name].replace(b"\n", b"\r\n") + b"\r\nmy own remark\r\n"
    files[name] = edited
    (name,) = called(files, "peru")
    assert files[name] == edited.replace(head, head + b" n:peru")
    assert files.older == [edited]
    files["snapshots/my-trip.md"] = files.pop(name)
    files.sealed.add("snapshots/my-trip.md")
    assert called(files, "lima") == ["snapshots/my-trip.md"]


def test_of_a_snapshot_that_a_person_emptied_the_name_stays() -> None:
    files = Held({"snapshots/2026-11-23-lima.md": f"- session: s <!-- s:{mark_of('s')} -->".encode()})
    assert called(files, "peru") == ["snapshots/2026-11-23-lima.md"]


def test_what_a_person_wrote_into_a_snapshot_is_kept_when_it_is_replaced() -> None:
    files = Held()
    snapshots.write(files, taken(LIMA[:1], "s", "idle"))
    (name,) = files
    files[name] += b"\nmy own remark\n"
    edited = files[name]
    snapshots.write(files, taken(LIMA, "s", "idle"))
    assert files.older == [edited]


def test_a_conversation_without_words_has_none() -> None:
    files = Held()
    snapshots.write(
        files, taken([ArchivedTurn(link(1), b"", "s", 1, NOON, b"[]", (Utterance("user", " ", link(1)),))], "s", "idle")
    )
    assert files == {}


def test_a_name_that_tells_what_is_gone_is_changed() -> None:
    snapshot = taken(LIMA[:1], "s", "idle")
    gone = tuple(replace(said, text="", forgotten="olvidado") for said in snapshot.said)
    files = Held({"snapshots/2026-11-23-viajar-lima-mayo.md": rendered(replace(snapshot, said=gone)).encode()})
    snapshots.retitle(files, "snapshots/2026-11-23-viajar-lima-mayo.md")
    assert list(files) == ["snapshots/2026-11-23.md"]
    assert b"# Conversation" in files["snapshots/2026-11-23.md"]


def test_a_conversation_in_which_nothing_was_said_has_no_turns() -> None:
    assert list(snapshots.turns(())) == []
