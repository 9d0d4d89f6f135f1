"""Memory as files over HTTP, as whoever runs the proxy sees it and decides about it."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.files.names import folder_of
from tests.admin.started import started
from tests.admin.test_facts import Proxy
from tests.servers import eventually

FILES = "/admin/api/files"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("memory")


@pytest.fixture(scope="module")
def proxy(root: Path) -> Iterator[Proxy]:
    with ExitStack() as stack:
        yield started(Proxy, stack, memory={"files": {"path": str(root), "scan": "1h"}})


def filed(proxy: Proxy, root: Path, *values: str) -> tuple[str, Path]:
    """Somebody's scope and file, with these facts."""
    scope = proxy.scope()
    for number, value in enumerate(values):
        proxy.add(scope, value, key=f"key-{number}")
    file = root / folder_of(scope) / "MEMORY.md"
    eventually(lambda: file.exists() and all(value in file.read_text() for value in values))
    eventually(lambda: told(proxy, scope)["state"] == "in step")
    return scope, file


def told(proxy: Proxy, scope: str) -> dict[str, Any]:
    folders = proxy.http.get(FILES).raise_for_status().json()["folders"]
    return next((each for each in folders if each["scope"] == scope), {"state": ""})


def has_lines(file: Path, number: int) -> bool:
    return file.read_text().count("<!-- o:") == number


def act(proxy: Proxy, scope: str, action: str) -> httpx.Response:
    return proxy.http.post(FILES, json={"scope": scope, "action": action})


def test_every_folder_is_told_with_its_state(proxy: Proxy, root: Path) -> None:
    scope, _ = filed(proxy, root, "I like tea")
    found = told(proxy, scope)
    assert {name: found[name] for name in ("folder", "state", "waiting", "problem")} == {
        "folder": folder_of(scope),
        "state": "in step",
        "waiting": None,
        "problem": None,
    }


def test_a_deletion_that_waits_is_confirmed_or_undone(proxy: Proxy, root: Path) -> None:
    scope, file = filed(proxy, root, "one", "two", "three")
    without = "".join(f"{line}\n" for line in file.read_text().splitlines() if not line.startswith("- t"))
    for action, left in (("restore", 3), ("confirm", 1)):
        file.write_text(without)
        eventually(lambda: told(proxy, scope)["waiting"] == {"deletions": 2, "of": 3})
        assert act(proxy, scope, action).json()["waiting"] is None
        assert len([each for each in proxy.of(scope) if each["status"] == "active"]) == left
        eventually(partial(has_lines, file, left))


def test_the_last_syncs_are_told_as_differences(proxy: Proxy, root: Path) -> None:
    scope, file = filed(proxy, root, "one")
    file.write_text(file.read_text().replace("- one", "- uno"))
    eventually(lambda: [each["value"] for each in proxy.of(scope, status="active")] == ["uno"])
    eventually(lambda: told(proxy, scope)["state"] == "in step")
    syncs = proxy.http.get(f"{FILES}/syncs", params={"scope": scope}).json()["syncs"]
    eventually(lambda: proxy.http.get(f"{FILES}/syncs", params={"scope": scope}).json()["syncs"][0]["changed"])
    syncs = proxy.http.get(f"{FILES}/syncs", params={"scope": scope}).json()["syncs"]
    assert syncs[0]["changed"] == [["one", "uno"]]
    assert (syncs[-1]["added"], syncs[-1]["problem"]) == (["one"], None)


def test_what_a_file_said_tells_that_it_did(proxy: Proxy, root: Path) -> None:
    scope, file = filed(proxy, root, "one")
    file.write_text(file.read_text() + "- written by hand\n")
    eventually(lambda: "written by hand" in [each["value"] for each in proxy.of(scope)])
    (card,) = [each for each in proxy.of(scope) if each["value"] == "written by hand"]
    assert card["source"] == "file"
    assert proxy.http.get(f"/admin/api/facts/{card['id']}").json()["said"]["state"] == "file"


@pytest.mark.parametrize("body", [{"scope": "x/y", "action": "sync"}, {"scope": "x/y", "action": "burn"}, {}])
def test_what_is_wrong_is_told(proxy: Proxy, body: dict[str, str]) -> None:
    assert proxy.http.post(FILES, json=body).status_code == 400


def test_without_files_there_are_none() -> None:
    with ExitStack() as stack:
        proxy = started(Proxy, stack)
        assert proxy.http.get(FILES).json() == {"folders": []}
        for answer in (proxy.http.get(f"{FILES}/syncs", params={"scope": "x/y"}), act(proxy, "x/y", "sync")):
            assert answer.status_code == 404
            assert "memory.files" in answer.json()["error"]["message"]
