"""The desk of a conversation over HTTP: what its model keeps, looked at and corrected by whoever runs the proxy."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from time import time
from typing import Any

import httpx
import msgspec
import pytest

from proxy.types import DeskTrail, Trail
from proxy.types.desk import (
    Applied,
    Called,
    DeskEvent,
    DeskNews,
    Document,
    Edit,
    EditedBy,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    TapeLine,
)
from tests.admin.conftest import API, TOKEN, Watched, error, started
from tests.builders import TENANT, assistant, calling, result, user

DESK = f"{API}/desk"
NOW = float(int(time()))  # of the run: what is old would be gone as soon as retention comes round
SECTIONS = ["user_profile.md", "project_context.md", "current_task.md", "agent_notes.md"]
LONG = "x" * 30_000


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with ExitStack() as stack:
        yield started(
            stack,
            tenancy="shared",
            memory={"tools": {"enabled": True, "project": "My App", "sections": {"agent_notes": 5}}},
        )


def trail(desk: DeskTrail | None) -> Trail:
    return Trail(limit=None, turns=1, kept=1, start=0, newest=0, desk=desk)


def wrote(at: Watched, scope: str, *payloads: Payload, lines: Sequence[TapeLine] = (), request: str = "r1") -> DeskNews:
    """A desk of session `s`, and the request that it is known by."""
    at.wrote(scope, session="s")
    events = [DeskEvent(NOW, request, each) for each in payloads]
    news: DeskNews = at.inside.do(lambda: at.services.storage.desks.write(scope, "s", lines, events))
    return news


def put(at: Watched, scope: str, name: str, text: str, version: int = 0, by: EditedBy = "model") -> None:
    at.inside.do(lambda: at.services.storage.desks.put(scope, name, text, version=version, at=NOW, by=by))


def document(at: Watched, scope: str, name: str) -> Document | None:
    found: Document | None = at.inside.do(lambda: at.services.storage.desks.document(scope, name))
    return found


def line(link: bytes, said: object, role: str = "user", *, is_hidden: bool = False) -> TapeLine:
    content = None if said is None else msgspec.json.encode(said)
    return TapeLine(0, link * 16, NOW, role, 7, content, is_hidden)


def desk(at: Watched, scope: str) -> Any:
    return at.get("desk", session="s", scope=scope)


def post(at: Watched, path: str, scope: str, **body: Any) -> httpx.Response:
    return at.http.post(f"{DESK}/{path}", json={"session": "s", "scope": scope, **body})


# --- to look at ---


def test_of_a_session_without_a_desk_there_are_the_sections_that_it_might_have(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s")
    told = desk(watched, scope)
    assert (told["scope"], told["session"], told["is_enabled"], told["is_kept"]) == (scope, "s", True, True)
    assert told["offered"] == {"names": [], "language": "", "reason": "", "at": None, "ended": ""}
    assert [told[name] for name in ("pressure", "documents", "marks", "pins", "edits", "last")] == [
        [],
        [],
        [],
        [],
        [],
        0,
    ]
    names = ["user_profile.md", "project_context-my-app.md", "current_task-my-app.md", "agent_notes.md"]
    assert [each["name"] for each in told["sections"]] == names
    assert {(each["version"], each["tokens"], each["text"], each["by"]) for each in told["sections"]} == {
        (0, 0, "", None)
    }


def test_pressure_is_told_of_requests_that_had_a_desk_and_what_the_schemas_came_to(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s", tokens_billed=1_000, cost=0.5)
    for number in (1, 2):
        told = DeskTrail(100 * number, 800, 0.25, "low", schemas=40, rounds=number, cost=0.01)
        watched.wrote(
            scope, session="s", request_id=f"p{number}-{scope}", trail=trail(told), tokens_billed=500, cost=0.2
        )
    watched.wrote(scope, session="s", trail=trail(None), tokens_billed=0, cost=0.1)
    watched.wrote(scope, session="s", trail=trail(DeskTrail(9, None, 0.0, "low")), tokens_billed=0, cost=0.0)
    found = desk(watched, scope)
    assert [(each["request_id"][:2], each["used"], each["rounds"]) for each in found["pressure"]] == [
        ("p1", 100, 1),
        ("p2", 200, 2),
        ("re", 9, 1),
    ]
    assert found["pressure"][0].items() >= {"limit": 800, "pressure": 0.25, "level": "low", "schemas": 40}.items()
    assert found["schemas"] == {
        "requests": 2,
        "tokens": 40 + 80,
        "of_tokens": 2_000,
        "cost": pytest.approx(0.02),
        "of_cost": pytest.approx(1.0),
    }


def test_marks_pins_and_edits_are_told_newest_first_with_what_became_of_them(watched: Watched) -> None:
    scope = watched.scope()
    wrote(
        watched,
        scope,
        Offered("es", ("a", "b"), "fold"),
        Mark("prune", (b"a" * 16,), 1, 1, tokens=90),
        Mark("range", (b"b" * 16, b"c" * 16), 2, 3, "a summary", 120),
        Applied((2,), "economic", 80),
        Pin(b"b" * 16),
        Pin(b"gone" * 4),
        Edit("edit_section", "agent_notes.md", "old", LONG, version=1),
        Edit("remember", "shop", "", "ACME", "waiting"),
        Called("remember", "{}", "ok", 1),
        lines=[line(b"a", user("one")), line(b"b", user("two"))],
    )
    told = desk(watched, scope)
    assert told["offered"] == {"names": ["a", "b"], "language": "es", "reason": "fold", "at": NOW, "ended": ""}
    assert [(each["kind"], each["first"], each["last"], each["state"], each["text"]) for each in told["marks"]] == [
        ("range", 2, 3, "waiting", "a summary"),
        ("prune", 1, 1, "applied", None),
    ]
    assert (told["marks"][1]["reason"], told["marks"][1]["applied_by"], told["marks"][1]["tokens"]) == (
        "economic",
        "r1",
        90,
    )
    assert told["pins"] == [{"message": 2, "at": NOW, "role": "user", "tokens": 7, "text": "two"}]
    waits, done = told["edits"]
    assert (waits["number"], waits["state"], waits["name"], waits["after"]) == (8, "waiting", "shop", "ACME")
    assert (done["state"], done["before"], len(done["after"])) == ("done", "old", 20_001)
    assert (told["calls"], told["last"]) == ({"remember": 1}, 2)


def test_sections_are_told_with_their_sizes_those_of_other_projects_too_and_other_documents(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s")
    put(watched, scope, "agent_notes.md", "remember the milk", by="person")
    put(watched, scope, "current_task-site.md", "ship it")
    put(watched, scope, "plan.md", LONG)
    told = desk(watched, scope)
    notes, other = told["sections"][3:]
    assert notes == {
        "name": "agent_notes.md",
        "section": "agent_notes",
        "version": 1,
        "at": NOW,
        "by": "person",
        "is_removed": False,
        "text": "remember the milk",
        "tokens": watched.services.counter.text("remember the milk"),
        "limit": 5,
    }
    assert (other["name"], other["section"], other["text"]) == ("current_task-site.md", "current_task", "ship it")
    (plan,) = told["documents"]
    assert (plan["name"], plan["tokens"], plan["text"]) == ("plan.md", 7_500, None)


def test_a_document_is_told_whole_with_its_older_versions(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s")
    put(watched, scope, "plan.md", "first")
    put(watched, scope, "plan.md", LONG, version=1)
    told = watched.get("desk/document", session="s", scope=scope, name="plan.md")
    assert (told["version"], told["text"]) == (2, LONG)
    assert [(each["version"], each["text"]) for each in told["older"]] == [(1, None)]
    none = watched.get("desk/document", session="s", scope=scope, name="none.md")
    assert none == {
        "name": "none.md",
        "version": 0,
        "at": None,
        "by": None,
        "is_removed": True,
        "text": "",
        "older": [],
    }


def test_the_tape_is_told_page_by_page(watched: Watched) -> None:
    scope = watched.scope()
    lines = [
        line(b"a", user("one")),
        line(b"b", calling("c1"), "assistant", is_hidden=True),
        line(b"c", result("c1", "seen"), "tool", is_hidden=True),
        line(b"d", None),
    ]
    wrote(watched, scope, lines=lines)
    first = watched.get("desk/tape", session="s", scope=scope, limit=3)
    assert [(each["message"], each["role"], each["text"], each["is_hidden"]) for each in first["lines"]] == [
        (1, "user", "one", False),
        (2, "assistant", None, True),
        (3, "tool", "seen", True),
    ]
    assert [each["name"] for each in first["lines"][1]["calls"]] == ["look"]
    second = watched.get("desk/tape", session="s", scope=scope, limit=3, after=first["next"])
    assert [(each["message"], each["text"], each["is_forgotten"]) for each in second["lines"]] == [(4, None, True)]
    assert second["next"] is None


def test_hidden_rounds_are_told_with_their_request(watched: Watched) -> None:
    scope = watched.scope()
    row = watched.wrote(scope, session="s")
    raw = [msgspec.json.encode(each) for each in (calling("c1"), result("c1", "the file"))]
    hidden = Hidden(b"l" * 16, b"a" * 16, tuple(raw))
    called = Called("look", "{}", "ok", 1)
    wrote(watched, scope, called, hidden, request=row.request_id)
    (told,) = watched.get(f"requests/{row.request_id}")["rounds"]
    (call,) = told["calls"]
    assert (call["name"], call["result"], call["outcome"]) == ("look", "the file", "ok")
    assert told["tokens"] > 0
    other = watched.wrote(scope, session="s")
    assert watched.get(f"requests/{other.request_id}")["rounds"] == []


def test_where_contents_are_not_shown_no_text_is(locked: Watched) -> None:
    scope, admin = locked.scope(), {"authorization": f"Bearer {TOKEN}"}
    row = locked.wrote(scope, session="s")
    put(locked, scope, "agent_notes.md", "SECRET")
    raw = [msgspec.json.encode(each) for each in (calling("c1"), result("c1", "SECRET"))]
    wrote(
        locked,
        scope,
        Hidden(b"l" * 16, b"a" * 16, tuple(raw)),
        Edit("edit_section", "agent_notes.md", "SECRET", "SECRET", version=1),
        Mark("range", (b"b" * 16,), 1, 1, "SECRET"),
        Called("load_from_disk", '{"file_name":"SECRET"}', "ok", 1),
        Pin(b"b" * 16),
        lines=[line(b"b", assistant("SECRET"))],
        request=row.request_id,
    )
    query = {"session": "s", "scope": scope}
    for path, more in (
        ("desk", query),
        ("desk/tape", query),
        ("desk/document", {**query, "name": "agent_notes.md"}),
        (f"requests/{row.request_id}", {"scope": scope}),
    ):
        answer = locked.http.get(f"{API}/{path}", params=more, headers=admin)
        assert answer.status_code == 200
        assert "SECRET" not in answer.text
    assert locked.http.get(f"{API}/desk", params=query).status_code == 401


def test_of_people_without_a_name_it_is_the_conversations_own(watched: Watched) -> None:
    scope = f"{TENANT}/"
    watched.wrote(scope, session="alone")
    event = DeskEvent(NOW, "", Mark("prune", (b"a" * 16,), 1, 1))
    watched.inside.do(lambda: watched.services.storage.desks.write(f"{scope}~alone", "alone", (), [event]))
    assert len(watched.get("desk", session="alone", scope=scope)["marks"]) == 1
    watched.wrote(scope, session="other")
    assert watched.get("desk", session="other")["marks"] == []


# --- to correct ---


def test_a_message_is_pinned_and_released(watched: Watched) -> None:
    scope = watched.scope()
    wrote(watched, scope, lines=[line(b"a", user("one"))])
    assert post(watched, "pins", scope, message=1).json() == {"message": 1, "pinned": True}
    assert [each["message"] for each in desk(watched, scope)["pins"]] == [1]
    assert post(watched, "pins", scope, message=1, pinned=False).json() == {"message": 1, "pinned": False}
    assert desk(watched, scope)["pins"] == []
    assert error(post(watched, "pins", scope, message=2)) == (404, "unknown_url")


@pytest.mark.parametrize("is_allowed", [True, False])
def test_an_edit_that_waits_is_decided_once(watched: Watched, is_allowed: bool) -> None:
    scope = watched.scope()
    wrote(watched, scope, Edit("edit_section", "user_profile.md", "", "likes tea", "waiting"))
    told = post(watched, "edits", scope, edit=1, is_allowed=is_allowed)
    assert told.json() == {"edit": 1, "is_allowed": is_allowed}
    states = [each["state"] for each in desk(watched, scope)["edits"]]
    assert states == (["done", "confirmed"] if is_allowed else ["declined"])
    found = document(watched, scope, "user_profile.md")
    assert (found.text if found else None) == ("likes tea" if is_allowed else None)
    assert error(post(watched, "edits", scope, edit=1, is_allowed=True))[0] == 404


def test_a_reset_undoes_all_of_the_session(watched: Watched) -> None:
    scope = watched.scope()
    put(watched, scope, "agent_notes.md", "by the model")
    wrote(
        watched,
        scope,
        Mark("prune", (b"a" * 16,), 1, 1),
        Edit("edit_section", "agent_notes.md", "", "by the model", version=1),
    )
    assert post(watched, "reset", scope).json() == {"session": "s", "undone": ["agent_notes.md"]}
    told = desk(watched, scope)
    assert [each["state"] for each in (*told["marks"], *told["edits"])] == ["undone", "undone"]
    assert told["sections"][3]["version"] == 0
    assert told["reset_at"] > NOW


def test_a_persons_text_is_written_and_merged_with_what_has_come_since(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s")
    new = post(watched, "document", scope, name="plan.md", version=0, text="one\ntwo\nthree").json()
    assert (new["version"], new["by"], new["is_merged"]) == (1, "person", False)
    put(watched, scope, "plan.md", "one\ntwo\nthree\nfour", version=1)
    merged = post(watched, "document", scope, name="plan.md", version=1, text="ONE\ntwo\nthree").json()
    assert (merged["version"], merged["text"], merged["is_merged"]) == (3, "ONE\ntwo\nthree\nfour", True)
    gone = post(watched, "document", scope, name="plan.md", version=3, text="").json()
    assert (gone["is_removed"], gone["is_merged"]) == (True, False)
    none = post(watched, "document", scope, name="none.md", version=0, text="").json()
    assert (none["version"], none["is_removed"]) == (0, True)


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"name": "../x.md"}, 400, "name"),
        ({"name": "MEMORY.md"}, 400, "name"),
        ({"name": "identity.md"}, 400, "name"),
        ({"name": "agent_notes.md", "text": "word " * 20}, 400, "text"),
        ({"name": "plan.md", "text": "x" * 300_000}, 400, "text"),
        ({"name": "plan.md", "version": 9}, 409, None),
        ({"name": "plan.md", "version": -1}, 400, "version"),
        ({"name": "plan.md", "more": 1}, 400, "more"),
        ({}, 400, "name"),
    ],
)
def test_a_text_that_may_not_be_written_is_refused(
    watched: Watched, body: dict[str, Any], status: int, param: str | None
) -> None:
    scope = watched.scope()
    watched.wrote(scope, session="s")
    answer = post(watched, "document", scope, **({"version": 0, "text": "x"} | body))
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param)
    assert desk(watched, scope)["documents"] == []


BODIES: dict[str, dict[str, Any]] = {
    "document": {"name": "plan.md", "version": 0, "text": "x"},
    "pins": {"message": 1},
    "edits": {"edit": 1, "is_allowed": True},
    "reset": {},
}


LOOKS: tuple[tuple[str, dict[str, str]], ...] = (("", {}), ("/tape", {}), ("/document", {"name": "plan.md"}))


@pytest.mark.parametrize("path", BODIES)
def test_what_belongs_to_another_scope_is_unknown_and_untouched(watched: Watched, path: str) -> None:
    scope, other = watched.scope(), watched.scope()
    wrote(watched, scope, Edit("save_to_disk", "plan.md", "", "x", "waiting"), lines=[line(b"a", user("one"))])
    watched.wrote(other, session="another")
    before = desk(watched, scope)
    for whose in (other, f"{TENANT}/", "nobody/"):
        assert post(watched, path, whose, **BODIES[path]).status_code == 404
        query = {"session": "s", "scope": whose}
        for look, more in LOOKS:
            assert watched.http.get(f"{DESK}{look}", params={**query, **more}).status_code == 404
    assert desk(watched, scope) == before
    assert watched.http.post(f"{DESK}/{path}", json={"session": "s", **BODIES[path]}).status_code == 400


@pytest.mark.parametrize("path", BODIES)
def test_without_the_token_nothing_is_told_or_changed(locked: Watched, path: str) -> None:
    assert post(locked, path, "x/", **BODIES[path]).status_code == 401
