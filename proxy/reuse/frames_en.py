"""English frames: tables that `frames` works by, described there."""

from proxy.language.phrases import prefix_tree

_ONE = "(i|you|u|we|one|someone|somebody|ya|a person)"
_YOU = "(you|u|ya|anyone|anybody|someone|somebody)"
_DOING = "[a-z]{2,}ing "
_ABOUT = "( (about|as to|as regards|regarding|concerning|on|of|into|with (regard|respect) to))?"
_SOFTLY = "( (please|pls|kindly|possibly|perhaps|maybe|just|also))*"
_VERY = "((just|really|also|so|very|most|much|only|often|still|quite|simply|greatly|dearly|extremely|deeply|ever so) )*"

# What a clause begins with that asks; and what the name of a thing does not begin with.
_ASKED = " ((in|at|on|to|for|with|from|by) )?(how|what|which|why|when|where|who|whom|whose) "
_THING = """(?= [a-z0-9"'])(?! (in|to|of|on|at|by|for|from|with|without|like|as|if|whether|step|using|briefly|it|this\
|that|these|those|me|us|them|your|yourself|everything|something|anything|more|again|why|how|what|when|where|which|who\
|and|or|but|so|not|i|you|a (bit|little|joke|story)) )"""

_GREETS = prefix_tree("""
hi( there)? | hello( there)? | hey( there| man)? | hiya | yo | ok | okay | alright | so | um+ | uh+ | hmm+ | c'mon
oh
come on | sorry( but)? | pardon me( but)? | excuse me( but)? | i beg your pardon( but)? | and | but | dude | bro
mate
buddy | quick question | question | btw | by the way | also | lol | sir | madam | well | anyway | just | now then
fam
ugh | listen | guys | folks | honestly | seriously | basically | right then | go on | i pray you | fyi
""")
_BEGS = prefix_tree(f"""
(can|could|would|will) you (please|kindly) | please | kindly | pls | plz | be so (kind|good) as to
would {_YOU} (be (so|very) (kind|good) (as )?to|be able to|be willing to|mind|be so kind and|care to)
do you think you (can|could) | (would it be|is it) possible for {_YOU} to
i (beg|ask|request|implore|urge) (of )?you to
any (chance|way|possibility) {_YOU} (can|could|would|might)
is there (any|a) (chance|way|possibility) {_YOU} (can|could|would|might)
i (would|want|need|should)( like| love)? you to | (i was|i am|was|am) hoping (that )?{_YOU} (can|could|would|might)
it would be (so |very |really )?(great|nice|helpful|kind|good|lovely|useful) (of you )?if you (can|could|would)
i (was |am )?(just )?(wonder|wondering|wondered) (if|whether) {_YOU} (can|could|would|might){_SOFTLY}
wondering (if|whether) {_YOU} (can|could|would|might){_SOFTLY}
i (would|should|shall) be {_VERY}(grateful|obliged|thankful|glad|indebted|delighted) if you (can|could|would|were to)
i (would|should) {_VERY}appreciate it if you (can|could|would)
""")
# These may as well begin a question of their own ("can you freeze milk"): frames only before a verb of telling.
_MAY_YOU = prefix_tree(f"""
(can|could|would|will|might|may) {_YOU}{_SOFTLY} | (do|does|did) {_YOU}( here)?( happen to)?{_SOFTLY} | mind
(would|might) {_YOU} happen to | (anyone|anybody|someone) (here )?able to | (might|may|could|can) i trouble you to
would it be too much (trouble|to ask) (for you )?to | would you do me the (courtesy|kindness|favou?r|honou?r) of
(can|could|would) you do me a (favou?r|solid) and | do me a (favou?r|solid) and | be a (dear|pal|love|star|friend) and
is there any chance you | any chance you | i would (really |greatly )?appreciate it if you | you (can|could) | do
would you be (so kind|kind enough) (as )?to | (would it be|is it) possible to
""")
_TELLS = prefix_tree("""
(tell|telling|show|showing|teach|teaching|advise|advising|enlighten|enlightening|inform|informing|remind\
|educate) (me|us)
(explain|explaining|describe|describing|clarify|clarifying|outline|outlining)( (to|for) (me|us))? | advise
confirm | told me
(let|letting) (me|us) know | (walk|walking|talk|talking|run|running|guide|guiding|take|taking) (me|us) through
specify
(help|helping) (me|us)( to)? (understand|figure out|work out|know|learn|find out|see|grasp) | know | remember | recall
(give|giving|provide|providing|offer|send) (me |us )?(with )?(an |some |any |the |a )?(explanation|info|information\
|details\
|advice|guidance|instructions|pointers|insight|clarity|clarification|directions|rundown|lowdown|tips|hints)
gimme (the |some |a )?(rundown|lowdown|info|details|tips) | lemme know | (fill|clue) me in | bring me up to speed
(shed|shedding) (some |any )?light | have (any|an|some|a) (idea|clue) | elaborate | spell out | indicate
""")
_EXPLAINS = prefix_tree("""
(explain|explaining|define|defining|clarify|clarifying)( (to|for) me)? | elaborate on | help me( to)? understand
(shed|shedding) (some )?light on | (tell|telling|teach|teaching|enlighten|inform) me (about|on|of|as to|regarding)
(give|giving|provide)( me)?( with)?( an| some| the| any)? (explanation|definition|information|info|details|rundown\
|lowdown) (of|on|about)
gimme the (rundown|lowdown) on | (fill|clue) me in on | bring me up to speed on
""")
_NAMES = "((tell|telling|inform|remind) (me|us)( of| about)?|(let|letting) me know|know|remember|advise)"
_LEARN = """(know|understand|learn|find out|ask|enquire|inquire|figure out|work out|hear|be told|be informed\
|get clear\
|knowing|understanding|learning|finding out|hearing|figuring out|request (information|advice)|grasp|make sense of\
|(get|wrap) my head (a?round))( more| you| from you)?"""
# Of these, what follows is the thing itself; whoever wants to learn French does not ask what French is.
_LEARN_THING = """((know|understand|grasp|make sense of|understanding|(get|wrap) my head (a?round)\
|find out)( more about| about)?\
|(learn|ask|enquire|inquire|hear|be told|be informed|learning|hearing)( more| you)? (about|as to|regarding|concerning\
|into))"""
_INFO = """((an?|some|any|your|further) )?(explanation|account|information|info|details|clarification) (of|on|about\
|regarding|as to)"""


