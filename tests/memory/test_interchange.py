"""Facts from another place, merged, and as lines of JSON."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.edits import delete, restore
from proxy.memory.interchange import LATEST, Malformed, dumped, loaded, merge, renamed
from proxy.types import Fact
from tests.builders import NOW, TENANT
from tests.memory.test_edits import SCOPE, applied, fact, facts_of_few_keys


def test_of_two_merged_facts_that_say_the_same_the_later_confirmed_stays() -> None:
    mine, theirs = fact(value="vivo en Rosario"), fact(2, key="casa", value="Reside en Rosario")
    theirs = replace(theirs, last_confirmed_at=NOW + 9)
    rows = merge([mine], [theirs])
    known = applied([mine], rows)
    assert [each.id for each in known if each.superseded_by is None] == [theirs.id]
    assert merge(known, [theirs]) == ()
    assert merge(known, [mine]) == ()


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
