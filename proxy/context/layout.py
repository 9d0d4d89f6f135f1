"""The prompt that is sent: its prefix-stable layout, its body, and the fate of each of the client's messages.

    [preamble: the client's bytes] [memory head + first kept user message] [window: the client's bytes]
    [volatile block + newest user message] [what follows it: the client's bytes]

Between folds nothing but the end changes, so the provider's prefix cache holds all before the newest user message.
`assemble` makes the body that is sent of it: an untouched request is the client's body itself; a changed one keeps the
bytes of every unchanged value, and is sent only if the upstream will accept the order of its messages. `explained`
tells the fate of each message (kept, shortened, marker, folded, recalled, left out), with its reason, as the plan
decided it: the page, `olvido replay` and what-if read it here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from proxy.config import Upstream as UpstreamConfig
from proxy.protocol import apis
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import INSTRUCTIONS, instruction, prefixed, suffixed
from proxy.protocol.request import with_changes
from proxy.types import ChatRequest, Fates, Message, Plan, Prompt, PromptTokens

Fate: TypeAlias = Literal["kept", "shortened", "marker", "folded", "recalled", "left out"]
FateAndReason: TypeAlias = tuple[Fate, str]

BEGINNING = 60  # characters of a message that are shown

pack = msgspec.msgpack.encode
unpack = msgspec.msgpack.Decoder(Fates).decode  # raises msgspec.ValidationError


def lay_out(
    messages: Sequence[Message],
    fates: Fates,
    *,
    head: str = "",
    role: Literal["user", "system"] = "user",
    replaced: Mapping[int, Message] = MappingProxyType({}),
    told: Mapping[int, str] = MappingProxyType({}),
) -> tuple[Message, ...]:
    """Returns the messages that are sent: the client's bytes, except for those that carry a block or are `replaced` (by
    index). `role`: of the message that carries the memory head; `told`: blocks of earlier questions, by index."""
    assert fates.preamble <= fates.start <= fates.newest
    sends = kept(messages, fates)
    # A question that has left with its turn carries nothing.
    first = next((index for index in sends if index >= fates.start and messages[index].role == "user"), fates.newest)
    before = {first: [head] if head and role == "user" else []}
    for index, text in told.items():
        before.setdefault(index, []).append(text)
    before.setdefault(fates.newest, []).extend([fates.volatile] if fates.volatile else [])
    sent = []
    for index in sends:
        said = replaced.get(index, messages[index])
        blocks = before.get(index)
        sent.append(prefixed(said, "\n".join(blocks)) if blocks else said)
    if head and role == "system":
        _into_instructions(sent, head)
    return tuple(sent)


def kept(messages: Sequence[Message], fates: Fates) -> tuple[int, ...]:
    """Returns the indices of the messages that are sent. System messages from omitted turns move to the others at the
    beginning: not every upstream takes one behind an answer that stands there (a greeting)."""
    system = 1 + max((at for at in range(fates.preamble) if messages[at].role in INSTRUCTIONS), default=-1)
    preamble = (*range(system), *fates.instructions, *range(system, fates.preamble))
    removed = frozenset(fates.removed)
    return tuple([index for index in (*preamble, *range(fates.start, len(messages))) if index not in removed])


def _into_instructions(sent: list[Message], head: str) -> None:
    """Appends the head to the system message, or inserts it as the only one."""
    if sent and sent[0].role in INSTRUCTIONS:
        sent[0] = suffixed(sent[0], head)
    else:
        sent.insert(0, instruction(head))


def assemble(request: ChatRequest, plan: Plan, upstream: UpstreamConfig, *, is_limited: bool = False) -> Prompt:
    """Returns the body to send, and the plan that it carries out. If the upstream would refuse the planned messages,
    the client's own are sent instead. `is_limited`: what it comes to counts against somebody's limit."""
    if not request.messages and request.origin is None:
        return Prompt(request.raw, plan)  # what could not be read can't be written anew
    dialect = DIALECTS[upstream.dialect]
    messages, is_known = plan.messages, plan.dialect == upstream.dialect
    if messages is not None and not is_known and (found := violations(messages, dialect, len(request.tools))):
        messages = None
        plan = original(plan, f"stage=assemble;rule={found[0].rule}")
    # Usage is asked for where we rewrite anyway, or where the configuration prefers a measured ledger to a body
    # that passes byte for byte; and under a limit, which a model's thoughts count against that no stream shows.
    tools = plan.tools if messages is not None else None
    ask = (
        request.stream
        and not request.wants_usage_chunk
        and dialect.include_usage
        and (messages is not None or is_limited or upstream.stream_usage == "ask")
    )
    model = upstream.aliases.get(request.model, request.model)
    if request.origin is not None:
        return _translated(request, replace(plan, messages=messages, tools=tools), upstream, model)
    if messages is None and not ask and model == request.model:
        return Prompt(request.raw, plan)
    body = with_changes(
        request,
        messages=messages,
        tools=tools,
        model=model if model != request.model else None,
        ask_usage=ask,
    )
    return Prompt(body, plan, strip_usage=ask)


def _translated(request: ChatRequest, plan: Plan, upstream: UpstreamConfig, model: str) -> Prompt:
    """Returns the body of a request that came in another API: in that, where the upstream has it, else as a chat
    completion, which always asks for usage, since the client's API tells it."""
    assert request.origin is not None
    named = model if model != request.model else None
    if apis.has_native(request.origin, upstream.spoken):
        desk, tools = plan.desk, plan.tools if plan.messages is not None else None
        ours = tools[len(tools) - desk.schemas :] if desk is not None and tools is not None else []
        has_memory = upstream.dialect == "anthropic"
        body = apis.native_body(request, plan.messages, named, plan.repeats, tools=ours, has_memory=has_memory)
        if body is None:
            plan = original(plan, "stage=assemble;rule=sealed_reasoning")
            body = apis.native_body(request, None, named)
            assert body is not None
        return Prompt(body, plan, api=request.origin.api)
    ask = request.stream and DIALECTS[upstream.dialect].include_usage
    body = apis.chat_body(
        request, plan.messages, tools=plan.tools, model=named, ask_usage=ask, dialect=upstream.dialect
    )
    return Prompt(body, plan)


