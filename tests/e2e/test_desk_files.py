"""The desk's sections and documents as files of a person, on a real server: what they write there is in their next
conversation and may be loaded by the model, what others write is in the file, and what is forgotten is in neither."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Demo, Proxy, run_proxy, upstream
from tests.e2e.test_memory_files import folder, memory, places, rows, say, sent
from tests.servers import eventually

pytestmark = pytest.mark.long
Json = Any


@pytest.fixture(scope="module")
def filed(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    place = tmp_path_factory.mktemp("files")
    settings = {
        "upstreams": [upstream("demo", running_demo, ["*"])],
        "memory": {
            "files": {"path": str(place / "memory"), "scan": "2s"},
            "tools": {"enabled": True, "offer": "first", "sections": {"agent_notes": 5}},
        },
        "storage": {"path": str(place / "kept")},
        "context": {"profile": "lean"},
    }
    with run_proxy(settings, place) as proxy:
        yield proxy
        assert [each for each in proxy.complaints() if "too long" not in str(each)] == []


def written(proxy: Proxy, user: str, name: str, text: str) -> Path:
    file = folder(proxy, user) / name
    file.write_text(text)
    return file


def document(proxy: Proxy, session: str, name: str) -> Json:
    asked = {"session": session, "name": name}
    return proxy.http.get("/admin/api/desk/document", params=asked).raise_for_status().json()


def test_what_a_person_writes_is_in_their_next_conversation_and_what_others_write_in_the_file(
    filed: Proxy, demo: Demo
) -> None:
    # Of a person whom no upstream has answered yet nothing is kept: a second message opens the desk.
    say(filed, "ana", "Remember that I work at Initech.", "And now?", x_olvido_session="first")
    eventually(lambda: "Initech" in memory(filed, "ana"))
    written(filed, "ana", "user_profile.md", "Likes short letters\n")
    plan = written(filed, "ana", "plan.md", "Step one\n")
    eventually(lambda: document(filed, "first", "user_profile.md")["version"] == 1)
    eventually(lambda: document(filed, "first", "plan.md")["version"] == 1)
    assert document(filed, "first", "plan.md")["by"] == "person"
    say(filed, "ana", "Write a letter", x_olvido_session="second")
    assert "Likes short letters" in sent(demo)
    desk = filed.http.get("/admin/api/desk", params={"session": "first"}).raise_for_status().json()
    own = sorted((each["name"], each["before"], each["after"]) for each in desk["edits"] if each["by"] == "person")
    assert own == [("plan.md", "", "Step one\n"), ("user_profile.md", "", "Likes short letters\n")]
    rules = folder(filed, "ana") / "identity.md"
    eventually(lambda: rules.exists() and "remember" in rules.read_text())
    edit = {"session": "first", "scope": desk["scope"], "name": "plan.md", "version": 1, "text": "Step one\nStep two\n"}
    filed.http.post("/admin/api/desk/document", json=edit).raise_for_status()
    eventually(lambda: plan.read_text() == "Step one\nStep two\n")


def test_everything_that_was_said_is_on_the_tape(filed: Proxy) -> None:
    say(filed, "eva", "Remember that I play chess.", "And now?", x_olvido_session="eva")
    say(filed, "eva", "Remember that I play chess.", "And now?", "And then?", x_olvido_session="eva")
    tape = folder(filed, "eva") / "sessions" / "eva" / "session_log.jsonl"
    eventually(lambda: tape.exists() and "And then?" in tape.read_text())
    lines = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [line["id"] for line in lines] == list(range(1, len(lines) + 1))
    say(filed, "eva", "Forget that I play chess.")
    eventually(lambda: not places(filed, "chess"), 20.0)
    left = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [line["id"] for line in left[: len(lines)]] == [line["id"] for line in lines]
    assert None in [line["content"] for line in left]


def test_what_is_forgotten_is_in_no_document(filed: Proxy) -> None:
    say(filed, "teo", "Remember that my locker number is zq81w.", "And that I like tea.", x_olvido_session="teo")
    eventually(lambda: "zq81w" in memory(filed, "teo"))
    plan = written(filed, "teo", "plan.md", "- my locker number is zq81w\n- buy tea\n")
    eventually(lambda: document(filed, "teo", "plan.md")["version"] == 1)
    plan.write_text("- my locker number is zq81w\n- buy tea\n- and milk\n")
    eventually(lambda: document(filed, "teo", "plan.md")["version"] == 2)
    assert {"plan.md", "MEMORY.md"} <= set(places(filed, "zq81w"))
    say(filed, "teo", "Forget my locker number.")
    eventually(lambda: not places(filed, "zq81w"), 20.0)
    assert rows(filed, "zq81w") == []
    assert plan.read_text() == "- forgotten\n- buy tea\n- and milk\n"


def test_a_section_that_is_too_long_is_told_and_left_alone(filed: Proxy) -> None:
    say(filed, "uma", "Remember that I like jazz.", "And now?", x_olvido_session="uma")
    eventually(lambda: "jazz" in memory(filed, "uma"))
    notes = written(filed, "uma", "agent_notes.md", "This is longer than five tokens are, by far.\n")

    def problems() -> list[str]:
        return [each["problem"] for each in filed.http.get("/admin/api/files").json()["folders"] if each["problem"]]

    eventually(problems)
    (problem,) = problems()
    assert problem.startswith("agent_notes.md is too long: it has 5 tokens at most, this one ")
    assert document(filed, "uma", "agent_notes.md")["version"] == 0
    notes.write_text("Jazz.\n")
    eventually(lambda: document(filed, "uma", "agent_notes.md")["version"] == 1)
    eventually(lambda: not problems())
