"""What the panels tell of one burst of requests, of a restart, and of a label that nobody has heard of, as a real
Prometheus sees them: nothing reads $0 since its series was born with a value, nothing is counted twice or lost.

A panel's expression is compared with the plain values of the series that it counts: in the first life of a process,
what has grown is what there is.
"""

import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import time

import pytest

from tests.grafana.load import NEWCOMER, Counting, Scene, run_life, run_upstream
from tests.grafana.prometheus import Prometheus, expressions, filled, needs_prometheus, panels, rules, run_prometheus
from tests.grafana.test_prometheus import UNANSWERED
from tests.servers import eventually

pytestmark = [pytest.mark.long, needs_prometheus]

SEEN = "count_over_time(olvido_ready[1h])"
ENOUGH = 20  # samples of a series: Prometheus adds up to one sample's growth at the edges of a span
CLOSE = 0.08  # of what Prometheus makes of a span's edges
_COUNTED = re.compile(r'increase\((?P<of>[^\[]+)\[\w+\]\) or label_replace\(.*?"born", "", ""\)')
_TOTAL = re.compile(r"(?P<by>max by \([^)]*\) )\(last_over_time\((?P<of>[^\[]+)\[\w+\]\)\) - \(")
_RATE = re.compile(r"rate\((?P<of>[^\[]+)\[1h\]\)")
_INCREASE = re.compile(r"increase\((?P<of>[^\[]+)\[\w+\]\)")
# Not of requests: they go on while nothing is asked.
_RESTLESS = (
    "process_resident",
    "process_cpu",
    "process_open",
    "process_max",
    "loop_l",
    "olvido_tasks",
    "writer_queue",
    "writer_lag",
    "storage_seconds",
    "memory_pending",
)


def grown(expression: str) -> bool:
    return plain(expression) != expression


def plain(expression: str) -> str:
    """The expression with the values of series in place of their growth."""
    expression = _COUNTED.sub(r"\g<of>", expression)
    while found := _TOTAL.search(expression):
        end = _closed(expression, found.end())
        expression = f"{expression[: found.start()]}{found['by']}({found['of']}){expression[end:]}"
    expression = _RATE.sub(r"(\g<of> / 3600)", expression)
    return _INCREASE.sub(r"\g<of>", expression)


def _closed(text: str, at: int) -> int:
    """Behind the parenthesis that was opened before `at`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def asked() -> dict[str, str]:
    """Every panel's expression, and every rule's, by where it stands."""
    recorded = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}
    told = {f"rule {name}": _widened(" ".join(expression.split())) for name, expression in recorded.items()}
    for where, expression in expressions().items():
        if any(where.startswith(f"{name}: ") for name, _ in panels()) and where not in UNANSWERED:
            told[where] = filled(expression)
    return {
        where: expression
        for where, expression in told.items()
        if not any(part in expression for part in _RESTLESS) and where.removeprefix("rule ") not in UNANSWERED
    }


def _widened(expression: str) -> str:
    """The expression over an hour in place of five minutes, which a burst outlasts where the machine is busy."""
    return (
        expression.replace("[5m]", "[1h]").replace("offset 5m", "offset 1h").replace("time() - 300)", "time() - 3600)")
    )


@dataclass(slots=True)
class Story:
    """What Prometheus told at each point of it, of the panels and of the plain values."""

    told: dict[str, dict[str, Mapping[str, float]]] = field(default_factory=dict)
    plain: dict[str, dict[str, Mapping[str, float]]] = field(default_factory=dict)
    ledger: dict[str, Mapping[str, float]] = field(default_factory=dict)  # its own sums

    def look(self, point: str, prometheus: Prometheus, scene: Scene) -> None:
        at = prometheus.scraped()
        self.told[point] = {where: prometheus.ask(each, at) for where, each in asked().items()}
        self.plain[point] = {where: prometheus.ask(plain(each), at) for where, each in asked().items()}
        self.plain[point]["models"] = prometheus.ask("sum by (model) (olvido_ledger_requests)", at)
        self.ledger[point] = _ledger(scene)


def _ledger(scene: Scene) -> Mapping[str, float]:
    """Its sums, by the proxy's own API."""
    answer = scene.http.get("/admin/api/summary", params={"from": time() - 86_400})
    told: Mapping[str, float] = answer.json()["totals"]
    return told


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder, story = tmp_path_factory.mktemp("burst"), Story()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        run_upstream() as (upstream, url),
        run_prometheus(f"127.0.0.1:{port}", tmp_path_factory.mktemp("prometheus")) as prometheus,
    ):

        def life(*points: tuple[str, Callable[[Scene], None]]) -> None:
            _life(story, prometheus, upstream, url, folder, port, points)

        life(("burst", Scene.play))
        life(("restart", lambda _: None), ("newcomer", Scene.ask_newcomer))
        yield story


def _life(
    story: Story,
    prometheus: Prometheus,
    upstream: Counting,
    url: str,
    folder: Path,
    port: int,
    points: tuple[tuple[str, Callable[[Scene], None]], ...],
) -> None:
    with run_life(upstream, url, folder, port) as scene:
        begun = time()
        eventually(lambda: prometheus.ask(f"process_start_time_seconds and timestamp(olvido_ready) > {begun}"))
        eventually(lambda: prometheus.ask("olvido_ledger_since_seconds"))
        for point, act in points:
            act(scene)
            done = time()
            requests = _ledger(scene)["requests"]
            eventually(lambda: prometheus.number("sum(olvido_ledger_requests)") == requests)  # noqa: B023 (at once)
            eventually(lambda: prometheus.ask(f"timestamp(olvido_ready) > {done}"))  # noqa: B023 (same)
            seen = prometheus.number(SEEN)
            eventually(lambda: prometheus.number(SEEN) >= seen + ENOUGH, 30)  # noqa: B023 (same)
            story.look(point, prometheus, scene)


