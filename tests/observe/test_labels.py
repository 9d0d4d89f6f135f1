"""What labels are said to say is what the code lets them say."""

import re
from pathlib import Path

from proxy.observe.labels import MECHANISM, RESULT, STAGE
from proxy.reuse.cacheable import BYPASSES
from proxy.reuse.partition import UNSUITED
from proxy.reuse.verdict import REASONS
from proxy.types import Mechanisms

PROXY = Path(__file__).parent.parent.parent / "proxy"

_ATTEMPT = re.compile(r"attempts?\.(?:run|call)\(\s*\"(\w+)\"|on_(?:fail_open|failure)\(\"(\w+)\"")
_MISS = re.compile(r"ReuseMiss\(\"(\w+)\"|intent=\"(\w+)\"")


def found(pattern: re.Pattern[str], folder: str) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in (PROXY / folder).rglob("*.py"))
    return {next(filter(None, groups)) for text in texts for groups in pattern.findall(text)}


def test_every_stage_that_may_fail_open_is_said() -> None:
    stages = found(_ATTEMPT, ".")
    assert {"plan", "identify", "read_stream"} <= stages
    assert stages <= set(STAGE)
    assert set(STAGE) <= stages | {"intent"}  # a replay is attempted by the name of its source


def test_every_reason_for_which_nothing_is_reused_is_said() -> None:
    reasons = found(_MISS, "stages") | found(_MISS, "reuse") | found(_MISS, ".") - {"replayed"}
    assert {"absent", "far", "no_identity"} <= reasons
    assert reasons <= set(RESULT)
    assert {*BYPASSES, *UNSUITED, *REASONS} <= set(RESULT)


def test_every_mechanism_is_said() -> None:
    assert {name for name, _ in Mechanisms(*range(1, 8)).items()} == set(MECHANISM)
