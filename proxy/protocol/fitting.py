"""Messages that were read from another API, as an upstream of chat completions takes them. They are ours to write, so
they are written as its dialect demands; a chat completion's own messages stay the client's bytes.

    instructions in one message, and no developer   all; OpenAI knows a developer (vllm-project/vllm #6862)
    results directly behind their calls             all; Responses lets a user speak in between
    no answer that says nothing                     all: a thought that was cut off, a prefill of nothing
    images of results in the user's message behind  all but Mistral; OpenAI allows them to users alone
    no reasoning                                    Mistral: 422 extra_forbidden
    a blank for reasoning that was lost             Kimi and DeepSeek, which refuse calls without (as LiteLLM does it)
    the mark of an unfinished answer                Kimi (`partial`), Mistral (`prefix`)
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxy.protocol.dialects import DIALECTS, Dialect, violations
from proxy.protocol.message import INSTRUCTIONS, instruction, message
from proxy.types import Json, Message

REASONING = "reasoning_content"
BLANK = " "  # the least that is taken for reasoning
SEE_BELOW = "[image: in the user's message below]"

_STRICT = "mistral"


def fitted(messages: Sequence[Message], dialect: str, *, continues: bool) -> list[Message]:
    """Returns the messages as the upstream takes them. `continues`: an assistant's message at the end is the beginning
    of the answer."""
    said = _with_results_behind(_instructed(messages, dialect))
    is_strict = dialect == _STRICT
    said = [_without(each, REASONING) for each in said] if is_strict else list(_with_images_apart(said))
    said = [each for each in said if not _says_nothing(each)] or said
    said = _with_reasoning(said, DIALECTS[dialect])
    mark = DIALECTS[dialect].prefill
    if continues and mark and said[-1].role == "assistant" and not said[-1].calls_tools:
        said[-1] = message({**said[-1].data, mark: True})
    return said


def _instructed(messages: Sequence[Message], dialect: str) -> list[Message]:
    said = list(messages)
    leading = next((at for at, each in enumerate(said) if each.role not in INSTRUCTIONS), len(said))
    if leading > 1:
        said[:leading] = [instruction("\n\n".join(each.text for each in said[:leading]))]
    if dialect == "openai":
        return said
    return [instruction(each.text) if each.role == "developer" else each for each in said]


def _with_results_behind(messages: Sequence[Message]) -> list[Message]:
    """Returns the messages with each result behind the newest call before it that it answers."""
    if _are_behind(messages):
        return list(messages)
    calls: dict[str, int] = {}
    results: dict[int, list[Message]] = {}
    for at, said in enumerate(messages):
        if said.role == "tool":
            results.setdefault(calls.get(said.tool_call_id, at), []).append(said)
        else:
            calls.update((call.id, at) for call in said.tool_calls)
    placed: list[Message] = []
    for at, said in enumerate(messages):
        placed += [*([] if said.role == "tool" else [said]), *results.get(at, ())]
    return placed


def _are_behind(messages: Sequence[Message]) -> bool:
    """True if every result stands behind the call that it answers, with nothing but other results in between."""
    called: set[str] = set()
    for said in messages:
        if said.role != "tool":
            called = {call.id for call in said.tool_calls} if said.calls_tools else set()
        elif said.tool_call_id not in called:
            return False
    return True


def _without(said: Message, field: str) -> Message:
    if field not in said.data:
        return said
    return message({name: value for name, value in said.data.items() if name != field})


def _says_nothing(said: Message) -> bool:
    if said.role != "assistant" or said.text.strip() or said.calls_tools or said.data.get("refusal"):
        return False
    return said.is_plain or not said.data.get("content")


def _with_images_apart(messages: Sequence[Message]) -> Iterator[Message]:
    """Yields the messages, with the images of results in a user's message behind the last of them."""
    images: list[Json] = []
    for said in messages:
        if images and said.role == "user":
            yield message({**said.data, "content": [*images, *_parts(said)]})
            images = []
            continue
        if images and said.role != "tool":
            yield message({"role": "user", "content": images})
            images = []
        is_listed = said.role == "tool" and not said.is_plain
        found = [part.definition for part in said.parts if part.kind == "image"] if is_listed else []
        if not found:
            yield said
            continue
        images = [*images, *found]
        texts = [part.text for part in said.parts if part.kind == "text"]
        yield message({**said.data, "content": "\n".join([*texts, SEE_BELOW])})
    if images:
        yield message({"role": "user", "content": images})


def _parts(said: Message) -> list[Json]:
    content = said.data.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": said.text}]


def _with_reasoning(messages: list[Message], dialect: Dialect) -> list[Message]:
    if dialect.reasoning == "optional":
        return messages
    only = replace(dialect, rules=("missing_reasoning",))
    lacking = {fault.index for fault in violations(messages, only, thinking=True)}
    return [message({**said.data, REASONING: BLANK}) if at in lacking else said for at, said in enumerate(messages)]
