"""The same question in other words, with the real model, by a real SDK, against servers as users run them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.e2e.running import CHAT, Demo, Proxy, chat, run_proxy, upstream
from tests.servers import eventually

ES = "[Respuesta recuperada de conversación anterior]"
EN = "[Answer retrieved from an earlier conversation]"
ASKED = "How do I descale a coffee machine with vinegar?"
AGAIN = "Hi! Could you tell me how to descale a coffee machine with vinegar, please?"
pytestmark = pytest.mark.long  # the real model is loaded

PREGUNTA = "¿Cómo activo el modo oscuro en el teléfono?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("intent")


@pytest.fixture(scope="module")
def config(running_demo: Demo, embedding_folder: Path) -> dict[str, Any]:  # made before the proxy looks for it
    price = {"input": 1.0, "cached": 0.25, "output": 4.0}
    return {
        "upstreams": [upstream("plain", running_demo, ["demo-*"], price=price)],
        "reuse": {"intent": {"enabled": True}},
    }


@pytest.fixture(scope="module")
def started(config: dict[str, Any], folder: Path) -> Iterator[tuple[Proxy, httpx.Response]]:
    """A proxy, and what it answered before its model had loaded."""
    with run_proxy(config, folder) as proxy:
        yield proxy, ask(proxy, ASKED, key="sk-early")
        assert proxy.complaints() == []


@pytest.fixture(scope="module")
def warm(started: tuple[Proxy, httpx.Response]) -> Proxy:
    proxy, _ = started
    wait_until_warm(proxy)
    return proxy


def wait_until_warm(proxy: Proxy) -> None:
    eventually(lambda: proxy.http.get("/readyz").json()["parts"]["reuse by intent"] == "ready", 90)


def ask(proxy: Proxy, content: str, *, key: str, **fields: Any) -> httpx.Response:
    answer = proxy.http.post(CHAT, json=chat(content, **fields), headers={"authorization": f"Bearer {key}"})
    assert answer.status_code == 200, answer.text
    return answer


def asked(proxy: Proxy, content: str, *, key: str, **fields: Any) -> httpx.Response:
    """Asks, and waits until the answer has been kept."""
    kept = proxy.metric("olvido_stage_seconds_count", stage="remember")
    answer = ask(proxy, content, key=key, **fields)
    eventually(lambda: proxy.metric("olvido_stage_seconds_count", stage="remember") > kept)
    return answer


def test_the_server_answers_before_the_model_has_loaded(started: tuple[Proxy, httpx.Response]) -> None:
    proxy, early = started
    assert early.headers["x-olvido-source"] == "upstream"
    wait_until_warm(proxy)


@pytest.mark.note("5.4/4", "9.3/2")
def test_the_answer_comes_back_with_the_systems_line_and_the_upstream_is_not_asked(demo: Demo, warm: Proxy) -> None:
    first = asked(warm, ASKED, key="sk-json").json()["choices"][0]["message"]["content"]
    demo.clear()
    with openai.OpenAI(base_url=warm.base_url, api_key="sk-json", max_retries=0) as client:
        again = client.chat.completions.with_raw_response.create(**chat(AGAIN))
    assert again.headers["x-olvido-source"] == "intent"
    assert again.headers["x-olvido-reuse"].startswith("r-")
    assert int(again.headers["age"]) >= 0
    assert again.parse().choices[0].message.content == f"{EN}\n\n{first}"
    assert demo.arrived() == []
    row = warm.row(source="intent", request_id=again.headers["x-olvido-request"])
    assert (row["intent_reason"], row["cost"], row["tokens_sent"]) == ("hit", 0.0, 0)
    assert row["cost_saved"] > 0


def test_so_does_a_streamed_one(demo: Demo, warm: Proxy) -> None:
    first = asked(warm, PREGUNTA, key="sk-sse", stream=True)
    assert first.headers["x-olvido-source"] == "upstream"
    demo.clear()
    with (
        openai.OpenAI(base_url=warm.base_url, api_key="sk-sse", max_retries=0) as client,
        client.chat.completions.stream(**chat(f"Hola, una duda: {PREGUNTA} Gracias.")) as streamed,
    ):
        texts = [event.delta for event in streamed if event.type == "content.delta" and event.delta]
        whole = streamed.get_final_completion()
    assert texts[0].startswith(ES)
    assert "".join(texts) == whole.choices[0].message.content
    assert whole.choices[0].finish_reason == "stop"
    assert demo.arrived() == []


@pytest.mark.parametrize(
    ("question", "other"),
    [
        (PREGUNTA, "¿Cómo desactivo el modo oscuro en el teléfono?"),
        ("What is 2+2?", "What is 2+3?"),
        ("How do I convert a PDF to Word?", "How do I convert Word to a PDF?"),
        ("¿Qué hay que comer antes de correr?", "¿Qué hay que comer después de correr?"),
    ],
)
def test_another_question_that_looks_alike_is_asked(question: str, other: str, warm: Proxy) -> None:
    key = f"sk-{abs(hash(question))}"
    asked(warm, question, key=key)
    assert ask(warm, other, key=key).headers["x-olvido-source"] == "upstream"


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "get_x", "parameters": {"type": "object"}}}]},
        {"n": 2},
        {"messages": [{"role": "system", "content": "Answer in rhyme."}, {"role": "user", "content": AGAIN}]},
    ],
    ids=["json", "tools", "n", "another system prompt"],
)
def test_nor_is_the_same_question_under_other_circumstances(fields: dict[str, Any], warm: Proxy) -> None:
    asked(warm, ASKED, key="sk-walls")
    assert ask(warm, AGAIN, key="sk-walls", **fields).headers["x-olvido-source"] == "upstream"


def test_nobody_gets_anybody_elses_answer(warm: Proxy) -> None:
    asked(warm, ASKED, key="sk-ana")
    assert ask(warm, AGAIN, key="sk-berta").headers["x-olvido-source"] == "upstream"


def test_a_follow_up_is_never_answered_from_another_conversation(warm: Proxy) -> None:
    def about(topic: str) -> list[dict[str, str]]:
        return [
            {"role": "user", "content": f"Tell me about {topic}."},
            {"role": "assistant", "content": "It is well known."},
            {"role": "user", "content": "How does it work?"},
        ]

    for topic in ("steam engines", "photosynthesis"):
        answer = ask(warm, "", key="sk-follow", messages=about(topic))
        assert answer.headers["x-olvido-source"] == "upstream"


def test_reported_as_wrong_it_is_not_given_again(warm: Proxy) -> None:
    key = "sk-wrong"
    asked(warm, ASKED, key=key)
    entry = ask(warm, AGAIN, key=key).headers["x-olvido-reuse"].partition(";")[0]
    seen = warm.http.get(f"/admin/api/reuse/{entry}").raise_for_status().json()
    assert [(line["result"], line["question"]) for line in seen["log"]] == [("hit", AGAIN)]
    ended = warm.http.post(f"/admin/api/reuse/{entry}/wrong").raise_for_status().json()
    assert ended["evicted"]
    after = ask(warm, "Please, how do I descale a coffee machine with vinegar? Thanks!", key=key)
    assert after.headers["x-olvido-source"] == "upstream"
    assert warm.metric("olvido_reuse_reports_total", kind="wrong") == 1


def test_what_was_kept_is_there_after_a_restart(
    config: dict[str, Any], start_proxy: Callable[..., Proxy], tmp_path: Path
) -> None:
    before = start_proxy(config, tmp_path)
    wait_until_warm(before)
    asked(before, ASKED, key="sk-restart")
    before.stop()
    after = start_proxy(config, tmp_path)
    wait_until_warm(after)
    assert ask(after, AGAIN, key="sk-restart").headers["x-olvido-source"] == "intent"


def test_torch_is_not_in_the_serving_process(warm: Proxy) -> None:
    maps = Path(f"/proc/{warm.process.pid}/maps")
    if not maps.exists():
        pytest.skip("no /proc on this system")
    loaded = maps.read_text()
    assert "onnxruntime" in loaded
    assert "libtorch" not in loaded
