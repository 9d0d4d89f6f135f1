"""Forgetting takes the words out of every file of a person's folder; each line keeps its place and its comment."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import journal, snapshots
from proxy.files.journal import Learnt, events, extended
from proxy.files.names import codes, long_code
from proxy.files.scrubbing import Gone, scrub, scrubbed
from proxy.files.snapshots import rendered, taken
from proxy.language.values import normal
from proxy.types.curation import Digest, MemoryEvent
from tests.files.held import NOON, Held, stated, talk
from tests.memory.indexed import link

DAY = journal.begun("2026-11-23.md")
TEA = stated("I drink green tea", 1)
LIMA = stated("Vivo en la ciudad de Lima", 2)
GONE = Gone(frozenset([TEA.id]), frozenset(TEA.links), frozenset([TEA.value]))
LOG = extended("", events(Learnt((TEA, LIMA), {}, NOON)), DAY)
SHORT = codes([TEA.id, LIMA.id])


@pytest.mark.note("Logs/2")
def test_a_log_line_keeps_its_place_its_time_and_its_comment() -> None:
    before, after = LOG.split("\n"), scrubbed(LOG, GONE).split("\n")
    assert [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [2]
    assert after[2] == before[2].replace("stated: I drink green tea", "forgotten")
    in_spanish = scrubbed(LOG, Gone(facts=frozenset([LIMA.id])))
    assert f"- 12:00 olvidado <!-- o:{long_code(LIMA.id)} m:" in in_spanish


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- I drink green tea", "- forgotten"),
        ("* 09:30 I DRINK, green   tea!", "* 09:30 forgotten"),
        ("  - note: I drink green tea daily", "  - forgotten"),
        (f"- no sugar <!-- o:{SHORT[TEA.id]} -->", f"- forgotten <!-- o:{SHORT[TEA.id]} -->"),
        (f"- no sugar <!-- o:{SHORT[LIMA.id]} -->", None),
        ("# I drink green tea", "# forgotten"),
        ("> I drink\n> green tea\n> daily", "> forgotten\n> forgotten\n> daily"),
        ("I drink\r\ngreen tea\r\nx", "forgotten\r\nforgotten\r\nx"),
        ("I drink\rgreen tea\rx", "forgotten\rforgotten\rx"),
        ("I drink black tea", None),
        ("forgotten", None),
        ("", None),
    ],
)
def test_any_other_line_with_the_words_is_meant(line: str, after: str | None) -> None:
    assert scrubbed(line, GONE) == (line if after is None else after)


@pytest.mark.parametrize(
    ("value", "line", "after"),
    [
        ("tea", "- steak, no tea", "- forgotten"),
        ("tea", "- steak", None),
        ("tea", "## tea", None),
        ("C++", "- c++ and c", "- forgotten"),
        ("C++", "- c and d", None),
        ("7", "- 7 of 17", "- forgotten"),
        ("7", "- 17:07 of 17", None),
        ("\N{WAVING HAND SIGN}", "- \N{WAVING HAND SIGN} hi", "- forgotten"),
        ("!!", "- hey!", None),
        ("PostgreSQL", "- postgresql-17", "- forgotten"),
        ("está acá", "- ESTA ACA", "- olvidado"),
    ],
)
def test_a_short_value_is_meant_only_where_it_stands_alone(value: str, line: str, after: str | None) -> None:
    assert scrubbed(line, Gone(values=frozenset([value]))) == (line if after is None else after)


def test_a_turn_of_a_snapshot_goes_by_the_link_of_one_message() -> None:
    turns = [talk("one", "yes one", number=1), talk("two", "yes two", "more", number=2), talk("three", number=3)]
    snapshot = taken(turns, "s", "idle")
    after = snapshots.parsed(scrubbed(rendered(snapshot), Gone(links=frozenset([link("2.1")]))))
    assert [each.text or each.forgotten for each in after.said] == [
        "one", "yes one", "forgotten", "forgotten", "forgotten", "three",
    ]  # fmt: skip
    assert [each.link for each in after.said] == [each.link for each in snapshot.said]


WORD = st.text(st.sampled_from("abcdeñé"), min_size=1, max_size=6)
VALUE = st.lists(WORD, min_size=2, max_size=5).map(" ".join).filter(lambda value: len(normal(value)) >= 8)
AROUND = st.text(st.sampled_from("ab \n.,-#>*é<!"), max_size=20)


def said(value: str) -> st.SearchStrategy[str]:
    """The value in other marks and cases, across lines."""
    between = st.sampled_from([" ", "\n", ", ", "  ", "\n> ", "-"])
    words = value.split(" ")
    return st.tuples(AROUND, st.lists(between, min_size=len(words), max_size=len(words)), st.booleans(), AROUND).map(
        lambda how: (
            f"{how[0]} {''.join(word + gap for word, gap in zip(words[:-1], how[1], strict=False))}"
            f"{words[-1].upper() if how[2] else words[-1]} {how[3]}"
        )
    )


TOLD = VALUE.flatmap(lambda value: st.tuples(st.just(value), st.lists(said(value), min_size=1, max_size=3)))


@given(TOLD, st.text(max_size=30))
def test_nothing_of_a_value_is_left_in_any_file(told: tuple[str, list[str]], other: str) -> None:
    value, texts = told
    fact = stated(value, 3)
    snapshot = rendered(taken([talk(text, "ok", number=at) for at, text in enumerate([*texts, other], 1)], "s", "idle"))
    files = Held(
        {
            "2026-11-23.md": extended("\n".join(texts), events(Learnt((fact,), {}, NOON)), DAY).encode(),
            "snapshots/2026-11-23-a.md": snapshot.encode(),
            ".history/000001-20261123T120000-MEMORY.md": f"# Memory\n- {texts[0]}\n".encode("utf-16"),
            ".aside/1.000000/MEMORY.md": f"- {value}".encode(),
        }
    )
    gone = Gone(frozenset([fact.id]), frozenset(), frozenset([value]))
    scrub(files, gone)
    for data in files.values():
        text = data.decode("utf-16" if data.startswith(b"\xff\xfe") else "utf-8")
        assert f" {normal(value)} " not in f" {normal(text)} "
        assert value not in text
    assert files.older == []
    once = dict(files)
    scrub(files, gone)
    assert files == once


# --- what a model has noted -------------------------------------------------------------------------------------------

DAYS = ("2026-11-22", "2026-11-23", "2026-11-24", "2026-11-29")
HOT = MemoryEvent("e-0123456789abcdef", NOON, "s", 1, "Someone prefers a hot drink", link("m1"))


def noted(event: MemoryEvent = HOT) -> Held:
    """The logs of some days, with an event of the second, a digest of each and one of the week that ends last."""
    files = Held()
    journal.write(files, journal.noted([event]))
    for day in DAYS:
        at = journal.begun(f"{day}.md")
        made = [Digest("day", at, f"This was the day to {day}.", by_model=True)]
        if day == DAYS[-1]:
            made.append(Digest("week", at - 6 * 86_400, f"This was the week to {day}.", by_model=True))
        for told in filter(None, map(journal.of_digest, made)):
            journal.retell(files, told)
    return files


def digests(files: Held) -> list[str]:
    return [f"{span} {day}" for day in DAYS for span in ("day", "week") if f"the {span} to {day}" in files.text()]


EVERY = ["day 2026-11-22", "day 2026-11-23", "day 2026-11-24", "day 2026-11-29", "week 2026-11-29"]
REST = ["day 2026-11-22", "day 2026-11-24", "day 2026-11-29"]


@pytest.mark.parametrize(
    ("gone", "is_noted", "left"),
    [
        (Gone(links=frozenset([link("m1")])), False, REST),
        (Gone(values=frozenset(["a hot drink"])), False, REST),
        (Gone(links=frozenset([link("m2")]), values=frozenset(["coffee"])), True, EVERY),
        (
            Gone(values=frozenset(["the day to 2026-11-24"])),
            True,
            ["day 2026-11-22", "day 2026-11-23", "day 2026-11-29"],
        ),
    ],
    ids=["its message", "its words", "something else", "words of a digest"],
)
def test_a_digest_goes_with_anything_of_its_days(gone: Gone, left: list[str], *, is_noted: bool) -> None:
    files = noted()
    assert digests(files) == EVERY
    scrub(files, gone)
    assert (HOT.text in files.text(), digests(files)) == (is_noted, left)
    once = dict(files)
    scrub(files, gone)
    assert files == once


def test_a_digest_keeps_its_place_and_goes_too_where_its_day_is_in_a_snapshot_or_an_older_text() -> None:
    for name, text in (
        ("snapshots/2026-11-23-a.md", rendered(taken([talk("one", "two", number=1)], "s", "idle"))),
        (".history/000001-20261123T120000-2026-11-23.md", extended("", journal.noted([HOT]), DAY)),
    ):
        files = noted(replace(HOT, link=link("other"), text="other"))
        files[name] = text.encode()
        scrub(files, Gone(links=frozenset([link("1.0"), link("m1")])))
        assert digests(files) == REST
        assert b"- 23:59 forgotten <!-- d:day-2026-11-23 -->\n" in files["2026-11-23.md"]


def test_what_a_model_calls_a_conversation_goes_with_one_of_its_turns_or_if_it_says_what_is_gone() -> None:
    name = "snapshots/2026-11-23-hot-drinks.md"
    snapshot = replace(taken([talk("green tea"), talk("roses", number=2)], "s", "idle"), called="hot-drinks")
    for gone, left in (
        (Gone(links=frozenset([link("1.0")])), "snapshots/2026-11-23-roses.md"),
        (Gone(values=frozenset(["hot drinks"])), "snapshots/2026-11-23-green-tea-roses.md"),
        (Gone(values=frozenset(["coffee"])), name),
    ):
        files = Held({name: rendered(snapshot).encode()})
        scrub(files, gone)
        assert list(files) == [left]
        assert (b"n:hot-drinks" in files[left]) == (left == name)


def test_in_memory_itself_words_go_from_what_is_no_fact() -> None:
    lines = (
        "- I like tea a lot <!-- o:aaaa -->",
        "- I like tea",
        "1. I like tea",
        "```",
        "- I like tea",
        "```",
        "Note: I like tea, really",
    )
    files = Held({"MEMORY.md": "\r\n".join(lines).encode()})
    scrub(files, Gone(values=frozenset({"I like tea"})))
    (fact, other, *notes) = [
        line for line in files["MEMORY.md"].decode().splitlines() if "tea" in line or "forgotten" in line
    ]
    assert (fact, other) == ("- I like tea a lot <!-- o:aaaa -->", "- forgotten")
    assert notes == ["1. forgotten", "- forgotten", "forgotten"]


def test_of_memory_itself_other_facts_keep_their_words_and_one_ailing_file_keeps_no_other() -> None:
    told = b"- I drink green tea\n- I drink green tea and coffee <!-- o:zzzz -->\n"
    files = Held({"MEMORY.md": told, "2026-11-22.md": b"x", "2026-11-23.md": LOG.encode()})
    read = files.read

    def failing(name: str) -> bytes | None:
        if name == "2026-11-22.md":
            raise OSError("ails")
        return read(name)

    files.read = failing  # type: ignore[method-assign]  # of one file alone
    with pytest.raises(OSError, match="ails"):
        scrub(files, GONE)
    assert files["MEMORY.md"] == b"- forgotten\n- I drink green tea and coffee <!-- o:zzzz -->\n"
    assert b"green tea" not in files["2026-11-23.md"]


@given(st.text())
def test_nothing_is_changed_where_nothing_is_meant(text: str) -> None:
    assert scrubbed(text, Gone()) == text
    assert scrubbed(text, Gone(frozenset([TEA.id]), frozenset([link(1)]))) == text


def test_what_is_gone_adds_up() -> None:
    assert not Gone()
    both = Gone(facts=frozenset("a")) | Gone(links=frozenset([b"b"]), values=frozenset("c"))
    assert both == Gone(frozenset("a"), frozenset([b"b"]), frozenset("c"))
    assert both | Gone(days=frozenset("d")) == replace(both, days=frozenset("d"))
    assert [bool(Gone(values=frozenset(each))) for each in ("", "c")] == [False, True]
    assert list(pairwise([both])) == []
