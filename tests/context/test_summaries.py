from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.filling import fitted, render
from proxy.context.summaries import NumberedTurn, about, keep_slots, named, resolved_question, segments, summarise
from proxy.types import ShiftCause, Summary, TurnDigest
from proxy.types.memory import Language


def tokens(text: str) -> int:
    """As many as an estimate by characters would give."""
    return (len(text) + 3) // 4


def noted(*turns: NumberedTurn, most: int = 50) -> Summary:
    summary = summarise(turns, max_tokens=most, count=tokens)
    assert summary is not None
    return summary


def digests(shifts: str) -> list[TurnDigest]:
    """A turn a letter: `s` changes the topic, `.` does not."""
    causes: dict[str, ShiftCause | None] = {"s": "similarity", ".": None}
    return [TurnDigest(b"", 10, None, causes[each]) for each in shifts]


@pytest.mark.note("2.4/2")
@pytest.mark.parametrize(
    ("user", "decision"),
    [
        ("Listo, decidí usar Redis 7 para las colas.", "decidí usar Redis 7 para las colas"),
        ("Me gusta. Vamos con la opción B, la de 300 euros.", "Vamos con la opción B, la de 300 euros"),
        ("Quedamos en el martes 4 a las 9.", "Quedamos en el martes 4 a las 9"),
        ("Al final usamos Flask 3 y no Django.", "Al final usamos Flask 3 y no Django"),
        ("OK, let's use SQLite 3.45 for this.", "let's use SQLite 3.45 for this"),
        ("We're going with the blue one. It costs $90.", "We're going with the blue one"),
        ("I've decided on Oslo, from May 3.", "I've decided on Oslo, from May 3"),
    ],
)
def test_a_decision_stands_in_the_record_in_the_users_own_words(user: str, decision: str) -> None:
    summary = noted(NumberedTurn(1, user, "Hecho."))
    assert summary.decisions == (decision,)
    assert decision in render(summary)


@pytest.mark.note("7 NO/2")
@pytest.mark.parametrize(
    "user",
    [
        "¿Vamos con Redis o con Kafka?",
        "Should we say let's use Redis?",
        "Si yo fuera el jefe, decidí lo que decidí.",
        "Maybe we'll use Redis 7.",
        "Todavía no decidimos nada.",
        "El cielo está nublado.",
    ],
)
def test_questions_and_suppositions_are_no_decisions(user: str) -> None:
    summary = summarise([NumberedTurn(1, user, "Bien.")], count=tokens)
    assert summary is None or summary.decisions == ()


def test_what_the_assistant_suggests_is_no_decision() -> None:
    summary = noted(NumberedTurn(1, "¿Qué base de datos uso?", "Decidí por vos: vamos con Mongo."))
    assert summary.decisions == ()


@pytest.mark.note("9.2/1")
def test_a_record_has_a_whole_piece_of_each_turn_in_their_order() -> None:
    turns = [
        NumberedTurn(4, "¿Qué réplica de lectura conviene para los reportes?", "Depende."),
        NumberedTurn(5, "El presupuesto es de 260 dólares por mes.", "Con eso la réplica entra."),
    ]
    summary = noted(*turns, most=80)
    assert summary.discussed == (
        "Qué réplica de lectura conviene para los reportes?",
        "El presupuesto es de 260 dólares por mes",
    )
    assert (summary.first_turn, summary.last_turn) == (4, 5)


