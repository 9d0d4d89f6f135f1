import numpy as np
import pytest

from proxy.memory.need import NONE, PAST, SOME, Need, need
from proxy.memory.recall import Query, rank
from tests.memory.indexed import index_of, path, turn, vector

OLD = (
    turn(1, "My boat is called Marigold and lies in Cape Merrow", "A fine name"),
    turn(2, "Mi barco se llama Caléndula y está en el muelle 14", "Lindo nombre"),
    turn(3, "The mechanic asked 900 dollars for the new keel", "That is fair"),
)
RECENT = (
    turn(4, "Let us talk about dinner", "Gladly: soup or rice?"),
    turn(5, "Soup sounds fine", "Then chop two onions"),
)
TALK = (*OLD, *RECENT)
INDEX, EMBEDDED = index_of(TALK), index_of(TALK, embedded=True)


def needed(text: str, *, embedded: bool = True, held: tuple[bytes, ...] = path(*RECENT)) -> Need:
    index = EMBEDDED if embedded else INDEX
    query = Query(text, vector(text) if embedded else None, path(*TALK), frozenset(held))
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
    index = index_of(TALK)
    for each in RECENT:
        index.add(each, np.array([vector(said.text) for said in each.utterances]))
    query = Query(text, vector(text), path(*TALK), frozenset(path(*RECENT)))
    assert need(index, query, rank(index, query)).score >= needed(text, embedded=False).score - 1


def test_who_tells_figures_asks_for_none() -> None:
    asked, told = (
        "What should I pay the mechanic for the keel?",
        "What should I pay the mechanic, 800 or 850, for the keel?",
    )
    assert needed(told).score < needed(asked).score


def test_nothing_is_needed_that_the_prompt_holds() -> None:
    assert needed("What is my boat called?", held=path(*TALK)) == NONE


def test_the_surer_it_is_the_more_is_recalled() -> None:
    found = [needed(text) for text in ("What is my boat called?", "Soup sounds fine", "Is a boat expensive?")]
    for each in found:
        expected = "past" if each.score >= PAST else "some" if each.score >= SOME else "none"
        assert each.kind == expected
    shares = {each.kind: each.share for each in found}
    assert shares["past"] == 1
    assert shares["none"] == 0
