"""What an English sentence must say, and what must not be in it, to be understood on its own. Tables as in `patterns`.

PREFACE   comes before a request and is no part of it
OPENERS   begins a message that goes on from another
POINTERS  stands for something said elsewhere, or orders work on an answer
HALVES    is one half of a comparison; OTHER_HALF  begins the other
ASKS      begins a question or an order; ASKS_INSIDE  does so after what was put in front
"""

import re

from proxy.language.phrases import phrases, words
from proxy.reuse.standing.sentence import Grammar, Sentence, Vocabulary
from proxy.reuse.standing.vocabulary import FUNCTION_EN, NOUNS_EN, PLAIN_EN, UNIQUE_EN

PREFACE = """
hi | hi there | hello | hey | hey there | hi everyone | good (morning|afternoon|evening) | thanks | thank you | please
quick question | a quick question | (another|a new|one more|an easy|a different) (question|topic)
here's (another|a new|one more|an easy) (question|one) | by the way | okay | ok
changing the subject | change of (subject|topic) | new (question|topic) | on another (note|topic) | well | alright
thanks (for that|a lot|so much) | if you don't mind | thanks a bunch | cheers | thanks in advance
"""

OPENERS = """
and | or | but | so | then | also | because | too | now | yes | yeah | yep | no | nope | sure | right | again | plus
what about | how about | what if | how come | why not | how so | as an? | only | just | not | instead | besides
continue | go on | more | same | except | without | with | for (?!(how|what|which|whom) ) | i (meant|mean) | mine
anything else | what else | who else | oh | interesting | still | even | maybe | actually | otherwise | in that case
"""

_NOT_A_NOUN = "is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|to|and|or|in|on|at|for|with|from\
|by|of|than|as|if|when|so|not|but|mean|means|work|works|happen|happens|again|shorter|simpler|too|i|you|we|[.?,]"
_META = "steps?|options?|points?|parts?|paragraphs?|sentences?|lines?|sections?|answers?|examples?|items?|ideas?\
|questions?|methods?|lists?|tables?|versions?|responses?|suggestions?|explanations?|ones?"
_POINTERS = f"""
its? | it's | it'll | itself | they | they're | them | their | theirs | themselves | he | he's | him | his | himself
she | she's | her | hers | herself | this | these | those | here
there(?<!(is|as) there)(?<!(ar|er)e there)(?! (is|are|was|were) )
there(?= [.?,]) | there to | nearest | closest(?! to )
(is|are|was|were|do|does|did|can|could|will|about|of|with|for|in|on|like|than|what's|to|do|mean|explain|say|from) that
(translate|repeat|shorten|rewrite|change|make|put|why|how|how's|by|after|before|at|into|all|not|isn't) that
that(?= ({_NOT_A_NOUN}) ) | that's | former | latter | ones | such | (which|the|a|an|that|every|each) one
[a-z]+ one(?= [.?,]) | one(?= ({_NOT_A_NOUN}) ) | (do|does|did|doing) so | so(?= [.?,]) | the same(?! [a-z]+ as )
same as | others? | another | else | instead(?! of ) | too(?= [.?,]) | also | either(?= [.?,]) | neither(?= [.?,])
again | afterwards | anymore | beforehand | previous(ly)? | above(?= [.?,]) | mentioned | both
(these|the|all|any|either|each) (two|three|four) | (first|second|third|fourth|last|next|final|\\d+) ({_META})
({_META}) (\\d+|one|two|three|four|five|six|seven|eight|[abcd]) | (first|second|third|last|next)(?= [.?,]) | next
following | you (said|mentioned|told|gave|wrote|meant|suggested|mean) | your (last|previous|first|second|{_META})
i (meant|mean) | more(?= [.?,]) | (give|tell|show) me [a-z]* ?more
(some|any|many|few|a few|two|three|four|five|ten|[0-9]+) (more|others?)(?! than ) | more (examples|details|info)
an? (member|part|type|kind|version|example|side|reason|way|winner|limit|risk)(?= [.?,])
an? (problem|alternative|exception|difference)(?= [.?,]) | (instead of|rather than)(?! ([a-z]+ )+(in|for|to|when) )
examples?(?! (of|for) ) | what about | how about
what (type|kind|one|option|version|part)s? (is|are|has|have|was|were|does)
(compare|compares|differ|differs)(?= [.?,])
(get|got|has|have|is|was) (an|the|a different) (error|answer|result)(?= [.?,])
"""

