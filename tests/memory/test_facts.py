from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.ageing import DAY
from proxy.memory.analysis import analyse
from proxy.memory.extract import extract
from proxy.memory.facts import later, learn
from proxy.memory.reuniting import reunited
from proxy.types.memory import SELF_CORRECTION, Fact, Statement


def told(*messages: str, facts: dict[str, Fact] | None = None) -> dict[str, Fact]:
    """The facts after `messages`, a day and a turn each."""
    known = dict(facts or {})
    for turn, message in enumerate(messages, start=len(known) + 1):
        apply(known, learn(known.values(), extract(message), session="s", turn=turn, link=_link(turn), now=turn * DAY))
    return known


def apply(facts: dict[str, Fact], changes: Iterable[Fact]) -> None:
    for fact in changes:
        facts[fact.id] = fact


def current(facts: dict[str, Fact]) -> list[str]:
    return [fact.value for fact in facts.values() if fact.superseded_by is None]


def a_fact(value: str = "uso Linux", **changes: Any) -> Fact:
    fact = Fact("f-1", "work", "linux", value, "medium", "explicit", "s", 1, 0.0, 0.0)
    return replace(fact, **changes)


def _link(turn: int) -> bytes:
    return turn.to_bytes(16)


def test_what_was_ordered_to_be_kept_is_confirmed_superseded_and_ended_as_any_fact() -> None:
    known = told("Remember that I live in Oslo.", "Please keep in mind that I live in Oslo.", "I live in Oslo.")
    (fact,) = known.values()
    assert (fact.value, fact.source, len(fact.links)) == ("I live in Oslo", "explicit", 3)
    ordered = "Remember that I live in Oslo."
    assert current(told(ordered, "I live in Bergen now.")) == ["I live in Bergen now"]
    assert current(told("I live in Bergen.", "Remember that I live in Oslo now.")) == ["I live in Oslo now"]


@pytest.mark.note("1.1/14", "Consolidación/3")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Decidí usar MariaDB 11 para Lince.", "Cambiamos a MariaDB 12, en vez de la 11."),
        ("Decidimos usar MariaDB 11 para Lince.", "Al final usamos MariaDB 12 y no la 11."),
        ("Tenemos un presupuesto de 900 euros para la obra.", "Ahora el presupuesto de la obra es de 1.200 euros."),
        ("La entrega del informe es el 3 de mayo.", "La entrega del informe pasa al 10 de mayo."),
        ("Vivo en Tandil.", "Me mudé: ahora vivo en Azul."),
        ("Trabajo en un banco.", "Ya no trabajo en el banco, ahora trabajo en una imprenta."),
        ("We're going with MariaDB 11 for Lynx.", "We're switching to MariaDB 12 instead."),
        ("The report is due May 3.", "The report's deadline moved to May 10."),
        ("I live in Cork.", "I moved to Sligo."),
        ("I live in Bergen.", "I now live in Stavanger instead of Bergen."),
        ("My name is Oskar.", "My name is Oscar, with a c."),
        ("The budget for the shed is $900.", "The shed's budget was bumped to $1,200."),
    ],
)
def test_what_is_contradicted_is_superseded_by_what_was_said_last(before: str, after: str) -> None:
    facts = told(before, after)
    old = next(fact for fact in facts.values() if fact.turn == 1)
    new = next(fact for fact in facts.values() if fact.turn == 2)
    assert (old.superseded_by, old.superseded_at) == (new.id, 2 * DAY)
    assert new.superseded_by is None
    assert new.key == old.key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Soy alérgica al maní.", "Soy alérgica al látex."),
        ("I'm allergic to nuts.", "I'm allergic to latex."),
        ("Mi hija se llama Ema.", "Mi hijo Teo cumple 4 en mayo."),
        ("I prefer tea.", "I prefer trains to planes."),
        ("Vivo en Tandil.", "Ahora trabajo en una imprenta."),
        ("The budget for the shed is $900.", "The budget for the boat is $4,000."),
    ],
)
def test_what_does_not_contradict_stands_side_by_side(one: str, other: str) -> None:
    assert len(current(told(one, other))) == 2


