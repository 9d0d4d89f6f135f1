"""What a scrape says of what was recorded, with labels that clients cannot make grow without end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from proxy.observe.labels import MOST_MODELS, SHARED_REASON, SHARED_STATE
from proxy.observe.metrics import BEAT, LONGEST_MODEL, Metrics
from proxy.storage.redis.connection import Status
from proxy.storage.redis.errors import REASONS
from proxy.types import BreakEven, LedgerRow, RecalledLine, Trail
from tests.builders import ledger_row


def scraped(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample but creation times, as a scraper reads it."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def after(*rows: LedgerRow) -> Metrics:
    metrics = Metrics()
    for row in rows:
        metrics.recorded(row)
    return metrics


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return scraped(metrics).get((name, frozenset(labels.items())))


REUSED = ledger_row(
    source="exact",
    reuse_reason="hit",
    tokens_original=100,
    tokens_sent=0,
    tokens_cached=0,
    tokens_billed=0,
    tokens_completion=20,
    cost=0.0,
    cost_saved=0.002,
    total_seconds=0.001,
    upstream_seconds=0.0,
    stage_seconds={},
)
BY_INTENT = replace(REUSED, source="intent", reuse_reason="absent", intent_reason="hit")


@pytest.mark.parametrize(
    ("row", "name", "labels", "expected"),
    [
        (
            ledger_row(),
            "olvido_requests_total",
            {"upstream": "up", "model": "m", "source": "upstream", "outcome": "complete"},
            1,
        ),
        (
            ledger_row(outcome="client_gone", upstream="b"),
            "olvido_requests_total",
            {"upstream": "b", "model": "m", "source": "upstream", "outcome": "client_gone"},
            1,
        ),
        (ledger_row(), "olvido_tokens_total", {"kind": "original", "model": "m", "measured": "true"}, 100),
        (ledger_row(), "olvido_tokens_total", {"kind": "sent", "model": "m", "measured": "true"}, 100),
        (ledger_row(), "olvido_tokens_total", {"kind": "cached", "model": "m", "measured": "true"}, 64),
        (ledger_row(), "olvido_tokens_total", {"kind": "billed", "model": "m", "measured": "true"}, 100),
        (ledger_row(), "olvido_tokens_total", {"kind": "completion", "model": "m", "measured": "true"}, 20),
        (
            ledger_row(measured=False),
            "olvido_tokens_total",
            {"kind": "sent", "model": "m", "measured": "false"},
            100,
        ),
        (
            ledger_row(tokens_cached=0),
            "olvido_tokens_total",
            {"kind": "cached", "model": "m", "measured": "true"},
            None,
        ),
        (REUSED, "olvido_tokens_total", {"kind": "original", "model": "m", "measured": "true"}, 100),
        (REUSED, "olvido_tokens_total", {"kind": "sent", "model": "m", "measured": "true"}, None),
        (REUSED, "olvido_tokens_total", {"kind": "completion", "model": "m", "measured": "true"}, None),
        (REUSED, "olvido_saved_tokens_total", {"mechanism": "exact", "model": "m", "measured": "true"}, 120),
        (
            replace(REUSED, measured=False),
            "olvido_saved_tokens_total",
            {"mechanism": "exact", "model": "m", "measured": "false"},
            120,
        ),
        (REUSED, "olvido_saved_cost_dollars_total", {"mechanism": "exact", "model": "m"}, 0.002),
        (REUSED, "olvido_cost_dollars_total", {"upstream": "up", "model": "m"}, None),
        (REUSED, "olvido_reuse_total", {"kind": "exact", "result": "hit"}, 1),
        (ledger_row(), "olvido_reuse_total", {"kind": "exact", "result": "absent"}, 1),
        (ledger_row(), "olvido_reuse_total", {"kind": "intent", "result": ""}, None),
        (ledger_row(intent_reason="far"), "olvido_reuse_total", {"kind": "intent", "result": "far"}, 1),
        (ledger_row(intent_reason="far"), "olvido_reuse_total", {"kind": "exact", "result": "absent"}, 1),
        (BY_INTENT, "olvido_reuse_total", {"kind": "intent", "result": "hit"}, 1),
        (BY_INTENT, "olvido_reuse_total", {"kind": "exact", "result": "absent"}, 1),
        (BY_INTENT, "olvido_saved_tokens_total", {"mechanism": "intent", "model": "m", "measured": "true"}, 120),
        (BY_INTENT, "olvido_saved_tokens_total", {"mechanism": "exact", "model": "m", "measured": "true"}, None),
        (BY_INTENT, "olvido_saved_cost_dollars_total", {"mechanism": "intent", "model": "m"}, 0.002),
        (ledger_row(), "olvido_saved_tokens_total", {"mechanism": "upstream", "model": "m", "measured": "true"}, None),
        (ledger_row(), "olvido_cost_dollars_total", {"upstream": "up", "model": "m"}, 0.002),
        (ledger_row(), "olvido_stage_seconds_sum", {"stage": "plan"}, 0.0002),
        (ledger_row(), "olvido_stage_seconds_bucket", {"stage": "plan", "le": "0.00025"}, 1),
        (ledger_row(), "olvido_stage_seconds_bucket", {"stage": "plan", "le": "0.0001"}, 0),
        (ledger_row(), "olvido_overhead_seconds_sum", {}, 0.25),
        (ledger_row(upstream_seconds=2.0), "olvido_overhead_seconds_sum", {}, 0.0),
        (REUSED, "olvido_overhead_seconds_sum", {}, 0.001),
    ],
)
def test_a_row_is_counted(row: LedgerRow, name: str, labels: Mapping[str, str], expected: float | None) -> None:
    assert value(after(row), name, **labels) == expected


MANAGED = ledger_row(
    plan="managed",
    tokens_original=1_000,
    tokens_sent=300,
    mechanisms={"window": 760, "summaries": 60},
    cost_saved=0.5,
    tokens_busted=40,
)


@pytest.mark.parametrize(
    ("row", "name", "labels", "expected"),
    [
        # Nobody has measured a prompt that was never sent.
        (MANAGED, "olvido_tokens_total", {"kind": "original", "model": "m", "measured": "false"}, 1_000),
        (MANAGED, "olvido_tokens_total", {"kind": "original", "model": "m", "measured": "true"}, None),
        (MANAGED, "olvido_tokens_total", {"kind": "sent", "model": "m", "measured": "true"}, 300),
        (MANAGED, "olvido_saved_tokens_total", {"mechanism": "context", "model": "m", "measured": "false"}, 700),
        (MANAGED, "olvido_saved_cost_dollars_total", {"mechanism": "context", "model": "m"}, 0.5),
        (MANAGED, "olvido_added_cost_dollars_total", {"mechanism": "context", "model": "m"}, 0),
        (
            replace(MANAGED, cost_saved=-0.25),
            "olvido_saved_cost_dollars_total",
            {"mechanism": "context", "model": "m"},
            0,
        ),
        (
            replace(MANAGED, cost_saved=-0.25),
            "olvido_added_cost_dollars_total",
            {"mechanism": "context", "model": "m"},
            0.25,
        ),
        (MANAGED, "olvido_context_tokens_total", {"mechanism": "window", "model": "m"}, 760),
        (MANAGED, "olvido_context_tokens_total", {"mechanism": "summaries", "model": "m"}, 60),
        (MANAGED, "olvido_prefix_busted_tokens_total", {"model": "m"}, 40),
        (MANAGED, "olvido_plans_total", {"kind": "managed"}, 1),
        (REUSED, "olvido_plans_total", {"kind": "untouched"}, 0),
    ],
)
def test_what_context_management_did_is_counted(
    row: LedgerRow, name: str, labels: Mapping[str, str], expected: float | None
) -> None:
    assert value(after(row), name, **labels) == expected


def looked_into(**differing: Any) -> LedgerRow:
    trail: dict[str, Any] = {"profile": "lean", "limit": 900, "turns": 9, "kept": 3, "start": 10, "newest": 16}
    return ledger_row(trail=Trail(**{**trail, **differing}))


def decided(leave: int, reason: str) -> BreakEven:
    return BreakEven(leave, reason, 0.25, 1.0, 8, 900, 400, 100.0, 80.0, 0.0, 2_000.0, 1_500.0)


RECALLED = tuple(RecalledLine("s", turn, "user", tokens, 0.9) for turn, tokens in ((1, 30), (2, 45)))


@pytest.mark.parametrize(
    ("row", "name", "labels", "expected"),
    [
        (looked_into(break_even=decided(5, "economic")), "olvido_folds_total", {"reason": "economic"}, 1),
        (looked_into(break_even=decided(5, "economic")), "olvido_folds_total", {"reason": "limit"}, 0),
        (looked_into(break_even=decided(5, "economic")), "olvido_folded_turns_total", {}, 5),
        (looked_into(break_even=decided(0, "")), "olvido_folded_turns_total", {}, 0),
        (looked_into(break_even=decided(0, "")), "olvido_folds_total", {"reason": ""}, None),
        (looked_into(), "olvido_window_turns_sum", {}, 3),
        (looked_into(recalled=RECALLED), "olvido_recall_tokens_sum", {}, 75),
        (looked_into(), "olvido_recall_tokens_bucket", {"le": "0.0"}, 1),
        (looked_into(recalled=RECALLED), "olvido_recall_tokens_bucket", {"le": "0.0"}, 0),
        (looked_into(summaries=2), "olvido_summaries_sum", {}, 2),
        (looked_into(turns=4, kept=3), "olvido_summaries_count", {}, 0),
        (looked_into(shift="phrase"), "olvido_topic_shifts_total", {"cause": "phrase"}, 1),
        (looked_into(), "olvido_topic_shifts_total", {"cause": "phrase"}, 0),
        (ledger_row(), "olvido_window_turns_count", {}, 0),
    ],
)
def test_how_a_prompt_came_to_be_is_counted(
    row: LedgerRow, name: str, labels: Mapping[str, str], expected: float | None
) -> None:
    assert value(after(row), name, **labels) == expected


def test_rows_add_up() -> None:
    metrics = after(ledger_row(), ledger_row(tokens_sent=50), REUSED)
    assert value(metrics, "olvido_tokens_total", kind="sent", model="m", measured="true") == 150
    assert value(metrics, "olvido_tokens_total", kind="original", model="m", measured="true") == 300
    assert value(metrics, "olvido_overhead_seconds_count") == 3


_counts = st.integers(0, 2**40)
_rows = st.builds(
    ledger_row,
    source=st.sampled_from(["upstream", "exact", "intent"]),
    tokens_original=_counts,
    tokens_completion=_counts,
    tokens_billed=_counts,
    measured=st.booleans(),
)


@pytest.mark.note("1.3/6")
@given(st.lists(_rows, max_size=6))
def test_metrics_and_ledger_agree(rows: list[LedgerRow]) -> None:
    totals = scraped(after(*rows))

    def total(name: str, **labels: Any) -> float:
        return sum(
            count for (each, told), count in totals.items() if each == name and labels.items() <= dict(told).items()
        )

    reused = [row for row in rows if row.source != "upstream"]
    assert total("olvido_requests_total") == len(rows)
    assert total("olvido_tokens_total", kind="original") == sum(row.tokens_original for row in rows)
    assert total("olvido_tokens_total", kind="billed") == sum(row.tokens_billed for row in rows)
    generated = sum(row.tokens_completion for row in rows if row.source == "upstream")
    assert total("olvido_tokens_total", kind="completion") == generated
    saved = sum(row.tokens_original + row.tokens_completion for row in reused)
    assert total("olvido_saved_tokens_total") == saved


# --- bounded --------------------------------------------------------------------------------------------------------


def test_models_are_named_while_there_are_few_and_then_are_others() -> None:
    metrics = Metrics()
    names = [f"model-{number}" for number in range(MOST_MODELS + 5)]
    assert [metrics.model(name, served=True) for name in names] == names[:MOST_MODELS] + ["other"] * 5
    assert metrics.model(names[0], served=True) == names[0]
    assert metrics.model(names[-1], served=True) == "other"


def test_a_name_too_long_to_be_one_is_another() -> None:
    metrics = Metrics()
    assert metrics.model("m" * LONGEST_MODEL, served=True) == "m" * LONGEST_MODEL
    assert metrics.model("m" * (LONGEST_MODEL + 1), served=True) == "other"


def test_a_model_gets_a_name_once_it_has_been_served() -> None:
    metrics = Metrics()
    assert metrics.model("m", served=False) == "other"
    assert metrics.model("m", served=True) == "m"
    assert metrics.model("m", served=False) == "m"


@pytest.mark.parametrize("status", [0, 404, 502])
def test_a_flood_of_models_that_do_not_exist_takes_no_names(status: int) -> None:
    metrics = Metrics()
    for number in range(MOST_MODELS):
        metrics.recorded(ledger_row(model=f"invented-{number}", status=status))
    metrics.recorded(ledger_row(model="real"))
    models = {dict(labels)["model"] for (name, labels) in scraped(metrics) if name == "olvido_requests_total"}
    assert models == {"other", "real"}


def test_a_series_is_found_by_all_of_its_labels() -> None:
    metrics = Metrics()
    one, other = metrics.of(metrics.fail_open, "plan", "deadline"), metrics.of(metrics.fail_open, "deadline", "plan")
    assert metrics.of(metrics.fail_open, "plan", "deadline") is one
    assert one is not other
    assert metrics.of(metrics.added_cost, "plan", "deadline") is not one


def test_a_flood_of_models_does_not_grow_the_exposition() -> None:
    metrics = Metrics()
    for number in range(3 * MOST_MODELS):
        metrics.recorded(ledger_row(model=f"model-{number}"))
    models = {dict(labels)["model"] for (name, labels) in scraped(metrics) if name == "olvido_requests_total"}
    assert len(models) == MOST_MODELS + 1
    assert (
        value(metrics, "olvido_requests_total", upstream="up", model="other", source="upstream", outcome="complete")
        == 2 * MOST_MODELS
    )


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "ñandú 🧉", ""])
def test_an_odd_name_survives_the_scrape(name: str) -> None:
    metrics = after(ledger_row(model=name))
    assert value(metrics, "olvido_tokens_total", kind="sent", model=name, measured="true") == 100


def test_a_stage_that_failed_open_is_counted_with_its_reason() -> None:
    metrics = Metrics()
    metrics.failed_open("plan", "deadline")
    metrics.failed_open("plan", "deadline")
    assert value(metrics, "olvido_fail_open_total", stage="plan", reason="deadline") == 2


def test_a_run_of_the_embedding_model_is_counted_with_its_size_and_time() -> None:
    metrics = Metrics()
    metrics.embedded(3, 0.002)
    metrics.embedded(1, 0.5)
    assert value(metrics, "olvido_embed_batch_texts_sum") == 4
    assert value(metrics, "olvido_embed_batch_texts_bucket", le="2.0") == 1
    assert value(metrics, "olvido_embed_seconds_sum") == pytest.approx(0.502)
    assert value(metrics, "olvido_embed_seconds_bucket", le="0.0025") == 1


def test_rows_that_were_lost_are_counted_once() -> None:
    metrics = Metrics()
    for lost in (0, 3, 3, 7):
        metrics.dropped({"links": lost})
    assert value(metrics, "olvido_writer_dropped_rows_total", kind="links") == 7
    assert value(metrics, "olvido_writer_dropped_rows_total", kind="ledger") == 0


def test_facts_that_are_gone_are_not_told_of_any_more() -> None:
    metrics = Metrics()
    metrics.holding({"active": 2, "stale": 1})
    metrics.holding({"active": 1})
    assert value(metrics, "olvido_facts", status="active") == 1
    assert value(metrics, "olvido_facts", status="stale") == 0


def test_the_worst_that_the_loop_was_is_that_of_the_last_minute() -> None:
    metrics = Metrics()
    metrics.beat(0.4)
    metrics.beat(0.001)
    assert value(metrics, "olvido_loop_lag_max_seconds") == 0.4
    for _ in range(round(60 / BEAT)):
        metrics.beat(0.002)
    assert value(metrics, "olvido_loop_lag_max_seconds") == 0.002
    assert value(metrics, "olvido_loop_lag_seconds_bucket", le="0.25") == round(60 / BEAT) + 1


def test_time_in_the_database_is_told_by_what_it_did() -> None:
    metrics = Metrics()
    metrics.stored("read", 0.002)
    metrics.stored("write", 0.25)
    assert value(metrics, "olvido_storage_seconds_sum", operation="read") == 0.002
    assert value(metrics, "olvido_storage_seconds_sum", operation="write") == 0.25


def test_the_process_and_its_version_are_told() -> None:
    told = scraped(Metrics())
    assert {name for name, _ in told} >= {"process_resident_memory_bytes", "process_cpu_seconds_total"}
    assert [count for (name, _), count in told.items() if name == "olvido_build_info"] == [1]


@pytest.mark.parametrize(
    "name",
    [
        "olvido_reuse_entries",
        "olvido_reuse_index_bytes",
        "olvido_reuse_breaker_open",
        "olvido_reuse_agreement_count",
        "olvido_embed_batch_texts_count",
    ],
)
def test_reuse_by_intent_is_told_of_before_anything_was_reused(name: str) -> None:
    assert value(Metrics(), name) == 0


def test_an_answer_that_was_wrong_is_counted_by_how_we_know() -> None:
    metrics = Metrics()
    metrics.of(metrics.reuse_reports, "wrong").inc()
    metrics.of(metrics.reuse_reports, "rephrased").inc(2)
    assert value(metrics, "olvido_reuse_reports_total", kind="wrong") == 1
    assert value(metrics, "olvido_reuse_reports_total", kind="rephrased") == 2


def test_a_breaker_is_told_as_it_was_last_seen() -> None:
    metrics = Metrics()
    for is_open in (False, True, True, False):
        metrics.breaker("up", is_open=is_open)
        assert value(metrics, "olvido_upstream_breaker_open", upstream="up") == is_open


def test_what_is_done_without_the_others_is_counted_by_part_and_reason() -> None:
    metrics = Metrics()
    for _ in range(2):
        metrics.shared_failed("answers", "timeout")
    assert value(metrics, "olvido_shared_failures_total", part="answers", reason="timeout") == 2
    assert {*REASONS, "held"} == set(SHARED_REASON)


def test_of_the_states_of_what_is_shared_one_holds() -> None:
    metrics = Metrics()
    told = [value(metrics, "olvido_shared_state", state=state) for state in SHARED_STATE]
    assert told == [0] * len(get_args(Status))
    for state in ("ready", "down"):
        metrics.shared_changed(state)
    assert [value(metrics, "olvido_shared_state", state=state) for state in SHARED_STATE] == [0, 0, 1]


def test_two_servers_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.recorded(ledger_row())
    assert value(other, "olvido_overhead_seconds_count") == 0


def test_what_is_configured_begins_at_0_so_that_its_first_request_is_a_growth() -> None:
    metrics = Metrics()
    metrics.expect({"up": ["m"]})
    before = scraped(metrics)
    metrics.recorded(ledger_row(cost_saved=0.001, mechanisms={"window": 50}))
    after_it = scraped(metrics)
    counted = {
        name
        for (name, labels) in after_it.keys() - before.keys()
        if name.endswith("_total") and ("model", "m") in labels and ("measured", "false") not in labels
    }
    assert counted == set()
    assert all(value == 0 for (name, _), value in before.items() if name.startswith(("olvido_cost", "olvido_tokens")))


def test_a_model_that_is_configured_is_told_by_its_name_before_anybody_has_answered_for_it() -> None:
    metrics = Metrics()
    metrics.expect({"up": ["m"]})
    assert metrics.model("m", served=False) == "m"
    assert metrics.model("n", served=False) == "other"


def test_end_users_are_told_by_name_only_where_they_are_configured() -> None:
    quiet, told = Metrics(), Metrics()
    told.tell_users(["ana", "luis"])
    for metrics in (quiet, told):
        for name in ("ana", "ana", "stranger", "another", ""):
            metrics.recorded(ledger_row(scope=f"{'ab' * 16}/{name}", cost=0.25, cost_saved=0.5))
    assert [name for name, _ in scraped(quiet) if name.startswith("olvido_user")] == []
    for name, each in (("requests", 1), ("tokens", 120), ("cost_dollars", 0.25), ("saved_cost_dollars", 0.5)):
        found = {user: value(told, f"olvido_user_{name}_total", user=user) for user in ("ana", "luis", "other")}
        assert found == {"ana": 2 * each, "luis": 0, "other": 2 * each}
    assert value(told, "olvido_user_requests_total", user="stranger") is None