def _wants(learn: str) -> str:
    return prefix_tree(f"""
i (would |should |do |did )?{_VERY}(like|love|want|need|wish|desire|wanna|gotta|try|have|care|hope) to {learn}
i am {_VERY}(trying|looking|hoping|dying|keen|curious|eager|interested|struggling) (to|in) {learn}
help me( to)? {learn}
(trying|want|need|would like|would love|looking|hoping|curious|dying) to {learn}
(i wanna|wanna|gotta|i gotta) {learn}
(can|could|may|might|shall) i ((please|just|kindly|possibly) )*{learn} | let me {learn} | i must {learn}
it would be (useful|helpful|good|great|nice|interesting|handy) to {learn} | we (would like|want|need) to {learn}
(i|we) (would|should|shall) be {_VERY}(grateful|obliged|glad|indebted|interested|curious)( to you)? to {learn}
one (would|should) like to {learn} | (could|may|might) one {learn} | (i write|i am writing) to {learn}
""")


_WANTS_INFO = prefix_tree(f"""
(i|we) (would|should) {_VERY}(appreciate|like|love|value|welcome) {_INFO}
(i|we) (want|need|require|seek|request) {_INFO}
(i|we) (would|should|shall) be {_VERY}(grateful|obliged|glad|indebted)( to you)? (to receive|for) {_INFO}
i am (seeking|after|looking for) {_INFO} | any chance of {_INFO}
""")
_UNSURE = prefix_tree(f"""
i (wonder|wondered) | i (was|am|have been) {_VERY}(wondering|curious|unsure|uncertain|confused) | wondering | curious
just (wondering|curious) | any (idea|clue|thoughts) | (got|have|has) any (idea|clue) | no (idea|clue) | not sure
(do|would) (you|u) have any (idea|clue) | (you|u) (got|have) any (idea|clue)
(anyone|anybody|someone|somebody) knows?
(does|has) (anyone|anybody|someone) (have|got) any (idea|clue) | (you|u|y'all) (guys )?(happen to )?know | remind me
i (do|did|can|could) not {_VERY}(know|understand|get|remember|recall|see|figure out|work out) | i have no (idea|clue)
i am not {_VERY}(sure|certain|clear) | i (always |keep |just |totally )*(forget|forgot|forgetting) | pray tell
(my|the|one|a quick) question( is)? | (any1|d'you|dya|u) knows? | what i (want|need|would like|wanna) to know is
i ask
i ask you | asking
""")

