"""A backup of a proxy that serves, under writes; and a proxy on what was restored from it: the same facts, the same
conversations, the same ledger, and the same people."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from proxy.cli import main
from tests.e2e.running import CHAT, Demo, Proxy, chat, run_proxy, upstream
from tests.servers import eventually

pytestmark = pytest.mark.long
Json = Any


def settings(demo: Demo, place: Path) -> dict[str, Json]:
    return {
        "upstreams": [upstream("demo", demo, ["*"])],
        "memory": {"files": {"path": str(place / "memory"), "scan": "2s"}},
        "storage": {"path": str(place / "storage")},
    }


def api(proxy: Proxy, path: str, **parameters: Json) -> Json:
    return proxy.http.get(f"/admin/api/{path}", params=parameters).raise_for_status().json()


def facts(proxy: Proxy) -> dict[str, list[str]]:
    """Values by scope."""
    found = {}
    for scope in api(proxy, "scopes")["scopes"]:
        values = [fact["value"] for fact in api(proxy, "facts", scope=scope["scope"])["facts"]]
        found[scope["scope"]] = sorted(values)
    return found


def ledger(proxy: Proxy) -> dict[str, Mapping[str, Json]]:
    return {row["request_id"]: row for row in proxy.rows()}


def say(proxy: Proxy, who: str, text: str) -> None:
    headers = {"x-olvido-user": who, "x-olvido-session": f"talk-of-{who}"}
    proxy.http.post(CHAT, json=chat(text), headers=headers).raise_for_status()


@contextmanager
def under_load(proxy: Proxy) -> Iterator[list[int]]:
    """Four clients ask all the time; the statuses of their answers."""
    stop, answered = threading.Event(), list[int]()

    def ask(number: int) -> None:
        with httpx.Client(base_url=proxy.url, headers={"authorization": f"Bearer sk-{number}"}, timeout=100) as http:
            while not stop.is_set():
                answered.append(http.post(CHAT, json=chat(f"say: {number}.{len(answered)}")).status_code)

    clients = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for each in clients:
        each.start()
    try:
        eventually(lambda: len(answered) > 20)
        yield answered
        before = len(answered)
        eventually(lambda: len(answered) > before + 20)  # it goes on
    finally:
        stop.set()
        for each in clients:
            each.join()
    assert set(answered) == {200}


def test_a_restored_proxy_knows_what_the_backed_up_one_knew(
    running_demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, archive = tmp_path / "old", tmp_path / "new", str(tmp_path / "b.tgz")
    old.mkdir()
    new.mkdir()
    with run_proxy(settings(running_demo, old), old) as proxy:
        for who, city in (("ana", "Rosario"), ("beto", "Mendoza")):
            say(proxy, who, f"Remember that I live in {city}.")
            say(proxy, who, "And what else is there?")
        eventually(lambda: sum(map(len, facts(proxy).values())) == 2, 30)
        eventually(lambda: len(proxy.rows()) == 4)
        eventually(lambda: len(list((old / "memory").glob("*/*/MEMORY.md"))) == 2, 30)
        known, accounts = facts(proxy), ledger(proxy)
        with under_load(proxy):
            eventually(lambda: len(proxy.rows()) > len(accounts))
            assert main(["backup", "--config", str(old / "olvido.yaml"), archive]) == 0
            # Never back under the one that serves.
            assert main(["restore", "--config", str(old / "olvido.yaml"), "--force", "--yes", archive]) == 1
            assert "in use: stop the proxy" in capsys.readouterr().err
        assert proxy.complaints() == []

    place = settings(running_demo, new)
    (new / "olvido.yaml").write_text(yaml.safe_dump(place))
    assert main(["restore", "--config", str(new / "olvido.yaml"), archive]) == 0
    with run_proxy(place, new) as proxy:
        assert facts(proxy).items() >= known.items()
        assert ledger(proxy).items() >= accounts.items()
        assert len(ledger(proxy)) > len(accounts)  # what was asked before the moment of the snapshot
        sessions = {each["session"] for each in api(proxy, "sessions", limit=200)["sessions"]}
        assert {"talk-of-ana", "talk-of-beto"} <= sessions
        # The same key and name are the same person, and their memory goes into their next prompt.
        running_demo.clear()
        say(proxy, "ana", "Where do I live?")
        (arrived,) = running_demo.arrived()
        assert b"Rosario" in arrived.body
        assert b"Mendoza" not in arrived.body
        # No file is taken for an edit.
        texts = [path.read_text() for path in (new / "memory").glob("*/*/MEMORY.md")]
        assert sorted("Rosario" in text for text in texts) == [False, True]
        assert facts(proxy).items() >= known.items()
        assert proxy.complaints() == []
