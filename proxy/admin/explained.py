"""What one request said, what became of each of its messages, and what went upstream in their place (pure, and long for
a long conversation: not for the event loop).

The plan itself is not kept. It is read back from what is: the body, the body that was sent, the state of the
conversation, and the ledger row.
"""

from collections.abc import Callable, Mapping, Sequence

from proxy.edge import KEYS
from proxy.memory.state import unpack
from proxy.replay.fates import Seen, inside
from proxy.types import ChatRequest, Contents, Json, LedgerRow, Mechanisms, Message, PathState, Plan
from proxy.wire.request import message_of, parse, unpacked

NOTHING_KEPT: Mapping[str, Json] = {
    "has_content": False,
    "messages": [],
    "head": "",
    "volatile": "",
    "sent": [],
    "answer": None,
    "headers": {},
}

_SECRET = KEYS | {"cookie", "proxy-authorization"}
_MECHANISMS = frozenset(Mechanisms.__dataclass_fields__)


def explained(row: LedgerRow, contents: Contents, tokens: Callable[[Message], int]) -> Mapping[str, Json]:
    """`tokens`: of a message. Raises BadRequest if the body is none."""
    request = parse(contents.body)
    sent = unpacked(contents.sent) if contents.sent else None
    found = inside(request.messages, _plan(row, request, sent, contents), tokens)
    went = (sent or request.messages) if row.source == "upstream" else ()
    return {
        "has_content": True,
        "messages": [_message(seen, said) for seen, said in zip(found.messages, request.messages, strict=True)],
        "head": found.head,
        "volatile": found.volatile,
        "sent": [{"role": said.role, "text": said.text} for said in went],
        "answer": (answer.text or None) if (answer := message_of(contents.answer)) is not None else None,
        # They are not among those that are kept. Should that ever change, they are not shown.
        "headers": {name: value for name, value in contents.headers.items() if name.lower() not in _SECRET},
    }


def _plan(row: LedgerRow, request: ChatRequest, sent: Sequence[Message] | None, contents: Contents) -> Plan:
    mechanisms = {name: tokens for name, tokens in row.mechanisms.items() if name in _MECHANISMS}
    return Plan(
        row.plan,
        tokens_original=row.tokens_original,
        tokens_sent=row.tokens_sent,
        messages=None if sent is None else tuple(sent),
        mechanisms=Mechanisms(**mechanisms),
        state=_state(contents.state, request.messages),
    )


def _state(packed: bytes, messages: Sequence[Message]) -> PathState | None:
    """None for one that counts other messages: those of a client that leaves its history to us."""
    state = unpack(packed)
    newest = max((index for index, said in enumerate(messages) if said.role == "user"), default=-1)
    return state if state is not None and state.newest == newest else None


def _message(seen: Seen, said: Message) -> Json:
    return {
        "index": seen.index,
        "role": seen.role,
        "tokens": seen.tokens,
        "fate": seen.fate,
        "why": seen.why,
        "text": said.text or None,
        "images": sum(part.kind == "image" for part in said.parts),
        "calls": [{"name": call.name, "arguments": call.arguments or ""} for call in said.tool_calls],
    }