def differences(told: Mapping[str, float], expected: Mapping[str, float]) -> dict[str, tuple[float | None, float]]:
    """Of values that are not 0: what is told, and what is expected."""
    series = {each for each, value in {**told, **expected}.items() if value or expected.get(each)}
    found = {each: (told.get(each), expected.get(each, 0.0)) for each in series}
    return {each: pair for each, pair in found.items() if pair[0] != pytest.approx(pair[1], rel=CLOSE, abs=1e-12)}


@pytest.mark.parametrize("where", asked())
def test_after_one_burst_a_panel_tells_the_numbers_of_the_burst(where: str, story: Story) -> None:
    told = story.told["burst"][where]
    assert told, "it is empty"
    assert differences(told, story.plain["burst"][where]) == {}


@pytest.mark.parametrize("where", [where for where, each in asked().items() if grown(each)])
def test_after_a_restart_it_tells_the_same(where: str, story: Story) -> None:
    assert differences(story.told["restart"][where], story.told["burst"][where]) == {}


def _sums_alone() -> list[str]:
    """Expressions that are nothing but one growth: what two lives have brought adds up."""
    begins = re.compile(r"sum(?: by \([^)]*\) )?\(increase\(")
    whole = {where: (each, begins.match(each)) for where, each in asked().items()}
    return [
        where
        for where, (each, found) in whole.items()
        if found and _closed(each, each.index("(increase") + 1) == len(each)
    ]


@pytest.mark.parametrize("where", _sums_alone())
def test_a_second_burst_and_a_new_label_are_added_whole(where: str, story: Story) -> None:
    first, second = story.plain["burst"][where], story.plain["newcomer"][where]
    expected = {each: first.get(each, 0.0) + second.get(each, 0.0) for each in {*first, *second}}
    assert differences(story.told["newcomer"][where], expected) == {}


HEADLINES: Mapping[str, Callable[[Mapping[str, float]], float]] = {
    "Saved": lambda sums: sums["saved_exact"] + sums["saved_intent"] + sums["saved_context"] - sums["added_context"],
    "Spent": lambda sums: sums["cost"],
    "Requests": lambda sums: sums["requests"],
    "Answered from memory": lambda sums: (sums["reused_exact"] + sums["reused_intent"]) / sums["requests"],
    "Prompt tokens sent": lambda sums: sums["tokens_sent"] / (sums["tokens_original"] + sums["tokens_reused_prompt"]),
}


@pytest.mark.parametrize("point", ["burst", "restart", "newcomer"])
@pytest.mark.parametrize("title", HEADLINES)
def test_the_first_numbers_are_the_ledgers_own_at_any_time(title: str, point: str, story: Story) -> None:
    (told,) = story.told[point][f"overview: {title}: "].values()
    expected = HEADLINES[title](story.ledger[point])
    assert told == pytest.approx(expected, rel=1e-9)
    assert expected != 0


def test_a_key_a_team_and_an_end_user_have_their_own_numbers(story: Story) -> None:
    def of(panel: str, label: str) -> dict[str, float]:
        told = story.told["burst"][f"keys: Requests in the hour before, by {panel}: {{{{{label}}}}}"]
        return {json.loads(each)[label]: value for each, value in told.items() if value}

    (key,) = of("key", "key")
    assert key.startswith("round-")
    assert set(of("team", "team")) <= {"north", "south"}
    assert of("key", "key")[key] == story.ledger["burst"]["requests"] + story.ledger["burst"]["unmanaged"]
    assert of("end user", "user") == pytest.approx({"ana": 1, "luis": 1, "other": 1}, rel=CLOSE)


def test_a_key_that_was_not_used_before_is_told_whole(story: Story) -> None:
    where = "keys: Requests in the hour before, by key: {{key}}"
    before, after = story.told["burst"][where], story.told["newcomer"][where]
    grown = {each: value - before.get(each, 0) for each, value in after.items()}
    assert {value for value in grown.values() if value} == {4}


def test_what_goes_through_unmanaged_is_told_as_a_share(story: Story) -> None:
    (told,) = story.told["burst"]["overview: Passed through unmanaged: "].values()
    ledger = story.ledger["burst"]
    assert told == ledger["unmanaged"] / (ledger["unmanaged"] + ledger["requests"]) > 0


def test_money_and_requests_of_a_new_model_are_told_whole(story: Story) -> None:
    def requests(point: str) -> float:
        return sum(story.told[point]["overview: Requests: "].values())

    assert requests("newcomer") - requests("restart") == 4
    assert any(NEWCOMER in each for each in story.plain["newcomer"]["models"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            'sum by (k) (increase(x{a="b|c"}[1h]) or label_replace(y, "part", "born", "", ""))',
            'sum by (k) (x{a="b|c"})',
        ),
        ("sum(max by (a) (last_over_time(x[1h])) - (max by (a) (x offset 1h) or z)) / 2", "sum(max by (a) (x)) / 2"),
        ("sum(rate(x[1h]))", "sum((x / 3600))"),
        ("sum(olvido_in_flight)", "sum(olvido_in_flight)"),
    ],
)
def test_plain_values_stand_for_growth(expression: str, expected: str) -> None:
    assert plain(expression) == expected
