"""Renders the chart with Helm's own library, in a process of its own: Go's runtime has signal handlers, which it would
leave to the tests that come after."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "olvido"

_PROGRAM = """
import json, sys, helm_python
path, asked = sys.argv[1], json.load(sys.stdin)
with helm_python.Chart.load(path) as chart:
    try:
        rendered = chart.render(asked["values"], name=asked["name"], namespace="tests")
        found = helm_python.lint(path, asked["values"], strict=True)["messages"]
        print(json.dumps({"rendered": rendered, "lint": found}))
    except helm_python.HelmError as error:
        print(json.dumps({"refused": str(error)}))
"""


class Refused(Exception):
    """What Helm says of values that the chart does not take."""


@dataclass(frozen=True, slots=True)
class Rendered:
    manifests: tuple[Mapping[str, Any], ...]
    notes: str
    lint: tuple[str, ...]  # warnings and errors

    def of(self, kind: str, ending: str = "") -> Mapping[str, Any]:
        """The manifest of this kind, whose name ends so."""
        (found,) = [
            each for each in self.manifests if each["kind"] == kind and each["metadata"]["name"].endswith(ending)
        ]
        return found

    def kinds(self) -> list[str]:
        return sorted(each["kind"] for each in self.manifests)


def render(values: Mapping[str, Any], name: str = "demo") -> Rendered:
    """Raises Refused."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(CHART)],
        input=json.dumps({"values": values, "name": name}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if "refused" in answer:
        raise Refused(answer["refused"])
    texts = {Path(path).name: text for path, text in answer["rendered"].items()}
    notes = texts.pop("NOTES.txt")
    manifests = [each for text in texts.values() for each in yaml.safe_load_all(text) if each]
    lint = [f"{each['path']}: {each['error']}" for each in answer["lint"] if each["severity"] > 1]
    return Rendered(tuple(manifests), notes, tuple(lint))
