"""Clauses judged by what stands beside them: which are kept after all, or not, in their sentence and passage."""

from collections.abc import Sequence

from proxy.memory.forget_orders import is_mishap
from proxy.memory.reading import ReadClause
from proxy.memory.remember_contents import is_for_task

_VAGUE = 0.75  # least probability of a fact for a clause that names nothing, behind another clause
_VERY_LIKELY = 0.85  # the same, where it has a single content word, or stands beside a supposition
_LEAST_WORDS = 2  # content words of a vague statement, at least


def lasting(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops the clauses that are no lasting facts for what stands beside them. Each rule sees what the one before it
    has left."""
    return _without_vague(_without_supposed(_without_mishaps(_without_one_offs(found))))


def _without_one_offs(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops instructions whose sentence says that they are for the task at hand: "for this email, no emoji"."""

    def sentence(each: ReadClause) -> str:
        return " ".join(other.clause.text for other in found if other.clause.sentence == each.clause.sentence)

    return [
        each.but(kept=False)
        if each.kept and each.standing and not each.explicit and is_for_task(sentence(each))
        else each
        for each in found
    ]


def _without_mishaps(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops clauses that go on from something forgotten: "I forgot my charger and have 4% left"."""
    before = (None, *found)

    def goes_on(each: ReadClause, then: ReadClause | None) -> bool:
        if then is None or then.clause.sentence != each.clause.sentence:
            return False
        return is_mishap(then.clause.text) and not each.is_independent

    return [
        each.but(kept=False) if each.kept and goes_on(each, then) else each
        for each, then in zip(found, before, strict=False)
    ]


def _without_supposed(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops clauses beside a supposition in the same sentence, unless they are nearly sure."""
    kept = {each.clause.sentence for each in found if each.kept}
    doubted = {each.clause.sentence for each in found if each.clause.sentence in kept and each.doubted}

    def holds(each: ReadClause) -> bool:
        return each.explicit or (each.standing and not each.doubted) or each.guess.fact > _VERY_LIKELY

    return [
        each.but(kept=False) if each.kept and each.clause.sentence in doubted and not holds(each) else each
        for each in found
    ]


def with_reminders(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Marks a clause as explicit if "keep that in mind" follows it."""
    after = (*found[1:], None)
    return [
        each.but(explicit=True) if each.kept and then is not None and not then.kept and then.explicit else each
        for each, then in zip(found, after, strict=False)
    ]


def _without_vague(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops a clause that names nothing ("it drives me mad"), unless it is surer than its neighbours."""
    kept = list(found)
    for at, each in enumerate(found):
        if not each.kept or each.guess.fact >= _VERY_LIKELY or not each.is_vague:
            continue
        before = kept[at - 1] if at else None
        follows = before is not None and before.kept and before.clause.sentence == each.clause.sentence
        if (follows and each.guess.fact < _VAGUE) or len(each.content) < _LEAST_WORDS:
            kept[at] = each.but(kept=False)
    return kept
