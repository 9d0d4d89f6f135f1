"""Memory with a model's help, from outside: the proxy in its own process, the official SDK, and a model that a test
plays. What somebody implied in one conversation the next one knows; whatever the model does, people are answered."""

import json
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tests.builders import completion
from tests.e2e.running import Demo, Proxy, upstream
from tests.servers import eventually, run_app

Json = Any
pytestmark = pytest.mark.long  # each starts a process of its own
SAID = "Sharper, thanks. I'd know, I've been profoundly deaf from birth and I've slept through three evacuations."
VALUE = "Has been profoundly deaf from birth"
QUESTION = "My landlord pays for whatever makes the new flat safer. What should I ask him for?"
GOLD = {
    "operations": [
        {
            "op": "add",
            "key": "hearing",
            "value": VALUE,
            "domain": "personal",
            "turn": 1,
            "quote": "I've been profoundly deaf from birth",
        }
    ],
    "events": [],
    "slug": "a-sharper-letter",
}
USAGE = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1_000}


def gold() -> Response:
    return JSONResponse(completion(f"```json\n{json.dumps(GOLD)}\n```") | {"usage": USAGE})


@dataclass
class Model:
    """The model's upstream, in a thread."""

    says: Callable[[], Response] = gold
    seen: list[Json] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def respond(self, request: Request) -> Response:  # in a thread of the server
        self.seen.append(request.headers.get("authorization"))
        self.gate.wait(60)
        return self.says()


@pytest.fixture
def model() -> Iterator[Model]:
    playing = Model()
    playing.gate.set()
    with run_app(Starlette(routes=[Route("/v1/chat/completions", playing.respond, methods=["POST"])])) as url:
        playing.url = url
        yield playing
        playing.gate.set()


def config(demo: Demo, model: Model, **settings: Json) -> dict[str, Json]:
    own = {"api_key": "${MEMORY_KEY}", "price": {"input": 0.1, "output": 0.4}, "retries": 0, "dialect": "vllm"}
    memory = {"name": "memory", "base_url": f"{model.url}/v1", "models": ["small"], **own}
    asked = {"upstream": "memory", "model": "small", **settings}
    return {"upstreams": [upstream("demo", demo, ["*"]), memory], "memory": {"model": asked}}


@pytest.fixture
def start(start_proxy: Callable[..., Proxy], demo: Demo, model: Model) -> Callable[..., Proxy]:
    def started(folder: Path | None = None, **settings: Json) -> Proxy:
        return start_proxy(config(demo, model, **settings), folder, MEMORY_KEY="sk-of-the-model")

    return started


def client(proxy: Proxy, session: str, **headers: str) -> openai.OpenAI:
    named = {"x-olvido-user": "ana", "x-olvido-session": session, **headers}
    return openai.OpenAI(base_url=proxy.base_url, api_key="sk-test", default_headers=named, max_retries=0)


def say(proxy: Proxy, session: str, text: str, **headers: str) -> str:
    with client(proxy, session, **headers) as sdk:
        answer = sdk.chat.completions.create(model="demo-chat", messages=[{"role": "user", "content": text}])
    return answer.choices[0].message.content or ""


def end(proxy: Proxy, session: str) -> None:
    proxy.http.post(f"/olvido/sessions/{session}/end", json={"user": "ana"}).raise_for_status()


def facts(proxy: Proxy) -> list[tuple[str, str]]:
    told = proxy.http.get("/admin/api/facts").raise_for_status().json()["facts"]
    return [(fact["value"], fact["source"]) for fact in told if fact["superseded_by"] is None]


def jobs(proxy: Proxy, kind: str = "extract") -> Sequence[tuple[str, str]]:
    """States and reasons, as they are in the file now."""
    with closing(sqlite3.connect(f"file:{proxy.storage / 'olvido.db'}?mode=ro", uri=True)) as database:
        return database.execute("SELECT state, reason FROM jobs WHERE kind = ? ORDER BY id", (kind,)).fetchall()


def prompts(demo: Demo) -> list[str]:
    return [json.dumps(json.loads(each.body)["messages"], ensure_ascii=False) for each in demo.arrived()]


def test_the_next_conversation_knows_what_was_implied(start: Callable[..., Proxy], demo: Demo, model: Model) -> None:
    proxy = start()
    say(proxy, "first", SAID)
    assert model.seen == []  # nothing waits for it, and nothing is asked before the conversation is over
    end(proxy, "first")
    eventually(lambda: (VALUE, "auto") in facts(proxy))
    assert model.seen == ["Bearer sk-of-the-model"]
    say(proxy, "second", QUESTION)
    first, second = prompts(demo)
    assert VALUE not in first
    assert VALUE in second
    row = proxy.row(reuse_reason="memory")
    assert (row["upstream"], row["cost"]) == ("memory", pytest.approx((900 * 0.1 + 100 * 0.4) / 1e6))
    assert proxy.metric("olvido_memory_jobs_total", kind="extract", result="done") == 1
    assert proxy.metric("olvido_memory_operations_total", op="add", result="kept") == 1
    assert proxy.complaints() == []