OPENING = f"""(({_GREETS}|please|kindly)( ,)? )*(\
(({_BEGS}|{_MAY_YOU}) )?({_TELLS}{_ABOUT}(<>(?={_ASKED})|<how to>(?= {_DOING})| (if|whether)<>(?! you ))\
|{_EXPLAINS}( the (concept|notion|idea) of)?<what is>{_THING}\
|{_NAMES}<what is>(?= the )\
|(teach|show) me to<how to>)\
|({_wants(_LEARN)}|{_UNSURE}){_ABOUT}(<>(?={_ASKED})| (if|whether)<>(?! you ))\
|({_wants(_LEARN_THING)}|{_WANTS_INFO})<what is>{_THING}\
|(can|could|may|might) i (please |just )?ask( you)?( (something|a question))?<>\
|{_BEGS}<>(?! (if|to|it|not) )\
|(the )?definition of<what is>\
|(the )?(best|right|correct|proper) way to<how to>\
|(the )?(steps|procedure|instructions|process|tips|advice) ((on )?how to|to|(for|on|of)(?= {_DOING}))<how to>\
|i (need|want|am looking for|am after) (a|some|the)( best| good)? (way|ways|method) to<how to>\
|({_GREETS}|please|kindly)<>(?= (how|what|which|why|when|where|who|is|are|do|does|did|can|could|should|i|any|will\
|[.?,]) ))"""

_GOOD = """((best|good|right|correct|proper|great|recommended|ideal|usual|standard|effective|most effective\
|appropriate|various|different|possible|necessary|required|exact|actual|basic|decent|optimal|preferred) )*"""
_WAY = """(ways?|methods?|steps?|procedures?|process|approach|technique|techniques|strategy|strategies|trick|secret\
|instructions?|course of action|tips|commands?)"""
_TAKE = f"""( (involved|required|needed|necessary|to take|to follow|(that )?{_ONE} (should|must|can|need to|have to)\
( take| follow| use)?))?"""
_TO = f"((in order )?to|(for|of|in|when|on)(?= {_DOING}))"
_TIPS = "(good )?(tips|advice|tricks|ideas|suggestions|pointers|hints|recommendations|guidance|instructions)"
_EVER = "(exactly|precisely|on earth|the (hell|heck|fuck|devil)|tf)"
_TERM = "the (?:word|term|phrase|expression|acronym|abbreviation)"

