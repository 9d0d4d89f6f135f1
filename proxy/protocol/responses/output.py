"""A completion as a response object, and a response object as the completion that it is.

Items of an output have ids made of the response's own, so that they are the same in every event and in the object.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.protocol.accumulate import BROKE_OFF
from proxy.protocol.calls import arguments_in, called
from proxy.protocol.origin import Origin
from proxy.protocol.responses import reasoning
from proxy.protocol.responses.items import free_text
from proxy.types import Json, ToolCall

_encode = msgspec.json.Encoder().encode

# Fields of a request that the response repeats, with their values where the request has none.
_ECHOED: Mapping[str, Json] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


@dataclass(frozen=True, slots=True)
class Frame:
    """A response without its output: what is known of it before the upstream has said a word."""

    name: str  # of the request, unique
    model: str  # as asked for, until the upstream names it
    at: float  # Unix seconds
    origin: Origin
    sent_tokens: int = 0  # of the prompt, estimated, where the upstream does not count

    @property
    def id(self) -> str:
        """The id of the response."""
        return f"resp_{self.name}"

    @property
    def tells_reasoning(self) -> bool:
        """True if reasoning is to be told in a form in which it can be sent back by who keeps nothing."""
        include = self.origin.fields.get("include")
        return isinstance(include, list) and "reasoning.encrypted_content" in include

    def item_id(self, kind: str, index: int) -> str:
        """Returns the id of an item of the output. `kind`: the beginning of the ids of its kind."""
        return f"{kind}_{self.name}{index:02x}"

    def response(
        self, status: str, output: Sequence[Json] = (), usage: Json = None, *, model: str = "", **more: Json
    ) -> dict[str, Any]:
        """Returns the response object. `status`: in_progress, completed, incomplete, failed."""
        fields = self.origin.fields
        echoed = {name: fields.get(name) if fields.get(name) is not None else value for name, value in _ECHOED.items()}
        if self.origin.chain:
            echoed["previous_response_id"] = self.origin.chain
        head = {"id": self.id, "object": "response", "created_at": int(self.at), "status": status, "error": None}
        return {
            **head,
            "incomplete_details": None,
            "model": model or self.model,
            **echoed,
            "output": list(output),
            "usage": usage,
            **more,
        }


def response_of(completion: Mapping[str, Json], frame: Frame) -> dict[str, Any]:
    """Returns a completion as a response object."""
    choice = first_choice(completion)
    message = choice.get("message")
    said = message if isinstance(message, dict) else {}
    finish = choice.get("finish_reason")
    status, more = ending(finish)
    output = list(_output(said, frame, item_status(finish)))
    characters = len(reasoning_text(said)) + len(said_text(said.get("content"))) + len(_encode(said.get("tool_calls")))
    usage = usage_of(completion.get("usage"), frame, characters)
    model = completion.get("model")
    named = model if isinstance(model, str) else ""
    return frame.response(status, output, usage, model=named, **more)


def first_choice(completion: Mapping[str, Json]) -> Mapping[str, Json]:
    """Returns the first choice of a completion or a chunk; {} if it has none."""
    choices = completion.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def ending(finish_reason: Json) -> tuple[str, dict[str, Json]]:
    """Returns the status of a response, and the fields that say why it is not complete, from how a completion has
    finished."""
    if str(finish_reason) in BROKE_OFF:
        return "failed", {"error": {"code": "server_error", "message": "The upstream broke off."}}
    reason = _INCOMPLETE.get(str(finish_reason))
    return ("completed", {}) if reason is None else ("incomplete", {"incomplete_details": {"reason": reason}})


def item_status(finish_reason: Json) -> str:
    """Returns the status of the last item of a response."""
    return "completed" if ending(finish_reason)[0] == "completed" else "incomplete"


def _output(said: Mapping[str, Json], frame: Frame, status: str) -> Iterator[Json]:
    """Yields the items of an output. `status`: of the last one."""
    calls = list(calls_in(said))
    index = 0
    if text := reasoning_text(said):
        yield reasoning_item(frame, index, text)
        index += 1
    parts = list(_parts(said))
    if parts:
        yield message_item(frame, index, parts, "completed" if calls else status)
        index += 1
    for at, call in enumerate(calls, start=1):
        ended = status if at == len(calls) else "completed"
        yield call_item(frame, index, call.id, call.name, call.arguments or "", ended)
        index += 1


def calls_in(said: Mapping[str, Json]) -> Iterator[ToolCall]:
    """Yields the calls of a message. Ids as the upstream gave them, where they are texts."""
    calls = said.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            function, id_ = called(call), call.get("id")
            name = named if isinstance(named := function.get("name"), str) else ""
            yield ToolCall(id_ if isinstance(id_, str) else "", name, arguments_in(function))


def reasoning_text(said: Mapping[str, Json]) -> str:
    """Returns the reasoning of a message or a delta, from each provider's own field, or, as Mistral has it, from parts
    of its content."""
    told = [text for name in ("reasoning_content", "reasoning") if isinstance(text := said.get(name), str) and text]
    content = said.get("content")
    thoughts = [part.get("thinking") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return told[0] if told else "".join(map(said_text, thoughts))


def said_text(content: Json) -> str:
    """Returns the text of a content: a string, or parts, as Mistral's models that think have them."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _parts(said: Mapping[str, Json]) -> Iterator[Json]:
    if text := said_text(said.get("content")):
        yield text_part(text)
    if isinstance(refusal := said.get("refusal"), str) and refusal:
        yield {"type": "refusal", "refusal": refusal}


