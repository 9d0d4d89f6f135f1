"""What a real Prometheus makes of our metrics: every expression of dashboards, rules and alerts has an answer, and the
sums agree to the token with the upstream's bill."""

import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing

import pytest
from prometheus_client.parser import text_string_to_metric_families

from proxy.observe.catalogue import Catalogue
from proxy.observe.labels import MECHANISM
from proxy.types.request import MANAGED_ROUTE
from tests.grafana.load import Scene, run_scene
from tests.grafana.prometheus import (
    METRICS_TOKEN,
    RULES,
    Prometheus,
    expressions,
    filled,
    needs_prometheus,
    run_prometheus,
)
from tests.servers import eventually

pytestmark = pytest.mark.long

# Expressions that have no answer here, and why.
UNANSWERED = {
    "OlvidoHitRateDropped: 2": "compares with an hour ago",
    **dict.fromkeys(
        (
            "olvido:pool_wait_seconds:p99_5m",
            "OlvidoPoolWait: 1",
            "cluster: Wait for a connection: median",
            "cluster: Wait for a connection: 99 %",
        ),
        "SQLite has no pool",
    ),
    "cluster: Done without it in the hour before: {{part}}: {{reason}}": "one process has no Redis to lose",
}


@pytest.mark.note("v2 Monitoreo/4")
@needs_prometheus
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "--syntax-only", "prometheus.yml"),
        ("check", "rules", "--lint=all", "--lint-fatal", "rules.yml", "alerts.yml"),
        ("test", "rules", "tests.yml"),
    ],
    ids=" ".join,
)
def test_promtool_agrees(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=RULES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with run_scene(tmp_path_factory.mktemp("scene")) as scene:
        yield scene


@pytest.fixture(scope="module")
def prometheus(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """That has seen a round of everything, and then another: a series that begins with its first event has no rate
    before the second."""
    folder = tmp_path_factory.mktemp("prometheus")
    with run_prometheus(scene.url.removeprefix("http://"), folder) as prometheus:
        for _ in range(2):
            scene.play()
            eventually(lambda: prometheus.number("sum(olvido_requests_total)") == requests(scene))
        yield prometheus


@pytest.mark.long
@needs_prometheus
def test_every_expression_has_an_answer(prometheus: Prometheus) -> None:
    asked = {where: filled(expression) for where, expression in expressions().items() if where not in UNANSWERED}
    assert len(asked) > 80
    silent = set(asked)

    def ask_again() -> bool:
        silent.difference_update([where for where in silent if prometheus.ask(asked[where])])
        return not silent

    try:
        eventually(ask_again)
    except AssertionError:
        pytest.fail("no answer to " + "; ".join(f"{where}: {asked[where]}" for where in sorted(silent)))


@pytest.mark.long
@needs_prometheus
def test_nothing_is_left_unanswered_without_need(prometheus: Prometheus) -> None:
    every, at = expressions(), prometheus.scraped()
    assert [where for where in UNANSWERED if prometheus.ask(filled(every[where]), at)] == []


@pytest.mark.long
@needs_prometheus
def test_the_load_made_everything_happen(prometheus: Prometheus) -> None:
    """Else an expression could have an answer because its metric begins at 0."""
    happened = [
        "olvido_folds_total",
        "olvido_recall_tokens_sum",
        "olvido_summaries_sum",
        'olvido_facts{status="active"}',
        "olvido_topic_shifts_total",
        'olvido_reuse_total{kind="exact", result="hit"}',
        'olvido_reuse_total{kind="intent", result="hit"}',
        'olvido_reuse_total{result="time_dependent"}',
        'olvido_reuse_reports_total{kind="wrong"}',
        "olvido_reuse_agreement_count",
        'olvido_plans_total{kind="over-budget"}',
        'olvido_plans_total{kind="managed"}',
        'olvido_upstream_errors_total{kind="503"}',
        "olvido_fail_open_total",
        'olvido_saved_cost_dollars_total{mechanism="exact"}',
        'olvido_saved_cost_dollars_total{mechanism="intent"}',
        'olvido_added_cost_dollars_total{mechanism="context"}',
        'olvido_tokens_total{measured="false", kind="sent"}',
        "olvido_loop_lag_seconds_count",
        'olvido_storage_seconds_count{operation="read"}',
        'olvido_storage_seconds_count{operation="write"}',
    ]
    at = prometheus.scraped()
    assert [name for name in happened if prometheus.number(f"sum({name})", at) <= 0] == []


# --- without Prometheus -----------------------------------------------------------------------------------------------


def requests(scene: Scene) -> float:
    """As we tell it, background checks included."""
    return sum(value for name, _, value in told(scene) if name == "olvido_requests_total")


def told(scene: Scene) -> list[tuple[str, dict[str, str], float]]:
    families = text_string_to_metric_families(
        scene.http.get("/metrics", headers={"authorization": f"Bearer {METRICS_TOKEN}"}).text
    )
    return [(sample.name, sample.labels, sample.value) for family in families for sample in family.samples]


def test_upstream_metrics_and_ledger_agree_to_the_token(scene: Scene) -> None:
    scene.play()
    with closing(sqlite3.connect(f"file:{scene.database}?mode=ro", uri=True)) as database:
        managed = f"FROM ledger WHERE route = '{MANAGED_ROUTE}'"
        sent = dict(database.execute(f"SELECT measured, sum(tokens_sent) {managed} GROUP BY measured").fetchall())
        rows = database.execute(f"SELECT count(*) {managed}").fetchone()[0]
    exposed = {
        labels["measured"]: value
        for name, labels, value in told(scene)
        if name == "olvido_tokens_total" and labels["kind"] == "sent"
    }
    assert sent[True] == exposed["true"] == scene.upstream.prompt_tokens > 0
    assert sent[False] == exposed["false"] > 0
    assert rows == requests(scene) > scene.asked


def test_so_does_what_the_page_reads(scene: Scene) -> None:
    scene.play()
    page = scene.http.get("/admin/api/summary").json()["totals"]
    exposed: dict[str, float] = defaultdict(float)
    for name, labels, value in told(scene):
        for label in {"", *(labels.get(key, "") for key in ("kind", "mechanism", "source"))}:
            exposed[f"{name} {label}".strip()] += value
    tokens, saved = "olvido_tokens_total", "olvido_saved_cost_dollars_total"
    context, added = "olvido_context_tokens_total", "olvido_added_cost_dollars_total"
    counted = {
        "requests": exposed["olvido_requests_total"],
        "reused_exact": exposed["olvido_requests_total exact"],
        "reused_intent": exposed["olvido_requests_total intent"],
        "tokens_sent": exposed[f"{tokens} sent"],
        "tokens_cached": exposed[f"{tokens} cached"],
        "tokens_billed": exposed[f"{tokens} billed"],
        "tokens_completion": exposed[f"{tokens} completion"],
        "tokens_measured": scene.upstream.prompt_tokens,
        "tokens_busted": exposed["olvido_prefix_busted_tokens_total"],
        **{name: exposed[f"{context} {name}"] for name in MECHANISM},
    }
    assert {name: page[name] for name in counted} == counted
    assert page["tokens_original"] + page["tokens_reused_prompt"] == exposed[f"{tokens} original"]
    money = {"cost": "olvido_cost_dollars_total", "added_context": added}
    money |= {f"saved_{name}": f"{saved} {name}" for name in ("exact", "intent", "context")}
    assert {name: page[name] for name in money} == pytest.approx({name: exposed[key] for name, key in money.items()})
    assert min(page["saved_exact"], page["saved_intent"], page["window"], page["recall"]) > 0


def test_labels_say_what_the_catalogue_says_that_they_can(scene: Scene) -> None:
    scene.play()
    known = {entry.name: entry.labels for entry in Catalogue().entries}
    checked = 0
    for name, labels, _ in told(scene):
        entry = known.get(name) or known.get(name.rpartition("_")[0], {})
        for label, value in labels.items():
            values = entry.get(label, ())
            if label != "le" and not isinstance(values, str):
                assert value in values, (name, label)
                checked += 1
    assert checked > 100
