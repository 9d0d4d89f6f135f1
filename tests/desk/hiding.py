"""Hidden exchanges for tests, as the loop makes them."""

from collections.abc import Sequence

from proxy.protocol.chains import links_after
from proxy.protocol.message import message
from proxy.types.desk import Hidden
from tests.builders import Said, assistant


def ours(*ids: str, content: str | None = None, **more: str) -> Said:
    """An answer that calls memory tools (ids with h) or the client's."""
    names = {each: "remember" if each.startswith("h") else "look" for each in ids}
    calls = [{"id": each, "type": "function", "function": {"name": names[each], "arguments": "{}"}} for each in ids]
    return assistant(content, tool_calls=calls, **more)


def hidden(
    link: bytes,
    answer: Said,
    *,
    before: Sequence[Said] = (),
    instead: Said | None = None,
    after: Sequence[Said] = (),
) -> Hidden:
    """The exchange behind an answer to the message with this link."""
    said = message(answer)
    return Hidden(
        link=link,
        answer=links_after(link, [said])[0],
        before=tuple(message(each).raw for each in before),
        instead=b"" if instead is None else message(instead).raw,
        after=tuple(message(each).raw for each in after),
        calls=tuple(call.id for call in said.tool_calls),
    )
