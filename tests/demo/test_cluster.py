"""The demonstration through several proxies over one PostgreSQL and one Redis."""

import importlib.util
import re
import shutil

import pytest

from proxy.demo import cluster
from proxy.demo.cluster import told
from tests.demo.test_show import rows_under


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("pgserver") is None, reason="pgserver is not installed")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_whichever_proxy_is_asked_all_is_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster.run(stay=False, short=True) == 0
    said = capsys.readouterr().out
    rows = rows_under(said, "direct", "saved")
    asked = rows["facts recalled when asked"]
    assert asked[0] == asked[1]
    direct, proxied = (float(cell) for cell in rows["cost, US$ (prices of kimi-k2.6)"][:2])
    assert 0 < proxied < direct
    counts = re.search(r"^requests by proxy: (.+)$", said, re.MULTILINE)
    assert counts is not None
    assert all(int(count) for count in counts.group(1).split(", "))
    share = re.search(r"^hot context: (\d+)%", said, re.MULTILINE)
    assert share is not None
    assert int(share.group(1)) >= 60


@pytest.mark.parametrize(
    ("reads", "line"),
    [
        (
            {"hot": 2.0, "memory": 1.0, "database": 1.0},
            "75% of 4 look-ups needed no database (database 1, hot 2, memory 1)",
        ),
        ({"failed": 1.0}, "0% of 1 look-ups needed no database (failed 1)"),
        ({}, "0% of 0 look-ups needed no database ()"),
    ],
)
def test_it_tells_where_states_were_found(reads: dict[str, float], line: str) -> None:
    assert told(reads) == f"hot context: {line}"
