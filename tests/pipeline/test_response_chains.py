"""Requests that go on from earlier responses, over real sockets: of ours, of the provider's, and of both in turn."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from tests.builders import config
from tests.native import ANSWER
from tests.other_apis import events_of, misplaced_events
from tests.pipeline.test_other_apis import KEY, proxied
from tests.provider import Provider, run_provider
from tests.servers import run_app, run_proxy
from tests.talking import CLIENTS

Json = Any
NATIVE, CHAT = ["chat", "responses"], ["chat"]
NOTHING: Mapping[str, Json] = MappingProxyType({})
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}}
USER = {"role": "user", "content": "Hello"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as upstream:
        yield upstream


@dataclass(frozen=True, slots=True)
class Both:
    """An upstream, and two proxies before it: to one it has chat completions alone, to the other all APIs. Tests that
    differ in what they send share them, each with a key of its own."""

    provider: Provider
    chat: httpx.Client
    native: httpx.Client
    keys: Iterator[str]

    def begun(self) -> dict[str, str]:
        """The headers of a test, to which nothing has arrived yet."""
        for arrived in (self.provider.raw, self.provider.asked, self.provider.headers, self.provider.faults):
            arrived.clear()
        return {"authorization": f"Bearer {next(self.keys)}", "content-type": "application/json"}


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with run_provider() as upstream, proxied(upstream, apis=CHAT) as chat, proxied(upstream, apis=NATIVE) as native:
        yield Both(upstream, chat, native, (f"sk-both-{number}" for number in count()))


def asked(http: httpx.Client, headers: Mapping[str, str] = MappingProxyType({}), **fields: Json) -> Json:
    """Asks once; returns the response, whole or as the last event tells it."""
    answer = http.post("/v1/responses", json={"model": "m", **fields}, headers={**KEY, **headers})
    assert answer.status_code == 200, answer.text
    if not fields.get("stream"):
        return answer.json()
    events = events_of(answer.content)
    assert misplaced_events(events) == []
    return events[-1]["response"]


def texts(response: Json) -> str:
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


def calls(response: Json) -> list[Json]:
    return [item for item in response["output"] if item["type"] == "function_call"]


def dialogue(http: httpx.Client, **fields: Json) -> list[Json]:
    """A conversation of three questions with a tool, each request of it on from the response before."""
    told: list[Json] = []
    for turn in range(3):
        given: Json = f"Question {turn}"
        while True:
            last = {"previous_response_id": told[-1]["id"]} if told else {}
            told.append(asked(http, input=given, tools=[LOOK], stream=len(told) % 2 == 1, **last, **fields))
            if not calls(told[-1]):
                break
            given = [
                {"type": "function_call_output", "call_id": each["call_id"], "output": "ok"} for each in calls(told[-1])
            ]
        assert texts(told[-1]) == ANSWER
    return told


@pytest.mark.parametrize("include", [[], ["reasoning.encrypted_content"]])
@pytest.mark.parametrize("take_over", [False, True])
@pytest.mark.parametrize("apis", [NATIVE, CHAT])
def test_a_dialogue_with_tools_goes_on_from_response_to_response(
    provider: Provider, apis: list[str], take_over: bool, include: list[str]
) -> None:
    with proxied(provider, apis=apis, responses={"take_over": take_over}) as http:
        told = dialogue(http, include=include)
    assert provider.faults == []
    assert len(told) == 6
    if apis == CHAT:
        last = provider.bodies("/v1/chat/completions")[-1]["messages"]
        assert [said["role"] for said in last] == ["user", "assistant", "tool", "assistant"] * 2 + [
            "user",
            "assistant",
            "tool",
        ]
    elif take_over:
        sent = provider.bodies("/v1/responses")[1:]
        assert not any("previous_response_id" in body or body["store"] for body in sent)
        ids = {"id" in item for body in sent for item in body["input"]}
        assert ids == {False}  # all are stripped: none of them is anything that the provider holds


def test_a_dialogue_at_the_provider_passes_to_the_byte(provider: Provider) -> None:
    with httpx.Client(base_url=provider.url, timeout=120, trust_env=False) as direct:
        dialogue(direct)
    raw = list(provider.raw)
    provider.raw.clear()
    with proxied(provider, apis=NATIVE) as http:
        dialogue(http)
    spelt = [body.replace(b"resp_up7", b"resp_up1") for body in provider.raw]
    assert [len(body) for body in spelt] == [len(body) for body in raw]
    assert provider.faults == []


OPAQUE = [
    [{"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}],
    [{"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "file_id": "f"}}],
    [{"type": "local_shell_call_output", "id": "c", "output": "x"}],
    [{"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}],
    [{"id": "msg_1"}],
    [],
    None,
]


@pytest.mark.parametrize("given", OPAQUE, ids=[str(each)[:30] for each in OPAQUE])
def test_an_input_without_any_message_passes_to_a_provider_that_holds_the_rest(both: Both, given: Json) -> None:
    headers = both.begun()
    first = asked(both.native, headers, input="Hello")
    body = json.dumps({"model": "m", "input": given, "previous_response_id": first["id"]}, indent=1).encode()
    answer = both.native.post("/v1/responses", content=body, headers=headers)
    assert (answer.status_code, answer.headers["x-olvido-plan"]) == (
        200,
        "untouched;hands_off=previous_response_id",
    )
    assert both.provider.raw[-1] == body


def test_a_prompt_of_the_providers_needs_no_model(provider: Provider) -> None:
    with proxied(provider, apis=NATIVE) as http:
        answer = http.post("/v1/responses", json={"prompt": {"id": "pmpt_1"}}, headers=KEY)
        assert (answer.status_code, answer.headers["x-olvido-plan"]) == (200, "untouched;hands_off=prompt")
        assert http.post("/v1/responses", json={"input": "x"}, headers=KEY).status_code == 400
    with proxied(provider, apis=CHAT) as http:
        refused = http.post("/v1/responses", json={"prompt": {"id": "pmpt_1"}}, headers=KEY)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "prompt")


# --- responses that the proxy has told in a provider's place ----------------------------------------------------------


def test_a_reused_answer_can_be_gone_on_from_where_the_provider_does_not_know_it(provider: Provider) -> None:
    with proxied(provider, apis=NATIVE) as http:
        asked(http, input="Hello", temperature=0)
        again = asked(http, input="Hello", temperature=0)
        assert len(provider.asked) == 1
        assert http.get(f"/v1/responses/{again['id']}", headers=KEY).json() == again
        second = asked(http, input="And then?", previous_response_id=again["id"])
        third = asked(http, input="And after?", previous_response_id=second["id"])
    assert provider.faults == []
    assert [item.get("role") for item in provider.kept[third["id"]] if item.get("role")] == ["user", "assistant"] * 3


@pytest.mark.parametrize("kind", ["message", "reasoning"])
@pytest.mark.parametrize("apis", [NATIVE, CHAT])
def test_items_that_a_client_only_names_are_put_in_place(provider: Provider, apis: list[str], kind: str) -> None:
    with proxied(provider, apis=apis) as http:
        for _ in range(2):  # the second answer is a reused one
            first = asked(http, input=[USER], temperature=0)
        named = [{"type": "item_reference", "id": item["id"]} for item in first["output"] if item["type"] == kind]
        said = [{"role": "assistant", "content": "So"}] if kind == "reasoning" else []
        second = asked(http, input=[USER, *named, *said, {"role": "user", "content": "And then?"}])
    assert texts(second) == ANSWER
    assert provider.faults == []
    if apis == CHAT:
        sent = provider.bodies("/v1/chat/completions")[-1]["messages"]
        assert [said["role"] for said in sent] == ["user", "assistant", "user"]
        assert sent[1]["content"] == (ANSWER if kind == "message" else "So")


def test_an_item_that_is_nowhere_is_named(provider: Provider) -> None:
    named = [USER, {"type": "item_reference", "id": "msg_0123456789abcdef0000000100"}]
    with proxied(provider, apis=CHAT) as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": named}, headers=KEY)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "input[1]")


def test_an_item_of_another_key_is_not_found_by_its_id(provider: Provider) -> None:
    with proxied(provider, apis=CHAT) as http:
        (told,) = [item for item in asked(http, input=[USER])["output"] if item["type"] == "message"]
        named = [USER, {"type": "item_reference", "id": told["id"]}, USER]
        other = {"authorization": "Bearer sk-b"}
        answer = http.post("/v1/responses", json={"model": "m", "input": named}, headers=other)
    assert answer.status_code == 400


def test_reasoning_of_ours_is_no_providers_to_read(provider: Provider) -> None:
    entry = {"base_url": f"{provider.url}/v1", "dialect": "generic", "retries": 0}
    both = [
        {**entry, "name": "one", "apis": CHAT, "models": ["m"]},
        {**entry, "name": "two", "apis": NATIVE, "models": ["n"]},
    ]
    with proxied(provider, upstreams=both) as http:
        history: list[Json] = [USER]
        for model in ("m", "n", "m", "n"):  # a client that keeps its history itself, and changes its model
            fields: Json = {"model": model, "store": False, "include": ["reasoning.encrypted_content"]}
            told = asked(http, input=history, **fields)
            history += [*told["output"], {"role": "user", "content": f"And then, {model}?"}]
    assert provider.faults == []
    seals = [item.get("encrypted_content") for item in provider.bodies("/v1/responses")[-1]["input"]]
    assert [seal for seal in seals if seal] == ["sealed"]


# --- chains that are taken over ---------------------------------------------------------------------------------------


def test_a_chain_that_began_at_the_provider_stays_there(provider: Provider) -> None:
    with proxied(provider, apis=NATIVE) as http:
        first = asked(http, input="Question 0")
    with proxied(provider, apis=NATIVE, responses={"take_over": True}) as http:
        second = asked(http, input="Question 1", previous_response_id=first["id"])
        third = asked(http, input="Question 2", previous_response_id=second["id"])
    told = [item["content"] for item in provider.kept[third["id"]] if item.get("role") == "user"]
    assert told == ["Question 0", "Question 1", "Question 2"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_chain_goes_on_from_an_answer_that_was_cut_short(provider: Provider, stream: bool) -> None:
    provider.finish = "length"
    with proxied(provider, apis=NATIVE, responses={"take_over": True}) as http:
        first = asked(http, input="Question 0", stream=stream)
        second = asked(http, input="Question 1", previous_response_id=first["id"], stream=stream)
        third = asked(http, input="Question 2", previous_response_id=second["id"], stream=stream)
    assert third["status"] == "incomplete"
    told = [item["content"] for item in provider.bodies("/v1/responses")[-1]["input"] if item.get("role") == "user"]
    assert told == ["Question 0", "Question 1", "Question 2"]


def test_what_is_deleted_is_deleted_at_its_provider_too(provider: Provider) -> None:
    with proxied(provider, apis=NATIVE, responses={"take_over": True}) as http:
        first = asked(http, input="Question 0")
        second = asked(http, input="Question 1", previous_response_id=first["id"])
        for each in (second, first):
            assert http.delete(f"/v1/responses/{each['id']}", headers=KEY).json()["deleted"] is True
            assert http.get(f"/v1/responses/{each['id']}", headers=KEY).status_code == 404
    assert provider.responses == {}


LEAN: Json = {"context": {"profile_with_tools": "lean"}, "profiles": {"lean": {"budget": 3000}}}
LONG = 16  # questions


def test_a_long_chain_that_is_taken_over_is_managed(provider: Provider) -> None:
    plans = set()
    with proxied(provider, "openai", responses={"take_over": True}, **LEAN) as http:
        last: Json = {}
        for turn in range(LONG):
            given: Json = f"Question {turn}: " + f"what about {turn}? " * 40
            while given:
                body = {"model": "m", "input": given, "tools": [LOOK], **last}
                answer = http.post("/v1/responses", json=body, headers=KEY)
                told = answer.json()
                plans.add(answer.headers["x-olvido-plan"].partition(";")[0])
                last = {"previous_response_id": told["id"]}
                given = [{**OUTPUT, "call_id": each["call_id"]} for each in calls(told)]
    sent = [len(json.dumps(body["input"])) for body in provider.bodies("/v1/responses")]
    assert plans == {"untouched", "managed"}
    assert provider.faults == []
    assert sent[-1] < max(sent) / 1.5


@pytest.mark.parametrize("fields", [{"store": True}, {"store": False, "include": ["reasoning.encrypted_content"]}])
def test_a_long_history_with_reasoning_is_managed_and_its_provider_misses_nothing(
    provider: Provider, fields: Json
) -> None:
    """Whether it knows the items by their ids, or reads what it has encrypted."""
    with proxied(provider, "openai", **LEAN) as http:
        client = CLIENTS["responses"](http, "sk-a", **fields)
        for turn in range(LONG):
            client.say(f"Question {turn}: " + f"what about {turn}? " * 40)
        assert client.last.headers["x-olvido-plan"].startswith("managed")
    assert provider.faults == []


# --- several upstreams ------------------------------------------------------------------------------------------------


def two(provider: Provider, **first: Json) -> list[Json]:
    entry = {"base_url": f"{provider.url}/v1", "dialect": "generic", "retries": 0}
    return [{**entry, "name": "one", "models": ["a"], **first}, {**entry, "name": "two", "apis": NATIVE}]


def test_a_response_is_asked_for_where_there_are_responses(provider: Provider) -> None:
    with proxied(provider, upstreams=two(provider, apis=CHAT, base_url="http://127.0.0.1:9/v1")) as http:
        told = asked(http, input="Hello")
        assert http.get(f"/v1/responses/{told['id']}", headers=KEY).json()["id"] == told["id"]
        assert len(http.get(f"/v1/responses/{told['id']}/input_items", headers=KEY).json()["data"]) == 1
        compacted = http.post("/v1/responses/compact", json={"model": "m", "input": "x"}, headers=KEY)
        assert compacted.json()["object"] == "response.compact"
        refused = http.post("/v1/responses/compact", json={"model": "a", "input": "x"}, headers=KEY)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "model")
        counted = [
            http.post("/v1/responses/input_tokens", json={"model": model, "input": "Hello"}, headers=KEY).json()
            for model in ("m", "a")
        ]
        assert [each["object"] for each in counted] == ["response.input_tokens"] * 2
        assert (counted[0]["input_tokens"], 0 < counted[1]["input_tokens"] < 20) == (77, True)
        assert http.delete(f"/v1/responses/{told['id']}", headers=KEY).json()["deleted"] is True


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"input": "x"}, 200),
        ({"input": "x", "previous_response_id": "resp_at_the_provider"}, 502),
        ({"input": "x", "conversation": "conv_1"}, 502),
        ({"input": "x", "tools": [{"type": "web_search"}]}, 502),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, 502),
    ],
)
def test_a_fallback_answers_only_what_it_can_be_asked(provider: Provider, fields: Json, status: int) -> None:
    entry = {"name": "one", "base_url": "http://127.0.0.1:9/v1", "apis": NATIVE, "retries": 0, "fallback": "two"}
    other = {"name": "two", "base_url": f"{provider.url}/v1", "apis": CHAT, "retries": 0, "models": ["none"]}
    with proxied(provider, upstreams=[entry, other]) as http:
        answer = http.post("/v1/responses", json={"model": "m", **fields}, headers=KEY)
        assert answer.status_code == status
        if status == 200:  # told by us, and known to us
            more = {"model": "m", "input": "y", "previous_response_id": answer.json()["id"]}
            assert http.post("/v1/responses", json=more, headers=KEY).status_code == 200
    if status == 200:
        sent = provider.bodies("/v1/chat/completions")[-1]["messages"]
        assert [said["content"] for said in sent] == ["x", ANSWER, "y"]


# --- reuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "web_search"}]},
        {"tools": [{"type": "mcp", "server_label": "a", "server_url": "https://a"}]},
        {"tools": [LOOK]},
        {"moderation": {"model": "x"}},
        {"something_new": 1},
        {"top_logprobs": 2},
        {"text": {"verbosity": "low"}},
        {"reasoning": {"effort": "high"}},
    ],
    ids=lambda more: str(next(iter(more))),
)
def test_a_request_that_differs_in_any_field_gets_an_answer_of_its_own(provider: Provider, more: Json) -> None:
    same = {"input": "How do I boil an egg?", "temperature": 0}
    intent = {"exact": {"enabled": True}, "intent": {"enabled": True}}
    with proxied(provider, apis=NATIVE, reuse=intent, embedding={"enabled": True}) as http:
        for fields in (same, {**same, **more}, {**same, "input": "How can I boil an egg?", **more}):
            asked(http, **fields)
    assert len(provider.asked) == 3


# --- whose it is ------------------------------------------------------------------------------------------------------


def test_a_person_whose_chain_is_at_the_provider_is_still_that_person(provider: Provider) -> None:
    keys = [{"name": "app", "key": "sk-own-0123456789abcdef"}]
    limits = {"users": {"requests_per_minute": 2}}
    settings = config(
        upstreams=[{"name": "up", "base_url": f"{provider.url}/v1", "apis": NATIVE, "retries": 0}],
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
        auth={"mode": "keys", "keys": keys},
        tenancy="shared",
        limits=limits,
    )
    with run_proxy(settings) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        headers = {"authorization": "Bearer sk-own-0123456789abcdef", "x-olvido-user": "ann"}
        first = asked(http, headers, input="Hello")
        more = {"model": "m", "input": "x", "previous_response_id": first["id"]}
        statuses = [http.post("/v1/responses", json=more, headers=headers).status_code for _ in range(3)]
        other = http.post("/v1/responses", json=more, headers={**headers, "x-olvido-user": "ben"}).status_code
    assert (statuses, other) == ([200, 429, 429], 200)


# --- bad input --------------------------------------------------------------------------------------------------------

CALL = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "ok"}
TOOLS = {"tools": [{"type": "function", "name": "look"}]}
CONVERSATION = [USER, CALL, OUTPUT, {"role": "assistant", "content": "So"}, USER]
# What is wrong, and the field that is named to a client whose upstream has chat completions alone; "": it is passed on.
WRONG: list[tuple[Json, str]] = [
    ({"input": []}, "input"),
    ({"input": None}, "input"),
    ({"input": 7}, "input"),
    ({"input": ["x"]}, "input"),
    ({"input": [[]]}, "input"),
    ({"input": ""}, ""),
    ({"input": [OUTPUT]}, "input"),
    ({"input": [USER, OUTPUT, CALL]}, "input"),
    ({"input": [{"role": ["user"], "content": "x"}]}, "input[0]"),
    ({"input": [{"role": "nobody", "content": "x"}]}, "input[0]"),
    ({"input": [{"type": ["message"], "role": "user", "content": "x"}]}, "input[0]"),
    ({"input": [{"type": None, "role": "user", "content": "x"}]}, "input[0]"),
    ({"input": [{"role": "user", "content": [None]}]}, "input[0].content[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input[0].content[0]"),
    ({"input": [*CONVERSATION, CALL, CALL, OUTPUT, OUTPUT]}, ""),
    ({"input": [USER, CALL]}, ""),
    ({"input": [USER, {**CALL, "call_id": None}, {**OUTPUT, "call_id": None}]}, ""),
    ({"input": "x", "previous_response_id": 7}, "previous_response_id"),
    ({"input": "x", "previous_response_id": ["a"]}, "previous_response_id"),
    ({"input": "x", "previous_response_id": ""}, ""),
    ({"input": "x", "instructions": 7}, "instructions"),
    ({"input": "x", "instructions": [USER]}, "instructions"),
    ({"input": "x", "tools": "look"}, "tools"),
    ({"input": "x", "tools": {"a": 1}}, "tools"),
    ({"input": "x", "tools": [None]}, "tools[0]"),
    ({"input": "x", "tools": [{"type": "function", "name": ["look"]}]}, "tools[0]"),
    ({"input": "x", "tools": [{"type": "namespace", "name": "a", "tools": []}]}, "tools[0]"),
    ({"input": "x", "tools": [{"type": "tool_search"}]}, "tools[0]"),
    ({"input": "x", "tools": [{"type": "local_shell"}]}, "tools[0]"),
    ({"input": "x", "tool_choice": ["look"], **TOOLS}, "tool_choice"),
    ({"input": "x", "tool_choice": {"type": "function"}, **TOOLS}, "tool_choice"),
    (
        {"input": "x", "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"name": ["a"]}]}, **TOOLS},
        "tool_choice",
    ),
    (
        {"input": "x", "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"name": "b"}]}, **TOOLS},
        "tool_choice",
    ),
    (
        {"input": "x", "tool_choice": {"type": "allowed_tools", "mode": 1, "tools": [{"name": "look"}]}, **TOOLS},
        "tool_choice",
    ),
    ({"input": "x", "text": "json"}, "text"),
    ({"input": "x", "text": {"format": {"type": "grammar"}}}, "text.format"),
    ({"input": "x", "text": {"format": "json"}}, "text.format"),
    ({"input": "x", "include": "reasoning.encrypted_content"}, "include"),
    ({"input": "x", "top_logprobs": "a"}, "top_logprobs"),
    ({"input": "x", "max_output_tokens": "a", "temperature": [], "metadata": "a", "reasoning": 7, "user": {}}, ""),
    ({"input": "x", "store": "yes", "stream_options": [1], "prompt_cache_key": 5, "include": [{"a": 1}]}, ""),
]


@pytest.mark.parametrize(("fields", "named"), WRONG, ids=[str(fields)[:60] for fields, _ in WRONG])
def test_what_is_wrong_is_the_providers_to_refuse_or_named(both: Both, fields: Json, named: str) -> None:
    body = json.dumps({"model": "m", **fields}).encode()
    answer = both.chat.post("/v1/responses", content=body, headers=both.begun())
    assert (answer.status_code, (answer.json().get("error") or {}).get("param")) == (
        400 if named else 200,
        named or None,
    )
    told = both.native.post("/v1/responses", content=body, headers=both.begun())
    refused = fields["input"] is None or isinstance(fields["input"], int) or fields["input"] in (["x"], [[]])
    assert both.provider.raw == ([] if refused else [body])  # no provider could take it; all else is its own to judge
    assert told.status_code < 500


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","input":"half an emoji \\ud83d"}',
        b'{"model":"m","stream":false,"input":[{"role":"user","content":"\\ud83d"}]}',
        b'{"model":"m","input":"x","top_p":1e400}',
        b'{"model":"m","input":"x","top_p":NaN}',
        b'\xef\xbb\xbf{"model":"m","input":"x"}',
    ],
)
def test_a_body_that_only_a_lenient_parser_reads_passes_as_it_came(both: Both, body: bytes) -> None:
    answer = both.native.post("/v1/responses", content=body, headers=both.begun())
    assert answer.headers["x-olvido-plan"] == "untouched;hands_off=unreadable"
    assert both.provider.raw == [body]
    refused = both.chat.post("/v1/responses", content=body, headers=both.begun())
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_json")


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","input":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"model":"m","input":[{"role":"user","content":' + b"[" * 3_000 + b"]" * 3_000 + b"}]}",
        b'{"model":"m","input":"x","tools":' + b"[" * 3_000 + b"]" * 3_000 + b"}",
        b'{"model":"m","input":[' + b"[]," * 1_700_000 + b"[]]}",
        b'{"model":"m","input":"\xff"}',
        b"[]",
        b"",
    ],
    ids=["deep", "deep item", "deep tools", "wide", "not UTF-8", "array", "empty"],
)
def test_a_body_that_nobody_can_read_is_refused(both: Both, body: bytes) -> None:
    answer = both.native.post("/v1/responses", content=body, headers=both.begun())
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert both.provider.asked == []


def test_an_answer_of_the_system_can_be_gone_on_from(provider: Provider) -> None:
    with proxied(provider, apis=NATIVE, memory={"commands": True}) as http:
        asked(http, input="Hello")
        answer = http.post("/v1/responses", json={"model": "m", "input": "/memory"}, headers=KEY)
        assert answer.headers["x-olvido-source"] == "command"
        assert texts(asked(http, input="And then?", previous_response_id=answer.json()["id"])) == ANSWER
    assert provider.faults == []
    assert [item["content"] for item in provider.bodies("/v1/responses")[-1]["input"]] == ["And then?"]


class Broken(Provider):
    """It breaks off after its first events."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        created = {"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "output": []}}
        data = json.dumps(created).encode()
        head = [(b"content-type", b"text/event-stream"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        body = b"event: response.created\ndata: " + data + b"\n\n"
        await send({"type": "http.response.body", "body": body, "more_body": True})
        raise ConnectionError("gone")


def test_a_stream_that_breaks_off_ends_with_an_error_that_is_numbered_on() -> None:
    upstream = Broken()
    got = b""
    with run_app(upstream) as upstream.url, proxied(upstream, apis=NATIVE) as http:
        asked_for = {"model": "m", "input": "x", "stream": True}
        with http.stream("POST", "/v1/responses", json=asked_for, headers=KEY) as stream:
            try:
                for piece in stream.iter_raw():
                    got += piece
            except httpx.RemoteProtocolError:
                got += b""  # never a clean end
    told = [(event["type"], event["sequence_number"]) for event in events_of(got)]
    assert told == [("response.created", 0), ("error", 1)]
