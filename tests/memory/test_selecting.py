"""The gate of recall, and excerpts of old messages, of those that are ranked."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.recall import Query, rank
from proxy.memory.selecting import (
    AT_ONCE,
    FLOOR_LEAST,
    FLOOR_MOST,
    FRAMING,
    MOST_REFUSED,
    NONE,
    PAST,
    SOME,
    Need,
    floor,
    need,
    select,
)
from proxy.memory.spans import estimate
from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn, Excerpt
from tests.memory.indexed import TALK, index_of, link, path, search, turn, vector

BUDGET = 200


def words(text: str) -> int:
    return len(text.split())


def recalled(
    text: str, *turns: ArchivedTurn, embedded: bool = False, budget: int = BUDGET, count: Callable[[str], int] = words
) -> tuple[Excerpt, ...]:
    query = Query(text, vector(text) if embedded else None, path(*turns))
    return search(index_of(turns, embedded=embedded), query, budget_tokens=budget, count=count)


@pytest.mark.parametrize("embedded", [False, True], ids=["by-words", "by-meaning-too"])
def test_the_message_that_answers_is_recalled_first(embedded: bool) -> None:
    (only,) = recalled("how is my boat named?", *TALK, embedded=embedded, budget=7 + FRAMING)
    assert only == Excerpt(link("1.0"), "user", TALK[0].utterances[0].text, 1, "s", 1.0, only.score, 7 + FRAMING)


def test_excerpts_come_in_the_order_they_were_said_and_say_what_they_cost() -> None:
    found = recalled("the dentist on Thursday, and the boat Marigold?", *TALK)
    assert [excerpt.turn for excerpt in found] == sorted(excerpt.turn for excerpt in found)
    assert {1, 3} <= {excerpt.turn for excerpt in found}
    assert all(excerpt.tokens == words(excerpt.text) + FRAMING for excerpt in found)


@pytest.mark.note("0/3")
def test_what_scores_far_below_the_best_is_left_out_though_there_is_room() -> None:
    found = {excerpt.turn for excerpt in recalled("toner for the printer", *TALK, budget=10_000)}
    assert 4 in found
    assert 1 not in found


def test_the_more_there_is_for_the_room_the_nearer_to_the_best_must_an_excerpt_be() -> None:
    shares = [floor("Is the keel dry?", fillings=times) for times in (0.1, 1, 4, 16, 64, 10**6)]
    assert shares == sorted(shares)
    assert shares[0] == shares[1] < shares[2] < shares[3] < shares[4]
    assert (shares[0], shares[-1]) == (FLOOR_LEAST, FLOOR_MOST)


def test_a_question_for_one_thing_gets_fewer_excerpts_than_one_for_many() -> None:
    asked = ("When was the keel painted?", "Why was the keel painted?", "List all that was painted")
    one, some, many = (floor(text, fillings=10) for text in asked)
    assert one > some >= many


def test_in_a_talk_of_equals_both_must_be_as_near_to_the_best_and_else_only_answers_nearer() -> None:
    talk = [turn(number, f"the keel got paint number {number}", f"paint number {number}") for number in range(1, 400)]
    index, query = index_of(talk), Query("Did the keel get paint?", None, path(*talk))
    ranking = rank(index, query)
    falling = replace(ranking, scores=np.linspace(1, 0, len(ranking.scores), dtype=np.float32) ** 20)
    (told, answered), (user, assistant) = (
        [[each.role for each in found].count(role) for role in ("user", "assistant")]
        for asking in (0.0, 1.0)
        for found in [select(index, replace(falling, asking=asking), query, budget_tokens=9_999, count=words)]
    )
    assert told - answered in (0, 1)  # they alternate
    assert assistant < answered < user


def test_of_a_short_conversation_a_part_is_recalled_and_more_for_a_summary() -> None:
    talk = [turn(number, f"the keel got paint number {number}", "fine") for number in range(1, 200)]
    one, some, whole = (
        sum(each.tokens for each in recalled(text, *talk, budget=100_000))
        for text in ("When did the keel get paint?", "Did the keel get paint?", "Summarise the paint of the keel")
    )
    assert one <= some < whole < 200 * 9


def test_of_a_long_message_what_is_fenced_is_recalled_only_where_it_matches() -> None:
    code = "\n".join(f"value_{at} = compute_{at}(other_{at})" for at in range(48))
    message = f"The budget of the quarter in euros: 48,000 euros.\n\n```\n{code}\n```\n\nPlease keep the budget."
    best = turn(9, "the budget of the quarter in euros", "fine")
    talk = [turn(1, message, "fine"), turn(3, "the dentist called", "oh"), best]
    found = recalled("what was the budget of the quarter in euros?", *talk, budget=1_500)
    long = [each.text for each in found if each.turn == 1 and each.role == "user"]
    assert "48,000" in long[0]
    assert "Please keep the budget." in long[0]
    assert "value_22 " not in long[0]
    assert "\n…\n" in long[0]


def test_a_smaller_room_is_no_reason_to_fill_it() -> None:
    talk = [turn(number, f"keel paint {number}", "fine") for number in range(1, 200)]
    talk.append(turn(300, "which copper paint the keel of boat Marigold got", "noted"))
    found = recalled("which copper paint did the keel of boat Marigold get?", *talk, budget=60)
    assert sum(each.tokens for each in found) < 40


def test_what_the_prompt_holds_is_not_recalled() -> None:
    query = Query("how is my boat named?", None, path(*TALK), frozenset(path(TALK[0])))
    found = search(index_of(TALK), query, budget_tokens=BUDGET, count=words)
    assert all(excerpt.turn != 1 for excerpt in found)


def test_a_branch_does_not_see_its_sibling() -> None:
    sibling = turn(6, "I sold the boat Marigold", "For how much?", prefix="b")
    query = Query("the boat Marigold", None, path(*TALK))
    found = search(index_of([*TALK, sibling]), query, budget_tokens=BUDGET, count=words)
    assert found
    assert all("sold" not in excerpt.text for excerpt in found)


def test_other_sessions_are_searched_only_if_wanted() -> None:
    other = turn(1, "I painted my boat Marigold green", "Nice", session="other", prefix="o")
    index = index_of([*TALK, other])
    query = Query("which colour is my boat painted?", None, path(*TALK))
    assert all(each.session == "s" for each in search(index, query, budget_tokens=BUDGET, count=words))
    wider = search(index, replace(query, others_than="s"), budget_tokens=BUDGET, count=words)
    assert "other" in {each.session for each in wider}


@pytest.mark.note("4/6")
def test_of_a_long_answer_only_the_passage_that_matters_is_recalled() -> None:
    filling = [f"Point {number}: " + "general remarks on sailing follow. " * 12 for number in range(6)]
    filling[4] = "Point 4: paint the keel with copper. " + "It keeps barnacles away. " * 12
    told = turn(1, "How do I care for a boat?", "\n\n".join(filling))
    found = recalled("copper on the keel?", told, TALK[1], budget=120)
    (passage,) = [excerpt for excerpt in found if excerpt.role == "assistant" and excerpt.turn == 1]
    assert passage.text == f"… {filling[4].strip()} …"


def test_neighbouring_passages_become_one_excerpt() -> None:
    halves = ["Copper paint for the keel. " * 16, "The keel wants copper paint. " * 16, "Unrelated remarks. " * 24]
    told = turn(1, "How do I care for it?", "\n\n".join(half.strip() for half in halves))
    found = recalled("copper paint keel", told, TALK[1], budget=210)
    texts = [excerpt.text for excerpt in found if excerpt.role == "assistant" and excerpt.turn == 1]
    assert texts == ["\n\n".join(half.strip() for half in halves[:2]) + " …"]


def test_a_long_user_message_is_recalled_whole() -> None:
    text = "My boat Marigold has a story. " + "It was built by hand in a shed. " * 30
    assert len(index_of([turn(1, text, "Go on")]).texts(turn(1, text))) > 1
    found = recalled("the story of Marigold", turn(1, text, "Go on"), TALK[1], budget=1_000, count=estimate)
    assert text in {excerpt.text for excerpt in found}


def test_an_answer_is_recalled_whole_if_it_is_the_answer_that_is_asked_for() -> None:
    text = "I recommend copper paint. " + "It keeps the barnacles away for years. " * 16
    told = turn(1, "What is good for a keel?", text)
    asked = recalled("which paint did you recommend?", told, TALK[1], budget=600, count=estimate)
    assert text in {excerpt.text for excerpt in asked}


def test_a_neighbour_of_what_matches_is_preferred_to_a_stranger() -> None:
    query = Query("toner", None, path(*TALK))
    found = search(index_of(TALK), query, budget_tokens=2 * FRAMING + 11, count=words)
    assert [excerpt.turn for excerpt in found] == [4, 4]


def test_the_search_ends_when_nothing_more_fits() -> None:
    many = [turn(number, f"boat number {number} is blue", "fine") for number in range(1, 300)]
    texts: list[str] = []

    def count(text: str) -> int:
        texts.append(text)
        return 50

    assert recalled("boat", *many, budget=2 * FRAMING + 50 + 20, count=count)
    assert len(texts) <= MOST_REFUSED + 2


def test_of_many_passages_the_best_come_first_and_of_equals_the_first_said() -> None:
    talk = [
        turn(number, 8 * ("the boat is blue " if number % 2 else "a blue boat, a boat "))
        for number in range(3 * AT_ONCE)
    ]
    index, query = index_of(talk), Query("boat", None, path(*talk))
    ranking = rank(index, query)
    order = np.argsort(-ranking.scores, kind="stable")
    for most in (1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1):
        found = select(index, ranking, query, budget_tokens=most * (10 + FRAMING), count=lambda _: 10)
        assert [each.turn for each in found] == sorted(order[:most].tolist())


def test_what_is_known_to_be_the_tokens_of_a_message_is_not_counted_again() -> None:
    index, query = index_of(TALK), Query("boat Marigold printer toner", None, path(*TALK))
    ranking, counted = rank(index, query), search(index, query, budget_tokens=40, count=words)
    asked: list[int] = []

    def known(at: int, text: str) -> int:
        asked.append(at)
        assert text == [said.text for each in TALK for said in each.utterances][at]
        return words(text)

    def count(text: str) -> int:
        raise AssertionError(text)

    assert select(index, ranking, query, budget_tokens=40, count=count, known=known) == counted
    assert asked


def test_of_other_sessions_nothing_is_known_without_counting() -> None:
    other = turn(1, "My boat lies in Cape Merrow", session="o", prefix="o")
    index = index_of([*TALK, other])
    query = Query("boat", None, path(*TALK), frozenset(path(*TALK)), others_than="s")
    found = select(index, rank(index, query), query, budget_tokens=BUDGET, count=words, known=lambda _at, _text: 1)
    assert [each.tokens for each in found] == [6 + FRAMING]


@pytest.mark.parametrize("text", ["", "?", "zzz unheard of", "the of and"])
def test_a_question_with_no_known_word_recalls_within_the_budget_or_nothing(text: str) -> None:
    assert sum(excerpt.tokens for excerpt in recalled(text, *TALK, budget=30)) <= 30


def test_nothing_is_recalled_from_an_empty_index() -> None:
    assert search(TurnIndex(), Query("boat", vector("boat"), ()), budget_tokens=BUDGET, count=words) == ()


TEXTS = st.text(alphabet=st.sampled_from("boat keel red.\n? "), max_size=900)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6), TEXTS, st.integers(0, 400), st.booleans())
def test_excerpts_are_verbatim_within_the_budget_and_the_same_each_time(
    said: list[tuple[str, str]], question: str, budget: int, embedded: bool
) -> None:
    turns = [turn(number, *texts) for number, texts in enumerate(said, 1)]
    found = recalled(question, *turns, embedded=embedded, budget=budget, count=estimate)
    texts = {utterance.link: utterance.text for each in turns for utterance in each.utterances}
    assert sum(estimate(excerpt.text) + FRAMING for excerpt in found) <= budget
    assert all(excerpt.text in texts[excerpt.link] for excerpt in found)
    assert found == recalled(question, *turns, embedded=embedded, budget=budget, count=estimate)


OLD = (
    turn(1, "My boat is called Marigold and lies in Cape Merrow", "A fine name"),
    turn(2, "Mi barco se llama Caléndula y está en el muelle 14", "Lindo nombre"),
    turn(3, "The mechanic asked 900 dollars for the new keel", "That is fair"),
)
RECENT = (
    turn(4, "Let us talk about dinner", "Gladly: soup or rice?"),
    turn(5, "Soup sounds fine", "Then chop two onions"),
)
LONG_TALK = (*OLD, *RECENT)
INDEX, EMBEDDED = index_of(LONG_TALK), index_of(LONG_TALK, embedded=True)


def needed(text: str, *, embedded: bool = True, held: tuple[bytes, ...] = path(*RECENT)) -> Need:
    index = EMBEDDED if embedded else INDEX
    query = Query(text, vector(text) if embedded else None, path(*LONG_TALK), frozenset(held))
    return need(index, query, rank(index, query))


@pytest.mark.parametrize("embedded", [False, True], ids=["by-words", "by-meaning-too"])
@pytest.mark.parametrize(
    "text",
    [
        "What is my boat called?",
        "Remind me where my boat lies",
        "How much did the mechanic ask for the keel?",
        "¿Cómo se llamaba mi barco?",
        "¿En qué muelle está mi barco?",
    ],
)
def test_a_question_about_what_left_the_prompt_opens_the_gate(text: str, embedded: bool) -> None:
    assert needed(text, embedded=embedded).share > 0


@pytest.mark.note("0/2", "6/4")
@pytest.mark.parametrize("embedded", [False, True], ids=["by-words", "by-meaning-too"])
@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that was delicious!",
        "Ok, I have chopped them. It smells great already.",
        "Dale, gracias. Ya la probé y quedó muy rica.",
        "I bought bread on my way home. The shop was full. Then it rained.",
        "",
    ],
)
def test_ordinary_talk_leaves_it_shut(text: str, embedded: bool) -> None:
    assert needed(text, embedded=embedded).kind == "none"


@pytest.mark.parametrize("text", ["What is my boat called?", "¿Cómo se llamaba mi barco?"])
def test_the_gate_is_not_shut_by_old_turns_that_are_not_embedded_yet(text: str) -> None:
    index = index_of(LONG_TALK)
    for each in RECENT:
        index.add(each, np.array([vector(said.text) for said in each.utterances]))
    query = Query(text, vector(text), path(*LONG_TALK), frozenset(path(*RECENT)))
    assert need(index, query, rank(index, query)).score >= needed(text, embedded=False).score - 1


def test_who_tells_figures_asks_for_none() -> None:
    asked, told = (
        "What should I pay the mechanic for the keel?",
        "What should I pay the mechanic, 800 or 850, for the keel?",
    )
    assert needed(told).score < needed(asked).score


def test_nothing_is_needed_that_the_prompt_holds() -> None:
    assert needed("What is my boat called?", held=path(*LONG_TALK)) == NONE


def test_the_surer_it_is_the_more_is_recalled() -> None:
    found = [needed(text) for text in ("What is my boat called?", "Soup sounds fine", "Is a boat expensive?")]
    for each in found:
        expected = "past" if each.score >= PAST else "some" if each.score >= SOME else "none"
        assert each.kind == expected
    shares = {each.kind: each.share for each in found}
    assert shares["past"] == 1
    assert shares["none"] == 0
