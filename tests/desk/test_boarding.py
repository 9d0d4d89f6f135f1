"""The desk once a prompt is planned: the dashboard stands where later prompts have it, and decisions are kept."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.layout import lay_out
from proxy.desk import boarding
from proxy.desk.planned import DeskInput, View
from proxy.desk.schemas import NAMES, offered_names
from proxy.desk.state import DeskState
from proxy.desk.view import with_board
from proxy.protocol.chains import chain_of
from proxy.protocol.message import message, prefixed, replaced
from proxy.types import Fates, Fold, PathState, Plan, PromptTokens
from proxy.types.desk import Applied, Board, DeskPlan, Mark, Offered, Payload, TapeLine
from tests.builders import NOW, Said, assistant, messages, result, system, user
from tests.desk.hiding import ours

TOOLS = Offered("es", NAMES, "")
OFFERED = Offered("en", NAMES, "fold")
OTHERS = Offered("en", offered_names(["forget"]), "")
BOARD = "<memory>\nStatus of your memory:\nfull\n</memory>"
PARTS = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": "x"}}]


def view(*said: Said) -> View:
    made = messages(*said)
    chain = chain_of("s/", made)
    return View(made, chain, chain, ids=tuple(range(1, len(said) + 1)), ours=(0,) * len(said))


def state(sent: int = 100, stable: int = 100, **more: Any) -> PathState:
    sizes = {"before": 0, "original": 100, "sent": sent, "stable": stable, "baseline": 0.0, "spent": 0.0}
    return PathState(**{"turns": 1, "at": NOW, "newest": 1, **sizes, **more})


def plan(desk: DeskPlan | None, **more: Any) -> Plan:
    return Plan(**{"kind": "managed", "tokens": PromptTokens(100, 200, rough=90, counted=100), "desk": desk, **more})


WITH = DeskPlan(has_tools=True, used=9_000)
WITHOUT = DeskPlan(used=9_000)


@pytest.mark.parametrize(
    ("made", "given", "known", "tools", "kept"),
    [
        (None, {}, DeskState(), TOOLS, []),
        (WITHOUT, {}, DeskState(), TOOLS, []),
        (replace(WITH, offers="fold"), {}, DeskState(), TOOLS, [Offered("es", NAMES, "fold")]),
        (WITH, {}, DeskState(offered=OFFERED), OFFERED, []),
        (WITH, {}, DeskState(offered=OFFERED), OTHERS, [Offered("en", OTHERS.names, "fold")]),
        (WITHOUT, {"ended": True}, DeskState(offered=OFFERED), OFFERED, [Offered("en", (), "fold")]),
        (WITHOUT, {"ended": True, "schemas": ()}, DeskState(offered=OFFERED), OFFERED, []),
        (WITH, {"ended": True}, DeskState(offered=OFFERED), OFFERED, []),
        (
            replace(WITH, applied=(3, 5), reason="pressure", saved=700),
            {},
            DeskState(offered=OFFERED, applied=frozenset({3})),
            OFFERED,
            [Applied((5,), "pressure", 700)],
        ),
    ],
)
def test_what_later_requests_have_to_know_is_kept(
    made: DeskPlan | None, given: dict[str, Any], known: DeskState, tools: Offered, kept: list[Payload]
) -> None:
    desk = DeskInput(view(user("q")), **{"schemas": ({},), **given})
    assert boarding.decided(plan(made), desk, known, tools) == kept


# --- where it stands -------------------------------------------------------------------------------------------------

contents = st.sampled_from(["what?", "", "a\n\nb", PARTS, [{"type": "text", "text": "one"}], []])


@given(
    contents, st.sampled_from(["", "<memory>\nhead\n</memory>"]), st.sampled_from(["", "<recalled>\nit\n</recalled>"])
)
def test_a_prompt_with_a_dashboard_is_the_prompt_of_a_view_that_has_it(content: Any, head: str, volatile: str) -> None:
    seen = view(system("s"), user(content))
    fates = Fates(preamble=1, left=1, start=1, newest=1, volatile=volatile)
    shown = boarding.with_dashboard(plan(WITH, messages=lay_out(seen.messages, fates, head=head)), seen, BOARD, 9)
    later = (seen.messages[0], with_board(seen.messages[1], BOARD))
    assert shown is not None
    assert shown.messages is not None
    assert [said.raw for said in shown.messages] == [said.raw for said in lay_out(later, fates, head=head)]


def test_behind_a_result_it_ends_the_prompt() -> None:
    seen = view(user("q"), ours("c1"), result("c1", "found"))
    shown = boarding.with_dashboard(plan(WITH, kind="untouched"), seen, BOARD, 9)
    assert shown is not None
    assert shown.messages is not None
    assert [said.raw for said in shown.messages[:-1]] == [said.raw for said in seen.messages[:-1]]
    assert shown.messages[-1].text == f"found\n\n{BOARD}"
    assert shown.kind == "managed"


@pytest.mark.parametrize(
    ("said", "planned"),
    [
        (result("c1", "found"), replaced(message(result("c1", "found")), "[left out]")),
        (user("what?"), replaced(message(user("what?")), "[left out]")),
        (user(PARTS), message(user([*PARTS, {"type": "text", "text": "more"}]))),
        (user(PARTS), prefixed(message(user("other")), "block")),
    ],
)
def test_a_message_that_is_not_the_clients_any_more_carries_none(said: Said, planned: Any) -> None:
    assert boarding.with_dashboard(plan(WITH, messages=(planned,)), view(said), BOARD, 9) is None


@pytest.mark.note("SMMA 9/2")
def test_tokens_are_counted_in_the_upstreams_own_and_the_rest_in_ours() -> None:
    seen = view(user("what?"))
    shown = boarding.with_dashboard(plan(WITH, messages=seen.messages, state=state()), seen, BOARD, 9)
    assert shown is not None
    assert shown.state is not None
    assert shown.messages is not None
    assert (shown.tokens.original, shown.tokens.sent, shown.tokens.counted) == (100, 220, 110)
    more = len(shown.messages[0].raw) - len(seen.messages[0].raw)
    assert shown.tokens.rough == 90 + more // 4
    assert (shown.state.original, shown.state.sent, shown.state.stable) == (100, 110, 110)
    uncounted = plan(WITH, tokens=PromptTokens(100, 100), messages=seen.messages, state=state(stable=60))
    shown = boarding.with_dashboard(uncounted, seen, BOARD, 9)
    assert shown is not None
    assert shown.state is not None
    assert (shown.tokens.sent, shown.tokens.counted) == (110, 0)
    assert (shown.state.sent, shown.state.stable) == (110, 60)  # it stands behind what the next turn repeats


# --- when it may be shown, and of what -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "is_known", "may"),
    [
        ([user("q")], False, True),
        ([user("q")], True, False),
        ([user("q"), ours("c1"), result("c1")], False, True),
        ([user("q"), assistant("Well,", prefix=True)], False, False),
        ([user("q"), system("s")], False, False),
    ],
)
def test_only_a_new_question_or_result_carries_it(said: list[Said], is_known: bool, may: bool) -> None:
    seen = view(*said)
    lines = {seen.chain[-1]: TapeLine(1, seen.chain[-1], NOW, "user", 1)} if is_known else {}
    assert boarding.may_show(seen, DeskState(lines=lines)) is may


TALK = view(system("s"), user("q"), ours("c1"), result("c1"), ours("c2"), result("c2"), user("q2"))


@pytest.mark.parametrize(
    ("made", "given"),
    [(None, {}), (WITHOUT, {}), (WITH, {"ended": True})],
)
def test_where_the_model_can_do_nothing_nothing_is_measured(made: DeskPlan | None, given: dict[str, Any]) -> None:
    assert boarding.standing(plan(made), DeskInput(TALK, **given), DeskState(), 0, lambda _: 500) is None


def test_what_is_marked_is_offered_no_more_and_counts_until_it_has_left() -> None:
    mark = Mark("prune", TALK.chain[2:4], 3, 4, tokens=1_000)
    elsewhere = Mark("prune", (b"other",), 9, 9, tokens=5_000)
    gone = Mark("prune", TALK.chain[4:5], 5, 5, tokens=70)
    known = DeskState(marks={1: mark, 2: elsewhere, 3: gone}, applied=frozenset({3}))
    desk = DeskInput(TALK, limit=20_000)
    found = boarding.standing(plan(WITH), desk, known, 2, lambda _: 500)
    assert found is not None
    assert (found.used, found.limit, found.sections, found.marked) == (9_000, 20_000, 2, 1_000)
    assert found.heaps == ()
    made = plan(replace(WITH, applied=(1,)), state=state(folded_results=(5,)))
    found = boarding.standing(made, desk, DeskState(marks={1: mark}), 0, lambda _: 500)
    assert found is not None
    assert found.marked == 0
    assert found.heaps == ()
    found = boarding.standing(plan(WITH), desk, DeskState(), 0, lambda _: 500)
    assert found is not None
    assert [(heap.first, heap.last) for heap in found.heaps] == [(3, 6)]


def test_only_a_dashboard_that_is_still_sent_counts_as_shown() -> None:
    boards = {TALK.chain[at]: Board(TALK.chain[at], f"b{at}", "high", "") for at in (1, 3)}
    known = DeskState(boards=boards)
    assert boarding.shown(plan(WITH), TALK, known) == boards[TALK.chain[3]]
    folded = plan(WITH, state=state(fold=Fold(start=6)))
    assert boarding.shown(folded, TALK, known) is None
