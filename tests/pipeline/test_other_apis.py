"""Requests of the Responses and Messages APIs through the whole proxy, over real sockets: to upstreams that have these
APIs, and to those that have chat completions alone."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from tests.builders import config
from tests.native import ANSWER, Native, run_native
from tests.other_apis import events_of, misplaced_blocks, misplaced_events, misplaced_items, misplaced_message_events
from tests.servers import eventually, run_proxy
from tests.talking import CLIENTS

Json = Any
TURNS = 24


@contextmanager
def proxied(
    upstream: Native, dialect: str = "generic", apis: list[str] | None = None, **sections: Json
) -> Iterator[httpx.Client]:
    entry = {"name": "up", "base_url": f"{upstream.url}/v1", "dialect": dialect, "retries": 0}
    settings = config(
        **{
            "upstreams": [{**entry, **({"apis": apis} if apis else {})}],
            "storage": {"kind": "memory"},
            "server": {"port": 0, "drain": 5},
            "embedding": {"enabled": False},
            "reuse": {"intent": {"enabled": False}},
            **sections,
        }
    )
    with run_proxy(settings) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        yield http


@pytest.fixture
def native() -> Iterator[Native]:
    with run_native() as upstream:
        yield upstream


KEY = {"authorization": "Bearer sk-a"}
STREAMS = {"responses": misplaced_events, "messages": misplaced_message_events}
ONCE: dict[str, Json] = {
    "responses": {"model": "m", "input": "Hello"},
    "messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]},
}
BOTH = pytest.mark.parametrize("api", ["responses", "messages"])


# --- upstreams of chat completions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "turns"), [("openai", TURNS), ("kimi", TURNS), pytest.param("kimi", 60, marks=pytest.mark.long)]
)
def test_one_conversation_in_three_apis_makes_the_same_prompts(dialect: str, turns: int) -> None:
    prompts = {}
    with ExitStack() as stack:
        upstream = stack.enter_context(run_native(seals=False))
        http = stack.enter_context(proxied(upstream, dialect, ["chat"], context={"profile_with_tools": "lean"}))
        for name, made in CLIENTS.items():
            upstream.asked.clear()
            client = made(http, f"sk-{name}")
            for turn in range(turns):
                assert client.say(f"Question {turn}: " + f"what about {turn}? " * 40) == ANSWER
            prompts[name] = [body["messages"] for body in upstream.bodies("/v1/chat/completions")]
            assert client.last.headers["x-olvido-plan"].startswith("managed")
    assert prompts["chat"] == prompts["responses"]
    for one, other in zip(prompts["chat"], prompts["messages"], strict=True):
        assert spelt(one) == spelt(other)  # an object there: how its arguments were spelt nobody can tell


def spelt(messages: Json) -> Json:
    return [{**said, "tool_calls": [spelt_call(call) for call in said.get("tool_calls") or ()]} for said in messages]


def spelt_call(call: Json) -> Json:
    return {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}


@BOTH
@pytest.mark.parametrize("tools", [False, True])
def test_an_answer_is_told_as_events_in_the_documented_order(native: Native, api: str, tools: bool) -> None:
    with proxied(native, apis=["chat"]) as http:
        client = CLIENTS[api](http, "sk-a", tools=tools)
        client.history.append({"role": "user", "content": "Hello"})
        answer = http.post(f"/v1/{api}", json=client._body() | {"stream": True}, headers=KEY)  # noqa: SLF001 (of the tests)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-olvido-source"] == "upstream"
    assert STREAMS[api](events_of(answer.content)) == []


def test_a_request_goes_on_from_a_response_that_is_kept_before_its_end_is_told(native: Native) -> None:
    with proxied(native, apis=["chat"]) as http:
        last = ""
        for turn in range(5):
            asked = {"model": "m", "input": f"Question {turn}", "stream": True, "previous_response_id": last or None}
            with http.stream("POST", "/v1/responses", json=asked, headers=KEY) as stream:
                for line in stream.iter_lines():  # asks again at once when the last event is there
                    if line.startswith("data: ") and '"response.completed"' in line:
                        told = json.loads(line[6:])["response"]
                        break
            assert told["previous_response_id"] == (last or None)
            last = told["id"]
        texts = [said["content"] for said in native.bodies("/v1/chat/completions")[-1]["messages"]]
        assert texts == [text for turn in range(4) for text in (f"Question {turn}", ANSWER)] + ["Question 4"]
        kept = http.get(f"/v1/responses/{last}", headers=KEY).json()
        assert kept["output"] == told["output"]
        items = http.get(f"/v1/responses/{last}/input_items", headers=KEY).json()["data"]
        assert [item["content"][0]["text"] for item in items if item.get("role") == "user"] == [
            f"Question {turn}" for turn in range(4, -1, -1)
        ]
        assert http.post(f"/v1/responses/{last}/cancel", headers=KEY).status_code == 409
        assert http.delete(f"/v1/responses/{last}", headers=KEY).json()["deleted"] is True
        gone = http.post("/v1/responses", json={**asked, "previous_response_id": last}, headers=KEY)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "previous_response_not_found")


@pytest.mark.parametrize(
    "other",
    [{"authorization": "Bearer sk-b"}, {**KEY, "x-olvido-user": "somebody"}],
    ids=["another key", "another person"],
)
def test_a_response_is_of_its_own_scope_alone(native: Native, other: dict[str, str]) -> None:
    with proxied(native, apis=["chat"]) as http:
        name = http.post("/v1/responses", json=ONCE["responses"], headers=KEY).json()["id"]
        asked = {**ONCE["responses"], "previous_response_id": name}
        assert http.post("/v1/responses", json=asked, headers=other).status_code == 404
        native.asked.clear()
        http.get(f"/v1/responses/{name}", headers=other)
        http.delete(f"/v1/responses/{name}", headers=other)
        assert [path for path, _ in native.asked] == [f"/v1/responses/{name}"] * 2  # it is the upstream's to know
        assert http.get(f"/v1/responses/{name}", headers=KEY).json()["id"] == name


@pytest.mark.parametrize(
    ("asked", "headers", "keep"),
    [
        ({"store": False}, {}, 60),
        ({}, {}, 0),
        ({}, {"cache-control": "no-store"}, 60),
        ({}, {"x-olvido-mode": "off"}, 60),
    ],
)
def test_a_response_that_is_not_to_be_stored_is_not(
    native: Native, asked: Json, headers: dict[str, str], keep: int
) -> None:
    with proxied(native, apis=["chat"], responses={"keep": keep}) as http:
        body = {**ONCE["responses"], **asked}
        name = http.post("/v1/responses", json=body, headers={**KEY, **headers}).json()["id"]
        again = http.post("/v1/responses", json={**ONCE["responses"], "previous_response_id": name}, headers=KEY)
        assert again.status_code == 404


@BOTH
def test_an_exact_answer_comes_in_the_shape_that_was_asked_for(native: Native, api: str) -> None:
    chat = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "Hello"}]}
    if api == "messages":
        chat["max_tokens"] = 9
    with proxied(native, apis=["chat"]) as http:
        http.post("/v1/chat/completions", json=chat, headers=KEY)
        asked = {**ONCE[api], "temperature": 0}
        whole = http.post(f"/v1/{api}", json=asked, headers=KEY)
        stream = http.post(f"/v1/{api}", json={**asked, "stream": True}, headers=KEY)
        assert [each.headers["x-olvido-source"] for each in (whole, stream)] == ["exact", "exact"]
        assert whole.json()["object" if api == "responses" else "type"] == (
            "response" if api == "responses" else "message"
        )
        assert STREAMS[api](events_of(stream.content)) == []
    assert len(native.asked) == 1


def saying(api: str, text: str) -> Json:
    said = {"input": text} if api == "responses" else {"messages": [{"role": "user", "content": text}]}
    return ONCE[api] | said


@BOTH
def test_what_is_said_in_one_api_is_known_in_the_others(native: Native, api: str) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "Where should we eat tonight?"}]}
    fact = "Remember that I am allergic to peanuts."
    told = saying(api, fact)
    with proxied(native, apis=["chat"]) as http:
        http.post(f"/v1/{api}", json=ONCE[api], headers=KEY)  # a scope is kept once an upstream has answered it
        http.post(f"/v1/{api}", json=told, headers=KEY)

        def is_told() -> bool:
            http.post("/v1/chat/completions", json=chat, headers=KEY)
            return "peanuts" in json.dumps(native.bodies("/v1/chat/completions")[-1])

        eventually(is_told)
        forget = "Forget that I am allergic to peanuts."
        http.post(f"/v1/{api}", json=saying(api, forget), headers=KEY)
        assert not is_told()


REFUSED = [
    ("responses", {"model": "m", "input": "x", "tools": [{"type": "web_search"}]}, 400, "tools[0]"),
    ("responses", {"model": "m", "input": "x", "background": True}, 400, "background"),
    ("responses", {"model": "m", "input": "x", "conversation": "conv_1"}, 400, "conversation"),
    ("responses", {"model": "m", "input": [{"type": "something_new"}]}, 400, "input[0]"),
    (
        "responses",
        {"model": "m", "input": [{"type": "function_call_output", "call_id": "z", "output": ""}]},
        400,
        "input",
    ),
    ("responses", {"model": "m", "input": "x", "previous_response_id": "resp_0"}, 404, "previous_response_id"),
    ("messages", {"model": "m", "max_tokens": 1, "messages": []}, 400, ""),
    (
        "messages",
        {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "document"}]}]},
        400,
        "",
    ),
    ("messages", {"max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}, 400, ""),
]


@pytest.mark.parametrize(("api", "asked", "status", "param"), REFUSED)
def test_what_cannot_be_translated_is_a_clear_error_in_the_apis_own_shape(
    native: Native, api: str, asked: Json, status: int, param: str
) -> None:
    with proxied(native, apis=["chat"]) as http:
        answer = http.post(f"/v1/{api}", json=asked, headers=KEY)
    error = answer.json()["error"]
    assert answer.status_code == status
    if api == "messages":
        assert (answer.json()["type"], error["type"]) == ("error", "invalid_request_error")
    else:
        assert error["param"] == param
    assert native.asked == []


@pytest.mark.parametrize("stream", [False, True])
@BOTH
def test_an_upstreams_error_is_told_in_the_apis_shape(native: Native, api: str, stream: bool) -> None:
    with proxied(
        native, apis=["chat"], upstreams=[{"name": "up", "base_url": "http://127.0.0.1:9/v1", "retries": 0}]
    ) as http:
        answer = http.post(f"/v1/{api}", json={**ONCE[api], "stream": stream}, headers=KEY)
    assert answer.status_code == 502
    assert (answer.json().get("type") == "error") == (api == "messages")


SPOILT = {"garbage": "error", "whole": "response.completed"}


@pytest.mark.parametrize("how", SPOILT)
def test_an_upstream_that_streams_badly_is_told_well(native: Native, how: str) -> None:
    native.spoils = how
    with proxied(native, apis=["chat"]) as http:
        stream = http.post("/v1/responses", json={**ONCE["responses"], "stream": True}, headers=KEY)
        events = events_of(stream.content)
        other = http.post("/v1/messages", json={**ONCE["messages"], "stream": True}, headers=KEY)
    assert SPOILT[how] in [event["type"] for event in events]
    assert misplaced_events(events) == []
    assert ("error" if how == "garbage" else "message_stop") == events_of(other.content)[-1]["type"]


@pytest.mark.parametrize("how", ["events", "nonsense"])
def test_an_upstream_that_answers_otherwise_than_asked_is_told_well(native: Native, how: str) -> None:
    native.spoils = how
    with proxied(native, apis=["chat"]) as http:
        answers = [http.post(f"/v1/{api}", json=ONCE[api], headers=KEY) for api in ("responses", "messages")]
    assert [answer.status_code for answer in answers] == [200 if how == "events" else 502] * 2
    assert all((ANSWER in answer.text) == (how == "events") for answer in answers)


def test_what_never_reaches_the_pipeline_is_told_in_the_apis_shape(native: Native) -> None:
    own = {"mode": "keys", "keys": [{"name": "a", "key": "sk-own-0123456789abcdef"}]}
    with proxied(native, apis=["chat"], auth=own, tenancy="personal", server={"port": 0, "max_body_mb": 1}) as http:
        wrong = http.post("/v1/messages", json=ONCE["messages"], headers={"x-api-key": "sk-wrong"})
        right = {"x-api-key": "sk-own-0123456789abcdef"}
        large = http.post("/v1/messages", content=b"x" * 2**21, headers=right)
    assert [(each.status_code, each.json()["error"]["type"]) for each in (wrong, large)] == [
        (401, "authentication_error"),
        (413, "request_too_large"),
    ]


def test_the_key_of_the_messages_api_is_a_bearer_token_elsewhere(native: Native) -> None:
    with proxied(native, apis=["chat"]) as http:
        http.post(
            "/v1/messages", json=ONCE["messages"], headers={"x-api-key": "sk-a", "anthropic-version": "2023-06-01"}
        )
    (headers,) = native.headers
    assert headers["authorization"] == "Bearer sk-a"
    assert not {"x-api-key", "anthropic-version"} & set(headers)


def test_tokens_are_counted_where_the_upstream_does_not(native: Native) -> None:
    with proxied(native, apis=["chat"]) as http:
        answer = http.post("/v1/messages/count_tokens", json=ONCE["messages"], headers=KEY)
    assert 0 < answer.json()["input_tokens"] < 20
    assert native.asked == []


def test_tokens_are_counted_under_the_upstreams_own_name_of_the_model(native: Native) -> None:
    entry = {"name": "up", "base_url": f"{native.url}/v1", "dialect": "anthropic", "aliases": {"m": "claude"}}
    body = json.dumps({**ONCE["messages"], "thinking": {"type": "adaptive"}})
    with proxied(native, upstreams=[entry]) as http:
        for more in ({}, {"model": "of-its-own"}):
            asked = json.dumps({**json.loads(body), **more}).encode()
            answer = http.post("/v1/messages/count_tokens", content=asked, headers=KEY)
            assert answer.json() == {"input_tokens": 77}
    told = [body for _, body in native.asked]
    assert [each.pop("model") for each in told] == ["claude", "of-its-own"]
    assert told[0] == told[1]


ANTHROPIC = {"x-api-key": "sk-a", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize("path", ["/v1/models", "/v1/messages/batches"])
@pytest.mark.parametrize("own", [None, "sk-own"])
def test_other_routes_of_the_api_go_to_an_upstream_that_has_it_with_its_key(
    native: Native, path: str, own: str | None
) -> None:
    key = {} if own is None else {"api_key": own}
    first = {"name": "first", "base_url": "http://127.0.0.1:9/v1", "models": ["gpt-*"]}
    second = {"name": "up", "base_url": f"{native.url}/v1", "dialect": "anthropic", **key}
    with proxied(native, upstreams=[first, second]) as http:
        answer = http.get(path, headers=ANTHROPIC)
    assert (answer.status_code, answer.json()["data"]) == (200, [])
    (headers,) = native.headers
    assert headers["x-api-key"] == (own or "sk-a")
    assert "authorization" not in headers
    assert headers["anthropic-version"] == "2023-06-01"


def test_and_to_one_that_has_not_with_a_bearer_token(native: Native) -> None:
    with proxied(native, "kimi", ["chat"]) as http:
        assert http.get("/v1/models", headers=ANTHROPIC).status_code == 200
    (headers,) = native.headers
    assert headers["authorization"] == "Bearer sk-a"
    assert "x-api-key" not in headers


def test_their_errors_have_its_shape(native: Native) -> None:
    entry = {"name": "up", "base_url": "http://127.0.0.1:9/v1", "dialect": "anthropic"}
    with proxied(native, upstreams=[entry]) as http:
        answer = http.get("/v1/models", headers=ANTHROPIC)
        other = http.get("/v1/models", headers=KEY)
    assert (answer.status_code, answer.json()["type"], answer.json()["error"]["type"]) == (502, "error", "api_error")
    assert other.json()["error"]["code"] == "upstream_unreachable"


def test_the_same_key_is_the_same_person_in_either_header(native: Native) -> None:
    with proxied(native, "anthropic") as http:
        for headers in ({"x-api-key": "sk-a"}, KEY, {"x-api-key": "sk-a", **KEY}, {"x-api-key": "sk-b"}):
            http.post("/v1/messages", json=ONCE["messages"], headers=headers)

        def scopes() -> list[str]:
            return [row["scope"] for row in http.get("/admin/api/requests").json()["requests"]][::-1]

        eventually(lambda: len(scopes()) == 4)
        assert len(set(scopes()[:3])) == 1
        assert scopes()[3] != scopes()[0]


@pytest.mark.parametrize(
    "headers",
    [{"x-api-key": "sk-own-0123456789abcdef"}, {"x-api-key": "sk-own-0123456789abcdef", "authorization": "Bearer x"}],
)
def test_a_key_of_ours_counts_whatever_stands_beside_it(native: Native, headers: dict[str, str]) -> None:
    own = {"mode": "keys", "keys": [{"name": "ann", "key": "sk-own-0123456789abcdef"}]}
    with proxied(native, "anthropic", auth=own, tenancy="personal") as http:
        assert http.post("/v1/messages", json=ONCE["messages"], headers=headers).status_code == 200
        assert http.post("/v1/messages", json=ONCE["messages"], headers=KEY).status_code == 401


def test_a_subagents_conversation_is_its_own(native: Native) -> None:
    session = {**KEY, "x-claude-code-session-id": "s"}
    agents = [
        {},
        {"x-claude-code-agent-id": "a"},
        {"x-claude-code-agent-id": "b", "x-claude-code-parent-agent-id": "a"},
    ]
    with proxied(native, "anthropic") as http:
        told = [http.post("/v1/messages", json=ONCE["messages"], headers={**session, **each}) for each in agents]
    assert [each.headers["x-olvido-session"] for each in told] == ["s", "s/a", "s/b"]


def test_a_websocket_gets_a_404(native: Native) -> None:
    asked = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "eA==",
    }
    with proxied(native) as http:
        assert http.get("/v1/responses", headers={**KEY, **asked}).status_code == 404
    assert native.asked == []


# --- upstreams that have the API --------------------------------------------------------------------------------------

HAVE_IT = {"responses": ["chat", "responses"], "messages": ["chat", "messages"]}
MISPLACED = {"responses": misplaced_items, "messages": misplaced_blocks}


@pytest.mark.parametrize("stream", [False, True])
@BOTH
def test_a_request_that_nothing_is_gained_from_changing_passes_to_the_byte(
    native: Native, api: str, stream: bool
) -> None:
    body = json.dumps({**ONCE[api], "stream": stream, "unknown": {"b": 1.50}}, indent=1).encode()
    headers = {**KEY, "content-type": "application/json", "anthropic-beta": "x"}
    with proxied(native, apis=HAVE_IT[api]) as http:
        proxied_answer = http.post(f"/v1/{api}", content=body, headers=headers)
    with httpx.Client(base_url=native.url, timeout=120, trust_env=False) as direct:
        answer = direct.post(f"/v1/{api}", content=body, headers=headers)
    assert native.raw == [body, body]
    assert native.headers[0]["anthropic-beta"] == "x"
    assert proxied_answer.headers["x-of-the-upstream"] == "1"
    assert numbered(proxied_answer.content) == numbered(answer.content)


def numbered(body: bytes) -> bytes:
    return body.replace(b"up1", b"up").replace(b"up2", b"up")


def texts(api: str, body: Json) -> list[str]:
    """What the user says in a request."""
    said = body["input" if api == "responses" else "messages"]
    told = [each["content"] for each in said if each.get("role") == "user"]
    return [each if isinstance(each, str) else "".join(part["text"] for part in each) for each in told]


@BOTH
def test_a_session_of_which_only_the_newest_is_sent_has_its_history(native: Native, api: str) -> None:
    with proxied(native, apis=HAVE_IT[api]) as http:
        for turn in range(3):
            asked = saying(api, f"Question {turn} about the house")
            answer = http.post(f"/v1/{api}", json=asked, headers={**KEY, "x-olvido-session": "s"})
            assert answer.status_code == 200, answer.text
    assert texts(api, native.bodies(f"/v1/{api}")[-1]) == [f"Question {turn} about the house" for turn in range(3)]
    assert ANSWER in json.dumps(native.bodies(f"/v1/{api}")[-1])
    assert native.faults == []


@BOTH
def test_what_was_cleared_is_not_sent_again(native: Native, api: str) -> None:
    with proxied(native, apis=HAVE_IT[api], memory={"commands": True}) as http:
        client = CLIENTS[api](http, "sk-a", tools=False)
        client.say("The code of the door is 4711.")
        client.say("/clear")
        client.say("What do you know?")
    assert [texts(api, body) for body in native.bodies(f"/v1/{api}")][1:] == [["What do you know?"]]


def test_a_request_that_passes_as_it_came_is_of_the_same_person(native: Native) -> None:
    headers = {**KEY, "x-olvido-user": "ann"}
    with proxied(native, "anthropic") as http:
        for more in ({}, {"mcp_servers": [{"url": "https://a"}]}):
            assert http.post("/v1/messages", json={**ONCE["messages"], **more}, headers=headers).status_code == 200

        def rows() -> list[Json]:
            return list(http.get("/admin/api/requests").json()["requests"])

        eventually(lambda: len(rows()) == 2)
        assert {row["scope"].partition("/")[2] for row in rows()} == {"ann"}


def test_claude_code_thinks_on_an_upstream_of_chat_completions(native: Native) -> None:
    thinks = {
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    }
    with proxied(native, "kimi", ["chat"]) as http:
        answer = http.post("/v1/messages?beta=true", json={**ONCE["messages"], **thinks}, headers=KEY)
    assert answer.status_code == 200, answer.text
    assert "context_management" not in native.bodies("/v1/chat/completions")[-1]


@pytest.mark.parametrize(
    ("content", "more"),
    [(b'"a \\ud83d b"', b""), (b'"a"', b',"temperature":NaN'), (b'"a"', b',"max_tokens":1e999')],
)
def test_what_only_an_upstream_may_read_is_the_upstreams_to_judge(native: Native, content: bytes, more: bytes) -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":%b}]%b}' % (content, more)
    with proxied(native, "anthropic") as http:
        http.post("/v1/messages", content=body, headers=KEY)
    assert native.raw == [body]
    native.raw.clear()
    with proxied(native, apis=["chat"]) as http:
        answer = http.post("/v1/messages", content=body, headers=KEY)
    assert (answer.status_code, answer.json()["error"]["type"], native.raw) == (400, "invalid_request_error", [])


@pytest.mark.parametrize("more", [{"something_new": 1}, {"top_k": 1}, {"thinking": {"type": "disabled"}}])
def test_another_field_is_another_request(more: Json) -> None:
    asked = {**ONCE["messages"], "temperature": 0}
    with run_native(seals=False) as native, proxied(native, "anthropic") as http:
        sources = [
            http.post("/v1/messages", json=body, headers=KEY).headers["x-olvido-source"]
            for body in (asked, {**asked, **more}, {**asked, "metadata": {"x": "y"}})
        ]
    assert sources == ["upstream", "upstream", "exact"]


@BOTH
def test_a_long_conversation_is_managed_and_never_breaks_the_order_of_the_api(native: Native, api: str) -> None:
    sections: Json = {"context": {"profile_with_tools": "lean"}, "profiles": {"lean": {"budget": 3000}}}
    dialect = "openai" if api == "responses" else "anthropic"
    with proxied(native, dialect, **sections) as http:
        client = CLIENTS[api](http, "sk-a")
        for turn in range(TURNS):
            client.say(f"Question {turn}: " + f"what about {turn}? " * 40)
        assert client.last.headers["x-olvido-plan"].startswith("managed")
        whole = len(json.dumps(client._body()))  # noqa: SLF001 (of the tests)
    sent = native.bodies(f"/v1/{api}")
    assert native.faults == []
    assert len(json.dumps(sent[-1])) < whole / 2
    newest = sent[-1]["input" if api == "responses" else "messages"]
    assert MISPLACED[api](newest) == []
    assert f"Question {TURNS - 1}" in json.dumps(newest)
    assert "sealed" in json.dumps(newest) or "signed" in json.dumps(newest)


@pytest.mark.parametrize(
    ("api", "more", "named"),
    [
        ("responses", {"previous_response_id": "resp_up1"}, "previous_response_id"),
        ("responses", {"conversation": "conv_1"}, "conversation"),
        ("responses", {"background": True}, "background"),
        ("responses", {"input": [{"role": "user", "content": "x"}, {"type": "compaction", "id": "c"}]}, "input[1]"),
        ("messages", {"context_management": {"edits": []}}, "context_management"),
        ("messages", {"mcp_servers": [{"url": "https://a"}]}, "mcp_servers"),
        ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
    ],
)
def test_state_of_the_provider_passes_as_it_is_and_is_told(native: Native, api: str, more: Json, named: str) -> None:
    body = json.dumps({**ONCE[api], **more}).encode()
    with proxied(native, apis=HAVE_IT[api]) as http:
        answer = http.post(f"/v1/{api}", content=body, headers={**KEY, "content-type": "application/json"})
        assert answer.headers["x-olvido-plan"] == f"untouched;hands_off={named}"

        def routes() -> list[str]:
            return [row["route"] for row in http.get("/admin/api/requests").json()["requests"]]

        eventually(lambda: routes() == [f"/v1/{api}"])
        counted = f'olvido_unmanaged_requests_total{{route="/v1/{api}"}} 1.0'
        eventually(lambda: counted in http.get("/metrics").text)
    assert native.raw == [body]


def test_a_chain_that_is_taken_over_is_sent_whole_and_under_no_id(native: Native) -> None:
    with proxied(native, "openai", responses={"take_over": True}) as http:
        last = None
        for turn, stream in enumerate([False, True, False]):
            asked = {"model": "m", "input": f"Question {turn}", "previous_response_id": last, "stream": stream}
            answer = http.post("/v1/responses", json=asked, headers=KEY)
            last = events_of(answer.content)[-1]["response"]["id"] if stream else answer.json()["id"]
    sent = native.bodies("/v1/responses")[-1]
    assert (sent["store"], "previous_response_id" in sent) == (False, False)
    told = [item["content"] for item in sent["input"] if item.get("role") == "user"]
    assert told == ["Question 0", "Question 1", "Question 2"]
    assert native.faults == []


@pytest.mark.parametrize(("dialect", "key"), [("anthropic", "x-api-key"), ("generic", "authorization")])
def test_an_upstreams_own_key_is_in_the_header_of_its_api(native: Native, dialect: str, key: str) -> None:
    entry = {"name": "up", "base_url": f"{native.url}/v1", "dialect": dialect, "api_key": "sk-own"}
    with proxied(native, upstreams=[entry]) as http:
        http.post("/v1/messages", json=ONCE["messages"], headers={"x-api-key": "sk-client"})
        http.post("/v1/messages/count_tokens", json=ONCE["messages"], headers={"x-api-key": "sk-client"})
    keys = [{name: each.get(name) for name in ("x-api-key", "authorization")} for each in native.headers]
    own = (
        {"x-api-key": "sk-own", "authorization": None}
        if key == "x-api-key"
        else {"x-api-key": None, "authorization": "Bearer sk-own"}
    )
    assert keys == [own] * len(keys)
    assert len(keys) == (2 if dialect == "anthropic" else 1)
