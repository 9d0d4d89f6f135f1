"""What a person changes by hand, what is brought in from elsewhere, and what is shown."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.memory import Memory
from proxy.memory.edits import (
    LATEST,
    WIDEST,
    Draft,
    Edit,
    Edited,
    History,
    Malformed,
    add,
    card,
    confirm,
    count,
    decay,
    delete,
    dumped,
    edit,
    history,
    loaded,
    merge,
    moment,
    newest_first,
    plain,
    renamed,
    restore,
    table,
    word,
)
from proxy.memory.facts import Decay
from proxy.types import SELF_CORRECTION, Fact
from tests.builders import NOW, TENANT

SCOPE = f"{TENANT}/ana"
DAY = 86_400.0


def fact(number: int = 1, **differing: Any) -> Fact:
    made = Fact(f"f-{number:016x}", "personal", "ciudad", "vivo en Rosario", "medium", "explicit", "s", 3, NOW, NOW)
    return replace(made, **differing)


def applied(facts: list[Fact], rows: tuple[Fact, ...]) -> list[Fact]:
    return list({each.id: each for each in [*facts, *rows]}.values())


# --- adding and changing ---------------------------------------------------------------------------------------------


def test_what_is_added_is_explicit_of_no_turn_and_new() -> None:
    made = add([], Draft(" Personal ", "Mi  Ciudad", " vivo en Salta\n", "low", pinned=True), scope=SCOPE, now=NOW)
    assert made.rows == (made.fact,)
    assert made.fact == Fact(
        made.fact.id, "personal", "mi-ciudad", "vivo en Salta", "low", "explicit", "", 0, NOW, NOW, pinned=True
    )


def test_another_value_of_the_key_takes_the_place_of_the_old_one() -> None:
    old, other = fact(), fact(2, key="perro", value="tengo un perro")
    elsewhere = fact(3, domain="work")
    made = add([old, other, elsewhere], Draft("personal", "ciudad", "vivo en Salta"), scope=SCOPE, now=NOW + 5)
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


@pytest.mark.note("Rumi Fact/3")
def test_the_same_value_again_confirms_it() -> None:
    old = fact()
    made = add([old], Draft("personal", "ciudad", old.value, "high", pinned=True), scope=SCOPE, now=NOW + 5)
    assert made.rows == (replace(old, confidence="high", pinned=True, last_confirmed_at=NOW + 5),)


def test_a_fact_under_another_key_that_says_the_same_is_confirmed() -> None:
    old = fact(value="vivo en Rosario")
    made = add([old], Draft("personal", "residencia", "Reside en Rosario", "high"), scope=SCOPE, now=NOW + 5)
    assert made.fact == replace(old, confidence="high", last_confirmed_at=NOW + 5)
    assert made.rows == (made.fact,)


def test_a_models_fact_that_says_the_same_gives_way_to_what_is_said_now() -> None:
    old = replace(fact(value="Reside en Rosario"), source="auto")
    made = add([old], Draft("personal", "casa", "vivo en Rosario"), scope=SCOPE, now=NOW + 5)
    assert (made.fact.value, made.fact.key) == ("vivo en Rosario", old.key)
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


@pytest.mark.parametrize("value", ["Rosario", "nació en Rosario", "mi hermana vive en Rosario"])
def test_what_only_resembles_a_fact_under_another_key_is_added(value: str) -> None:
    made = add([fact(value="vivo en Rosario")], Draft("personal", "otra", value), scope=SCOPE, now=NOW + 5)
    assert (made.fact.key, made.fact.value) == ("otra", value)


def test_an_edited_text_is_taken_as_it_is_written() -> None:
    old = fact(value="vivo en Rosario")
    made = edit([old], old, Edit(value="Reside en Rosario"), scope=SCOPE, now=NOW + 5)
    assert made.fact.value == "Reside en Rosario"


def test_of_two_merged_facts_that_say_the_same_the_later_confirmed_stays() -> None:
    mine, theirs = fact(value="vivo en Rosario"), fact(2, key="casa", value="Reside en Rosario")
    theirs = replace(theirs, last_confirmed_at=NOW + 9)
    rows = merge([mine], [theirs])
    known = applied([mine], rows)
    assert [each.id for each in known if each.superseded_by is None] == [theirs.id]
    assert merge(known, [theirs]) == ()
    assert merge(known, [mine]) == ()


def test_the_same_fact_of_two_people_has_two_ids() -> None:
    draft = Draft("personal", "ciudad", "vivo en Salta")
    assert add([], draft, scope=SCOPE, now=NOW).fact.id != add([], draft, scope=f"{TENANT}/beto", now=NOW).fact.id


@pytest.mark.parametrize(
    ("wanted", "differing"),
    [
        (Edit(confidence="high"), {"confidence": "high"}),
        (Edit(pinned=True), {"pinned": True}),
        (Edit(domain="Hogar"), {"domain": "hogar"}),
        (Edit(key="Mi casa"), {"key": "mi-casa"}),
        (Edit(value=" vivo en Rosario ", confidence="low"), {"confidence": "low"}),
        (Edit(confirm=True), {"last_confirmed_at": NOW + 5}),
        (Edit(confirm=True, pinned=True), {"last_confirmed_at": NOW + 5, "pinned": True}),
    ],
)
def test_whatever_leaves_the_value_alone_changes_the_fact_itself(wanted: Edit, differing: dict[str, Any]) -> None:
    old = fact()
    made = edit([old], old, wanted, scope=SCOPE, now=NOW + 5)
    assert made.fact == replace(old, **differing)
    assert made.rows == (made.fact,)


@pytest.mark.parametrize("wanted", [Edit(), Edit(value="vivo en Rosario"), Edit(confidence="medium", pinned=False)])
def test_a_change_to_what_it_is_already_is_none(wanted: Edit) -> None:
    assert edit([fact()], fact(), wanted, scope=SCOPE, now=NOW + 5).rows == ()


def test_an_edited_value_is_a_new_fact_in_place_of_the_old_one() -> None:
    old = fact(pinned=True, links=(b"l",))
    made = edit([old], old, Edit(value="vivo en Salta"), scope=SCOPE, now=NOW + 5)
    assert (made.fact.value, made.fact.key, made.fact.pinned) == ("vivo en Salta", old.key, True)
    assert (made.fact.turn, made.fact.session, made.fact.links) == (0, "", ())
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


def test_a_fact_that_is_given_another_key_leaves_one_value_of_each() -> None:
    old, rival = fact(), fact(2, key="casa", value="vivo en Salta")
    for wanted in (Edit(key="casa"), Edit(key="casa", value="vivo en Jujuy"), Edit(key="casa", value=rival.value)):
        made = edit([old, rival], old, wanted, scope=SCOPE, now=NOW + 5)
        current = [each for each in applied([old, rival], made.rows) if each.superseded_by is None]
        assert current == [made.fact]


def test_a_value_that_is_changed_back_is_a_third_fact() -> None:
    first = add([], Draft("personal", "ciudad", "Rosario"), scope=SCOPE, now=NOW)
    second = edit([first.fact], first.fact, Edit(value="Salta"), scope=SCOPE, now=NOW)
    known = applied([first.fact], second.rows)
    third = edit(known, second.fact, Edit(value="Rosario"), scope=SCOPE, now=NOW)
    assert len({first.fact.id, second.fact.id, third.fact.id}) == 3
    known = applied(known, third.rows)
    past = history(known, third.fact)
    assert ([each.value for each in past.before], past.after) == (["Rosario", "Salta"], ())
    past = history(known, next(each for each in known if each.id == first.fact.id))
    assert (past.before, [each.value for each in past.after]) == ((), ["Salta", "Rosario"])


def test_confirming_never_makes_a_fact_older() -> None:
    assert confirm(fact(), NOW + 5).last_confirmed_at == NOW + 5
    assert confirm(fact(), NOW - 5) == fact()


def test_a_history_that_was_forgotten_in_part_or_runs_in_a_circle_ends() -> None:
    orphan = fact(1, superseded_by=fact(9).id)
    assert history([orphan], orphan).after == ()
    one, two = fact(1, superseded_by=fact(2).id), fact(2, superseded_by=fact(1).id)
    past = history([one, two], one)
    assert (past.before, past.after) == ((two,), ())


@pytest.mark.note("Rumi Fact/2")
def test_the_source_is_that_of_the_value() -> None:
    made = add([], Draft("personal", "ciudad", "vivo en Salta"), scope=SCOPE, now=NOW, source="file")
    assert made.fact.source == "file"
    same = edit([made.fact], made.fact, Edit(key="casa", pinned=True), scope=SCOPE, now=NOW, source="api")
    assert same.fact.source == "file"
    other = edit([made.fact], made.fact, Edit(value="vivo en Jujuy"), scope=SCOPE, now=NOW, source="api")
    assert other.fact.source == "api"


def test_a_domain_may_have_an_underscore() -> None:
    made = add([], Draft("Self_Correction", "tests", "run them first"), scope=SCOPE, now=NOW)
    assert made.fact.domain == SELF_CORRECTION


# --- deleting and restoring -------------------------------------------------------------------------------------------


def test_a_deleted_fact_is_history_and_nothing_took_its_place() -> None:
    old = fact(doubted_by=fact(3).id)
    gone = delete(old, NOW + 5)
    assert gone == replace(old, superseded_by=old.id, superseded_at=NOW + 5, doubted_by=None)
    assert (gone.is_deleted, old.is_deleted) == (True, False)
    before = fact(2, superseded_by=gone.id)
    assert history([before, gone], gone) == History((before,), ())
    assert history([before, gone], before) == History((), (gone,))
    assert delete(before, NOW + 5) == before
    assert delete(gone, NOW + 9) == gone


def test_a_deleted_fact_holds_again_and_takes_the_place_of_what_holds_since() -> None:
    gone, since = delete(fact(), NOW + 1), fact(2, value="vivo en Salta")
    other = fact(3, key="perro")
    made = restore([gone, since, other], gone, NOW + 5)
    assert made.fact == fact(last_confirmed_at=NOW + 5)
    assert made.rows == (made.fact, replace(since, superseded_by=gone.id, superseded_at=NOW + 5))
    assert restore([made.fact], made.fact, NOW + 9) == Edited(made.fact, ())


def test_a_superseded_fact_holds_again_and_its_history_has_no_circle() -> None:
    one, two = fact(1, superseded_by=fact(2).id), fact(2, superseded_by=fact(3).id)
    known = [one, two, fact(3)]
    known = applied(known, restore(known, one, NOW + 5).rows)
    (holds,) = [each for each in known if each.superseded_by is None]
    assert holds.id == one.id
    past = history(known, holds)
    assert ({each.id for each in past.before}, past.after) == ({fact(2).id, fact(3).id}, ())


numbers, times = st.integers(1, 6), st.integers(0, 5).map(float)
ends: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.builds(
    lambda by, at: {"superseded_by": fact(by).id, "superseded_at": at}, numbers, times
)
facts_of_few_keys = st.builds(
    lambda number, key, at, end: fact(number, key=key, last_confirmed_at=at, **end),
    numbers,
    st.sampled_from("ab"),
    times,
    ends,
)
facts_of_one_person = st.lists(facts_of_few_keys, min_size=1, max_size=8, unique_by=lambda each: each.id)


@given(facts_of_one_person, st.data())
def test_what_is_deleted_and_restored_is_what_it_was_but_for_its_confirmation(
    facts: list[Fact], data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(facts))
    gone = delete(old, NOW)
    assert gone.superseded_by is not None
    known = applied(facts, (gone,))
    made = restore(known, gone, NOW + 1)
    assert made.fact == replace(old, superseded_by=None, superseded_at=0.0, last_confirmed_at=NOW + 1)
    known = applied(known, made.rows)
    holding = [each for each in known if each.superseded_by is None and each.key == old.key]
    assert holding == [made.fact]
    past = history(known, made.fact)
    assert made.fact not in (*past.before, *past.after)
    assert merge(known, loaded(dumped(known))) == ()


# --- from elsewhere --------------------------------------------------------------------------------------------------


def test_what_is_merged_into_nothing_comes_as_it_is() -> None:
    facts = (fact(), fact(2, key="perro", value="tengo un perro", superseded_by=fact(3).id))
    assert merge([], facts) == facts


def test_of_a_fact_in_both_the_later_confirmation_counts_and_that_it_was_superseded() -> None:
    mine, theirs = fact(last_confirmed_at=NOW + 2), fact(superseded_by=fact(2).id, superseded_at=NOW + 3)
    both = replace(mine, superseded_by=fact(2).id, superseded_at=NOW + 3)
    assert merge([mine], [theirs]) == (both,)
    assert merge([theirs], [mine]) == (both,)


@pytest.mark.parametrize("ended_by", [fact(1).id, fact(2).id])
def test_a_fact_that_was_confirmed_after_it_had_ended_elsewhere_holds(ended_by: str) -> None:
    ended, back = fact(superseded_by=ended_by, superseded_at=NOW + 3), fact(last_confirmed_at=NOW + 9)
    assert merge([ended], [back]) == (back,)
    assert merge([back], [ended]) == ()


def test_of_two_ends_the_later_counts() -> None:
    deleted, replaced = delete(fact(), NOW + 2), fact(superseded_by=fact(2).id, superseded_at=NOW + 3)
    assert merge([deleted], [replaced]) == (replaced,)
    assert merge([replaced], [deleted]) == ()


def test_what_was_restored_stays_when_an_older_export_is_imported() -> None:
    old = fact(superseded_by=fact(2).id, superseded_at=NOW + 1)
    new = fact(2, value="vivo en Salta", created_at=NOW + 1, last_confirmed_at=NOW + 1)
    known = applied([old, new], restore([old, new], old, NOW + 5).rows)
    assert merge(known, [old, new]) == ()


def test_of_two_values_of_a_key_the_last_confirmed_stays() -> None:
    old, new = fact(), fact(2, value="vivo en Salta", last_confirmed_at=NOW + 1)
    ended = replace(old, superseded_by=new.id, superseded_at=NOW + 1)
    assert merge([old], [new]) == (ended, new)
    assert merge([new], [old]) == (ended,)


def test_ids_of_another_scope_are_changed_wherever_they_stand_and_always_alike() -> None:
    old, new = fact(1, superseded_by=fact(2).id), fact(2)
    first, second = renamed([old, new], [new.id], SCOPE)
    assert first == replace(old, superseded_by=second.id)
    assert second.id != new.id
    assert renamed([old, new], [new.id], SCOPE) == (first, second)
    assert renamed([new], [new.id], f"{TENANT}/beto")[0].id not in (new.id, second.id)


@given(st.lists(facts_of_few_keys, max_size=8), st.lists(facts_of_few_keys, max_size=8))
def test_merging_again_changes_nothing_and_leaves_one_value_of_what_came(one: list[Fact], two: list[Fact]) -> None:
    known = applied([], tuple(one))
    merged = applied(known, merge(known, two))
    assert merge(merged, two) == ()
    assert merge(merged, loaded(dumped(merged))) == ()
    for key in {each.key for each in merged if each not in known and each.superseded_by is None}:
        assert sum(each.key == key and each.superseded_by is None for each in merged) == 1


# --- how they are told -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "differing", "told"),
    [
        (0, {}, "active"),
        (91, {}, "retrieval-only"),
        (91, {"confidence": "high"}, "active"),
        (181, {"confidence": "high"}, "stale"),
        (31, {"confidence": "low"}, "stale"),
        (0, {"superseded_by": "f-0000000000000002"}, "superseded"),
        (999, {"superseded_by": "f-0000000000000001"}, "deleted"),
    ],
)
def test_a_card_tells_the_status_of_the_moment(days: float, differing: dict[str, Any], told: str) -> None:
    assert card(SCOPE, fact(**differing), NOW + days * DAY, decay(Memory()))["status"] == told


def test_a_card_tells_what_a_fact_becomes_and_when() -> None:
    told = [
        card(SCOPE, each, NOW, decay(Memory()))["becomes"] for each in (fact(), replace(fact(), superseded_by="f-2"))
    ]
    assert told == [{"status": "retrieval-only", "at": NOW + 90 * DAY + 1}, None]


def test_the_status_goes_by_the_numbers_of_the_configuration() -> None:
    ageing = decay(Memory(unconfirmed_after=10, stale_after=20, drop_low_after=5))
    aged = [card(SCOPE, fact(), NOW + seconds, ageing)["status"] for seconds in (9, 11, 21)]
    assert aged == ["active", "retrieval-only", "stale"]
    assert card(SCOPE, fact(confidence="low"), NOW + 6, ageing)["status"] == "stale"


def test_a_card_has_nothing_that_is_ours_alone() -> None:
    told = card(SCOPE, fact(links=(b"\xff",)), NOW, decay(Memory()))
    assert b"links" not in msgspec.json.encode(told)
    assert list(told) == [
        *("scope", "id", "session", "turn", "domain", "key", "value", "confidence", "source", "status"),
        *("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned", "becomes"),
    ]


def test_the_newest_comes_first() -> None:
    facts = [fact(1), fact(3, created_at=NOW + 2), fact(2, created_at=NOW + 2)]
    assert [each.id[-1] for each in newest_first(facts)] == ["2", "3", "1"]


def test_what_is_confirmed_by_hand_is_in_doubt_no_longer() -> None:
    assert confirm(fact(doubted_by="f-2"), NOW).doubted_by is None


FACT = Fact(
    id="f-0123456789abcdef",
    domain="personal",
    key="alergia",
    value="soy alérgico a los «maníes»\nde verdad",
    confidence="medium",
    source="auto",
    session="s-1",
    turn=7,
    created_at=NOW,
    last_confirmed_at=NOW + 1,
    pinned=True,
    superseded_by="f-fedcba9876543210",
    superseded_at=NOW + 2,
    links=(b"\0" * 16, b"\xff" * 16),
)


def test_an_older_name_of_a_source_is_read_as_what_it_is_called_now() -> None:
    assert [each.source for each in loaded(dumped([FACT]).replace(b'"auto"', b'"inferred"'))] == ["auto"]


def test_a_deleted_fact_that_is_renamed_is_a_deleted_one() -> None:
    (copy,) = renamed([delete(fact(), NOW)], [fact().id], SCOPE)
    assert copy.id != fact().id
    assert copy.is_deleted


def test_what_is_dumped_is_loaded_as_it_was() -> None:
    facts = (FACT, replace(FACT, id="f-0000000000000000", superseded_by=None, links=()))
    data = dumped(facts)
    assert data.count(b"\n") == 2
    assert "alérgico a los «maníes»\\nde".encode() in data
    assert loaded(data) == facts
    assert loaded(b"\xef\xbb\xbf\n" + data.replace(b"\n", b"\r\n\n")) == facts
    assert loaded(b"") == ()


@given(st.text(min_size=1).filter(str.strip), st.lists(st.binary(max_size=20)))
def test_any_value_comes_back(value: str, links: list[bytes]) -> None:
    said = replace(FACT, value=value, links=tuple(links))
    assert loaded(dumped([said])) == (said,)


def line(**differing: object) -> bytes:
    values = {**msgspec.json.decode(msgspec.json.encode(FACT)), **differing}
    return msgspec.json.encode({name: value for name, value in values.items() if value is not ...})


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{", "truncated"),
        (b"[]", "object"),
        (b"\xff\xfe", "malformed"),
        (line() + b"x", "malformed"),
        (line(id=...), "id"),
        (line(id="f-1"), "16 hex digits"),
        (line(id="f-0123456789ABCDEF"), "16 hex digits"),
        (line(id="f-0123456789abcdef\n"), "16 hex digits"),
        (line(superseded_by="x"), "16 hex digits"),
        (line(value=" \n"), "empty"),
        (line(key=""), "empty"),
        (line(domain=""), "empty"),
        (line(value=1), "value"),
        (line(confidence="certain"), "certain"),
        (line(source="guess"), "guess"),
        (line(turn=-1), "turn"),
        (line(turn=1.5), "turn"),
        (line(turn=2**40), "turn"),
        (line(created_at=-1), "time"),
        (line(last_confirmed_at=LATEST + 1), "time"),
        (line(superseded_at="now"), "superseded_at"),
        (line(pinned="yes"), "pinned"),
        (line(links=["!"]), "links"),
        (line(scope="x", status="active"), "scope, status"),
    ],
)
def test_a_line_that_is_no_fact_is_refused_by_its_number(bad: bytes, why: str) -> None:
    good = dumped([FACT])
    with pytest.raises(Malformed, match=r"^line 3: ") as refused:
        loaded(good + b"\n" + bad + b"\n" + good)
    assert why in str(refused.value)


FACT_TABLE = Fact("f-0123456789abcdef", "personal", "ciudad", "vivo en Córdoba", "high", "explicit", "s", 3, NOW, NOW)


def test_a_fact_a_line_and_the_columns_stand_below_each_other() -> None:
    superseded = replace(
        FACT_TABLE, id="f-0000000000000002", superseded_by=FACT_TABLE.id, pinned=True, confidence="low"
    )
    assert table([FACT_TABLE, superseded], NOW, Decay()).splitlines() == [
        "ID                  STATUS      PINNED  CONFIDENCE  CONFIRMED   DOMAIN    KEY     VALUE",
        "f-0123456789abcdef  active              high        2023-11-14  personal  ciudad  vivo en Córdoba",
        "f-0000000000000002  superseded  yes     low         2023-11-14  personal  ciudad  vivo en Córdoba",
    ]


def test_a_long_value_is_cut() -> None:
    said = replace(FACT_TABLE, value="ñ" * (WIDEST + 1))
    assert table([said], NOW, Decay()).endswith("  " + "ñ" * (WIDEST - 1) + "…")
    assert table([replace(said, value="ñ" * WIDEST)], NOW, Decay()).endswith("  " + "ñ" * WIDEST)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("vivo  en\n\tRosario", "vivo en Rosario"),
        ("\x1b[2Jborrado", " [2Jborrado"),
        ("\x9b31mrojo", " 31mrojo"),
        ("a\u202eb", "a b"),
        ("año 日本 🙂", "año 日本 🙂"),
    ],
)
def test_nothing_in_a_value_is_obeyed_by_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert shown.strip() in table([replace(FACT_TABLE, value=text, key=text, domain=text)], NOW, Decay())


def test_what_is_no_text_is_said_in_words() -> None:
    assert [word(each) for each in (None, True, False, 3, "a\nb")] == ["", "yes", "no", "3", "a b"]
    assert [count(each) for each in (0, 1, 2)] == ["0 facts", "1 fact", "2 facts"]
    assert moment(NOW) == "2023-11-14 22:13:20 UTC"
