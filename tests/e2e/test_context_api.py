"""The context of a conversation, asked of one process while another serves it, both over one folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import CHAT, Demo, Proxy, run_proxy, upstream
from tests.servers import eventually

BARS = "Dos bares:\n1. El Refugio\n2. La Fuga"


def config(demo: Demo, folder: Path) -> Mapping[str, Any]:
    return {
        "upstreams": [upstream("demo", demo, ["*"])],
        "storage": {"path": str(folder / "shared")},
        "session_state": {"city": {"type": "text", "signals": ["en"]}, "people": {"type": "number"}},
    }


def say(proxy: Proxy, *messages: Mapping[str, str]) -> None:
    body = {"model": "demo-chat", "messages": list(messages)}
    proxy.http.post(CHAT, json=body, headers={"x-olvido-session": "trip"}).raise_for_status()


def told(proxy: Proxy, query: str) -> dict[str, Any]:
    answer = proxy.http.post("/olvido/context", json={"session": "trip", "query": query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.long
@pytest.mark.note("v2 Troubleshooting/4")
def test_another_process_tells_it_and_so_does_one_that_is_started_later(running_demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    settings = config(running_demo, tmp_path)
    asked, listed = (
        {"role": "user", "content": "Busca bares en Madrid para cuatro"},
        {"role": "assistant", "content": BARS},
    )
    with run_proxy(settings, tmp_path / "one") as one, run_proxy(settings, tmp_path / "other") as other:
        assert told(other, "¿Qué hay?")["total_turns"] == 0
        say(one, asked, listed, {"role": "user", "content": "Gracias"})
        eventually(lambda: told(other, "x")["total_turns"] == 2)
        query = "Dame más info del segundo"
        assert told(other, query) == told(one, query)
        say(other, {"role": "user", "content": "Mejor cinco personas"})
        eventually(lambda: told(one, "x")["state"]["values"] == {"city": "Madrid", "people": 5})
    (tmp_path / "later").mkdir()
    with run_proxy(settings, tmp_path / "later") as later:
        found = told(later, "¿y el primero?")
        assert found["state"]["values"] == {"city": "Madrid", "people": 5}
        assert [each["name"] for each in found["previous_entities"][:2]] == ["El Refugio", "La Fuga"]
        assert found["history_messages"][:2] == [asked, listed]
        assert later.complaints() == []
