"""Verdicts on requests: every kind, with its cause."""

from typing import Any, get_args

import pytest

from proxy.admin.verdict import Cause, Kind, SoFar, Verdict, verdict
from proxy.types import Sums
from tests.builders import ledger_row

CHANGED = {"plan": "managed", "tokens_original": 1_000, "tokens_sent": 400}
FAILED = {"status": 502, "outcome": "upstream_error", "cost": 0.0, "tokens_billed": 0}
ROWS: list[tuple[dict[str, Any], Kind, Cause, int]] = [
    ({**CHANGED, "cost_saved": 0.002, "mechanisms": {"window": 700, "facts": 100}}, "cheaper", "left-out", 600),
    ({**CHANGED, "cost_saved": 0.002, "tokens_sent": 1_000, "mechanisms": {"window": 7}}, "cheaper", "other", 0),
    ({**CHANGED, "cost_saved": -0.001, "mechanisms": {"window": 9, "recall": 256}}, "dearer", "recalled", 256),
    ({**CHANGED, "cost_saved": -0.001, "mechanisms": {"recall": 2}, "tokens_busted": 90}, "dearer", "rewritten", 90),
    ({**CHANGED, "cost_saved": -0.001, "mechanisms": {"summaries": 9, "facts": 5}}, "dearer", "remembered", 14),
    ({**CHANGED, "cost_saved": -0.001, "mechanisms": {"desk": 30, "recall": 2}}, "dearer", "desk", 30),
    ({**CHANGED, "cost_saved": -0.001, "mechanisms": {"window": 30}}, "dearer", "other", 0),
    ({"cost_saved": -0.001}, "dearer", "other", 0),
    ({**CHANGED, "cost_saved": 0.0, "mechanisms": {"window": 700}}, "same", "left-out", 600),
    ({}, "same", "untouched", 0),
    ({"cost_saved": 1e-12}, "same", "untouched", 0),
    ({"plan_reason": "meter;would_send=40"}, "same", "metered", 60),
    ({"plan_reason": "meter;would_send="}, "same", "untouched", 0),
    ({"plan_reason": "canary;meter;would_send=40"}, "same", "rollout", 0),
    ({"plan_reason": "rule"}, "same", "rollout", 0),
    ({"plan_reason": "returned=dearer;meter;would_send=40"}, "same", "returned", 0),
    ({"plan_reason": "returned=reported"}, "same", "returned", 0),
    ({"plan": "fail-open", "plan_reason": "stage=plan"}, "same", "fail-open", 0),
    ({"plan_reason": "route", "route": "/v1/embeddings"}, "same", "unmanaged", 0),
    ({"plan": "over-budget"}, "same", "over-budget", 0),
    ({"source": "exact", "tokens_sent": 0, "cost": 0.0, "cost_saved": 0.002}, "reused", "exact", 120),
    ({"source": "intent", "tokens_sent": 0, "cost": 0.0, "cost_saved": 0.0}, "reused", "intent", 120),
    ({"source": "command", "cost": 0.0}, "own", "command", 0),
    ({"reuse_reason": "memory"}, "own", "memory", 0),
    (FAILED, "failed", "upstream", 0),
    ({**FAILED, "status": 200, "outcome": "upstream_broken"}, "failed", "upstream", 0),
    ({**FAILED, "status": 500, "outcome": "our_error"}, "failed", "ours", 0),
    ({**FAILED, "status": 200, "outcome": "client_gone"}, "failed", "client", 0),
    ({"outcome": "client_gone"}, "same", "untouched", 0),  # it was billed
    ({"cost": 0.0}, "unpriced", "untouched", 0),
    ({**CHANGED, "cost": 0.0, "mechanisms": {"window": 700}}, "unpriced", "left-out", 600),
    ({**CHANGED, "cost": 0.0, "tokens_sent": 1_200, "mechanisms": {"facts": 200}}, "unpriced", "remembered", 200),
]


@pytest.mark.parametrize(("differing", "kind", "cause", "tokens"), ROWS)
def test_a_request_is_judged(differing: dict[str, Any], kind: Kind, cause: Cause, tokens: int) -> None:
    found = verdict(ledger_row(**differing), Sums())
    assert (found.kind, found.cause, found.tokens) == (kind, cause, tokens)


def test_every_kind_and_every_cause_has_a_row() -> None:
    assert {kind for _, kind, _, _ in ROWS} == {*get_args(Kind)}
    assert {cause for _, _, cause, _ in ROWS} == {*get_args(Cause)}


@pytest.mark.parametrize(
    ("cost", "saved", "share"), [(0.5, 0.5, 0.5), (0.75, -0.25, -0.5), (0.5, 0.0, 0.0), (0.0, 0.0, None)]
)
def test_the_share_is_of_what_pass_through_would_have_cost(cost: float, saved: float, share: float | None) -> None:
    assert verdict(ledger_row(cost=cost, cost_saved=saved), Sums()).share == share


@pytest.mark.parametrize(
    ("until", "so_far"),
    [
        (Sums(requests=1, cost=1.0, tokens_original=9), None),
        (Sums(requests=3), None),
        (
            Sums(requests=2, cost=1.0, saved_context=2.0, added_context=0.5, tokens_original=9, tokens_sent=5),
            SoFar(2, 1.0, 2.5, 9, 5),
        ),
        (
            Sums(requests=4, cost=1.0, saved_exact=0.5, saved_intent=0.25, memory=0.125, tokens_reused_prompt=7),
            SoFar(4, 1.0, 1.625, 7, 0),
        ),
        (Sums(requests=2, tokens_original=9, tokens_sent=5), SoFar(2, 0.0, 0.0, 9, 5)),
    ],
)
def test_the_conversation_so_far_is_told_from_its_second_request(until: Sums, so_far: SoFar | None) -> None:
    found: Verdict = verdict(ledger_row(), until)
    assert found.so_far == so_far
