"""Bodies with tools of ours, and with the items of a further round."""

from typing import Any

import msgspec
import pytest

from proxy.protocol.message import spanned
from proxy.protocol.responses.bodies import followed, with_tools
from proxy.protocol.tool_results import result
from proxy.types import ToolCall
from tests.builders import assistant, messages

Json = Any
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}}
OURS = {"type": "function", "function": {"name": "remember", "description": "Remembers", "parameters": SCHEMA}}


@pytest.mark.parametrize("own", ["", '"tools":null,', '"tools":[{"type": "web_search"}],'])
def test_our_tools_stand_behind_the_clients_own_bytes(own: str) -> None:
    body = ('{"model":"m",' + own + '"input":[{"role":"user", "content":"é"}]}').encode()
    made = with_tools(body, [OURS])
    tools = msgspec.json.decode(made)["tools"]
    assert tools[-1] == {
        "type": "function",
        "name": "remember",
        "description": "Remembers",
        "parameters": SCHEMA,
        "strict": False,
    }
    assert len(tools) == 1 + ("web" in own)
    assert '{"role":"user", "content":"é"}'.encode() in made
    assert (b'{"type": "web_search"}' in made) == ("web" in own)


@pytest.mark.parametrize("own", ['"Hi"', '[{"role":"user", "content":"Hi"}]'])
def test_a_further_round_stands_behind_the_input(own: str) -> None:
    (said,) = messages(assistant("So."))
    item = b'{"type":"function_call", "call_id":"c1", "name":"remember", "arguments":"{}"}'
    more = (spanned(said, item, is_sealed=False), result(ToolCall("c1", "remember", "{}"), "Done."))
    made = followed(f'{{"input":{own}}}'.encode(), more)
    given = msgspec.json.decode(made)["input"]
    assert given[0]["content"] == "Hi"
    assert item in made
    assert given[2] == {"type": "function_call_output", "call_id": "c1", "output": "Done."}


@pytest.mark.parametrize("body", [b"{}", b'{"input":[]}', b'{"input":null}'])
def test_a_body_without_input_cannot_be_continued(body: bytes) -> None:
    with pytest.raises(ValueError, match="without input"):
        followed(body, messages(assistant("So.")))
