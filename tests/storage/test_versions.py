"""Versions of scopes: what this process knows of the changes of others, against a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage import versions
from proxy.storage.base import PARTS
from proxy.storage.pending import DELETIONS, FACTS, LEDGER, LINKS, TURNS, Kind, Write
from proxy.storage.versions import NONE, Versions
from tests.examples import examples

FACTS_AT = PARTS.index("facts")
SCOPES = ("a/", "b/")
names = st.sampled_from(SCOPES)
# A look that is heard of at once is as frequent as one that is not: they meet every state of a batch.
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["foreign", "look", "hear", "look and hear", "look and hear", "count", "commit", "heard", "failed", "lose"]
        ),
        names,
    ),
    min_size=20,
    max_size=60,
)


def write(scope: str, kind: Kind = FACTS) -> Write:
    return Write(1, lambda *_: None, kind=kind, scope=scope)


@pytest.mark.note("v2 Resumen/2")
@given(steps=steps, most=st.sampled_from([1, 9]))
@settings(max_examples=examples(400), deadline=None)
def test_a_foreign_change_is_never_missed_and_an_own_one_never_told(  # noqa: C901, PLR0915 (a model, step by step)
    steps: list[tuple[str, str]], most: int
) -> None:
    """A batch counts, is committed or lost, and is heard of later than by looks; looks are heard of late and out of
    order. Whoever has read at a number need not read again while it stays: nothing foreign was committed since then,
    as far as any look has seen. It changes for nothing else, unless the scope was forgotten, or a batch failed."""
    known = Versions(most)
    server = dict.fromkeys(SCOPES, 0)
    foreign = dict.fromkeys(SCOPES, 0)  # changes by others, committed
    foreign_at = {scope: {0: 0} for scope in SCOPES}  # version → `foreign`
    looks: dict[str, list[int]] = {scope: [] for scope in SCOPES}  # versions that looks have read, not heard of yet
    own: tuple[str, bool | None] | None = None  # the scope of the batch on its way, committed or lost
    before_it = 0  # foreign changes when it counted
    heard: dict[str, int] = dict.fromkeys(SCOPES, 0)  # the most of `foreign` that a look has told
    told: dict[str, tuple[int, int]] = {}  # the number told last, with `heard` then
    forgiven: set[str] = set()  # scopes whose number may change once without a reason
    late: set[str] = (
        set()
    )  # the same from now on: the first look was heard of late, and what came after it is not known
    parts = [(part, scope) for step, scope in steps for part in step.split(" and ")]
    for step, scope in parts:
        if step == "foreign" and not (own and own[0] == scope and own[1] is None):  # else it waits for the lock
            server[scope] += 1
            foreign[scope] += 1
            foreign_at[scope][server[scope]] = foreign[scope]
        elif step == "look":
            looks[scope].append(server[scope])
        elif step == "hear" and looks[scope]:
            seen = looks[scope].pop()
            if known.get(scope) is None:
                forgiven.add(scope)
                if seen < server[scope]:
                    late.add(scope)
            number = known.looked(scope, (0, seen, 0, 0), 0.0).foreign[FACTS_AT]
            heard[scope] = max(heard[scope], foreign_at[scope][seen])
            before, at = told.get(scope, (0, 0))
            assert number != before or heard[scope] == at
            assert number == before or heard[scope] > at or scope in forgiven or scope in late or not before
            told[scope] = (number, heard[scope])
            forgiven.discard(scope)
        elif step == "count" and own is None:
            own, before_it = (scope, None), foreign[scope]
            known.making({scope: (0, server[scope] + 1, 0, 0)}, {scope: frozenset({"facts"})})
        elif step == "commit" and own and own[1] is None:
            own = (own[0], True)
            server[own[0]] += 1
            foreign_at[own[0]][server[own[0]]] = foreign[own[0]]
        elif step == "lose" and own and own[1] is None:
            own = (own[0], False)
            # Nobody sees that number before the failure is known: see the test below.
            known.failed()
            forgiven.add(own[0])
            own = None
        elif step == "heard" and own and own[1]:
            known.wrote()
            if known.get(own[0]) is not None:  # it has told what came before it
                heard[own[0]] = max(heard[own[0]], before_it)
            own = None
        elif step == "failed" and own and own[1]:  # it was committed, and its answer was lost
            known.failed()
            forgiven.add(own[0])
            own = None


def test_a_batch_tells_of_the_foreign_ones_before_it() -> None:
    known = Versions()
    before = known.looked("a/", (0, 4, 0, 0), 0.0).foreign
    known.making({"a/": (0, 6, 0, 0)}, {"a/": frozenset({"facts"})})
    known.wrote()
    after = known.get("a/")
    assert after is not None
    assert [old != new for old, new in zip(before, after.foreign, strict=True)] == [part == "facts" for part in PARTS]


def test_after_a_batch_that_failed_its_scopes_are_looked_at_anew() -> None:
    known = Versions()
    before = known.looked("a/", (0, 4, 0, 0), 0.0).foreign
    known.making({"a/": (0, 5, 0, 0)}, {"a/": frozenset({"facts"})})
    assert known.looked("a/", (0, 5, 0, 0), 0.0).foreign == before  # taken for ours, and another's: ours was lost
    known.failed()
    assert known.get("a/") is None
    assert known.looked("a/", (0, 5, 0, 0), 0.0).foreign != before


def test_a_scope_that_was_never_seen_has_a_number_of_its_own() -> None:
    known = Versions(most=1)
    first = known.looked("a/", NONE, 0.0).foreign
    known.looked("b/", NONE, 0.0)
    assert known.get("a/") is None
    assert known.looked("a/", NONE, 0.0).foreign != first
    assert 0 not in first  # what is said while the database does not answer


def test_each_kind_of_write_changes_its_parts() -> None:
    writes = [write("a/", LINKS), write("a/"), write("b/", TURNS), write("c/", DELETIONS), write("d/", LEDGER)]
    assert versions.changed([*writes, write("", DELETIONS)]) == {
        "a/": {"paths", "facts"},
        "b/": {"turns"},
        "c/": set(PARTS),
        "d/": set(),
    }
