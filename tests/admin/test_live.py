"""What happens now, over a real connection."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import msgspec
import pytest

from proxy.admin.live import HEADERS
from tests.admin.conftest import API, MODEL, Watched, started
from tests.builders import body, user
from tests.servers import eventually


def told(lines: Iterator[str], name: str) -> Any:
    """The data of the next event of this name."""
    for line in lines:
        if line == f"event: {name}":
            return msgspec.json.decode(next(lines).removeprefix("data: "))
    pytest.fail("the stream has ended")


def test_a_request_is_told_while_it_is_still_new_and_nobody_looks_afterwards(watched: Watched) -> None:
    with watched.http.stream("GET", f"{API}/live") as stream:
        assert stream.status_code == 200
        assert {name: stream.headers[name] for name, _ in HEADERS} == dict(HEADERS)
        lines = stream.iter_lines()
        totals = told(lines, "totals")
        answer = watched.client.post("/v1/chat/completions", content=body(user("hi"), model=MODEL))
        request = told(lines, "requests")["requests"][-1]
        assert request["request_id"] == answer.headers["x-olvido-request"]
        assert request["number"] > 0
        assert told(lines, "totals")["hour"]["requests"] > totals["hour"]["requests"]
    eventually(lambda: not watched.admin.feed.is_looking)


def test_a_head_is_no_stream(watched: Watched) -> None:
    answer = watched.http.head(f"{API}/live")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    assert not watched.admin.feed.is_looking


def test_a_server_that_stops_does_not_wait_for_who_watches() -> None:
    with ExitStack() as stack:
        # It would wait for a minute for answers that are under way; the fixture gives it ten seconds.
        proxy = started(stack, server={"port": 0, "drain": 60})
        url = str(proxy.http.base_url)
        ended = threading.Event()
        begun = threading.Event()

        def watch() -> None:
            with httpx.stream("GET", f"{url}{API}/live", timeout=30, trust_env=False) as stream:
                for _ in stream.iter_lines():
                    begun.set()
            ended.set()

        watching = threading.Thread(target=watch)
        watching.start()
        assert begun.wait(10)
    watching.join(10)
    assert ended.is_set()  # and cleanly, not broken off