@pytest.mark.parametrize(
    "answer", ["It weighs 14 kilos.", "Hard to say.", "Perfect, noted!", "Great job on those 14 kilos."]
)
def test_what_the_assistant_claims_is_in_no_record(answer: str) -> None:
    summary = noted(NumberedTurn(1, "How heavy is the blue suitcase?", answer))
    assert summary.discussed == ("How heavy is the blue suitcase?",)
    assert summary.outcome == ""


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I've decided to drop Python 3.9 in version 5.0.", "Small correction: the drop of Python 3.9 moves to 5.1."),
        ("Usamos PostgreSQL 15 en la base.", "Cambié de idea: usamos PostgreSQL 16 en la base."),
    ],
)
def test_a_decision_that_is_changed_later_is_left_out(earlier: str, later: str) -> None:
    summary = noted(NumberedTurn(1, earlier, "Noted."), NumberedTurn(2, later, "Updated."), most=80)
    assert len(summary.decisions) == 1
    assert summary.decisions[0].split()[-1].rstrip(".") in later


def test_a_decision_that_is_taken_back_in_the_next_turn_is_left_out() -> None:
    turns = [
        NumberedTurn(1, "We're going with the blue container ship.", "Good."),
        NumberedTurn(2, "Scratch that.", "All right."),
    ]
    assert summarise(turns, count=tokens) is None


def test_decisions_keep_their_place_when_room_is_short() -> None:
    turns = [
        NumberedTurn(1, "How long do letters from Norway to Chile take?", "Weeks."),
        NumberedTurn(2, "I've decided on Oslo, from May 3.", "Good."),
    ]
    assert noted(*turns, most=14).decisions == ("I've decided on Oslo, from May 3",)


def test_only_a_question_without_an_answer_is_open() -> None:
    assert noted(NumberedTurn(1, "¿Cuánto sale la réplica?", "")).open_questions == ("Cuánto sale la réplica?",)
    assert noted(NumberedTurn(1, "¿Cuánto sale la réplica?", "Diez.")).open_questions == ()


def test_code_is_not_summarised() -> None:
    turn = NumberedTurn(
        1, "Mirá:\n```python\nwe_decided = 'let us use Redis 7'\n```\n¿está bien la consulta lenta?", "Sí."
    )
    assert "Redis" not in render(noted(turn))


@pytest.mark.parametrize("user", ["Gracias!", "Perfect, thanks a lot!", "jaja tal cual", "¿Y?", "Hello!", ""])
def test_of_what_says_nothing_there_is_no_record(user: str) -> None:
    assert summarise([NumberedTurn(1, user, "Perfect, noted.")], count=tokens) is None


def test_what_turns_are_about_of_which_nothing_can_be_told_is_the_topic() -> None:
    turns = [
        NumberedTurn(1, "Does that need the read replica?", "The read replica? Yes."),
        NumberedTurn(2, "Is it the read replica, then?", "The read replica, yes."),
    ]
    assert noted(*turns).topic == "read replica"
    assert noted(*turns, NumberedTurn(3, "We're going with the read replica in São Paulo.", "Done.")).topic == ""


def test_a_question_that_points_with_a_noun_of_the_turn_before_is_told() -> None:
    before = NumberedTurn(3, "Which nodes do we take?", "Three nodes of the middle size.")
    asked = NumberedTurn(4, "How do we size those nodes without guessing?", "By load.")
    summary = summarise([asked], before=before, count=tokens)
    assert summary is not None
    assert summary.discussed == ("How do we size those nodes without guessing?",)
    assert summarise([asked], count=tokens) is None


def test_a_topic_that_is_told_anyway_gives_way_before_anything_else_does() -> None:
    whole = Summary("read replica", (), "", ("we take the read replica in São Paulo",), (), 1, 2)
    assert fitted(whole, tokens(render(whole)) - 1, tokens) == replace(whole, topic="")


FULL = Summary(
    topic="read replica",
    discussed=("budget", "region"),
    outcome="the budget is 260 dollars a month now",
    decisions=("let's use PostgreSQL 16",),
    open_questions=("which region?",),
    first_turn=1,
    last_turn=3,
)


@pytest.mark.note("2.4/1", "7 SÍ/2")
def test_a_record_is_one_line_without_what_is_empty() -> None:
    assert render(FULL) == (
        "{topic: read replica, discussed: [budget; region], outcome: the budget is 260 dollars a month now, "
        "decisions: [let's use PostgreSQL 16], open_questions: [which region?]}"
    )
    assert render(Summary("a", (), "", (), (), 1, 1)) == "{topic: a}"


