"""Conversations are recognised without any help of the client, and never across keys; own keys stay here."""

from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from tests.e2e.running import CHAT, Demo, Proxy, chat, run_proxy, upstream

Json = Any


def ask(proxy: Proxy, messages: list[Json], **headers: str) -> tuple[str, Json]:
    """The session, and the message that answers."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = proxy.http.post(CHAT, json={"model": "demo-chat", "messages": messages}, headers=given)
    assert answer.status_code == 200, answer.text
    return answer.headers["x-olvido-session"], answer.json()["choices"][0]["message"]


def said(content: str) -> Json:
    return {"role": "user", "content": content}


def test_a_named_session_is_echoed(proxy: Proxy) -> None:
    assert ask(proxy, [said("hi")], x_olvido_session="my-chat.1")[0] == "my-chat.1"
    assert ask(proxy, [said("hi")], x_openwebui_chat_id="web-1")[0] == "web-1"


def test_a_conversation_is_one_session_though_nobody_names_it(proxy: Proxy) -> None:
    history = [{"role": "system", "content": "Be kind."}]
    sessions = []
    for turn in ("I live in Rosario.", "I have two cats.", "Where do I live?"):
        history.append(said(turn))
        session, message = ask(proxy, history)
        history.append({"role": "assistant", "content": message["content"]})
        sessions.append(session)
    assert len(set(sessions)) == 1

    edited = [*history[:3], said("I have a dog."), history[4]][:4]
    assert ask(proxy, edited)[0] == sessions[0]
    regenerated = history[:4]
    assert ask(proxy, regenerated)[0] == sessions[0]
    assert ask(proxy, history[:4], authorization="Bearer sk-somebody-else")[0] != sessions[0]
    assert ask(proxy, history[:4], x_olvido_user="ana")[0] != sessions[0]
    assert ask(proxy, [history[0], said("Another opening.")])[0] != sessions[0]


def test_a_streamed_answer_belongs_to_the_session_too(proxy: Proxy) -> None:
    with openai.OpenAI(base_url=proxy.base_url, api_key="sk-streams", max_retries=0) as client:
        history: list[Json] = [said("Tell me 30 words.")]
        with client.chat.completions.with_streaming_response.create(
            model="demo-chat", messages=history, stream=True
        ) as first:
            session = first.headers["x-olvido-session"]
            parts = [chunk.choices[0].delta.content or "" for chunk in first.parse()]
        history += [{"role": "assistant", "content": "".join(parts)}, said("Tell me 20 words.")]
        second = client.chat.completions.with_raw_response.create(model="demo-chat", messages=history)
    assert second.headers["x-olvido-session"] == session


@pytest.fixture(scope="module")
def guarded(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A proxy with keys of its own."""
    config = {
        "upstreams": [upstream("demo", running_demo, ["*"], api_key="${UPSTREAM_KEY}")],
        "auth": {"mode": "keys", "keys": [{"name": "ana", "key": "${ANA}"}, {"name": "beto", "key": "${BETO}"}]},
    }
    keys = {"ANA": "ana-0123456789abcdef", "BETO": "beto-0123456789abcdef"}
    folder = tmp_path_factory.mktemp("guarded")
    with run_proxy(config, folder, UPSTREAM_KEY="sk-upstreams-own", **keys) as proxy:
        yield proxy


@pytest.mark.parametrize(
    "headers", [{"authorization": ""}, {"authorization": "Bearer wrong"}, {"authorization": "Bearer sk-upstreams-own"}]
)
@pytest.mark.parametrize("path", [CHAT, "/v1/models", "/v1/files"])
def test_own_keys_are_the_only_ones(headers: dict[str, str], path: str, guarded: Proxy, demo: Demo) -> None:
    answer = httpx.post(guarded.url + path, json=chat("hi"), headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_api_key"
    assert demo.arrived(path) == []
    with (
        openai.OpenAI(base_url=guarded.base_url, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()


def test_an_own_key_works_stays_here_and_shares_nothing(guarded: Proxy, demo: Demo) -> None:
    def answer(key: str) -> str:
        with openai.OpenAI(base_url=guarded.base_url, api_key=key, max_retries=0) as client:
            raw = client.chat.completions.with_raw_response.create(**chat("say: mine", temperature=0))
            client.models.list()
            return raw.headers["x-olvido-source"]

    assert [answer("ana-0123456789abcdef") for _ in range(2)] == ["upstream", "exact"]
    assert answer("beto-0123456789abcdef") == "upstream"
    arrived = demo.arrived() + demo.arrived("/v1/models")
    assert len(arrived) == 5
    assert {request.header("authorization") for request in arrived} == {"Bearer sk-upstreams-own"}
    assert not any(b"0123456789abcdef" in repr(request).encode() for request in arrived)
    assert "0123456789abcdef" not in guarded.log.read_text()
    assert b"0123456789abcdef" not in b"".join(
        file.read_bytes() for file in guarded.storage.rglob("*") if file.is_file()
    )
