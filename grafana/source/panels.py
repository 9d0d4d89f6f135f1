"""What every panel and dashboard has in common, so that a dashboard is a list of questions.

In the schema that every Grafana reads from a file. The SDK would rather write the next one, which only the newest do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from grafana_foundation_sdk.builders.common import (
    ReduceDataOptions,
    StackingConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DashboardLink,
    DatasourceVariable,
    QueryVariable,
    Row,
    ThresholdsConfig,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.stat import Panel as Stat
from grafana_foundation_sdk.builders.timeseries import Panel as TimeSeries
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    DataSourceRef,
    LegendDisplayMode,
    LegendPlacement,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    Threshold,
    ThresholdsMode,
    VariableRefresh,
    VariableSort,
)

from proxy.observe.catalogue import Catalogue

HOUR = "1h"
RANGE = "$__range"
DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
MODEL = 'model=~"$model"'
UPSTREAM = 'upstream=~"$upstream"'
TAG = "olvido"
_SINCE = {"model": "olvido_ledger_since_seconds", "key": "olvido_ledger_key_since_seconds"}
# Labels of the ledger's totals, by their names.
LABELS = {each.name: tuple(each.labels) for each in Catalogue().entries if each.name.startswith("olvido_ledger_")}


@dataclass(frozen=True, slots=True)
class Query:
    """A Prometheus expression and the legend of its series."""

    expression: str
    legend: str  # {{label}} is replaced


@dataclass(frozen=True, slots=True)
class Graph:
    """Lines over time, half as wide as the page."""

    title: str
    description: str
    unit: str  # as Grafana names it
    queries: Sequence[Query]
    stacked: bool = False
    most: float | None = None  # end of the axis


@dataclass(frozen=True, slots=True)
class Number:
    """One value, of the whole time range, an eighth of the page wide."""

    title: str
    description: str
    unit: str
    expression: str
    decimals: int | None = None
    alarm: float | None = None  # red from this value on, green below; None: it is neither good nor bad


@dataclass(frozen=True, slots=True)
class Section:
    """A row of panels under one title."""

    title: str
    panels: Sequence[Graph | Number]


def either(expression: str) -> str:
    """0 where there is no series yet."""
    return f"({expression} or vector(0))"


def per_second(metric: str, *matching: str, by: str = "") -> str:
    """Of a counter; `matching`: label matchers, `by`: labels to tell apart."""
    return f"sum{_by(by)}(rate({_chosen(metric, matching)}[$__rate_interval]))"


def counted(metric: str, *matching: str, by: str = "", over: str = HOUR) -> str:
    """Growth of a counter over a span of time. A series that was born within it counts whole: its first value, which
    Prometheus takes for its beginning, is what happened. It was born within it if Prometheus looked at the beginning
    and saw none, or if the process has started since."""
    chosen = _chosen(metric, matching)
    born = (
        f"min_over_time({chosen}[{over}]) unless {chosen} offset {over} "
        f"and on (job, instance) (up offset {over} or process_start_time_seconds > time() - {_seconds(over)})"
    )
    return f'sum{_by(by)}(increase({chosen}[{over}]) or label_replace({born}, "part", "born", "", ""))'


def total(metric: str, *matching: str, by: str = "", over: str = RANGE, falls: bool = False) -> str:
    """Growth of a total of the ledger over a span of time, to the cent, whatever was restarted meanwhile: what it is,
    less what it was at the beginning. That is 0 for a model that was not told of then, or whose first request came
    since; and where Prometheus did not look yet, the first that it saw. Of processes over one ledger, which tell the
    same, the largest. `falls`: it may also fall; else a ledger that has begun anew is seen by that."""
    chosen, labels = _chosen(metric, matching), f"by ({', '.join(LABELS[metric])})"
    now = f"max {labels} (last_over_time({chosen}[{over}]))"
    before = f"max {labels} ({chosen} offset {over})" + ("" if falls else f" <= {now}")
    unborn = f"0 * {now} and on (ledger) {_SINCE['model']} offset {over}"
    whose = "key" if "key" in LABELS[metric] else "model"
    begun = f"max by (ledger, {whose}) (last_over_time({_SINCE[whose]}[{over}])) > time() - {_seconds(over)}"
    fresh = f"0 * {now} and on (ledger, {whose}) ({begun})"
    first = f"min {labels} (min_over_time({chosen}[{over}]))"
    return f"sum{_by(by)}({now} - ({before} or {unborn} or {fresh} or {first}))"


def _chosen(metric: str, matching: Sequence[str]) -> str:
    return f"{metric}{{{', '.join(matching)}}}" if matching else metric


def _by(labels: str) -> str:
    return f" by ({labels}) " if labels else ""


def _seconds(span: str) -> str:
    return {"5m": "300", HOUR: "3600", "6h": "21600", RANGE: "$__range_s"}[span]


def quantile(share: float, metric: str, *matching: str, by: str = "", of: Callable[..., str] = per_second) -> str:
    """Of a histogram. `of`: `counted`, where there are few observations."""
    buckets = of(f"{metric}_bucket", *matching, by=f"le, {by}" if by else "le")
    return f"histogram_quantile({share}, {buckets})"


def mean(metric: str) -> str:
    """Returns the expression for the mean of a histogram in the hour before."""
    return f"{counted(f'{metric}_sum')} / {counted(f'{metric}_count')}"


def dashboard(uid: str, title: str, description: str, sections: Sequence[Section]) -> Dashboard:
    """Builds a dashboard of sections."""
    built = (
        Dashboard(title)
        .uid(uid)
        .description(description)
        .tags([TAG])
        .editable()
        .timezone("browser")
        .time("now-6h", "now")
        .refresh("30s")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .link(DashboardLink("Olvido").type(DashboardLinkType.DASHBOARDS).tags([TAG]).include_vars(True).keep_time(True))
        .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_choice("model", "Model", "label_values(olvido_tokens_total, model)"))
        .with_variable(_choice("upstream", "Upstream", "label_values(olvido_requests_total, upstream)"))
    )
    number = count(1)
    for section in sections:
        built = built.with_row(Row(section.title).id(next(number)))
        for panel in section.panels:
            drawn = _graph(panel) if isinstance(panel, Graph) else _number(panel)
            built = built.with_panel(drawn.id(next(number)))
    return built


def _choice(name: str, label: str, query: str) -> QueryVariable:
    return (
        QueryVariable(name)
        .label(label)
        .datasource(DATASOURCE)
        .query(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
    )


def _graph(graph: Graph) -> TimeSeries:
    panel = (
        TimeSeries()
        .title(graph.title)
        .description(graph.description)
        .datasource(DATASOURCE)
        .unit(graph.unit)
        .span(12)
        .height(8)
        .line_width(1)
        .fill_opacity(30 if graph.stacked else 8)
        .legend(
            VizLegendOptions()
            .display_mode(LegendDisplayMode.TABLE)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "max", "lastNotNull"])
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
    )
    if graph.stacked:
        panel = panel.stacking(StackingConfig().mode(StackingMode.NORMAL).group("A"))
    if graph.most is not None:
        panel = panel.min(0).max(graph.most)
    for number, query in enumerate(graph.queries):
        panel = panel.with_target(_target(query.expression, number).legend_format(query.legend))
    return panel


def _number(number: Number) -> Stat:
    panel = (
        Stat()
        .title(number.title)
        .description(number.description)
        .datasource(DATASOURCE)
        .unit(number.unit)
        .span(3)
        .height(4)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(_target(number.expression, 0).instant())
    )
    if number.alarm is not None:
        steps = [Threshold(value=None, color="green"), Threshold(value=number.alarm, color="red")]
        panel = panel.thresholds(ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
        panel = panel.color_mode(BigValueColorMode.BACKGROUND)
    return panel if number.decimals is None else panel.decimals(number.decimals)


def _target(expression: str, number: int) -> Dataquery:
    return Dataquery().expr(expression).datasource(DATASOURCE).ref_id(chr(ord("A") + number))