ANYWHERE = {
    "how to": f"""
how (can|do|should|could|would|might|may|shall|must|does) {_ONE}( go about| be able to| best)?(?! (feel|look|like) )
how (am|are|is) {_ONE} (supposed|able|meant|expected) to | how (to best|best to|to go about)
(what|which) (is|are|would be) (the |a |an |some )?{_GOOD}{_WAY}{_TAKE} {_TO}
(what|which) {_GOOD}{_WAY} ((should|must|do|can|would|could|have|need) {_ONE} ((need|have|got) to )?(take|follow|use\
|go through|adopt)|(is|are) (needed|required|necessary|used|involved|there|recommended)) {_TO}
what (should|do|can|must|could|would|might|shall) {_ONE} ((need|have|got) to |best )?do {_TO}
what (needs|has|is) to be done {_TO} | what does it take to | by what means (can|do|should|may) {_ONE}
what (would|do|could) you (advise|recommend|suggest) {_TO}
(any|some) {_TIPS} {_TO} | (got|have|need) (any|some) {_TIPS} {_TO} | (any|some) {_TIPS} on how to
do you have (any|some) {_TIPS} {_TO} | are there (any|some) {_TIPS} {_TO} | what can be done {_TO}
(is|are) there (any|some|a) ways? (that |in which )?{_ONE} (can|could) | is there anyway (to|{_ONE} (can|could))
(is|are) there (a|any|some) (good |proper |correct )?(way|ways|method|methods|trick) (for (me|us|you|one) )?{_TO}
in (what|which) (way|ways|manner) (can|do|should|could|might|may) {_ONE}
""",
    "what": """
(can|could|would|will) (you|anyone|anybody|someone) (please )?(suggest|recommend)( to)?( me)? (some|any|a(?= good ))
please (suggest|recommend)( to)?( me)? (some|any|a(?= good )) | (suggest|recommend) me (some|any|a(?= good ))
""",
    "why": """
how come | for what reasons? | why (is|was) it that | the reasons? (that|why|for which) | why (exactly|precisely)
what (is|was|are|were) (the )?(main |real |underlying |exact )?(reasons?|explanation|rationale)\
( (that|why|for which|for|behind))+
what is the (main )?reason(?= (the|my|a|an|some|our|your) )
""",
    "what causes": """
(what|which) (is|are|was|were) (some of )?(the )?((main|major|(most )?common|possible) )?causes? (of|for|behind)
""",
    "what is": f"""
what is (the )?((exact|precise|actual) )?(definition of( {_TERM})?|meaning of {_TERM}) | what is meant by( {_TERM})?
what is the deal with | what do you (mean|understand) by( {_TERM})?(?! (that|this|it|these|those) )
what {_EVER} is | what is {_EVER} | wtf is | what even is
what is (the )?(concept|notion|idea) of | what is up with | what (can|could) you tell me about
what do you know about
how would you (explain|define)(?= (the |a |an )?[a-z]+( [a-z]+)? [.?,] )
""",
    "when": """
at (what|which) (time|hour|moment) | when (exactly|precisely)
what time(?= (is|are|was|were|do|does|did|can|should|will|would) )(?! is it )
""",
    "when is the best time": """
what is the (best|right|ideal|perfect|optimal|appropriate) (time|moment)(?= (to|for) )
when is the (right|ideal|perfect|optimal|appropriate) (time|moment)(?= (to|for) )
""",
    "where": "(in|at) (what|which) (place|location|spot) | whereabouts | where (exactly|precisely|on earth|the hell)",
    "how": f"how {_EVER} | (in|by) what (way|manner)(?= (is|are|was|were|does) )",
    "how often": "how (frequently|regularly) | with (what|which) (frequency|regularity) | at what intervals",
    "how many": "what (is the )?number of(?= [a-z]+s ) | what is the number of",
    "how long take": """
how (long|much time) (does|will|would|might|can|should) it (usually |typically |normally |generally )?take\
( for| me| you| one| us)?
how much time (is|would be) (needed|required)
""",
    "how long last": "what (is )?(the )?(usual |typical |normal )?duration (of|has|does|do)",
    "how long": "how much time | (what|which) (length|amount|period) of time | for how long",
    "how much cost": """
what (is|are) (the )?(price|cost|prices|costs) (of|for) | how (expensive|pricey|costly) (is|are)
(how much|what) (does|do|will|would) it cost( (for|me|you|one|us))?( to)?
""",
    "what is the difference between": """
what (is|are) (the )?(differences?|distinctions?|diff) (between|among|amongst|of|in|btw)
what (is|are) (the )?(main|major|basic|key|exact|actual|real) differences? (between|among|of|in)
the (differences?|distinctions?|diff) (between|among)
""",
    "can": f"""
(is|would) it (be )?(possible|feasible|ok|okay|alright|fine) (for ({_ONE}|me|us) )?to | (am|are|is) {_ONE} able to
""",
    "what to do": f"""
what (do|should|can|must|would|could|shall) {_ONE} ((need|have) to )?do(?= (if|when|about|with|in case) )
what (am|are) {_ONE} supposed to do(?= (if|when|about|with|in case) )
what {_ONE} (do|should|can|must|could)( do)?(?= (if|when) )
""",
    "what is it like": """
how (does|did|would|do|will) it feel(?= (like )?(to|for|when|being|[a-z]+ing) )( like)?
how (is|was) it( like)?(?= (to|being|living|working|studying) )
what (does|did|would) it feel like | what it is like | what is the feeling of
""",
    "": """
what is(?= (how (long|much|often|many)|what (is|causes)|why) )
(do you think|is it (really |actually )?true)( that)?(?= (?!about |of |in )[a-z])
(please|pls|plz|kindly|thanks|thank you|thx|cheers|mate|bro|dude|lol|thanks in advance|by any chance)(?= [.?,] )
if (you do not mind|i may( ask)?|you would|you please)(?= [.?,] )
(in your opinion|according to you|in your view|in your personal opinion|generally speaking)( ,)?
""",
}

