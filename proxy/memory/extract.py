"""Extraction of facts that a user message states about its author. Nothing is inferred.

Only the author's own words are read (`own_words`), clause by clause (`clauses`). Models tell which clauses state
something lasting (`reading`), as far as what stands beside them allows (`neighbours`); what the user orders to be kept
is, whatever they say (`remember_orders`), and a credential never (`credentials`). One statement makes one fact: clauses
are joined only where the later one means nothing without the earlier (`joining`, `statements`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, takewhile

from proxy.memory.credentials import has_credential
from proxy.memory.joining import Run, runs, runs_of_order
from proxy.memory.neighbours import lasting, with_reminders
from proxy.memory.own_words import own_words
from proxy.memory.passages import read, read_ordered
from proxy.memory.reading import ReadClause
from proxy.memory.remember_contents import without_to
from proxy.memory.remember_orders import Ordered, orders
from proxy.memory.reminiscing import without_reminiscences
from proxy.memory.shapes import EDGE, enclosed
from proxy.memory.statements import statement
from proxy.types.memory import Statement

STATEMENTS = 12  # of one message, at most
_REMEMBERED = 512  # messages whose statements are cached: summaries need them again


# A question with a mark at which its passage may end.
_CUT_QUESTION = re.compile(r"(?:[:;]\s|\s[-\u2013\u2014]+\s|->|=>|\u2192)[^.!?\n]*\?")


@lru_cache(_REMEMBERED)
def extract(*parts: str) -> tuple[Statement, ...]:
    """Extracts the statements about its author from the text parts of a user message, in their order."""
    # Whose words they are takes longest to tell: it is asked only where something would be kept if all of them were the
    # author's own. Most messages only ask.
    whole = {part: read(part) for part in parts if len(part) <= EDGE}
    if not any(
        part not in whole or any(each.kept for each in whole[part]) or _is_of_parts(part) or orders(part)
        for part in parts
    ):
        return ()
    own = own_words(*parts)
    found: list[Statement] = []
    kept = _kept_by_orders(parts)
    for passage in own.passages:
        reuse = not own.hands_over and passage in whole
        clauses = whole[passage] if reuse else read(passage, hands_over=own.hands_over)
        found += _statements(passage, clauses, _given(passage, clauses, kept))
    return tuple(each for each in found[:STATEMENTS] if not has_credential(each.value))


def ordered(*parts: str) -> tuple[Statement, ...]:
    """Extracts those statements of a user message that it orders to be kept."""
    kept = _kept_by_orders(parts)
    found = (_ordered(_given(passage, read(passage), kept)) for passage in own_words(*parts).passages)
    return tuple(each for each in chain.from_iterable(found) if not has_credential(each.value))


def stated(text: str) -> Statement | None:
    """Returns the statement that a text makes if all of it is one, however unsure that would be in a conversation: for
    what a person writes down as a fact. None: it only asks, or says nothing."""
    found = read(text)
    return statement(Run(tuple(found))) if found else None


def _is_of_parts(text: str) -> bool:
    """Tells whether a clause of one of the passages of `text` may be none of its own: beside enclosed text, or where a
    question is cut."""
    return bool(enclosed(text)) or _CUT_QUESTION.search(text) is not None


def _statements(passage: str, found: list[ReadClause], given: Sequence[Ordered]) -> list[Statement]:
    if not given and not any(each.kept for each in found):
        return []
    # Behind something imagined all is imagined.
    found = without_reminiscences(with_reminders(list(takewhile(lambda each: not each.imagined, found))))
    told = lasting([each for each in found if not _is_in(each, given)])
    return [*_ordered(given), *map(statement, runs(with_reminders(told), passage))]


def _orders(text: str) -> Iterator[Ordered]:
    """Yields the orders to remember in a text. One that is asked for politely is obeyed where models would have to
    decide of it: of a question they know nothing."""
    for each in orders(text):
        is_asked = each.content == "open" and text[each.start : each.end].rstrip().endswith("?")
        yield replace(each, content="fact") if is_asked else each


def _kept_by_orders(parts: Iterable[str]) -> frozenset[str]:
    """Returns what the orders to remember keep in a message as a whole."""
    return frozenset(each.what for part in parts for each in _orders(part[:EDGE]) if each.keeps)


def _given(passage: str, found: Iterable[ReadClause], kept: Collection[str]) -> tuple[Ordered, ...]:
    """Returns the orders to remember that say what is to be kept, or that nothing is. `kept`: what orders keep in the
    whole message, in which it may belong to a role."""
    imagined = next((each.clause.start for each in found if each.imagined), len(passage))
    found_here = (each for each in _orders(passage) if each.start < imagined and each.content != "open")
    return tuple(each if each.what in kept else replace(each, content="nothing") for each in found_here)


def _ordered(given: Iterable[Ordered]) -> Iterator[Statement]:
    """Yields the statements that the user orders to be kept."""
    for each in given:
        if each.keeps:
            is_rule = each.content == "rule"
            what = without_to(each.what) if is_rule else each.what
            yield from map(statement, runs_of_order(read_ordered(what, is_rule=is_rule)))


def _is_in(each: ReadClause, given: Iterable[Ordered]) -> bool:
    """Tells whether a clause stands in one of the orders `given`, which are read by themselves."""
    start, end = each.clause.start, each.clause.start + len(each.clause.text)
    return any(start < order.end and order.start < end for order in given)
