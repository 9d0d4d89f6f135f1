"""The model's words in one round of an answer, item by item: as they go back upstream, and without what the client is
not to see. A reasoning item and what follows it stand or fall together."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.responses.items import answer_of
from proxy.protocol.tool_results import Said, call_id_of, is_object
from proxy.types import Json, ToolCall

Item: TypeAlias = tuple[Mapping[str, Json], bytes]  # decoded, and in the upstream's bytes

CALLS = ("function_call", "custom_tool_call")  # what a neutral message has as calls
# What asks nothing of the client: what is said, and what the provider runs itself.
_UNASKING = frozenset(
    {"message", "reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "mcp_list_tools", "compaction"}
)
_encode = msgspec.json.Encoder().encode


def name_of(item: Mapping[str, Json]) -> str:
    """Returns the name by which a call may be ours; "" for any other item, and for functions of a namespace."""
    is_plain = item.get("type") == "function_call" and not item.get("namespace")
    return str(item.get("name") or "") if is_plain else ""


def call_of(item: Mapping[str, Json]) -> ToolCall:
    """Returns a call as the model wrote it."""
    arguments = item.get("arguments")
    return ToolCall(str(item.get("call_id") or ""), name_of(item), arguments if isinstance(arguments, str) else None)


def asks(item: Mapping[str, Json]) -> bool:
    """True for an item that the client has to answer, or may have to: a kind that is not known is one."""
    return item.get("type") not in _UNASKING and item.get("execution") != "server"


def says(item: Mapping[str, Json]) -> bool:
    """True if an item has a text for the client."""
    content = item.get("content") if item.get("type") == "message" else None
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return any(str(part.get("text") or part.get("refusal") or "").strip() for part in parts)


def said_in(items: Sequence[Item], ours: Collection[int]) -> Said | None:
    """Returns the model's message of a round; None if there is none. `ours`: positions among its calls of those that
    are answered here. If their arguments are no JSON object, they go back without any.

    Reasoning that is neither encrypted nor told can't go back: nobody but a provider that has stored it knows it. The
    items of such a round go back under no ids, since the provider looks for it by those."""
    if not items:
        return None
    calls = [at for at, (item, _) in enumerate(items) if item.get("type") in CALLS]
    hidden = {calls[position] for position in ours}
    sound = [_sound(*each, position=at) if at in hidden else each for at, each in enumerate(items)]
    lost = frozenset(at for at, (item, _) in enumerate(sound) if _is_lost(item))
    if lost:
        sound = [_without_id(*each) for each in sound]
    left_alone = _leading_to(items, hidden)
    message = answer_of([each for at, each in enumerate(sound) if at not in lost])
    rest = answer_of([each for at, each in enumerate(sound) if at not in lost | hidden | left_alone])
    called = [(sound[at][0], items[at][0]) for at in sorted(hidden)]
    ids = tuple(ToolCall(str(a["call_id"]), name_of(a), call_of(b).arguments) for a, b in called)
    return Said(message, ids, rest)


def _leading_to(items: Sequence[Item], hidden: Collection[int]) -> set[int]:
    """Returns the places of reasoning of whose followers, up to the next reasoning, none stays."""
    found: set[int] = set()
    stays = is_before = False
    for at in reversed(range(len(items))):
        if items[at][0].get("type") == "reasoning":
            found |= set() if stays else {at}
            is_before = True
        else:
            stays = (stays and not is_before) or at not in hidden
            is_before = False
    return found


def _is_lost(item: Mapping[str, Json]) -> bool:
    return item.get("type") == "reasoning" and not (item.get("encrypted_content") or item.get("content"))


def _sound(item: Mapping[str, Json], raw: bytes, *, position: int) -> Item:
    changes: dict[str, Any] = {}
    if not is_object(item.get("arguments")):
        changes["arguments"] = "{}"
    if not item.get("call_id"):
        changes["call_id"] = call_id_of(position, item)
    return ({**item, **changes}, _encode({**item, **changes})) if changes else (item, raw)


def _without_id(item: Mapping[str, Json], _raw: bytes) -> Item:
    without = {name: value for name, value in item.items() if name != "id"}
    return without, _encode(without)