_SLOT = r"((?:(?!(?:and|or) )[^ ,.?]+ ){1,8}?)"
_ANY = r"((?:[^ ,.?]+ ){1,8}?)"
# "What does the flag mean" asks for more than what the flag is; a word and its thing are one.
_WORD = (
    r"((?!(?:a|an|the|my|your|his|her|this|that|these|those|it|life|love|you|i|dreams?|[a-z]+ing) )(?:[^ ,.?]+ ){1,4}?)"
)
_DIFFERENCE = "what is the difference between"
AROUND = {
    rf" (explain|clarify|define) {_ANY}(?:to|for) (?:me|us)(?= [.?,] )": r" \1 \2",
    rf" what is {_ANY}all about(?: then)?(?= [.?,] )": r" what is \1",
    rf" what do(?:es)? (?:{_TERM} )?{_WORD}(?:actually |really |exactly )?mean(?= )": r" what is \1",
    rf" what is (?:the )?meaning of {_WORD}(?=[.?,] |in )": r" what is \1",
    rf" how (?:is|are|does|do) {_SLOT}(?:different (?:from|than|to)|differs? from) ": rf" {_DIFFERENCE} \1and ",
    rf" how (?:is|are|does|do) {_SLOT}and {_SLOT}differ(?:ent)?(?= [.?,] )": rf" {_DIFFERENCE} \1and \2",
    rf" what (?:distinguishes|differentiates|separates) {_SLOT}from ": rf" {_DIFFERENCE} \1and ",
    rf" what sets {_SLOT}apart from ": rf" {_DIFFERENCE} \1and ",
    rf" how much (?:do|does|will|would|is|are) {_ANY}cost(?= )": r" how much cost \1",
    rf" what (?:do|does|will|would) {_ANY}cost(?= )": r" how much cost \1",
    rf" how long (?:do|does|will|would) {_ANY}last(?= [.?,] )": r" how long last \1",
    rf" how long (?:do|does|will|would) {_ANY}take(?= (?:[.?,]|to) )": r" how long take \1",
}
