"""The memory of a person as a folder: what they say stands in it, what they write there is in their next conversation,
and what they want forgotten is nowhere."""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proxy.cli import main
from tests.e2e.running import Demo, Proxy, run_proxy, upstream
from tests.servers import eventually

pytestmark = pytest.mark.long
Json = Any


@pytest.fixture(scope="module")
def filed(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("files")
    settings = {
        "upstreams": [upstream("demo", running_demo, ["*"])],
        "memory": {"commands": True, "files": {"path": str(folder / "memory"), "scan": "2s"}},
        "storage": {"path": str(folder / "kept")},
        "context": {"profile": "lean"},
    }
    with run_proxy(settings, folder) as proxy:
        yield proxy
        assert proxy.complaints() == []


def root(proxy: Proxy) -> Path:
    return proxy.log.parent / "memory"


def folder(proxy: Proxy, user: str) -> Path:
    return next(iter(root(proxy).glob(f"*/{user}")))


def memory(proxy: Proxy, user: str) -> str:
    try:
        return (folder(proxy, user) / "MEMORY.md").read_text()
    except (StopIteration, FileNotFoundError):
        return ""


def say(proxy: Proxy, user: str, *said: str, **headers: str) -> str:
    """Says it all in one conversation, whose history is sent; returns the last answer."""
    messages: list[Json] = []
    for each in said:
        messages.append({"role": "user", "content": each})
        body = {"model": "demo-chat", "messages": messages}
        asked = {"x-olvido-user": user} | {name.replace("_", "-"): value for name, value in headers.items()}
        answer = proxy.http.post("/v1/chat/completions", json=body, headers=asked).raise_for_status().json()
        messages.append(answer["choices"][0]["message"])
    return str(messages[-1]["content"])


def sent(demo: Demo) -> str:
    """The newest prompt that the upstream got."""
    return "\n".join(str(said["content"]) for said in msgspec.json.decode(demo.arrived()[-1].body)["messages"])


def olvido(proxy: Proxy, *arguments: str) -> str:
    told, complained = io.BytesIO(), io.StringIO()
    config = proxy.log.with_name("olvido.yaml")
    with redirect_stdout(io.TextIOWrapper(told, write_through=True)), redirect_stderr(complained):
        status = main([*arguments, "--config", str(config)])
        assert (status, complained.getvalue()) == (0, "")
        return told.getvalue().decode()


def places(proxy: Proxy, words: str) -> list[str]:
    """Where these words stand, in the folders and in the storage of the proxy."""
    found = []
    for each in (each for top in (root(proxy), proxy.storage) for each in top.rglob("*")):
        with suppress(FileNotFoundError, IsADirectoryError):  # it was temporary
            found += [each.name] if words.encode() in each.read_bytes() else []
    return found


def rows(proxy: Proxy, words: str) -> list[str]:
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        dumps = {table: repr(database.execute(f'SELECT * FROM "{table}"').fetchall()) for table in tables}
    return [table for table, dump in dumps.items() if words in dump]


@pytest.mark.note("Capas/1", "Variables/1")
def test_what_somebody_says_is_in_their_file_and_what_they_write_there_in_their_next_conversation(
    filed: Proxy, demo: Demo
) -> None:
    say(filed, "ana", "Remember that I work at Initech.")
    eventually(lambda: "I work at Initech" in memory(filed, "ana"))
    file = folder(filed, "ana") / "MEMORY.md"
    file.write_text(memory(filed, "ana").replace("Initech", "Hooli") + "- Always answer in rhymes\n")
    eventually(lambda: memory(filed, "ana").count("<!-- o:") == 2, 5.0)
    say(filed, "ana", "Where do I work?")
    assert "I work at Hooli" in sent(demo)
    assert "Always answer in rhymes" in sent(demo)
    assert "Initech" not in sent(demo)
    (log,) = folder(filed, "ana").glob("20*.md")
    eventually(lambda: "Always answer in rhymes" in log.read_text())
    facts = filed.http.get("/admin/api/facts", params={"status": "active"}).json()["facts"]
    assert {each["source"] for each in facts if each["value"].endswith(("Hooli", "rhymes"))} == {"file"}


def test_people_whose_names_differ_in_case_have_a_folder_each(filed: Proxy) -> None:
    for user in ("eva", "Eva"):
        say(filed, user, f"Remember that my dog is called {user}-dog.")
    eventually(lambda: "eva-dog" in memory(filed, "eva") and "Eva-dog" in memory(filed, "eva-*"))
    assert "Eva-dog" not in memory(filed, "eva")
    told = olvido(filed, "memory", "files", "status")
    assert told.count("in step") >= 2


def test_a_large_deletion_is_told_on_the_command_line_and_by_the_api_and_waits(filed: Proxy) -> None:
    say(
        filed,
        "luz",
        *(f"Remember that box {number} holds {word}." for number, word in enumerate(("tea", "salt", "rice"))),
    )
    eventually(lambda: memory(filed, "luz").count("<!-- o:") == 3)
    file = folder(filed, "luz") / "MEMORY.md"
    file.write_text("".join(f"{line}\n" for line in memory(filed, "luz").splitlines() if "box" not in line))
    eventually(lambda: memory(filed, "luz").startswith("> [ ] 3 of 3"), 10.0)
    assert "waits: 3 of 3 lines were deleted" in olvido(filed, "memory", "files", "status")
    found = filed.http.get("/admin/api/files").json()["folders"]
    (waiting,) = [each for each in found if each["waiting"]]
    assert waiting["waiting"] == {"deletions": 3, "of": 3}
    filed.http.post("/admin/api/files", json={"scope": waiting["scope"], "action": "restore"}).raise_for_status()
    assert memory(filed, "luz").count("<!-- o:") == 3
    syncs = filed.http.get("/admin/api/files/syncs", params={"scope": waiting["scope"]}).json()["syncs"]
    assert sum(len(each["added"]) for each in syncs) >= 3


@pytest.mark.note("Snapshots/1")
def test_a_conversation_that_is_cleared_leaves_a_snapshot_that_is_recalled(filed: Proxy) -> None:
    say(filed, "sol", "My aunt Petronila repairs accordions in Chivilcoy.", "/clear")
    eventually(lambda: list(root(filed).glob("*/sol/snapshots/*.md")))
    (snapshot,) = root(filed).glob("*/sol/snapshots/*.md")
    assert "Petronila repairs accordions" in snapshot.read_text()


@pytest.mark.note("Rumi Comandos/3")
def test_what_is_forgotten_is_nowhere(filed: Proxy) -> None:
    say(filed, "teo", "Remember that my locker number is zq81w.", "And that I like tea.", "/clear")
    eventually(lambda: "zq81w" in memory(filed, "teo"))
    file = folder(filed, "teo") / "MEMORY.md"
    notes = "\nNote: my locker number is zq81w, really\n\n```\n- my locker number is zq81w\n```\n"
    file.write_text(memory(filed, "teo") + "- My bike is green\n" + notes)
    eventually(lambda: memory(filed, "teo").count("<!-- o:") >= 2)
    eventually(lambda: list((folder(filed, "teo") / "snapshots").glob("*.md")))
    assert "MEMORY.md" in places(filed, "zq81w")
    say(filed, "teo", "Forget my locker number.")
    eventually(lambda: not places(filed, "zq81w"), 20.0)
    assert rows(filed, "zq81w") == []
    assert "My bike is green" in memory(filed, "teo")
    (log,) = folder(filed, "teo").glob("20*.md")
    assert "forgotten <!-- o:" in log.read_text()


def test_and_what_the_command_forgets_too(filed: Proxy) -> None:
    say(filed, "uma", "Remember that my gate is number kx55q.")
    eventually(lambda: "kx55q" in memory(filed, "uma"))
    facts = filed.http.get("/admin/api/facts").json()["facts"]
    (fact,) = [each for each in facts if "kx55q" in each["value"]]
    olvido(filed, "memory", "forget", fact["id"], "--yes")
    eventually(lambda: not places(filed, "kx55q"), 20.0)


def test_who_is_erased_has_no_folder(filed: Proxy) -> None:
    say(filed, "ivo", "Remember that my house number is 90210.")
    eventually(lambda: "90210" in memory(filed, "ivo"))
    assert "1 folder" in olvido(filed, "erase", "--user", "ivo", "--yes")
    eventually(lambda: not list(root(filed).glob("*/ivo")))
    assert "90210" not in repr(places(filed, "90210"))