def original(plan: Plan, why: str) -> Plan:
    """Returns the plan to send the client's own messages instead of the planned ones. It keeps neither the state nor
    the counts of `plan`, which belong to another prompt."""
    if plan.messages is None:
        return plan
    return Plan("fail-open", PromptTokens(plan.tokens.original, plan.tokens.original), why)


def without_schemas(plan: Plan, why: str) -> Plan:
    """Returns the plan without memory's tools, and otherwise as it is: for an answer that came to nothing with them."""
    desk, tools = plan.desk, plan.tools
    if desk is None or tools is None or plan.messages is None:
        return original(plan, why)
    left = tools[: len(tools) - desk.schemas]
    return replace(plan, tools=left or None, desk=replace(desk, schemas=0), reason=f"{plan.reason};{why}")


@dataclass(frozen=True, slots=True)
class ExplainedMessage:
    """One message of a request, and its fate."""

    index: int
    role: str
    tokens: int  # as the client sent it
    fate: Fate
    why: str
    begins: str


@dataclass(frozen=True, slots=True)
class ExplainedPrompt:
    """The messages of a request with their fates, and the blocks that were added."""

    messages: tuple[ExplainedMessage, ...]
    head: str = ""
    volatile: str = ""


def explained(messages: Sequence[Message], fates: Fates | None, tokens: Callable[[Message], int]) -> ExplainedPrompt:
    """Returns the fate of each of the client's `messages`. `fates`: the plan's; None if all were sent as they came.
    `tokens` counts a message."""
    as_it_came: FateAndReason = ("kept", "sent as it was")
    told = _fates(messages, fates) if fates else iter([as_it_came] * len(messages))
    found = (
        ExplainedMessage(index, said.role, tokens(said), *fate, " ".join(said.text.split())[:BEGINNING])
        for index, (said, fate) in enumerate(zip(messages, told, strict=True))
    )
    return ExplainedPrompt(tuple(found), fates.head if fates else "", fates.volatile if fates else "")


def _fates(messages: Sequence[Message], fates: Fates) -> Iterator[FateAndReason]:
    turn = 0  # from 1; 0 before the first user message
    for index, said in enumerate(messages):
        turn += said.role == "user"
        is_sent = index < fates.preamble or index in fates.instructions or index >= fates.start
        yield _sent(index, fates) if is_sent else _left_out(index, said.role, turn, fates)


def _sent(index: int, fates: Fates) -> FateAndReason:
    if index in fates.removed:
        return "left out", "pruned or summarised by the model"
    if index in fates.rewritten:
        return "marker", "pruned or summarised by the model"
    if index == 0 and fates.is_elided:
        return "shortened", "what need not be repeated is left out"
    if index < fates.start:
        return "kept", "instructions"
    if index in fates.markers:
        return "marker", "old tool result"
    if index in fates.capped:
        return "shortened", "long older answer"
    if index in fates.told:
        return "kept", "window, behind the facts that its question called for"
    return "kept", "newest turn" if index >= fates.newest else "window"


def _left_out(index: int, role: str, turn: int, fates: Fates) -> FateAndReason:
    if index in fates.quoted:
        return "recalled", "the newest question needs it"
    if index >= fates.left:
        return "left out", "makes room for what is recalled, this time"
    if not any(first <= turn <= last for first, last in fates.summaries):
        return "left out", f"turn {turn} left the window, and no summary tells of it"
    if role not in ("user", "assistant"):
        return "left out", f"turn {turn} left the window"
    return "folded", f"turn {turn} left the window for a summary"
