"""How English tells a fact about its speaker, and what looks like one.

The tables, their names and their form are those of `signals_es`.
"""

REMEMBER = """
remember (that|i|i'm|i've|my|we|we're|our|the|to (always|never)|everything|this|it|me|,|[.])
(please|pls) remember (?!(when|how|what))[a-z]+ | (keep|bear) (this |that |it |the |my )?([a-z]+ )?in mind
(keep|have) (that|this|it) (one )?handy | (make|take) (a )?note (of|that|:) | note (that|:|i|my) | (please )?note down
jot (down|this) | (don't|do not|never) (ever )?(let me )?forget | just so you know | so you know | for the record
fyi | for your information | for future reference | (save|store) (this|that|it|my) | you should know | worth knowing
important : | don't lose (that|this) | put (this|that) on record | memorize | memorise | log (this|that)
i should mention | i want you to (know|remember) | let it be known | be aware
"""

STANDING = """
from now on | from here on( out| in)? | going forward | from this (point|day) (on|forward)? | henceforth
in (the )?future , | moving forward
(please )?(always|never) (?!(been|had|was|were|did|liked|got|said|is|are|mix|to|pay|bother|kill|deploy|
  trust))[a-z]+ (me|it|your|the|my|with|in|at|to|a|an|any|every|under|before|only)
no (need to|more) | (call|address|refer to) me
i('d| would) (like|love|want|prefer) (you|your|my|the|it|all|answers|replies)
i (want|need|like|prefer|expect) (you|your|my|all|the|every|any|answers|replies|code|prices|temperatures|summaries)
(when|whenever|every time|any time|if) (you|i) [a-z']+ ([a-z0-9']+ ){0,8}, (?!(i|it|we|you|he|she|they|the|is|what|
  how|should|do|can) )[a-z]+
(answers?|replies|responses|summaries|examples) (work|works|suit|should|must|need to|have to) | as a rule | spare me
you can skip | you don't (need|have) to | straight to the | there's no need to
"""
STANDING_OPENS = """
(please |just )?(don't|do not|never|stop|quit|avoid|skip|always) (?!(forget|remember|worry|know)) ?[a-z]+
no [a-z]+ (please|,)
(please |just )?(keep|limit|cap) (your|the|all|every|replies|answers|responses|it|things|everything)
(please |just )?(call|address) me
(please )?(use|stick to|write|answer|reply|respond|speak|format|quote|give me|show me) (?=.*( only| always|instead of|
  rather than| not| in (british|american|spanish|english|plain|metric)| every time| whenever| when you| when i))
(when|whenever|every time) (you|i) | (leave|cut) out | [a-z]+ ([a-z]+ )?in [a-z]+ , please
[a-z]+ ([a-z]+ )?in [a-z]+ please | start (every|each|your) | end (every|each|your)
(explain|treat) [a-z]+ (to me )?(like|as if)
"""

DECIDES = """
(i|we)( have|'ve| had)?( just| finally| already)? (decided|settled|chosen|chose|picked|opted|committed|agreed|booked|
  signed|hired|dropped|cancelled|canceled|scrapped|ditched|ruled|landed|switched|migrated|moved|swapped|bought|
  enrolled|resolved|elected|finalised|finalized|concluded|scheduled|rebooked)
(i'm|i am|we're|we are)( definitely| officially| now| just| not| all| also| still)* (going with|going for|
  going to use|using|doing|dropping|switching|moving|keeping|ditching|sticking|settling|choosing|picking|painting|
  buying|flying|pushing|migrating|staying|taking|replacing|leaving|renting|selling|cancelling|canceling|getting rid|
  adopting|signing|changing|skipping|hosting|holding|naming|calling|writing it|building it|splitting|set on|launching)
(we'll|i'll|we will|i will|we shall) (use|go with|go for|sell|ship|keep|stick|take|do it|call it|name it|host|hold|
  buy|rent|fly|write it|build it|have the|drop|pay|paint|switch|move|run|deploy|start with|be using|be going)
(i|we) said yes | (it's|all|that's|already) agreed
let's (lock|go with|use|stick|settle|call it|make it|do|keep it|commit) | go with
(it's|it is|that's|that is) (settled|decided|final|official|a done deal) | final (answer|decision)
lock(ed)? (it )?in | made up my mind | made up our minds | made the call | change of plans? | changed (my|our) minds?
the (decision|verdict|plan) is | decision made | done deal | [a-z]+ it is [.]
(is|are|got|was|were) (decided|chosen|cancelled|scrapped|confirmed|non-negotiable|off the table|locked in|settled)
instead of | rather than | signed up for | signed off on | gets? (painted|replaced|the go-ahead|moved|renamed)
still going with | still on | (the )?victim is
"""
DECIDES_OPENS = """
(ok|okay|great|right|done|alright|so) , (we're|i'm|it's|let's|we'll|go with|final)
(decided|settled|chosen|picked|confirmed|agreed) (on|:|,)
"""

