"""The item of an earlier list that a question points at: "tell me more about the second one".

It is looked for in the request's own messages, newest answer first: they hold the whole conversation, whether the
client sent it again or it was restored from the archive. The item alone is recalled, with the list's lead-in, if the
prompt does not hold it; where no list was given such a question calls for nothing of the past.
"""

from collections.abc import Iterator
from dataclasses import replace

from proxy.context.draft import FRAMING, Memory, PlanContext, Pointed, TooMuch
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import Case, Progress
from proxy.language.words import fold
from proxy.memory.list_items import Answer, Found, resolved
from proxy.memory.list_references import Reference, reference
from proxy.memory.selecting import LEFT_OUT
from proxy.memory.shelf import Shelf
from proxy.types import Excerpt

MOST_WALKED = 2_000  # messages, from the newest on
LONGEST_QUESTION = 160  # characters of a question that says what a list is of; a longer one says much else
LONGEST_ITEM = 1_200  # characters: of a longer item the beginning is recalled
LONGEST_LEAD = 120  # characters of a lead-in that is worth its tokens


def by_item(
    memory: Memory, asked: str, context: PlanContext, case: Case, so_far: Progress, shelf: Shelf
) -> Memory | None:
    """Returns the memory with the item that a question points at, or as it is where it points at none that was listed;
    None if the question is another. The caller holds the shelf's lock. Raises TooMuch on the event loop."""
    wanted = reference(asked)
    if wanted is None:
        return None
    if context.in_place:
        raise TooMuch
    found = resolved(wanted, _answers(case, so_far, shelf))
    if found is not None:
        return replace(memory, pointed=_pointed(found, context, case))
    return memory if _closes(wanted, case, so_far) else None


def _pointed(found: Found, context: PlanContext, case: Case) -> Pointed:
    text = _text(found)
    excerpt = Excerpt(
        link=case.chain[found.index],
        role="assistant",
        text=text,
        turn=sum(said.role == "user" for said in case.messages[: found.index]),
        session=context.session,
        at=context.now,
        score=1.0,
        tokens=context.count(text) + FRAMING,
    )
    return Pointed(found.index, tuple(item.text for item in found.items), excerpt)


def _closes(wanted: Reference, case: Case, so_far: Progress) -> bool:
    """Tells whether a reference that no list resolves calls for nothing of the past: unless it names what the user has
    spoken of."""
    if not wanted.closes or wanted.kind != "noun":
        return wanted.closes
    said = (fold(each.text) for each in case.messages[: so_far.newest] if each.role == "user")
    return not any(term in each for each in said for term in wanted.terms)


def _answers(case: Case, so_far: Progress, shelf: Shelf) -> Iterator[Answer]:
    """Yields the answers of the conversation, newest first, but for forgotten turns."""
    stop = so_far.newest
    for index in range(stop - 1, max(stop - MOST_WALKED, 0) - 1, -1):
        if case.messages[index].role != "user":
            continue
        turn, stop = range(index, stop), index
        if not shelf.forgotten.isdisjoint(case.chain[at] for at in turn):
            continue
        question = without_ours(case.messages[index].text)
        question = question if len(question) <= LONGEST_QUESTION else ""
        for at in reversed(turn):
            if case.messages[at].role == "assistant":
                yield Answer(at, question, case.messages[at].text)


def _text(found: Found) -> str:
    """Renders the items: the list's lead-in, and each with its place and the number of all, which bullets do not
    tell."""
    lead, total = found.given.lead, len(found.given.items)
    lines = [lead] if lead and len(lead) <= LONGEST_LEAD else []
    for item in found.items:
        text = item.text if len(item.text) <= LONGEST_ITEM else item.text[:LONGEST_ITEM] + LEFT_OUT
        lines.append(f"[{item.position}/{total}] {text}")
    return "\n".join(lines)