def test_what_was_discussed_goes_first_then_open_questions_then_the_outcome_and_decisions_last() -> None:
    seen = []
    for most in range(tokens(render(FULL)), 0, -1):
        summary = fitted(FULL, most, tokens)
        has = (bool(summary.discussed), bool(summary.open_questions), bool(summary.outcome), bool(summary.decisions))
        if has not in seen:
            seen.append(has)
    assert seen == [
        (True, True, True, True),
        (False, True, True, True),
        (False, False, True, True),
        (False, False, False, True),
        (False, False, False, False),
    ]


TEXTS = st.text(max_size=200) | st.sampled_from(
    ["Decidí usar Redis 7. Vamos con eso.", "We're going with Oslo, $40, May 3?", "¿Qué hago?", "{}{}{}", "a. b. c."]
)


@pytest.mark.note("2.1/7")
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.integers(1, 80))
def test_a_record_never_has_more_tokens_than_it_may_and_is_always_the_same(
    told: list[tuple[str, str]], most: int
) -> None:
    turns = [NumberedTurn(number, *texts) for number, texts in enumerate(told, 1)]
    summary = summarise(turns, max_tokens=most, count=tokens)
    assert summary == summarise(turns, max_tokens=most, count=tokens)
    if summary is None:
        return
    assert tokens(render(summary)) <= max(most, tokens("{}"))
    assert "\n" not in render(summary)
    assert fitted(summary, most, tokens) == summary


@pytest.mark.note("2.1/5", "2.2/3")
@pytest.mark.parametrize(
    ("shifts", "expected"),
    [
        ("", []),
        ("..", []),
        ("...", [(0, 3)]),
        (".......", [(0, 3), (3, 6)]),
        ("..s", [(0, 2)]),
        ("s..", [(0, 3)]),  # the first turn has no topic to change
        ("...s", [(0, 3)]),
        (".s.s", [(0, 1), (1, 3)]),
        ("..s...", [(0, 2), (2, 5)]),
    ],
)
def test_a_segment_is_closed_after_three_turns_or_by_a_topic_shift(
    shifts: str, expected: list[tuple[int, int]]
) -> None:
    assert [(each.start, each.stop) for each in segments(digests(shifts), 3)] == expected


@given(st.text("s.", max_size=30), st.integers(1, 5))
def test_segments_tile_the_closed_turns(shifts: str, most: int) -> None:
    found = segments(digests(shifts), most)
    assert [index for segment in found for index in segment] == list(range(found[-1].stop if found else 0))
    assert all(1 <= len(segment) <= most for segment in found)


@pytest.mark.note("2.1/6")
def test_the_oldest_record_leaves_its_slot_and_none_is_changed() -> None:
    records = [Summary(str(number), (), "", (), (), number, number) for number in range(6)]
    assert keep_slots(records, 4) == tuple(records[2:])
    assert keep_slots(records[:2], 4) == tuple(records[:2])
    assert keep_slots(records, 0) == ()


_SHELTER = "You have so much patience at the homeless shelter. How did you do it?"
_SHELTER_AGAIN = "The homeless shelter changed my life."


