"""The tables of English that questions are compared by; what each is for is told in `lexicon`."""

from proxy.reuse.lexicon import Lexicon, groups, kinds, rewrites, shorthand, sounds, suffixes, words

_CHAT = """
what wat wht wut waht
with wit wiht
you yu
are r
the teh da
that dat
want wanna
going gonna
because cuz coz bcoz bc
about abt
how hw hwo
which wich whitch
would wud
could cud
should shud
where wher wheres
when wen whn
who hoo
doing doin
have hav
their thier
they dey
your ur
"""

_UNITS = """
kilogram kg kgs
gram g gr
milligram mg
kilometre km kms
centimetre cm
millimetre mm
nanometre nm
metre m
millilitre ml
litre l lt
kilobyte kb
megabyte mb
gigabyte gb
terabyte tb
hour h hr hrs hs
minute min mins
second s sec secs
am am
pm pm
ounce oz
pound lb lbs
foot ft
mph mph
watt w
kilowatt kw
hertz hz
"""

_FUNCTION = """
a about actually also am among amongst an and any anybody anyone anything are around as at basically be because been
being between both but by can come comes could currently d did do does doing done during each even ever exactly for
from get gets getting given go goes gonna got gotta had has have having he her here hers herself him himself his how
i i'd if in indeed into is it its itself just kind kindly let lets like ll m make makes making many may me might
mine much must my myself need needs of off on one ones onto or other's our ours ourselves out own people per person
please re really s shall she should simply so some somebody someone something sort still stuff such t take takes
taking than that the their theirs them themselves then there these they thing things this those though through to
too toward towards up upon us use used using ve very via wanna want wants was we were what whats when where whether
which while who whom whose why will with within would you your yours yourself yourselves
"""

_OPERATORS = """
this these
morethan
lessthan
other another others
not no nor none never neither cannot n't without isnt arent dont doesnt didnt wont cant
more most
less least fewer fewest
before prior
after
all every always everyone everything
only
first
last
maximum max
minimum min
again
already
yet
until till
since
above
below beneath
except
half
double twice
out outside
off
under
over
against
"""

_NUMBERS = """
0 zero
1 single
2 two couple
3 three
4 four
5 five
6 six
7 seven
8 eight
9 nine
10 ten
11 eleven
12 twelve dozen
13 thirteen
14 fourteen
15 fifteen
16 sixteen
17 seventeen
18 eighteen
19 nineteen
20 twenty
30 thirty
40 forty
50 fifty
60 sixty
70 seventy
80 eighty
90 ninety
100 hundred
1000 thousand
1000000 million
2nd second
3rd third
4th fourth
"""

_SYNONYMS = """
start begin commence
purchase buy
fix repair solve resolve troubleshoot
remove delete erase rid
large big huge
small little tiny
child kid
automobile car
movie film
show display
contain include found
frequent often frequency
quick fast rapid quickly rapidly
photo picture foto pic photograph image
phone mobile cellphone smartphone
cheque check
lift elevator
possible feasible
safe safely
difference differ different distinguish
example instance
country nation
mother mom mum
father dad
job work
doctor physician
house home
speak talk
say tell
learn study pursue
create make
happen occur
assist help
obtain acquire
weigh weight
cost price
tall height high
benefit advantage pro
drawback disadvantage con
purpose goal aim
require mandatory obligatory compulsory required
allow permit legal allowed
illness disease
reason cause
unclog unblock
change modify alter
vegetable veggie
medication medicine med drug
increase raise boost
decrease reduce lower
shut close
error problem issue
holiday vacation
trip travel journey
wife spouse partner
biggest largest
cook prepare
income earnings
rupee rs inr
famous popular
ideal perfect
airplane plane aeroplane aircraft
wonderful nice great
amazing fascinating interesting incredible astonishing
intelligent smart clever bright
beautiful pretty lovely gorgeous
rich wealthy
hard difficult tough
color colour
favorite favourite
center centre
theater theatre
neighbor neighbour
flavor flavour
gray grey
tire tyre
program programme
organize organise
analyze analyse
license licence
gasoline petrol
devil satan
earth world globe
university college
website site webpage
computer pc
upload post
novel book
wage salary pay
stay remain
choose select pick
opinion view thought
trash garbage rubbish
apartment flat
couch sofa
rug carpet
supermarket grocery
trousers pants
autumn fall
bicycle bike
bug insect
rock stone boulder
kitten kitty
puppy pup
pregnant expecting
weird strange odd
wealth fortune
enjoy like
prevent avoid
lose shed loss
improve enhance
recognize recognise identify
realize realise
thaw defrost
dentist dental
lawyer attorney
employee worker staff
firm company business
client customer
invoice bill
discount rebate
advice tip suggestion
teenager teen adolescent
elderly senior
disable deactivate
enable activate
restart reboot
folder directory
method approach technique
requirement condition
function role
consequence effect impact affect influence
currency money funds
"""

