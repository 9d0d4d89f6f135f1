"""The clauses of a passage in the user's own words, each read; and those of what the user orders to be kept."""

from dataclasses import replace
from functools import partial

from proxy.memory.clauses import split
from proxy.memory.no_statement import may_state
from proxy.memory.predictions import Guess, about, guess
from proxy.memory.reading import INSTRUCTION, ReadClause
from proxy.memory.remember_contents import is_by_user
from proxy.memory.signals import spoken_in
from proxy.types.memory import Language


def read(passage: str, *, hands_over: bool = False) -> list[ReadClause]:
    """Returns the clauses of a passage; none if each of them is a question."""
    clauses = split(passage)
    firsts = [at == 0 or clauses[at - 1].sentence != clause.sentence for at, clause in enumerate(clauses)]
    if not any(may_state(clause, is_first=is_first) for clause, is_first in zip(clauses, firsts, strict=True)):
        return []
    spoken = spoken_in(passage)
    texts = [clause.text for clause in clauses]
    asking = {clause.sentence for clause in clauses if clause.asked}
    return [
        ReadClause(
            clause,
            partial(guess, texts, at, spoken),
            spoken,
            hands_over=hands_over,
            is_first=firsts[at],
            in_question=clause.sentence in asking and not clause.asked,
        )
        for at, clause in enumerate(clauses)
    ]


def read_ordered(said: str, *, is_rule: bool) -> list[ReadClause]:
    """Returns the clauses of what the user orders to be kept, whatever the models say of them. What asks or orders
    something else, behind the first, is none of it. `is_rule`: it is an instruction for every answer."""
    spoken = spoken_in(said)
    clauses = split(said)
    texts = [clause.text for clause in clauses]
    found = []
    for at, clause in enumerate(clauses):
        each = ReadClause(clause, partial(guess, texts, at, spoken), spoken, hands_over=False, is_first=at == 0)
        asks_more = clause.asked or (_goes_to_work(each) and not (is_rule or is_by_user(clause.text)))
        given = at == 0 or not asks_more
        topic = Guess(each.guess.fact, partial(_topic, clause.text, spoken, is_rule=is_rule))
        made = each.but(kept=given, explicit=True, doubted=False, imagined=False, standing=is_rule)
        vars(made)["guess"] = topic
        found.append(made)
    return found


def _goes_to_work(each: ReadClause) -> bool:
    """Tells whether a clause asks for work behind its conjunction: "so suggest a name"."""
    text = each.clause.text[each.conjunctions :]
    return ReadClause(
        replace(each.clause, text=text), each.predicted, each.spoken, hands_over=False, is_first=True
    ).asks_for_work


def _topic(text: str, spoken: Language, *, is_rule: bool) -> str:
    """Returns the likeliest topic of a clause of which it is known whether it is an instruction."""
    if is_rule:
        return INSTRUCTION
    return next(name for name, _ in about(text, spoken) if name != INSTRUCTION)
