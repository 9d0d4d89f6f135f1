"""The official Node SDK, directly against the upstream and through the proxy: what it sees must be equal."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Demo, Proxy

HERE = Path(__file__).parent
SDK = HERE / "node_modules" / "openai" / "package.json"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(not SDK.exists(), reason="the Node SDK is not installed: run `npm ci` in tests/e2e"),
]


def seen_by_node(base_url: str, api_key: str, *arguments: str) -> dict[str, Any]:
    """What each case of the script saw."""
    ran = subprocess.run(
        ["node", "openai_node.mjs", *arguments],
        cwd=HERE,
        env={**os.environ, "BASE_URL": base_url, "API_KEY": api_key},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen


@pytest.mark.long
def test_through_the_proxy_it_is_as_directly(running_demo: Demo, proxy: Proxy) -> None:
    direct = seen_by_node(running_demo.base_url, "sk-node-direct")
    proxied = seen_by_node(proxy.base_url, "sk-node-proxied")
    assert len(direct) > 30
    differing = {name: (proxied.get(name), seen) for name, seen in direct.items() if proxied.get(name) != seen}
    assert differing == {}
    assert proxied.keys() == direct.keys()


def test_a_stream_that_breaks_off_throws(proxy: Proxy) -> None:
    seen = seen_by_node(proxy.base_url, "sk-node-broken", "broken")
    assert {name: error["body"]["code"] for name, error in seen.items()} == {
        "cut": "upstream_broken",
        "reset": "upstream_broken",
    }
