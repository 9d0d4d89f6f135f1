from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.context import planning
from proxy.context.budget import TokenBudget
from proxy.context.draft import Draft, Memory, PlanContext, TooMuch
from proxy.context.folding import FoldPlanner
from proxy.context.pointed import LONGEST_ITEM, by_item
from proxy.context.recollecting import recollect
from proxy.context.volatile import VolatilePlanner
from proxy.conversation.blocks import ours
from proxy.conversation.progress import Case, Progress, progress
from proxy.memory.shelf import Shelf
from proxy.types import Plan
from tests.builders import Said, assistant, messages, user
from tests.context.told import LEAN, case, context, exchange, profile

BARS = "Estos bares:\n\n1. **Labra**: croquetas\n2. **Guru**: cócteles\n3. **Urban**: terraza\n\n¿Reservo?"
LISTED: list[Said] = [user("Buscame bares"), assistant(BARS)]
SINCE: list[Said] = [each for number in range(12) for each in exchange(number)]
LIMIT = 900


def asked(said: Sequence[Said], *, limit: int | None = LIMIT) -> tuple[Case, Progress, PlanContext]:
    of = case(messages(*said))
    so_far = progress(of)
    assert so_far is not None
    return of, so_far, context(of, limit=limit)


def looked_up(said: Sequence[Said], shelf: Shelf | None = None) -> Memory | None:
    of, so_far, how = asked(said)
    return by_item(Memory(), of.messages[-1].text, how, of, so_far, shelf or Shelf())


def planned(said: Sequence[Said], *, limit: int | None = LIMIT, **window: int) -> Plan:
    of = case(messages(*said), profile=profile(LEAN, fold="strict", window=window))
    so_far = progress(of)
    assert so_far is not None
    how = context(of, limit=limit)
    return planning.make(of, so_far, recollect(how, of, so_far, Shelf()), how)


def recalled(plan: Plan) -> str:
    assert plan.messages is not None
    return "\n".join(block for block in ours(plan.messages[-1].text) if block.startswith("<recalled>"))


@pytest.mark.note("v2 Builder/2")
@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("dame más info del segundo", "[2/3] 2. **Guru**: cócteles"),
        ("¿y el primero?", "[1/3] 1. **Labra**: croquetas"),
        ("the last one", "[3/3] 3. **Urban**: terraza"),
        ("¿y el de la terraza?", "[3/3] 3. **Urban**: terraza"),
        ("the first two", "[1/3] 1. **Labra**: croquetas\n[2/3] 2. **Guru**: cócteles"),
    ],
)
def test_of_a_folded_list_the_item_that_is_meant_goes_with_the_question_and_nothing_else(
    question: str, item: str
) -> None:
    plan = planned([*LISTED, *SINCE, user(question)])
    lines = f"1 assistant: Estos bares:\n{item}"
    assert recalled(plan) == f"<recalled>\nEarlier user messages that may matter now, by turn:\n{lines}\n</recalled>"
    assert plan.fates is not None
    assert plan.fates.quoted == (1,)
    assert plan.tokens.sent <= LIMIT


def test_a_list_that_the_window_holds_is_not_said_again() -> None:
    plan = planned([*SINCE, *LISTED, user("dame más info del segundo")])
    assert plan.messages is not None
    assert BARS in [said.text for said in plan.messages]
    assert recalled(plan) == ""


@pytest.mark.parametrize(("tokens", "is_lost"), [(60, True), (10_000, False)])
def test_unless_its_item_was_lost_where_a_long_answer_is_shortened(tokens: int, is_lost: bool) -> None:
    long = "\n".join(f"{number}. **Bar {number}**: {'tapas ' * 8}" for number in range(1, 31))
    said = messages(user("Bares"), assistant(long), *SINCE[:2], user("explicame el 15"))
    of = case(said, profile=profile(LEAN, window={"answer_tokens": tokens}))
    so_far = progress(of)
    assert so_far is not None
    how = context(of)
    memory = by_item(Memory(), said[-1].text, how, of, so_far, Shelf())
    assert memory is not None
    budget = TokenBudget(of, so_far, how)
    budget.cap_all([1])
    draft = VolatilePlanner(budget, memory, FoldPlanner(budget, memory)).with_volatile(Draft(None, so_far.open))
    assert ("[15/30] 15. **Bar 15**" in draft.volatile.text) is is_lost


def test_a_fold_in_this_very_request_loses_no_item() -> None:
    assert "Guru" in recalled(planned([*LISTED, *SINCE, user("dame más info del segundo")], limit=None, tokens=300))


@pytest.mark.parametrize(
    "said",
    [
        SINCE,
        [user("Revisá:\n1. Manteca\n2. Harina"), assistant("Está bien."), *SINCE],  # the user's own list
        [user("Hola"), assistant("- una sola"), *SINCE],
    ],
)
@pytest.mark.parametrize(
    "question", ["Tell me more about the second one", "¿y el segundo?", "más info del segundo bar"]
)
def test_where_nothing_was_listed_nothing_is_recalled(said: list[Said], question: str) -> None:
    assert looked_up([*said, user(question)]) == Memory()
    assert recalled(planned([*said, user(question)])) == ""


def test_what_the_user_has_spoken_of_is_searched_for_as_ever() -> None:
    said = [user("Fui a dos bares en Lugo."), assistant("Qué bien."), *SINCE, user("más info del segundo bar")]
    assert looked_up(said) is None


def test_a_question_that_points_at_nothing_is_searched_for_as_ever() -> None:
    assert looked_up([*LISTED, *SINCE, user("¿Quién ganó la segunda guerra mundial?")]) is None


def test_forgotten_lists_stay_forgotten() -> None:
    said = [*LISTED, *SINCE, user("dame más info del segundo")]
    of, _, _ = asked(said)
    for link in of.chain[:2]:
        assert looked_up(said, Shelf(forgotten=frozenset({link}))) == Memory()


def test_of_a_long_item_the_beginning_is_recalled() -> None:
    memory = looked_up([user("x"), assistant(f"1. {'a' * 2 * LONGEST_ITEM}\n2. b"), *SINCE, user("el primero")])
    assert memory is not None
    assert memory.pointed is not None
    assert len(memory.pointed.excerpt.text) < LONGEST_ITEM + 20


def test_the_event_loop_reads_no_old_answers() -> None:
    of, so_far, how = asked([*LISTED, *SINCE, user("¿y el primero?")])
    with pytest.raises(TooMuch):
        by_item(Memory(), "¿y el primero?", replace(how, in_place=True), of, so_far, Shelf())
    assert by_item(Memory(), "gracias", replace(how, in_place=True), of, so_far, Shelf()) is None


def test_where_the_limit_leaves_no_room_older_turns_make_it() -> None:
    roomy = planned([*LISTED, *SINCE, user("gracias")], limit=LIMIT)
    tight = roomy.tokens.sent + 10
    plan = planned([*LISTED, *SINCE, user("¿y el primero?")], limit=tight)
    assert "Labra" in recalled(plan)
    assert plan.tokens.sent <= tight