@pytest.mark.note("1.1/13", "Flush/2", "Rumi Dedup/2")
@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Vivo en Tandil.", "vivo en TANDIL"),
        ("Vamos con MariaDB 11 para Lince.", "Seguimos con MariaDB 11 para Lince."),
        ("We're going with MariaDB 11 for Lynx.", "We're still going with MariaDB 11 for Lynx."),
    ],
)
def test_what_is_said_again_is_confirmed(first: str, again: str) -> None:
    (fact,) = told(first, again).values()
    assert (fact.created_at, fact.last_confirmed_at, fact.links) == (DAY, 2 * DAY, (_link(1), _link(2)))


def test_the_same_turn_twice_changes_nothing() -> None:
    facts = told("Vivo en Tandil.", "Me mudé: ahora vivo en Azul.")
    for turn, message in ((1, "Vivo en Tandil."), (2, "Me mudé: ahora vivo en Azul.")):
        again = learn(facts.values(), extract(message), session="s", turn=turn, link=_link(turn), now=9 * DAY)
        assert again == ()


def test_what_was_true_before_can_become_true_again() -> None:
    assert current(told("Vivo en Tandil.", "Me mudé: ahora vivo en Azul.", "Vivo en Tandil.")) == ["Vivo en Tandil"]


STATEMENTS = st.builds(
    Statement,
    domain=st.sampled_from(["work", "personal"]),
    key=st.sampled_from(["name", "job", "residence"]),
    value=st.sampled_from(["Lince", "Tandil 4", "red kite", "Azul"]),
    confidence=st.sampled_from(["high", "medium", "low"]),
    pinned=st.booleans(),
    stance=st.sampled_from(["states", "changes", "keeps"]),
)
TURNS = st.lists(st.lists(STATEMENTS, max_size=3), max_size=6)


@given(TURNS)
def test_of_every_key_one_value_is_current(turns: list[list[Statement]]) -> None:
    facts: dict[str, Fact] = {}
    for number, statements in enumerate(turns, start=1):
        changes = learn(facts.values(), statements, session="s", turn=number, link=_link(number), now=float(number))
        apply(facts, changes)
    keys = [(fact.domain, fact.key) for fact in facts.values() if fact.superseded_by is None]
    assert len(set(keys)) == len(keys)
    assert all(fact.superseded_by in facts for fact in facts.values() if fact.superseded_by)


@given(TURNS)
def test_learning_a_single_statement_again_changes_nothing(turns: list[list[Statement]]) -> None:
    facts: dict[str, Fact] = {}
    for number, statements in enumerate(turns, start=1):
        for statement in statements[:1]:
            link = _link(number)
            apply(facts, learn(facts.values(), [statement], session="s", turn=number, link=link, now=1.0))
            again = learn(facts.values(), [statement], session="s", turn=number, link=link, now=2.0)
            assert again == ()


@given(st.permutations([2, 3, 4, 5]))
def test_the_order_of_confirmations_does_not_matter(order: list[int]) -> None:
    def confirmed(turns: list[int]) -> dict[str, Fact]:
        facts = told("Vivo en Tandil.")
        for turn in turns:
            said = extract("Vivo en Tandil.")
            apply(facts, learn(facts.values(), said, session="s", turn=turn, link=_link(turn), now=turn * DAY))
        return facts

    assert confirmed(order) == confirmed([2, 3, 4, 5])


def deleted(facts: dict[str, Fact], now: float) -> dict[str, Fact]:
    return {name: replace(fact, superseded_by=name, superseded_at=now) for name, fact in facts.items()}


def test_what_was_deleted_and_is_stated_again_holds_again() -> None:
    facts = told("I'm allergic to nuts.", facts=deleted(told("I'm allergic to nuts."), 1.5 * DAY))
    (fact,) = facts.values()
    assert (fact.superseded_by, fact.superseded_at, fact.last_confirmed_at) == (None, 0.0, 2 * DAY)


