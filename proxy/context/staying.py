"""Facts and excerpts that were told with an earlier question and stay in its message, byte for byte, as long as that
turn is sent.

A block in front of the newest user message that is gone in the next request costs more than its own tokens: whatever
stands behind it is billed anew, and where a provider finds a prompt only at the end of an earlier one, all of it, with
every question. So what comes back with the next question anyway, facts about the user, is said once and then left
where it is: it is billed once, found in the prefix cache from then on, and not said again while the prompt holds it.
Excerpts of old turns are longer and belong to one question: a block that has any goes with its question, unless a
prompt is found only at the end of an earlier one: there they stay until their turn is folded. Pure.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from proxy.types import PathState, ToldFacts

NOTHING: Mapping[int, ToldFacts] = MappingProxyType({})


def left(state: PathState | None, newest: int) -> Mapping[int, ToldFacts]:
    """Returns the facts that the previous request leaves in the messages before `newest`, the index of the newest user
    message, by the index of the message that they stand in."""
    if state is None:
        return NOTHING
    told = {each.index: each for each in state.told}
    block = state.volatile
    if block.stays and state.newest < newest:
        told[state.newest] = ToldFacts(state.newest, block.text, block.tokens, block.fact_ids, block.quoted)
    return told


def remembered(
    told: Mapping[int, ToldFacts], facts: AbstractSet[str], is_forgotten: Callable[[int], bool]
) -> Mapping[int, ToldFacts]:
    """Returns those of `told` of which every fact and message is still remembered. `facts`: ids of all facts of the
    scope; `is_forgotten`: tells it of the message with an index."""
    return {
        index: each
        for index, each in told.items()
        if facts >= set(each.fact_ids) and not any(map(is_forgotten, each.quoted))
    }