_MORE = (
    "cheaper|faster|slower|better|worse|smaller|bigger|larger|longer|shorter|older|newer|younger|healthier|safer|easier\
|harder|higher|lower|simpler|stronger|weaker|heavier|lighter|darker|warmer|colder|taller|happier|nicer|earlier|later\
|similar|different|more (?!than )[a-z]+|less (?!than )[a-z]+"
)
_HALVES = f"""
(is|are|was|were|be|which|one|an?|the|any|something|[a-z]*thing|ones|make|use|there) ([a-z]+ )?({_MORE})
"""
_OTHER_HALF = "than | or | vs | versus | between | among | from | types | kinds | ways"

_ASKS = """
what | what's | whats | which | who | who's | whom | whose | where | where's | when | when's | why | how | how's | is
are | was | were | do | does | did | can | could | should | would | will | has | have | must | may | isn't | aren't
doesn't | don't | explain | define | describe | list | name | write | give me | tell me | show me | compare
translate | convert | recommend | suggest | summarize | summarise | calculate | tell us | teach me | solve | find
"""
_ASKS_INSIDE = """
, (what|what's|which|who|where|when|why|how|is|are|do|does|did|can|could|should|will|would|has|have)
(tell me|know|wonder|explain|show me|idea|describe|understand|learn) (what|which|who|where|when|why|how|if|whether)
(in|at|for|to|from|on|by|with|under|of|about) (what|which|whom|how)
"""

_UNIQUE_PAIRS = frozenset(("solar system", "periodic table", "human body"))
_ARTICLES = words("the")
_MENTIONS = words("word term command verb expression")  # "the word ephemeral"

_SUBJECTS = words("i you we one to people someone somebody i'd i'll you'd not can't cannot")
_INVERTING = words("is are was were do does did can could should would will has have had must may")
# "What is the capital…": no verb follows the noun, as it does in "is the museum open".
_IDENTIFIED = words("what who which where when")
_IDENTIFYING = words("is are was were")
_COMPLETES = words("of between that who which where when whose to behind")
_AMOUNT = "$0123456789"
_BOUNDS = words("in from at on for")  # completes what comes before it, if followed by something definite

_ASKS_FIRST = phrases(_ASKS, opening=True)
_ASKS_LATER = phrases(_ASKS_INSIDE)
_POINTS = phrases(_POINTERS)
_HALF = phrases(_HALVES)
_WHOLE = phrases(_OTHER_HALF)
_EXPLETIVE = re.compile(
    r" it (?:is |was |be )?(?:[a-z]+ )?(?:possible|safe|legal|illegal|true|necessary|better|worth|normal|okay|bad|good"
    r"|ok|hard|easy|difficult|dangerous|rude|healthy|common|cheaper|best|like|ever|wise|allowed|important|polite)"
    r"(?: (?:for|of) (?:a |an )?[a-z]+)?(?= (?:to|that|if|when|for) )"
    r"| how (?:long|much) (?:does|will|did|would) it (?:take|cost)(?: an? [a-z]+)?(?= (?:to|for) )"
    r"| what (?:does|did) it (?:mean|feel like|take)(?= (?:to|if|when) )| it (?:rain|snow)s?(?= )"
)
# The pronoun stands for what the sentence itself has named: "What is blockchain and how does it work?"
_RESUMED = re.compile(
    r"(?P<named> (?:what|who) (?:is|are|was|were) (?!the )[a-z0-9' -]+ and (?:how|why|where|when|what|who)[^,]*?"
    r"| (?:if|when) an? [a-z]+ .*?) (?:its?|they|them|their|him|her)(?= )"
)
# "What are popular hiking trails?": of what, or where?
_UNBOUNDED = re.compile(
    r" (?:what|which|who|are there|is there|were there|was there)(?: (?:is|are|was|were|were the|are the))?"
    r"(?: [a-z]+){0,2} (?:popular|important|typical|traditional|notable|famous|some|any|special)"
    r"(?!.* (?:in|of|for|to|between|from|around|near|at|on|about|with|against|that|who|which) [a-z])"
)
# Where one thing named is all there is to be said: what it is, how it works, what of it one wants to know.
_ABOUT_ONE = re.compile(
    r" (?:(?:what|who|where) (?:is|are|does|do)|what's|what (?!did)[a-z]+ (?:do|does)|what causes|who [a-z]+"
    r"|(?:how|why) (?:is|are|do|does|can|to)|how (?:long|many|tall|big|far|fast|old|heavy|deep|high|large) [a-z]+"
    r"|explain|define|describe|tell me|list|name|write|compare|translate|summari[sz]e|give me|show me|teach me"
    r"|recommend|suggest|convert) "
)
_OF_IT = words("of between about")
# "Can foreigners enroll?": in what?
_NOTHING_ELSE = re.compile(r" (?:do|does|did|can|could|will|would|should) [a-z]+ [a-z]+(?: [.,])+ $")
# What one does, and the past, are asked in a situation; how a thing is done is not.
_SITUATED = re.compile(
    r"^(?! how (?:do|can|to) ).* (?:(?:can|do|should|must|may|could|will|would|did|am|have) i|do we|should we"
    r"|did|was|were|had) "
)
_HOW_MUCH = re.compile(r" how (?:many|much) [a-z]+ (?:can|should|must|may|could|do) i ")
_SUPERLATIVE = re.compile(r"(?:most|best|worst|least|[a-z]{2,}est)$")
_PLURAL = re.compile(r"(?<!ou)(?<!s)s$")


