"""Official SDKs and tools that the proxy runs: but for usage they see what they would have seen of an upstream that
never had such tools."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.looping import LOOK, REMEMBER, THEIRS, Runner, Step, Upstream, create_app, run_rounds, settings
from tests.servers import eventually, run_proxy
from tests.spoken import STYLES, Spoken, Style, joined, numbered

HERE = Path(__file__).parent
SDK = HERE / "node_modules" / "openai" / "package.json"

# The rounds of an answer, and the one that an upstream without our tools would have given.
ANSWERS: dict[str, Sequence[Spoken]] = {
    "theirs alone": [Spoken("Let me look.", (THEIRS, THEIRS))],
    "ours alone": [Spoken("", (REMEMBER,)), Spoken("It is noon.")],
    "ours in parallel": [Spoken("", (REMEMBER, REMEMBER)), Spoken("It is noon.")],
    "text between": [Spoken("Noted.", (REMEMBER,)), Spoken("One more.", (REMEMBER,)), Spoken("It is noon.")],
    "both in one turn": [Spoken("Well,", (REMEMBER, THEIRS, REMEMBER, THEIRS))],
    "ours after theirs": [Spoken("", (THEIRS, REMEMBER))],
    "both behind ours": [Spoken("", (REMEMBER,)), Spoken("Now look.", (REMEMBER, THEIRS))],
    "ours as a template spells them": [
        Spoken("", (replace(REMEMBER, name="functions.remember"), replace(REMEMBER, name="Remember:1"), THEIRS)),
    ],
    "ours for ever": [Spoken("Again.", (REMEMBER,))] * 7,
}


def unhidden(rounds: Sequence[Spoken]) -> Spoken:
    """The one answer that the client is to see."""
    spoken = numbered(rounds)
    theirs = tuple(call for call in spoken[-1].calls if call.name == "look")
    texts = [each.text for each in spoken]
    said_first = next((each for each in spoken if each.text or each is spoken[-1]), spoken[-1])
    return Spoken(joined(texts), theirs, id=said_first.id, created=said_first.created)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_rounds() as running:
        yield running


@contextmanager
def proxied(upstream: Upstream, **tools: Any) -> Iterator[tuple[str, list[Runner]]]:
    runners: list[Runner] = []

    def made() -> Runner:
        runners.append(Runner())
        return runners[-1]

    given = settings(upstream.url, tools=tools)
    with run_proxy(given, create_app(given, made)) as url:
        yield f"{url}/v1", runners


def steps(rounds: Sequence[Spoken], style: Style, times: int) -> list[Step]:
    """The last step is done for ever, so one more stands behind them."""
    return [Step(each, style=style) for each in rounds] * times + [Step(status=503)]


def seen_by_python(base_url: str) -> dict[str, Any]:
    with openai.OpenAI(base_url=base_url, api_key="sk-python", max_retries=0) as client:
        given: Any = {"model": "m", "messages": [{"role": "user", "content": "What now?"}], "tools": [LOOK]}
        whole = client.chat.completions.create(**given)
        chunks = list(client.chat.completions.create(**given, stream=True))
        with client.chat.completions.stream(**given) as stream:
            events = [event.type for event in stream]
            final = stream.get_final_completion()
    deltas = [(chunk, choice) for chunk in chunks for choice in chunk.choices]
    calls = [call for _, choice in deltas for call in choice.delta.tool_calls or []]
    return {
        "whole": whole.choices[0].to_dict(),
        "final": final.choices[0].to_dict(),
        "done": sorted(name for name in events if name.endswith("done")),
        "ids": len({chunk.id for chunk, _ in deltas}),
        "created": len({chunk.created for chunk, _ in deltas}),
        "roles": sum(choice.delta.role is not None for _, choice in deltas),
        "ends": [choice.finish_reason for _, choice in deltas if choice.finish_reason],
        "text": "".join(choice.delta.content or "" for _, choice in deltas),
        "indices": sorted({call.index for call in calls}),
        "names": [call.function.name for call in calls if call.function and call.function.name],
    }


@pytest.mark.parametrize("style", [style for style in STYLES if style in ("plain", "several", "with usage")])
@pytest.mark.parametrize("name", ANSWERS)
def test_the_python_sdk_sees_what_it_would_have_seen_without_them(upstream: Upstream, name: str, style: Style) -> None:
    rounds = ANSWERS[name]
    upstream.will(*steps([unhidden(rounds)], style, 3))
    direct = seen_by_python(f"{upstream.url}/v1")
    with proxied(upstream) as (url, runners):
        upstream.will(*steps(numbered(rounds), style, 3))
        hidden = seen_by_python(url)
        assert len(upstream.steps) == 1
    assert hidden == direct
    assert len(runners) == 3
    assert all(len(runner.kept) == (name != "theirs alone") for runner in runners)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(not SDK.exists(), reason="the Node SDK is not installed: run `npm ci` in tests/e2e")
def test_so_does_the_node_sdk(upstream: Upstream) -> None:
    upstream.will(*[each for rounds in ANSWERS.values() for each in steps([unhidden(rounds)], "plain", 3)[:-1]], Step())
    direct = seen_by_node(f"{upstream.url}/v1")
    with proxied(upstream) as (url, _):
        upstream.will(
            *[each for rounds in ANSWERS.values() for each in steps(numbered(rounds), "plain", 3)[:-1]], Step()
        )
        hidden = seen_by_node(url)
    assert hidden == direct
    assert "remember" not in json.dumps(hidden)


def seen_by_node(base_url: str) -> list[dict[str, Any]]:
    ran = subprocess.run(
        ["node", "hidden_tools_node.mjs"],
        cwd=HERE,
        env={**os.environ, "BASE_URL": base_url, "ANSWERS": str(len(ANSWERS))},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen: list[dict[str, Any]] = json.loads(ran.stdout)
    return seen


def test_a_client_that_hangs_up_in_a_hidden_round_ends_it(upstream: Upstream) -> None:
    upstream.will(Step(Spoken("Noted.", (REMEMBER,))), Step(Spoken("It is noon."), fault="hang", events=0))
    with proxied(upstream) as (url, runners), openai.OpenAI(base_url=url, api_key="sk", max_retries=0) as client:
        given: Any = {"model": "m", "messages": [{"role": "user", "content": "What now?"}]}
        with client.chat.completions.create(**given, stream=True) as stream:
            assert next(iter(stream)).choices[0].delta.role == "assistant"
            eventually(lambda: upstream.hanging == 1)
        eventually(lambda: upstream.left == 1)
    assert [len(runner.ran) for runner in runners] == [1]


def test_an_sdk_raises_what_no_round_could_answer(upstream: Upstream) -> None:
    upstream.will(Step(Spoken("Noted.", (REMEMBER,))), Step(status=503))
    with proxied(upstream) as (url, _), openai.OpenAI(base_url=url, api_key="sk", max_retries=0) as client:
        given: Any = {"model": "m", "messages": [{"role": "user", "content": "What now?"}]}
        with pytest.raises(openai.APIError):
            list(client.chat.completions.create(**given, stream=True))
        upstream.will(Step(Spoken("", (REMEMBER,))), Step(status=503))
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(**given)
