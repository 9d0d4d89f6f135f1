"""Two processes over one storage that are asked in turn, in Responses and in Messages, while the model manages its
memory: the client sees what it would have seen of one, or of none; what one has hidden the other puts back. The first
message may differ: its memory block has the facts that a process has heard of by then."""

from contextlib import ExitStack
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.e2e.running import Proxy, two_proxies
from tests.e2e.test_played_messages import results
from tests.playing import PATTERNS
from tests.playing_messages import LOOK as MESSAGE_LOOK
from tests.playing_messages import MessagePlayer, memory_tool
from tests.playing_responses import LOOK, ResponsePlayer, has_ours
from tests.servers import run_app

pytestmark = pytest.mark.long

Json = Any
NAMES = ("notes and facts", "text between", "reasoning", "both, ours first", "theirs after ours", "both behind ours")
KEY = "sk-both"


def in_responses(urls: list[str], name: str, *, stored: bool) -> list[Json]:
    """What the SDK sees of a conversation, asking these addresses in turn. `stored`: it goes on from response to
    response."""
    asked: Json = {"model": name, "tools": [LOOK], "store": stored, "include": ["reasoning.encrypted_content"]}
    seen: list[Json] = []
    given: Json = [{"role": "user", "content": "What now?"}]
    with ExitStack() as stack:
        made = [openai.OpenAI(base_url=f"{url}/v1", api_key=f"{KEY}-{name}-{stored}", max_retries=0) for url in urls]
        clients = cycle([stack.enter_context(client) for client in made])
        for question in ("And then?", ""):
            while True:
                with next(clients).responses.stream(**asked, input=given) as stream:
                    response = stream.get_final_response().to_dict(mode="json")
                output: Json = response["output"]
                seen.append([{k: v for k, v in item.items() if k != "parsed_arguments"} for item in output])
                asked |= {"previous_response_id": response["id"]} if stored else {}
                given = [] if stored else [*given, *output]
                calls = [item["call_id"] for item in output if item["type"] == "function_call"]
                given += [{"type": "function_call_output", "call_id": each, "output": "x"} for each in calls]
                if not calls:
                    break
            given.append({"role": "user", "content": question})
    return seen


def in_messages(urls: list[str], name: str) -> list[Json]:
    """The same in Messages."""
    given: Json = [{"role": "user", "content": "What now?"}]
    seen: list[Json] = []
    with ExitStack() as stack:
        made = [anthropic.Anthropic(base_url=url, api_key=f"{KEY}-{name}", max_retries=0) for url in urls]
        clients = cycle([stack.enter_context(client) for client in made])
        for question in ("And then?", ""):
            while True:
                asked: Json = {"model": name, "max_tokens": 900, "messages": given, "tools": [MESSAGE_LOOK]}
                with next(clients).messages.stream(**asked) as stream:
                    content: Json = stream.get_final_message().to_dict(mode="json")["content"]
                seen.append(content)
                given.append({"role": "assistant", "content": content})
                if not (answered := results(content)):
                    break
                given.append({"role": "user", "content": answered})
            given.append({"role": "user", "content": question})
    return seen


def edited_once(proxies: list[Proxy]) -> None:
    """Asserts that both processes know the same facts, each of them once."""
    found = [proxy.http.get("/admin/api/facts").raise_for_status().json()["facts"] for proxy in proxies]
    keys = [sorted((fact["scope"], fact["key"]) for fact in facts) for facts in found]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == len(keys[0]) > 0


@pytest.mark.parametrize("stored", [False, True], ids=["whole input", "chain"])
def test_two_processes_answer_in_responses_as_one_upstream_would(tmp_path: Path, *, stored: bool) -> None:
    player = ResponsePlayer()
    with run_app(player) as player.url, two_proxies(player.url, tmp_path, dialect="openai") as proxies:
        for name in NAMES:
            direct = in_responses([player.url], name, stored=stored)
            player.by_key.clear()
            assert in_responses([proxy.url for proxy in proxies], name, stored=stored) == direct
            (told,) = player.by_key.values()
            asked = [each for each in told if has_ours(each)]
            assert len(asked) == len(PATTERNS[name].rounds) + 2
            for one, other in pairwise(asked):
                before = [_unnamed(item) for item in one["input"]][1:]
                assert [_unnamed(item) for item in other["input"]][1 : len(before) + 1] == before
        edited_once(proxies)
    assert player.refused == []


def _unnamed(item: Json) -> Json:
    """An item without its id, which one of a chain that is kept here does not have."""
    return {name: value for name, value in item.items() if name not in ("id", "status", "type")}


def test_two_processes_answer_in_messages_as_one_upstream_would(tmp_path: Path) -> None:
    player = MessagePlayer()
    with (
        run_app(player) as player.url,
        two_proxies(player.url, tmp_path, dialect="generic", apis=["chat", "messages"]) as found,
    ):
        for name in NAMES:
            direct = in_messages([player.url], name)
            player.by_key.clear()
            assert in_messages([proxy.url for proxy in found], name) == direct
            (told,) = player.by_key.values()
            asked = [each for each in told if memory_tool(each)]
            assert len(asked) == len(PATTERNS[name].rounds) + 2
            for one, other in pairwise(asked):
                assert other["messages"][1 : len(one["messages"])] == one["messages"][1:]
        edited_once(found)
    assert player.refused == []
