"""What every panel and dashboard has in common, so that a dashboard is a list of questions.

In the schema that every Grafana reads from a file. The SDK would rather write the next one, which only the newest do.
"""

from collections.abc import Sequence
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
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.stat import Panel as Stat
from grafana_foundation_sdk.builders.timeseries import Panel as TimeSeries
from grafana_foundation_sdk.models.common import (
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
    VariableRefresh,
    VariableSort,
)

DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
MODEL = 'model=~"$model"'
UPSTREAM = 'upstream=~"$upstream"'
TAG = "olvido"


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
    """One value, of the whole time range, a sixth of the page wide."""

    title: str
    description: str
    unit: str
    expression: str
    decimals: int | None = None


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
    labels = f" by ({by}) " if by else ""
    chosen = f"{{{', '.join(matching)}}}" if matching else ""
    return f"sum{labels}(rate({metric}{chosen}[$__rate_interval]))"


def quantile(share: float, metric: str, *matching: str, by: str = "") -> str:
    """Of a histogram."""
    buckets = per_second(f"{metric}_bucket", *matching, by=f"le, {by}" if by else "le")
    return f"histogram_quantile({share}, {buckets})"


def mean(metric: str) -> str:
    """Returns the expression for the mean of a summary or histogram."""
    return f"{per_second(f'{metric}_sum')} / {per_second(f'{metric}_count')}"


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
        .span(4)
        .height(4)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(_target(number.expression, 0).instant())
    )
    return panel if number.decimals is None else panel.decimals(number.decimals)


def _target(expression: str, number: int) -> Dataquery:
    return Dataquery().expr(expression).datasource(DATASOURCE).ref_id(chr(ord("A") + number))