_SHORT = """
admin = administrator | ai = artificial intelligence | us usa america = united states | app apps = application
approx = approximately | aug = august | auth = authentication | ave = avenue | avg = average | bday = birthday
btw pls plz thx ty =  | celsius = c | cm = centimetre | co = company | config = configuration | db = database
dec = december | dept = department | dev = developer | dob = date of birth | docs doc = document | dr = doctor
env = environment | eu = european union | exam = examination | fahrenheit = f | fb = facebook | feb = february
flu = influenza | fridge = refrigerator | ft = feet | govt gov = government | gym = gymnasium | hrs hr hs = hour
hw = homework | ig = instagram | inc = incorporated | info = information | intl = international | jan = january
js = javascript | k8s = kubernetes | kg kgs = kilogram | km kms = kilometre | lab = laboratory | lb lbs = pound
maths math = mathematics | max = maximum | meds = medication | mgmt = management | mins min = minute
min. = minimum | ml = machine learning | mm = millimetre | mo = month | mph = mile per hour | msg = message
nov = november | nyc = new york city | oct = october | os = operating system | oz = ounce | pics = photo
pm = prime minister | poss = possible | ppl = people | pw pwd = password | regex = regular expression
repo = repository | secs sec = second | sept = september | st = street | tbsp = tablespoon | tel = telephone
temp temp. = temperature | ts = typescript | tsp = teaspoon | tv = television | u = you | uk = united kingdom
un = united nations | uni = university | ur = your | vet = veterinarian | vs = versus | w/ = with | w/o = without
wifi = wi-fi | wk = week | yr yrs = year | yt = youtube
"""

_FILLER = """
a about absolutely actually advance after afternoon ages ai all alright also am an and another answer answers any
anything anyway anyways appreciate appreciated are area argue arguing argument ask asked asking assignment assistant
at basic be been before beginner best bet bit boss bot bother bothering bro brother btw buddy bunch but came can
can't cant chatgpt cheers class clear clue colleague complete confused confusing could couldn't crossword curiosity
curious dad dana daughter days dear dinner discussion do does doing don't doubt dude dumb easy essay evening
everyone exam excuse expert explain figure find fine first first-time folks for forward forwards found frankly
friday friend from fyi get go good googled googling great greetings guys had haha hand happy have haven't hearing
hello help helped helping here's heres hey hi hiya hmm homework honestly hope hours husband i i'd i'll i'm i've idea
if im imo in is it ive just kid kids kind kindly know knowing last legend let's lets lifesaver like little lol
longtime look looking lost lot love lunch madam man mate may me meet million mind minute mom moment monday more
morning much mum my name name's need nephew new newbie nice niece night no not of office ok okay on one only or out
over pal paper pardon please pls project query question questions quick quickly quiz random reader really regards
reply response right saturday school search searched searching sec second see settle silly simple sir sister small
so some something son sorry sort spare sports star struggling stuck stuff stupid stupidly subject sunday sup ta
table tad tbh teacher team tell thank thanks that the there thing things thinking this thought time to today ton
tonight topic total trip trivia trouble troubling trying uh um understand up user wait want warm was well while wife
wishes with wonder wondered wondering work would yo you your
"""

_OPTIONAL = """
able ly anyway become completely consider currently easily effectively else ever exactly
explain find give help know look mean name nowadays ok okay possible possibly properly provide really
reason recommend step tell thing way
"""

_PRAISE = """
actual honest certain best better available different exist good great interesting main major top various
"""

_PRONOUNS = """
he him himself
she her hers herself
they them their theirs
his
"""

_MARKERS = """
about after as at because before between by during for from if in into of on onto over per since than through to
under unless until via when while with without
"""

_CONDITIONS = """
because if unless when while
"""

_ASKING = """
how if what when where which who whom whose why
"""

_KINDS = r"""
how_many: how many
how_much: how much
how_long: how long
how_often: how often
how_adj: how (?:far|old|tall|big|high|deep|fast|heavy|large|hot|cold|late|early|hard|difficult|good|bad|safe|close|wide)
difference: difference between|vs|versus
why: why
how: how
when: (?:^|(?<=, ))(?:since |until |from |by )?when
where: (?:^|(?<=, ))(?:from |to )?where
who: (?:^|(?<=, ))(?:to |with |for |by |from )?who(?:m|se)?
what: what|which
when: when
where: where
who: who(?:m|se)?
"""

