"""The content of an order to remember: a fact of the user's, an instruction for all answers, or nothing to be kept.

A fact names the user, somebody of theirs, or somebody by name of whom something personal is said. An instruction says
how answers shall be, for longer than the task at hand. Memories that are shared ("that night in Rome"), questions, what
is to be done ("to call Ann"), the task at hand and what everybody knows are nothing to be kept; of the rest the models
decide as of any statement.
"""

import re
from functools import partial
from typing import Literal

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, fold
from proxy.memory.analysis import ASPECTS, analyse
from proxy.memory.signals import WORD, folded, spoken_in

Content = Literal["fact", "rule", "nothing", "open"]
# Of keeping in mind, the same before a mark ("remember: …"), of writing down, of taking note of something; a name
# before a colon; or it is known to be about the user: it stands before the order, or behind "this about me".
Verb = Literal["keeps", "marked", "notes", "notes_of", "labels", "told"]

_find = partial(expression, union("orders_to_remember"))

_USER = _find(r"(?<![\w'])(?:{user})(?![\w'])")
_NO_USER = re.compile(r"\bUS\b|(?<=[A-Z][a-z] )I\b|\bWar I\b")  # the country, the number
# A Spanish clause that begins with its verb, in the first person: by its ending, or by its accent.
_FIRST_VERB = _find(r"\W*(?:(?:{before_first}) )*(?!(?:{no_verbs})\b)\w+{first_verbs}\b")
_FIRST_PAST = _find(r"\W*(?:(?:{before_first}) )*{first_past}")
_FIRST = _find(r"\W*(?:{first})(?![\w'])|\W*(?:(?:{before_first}) )*(?!(?:{no_verbs})\b)\w{2,}{first_verbs}\b")
_JOINED = _find(r"\W*(?:(?:{joins})\W+)*")
_OWN = _find(r"\W*(?:{own})\b")
_DEFINITE = _find(r"\W*(?:{definite})\b")
_ANYBODY = _find(r"\W*(?:{anybody})\b")
_ONCE = _find(r"\W*(?:{once})")
_ONCE_ALONE = _find(r"\W*(?:{once_alone})")
_TALK = _find(r"\W*(?:{talk})")
_TASK, _OF_TASK, _PASSING, _VALUE, _LASTING, _PERSONAL = map(
    _find, ("{task}", "{of_task}", "{passing}", "{value}", "{lasting}", "(?:{personal})")
)
_NO_PROPERTY = _find(r"\W*(?:{no_property})")
_FAMILY = _find(r"\W*(?:{family})(?!\W*$)")
_SOMEBODY = _find(r"\W*(?:{somebody})\b")
_UPPER = "A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1"
_NAME = re.compile(rf"\W*(?:[Aa] )?[{_UPPER}][\w-]+(?: [{_UPPER}][\w-]+)?")
_NUMBERED = re.compile(r"\W*(?:\w+ ){1,2}#?\d+\b")  # box 2, la caja 2
_OBLIGES = _find(r"\W*(?:{obliges})")
_AT_TIME = _find(r"\b{at_time}\b")
_SUBJECT = re.compile(r"\W*(?:\S+\s+){0,3}\S+")  # its first words
_ANSWERS = _find(r"\W*(?:{answers})")
_ANSWER_NOUNS = _find(r"\W*(?:{answer_nouns})")
_INSTRUCTS = _find(r"\W*(?:{instructs})")
_BE = _find(r"\b{be}\b")
_YOU = _find(r"\W*(?:{you})\b")
_INFINITIVE = _find(r"\W*(?:{infinitive})")
_TO_DO = _find(r"\W*(?:{to}\s+)?(?:(?:{how_often}) )*")
_TO = _find(r"\W*{to}\s+", re.IGNORECASE)
_LEAST_WORDS, _LEAST_OF = 3, 2  # content words of a bare noun phrase of the user's that says something; of one noted


def weigh(said: str, *, verb: Verb, has_that: bool, has_task: bool) -> Content:
    """Classifies what an order to remember is about. `verb`: its kind; `has_that`: a conjunction or a mark leads on to
    it; `has_task`: the message also asks for something else."""
    plainly = folded(said)
    if not has_that and _INFINITIVE.match(plainly) is not None:
        return _to_do(plainly, has_task=has_task)
    if _is_no_news(plainly, has_that=has_that, has_task=has_task):
        return "nothing"
    if _FIRST_VERB.match(plainly) is None and _is_rule(plainly, verb, has_that=has_that, has_task=has_task):
        return "rule"
    if _PASSING.search(plainly):
        return "open"
    return _of_whom(said, plainly, verb, has_that=has_that)


def is_for_task(said: str) -> bool:
    """Tells whether an instruction is for the task at hand, and ends with it: "in this table, use euros"."""
    plainly = folded(said)
    return _TASK.search(plainly) is not None and _LASTING.search(plainly) is None


def without_to(said: str) -> str:
    """Strips the sign of an infinitive from an instruction: "to always answer in Spanish"."""
    found = _TO.match(said) if _INFINITIVE.match(folded(said)) else None
    return said[found.end() :] if found else said


