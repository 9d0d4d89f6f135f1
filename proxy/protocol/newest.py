"""The newest words of a kept body: the text of the user's last message, found without parsing the others."""

import msgspec

from proxy.protocol.message import message_of


class _Body(msgspec.Struct):
    messages: list[msgspec.Raw]


_body = msgspec.json.Decoder(_Body)


def newest_question(body: bytes) -> str:
    """Returns the text of the newest user message of a chat completion's body; "" if there is none."""
    try:
        messages = _body.decode(body).messages
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    for raw in reversed(messages):
        said = message_of(bytes(raw))
        if said is not None and said.role == "user":
            return said.text
    return ""


def answer_text(answer: bytes) -> str:
    """Returns the text of an assistant's message; "" if it has none."""
    said = message_of(answer) if answer else None
    return "" if said is None else said.text
