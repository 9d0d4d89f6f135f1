"""A session has one snapshot in a folder, whoever names it."""

from dataclasses import replace

from proxy.files import snapshot_files
from proxy.files.snapshot_files import free
from proxy.files.snapshots import mark_of, parsed, rendered, taken
from proxy.types import ArchivedTurn, Utterance
from tests.files.held import NOON, Held, talk
from tests.memory.indexed import link

LIMA = (
    talk("Quiero viajar a Lima en mayo", "¿Con qué presupuesto?", number=1),
    talk("El presupuesto para Lima es de 900 dólares", "Buscá vuelos a Lima.", number=2, at=NOON + 60),
)


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken_names = {"snapshots/a.md", "snapshots/a-2.md"}
    assert free("a", taken_names) == "snapshots/a-3.md"
    assert free("b", taken_names) == "snapshots/b.md"


def test_a_session_has_one_file_and_another_with_the_same_topic_has_its_own() -> None:
    files = Held()
    snapshot_files.write(files, taken(LIMA[:1], "s", "idle"))
    snapshot_files.write(files, taken(LIMA[:1], "t", "idle"))
    snapshot_files.write(files, taken([*LIMA, talk("Cambio de planes: vamos a Quito", number=3)], "s", "clear"))
    assert list(files) == [f"snapshots/2026-11-23-quiero-viajar-lima-mayo{end}.md" for end in ("", "-2")]
    assert files.sealed == set(files)
    assert files.older == []
    first, second = (parsed(data.decode()) for data in files.values())
    assert (first.session, first.why, len(first.said)) == ("s", "clear", 5)
    assert (second.session, len(second.said)) == ("t", 2)


def called(files: Held, name: str, session: str = "s") -> list[str]:
    snapshot_files.rename(files, mark_of(session), name)
    assert files.sealed >= set(files)
    return list(files)


def test_a_model_renames_the_snapshot_of_a_session_which_keeps_that_name() -> None:
    files = Held()
    snapshot_files.write(files, taken(LIMA[:1], "s", "idle"))
    before = dict(files)
    assert called(files, "peru", session="t") == list(before)
    assert called(files, "holidays-in-peru") == ["snapshots/2026-11-23-holidays-in-peru.md"]
    assert parsed(files.text()) == replace(taken(LIMA[:1], "s", "idle"), called="holidays-in-peru")
    snapshot_files.write(files, taken(LIMA, "s", "clear"))
    assert list(files) == ["snapshots/2026-11-23-holidays-in-peru.md"]
    assert parsed(files.text()) == replace(taken(LIMA, "s", "clear"), called="holidays-in-peru")
    once = dict(files)
    assert called(files, "holidays-in-peru") == list(once)
    assert files == once
    assert called(files, "two") == ["snapshots/2026-11-23-two.md"]
    assert files.older == []


def test_a_name_that_another_conversation_has_gets_a_number() -> None:
    files = Held({"snapshots/2026-11-23-peru.md": b"my own"})
    snapshot_files.write(files, taken(LIMA, "s", "idle"))
    names = ["snapshots/2026-11-23-peru.md", "snapshots/2026-11-23-peru-2.md"]
    files.sealed.add(names[0])
    assert called(files, "peru") == names
    assert called(files, "peru") == names
    assert files[names[0]] == b"my own"


def test_what_a_person_wrote_into_a_snapshot_stays_when_a_model_names_it_and_so_does_their_name_of_it() -> None:
    files = Held()
    snapshot_files.write(files, taken(LIMA[:1], "s", "idle"))
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
    snapshot_files.write(files, taken(LIMA[:1], "s", "idle"))
    (name,) = files
    files[name] += b"\nmy own remark\n"
    edited = files[name]
    snapshot_files.write(files, taken(LIMA, "s", "idle"))
    assert files.older == [edited]


def test_a_conversation_without_words_has_none() -> None:
    files = Held()
    snapshot_files.write(
        files, taken([ArchivedTurn(link(1), b"", "s", 1, NOON, b"[]", (Utterance("user", " ", link(1)),))], "s", "idle")
    )
    assert files == {}


def test_a_name_that_tells_what_is_gone_is_changed() -> None:
    snapshot = taken(LIMA[:1], "s", "idle")
    gone = tuple(replace(said, text="", forgotten="olvidado") for said in snapshot.said)
    files = Held({"snapshots/2026-11-23-viajar-lima-mayo.md": rendered(replace(snapshot, said=gone)).encode()})
    snapshot_files.retitle(files, "snapshots/2026-11-23-viajar-lima-mayo.md")
    assert list(files) == ["snapshots/2026-11-23.md"]
    assert b"# Conversation" in files["snapshots/2026-11-23.md"]