PREFERS = """
i (really |much |usually |always |also )?(prefer|like|love|enjoy|hate|dislike|loathe|detest|adore|favor|
  favour) (?!(that one|this one|it|the (idea|second|first|sound)|that idea)[ .])[a-z]+
i('d| would) (much |sooner )?(rather|prefer|sooner) | (can't|cannot|can not) stand
i('m| am) (more of an?|not a fan|a fan|not big|big on|not into|into|partial|fond)
my (favorite|favourite|preferred|preference)
i (don't|do not) (like|enjoy|eat|drink|want|use|take|do|buy|care for|wear|trust) (?!(it|that|this) [.,])[a-z]+
i (only|never|always|usually|exclusively) [a-z]+ | (drives|drive) me (crazy|nuts|mad|up the wall)
i want (something|somewhere|someone) | no [a-z]+ please | doesn't agree with me | bothers? me | annoys? me
i find [a-z ]+ (annoying|confusing|hard|easier|harder|tedious) | nothing (before|after|with)
works? (best|better) for me | our (ceiling|limit|maximum) | my (ceiling|limit|maximum)
"""

CHANGES = """
actually | instead | no longer | not any ?more | any ?more [.,]
(moved|bumped|pushed|changed|went|goes|going|switched|raised|lowered|cut|shifted|dropped|
  increased) (it |that |them )?(up|back|down|out|to|from|over)
(is|are|it's|i'm|we're|starts?|runs?|due|will be|should be|stands at) now
now (is|are|due|on|starts?|runs?|live|work|at|in|it's|i'm|we're|uses?|we use|the|do|costs?) | now (on|at|in)
(the )?[a-z]+ (has |have |had )?(changed|moved|shifted) | change of plans? | changed (my|our) minds? | scratch that
correction | update (on|:|,) | (switching|switched|moving|moved|migrating|migrated|changing) (from|to|over) | dropping
dropped | ditch(ed|ing) | cancel(l)?ed | used to | rather than | i left | i quit | got promoted
(should be|is|are|was|it's) [a-z0-9' ]+ , not | not [a-z0-9]+ [.,] | pushing it | postponed | delayed | rescheduled
brought forward | replaced | replacing | over [a-z]+ now | (goes|went) up | these days
new (deadline|budget|date|job|plan|price|limit|address|ceiling) | turns out | i('ve)? moved | we('ve)? moved
started a new | as of
"""
KEEPS = """
still (?!(not|don't|can't|haven't|waiting|deciding|unsure|thinking))[a-z0-9-]+
(remains?|stays?|unchanged|same as before) | (hasn't|haven't|didn't) changed? | sticking with | as (i|we) said
to confirm | confirming | like i said | no change
"""

IMAGINE = """
imagine | suppose | supposing | pretend | let's (say|pretend|imagine|assume) | assume | assuming
say (i|we|you) (had|were|have|was) | hypothetically | picture (this|yourself|me) | what if | role ?play | act as
you are an? | in a world where | for the sake of argument
"""
HYPOTHETICAL = """
if (i|we|he|she|they|you|it|the|my|our|that) (?!(ask|send|give|paste|write|say|share|request|forget|tell|show))[a-z']+
maybe | perhaps | (i|we|it|you|they|he|she) might | might (leave|move|be|have|take|go|try) | possibly | someday
some day | one day (i|we) | i wish | would be (nice|cool|great|fun) | i could (see|maybe|always) | who knows
who can say | not sure | unsure | no idea | (can't|cannot|couldn't) (decide|choose|make up)
(haven't|hasn't|not|yet to|still) (yet )?(decided|settled|deciding|chosen|figured) | undecided
thinking (about|of|it over) | considering | wondering | daydream[a-z]* | toying with | tempted
(i'd|i would|we'd|we would) (?!(rather|prefer|like|love|sooner|want))[a-z]+ | torn between | whether | looking into
just (kidding|joking|an idea|a thought|spitballing|thinking) | in theory | i guess | on the fence | i don't know
don't know (if|whether|what|yet|which) | debating | dream of
"""
HYPOTHETICAL_OPENS = """
if (?!(i|you) (ask|send|give|paste|write|say|share|request)) [a-z]+ | were i
"""