def text_part(text: str) -> Json:
    """Returns a text as a part of an output."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reasoning_item(frame: Frame, index: int, text: str) -> Json:
    """Returns reasoning as an item of an output."""
    item = {"id": frame.item_id("rs", index), "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}
    if frame.tells_reasoning:
        item["encrypted_content"] = reasoning.sealed(text)
    return item


def message_item(frame: Frame, index: int, parts: Sequence[Json], status: str) -> Json:
    """Returns what was said as an item of an output."""
    head = {"id": frame.item_id("msg", index), "type": "message", "status": status, "role": "assistant"}
    return {**head, "content": list(parts)}


def call_item(frame: Frame, index: int, call_id: str, name: str, arguments: str, status: str) -> Json:
    """Returns a tool's call as an item of an output, of the kind that the request knows the tool by."""
    call_id = call_id or frame.item_id("call", index)  # some upstreams give none, and the result has to name it
    if name in frame.origin.custom:
        head = {"id": frame.item_id("ctc", index), "type": "custom_tool_call", "status": status, "call_id": call_id}
        return {**head, "name": name, "input": free_text(arguments) if status != "in_progress" else ""}
    head = {"id": frame.item_id("fc", index), "type": "function_call", "status": status, "call_id": call_id}
    return {**head, "name": name, "arguments": arguments}


def usage_of(usage: Json, frame: Frame, characters: int) -> Json:
    """Returns the usage of a completion as a response tells it. `characters`: of the answer, from which its tokens are
    estimated where the upstream has not counted."""
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return _usage(frame.sent_tokens, 0, 0, -(-characters // 4), 0)
    details, more = (usage.get(f"{name}_tokens_details") for name in ("prompt", "completion"))
    cached = _number(details, "cached_tokens") or _number(usage, "cached_tokens", "prompt_cache_hit_tokens")
    written = _number(details, "cache_write_tokens")
    completion = _number(usage, "completion_tokens")
    return _usage(usage["prompt_tokens"], cached, written, completion, _number(more, "reasoning_tokens"))


def _number(values: Json, *names: str) -> int:
    """Returns the first of these values that is a number and not 0; 0 if there is none."""
    found = [values.get(name) for name in names] if isinstance(values, dict) else []
    return next((each for each in found if isinstance(each, int) and each), 0)


def _usage(prompt: int, cached: int, written: int, completion: int, reasoning: int) -> Json:
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + completion,
    }


# --- and back ---------------------------------------------------------------------------------------------------------


def completion_of(response: Mapping[str, Json]) -> dict[str, Any]:
    """Returns a response object as a completion: its texts, calls and usage. One that holds what a completion cannot
    express has a finish reason of its own, by which it is not kept for reuse."""
    texts: list[str] = []
    calls: list[Json] = []
    thoughts: list[str] = []
    is_expressed = response.get("status") == "completed"
    output = response.get("output")
    for item in output if isinstance(output, list) else ():
        match item:
            case {"type": "message", "content": list(content)}:
                parts = [part for part in content if isinstance(part, dict)]
                texts += [str(part.get("text", "")) for part in parts if part.get("type") == "output_text"]
                is_expressed = is_expressed and all(
                    part.get("type") == "output_text" and not part.get("annotations") for part in parts
                )
            case {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}:
                calls.append({"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}})
            case {"type": "custom_tool_call", "call_id": id_, "name": name, "input": given}:
                arguments = _encode({"input": given}).decode()
                calls.append({"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}})
                is_expressed = False
            case {"type": "reasoning"}:
                thoughts += [str(part.get("text", "")) for part in item.get("summary") or ()]
                is_expressed = is_expressed and not item.get("encrypted_content")
            case _:
                is_expressed = False
    message: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    details = response.get("incomplete_details")
    cut = isinstance(details, dict) and details.get("reason") == "max_output_tokens"
    finish = ("tool_calls" if calls else "stop") if is_expressed else "length" if cut else "untranslated"
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    head = {"id": response.get("id"), "object": "chat.completion", "created": int(response.get("created_at") or 0)}
    completion = {**head, "model": response.get("model"), "choices": [choice]}
    if (usage := _chat_usage(response.get("usage"))) is not None:
        completion["usage"] = usage
    if response.get("error"):
        completion["error"] = response["error"]
    return completion


def _chat_usage(usage: Json) -> Json:
    if not isinstance(usage, dict):
        return None
    details, more = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": details.get("cached_tokens"),
            "cache_write_tokens": details.get("cache_write_tokens"),
        },
        "completion_tokens_details": {"reasoning_tokens": more.get("reasoning_tokens")},
    }
