"""Prints the documentation of the metrics in Markdown, from the catalogue: `python -m grafana.source.metrics`."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector

from proxy.observe.catalogue import Catalogue
from proxy.observe.labels import MODEL, UPSTREAM, Values
from proxy.observe.register import Entry

_HEAD = f"""# Metrics

What `/metrics` tells, as Prometheus sees it. Printed by `make metrics-docs`; `proxy/observe/catalogue.py` is where it
is written.

Labels are bounded: nothing that a client can choose freely becomes a series.

- `upstream`: {UPSTREAM}
- `model`: {MODEL}

A histogram `x` is `x_bucket` (with `le`), `x_sum` and `x_count`. A prompt is looked into unless it is short, or mode is
`off`; with mode `meter`, what is told of it is what would have been sent. "Several" says what is told of several
workers (see `grafana/README.md`): a sum; counters and histograms with those that have ended; or the largest or the
least of those that run.

| metric | type | several | labels | meaning |
|---|---|---|---|---|"""
_PROCESS = """
## The process

Only on Linux. Of several workers it is the sum, without their supervisor (which uses next to nothing); of the start
time it is the first one's.

| metric | type | meaning |
|---|---|---|"""


def lines() -> Iterator[str]:
    """The lines of the document."""
    yield _HEAD
    for entry in sorted(Catalogue().entries, key=lambda entry: entry.name):
        yield _row(entry)
    yield _PROCESS
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    for family in sorted(registry.collect(), key=lambda family: family.name):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        yield f"| `{name}` | {family.type} | {_cell(family.documentation)} |"


def _row(entry: Entry) -> str:
    labels = "; ".join(_label(name, values) for name, values in entry.labels.items())
    return f"| `{entry.name}` | {entry.kind} | {entry.several} | {labels} | {_cell(entry.meaning)} |"


def _label(name: str, values: Values) -> str:
    if values in (UPSTREAM, MODEL):
        return f"`{name}`"
    told = values if isinstance(values, str) else ", ".join(f"`{value}`" for value in values)
    return f"`{name}`: {told}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Prints the document."""
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