def test_what_was_deleted_is_not_back_when_its_message_is_read_again() -> None:
    facts = deleted(told("I'm allergic to nuts."), 2 * DAY)
    said = extract("I'm allergic to nuts.")
    assert learn(facts.values(), said, session="s", turn=1, link=_link(1), now=3 * DAY) == ()


def test_what_comes_back_leaves_the_key_to_what_has_it_since() -> None:
    facts = deleted(told("I'm allergic to nuts."), 2 * DAY)
    (gone,) = facts.values()
    facts["f-2"] = a_fact("The pool opens at nine.", id="f-2", domain=gone.domain, key=gone.key, last_confirmed_at=DAY)
    facts = told("I'm allergic to nuts.", facts=facts)
    assert sorted(fact.key for fact in facts.values()) == [gone.key, f"{gone.key}-2"]
    assert all(fact.superseded_by is None for fact in facts.values())


def test_a_doubt_ends_with_the_deletion_of_what_raised_it() -> None:
    old, newer = a_fact("A", id="f-a", doubted_by="f-b"), a_fact("B", id="f-b", superseded_by="f-b")
    assert later(old, {"f-a": old, "f-b": newer}) is None


MOVES = st.sampled_from(["I live in Cork.", "I moved to Sligo.", "I'm back in Cork."])


@given(st.lists(MOVES, max_size=4), st.data())
def test_whatever_is_deleted_in_between_every_history_has_an_end(messages: list[str], data: st.DataObject) -> None:
    facts: dict[str, Fact] = {}
    for number, message in enumerate(messages, start=1):
        facts = told(message, facts=facts)
        gone = data.draw(st.sets(st.sampled_from(sorted(facts)))) if facts else set()
        facts |= deleted({name: facts[name] for name in gone if facts[name].superseded_by is None}, number * DAY)
    for fact in facts.values():
        end = fact
        for _ in facts:
            end = facts[end.superseded_by or end.id]
        assert end.superseded_by in (None, end.id)
    assert reunited([list(facts.values())]) == ()


def test_what_a_user_states_is_never_an_agents_correction_of_itself() -> None:
    note = a_fact("The exam is on May 3.", domain=SELF_CORRECTION, key="exam")
    facts = told("The exam moved to June 9.", facts={note.id: note})
    (stated,) = (fact for fact in facts.values() if fact.id != note.id)
    assert facts[note.id].superseded_by == stated.id
    assert stated.domain == extract("The exam moved to June 9.")[0].domain


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("I live in Cork.", "I moved to Sligo.", "I moved back to Cork."),
        ("Vivo en Tandil.", "Me mudé a Azul.", "Volví a vivir en Tandil."),
        ("I'm vegan.", "I'm not vegan anymore.", "I'm vegan again."),
        ("The exam is on May 3.", "The exam moved to June 9.", "The exam is back on May 3."),
    ],
)
def test_a_return_to_what_was_true_ends_what_was_in_between(first: str, second: str, third: str) -> None:
    assert current(told(first, second, third)) == [third.rstrip(".")]


SAID = st.lists(
    st.sampled_from(
        [
            "I live in Cork and I work at a bank.",
            "I moved to Sligo.",
            "I'm back in Cork.",
            "My son lives in Cork. He's allergic to nuts.",
            "My son is not allergic to nuts anymore.",
            "The budget of the trip is $900.",
            "The budget of the trip is now $1,200.",
            "Vivo en Tandil y tengo una perra, Lola.",
            "Ya no vivo en Tandil, me mudé a Azul.",
            "Respondeme siempre en castellano.",
            "Always answer in English.",
        ]
    ),
    max_size=6,
)


@given(SAID)
def test_learning_the_same_message_twice_changes_nothing(messages: list[str]) -> None:
    facts: dict[str, Fact] = {}
    for number, message in enumerate(messages, start=1):
        said, link = extract(message), _link(number)
        apply(facts, learn(facts.values(), said, session="s", turn=number, link=link, now=number * DAY))
        again = learn(facts.values(), said, session="s", turn=number, link=link, now=(number + 1) * DAY)
        assert again == ()