def test_the_last_answer_of_a_conversation_may_say_that_it_ends(start: Callable[..., Proxy]) -> None:
    proxy = start(when=["close"])
    say(proxy, "first", SAID, **{"x-olvido-session-end": "true"})
    eventually(lambda: (VALUE, "auto") in facts(proxy))


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (lambda: JSONResponse(completion("Sure! I'd be happy to help.")), "no JSON"),
        (lambda: JSONResponse(completion('{"answer": 42}')), "other JSON"),
        (lambda: JSONResponse(completion("x" * 10_000_000)), "no answer"),
        (lambda: PlainTextResponse("<html>"), "no answer"),
        (lambda: JSONResponse({"error": {"message": "no"}}, status_code=500), "unreachable"),
    ],
    ids=["prose", "other JSON", "10 MB", "no JSON", "an error"],
)
def test_whatever_the_model_says_has_a_reason_and_nobody_misses_an_answer(
    says: Callable[[], Response], reason: str, start: Callable[..., Proxy], model: Model
) -> None:
    model.says = says
    proxy = start()
    say(proxy, "first", SAID)
    end(proxy, "first")
    eventually(lambda: jobs(proxy) == [("waiting", reason)])
    assert say(proxy, "second", "Hello")
    assert facts(proxy) == []
    assert proxy.metric("olvido_memory_jobs_total", kind="extract", result="put-off") == 1
    assert proxy.complaints() == []


def test_while_the_model_hangs_people_are_answered_and_the_process_ends_in_time(
    start: Callable[..., Proxy], model: Model
) -> None:
    model.gate.clear()
    proxy = start()
    say(proxy, "first", SAID)
    end(proxy, "first")
    eventually(lambda: model.seen)
    assert [say(proxy, f"other {number}", "Hello") for number in range(5)]
    assert proxy.stop() in (0, -signal.SIGTERM)
    assert jobs(proxy)[0][0] == "running"  # another process goes on with it when its lease ends


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_what_was_not_read_yet_is_read_by_the_next_process(
    how: str, start: Callable[..., Proxy], model: Model, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    proxy = start(folder, idle="3s" if how == "killed" else "1h")
    say(proxy, "first", SAID)
    eventually(lambda: jobs(proxy) == [("waiting", "")])
    assert model.seen == []
    if how == "killed":
        proxy.process.kill()
        proxy.process.wait()
    else:
        proxy.stop()
    again = start(folder, idle="3s" if how == "killed" else "1h")
    eventually(lambda: (VALUE, "auto") in facts(again))
    assert len(model.seen) == 1


LESSON = "Long letters are ignored: two paragraphs"
CONCLUDED = {"operations": [], "task": ["Goal: a sharper letter"], "lessons": [LESSON]}


@pytest.mark.note("SMMA 6/6", "SMMA 6/1", "SMMA 4/6")
@pytest.mark.parametrize("how", ["ended", "killed"])
def test_what_the_model_says_at_the_end_of_a_session_is_on_the_desk_of_the_next(
    how: str, start_proxy: Callable[..., Proxy], demo: Demo, model: Model, tmp_path: Path
) -> None:
    model.says = lambda: JSONResponse(completion(json.dumps(CONCLUDED)) | {"usage": USAGE})
    asked = config(demo, model, when=["idle"] if how == "killed" else ["close"], idle="3s")
    asked["memory"]["tools"] = {"enabled": True, "offer": "first"}
    proxy = start_proxy(asked, tmp_path, MEMORY_KEY="sk-of-the-model")
    for text in (SAID, "Make it shorter"):  # of a person whom no upstream has answered yet nothing is kept
        say(proxy, "first", text)
    if how == "ended":
        end(proxy, "first")
    else:
        eventually(lambda: jobs(proxy, "conclude") == [("waiting", "")])
        proxy.process.kill()
        proxy.process.wait()
        proxy = start_proxy(asked, tmp_path, MEMORY_KEY="sk-of-the-model")
    eventually(lambda: jobs(proxy, "conclude") == [("done", "")])
    eventually(lambda: jobs(proxy) == [("done", "")])
    assert len(model.seen) == 2  # one read for facts, one for the desk
    say(proxy, "second", QUESTION)
    first, _, last = prompts(demo)
    assert LESSON not in first
    assert all(line in last for line in (f"[agent_notes]\\n- {LESSON}", "[current_task]\\nGoal: a sharper letter"))
    assert proxy.complaints() == []


def test_without_the_model_nothing_is_asked_and_nothing_is_kept_for_it(
    start_proxy: Callable[..., Proxy], demo: Demo, model: Model
) -> None:
    settings = config(demo, model)
    del settings["memory"]
    proxy = start_proxy(settings, MEMORY_KEY="sk-of-the-model")
    say(proxy, "first", SAID)
    end(proxy, "first")
    say(proxy, "second", QUESTION)
    eventually(lambda: len(proxy.rows()) == 2)
    assert (jobs(proxy), model.seen) == ([], [])
    assert VALUE not in prompts(demo)[-1]
