"""Requests as JSON Lines, exported from a real proxy."""

import json

from proxy.replay.files import log_of
from tests.admin.conftest import ADMITTED, API, Watched, error, said


def test_an_export_is_what_replay_reads(watched: Watched) -> None:
    scope = f"{watched.scope()[:32]}/exporter"
    said(watched, scope, "e1", "One?", "1", session="e", plan="managed")
    said(watched, scope, "e2", "Two?", "2", session="e")
    watched.wrote(scope, request_id="e3", session="e")
    answer = watched.http.get(f"{API}/requests/export", params={"scope": scope})
    assert answer.headers["content-disposition"].startswith("attachment")
    *lines, last = answer.content.splitlines()
    assert json.loads(last) == {"exported": 2, "without_body": 1}
    logged, skipped = log_of([answer.content])
    assert [each.line for each in skipped] == [3]
    assert [json.loads(each.body)["messages"][-1]["content"] for each in logged] == ["Two?", "One?"]
    one = logged[-1]
    assert one.answer is not None
    assert one.answer.text == "1"
    assert {("x-olvido-session", "e"), ("x-olvido-user", "exporter"), ("x-olvido-mode", "on")} <= set(one.headers)
    assert (one.key, one.at) == (scope[:32], json.loads(lines[-1])["at"])
    filtered = watched.http.get(f"{API}/requests/export", params={"scope": scope, "plan": "managed"}).content
    assert [json.loads(line)["request_id"] for line in filtered.splitlines()] == ["e1"]
    assert watched.http.head(f"{API}/requests/export").content == b""


def test_where_contents_may_not_be_shown_nothing_is_exported(locked: Watched) -> None:
    locked.wrote(locked.scope())
    assert error(locked.http.get(f"{API}/requests/export", headers=ADMITTED)) == (409, "conflict")
