"""A budget gives way where keeping it would make the bill dearer than pass-through, and only there."""

from dataclasses import replace

import pytest

from proxy.context.alternatives import CHEAPER, Kept, Outlook, Whole, carried, gives_way, kept
from proxy.context.draft import Memory
from proxy.context.economics import CostSoFar, Rates
from proxy.conversation.progress import Case
from tests.builders import Said, assistant, user
from tests.context.told import LEAN, Teller, Told, asking, history, profile, words

WHOLE_PROMPTS = Rates(0.05, 1.0, breakpoints=True)
BEGINNINGS = Rates(0.25, 1.0)
KEPT = Kept(now=1_500, tokens=1_500, base=1_500, before=0, before_cost=0.0, fixed=100, limit=4_000)
WHOLE = Whole(now=420, tokens=4_200)
ORDINARY, REACHING = Outlook(20, 200.0, 0.02), Outlook(20, 200.0, 0.9)
BUDGET = profile(LEAN, budget=1_000)


@pytest.mark.parametrize(
    ("rates", "spent", "within", "outlook", "is_whole"),
    [
        (WHOLE_PROMPTS, 8_000, KEPT, REACHING, True),  # carrying it all costs little, and each question would fold
        (BEGINNINGS, 30_000, KEPT, ORDINARY, False),  # what is carried is dear: the budget pays
        (BEGINNINGS, 8_000, replace(KEPT, now=1_200), ORDINARY, True),  # too much at once, so early
        (BEGINNINGS, 8_000, replace(KEPT, now=400), ORDINARY, False),  # cheaper at once
        # What it has saved so far pays for it first.
        (WHOLE_PROMPTS, 6_000, replace(KEPT, before=9, before_cost=9_000.0), REACHING, False),
        (WHOLE_PROMPTS, 8_000, replace(KEPT, before=9, before_cost=9_000.0), REACHING, True),
    ],
)
def test_the_budget_gives_way_where_keeping_it_is_dearer(
    rates: Rates, spent: float, within: Kept, outlook: Outlook, *, is_whole: bool
) -> None:
    costs = CostSoFar(baseline=max(spent, 8_000) + WHOLE.now, spent=spent)
    assert gives_way(rates, costs, within, WHOLE, outlook) is is_whole


def test_it_never_does_for_a_prompt_that_costs_more_now_and_later() -> None:
    costs = CostSoFar(baseline=9_000, spent=9_000)
    dear = Whole(now=50_000, tokens=50_000)
    assert not gives_way(BEGINNINGS, costs, KEPT, dear, ORDINARY)


def test_requests_that_were_kept_tell_what_the_next_ones_cost() -> None:
    reckoned = kept(WHOLE_PROMPTS, KEPT, 4_200, REACHING)
    cheaper = replace(KEPT, before=30, before_cost=30 * reckoned / REACHING.requests / 2)
    assert kept(WHOLE_PROMPTS, cheaper, 4_200, REACHING) < 0.7 * reckoned
    assert carried(WHOLE_PROMPTS, 4_200, REACHING) == 20 * (0.05 * (4_200 + 2_000) + 200)


def _asking(rates: Rates, turns: int, since: int = 0, **circumstances: object) -> list[Told]:
    """A conversation whose every question reaches back from the one with this number on."""
    teller, said, done = Teller(rates=rates, limit=1_000, **circumstances), list[Said](history(3, 120)), []
    for number in range(turns):
        said.append(user(f"What green tea did I tell you of, number {number}? {words(20)}"))
        done.append(teller.ask(*said, profile=BUDGET, memory=asking if number >= since else None))
        said.append(assistant(f"{number}: {words(80)}"))
    return done


def test_a_client_that_keeps_reaching_back_pays_what_pass_through_costs() -> None:
    done = _asking(WHOLE_PROMPTS, 24, may_exceed=True)
    assert done[-1].state.spent <= 1.05 * done[-1].state.baseline
    above = [each for each in done if each.tokens > 1_000]
    assert above
    assert {(each.managed.kind, each.managed.reason.rpartition(";")[2]) for each in above} == {("over-budget", CHEAPER)}


def test_a_limit_that_is_no_budget_is_kept_at_any_price() -> None:
    done = _asking(WHOLE_PROMPTS, 24)
    assert max(each.tokens for each in done) <= 1_000
    assert done[-1].state.spent > 1.2 * done[-1].state.baseline


def test_nor_is_a_prompt_longer_than_the_model_s_context() -> None:
    done = _asking(WHOLE_PROMPTS, 24, may_exceed=True, most=1_500)
    assert max(each.tokens for each in done) <= 1_500


def test_the_client_s_own_prompt_is_sent_once_more_and_what_was_folded_gone_on_from_later() -> None:
    done = _asking(BEGINNINGS, 50, 8, may_exceed=True)
    own = [at for at, each in enumerate(done) if each.managed.messages is None and each.state.fold is not None]
    assert own
    for at in own:
        before, now = done[at - 1].state, done[at].state
        assert (now.fold, now.passed, now.passed_at) == (before.fold, now.original, done[at].context.now)
        assert done[at].managed.tokens.expected > 0  # the provider still holds its beginning
    later = done[own[-1] + 1]
    assert later.managed.messages is not None
    assert later.tokens <= 1_000
    assert done[-1].state.spent < 0.9 * done[-1].state.baseline


def test_what_has_left_and_shall_be_forgotten_does_not_come_back() -> None:
    def forgetting(of: Case) -> Memory:
        return replace(asking(of), forgotten=frozenset({of.chain[1]}))

    teller, said = Teller(rates=BEGINNINGS, limit=1_000, may_exceed=True), list[Said](history(3, 120))
    has_left = False
    for number in range(50):
        said.append(user(f"What green tea did I tell you of, number {number}? {words(20)}"))
        now = teller.ask(*said, profile=BUDGET, memory=forgetting if number >= 8 else None)
        has_left = has_left or now.state.fold is not None
        assert not has_left or now.managed.messages is not None
        said.append(assistant(f"{number}: {words(80)}"))
    assert has_left


def test_what_pays_in_the_end_may_cost_more_on_the_way() -> None:
    within, whole = Kept(now=2_000, tokens=1_500, base=1_500, before=0, before_cost=0.0, fixed=100, limit=4_000), WHOLE
    long, ahead = Outlook(60, 400.0, 0.02), CostSoFar(baseline=25_000 + whole.now, spent=25_000)
    assert not gives_way(BEGINNINGS, ahead, within, whole, long)
    assert gives_way(BEGINNINGS, ahead, within, whole, replace(long, requests=3))  # too few to tell
    assert gives_way(BEGINNINGS, replace(ahead, baseline=20_000 + whole.now, spent=20_500), within, whole, long)