PASSING = """
furious | proud | jealous | grieving | homesick | (i'm|i am) hurt | panic attack | i (cry|cried|regret|feel)
the thought of | the way i look | hate (myself|that about) | today | tonight | right now | at the moment
this (morning|afternoon|evening|second|minute)
just (got|woke|arrived|sat|finished|walked) | minutes out | in a (minute|bit|sec)
(i'm|i am|im|feeling|i feel|we're)( so| really| absolutely| a bit| completely| too| pretty| just| super| totally|
   utterly| kind of| very)* (tired|exhausted|hungry|starving|freezing|cold|hot|sick|sleepy|bored|stressed|happy|sad|
  late|stuck|busy|wiped|beat|drained|knackered|jet-lagged|hungover|nervous|excited|in line|at the|
  on the (bus|train|subway|plane)|melting|soaked|swamped|dying|overwhelmed|confused|lost|annoyed|dizzy|thirsty|burnt|
  shattered|running late|feeling|anxious|worried)
(it's|it is) (raining|pouring|snowing|freezing|so|really|boiling|too|cold|hot|loud|late|nearly|almost|been a|dark)
started to (rain|snow) | my (head|back|feet|stomach|eyes) (hurts?|aches?|is killing) | a headache
been a (long|rough|bad) | the worst cold | yesterday i | since this | last night | is (down|on fire|broken|acting up)
(are|is) on fire | out there | in here [.]
"""

LATELY = """
yesterday | ago | (days|weeks|months) back | the other day | last (night|week|weekend) | over the weekend | again
"""

REPORTED = """
according to (you|your|him|her|them)
you (just |also |once |previously |already )?(said|told|mentioned|claimed|wrote|suggested|stated|assumed|recommended|
  implied|listed|described|made that|noted|called)
as you (said|say|mentioned) | they say | people say | i('ve)? (heard|read) (that|somewhere) | supposedly
rumou?r has it | so you think | (your|the) (last|previous|earlier) (message|answer|reply)
i never (said|told|mentioned) | (didn't|did not) come from me | apparently you | everyone says | experts say
"""

OTHERS = """
(my|a|an|one of my|one of our|the|our|some|another) (?!(sister|brother))([a-z]+ )?(neighbou?r|uncle|aunt|cousin|
  roommate|flatmate|friend|buddy|coworker|co-worker|colleague|classmate|guy|girl|woman|man|lady|dude|teacher|
  professor|landlord|barber|ex|acquaintance|influencer|podcaster|brother-in-law|sister-in-law|boss's|friend's|
  engineers|critique partner|tenant|stranger|kid|person|celebrity)s?('s)? (?!(is (called|named)|name is))[a-z]+
the (protagonist|narrator|character|hero|heroine|villain|sign|poster|manual|article|ad|banner)
in the (film|movie|book|novel|story|show|series|play|song|game) | everybody | most people | somebody | some people
nobody wants
(my|our) (brother|sister|mother|father|mom|dad|boss|husband|wife)'s (accountant|friend|boss|neighbou?r|boyfriend|
  girlfriend|dentist|doctor|landlord)
"""

TASK = """
(please )?(translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|edit|fix|correct|critique|analy[sz]e|review|
  explain|write|draft|give me|show me|tell me|list|make|create|generate|compare|convert|calculate|find|suggest|
  recommend|help|remind|describe|define|compose|outline|pick|read|check|send me|walk me|come up|add|turn|shorten|
  improve|comment|polish|expand|design|plan|name) (?!(always|only) )[a-z0-9"]+
can (you|we|i) | could (you|we|i) | would you | will you | (i need|i want|i'd like) (to|help|a|an|some)
i'm (looking for|trying to|hoping to)
"""

ASKS = """
(what|what's|which|who|who's|whose|whom|when|where|why|how|how's) (?!(you|i) (send|write|give|show|
  ask))[a-z']+ (?!.* , [a-z]+ )
(is|are|do|does|did|was|were|has|have|can|could|should|would|will|may) (i|it|you|we|they|he|she|there|this|that|the|
  my|an?) [a-z]+
any (ideas|tips|thoughts|advice|suggestions)
"""

