"""The daily log tells once what was decided, stated, asked to be remembered and forgotten, a line each."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import journal
from proxy.files.journal import Event, Learnt, begun, events, extended, file_of, missing, parsed, rendered
from proxy.files.lines import link_code, one_line
from proxy.files.names import long_code
from proxy.types import Fact
from proxy.types.curation import Digest, DigestSpan, MemoryEvent
from tests.files.held import NOON, Held, stated
from tests.memory.indexed import link

LOG = "2026-11-23.md"
DAY = begun(LOG)
ANY = st.text(st.characters(exclude_categories=()), max_size=300)
EVENTS = st.builds(
    Event,
    st.sampled_from(["decided", "stated", "asked", "noted"]),
    st.integers(0, 1439).map(lambda minute: DAY + 60.0 * minute),
    ANY,
    st.integers(0, 9).map(lambda number: long_code(f"f-{number:016x}"))
    | st.integers(0, 9).map(lambda number: f"e-{number:016x}"),
    st.none() | st.binary(min_size=16, max_size=16),
)


@pytest.mark.note("Capas/2", "Flush/3")
@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (stated("We go with PostgreSQL", domain="decisions"), "- 12:00 decided: We go with PostgreSQL"),
        (stated("I live in Lima"), "- 12:00 stated: I live in Lima"),
        (stated("Answer me without emojis", pinned=True), "- 12:00 asked to remember: Answer me without emojis"),
        (stated("Vamos con Redis para eso", domain="decisions"), "- 12:00 decidido: Vamos con Redis para eso"),
        (stated("Vivo en la ciudad de Lima"), "- 12:00 dicho: Vivo en la ciudad de Lima"),
        (stated("Contestame siempre sin emojis", pinned=True), "- 12:00 a recordar: Contestame siempre sin emojis"),
        (replace(stated("Ana lives in Lima"), source="auto"), "- 12:00 noted: Ana lives in Lima"),
        (replace(stated("Ana vive en la ciudad de Lima"), source="auto", pinned=True),
         "- 12:00 anotado: Ana vive en la ciudad de Lima"),
        (stated("a\n- 13:00 decided: b <!-- o:x -->"), "- 12:00 stated: a - 13:00 decided: b \u2039!-- o:x --\u203a"),
    ],
)  # fmt: skip
def test_a_fact_has_a_line(fact: Fact, line: str) -> None:
    (event,) = events(Learnt((fact,), {}, NOON))
    assert rendered(event) == f"{line} <!-- o:{long_code(fact.id)} m:{link_code(fact.links[0])} -->"


OLD = stated("I live in Lima", 1)


@pytest.mark.note("Sync/4")
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, OLD, ["I live in Lima"]),
        (OLD, replace(OLD, last_confirmed_at=NOON + 1), []),
        (OLD, replace(OLD, superseded_by="f-2"), []),
        (OLD, replace(OLD, superseded_by=OLD.id), []),
        (replace(OLD, superseded_by="f-2"), OLD, ["I live in Lima"]),
        (None, replace(OLD, domain="self_correction"), []),
    ],
    ids=["new", "confirmed", "superseded", "deleted", "holds again", "an agent's own"],
)
def test_only_news_are_told(before: Fact | None, after: Fact, words: list[str]) -> None:
    known = {} if before is None else {before.id: before}
    assert [event.words for event in events(Learnt((after,), known, NOON))] == words


@given(EVENTS)
def test_a_line_gives_its_event_back(event: Event) -> None:
    assert parsed(rendered(event), DAY) == replace(event, words=one_line(event.words[: journal.LONGEST]))


@given(st.lists(EVENTS, min_size=1, max_size=5, unique_by=lambda event: event.code))
def test_no_words_forge_a_line(told: list[Event]) -> None:
    lines = extended("", told, DAY).split("\n")
    assert lines[:2] == ["# 2026-11-23", ""]
    assert lines[-1] == ""
    assert [event.code for line in lines[2:-1] if (event := parsed(line, DAY))] == [event.code for event in told]


@pytest.mark.note("Logs/1")
@given(st.lists(EVENTS, max_size=5), st.lists(EVENTS, max_size=5))
def test_what_is_told_is_not_told_again(first: list[Event], then: list[Event]) -> None:
    once = extended("", missing("", first, DAY), DAY)
    both = extended(once, missing(once, [*first, *then], DAY), DAY)
    assert both.startswith(once)
    assert missing(both, [*first, *then], DAY) == ()


def test_forgetting_has_a_line_without_words() -> None:
    (event,) = journal.forgotten([OLD.id], NOON, "Vivo en la ciudad de Lima")
    assert rendered(event) == f"- 12:00 olvidado <!-- o:{long_code(OLD.id)} -->"
    assert parsed(rendered(event), DAY) == replace(event, words="")


@pytest.mark.parametrize(
    "line",
    ["", "# 2026-11-23", "bought milk", "- 25:00 stated: a", "- 12:00 thought: b", "  - 12:00 stated: c",
     "* 12:00 stated: d", "- 12:00 noted: e", "- 12:00 digest: f", "- 12:00 digest: g <!-- d:day-2026-06-31 -->",
     "- 12:00 digest: h <!-- o:abcd -->"],
)  # fmt: skip
def test_other_lines_are_somebody_elses(line: str) -> None:
    assert parsed(line, DAY) is None


# --- what a model has noted -------------------------------------------------------------------------------------------

MOVED = MemoryEvent("e-0123456789abcdef", NOON + 120, "s", 3, "Ana has moved to Lima", link("3.0"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ana has moved to Lima", "noted: Ana has moved to Lima"),
        ("Ana se ha mudado a la ciudad de Lima", "anotado: Ana se ha mudado a la ciudad de Lima"),
        ("a\n- 13:00 stated: b <!-- o:x -->", "noted: a - 13:00 stated: b \u2039!-- o:x --\u203a"),
    ],
)
def test_an_event_has_a_line(text: str, said: str) -> None:
    (event,) = journal.noted([replace(MOVED, text=text)])
    line = f"- 12:02 {said} <!-- e:e-0123456789abcdef m:{link_code(link('3.0'))} -->"
    assert rendered(event) == line
    assert parsed(line, DAY) == replace(event, words=one_line(text))


@pytest.mark.parametrize(
    ("span", "name", "line"),
    [
        ("day", "2026-11-23.md", "- 23:59 digest: Ana moved. <!-- d:day-2026-11-23 -->"),
        ("week", "2026-11-29.md", "- 23:59 digest of the week: Ana moved. <!-- d:week-2026-11-23 -->"),
        ("hour", None, None),
    ],
)
def test_a_digest_is_in_the_log_of_its_last_day(span: DigestSpan, name: str | None, line: str | None) -> None:
    event = journal.of_digest(Digest(span, DAY, "Ana moved.", by_model=True))
    assert (event and file_of(event.at)) == name
    assert (event and rendered(event)) == line
    assert event is None or parsed(rendered(event), begun(file_of(event.at))) == event


@pytest.mark.parametrize(
    ("code", "days"),
    [
        ("day-2026-11-23", ("2026-11-23",)),
        ("week-2026-12-29", ("2026-12-29", "2026-12-30", "2026-12-31", *(f"2027-01-0{day}" for day in range(1, 5)))),
        ("hour-2026-11-23", ()),
        ("day-2026-06-31", ()),
        ("abcdefghijklm", ()),
        ("", ()),
    ],
)
def test_the_code_of_a_digest_names_its_days(code: str, days: tuple[str, ...]) -> None:
    assert journal.days_of(code) == days


def test_an_event_is_told_once_even_if_it_was_forgotten_since() -> None:
    files = Held()
    journal.write(files, journal.noted([MOVED, MOVED]))
    journal.write(files, journal.noted([MOVED]))
    assert files[LOG].count(b"noted") == 1
    files[LOG] = files[LOG].replace(b"noted: Ana has moved to Lima", b"forgotten")
    before = files[LOG]
    journal.write(files, journal.noted([MOVED]))
    assert files[LOG] == before


@pytest.mark.parametrize("before", ["digest: Nothing yet.", "digest: Ana moved.", "forgotten"])
def test_a_digest_takes_the_place_of_an_earlier_one(before: str) -> None:
    line, rest = "- 23:59 {} <!-- d:day-2026-11-23 -->", "- 08:00 bought milk\r\n"
    files = Held({LOG: f"# My day\r\n{line.format(before)}\r\n{rest}".encode()})
    whole = files[LOG]
    made = journal.of_digest(Digest("day", DAY, "Ana moved.", by_model=True))
    assert made is not None
    journal.retell(files, made)
    assert files[LOG].decode() == f"# My day\r\n{line.format('digest: Ana moved.')}\r\n{rest}"
    assert files.older == ([] if whole == files[LOG] else [whole])
    new = Held()
    journal.retell(new, made)
    assert new[LOG].decode() == f"# 2026-11-23\n\n{line.format('digest: Ana moved.')}\n"


@pytest.mark.note("Capas/2")
def test_each_day_has_a_file_in_utc() -> None:
    assert file_of(DAY) == "2026-11-23.md"
    assert file_of(DAY - 1) == "2026-11-22.md"
    with pytest.raises(ValueError, match="log"):
        begun("MEMORY.md")


@pytest.mark.note("Logs/2")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"# 2026-11-23\n\n"),
        (b"\xef\xbb\xbf# My day\r\nbought milk", b"\xef\xbb\xbf# My day\r\nbought milk\n"),
        (b"# My day\nel caf\xe9\n", b"# My day\nel caf\xe9\n"),
        ("# My day\n".encode("utf-16"), "# My day\n".encode("utf-16")),
    ],
)
def test_a_log_keeps_what_a_person_wrote(before: bytes, after: bytes) -> None:
    files = Held({"2026-11-23.md": before} if before else {})
    journal.write(files, events(Learnt((OLD,), {}, NOON)))
    data = files["2026-11-23.md"]
    assert data.startswith(after)
    encoding = "utf-16" if before.startswith(b"\xff\xfe") else "latin-1"
    assert "\n- 12:00 stated: I live in Lima <!-- " in data.decode(encoding)
    journal.write(files, events(Learnt((OLD,), {}, NOON + 60)))
    assert files["2026-11-23.md"] == data


def test_words_that_its_encoding_lacks_make_it_utf_8_and_the_older_text_is_kept() -> None:
    files = Held({"2026-11-23.md": b"el caf\xe9\n"})
    files.meanwhile = lambda: files.update({"2026-11-23.md": b"el caf\xe9 solo\n"})
    journal.write(files, events(Learnt((stated("I live in \u0141\u00f3d\u017a"),), {}, NOON)))
    assert (
        files["2026-11-23.md"].decode().startswith("el caf\u00e9 solo\n- 12:00 stated: I live in \u0141\u00f3d\u017a")
    )
    assert files.older == [b"el caf\xe9 solo\n"]


def test_an_event_of_yesterday_is_in_yesterdays_log() -> None:
    files = Held()
    told = [Event("stated", NOON - 86_400, "a", "aaaa", link("1")), Event("stated", NOON, "b", "bbbb", link("2"))]
    journal.write(files, told)
    assert {name: data.count(b"stated") for name, data in files.items()} == {"2026-11-22.md": 1, "2026-11-23.md": 1}
