"""Requests in which tools of ours can be offered at all; names that the client's own tools leave free."""

from collections.abc import Collection

from proxy.desk.schemas import MEMORY, MEMORY_OFFER, NAMES, offered_names
from proxy.protocol.dialects import Dialect
from proxy.types import ChatRequest
from proxy.types.desk import Offered

_CHOICES = (None, "auto")  # of tools, that leave it to the model
_FORMATS = (None, "text")  # of answers, in which the model may call tools first


def offerable(request: ChatRequest, dialect: Dialect) -> bool:
    """Tells whether a request can carry our tools: the model is free to call any, or none, and answers once, with a
    text of no prescribed form; the upstream takes so many."""
    form = request.response_format
    is_free = request.tool_choice in _CHOICES and (None if form is None else form.kind) in _FORMATS
    is_one_text = request.n == 1 and not request.wants_audio and not request.constrains_text
    has_legacy = len(request.tool_names) > len(request.tools)  # `functions`: no upstream takes both
    goes_on = request.messages[-1].role == "assistant"  # the model continues its own message
    is_within = dialect.max_tools is None or len(request.tools) + len(NAMES) <= dialect.max_tools
    return is_free and is_one_text and not has_legacy and not goes_on and is_within


def offer(request: ChatRequest, language: str, before: Offered | None, *, has_memory: bool = False) -> Offered:
    """Returns the tools as they are offered in this request, if they are: as in the offer `before`, unless a tool of
    the client's has taken one of the names since. `has_memory`: the provider has a memory tool, which is offered in
    their place unless the client has one of that name."""
    taken = request.tool_names
    is_memory = has_memory and MEMORY not in taken
    if before is not None and (before.names == MEMORY_OFFER) == is_memory and _is_free(before.names, taken):
        return before
    names = MEMORY_OFFER if is_memory else offered_names(taken)
    return Offered(before.language if before is not None else language, names, "")


def _is_free(names: Collection[str], taken: Collection[str | None]) -> bool:
    return set(names).isdisjoint(taken)