_CONTRACTIONS = r"""
\bmore than\b => morethan
\bless than\b|\bfewer than\b => lessthan
\bcan't\b|\bcant\b|\bcannot\b => can not
\bwon't\b|\bwont\b => will not
\bshan't\b => shall not
\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n'?t\b => \1 not
\bain't\b => is not
\b(what|where|who|how|when|why|that|there|here|it|he|she)'s\b => \1 is
\bwhats\b => what is
\b(\w+)'re\b => \1 are
\bi'm\b => i am
\b(\w+)'ve\b => \1 have
\b(\w+)'ll\b => \1 will
\b(i|you|he|she|we|they|it)'d\b => \1 would
\bw/o\b => without
\bw/ ? => with
"""

_REWRITES = r"""
\bmore or less\b =>
\bas well as\b => and
\bat all\b =>
\bno longer\b => not
\bfor good\b => permanently
\bget rid of\b => remove
\bi\.e\.(?= ) =>
\be\.g\.(?= ) => for example
\b(?:some|one) of the\b => the
(?:(?<= is)|(?<= are)) the (?:best|easiest|fastest) ways? (?:to|of|for)\b => how to
\bwhat makes?\b => why
\bwhat causes?\b => why
\bhow many (?:minutes|hours|days|weeks|months|years)(?= (?:should|do|does|must|can|is|are|will|to)\b) => how long
\b(?:in|on) (?:what|which) (?:year|date|day|month)\b|\b(?:what|which) year\b => when
\bin (?:what|which) (?:city|country)\b => where
\b(?:what is|which is) the name of\b => what is
\bis it (legal|allowed|normal|necessary|safe|healthy|worth) (?:for (?:me|us|someone|one|people|you) )?to\b => can \1
\b(?:mobile|cell|smart) (?=phones?\b) =>
\bloose(?= (?:\w+ )?(?:weight|fat|kgs?|kilos?|pounds|lbs)\b) => lose
\breduce(?= (?:my |your |our )?(?:weight|belly fat)\b) => lose
\breducing(?= (?:my |your |our )?(?:weight|belly fat)\b) => losing
\b(?:make|makes|made|making)(?= (?:(?:more|some|good|easy|extra|fast|quick|big|lots of|a little) )?money\b) => earn
\b(?:television|tv) (?:shows?|serials?)\b => television series
\b(?:movie|film) theat(?:er|re)s?\b => cinema
\b(?:gas|fuel|filling) stations?\b => petrolstation
\b(?:link|relation|relationship|connection)(?= (?:\w+ )?between\b) => relation
\bgoing to (?!the |a |an |my |your )(?=[a-z]) => to
\bget over\b => overcome
\b(?:come|came) across\b(?! as) => seen
\b(one|two|three|four|five|six|seven|eight|nine|ten|half|double|triple|single)-(?=\w) => \1
(?: , )?\b(?:or not|why or why not|(?:and )?if (?:so|yes|not) ,? ?(?:how|why))(?= ,|$) =>
(?<=\w)(?: and| ,) why(?= ,|$) =>
"""

_SUFFIXES = """
ations ation itions ition ions ion ments ment ness ities ity ings ing ers er ors or ied ies ed es s ly ally al ive able
ible ance ence ian ean an ish ese y e
"""

_SOUNDS = "ph=f ck=k gh= kn=n wr=r wh=w c=k z=s y=i ee=i ea=i"

LEXICON = Lexicon(
    function=words(_FUNCTION),
    operators=groups(_OPERATORS),
    numbers=groups(_NUMBERS),
    synonyms=groups(_SYNONYMS),
    short=shorthand(_SHORT),
    filler=words(_FILLER),
    optional=words(_OPTIONAL),
    praise=words(_PRAISE),
    pronouns=groups(_PRONOUNS),
    markers=words(_MARKERS),
    conditions=words(_CONDITIONS),
    joins={"and": "and", "&": "and", "/": "and", "vs": "and", "versus": "and", "or": "or"},
    asking=words(_ASKING),
    kinds=kinds(_KINDS),
    chat=groups(_CHAT),
    units=groups(_UNITS),
    contractions=rewrites(_CONTRACTIONS),
    rewrites=rewrites(_REWRITES),
    suffixes=suffixes(_SUFFIXES),
    sounds=sounds(_SOUNDS),
)