CASUAL = """
ha | haha[ha]* | hah | lol | lmao
(you're|you are|ur) (an?|on|so|the|funny|hilarious|amazing|awesome|great|right|welcome|kidding)
thanks( a| so| again| for)? | thank you | cheers | sounds (good|great|like) | that (works|helps|made sense)
cool [.,] | made me laugh | (talk|see you|catch you) (soon|later|tomorrow)
(good|great|nice) (one|job|work|point|times) | i bruise | wild times | love it [.]
i'll (think|let you|try|check|draft|report) | what a [a-z]+ | news to me | before i go | going to (nap|go|sleep|sit)
"""

FAMILY = """
my (wife|husband|partner|spouse|fiance|fiancee|girlfriend|boyfriend|son|daughter|kids?|children|mother|father|mom|mum|
  dad|brother|sister|parents|grandmother|grandfather|grandma|grandpa|baby|twins|stepson|stepdaughter|toddler|niece|
  nephew|in-laws|sons|daughters|brothers|sisters|siblings)
my (dog|cat|pet|horse|parrot|rabbit|hamster|dogs|cats|puppy|kitten)
"""

SLOTS = (
    (
        "name",
        "personal",
        """
        my name is | my name's | my full name | i'm [a-z]+ , (?!(and|but|so|by|not|though|which|because|if|i))[a-z]+
        i go by
        """,
    ),
    ("nickname", "preferences", "(call|address) me | people call me | everyone calls me"),
    ("allergy-", "personal", "allerg(ic|y|ies) | intoleran(t|ce)"),
    (
        "diet",
        "personal",
        """
        (i'm|i am|i've been|i have been)( an?)? (vegan|vegetarian|pescatarian|celiac|coeliac|gluten-free|kosher|
          halal|keto)
        have celiac | i (don't|can't|never|do not|cannot) eat (meat|pork|gluten|shellfish|fish|animals)
        """,
    ),
    (
        "residence",
        "personal",
        """
        i live (in|with|on|near|alone|at) | we live (in|on|near) | i('ve)? moved (to|from|last|out|back|in)
        i'm (living|based) in | we moved to | i reside | i'm in [a-z]+ (these days|now) | we're based in
        """,
    ),
    ("origin", "personal", "i was (born|raised) | i grew up | i'm (originally )?from | i come from"),
    ("age", "personal", "(i'm|i am) [0-9]{2}(?= (years|and|,|[.]|year)) | i turn(ed)? [0-9]+"),
    ("birthday", "personal", "my birthday | i was born on"),
    (
        "job",
        "work",
        """
        i work (?!(out|better|best)) ?[a-z]+
        i'm (an?|the) ([a-z-]+ ){0,4}(engineer|nurse|teacher|doctor|lawyer|designer|developer|manager|lead|analyst|
          accountant|electrician|plumber|carpenter|librarian|researcher|scientist|writer|editor|journalist|chef|
          cook|driver|hygienist|dentist|therapist|architect|consultant|contractor|freelancer|student|professor|
          barista|mechanic|photographer|translator|pharmacist|paramedic|firefighter|officer|clerk|cashier|
          salesperson|realtor|programmer|technician|assistant|director|founder|owner|pilot|farmer|baker|welder|
          tutor|coach|vet|veterinarian|producer|musician|administrator|planner|adjuster|supervisor|coordinator|
          bookkeeper|surveyor|biologist|chemist|physicist|psychologist|counselor)
        i teach | i (run|own|manage|lead|drive) (an?|the|my) | my (job|role|title|employer|day job)
        as an? [a-z]+ (engineer|nurse|contractor) | got promoted | i (do|did) [a-z]+ for an? | started a new job
        i invoice | i freelance
        """,
    ),
    (
        "schedule-",
        "work",
        """
        (my|our) (shift|schedule|hours|freeze|office hours|day off|days off) | i'm off on | and off on | the freeze
        (we're|we are) open | i work [a-z]+ (through|to) [a-z]+
        """,
    ),
    ("boss", "work", "my (manager|boss|supervisor) (is|'s|name)"),
    (
        "budget-",
        "projects",
        """
        budget | (we|i) have [$€£][0-9.,]+ | (our|my|the) (rent )?ceiling | (our|my) (spending )?limit
        """,
    ),
    (
        "deadline-",
        "projects",
        """
        deadline | (is|are|due) due | due (on|by|date|in|the)? | target date | launch(es)? (date|is|on)
        appointment | exam is | the launch
        """,
    ),
    (
        "project-",
        "projects",
        """
        (i'm|i am|we're|we are) (currently |also |now )?(building|writing|studying|making|organi[sz]ing|planning|
          preparing|training|developing|renovating|restoring|designing|launching|drafting|translating|filming|
          recording|researching|opening|knitting)
        """,
    ),
    ("marital", "personal", "i( got|'m|'ve been| am) (divorced|married|separated|engaged|widowed|single)"),
    ("goal-", "projects", "(my|our) (goal|target|objective) | aiming (for|to)"),
    (
        "family-",
        "personal",
        """
        my (wife|husband|partner|spouse|fiance|fiancee|girlfriend|boyfriend|son|daughter|kids?|children|mother|
          father|mom|mum|dad|brother|sister|parents|grandmother|grandfather|grandma|grandpa|baby|twins|stepson|
          stepdaughter|toddler|niece|nephew|in-laws|sons|daughters|brothers|sisters|siblings)
        my (dog|cat|pet|horse|parrot|rabbit|hamster|dogs|cats|puppy|kitten)
        """,
    ),
    (
        "pets-",
        "personal",
        """
        (i|we) (have|own|adopted) (an?|two|three|four|[0-9]) (dog|cat|pet|rabbit|horse|parrot|turtle)s?
        """,
    ),
    ("children-", "personal", "(i|we) have (an?|one|two|three|four|[0-9]) (kid|child|son|daughter|children)s?"),
    (
        "health-",
        "personal",
        """
        (i'm|i am) ([a-z]+ )?(diabetic|asthmatic|epileptic|deaf|blind|left-handed|right-handed|colou?rblind|
          color-blind|dyslexic|autistic|pregnant|lactose)
        i have ([a-z]+ )?(asthma|diabetes|epilepsy|arthritis|adhd|migraines|celiac|a pacemaker|a bad|high blood)
        i (wear|use) (glasses|hearing|contacts|a wheelchair|a cane|an insulin|prosthe) ?[a-z]*
        i (take|carry) (an?|my)? ?[a-z]+ (for|every|daily) | surgery on my | heart (palpitations|murmur)
        """,
    ),
    ("language-", "personal", "i speak | my (native|first) language | i'm fluent in"),
)