@given(SAID)
def test_a_fact_is_superseded_by_one_of_its_own_holder(messages: list[str]) -> None:
    facts = told(*messages)
    for fact in facts.values():
        if fact.superseded_by:
            assert analyse(facts[fact.superseded_by].value).holder == analyse(fact.value).holder


IN_ORDER = [
    # a part of it is otherwise, and the rest still holds
    ("I've got 40 laying hens and 12 sheep on 3 acres outside Hereford.", "Fox got in. Down to 27 hens."),
    ("Hago el turno de 6 a 14 en la planta de Pilar.", "Me pasaron al turno de 22 a 6, uf."),
    # not a word in common
    ("I play in goal for the under-30s.", "They've moved me up front, I'm the striker now."),
]


@pytest.mark.parametrize(("before", "after"), IN_ORDER)
def test_what_may_have_ended_stays_and_says_by_what(before: str, after: str) -> None:
    facts = told(before, after)
    old = next(fact for fact in facts.values() if fact.turn == 1)
    assert old.superseded_by is None
    newer = later(old, facts)
    assert newer is not None
    assert newer.turn == 2
    assert later(newer, facts) is None


@pytest.mark.parametrize(("before", "after"), IN_ORDER)
def test_what_is_said_again_is_in_doubt_no_longer_and_its_doubter_is(before: str, after: str) -> None:
    facts = told(before, after, before)
    old = next(fact for fact in facts.values() if fact.turn == 1)
    newer = next(fact for fact in facts.values() if fact.turn == 2)
    assert (later(old, facts), old.last_confirmed_at) == (None, 3 * DAY)
    assert later(newer, facts) in (old, None)


@pytest.mark.parametrize(
    "messages",
    [
        ("I work at a bank in Leeds.", "I work at the brewery these days.", "I drive the number 14 bus now."),
        ("Soy enfermera en Cali.", "Ahora soy panadera.", "Ahora soy taxista."),
    ],
)
def test_of_a_chain_of_jobs_only_the_last_is_told_alone(messages: tuple[str, ...]) -> None:
    facts = told(*messages)
    earlier = [fact for fact in facts.values() if fact.turn < len(messages)]
    assert len(earlier) == len(messages) - 1
    assert all(fact.superseded_by is not None or later(fact, facts) is not None for fact in earlier)


def test_what_is_left_of_a_fact_is_in_no_doubt() -> None:
    facts = told("I'm left-handed, I play bass and have a Jazzmaster.", "I sold the Jazzmaster.")
    left = [fact for fact in facts.values() if fact.superseded_by is None and "bass" in fact.value]
    assert left
    assert all(later(fact, facts) is None for fact in left)


def test_a_doubt_ends_with_what_raised_it() -> None:
    before, after = IN_ORDER[2]
    facts = told(before, after)
    old = next(fact for fact in facts.values() if fact.turn == 1)
    assert later(old, {old.id: old}) is None


def test_a_doubt_moves_on_to_what_took_the_place_of_what_raised_it() -> None:
    old, newer = a_fact("A", id="f-a", doubted_by="f-b"), a_fact("B", id="f-b", superseded_by="f-c")
    newest = a_fact("C", id="f-c")
    assert later(old, {fact.id: fact for fact in (old, newer, newest)}) == newest


def test_doubts_in_a_circle_have_no_end() -> None:
    one, other = a_fact("A", id="f-a", doubted_by="f-b"), a_fact("B", id="f-b", superseded_by="f-a")
    assert later(one, {"f-a": one, "f-b": other}) is None


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        (
            "The shop's logo is in olive green.",
            "The shop's logo is in navy blue.",
            "The shop's logo is in olive green.",
        ),
        (
            "Hago los pagos con Mercado Pago en la tienda.",
            "Hago los pagos con Clip en la tienda.",
            "Hago los pagos con Mercado Pago otra vez.",
        ),
        ("mi editor es neovim", "me pasé a vscode", "listo, volví a neovim"),
        (
            "The store runs on Laravel.",
            "We decided to run the store on Django.",
            "My boss had it rewritten in Laravel.",
        ),
    ],
)
def test_what_was_in_between_is_not_told_as_what_holds(first: str, second: str, third: str) -> None:
    facts = told(first, second, third)
    between = [fact for fact in facts.values() if fact.turn == 2]
    assert between
    assert all(fact.superseded_by is not None or later(fact, facts) is not None for fact in between)


