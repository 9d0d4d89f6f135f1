"""Items as events: whole ones, and the rest of one that was cut off."""

import json
from typing import Any

import openai.types.responses as sdk
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from proxy.protocol.responses.item_events import OpenItem, told, whole_response
from tests.other_apis import misplaced_events
from tests.protocol.responses.test_rounds import rounds
from tests.responding import Round, encoded, text, thought

Json = Any
_EVENTS: TypeAdapter[Json] = TypeAdapter(sdk.ResponseStreamEvent)


@given(rounds())
def test_a_whole_response_is_told_in_the_order_and_form_of_the_api(said: list[Round]) -> None:
    whole = said[0].response({})
    events = json.loads(json.dumps(list(whole_response(whole))))
    assert misplaced_events(events) == []
    for each in events:
        _EVENTS.validate_python(each, strict=True)
    assert events[-1]["response"] == whole
    assert [each["item"] for each in events if each["type"] == "response.output_item.done"] == said[0].items


def test_parts_of_every_kind_are_told() -> None:
    refusal = {"type": "refusal", "refusal": "No."}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [refusal]}
    kinds = [each["type"] for each in told(item, 0)]
    assert "response.refusal.delta" in kinds
    open_ = {**thought("1", "Hm."), "content": [{"type": "reasoning_text", "text": "So."}]}
    kinds = [each["type"] for each in told(open_, 0)]
    assert kinds.index("response.reasoning_summary_text.delta") < kinds.index("response.reasoning_text.delta")


@given(st.sampled_from([text("1", "I say."), thought("1", "I think.")]), st.integers(1, 5))
def test_an_item_that_is_cut_off_ends_where_it_was(item: Json, most: int) -> None:
    begun = list(told(item, 2))
    opened = OpenItem(begun[0]["item"], 2)
    for each in begun[1:most]:
        opened.take(each)
    events = [*begun[:most], *opened.closing()]
    assert events[-1]["type"] == "response.output_item.done"
    assert events[-1]["output_index"] == 2
    assert events[-1]["item"]["status"] == "incomplete"
    response = Round([]).response({})
    around: Json = [{"type": f"response.{name}", "response": response} for name in ("created", "in_progress")]
    all_ = [*around, *[{**each, "output_index": 0} for each in events], {"type": "response.completed"}]
    all_[-1]["response"] = response
    numbered = [{**each, "sequence_number": at} for at, each in enumerate(all_)]
    assert misplaced_events(numbered) == []
    assert encoded(numbered[-1])
    parts = events[-1]["item"].get("content") or events[-1]["item"].get("summary") or []
    assert all(part["text"] in ("", "I say.", "I think.") for part in parts)
