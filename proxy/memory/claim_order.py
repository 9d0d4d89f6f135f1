"""Decision whether two statements of the same words say something else, by the order of these and who does what to
whom."""

from collections.abc import Sequence

from proxy.memory.agreeing import Pairs
from proxy.memory.claim_terms import Term
from proxy.memory.claims import Claim

_AWAY, _TOWARDS = (
    frozenset(["from", "out", "off", "desde"]),
    frozenset(["to", "into", "onto", "toward", "towards", "hacia", "hasta", "para"]),
)
_UP_TO = frozenset({"a", "to", "through", "hasta", "until"})


def turned(first: Claim, second: Claim, pairs: Pairs) -> str:
    """Returns the reason why the same words in another order say something else, "" if they do not."""
    if any(one.is_denied != other.is_denied for one, other, _ in pairs):
        return "polarity"
    if first.compares and second.compares and any(one.turned != other.turned for one, other, _ in pairs):
        return "comparison"
    if any(
        {one.behind in _AWAY, other.behind in _AWAY} == {True, False} and _TOWARDS & {one.behind, other.behind}
        for one, other, _ in pairs
    ):
        return "direction"
    if _are_others_acts(first, second, pairs):
        return "direction"
    if any((one.behind in _UP_TO) != (other.behind in _UP_TO) for one, other, _ in pairs if _is_day(one)):
        return "range"
    is_active = not first.is_passive and not second.is_passive
    if is_active and any(_begins(one, other) or _begins(other, one) for one, other, _ in pairs):
        return "tense"
    places = {id(term): at for each in (first, second) for at, term in enumerate(each.terms)}
    order = sorted(((one, other) for one, other, _ in pairs), key=lambda pair: places[id(pair[0])])
    anchors = [pair for pair in order if pair[0].kind in {"name", "number"} or pair[1].kind == "name"]
    at = [places[id(other)] for _, other in anchors]
    if at == sorted(at):
        return ""
    return "order" if any(_stands_elsewhere(pair, order) for pair in anchors) else ""


def _is_day(term: Term) -> bool:
    """Tells whether it is a month or a weekday."""
    return term.kind == "number" and not term.said[0].isdigit() and term.said[1:].isdigit()


def _begins(one: Term, other: Term) -> bool:
    """Tells whether one is under way and the other has come about: "is divorcing", "is divorced"."""
    return one.kind == other.kind == "word" and one.said.endswith("ing") and other.said.endswith("ed")


def _are_others_acts(first: Claim, second: Claim, pairs: Pairs) -> bool:
    """Tells whether somebody does in one what is done to them in the other."""
    if first.is_passive != second.is_passive:
        leads = first.terms[0], second.terms[0]
        of_one = any((one, other) == leads for one, other, _ in pairs)
        return of_one and first.leads_noun and second.leads_noun and not (first.has_clitics or second.has_clitics)
    if first.is_copular or second.is_copular:
        return False
    openings = {id(each.terms[0]) for each in (first, second)}
    somebody = (
        (one, other)
        for one, other, _ in pairs
        if {one.kind, other.kind} <= {"person", "name"}
        or ("name" in (one.kind, other.kind) and openings & {id(one), id(other)})
    )
    return any(first.acts(one) != second.acts(other) for one, other in somebody)


def _stands_elsewhere(anchor: tuple[Term, Term], pairs: Sequence[tuple[Term, Term]]) -> bool:
    """Tells whether a name or number stands with other words, or behind another preposition."""
    one, other = anchor
    if one.behind != other.behind and one.behind and other.behind:
        return True
    return any(
        each.part == one.part and that.part != other.part
        for at, (each, that) in enumerate(pairs)
        if at and each.kind in {"word", "light", "doing"}
    )
