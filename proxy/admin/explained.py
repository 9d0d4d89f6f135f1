"""What one request said, what became of each of its messages, and what went upstream in their place (pure, and long for
a long conversation: not for the event loop).

The fates of the messages are kept with the body, as the plan decided them.
"""

from collections.abc import Callable, Mapping

from proxy.context import fates
from proxy.context.fates import ExplainedMessage
from proxy.http.edge import KEYS
from proxy.protocol.request import message_of, parse, unpacked
from proxy.types import Contents, Json, LedgerRow, Message

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


def explained(row: LedgerRow, contents: Contents, tokens: Callable[[Message], int]) -> Mapping[str, Json]:
    """`tokens`: of a message. Raises BadRequest if the body is none, and ValueError if the fates can't be read."""
    request = parse(contents.body)
    sent = unpacked(contents.sent) if contents.sent else None
    found = fates.explained(request.messages, fates.unpack(contents.fates) if contents.fates else None, tokens)
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


def _message(seen: ExplainedMessage, said: Message) -> Json:
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
