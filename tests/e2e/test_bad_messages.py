"""Whatever a client sends to `/v1/messages`, it gets an answer or a clear error of that API; never an error of ours.
What the upstream gets is the client's own body, or one that is in order."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import config
from tests.examples import examples
from tests.native import Native, run_native
from tests.other_apis import misplaced_blocks
from tests.servers import run_proxy

pytestmark = pytest.mark.long

Json = Any
KEY = {"authorization": "Bearer sk-a", "content-type": "application/json"}
Way = tuple[Native, httpx.Client]


class Judge(Native):
    """An upstream that judges nothing: it answers whatever it is asked."""

    @staticmethod
    def _faults(path: str, asked: Json) -> list[str]:
        return []


@contextmanager
def proxied(dialect: str, apis: list[str]) -> Iterator[Way]:
    with run_native(Judge()) as upstream:
        entry = {"name": "up", "base_url": f"{upstream.url}/v1", "dialect": dialect, "apis": apis, "retries": 0}
        made = config(
            upstreams=[entry],
            storage={"kind": "memory"},
            server={"port": 0, "drain": 5},
            embedding={"enabled": False},
            memory={"commands": True},
            context={"profile": "lean", "profile_with_tools": "lean"},
            profiles={"lean": {"budget": 3000}},
        )
        with run_proxy(made) as url, httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
            yield upstream, http


@pytest.fixture(scope="module")
def ways() -> Iterator[dict[str, Way]]:
    with ExitStack() as stack:
        yield {
            "native": stack.enter_context(proxied("anthropic", ["chat", "messages"])),
            "kimi": stack.enter_context(proxied("kimi", ["chat"])),
            "mistral": stack.enter_context(proxied("mistral", ["chat"])),
        }


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.text(max_size=4) | st.just(1.5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "name", "content", "source", "ttl"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)
KINDS = ["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking", "compaction", 5, None]
IDS = st.sampled_from(["t1", "t2"]) | ODD
CACHED = st.just({"type": "ephemeral"}) | ODD
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={
        **dict.fromkeys(("id", "tool_use_id"), IDS),
        **{name: st.text(max_size=4) | ODD for name in ("text", "thinking", "signature", "data")},
        "name": st.just("look") | ODD,
        "input": st.just({"q": 1}) | ODD,
        "content": st.just([{"type": "text", "text": "a"}]) | ODD,
        "source": ODD,
        "cache_control": CACHED,
        "is_error": ODD,
    },
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "user", "assistant", "system", "robot"]),
        "content": st.text(max_size=5) | st.lists(BLOCKS, max_size=4) | ODD,
    }
)
TOOLS = st.fixed_dictionaries(
    {"name": st.just("look") | ODD, "input_schema": st.just({}) | ODD},
    optional={"cache_control": CACHED, "type": ODD, "description": ODD},
)
FIELDS = ["max_tokens", "tool_choice", "metadata", "stop_sequences", "thinking", "context_management", "output_config"]
MORE = ["temperature", "cache_control", "container", "output_format", "something_new"]
BODIES = st.fixed_dictionaries(
    {"model": st.just("m"), "messages": st.lists(MESSAGES, max_size=6) | ODD},
    optional={
        **dict.fromkeys((*FIELDS, *MORE), ODD),
        "system": st.lists(st.just({"type": "text", "text": "x"}) | ODD, max_size=2) | ODD,
        "tools": st.lists(TOOLS, max_size=2) | ODD,
        "stream": st.booleans() | ODD,
    },
)
HEADERS: list[dict[str, str]] = [{}, {"x-olvido-session": "s"}, {"x-olvido-mode": "meter"}, {"x-olvido-cache": "on"}]


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(BODIES, st.sampled_from(HEADERS))
def test_no_body_makes_an_error_of_ours(ways: dict[str, Way], body: Json, headers: dict[str, str]) -> None:
    for _, http in ways.values():
        answer = http.post("/v1/messages", content=json.dumps(body).encode(), headers={**KEY, **headers})
        assert answer.status_code in (200, 400), answer.text
        if answer.status_code == 400:
            told = answer.json()
            assert (told["type"], told["error"]["type"]) == ("error", "invalid_request_error")
            assert told["error"]["message"]


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


TEXT = {"type": "text", "text": "x"}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "found"}
ASKED = user(TEXT)
FAULTY = {
    "a result without a use": [user(RESULT)],
    "a use that nobody answers": [ASKED, assistant(USE), user(TEXT)],
    "two uses of one id": [ASKED, assistant(USE, USE), user(RESULT, RESULT)],
    "a result behind a text": [ASKED, assistant(USE), user(TEXT, RESULT)],
    "two of a user": [ASKED, ASKED],
    "an assistant first": [assistant(TEXT), ASKED],
    "a beginning of the answer": [ASKED, assistant(TEXT)],
    "nothing said": [user()],
    "an empty text": [user({"type": "text", "text": ""})],
    "a thought alone": [ASKED, assistant({"type": "thinking", "thinking": "Hm", "signature": "s"}), ASKED],
    "a fifth breakpoint": [user(*[{**TEXT, "cache_control": {"type": "ephemeral"}}] * 5)],
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_conversation_is_the_upstreams_to_judge_as_it_came(ways: dict[str, Way], name: str) -> None:
    upstream, http = ways["native"]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": FAULTY[name]}).encode()
    assert http.post("/v1/messages", content=body, headers=KEY).status_code == 200
    assert upstream.raw[-1] == body


@pytest.mark.parametrize("name", FAULTY)
def test_long_behind_it_nothing_is_broken_that_was_whole(ways: dict[str, Way], name: str) -> None:
    """The faulty part is the newest of a long conversation, which is managed, or sent as it came."""
    upstream, http = ways["native"]
    long = [turn for at in range(40) for turn in (user({**TEXT, "text": f"Question {at} " * 60}), assistant(TEXT))]
    messages = [*long, *FAULTY[name]]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()
    answer = http.post("/v1/messages", content=body, headers={**KEY, "x-olvido-user": name.replace(" ", "-")})
    assert answer.status_code == 200
    sent = upstream.asked[-1][1]["messages"]
    assert upstream.raw[-1] == body or len(misplaced_blocks(sent)) <= len(misplaced_blocks(messages))
