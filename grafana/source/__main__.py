"""Writes every dashboard."""

from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from grafana.source.cluster import CLUSTER
from grafana.source.health import HEALTH
from grafana.source.keys import KEYS
from grafana.source.memory import MEMORY
from grafana.source.overview import OVERVIEW
from grafana.source.reuse import REUSE

FOLDER = Path(__file__).parent.parent / "dashboards"
DASHBOARDS = {
    "overview": OVERVIEW,
    "memory": MEMORY,
    "reuse": REUSE,
    "health": HEALTH,
    "cluster": CLUSTER,
    "keys": KEYS,
}


def rendered(name: str) -> str:
    """Returns the JSON of the dashboard of this name."""
    return f"{JSONEncoder(indent=2, sort_keys=True).encode(DASHBOARDS[name].build())}\n"


if __name__ == "__main__":
    for name in DASHBOARDS:
        (FOLDER / f"{name}.json").write_text(rendered(name), encoding="utf-8")