@pytest.mark.parametrize(
    ("messages", "around", "known", "topic"),
    [
        ((_SHELTER, _SHELTER_AGAIN), (), "", "homeless shelter"),
        ((_SHELTER, "Thanks!"), ("I work in a homeless shelter.", "Wow!"), "", "homeless shelter"),
        ((_SHELTER, _SHELTER_AGAIN), (), "I cook at the homeless shelter", ""),
        ((_SHELTER, "Thanks!"), (), "", ""),
        (("¿Me organizás los turnos rotatorios?", "Con turnos rotatorios, por bloques."), (), "", "turnos rotatorios"),
        (("It was a great time, Maria!", "A great time, Maria!", "Thanks, Maria!"), (), "", ""),
        (("See the current implementation.", "The current implementation is fine."), (), "", ""),
        (("It costs 10 cm more.", "So 10 cm more."), (), "", ""),
        ((), (), "", ""),
    ],
    ids=[
        "both say it",
        "said before",
        "known",
        "said once",
        "Spanish",
        "names and praise",
        "says little",
        "amount",
        "-",
    ],
)
def test_what_is_named_again_is_what_turns_are_about(
    messages: tuple[str, ...], around: tuple[str, ...], known: str, topic: str
) -> None:
    assert about(messages, around, known) == topic


@pytest.mark.parametrize(
    ("language", "piece", "known", "thing"),
    [
        ("es", "ahora el presupuesto de infra es de 260 dólares", "", "presupuesto de infra"),
        ("es", "ahora el presupuesto de infra es de 260 dólares", "el presupuesto", ""),
        ("en", "we keep the read replica for reports", "", "read replica"),
        ("en", "see you in 7 days", "", ""),
    ],
)
def test_a_piece_that_has_no_room_leaves_the_thing_that_it_names(
    language: Language, piece: str, known: str, thing: str
) -> None:
    assert named(piece, language, known) == thing


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=40))
def test_a_topic_stands_in_the_messages_word_by_word(messages: list[str], known: str) -> None:
    for thing in filter(None, about(messages, (), known).split(", ")):
        assert any(thing in message for message in messages)


_SKILLET = "I bought a cast iron skillet yesterday."
_OIL = "Oil a cast iron skillet once a month."


@pytest.mark.parametrize(
    ("before", "user", "answer", "told"),
    [
        (_SKILLET, "How often should I oil that?", _OIL, "cast iron skillet: How often should I oil that?"),
        (
            "Se me rompió la cadena de la bici.",
            "¿Y eso cómo se engrasa en invierno?",
            "La cadena de la bici, cada 200 km.",
            "cadena de la bici: eso cómo se engrasa en invierno?",
        ),
    ],
)
def test_a_question_stands_behind_the_only_thing_that_was_named_before_it(
    before: str, user: str, answer: str, told: str
) -> None:
    assert resolved_question(user, answer, before) == told


@pytest.mark.parametrize(
    ("before", "user", "answer"),
    [
        ("", "How often should I oil that?", _OIL),
        ("I bought a cast iron skillet and a copper kettle.", "How often should I oil that?", _OIL),
        (
            "Compré una olla de cobre y una sartén de hierro.",
            "¿Cada cuánto engraso eso?",
            "La sartén de hierro, nunca.",
        ),
        (_SKILLET, "How often should I oil that?", "Once a month is enough."),
        (_SKILLET, "My sister came over. How often should I oil that?", _OIL),
        (_SKILLET, "How often should I oil a skillet?", _OIL),
        (f"{_SKILLET} {'More of it. ' * 50}", "How often should I oil that?", _OIL),
    ],
    ids=["none", "two", "two in Spanish", "not answered", "not alone", "does not point", "a long message"],
)
def test_a_question_whose_referent_is_not_sure_is_not_told(before: str, user: str, answer: str) -> None:
    assert resolved_question(user, answer, before) == ""


@pytest.mark.parametrize(
    ("user", "heard", "told"),
    [
        (
            "How do we size those nodes?",
            "Take three nodes.",
            "How do we size those nodes?",
        ),
        ("¿Cómo limpio esa sartén?", "La sartén va con sal.", "Cómo limpio esa sartén?"),
        ("How do we size those nodes?", "Take three of them.", ""),
        ("Why do they cost more than those nodes?", "Take three nodes.", ""),
    ],
)
def test_a_noun_that_was_said_right_before_is_known(user: str, heard: str, told: str) -> None:
    assert resolved_question(user, "Bien.", "Vale.", heard) == told