IS = """
is | are | has | have | runs | run | uses | use | costs | starts | ends | opens | closes | takes | needs | holds
weighs | measures | lives | live | works | work | goes | go | stays | sits | due | called | named | built | written
set | hosted | compares | covers | includes | contains | consists | features | supports | stars | compiles | targets
ships | lasts | meets | happens | belongs | owns | carries | can't | starts | start | turns | turn | loves | hates
tops | must | delivers | charges | pays | depends | studies | teaches | launches | speaks
"""

REFERS = """
it | it's | its | he | he's | she | she's | they | they're | that | that's | this | there | and | also | so | his
her | their | no | never | both | neither | those | these
"""

LEADS = r"""
hi(?: there)?|hey|hello|good (?:morning|afternoon|evening)|morning|ok(?:ay)?|great|cool|thanks|perfect|nice|well|so|
oh|ah|and|also|by the way|btw|on another note|anyway|another thing|switching topics|changing the subject|
bad news(?: on the plan)?|good news|quick one|right|yes|yeah|no|alright|awesome|done|haha|fine|brilliant|honestly|
basically|look|listen|update|important
"""
LEADS_THAT = r"""
(?:please |pls )?(?:do )?remember(?: that|,|:)?|(?:please )?(?:keep|bear) in mind(?: that|:)?|
(?:please )?(?:make a |take )?note(?: down)?(?: that|:|,)?|(?:please )?(?:don't|do not|never) forget(?: that)?|
just so you know,?|so you know,?|for the record,?|for future reference,?|fyi,?:?|for your information,?|
i(?:'d like| want) you to (?:know|remember)(?: that)?|you should know(?: that)?|i should mention(?: that)?|
(?:please )?save (?:this|that):?|important:
"""
TAILS = r"(?:please|pls|thanks|thank you|by the way|btw|ok|okay|though|you know|if that helps|right)"