def _asks(sentence: Sentence) -> bool:
    return _ASKS_FIRST.match(f" .{sentence.text}") is not None or sentence.says(_ASKS_LATER)


def _is_whole(sentence: Sentence) -> bool:
    anchors = sentence.anchors
    if _NOTHING_ELSE.match(sentence.text) and not any(map(sentence.is_name, sentence.tokens)):
        return False
    if len(anchors) != 1:
        return bool(anchors)
    return sentence.is_name(sentence.tokens[anchors[0]]) or _is_about_one(sentence, anchors[0])


def _is_about_one(sentence: Sentence, anchor: int) -> bool:
    """With one thing named, is it clear of what it is asked? Not in "Do I need a visa?", "What did critics think?",
    "Which members are alive?", "Are batteries included?"."""
    if sentence.says(_HOW_MUCH):
        return False
    if sentence.says(_SITUATED):  # a particular thing to do is the second one: "Can I freeze bread?"
        return any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
    of_it = any(word in _OF_IT for word in sentence.tokens[max(anchor - 3, 0) : anchor])
    return of_it or _ABOUT_ONE.match(sentence.text) is not None


def _points(sentence: Sentence) -> bool:
    text = _RESUMED.sub(r"\g<named>", _EXPLETIVE.sub("", sentence.text))
    if _POINTS.search(text) or _UNBOUNDED.match(sentence.text):
        return True
    if sentence.says(_HALF) and not sentence.says(_WHOLE):
        return True
    return any(token in _ARTICLES and not _is_told_which(sentence, at) for at, token in enumerate(sentence.tokens))


def _is_told_which(sentence: Sentence, article: int) -> bool:
    """Does the noun phrase that begins with this article say which one it means?"""
    tokens = sentence.tokens
    end = article + 1
    while sentence.token(end)[:1].isalnum() and tokens[end] not in FUNCTION_EN:
        end += 1
    phrase = tokens[article + 1 : end]
    if sentence.token(article + 1) in UNIQUE_EN or " ".join(phrase[:2]) in _UNIQUE_PAIRS:
        return True
    if not phrase:
        return False
    completed = sentence.token(end) in _COMPLETES or (
        sentence.token(end) == "and" and sentence.token(end + 2) in _COMPLETES
    )
    named = any(sentence.is_name(token) or token[0].isdigit() for token in phrase)
    if phrase[0] in _MENTIONS and len(phrase) > 1:
        return True
    if _is_subject(sentence, article):  # its verb can't be told from its noun
        general = sentence.is_general(phrase[0]) and not sentence.is_name(phrase[0])
        return sentence.token(end) == "of" or (named and not general)
    if len(phrase) == 1 and sentence.is_general(phrase[0]) and not completed:
        return _is_bounded(sentence, end)  # "the Museum" is as bare as "the museum"
    return named or completed or _is_bounded(sentence, end) or _describes(sentence, phrase)


def _is_subject(sentence: Sentence, article: int) -> bool:
    before = sentence.token(article - 1)
    identifying = before in _IDENTIFYING and sentence.token(article - 2) in _IDENTIFIED
    return before in _INVERTING and not identifying


def _is_bounded(sentence: Sentence, end: int) -> bool:
    bound = sentence.token(end + 1)
    definite = sentence.is_name(bound) or bound in ("a", "an", "my") or bound.endswith("ing") or bound[:1] in _AMOUNT
    return bound != "" and sentence.token(end) in _BOUNDS and definite


def _describes(sentence: Sentence, phrase: list[str]) -> bool:
    """Is it a compound of particular nouns ("the stock market"), or the most of its kind ("the largest planet")?"""
    while phrase and phrase[-1] in PLAIN_EN:
        phrase = phrase[:-1]
    if len(phrase) < len(("stock", "market")) or sentence.is_general(phrase[-1]):
        return False
    if _SUPERLATIVE.match(phrase[0]):
        is_adjective = phrase[0] in ("most", "least") and not phrase[2:] and not _PLURAL.search(phrase[1])
        return not is_adjective
    return phrase[0] not in PLAIN_EN and not sentence.is_general(phrase[0])


GRAMMAR = Grammar(
    Vocabulary(NOUNS_EN, FUNCTION_EN, PLAIN_EN, is_verb=lambda _, before: before in _SUBJECTS),
    _asks,
    _is_whole,
    _points,
)