def _to_do(plainly: str, *, has_task: bool) -> Content:
    """Classifies what is to be done: an instruction for answers, or a reminder of something else."""
    verb = _TO_DO.match(plainly)
    if _PASSING.search(plainly):
        return "nothing"
    if _ANSWERS.match(plainly, verb.end() if verb else 0) is None:
        return "open" if _LASTING.search(plainly) else "nothing"
    if _LASTING.search(plainly):
        return "rule"
    return "nothing" if has_task or _TASK.search(plainly) else "rule"


def _is_no_news(plainly: str, *, has_that: bool, has_task: bool) -> bool:
    """Tells whether a clause is about the past of both, the talk, the task at hand, or everybody."""
    if not plainly.strip(" .,;:!?") or any(table.match(plainly) for table in (_ONCE, _ANYBODY, _TALK)):
        return True
    if not has_that and _ONCE_ALONE.match(plainly):
        return True
    is_of_task = _TASK.search(plainly) or (has_task and _OF_TASK.search(plainly))
    return bool(is_of_task) and _LASTING.search(plainly) is None


def _is_rule(plainly: str, verb: Verb, *, has_that: bool, has_task: bool) -> bool:
    """Tells whether a clause says how answers shall be. One for the task at hand says so for no longer."""
    is_about_answers = any(table.search(plainly) for table in ASPECTS.values())
    if is_about_answers and verb == "marked" and not has_task and not (_BE.search(plainly) or _USER.search(plainly)):
        return True
    if _INSTRUCTS.match(plainly) is None and _ANSWERS.match(plainly) is None and _ANSWER_NOUNS.match(plainly) is None:
        return False
    if _LASTING.search(plainly):
        return _ANSWER_NOUNS.match(plainly) is None or has_that
    if has_task or (_ANSWER_NOUNS.match(plainly) and not has_that):
        return False
    names_user = _USER.search(plainly) is not None
    return is_about_answers or (_INSTRUCTS.match(plainly) is not None and not names_user)


def _of_whom(said: str, plainly: str, verb: Verb, *, has_that: bool) -> Content:
    """Classifies a statement by whom it is about."""
    if _YOU.match(plainly):
        return "nothing"
    if _is_users(said, plainly):
        return "fact" if has_that or _says(said, plainly, verb) else "nothing"
    if _is_of_theirs(said, plainly, verb) or (verb == "told" and _VALUE.search(plainly)):
        return "fact"
    return "open" if verb == "labels" or _OBLIGES.match(plainly) or _may_be_known_here(said, plainly) else "nothing"


def is_by_user(said: str) -> bool:
    """Tells whether a clause has the user as its subject."""
    plainly = folded(said)
    joined = _JOINED.match(plainly)
    start = joined.end() if joined else 0
    return _FIRST.match(plainly, start) is not None or _FIRST_VERB.match(plainly, start) is not None


def _is_users(said: str, plainly: str) -> bool:
    """Tells whether a clause names the user."""
    if any(_NO_USER.search(said, max(0, found.start() - 8), found.end()) is None for found in _USER.finditer(plainly)):
        return True
    return _FIRST_VERB.match(plainly) is not None or _FIRST_PAST.match(said.lower()) is not None


def _says(said: str, plainly: str, verb: Verb) -> bool:
    """Tells whether a clause without a conjunction says something of the user, rather than names a thing of theirs:
    "remember my name", "save my draft"."""
    if _OWN.match(plainly) is None:
        if _FIRST.match(plainly) is not None:
            return not (plainly.startswith("me ") and spoken_in(said) == "en")
        return verb != "notes" and _VALUE.search(plainly) is not None
    if _VALUE.search(plainly):
        return _NO_PROPERTY.match(plainly) is None or verb in ("keeps", "marked")
    content = [word for word in WORD.findall(plainly) if fold(word) not in STOP]
    least = _LEAST_OF if verb == "notes_of" else _LEAST_WORDS
    return verb != "notes" and len(content) >= least and _NO_PROPERTY.match(plainly) is None


def _is_of_theirs(said: str, plainly: str, verb: Verb) -> bool:
    """Tells whether a clause is about somebody of the user's."""
    if _FAMILY.match(plainly):
        return True
    if verb != "labels" and _SOMEBODY.match(plainly):
        return True
    name = _NAME.match(said)
    return name is not None and _PERSONAL.match(plainly, name.end()) is not None


def _may_be_known_here(said: str, plainly: str) -> bool:
    """Tells whether a clause about something else than the user is about one thing, person, time or value ("the spare
    key is under the pot", "box 2 holds rice", "deploys are on Tuesdays"), which may be of the user's life or work, and
    not about any ("practice makes perfect")."""
    subject = _SUBJECT.match(said)
    if subject is None or _OF_TASK.search(folded(subject.group())):
        return False
    if _DEFINITE.match(plainly) or _NAME.match(said) or _NUMBERED.match(said):
        return True
    found = analyse(said)
    is_dated = not found.kinds.isdisjoint({"date", "time", "money"}) or _AT_TIME.search(plainly) is not None
    return is_dated or bool(found.slots)