# --- said again in other words ---------------------------------------------------------------------------------------


def stated(known: dict[str, Fact], value: str, turn: int, key: str = "job") -> tuple[Fact, ...]:
    """The changes to `known` when `value` is stated in a turn, a day each."""
    said = Statement("work", key, value, "medium")
    return learn(known.values(), [said], session="s", turn=turn, link=_link(turn), now=turn * DAY)


def test_what_is_said_in_other_words_confirms_the_known_fact() -> None:
    known: dict[str, Fact] = {}
    apply(known, stated(known, "trabajo en Google", 1))
    apply(known, stated(known, "soy empleado de Google", 2))
    (fact,) = known.values()
    assert (fact.value, fact.last_confirmed_at) == ("trabajo en Google", 2 * DAY)
    assert set(fact.links) == {_link(1), _link(2)}


@pytest.mark.parametrize("other", ["mi hermana trabaja en Google", "trabajé en Google", "no trabajo en Google"])
def test_what_only_resembles_it_does_not(other: str) -> None:
    known: dict[str, Fact] = {}
    apply(known, stated(known, "trabajo en Google", 1))
    apply(known, stated(known, other, 2))
    assert len(known) == 2
    assert known[next(iter(known))].last_confirmed_at == DAY


def test_a_name_in_another_spelling_is_no_confirmation() -> None:
    known: dict[str, Fact] = {}
    apply(known, stated(known, "my dentist is called Oskar", 1))
    apply(known, stated(known, "my dentist is called Oscar", 2))
    assert "my dentist is called Oscar" in current(known)


def test_a_models_fact_gives_way_to_the_users_own_words_and_stays_as_history() -> None:
    auto = a_fact("Trabaja en Google", source="auto", key="employer", links=(_link(1),), pinned=True)
    known = {auto.id: auto}
    apply(known, stated(known, "trabajo en Google", 2))
    (own,) = [fact for fact in known.values() if fact.superseded_by is None]
    assert (own.value, own.source, own.domain, own.key) == ("trabajo en Google", "explicit", "work", "employer")
    assert own.pinned
    assert known[auto.id].superseded_by == own.id


def test_a_models_fact_that_is_said_word_for_word_is_the_users_from_then_on() -> None:
    auto = a_fact("trabajo en Google", source="auto", key="employer")
    known = {auto.id: auto}
    apply(known, stated(known, "Trabajo en Google", 2))
    assert [(fact.id, fact.source) for fact in known.values()] == [(auto.id, "explicit")]


def test_the_message_from_which_a_model_had_it_changes_nothing_when_it_is_read_again() -> None:
    auto = a_fact("Trabaja en Google", source="auto", links=(_link(2),))
    assert stated({auto.id: auto}, "trabajo en Google", 2) == ()


def test_an_agents_correction_of_itself_is_not_confirmed_by_a_user() -> None:
    own = a_fact("Trabaja en Google", domain=SELF_CORRECTION)
    assert any(fact.value == "trabajo en Google" for fact in stated({own.id: own}, "trabajo en Google", 2))


def test_among_many_facts_the_one_in_other_words_is_found() -> None:
    known = {
        name: a_fact(f"tengo un amigo en el pueblo {name}", id=name, key=name, last_confirmed_at=float(at))
        for at, name in enumerate(f"f-{number:04}" for number in range(150))
    }
    known["f-x"] = a_fact("Es empleado de Google", id="f-x", key="employer", created_at=0.0)
    changed = stated(known, "trabajo en Google", 2)
    assert [fact.id for fact in changed] == ["f-x"]
