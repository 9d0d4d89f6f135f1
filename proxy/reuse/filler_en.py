"""English words of fillers and contexts: tables that `filler` decides by, described there."""

from proxy.language.phrases import words

_NUMBER = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand"
)
_COUNTED = """\
people|of us|days|weeks|months|years|nights|kids|children|rooms|kilos|times|minutes|metres|\
meters|feet|dogs|cats|pounds|dollars|euros"""

CONTEXT = f"""
(know|wonder|wondering|wondered|ask|asking|asked|understand|figure out|curious|sure|remember|idea|clue)( about)? \
(if|whether|how|what|what's|which|why|when|where|who)(?! (you( (can|could|know|might))?(?= [.,])|you (can|could|might) \
(answer|help|know|tell|explain)|anyone|anybody|this|that|it's|i'm|to (ask|say|put|phrase|begin|start)|else) )
if i (don't|do|take|have|want|use|eat|go|get|need)
(tell|show|teach|give|send|get|write|make|explain|list|name|describe) (me|us|him|her|them)? ?(a|an|the|my|your|some\
|about|how|in|with) | yes or no
(i am|i'm|we are|feeling|feel) ([a-z]+ )?(dizzy|sick|tired|weak|nauseous|depressed|anxious|in pain)(?! of )
before i (take|use|buy)
(it's|it is|this is|that's|one|and|need it|but) for(?! ((my|a|an|the|our) )?([a-z]+'s |school |pub )?(homework|quiz\
|bet|crossword\
|friend|school|class|trivia|fun|science|bit of|you|us all) )
forgot to (say|mention|add|tell) | should (say|mention|add) | (scared|afraid) of | allergic | so you know | quoted
(answer|reply|respond|response|explain|explained|explanation|write|written|say it|put it) (it |me )?(in|with|as|like\
|step|without|using\
|only|to (a|my))
(keep|make) it | give me | show (me|all) | just (the|give) | only the | list (them|only)
be (brief|specific|concise|detailed|short|as [a-z]+ as)
(has|have|needs|need|must|should|want|wants|like|got) (it |to |this )?to be(?! asleep ) | wants? it
needs? it (to|in|by|for)
must be(?! (sick|tired|bored|busy|the|wondering|annoying) )
(nothing|something|anything) (too|like that|for|under|suitable)
(nothing|something|anything) [a-z]+y(?= [.,]) | should (be|keep|have) | would like it
out of(?! (topics|my|curiosity|interest|ideas|it|the blue|bed|boredom|here|nowhere|control|touch|sheer|pure|context) )
without(?! (feeling|knowing|asking|looking) ) | except(?! me ) | unless | instead of | rather than | assum(e|ing)
supposing
only (have|got|use|using|eat|works?) | already (tried|did|have|took|taken|done|know how) | all i('ve| have) got
i (live|use|own|weigh|rent|drive|sew|earn|teach) | i work (in|at|as|for|from|night) | i take(?! (it|that) )
we (have to|don't|can't)
i'm (running|using|vegan|vegetarian|pregnant|diabetic|left|very shy|shy) | i'm [a-z]+ (weeks|months|years)
we (live|use|keep|rent|own|run)
i'm on(?! (here|my|a roll|the (bus|train|toilet|loo|couch|sofa|phone)) ) | by hand | night shifts? | budget | deadline
(he|she)('s| is| has| was| can't| doesn't| won't| bites| weighs)(?! (right|wrong|sure|convinced|dead|asking|curious\
|adamant|winning) )
sentences? | paragraphs? | bullets? | due (tomorrow|on|by) | at (most|least) | as of | vegan | gluten | c(o?)eliac
twice
i (don't|do not|can't|cannot|never|won't) (drink|eat|use|have|own|wear|smoke|speak|drive|play|swim|cook\
|want(?! to (bother|be|take|know)))
i've (dropped|had|got|committed|bought|paid|signed|moved|decided)(?! ((an?|the|another|my) )?(question|query|bet\
|quick|silly|feeling\
|favou?r|one|no (idea|clue)) ) | (our|my) (company|landlord|doctor|lecturer|flatmate|roommate)(?! (says|asked|asks\
|and i|swears) )
(mom|mum|dad|doctor|dr|vet|boss|friend|teacher) (says|said|told me)(?! (i'm|i am|he's|she's|it's|so|that i|this|it\
|you) )
i'd like (a|an|the)(?! (bit|little) ) | i want(?! (to know|to ask|to impress) ) | (be|please be) honest | whether
({_NUMBER}) ({_COUNTED})(?! in the car ) | (in|on|from|to|at|using|with|via|use|uses|of|under|into|near) named
"""
POINTS = """(?:in|on|at|for|with|of|about|from|under|regarding|by|than)\
(?: (?:the|an?|my|our|his|her|their|your|some))?"""
OWNS = "my|our"
OPENS = """
(in|on|at|for|with|under|during|within|as an?|as if|only|vs|like i)(?! (advance|a nutshell|short|fact|fairness|all\
|case|my|the (middle\
|off|name)|this|which|hopes|honou?r|need|kind|best|warm|love|gratitude|real|what|god|another|a (lighter|different\
|side|bit|more)\
|that note) )
no(?! (rush|hurry|worries|pressure|idea|clue|cap|joke|judgement|judgment|need|offence|offense|really|stress|kidding\
|problem|shame|pun\
|particular|question) )
nothing | something | assume | it must | from | using | without
"""

SMALL_TALK = """
[\u2600-\u27bf\U0001f300-\U0001faff]+ | hi | hello | hey+ | hiya | howdy | greetings | yo | sup | aloha
dear (sir|madam|all|assistant|team|ai|friends?|bot|chatgpt|wise|computer) | y'all | lifesaver | bestie
good (morning|afternoon|evening|day|night) | morning all | goodbye | bye | cya | ttyl | evening , [a-z]+
top of the morning | thanks | thank | thx | ty | tysm | cheers | appreciate | appreciated | grateful | gratitude
obliged | owe you | regards | best wishes | sincerely | yours (truly|faithfully) | xoxo | hugs | kisses | in advance
kind of you | lots of love | sorry | apologies | apologi[sz]e | pardon | excuse (me|my|the|any) | forgive
bother(ing)? you | to bother | to pester | nuisance | autocorrect | rambling | oops | whoops | quick (q|one|question)
silly one | dumb one | tricky one | one for you | here's (one|another) | here goes
your (answer|reply|response|time|help|previous answer|last answer|patience) | enlighten | settle (a|this|the)
pick your brains? | help (me|us)( out)?(?= [.,?]) | any help | surely you
you (always )?(know|must know|probably know) | bet you | i bet | nobody (knew|knows|had|agrees|could|here)
not one of us | no one (knew|knows) | none of us | i have no clue | (drawing|drew) a( complete)? blank
(my )?mind (went|goes|is) blank | out of my head | popped (up|into) | struck me | occurred to me | crossed my mind
dawned on me | shower thought | just thinking | got (me|us) thinking | keeps? me (up|awake) | bugging me | bugged me
driving me (nuts|crazy|mad|insane) | none the wiser | search(ed|ing)? (everywhere|online|for (a while|ages|hours))
looked everywhere | look it up | puzzled | baffled | stumped | intrigued | embarrass[a-z]* | ashamed | noob | newbie
clueless | judge me | sharpest tool | brightest bulb | old-fashioned | nosy | being lazy | too lazy | proudest
crossword | sudoku | bet (going|riding|with|on it) | took a vote | prove (him|her|them|my [a-z]+) wrong | i'm wrong
he's right | she's right | (keeps|won't stop) asking | lol | lmao | rofl | ha(ha)+ | hehe | omg | omfg | ugh | sigh
wow | ouch | yay | phew | argh+ | aargh | tbh | imo | imho | ngl | idk | ffs | truth be told | not gonna lie | no joke
no really | long story short | short story | straight to the point | speaking of which | changing the subject
moving on | off topic | while we're at it | you know what | as they say | hm+ | um+ | uh+ | oh (well|my|boy|dear)
ah+ | right then | well then | yep | yeah | gosh | goodness | jeez | procrastinating | supposed to be asleep
long day | rough day | what a day | have a (good|nice|great|lovely|wonderful|blessed) | enjoy your | take care
happy (monday|tuesday|wednesday|thursday|friday|weekend|new year|holidays) | merry
hope (you|your|this|that|it|everybody|everyone|all|i'm) | trust this | if (it's|that's) (ok|okay|alright)
(i'm|this is|my name is|my name's) [a-z]+ (, |here|speaking|nice) | nice to meet | me again | it's me
first time (here|using|asking|talking|poster) | lurker | promise | i swear | cross my heart | pretty please
thinking out loud | bear with me | have a (sec|second|minute|moment) | got a (sec|second|minute|moment)
when(ever)? you (can|get a chance|have) | makes? (any )?sense | save my (life|day) | make my day | doing me a
to whom it may concern | if i may | if you don't mind | if you would | if you'd permit | spill the tea
let's (go|see|do this) | let's hear it | drum ?roll | fun fact | fun one | useless (facts?|trivia)
you learn something | overheard | mentioned it | brought it up | talking about (it|this|that)
going on about (it|this) | just for fun | for fun | out of (curiosity|interest|boredom) | (asking )?for a friend
school me | typing (this|with) | voice typing | my thumbs
you('re| are) (a|an|the|so|way|amazing|awesome|great|brilliant|very) | u r | way smarter
love (you|this bot|these chats) | nobody (in|at) (the|my) [a-z]+ (knew|knows) | seems? to know | know everything
anything but ads | man oh man | anybody home | wassup | ciao | are you there | calling all | nagging (at )?me
thought of (it|something) | (got|to|started) thinking | came to you | except me | get right to it | get loads of
have a better day | a doubt of mine | little doubt | so i'm back | leave you alone
dear (sir|madam|all|assistant|team|ai|friends?|bot|chatgpt)
(settle|win|won|lost|having) (an|the|this|our) (argument|bet|debate) | argu(ing|ed) (about|over) | were arguing
(have|got|made|having) a (bet|wager) | a bet (going|on|with|riding) | pub quiz | quiz (night|team|show) | at a quiz
for (my |the )?homework | doing a crossword | stuck on a crossword | (don't|please don't|won't) laugh | please help
help (me|us) out | my (mind|memory|brain) (went|goes|is|has|'s) | on my mind
i (don't|do not|never|didn't) know(?= [.,]) | (always )?wanted to (know|ask|check) | wants to know | dying to know
love to know | saw a (meme|poster|tiktok|video about it) | asking for a friend | fun to know
(quick|one more|another|last) (thing|one) | i'm (a bit |so |completely )?(lost|stuck|confused) here
complete beginner | new (at|to) this | terrible at this | first question | long-time (lurker|reader)
first-time (poster|asker) | nothing clear | find anything clear | random (thought|question)
(quick|silly|dumb|stupid|easy|another|simple|my|a|one|this|that|the|weird|random|last|first|few|some) questions?
(ask|asks|asked|asking) (this|you|me|us|that|it|before|again|here|around|everyone|everybody|for|something|anyway\
|because|a|my)
to ask(?= [.,]) | asking(?= [.,]) | wonder(ing|ed)?(?= [.,])
(i|i'm|i've|just|was|been|always|often) (just )?(wonder|wondering|wondered|curious) | curious(?= [.,])
(just|out of|pure|idle|sheer|my) curiosity | (query|enquiry|inquiry)(?= [.,])
no (rush|hurry|pressure|worries|judge?ment|offen[cs]e) | no (idea|clue)(?= [.,]) | honestly(?= [.,])
frankly(?= [.,]) | any idea(?= [.,]) | have a (bet|wager|good) | curious minds | so curious | (to|the) interrupt(ion)?
sorry to interrupt | [a-z]+'s homework | pretended to know | stuck in my head | hope you're | help please
this is for (school|homework|a quiz)
"""
CHATTER = """

(dear|hey|hi|hello|ok|okay|thanks|thank you|kind|good|wise|great|clever)( [a-z]+)? (bot|robot|machine|assistant|ai\
|chatgpt|computer|one|people|folks)
folks | guys | everyone | everybody | mate | bro | dude | pal | buddy | nerds? | lovers | people | genius | legends?
chatbot | bot | robot | squire | bestie | dumb | stupid | silly | dense | idiot | hopeless | useless | terrible
beginner | newbie | new (at|to) this | rookie | random | weird | easy | tricky | quiz | trivia | crossword | homework
argument | bet | debate | arguing | know | knows | knew | idea | clue | wonder | thought | thinking | think | guess
suppose | believe | hope | help | search(ed|ing) | looked | confusing | obvious | memory | brain | mind | forget
forgot | remember | heard | told | explained | mentioned | asks? | asked | agree | agrees | urgent | desperate
emergency | happy | glad | sure | okay | ok | alright | anyway | anyways | well(?= [.,]) | so(?= [.,])
right(?= [.,]) | now(?= [.,]) | look(?= [.,]) | listen | hm+ | um+ | uh+ | yes(?= [.,]) | no(?= [.,]) | yeah
actually | basically | wow | phew | that's (all|it) | stuff | you lot | gentle | laugh | would you | will you | kindly
please | pls | plz | btw | fyi | by the way | welcome | story | reasons? | short | quick
"""

DECIDING = words("""
adhd allergic allergies allergy android antibiotics anxiety app asthma autistic blind blood breastfeeding browser
celiac chrome code coeliac data database deaf dementia diabetes diabetic disabled django docker excel file files
firefox gb git halal intolerant ios iphone java javascript keyboard kilos kosher libraries library linux mac
medication months-old mysql password pills postgres pregnant pressure printer python ram react router rows server sql
surgery typescript ubuntu vaccinated vegan vegetarian version weigh windows years-old
""")
KIN = words("""
aunt auntie boss boyfriend brother child children colleague colleagues cousin coworker coworkers dad daughter father
flatmate friend friends girlfriend gran grandad granddad granddaughter grandma grandmother grandpa grandson granny
housemate husband in-laws kid kids mom mother mum nan neighbor neighbour nephew niece partner roommate sister son
teacher uncle wife
""")
KNOWN = words("""
a aargh about absolutely absurd actually admittedly advance advise afternoon again ages agree agreed agrees ah ai
alexa all almost aloha alright also always am amazing an and anecdote angel annoy annoying another answer answered
answering answers any anybody anyhow anyone anything anyway anyways apologies apologise apologize apology apparently
appreciate appreciated are aren't argh argue argues arguing argument arguments around as asap ashamed ask asked asking
asks assistant at autocorrect awesome awful back bad baffled barbecue basic basically be bear been beginner being
believe best bet bets betting big bit blanked bless blessings blush blushing boredom bot both bother bothered
bothering brain brains brief brightest brilliant bro btw buddy bugged bugging bunch but by bye call came can certain
certainly chat chatgpt chatting cheers chief ciao claimed claims clarify classmate clear clue clueless clues
collection come comes completely confused confuses confusing confusion consulting conversation cordially couch could
couple crazy crossed crossword curiosity curious curiously cya dad's daft damn darling darn dawned days dear debate
debated debating desperate desperately did didn't dim disagree disagreed disagrees disturb disturbing do does doesn't
doing done dont doubt dude dumb dumbest dummy easy eek embarrassed embarrassing emergency end enlighten enough enquiry
er erm even evening ever every everybody everyone everything excellent excited excuse excuses explain explained fact
facts faithfully fam family fantastic farewell fascinated fascinates favor feel feeling feels few figure figured
finally finds fine first folks fool foolish for forever forget forgets forgive forgot forgotten frankly friday friend
friends from funny fyi g'day gang gave generous genius gents get gets getting give given gives glad go god goes going
goldfish gone gonna good goodbye goodness google googled googling gosh gossip got gotta grammar grateful gratefully
gratitude great greetings guess guessed guessing guru guys had haha hahah hahaha happen happens happy has hasn't have
haven't having he he's head heaps hear heard heck hehe hell hello help helped helping her here here's hero hers hey hi
him his hiya hm hmm homework honest honestly hope hopefully hopeless hoping hour how howdy huge hugely hugs hullo
hurry i i'd i'll i'm i've idea ideas idiot idiotic if ignorance ignorant imho imo imposing impress in information
inquiry insisted insists interested interesting interrupt interrupting interruption into intrigued intrude is isn't it
it's its itself jeez jeopardy joke judge judgement judging judgment just keep keeps kept kind kindest kindly kindness
kisses knew know knowing known knows kudos ladies lads large last lately later laugh laughing laundry lazy learn
learned learning leave left legend let let's lets lifesaver lil literally little ll lmao loads lol long look looked
looking loses lot lots love lovely mad madam made maestro make makes man many marvellous mate mates may maybe me
meeting meh meme memory men mentioned mentions middle midnight might million mind minute mock moment monday more
morning moron much mum's must my myself n't nagging naive named need needs never new newbie newcomer next ngl night no
nobody none noob nope not nothing novice nuisance nuts obliged obvious obviously occurred odd of off office oh ok okay
okey omfg omg on once one ones only oops or other others ouch our out over owe pal pardon part patience perhaps pester
pestering phew pick place please plis pls plz pointless popped por porfa porfis pretty probably professor promise
proud proving pub pure put puzzled puzzles puzzling queries query question question's questioned questions quick
quickie quickly quite quiz racing radio ramble rambling random rather re reading ready real really reason reasons
recall recently reckon reckons regards remember remembered remembers replies reply request respectfully respond
response riddle ridiculous riding right robot rofl rookie rubbish rush s said sake same saturday saw say saying says
search searched searching sec second seconds secs see seem seems seen sees sense seriously settle settles shall shame
sharpest she she's shed shoot short shot should show shower shy sieve sigh silliest silly simple simply since
sincerely sir siri slow so sofa some somebody someone something soon sorry sort sound sounds spare spelling star start
started still story strange struck stuck stuff stumped stupid stupidest subject sudoku sunday sup super suppose sure
swear swears swore t ta tad take taken takes talking taught tbh teach tell telling tells telly terrible than thank
thanks thanx that that's the their then there there's these they they're they've thick thing things think thinking
thinks this those thought thoughts thumbs thursday thx tia till time times tnx to today told ton tonight tons too took
topic total totally touch tricky trivia trivial trouble trust truth truthfully try trying ttyl tuesday tv twice two ty
typo typos tysm ugh uh um umm under understand understands understood unsure until up upon urgency urgent urgently us
use useless usual ve very voted waffle wager wanna want wanted wants was wasn't wassup way we we're we've wednesday
week weekend weeks weird welcome well went were weren't what what's when where which while who who's whom whoops whose
why wikipedia will winner wiser wish wishes with wizard won wonder wondered wonderful wondering wonders work would wow
wrong xoxo xx y'all yay yeah yep yes yesterday yet yo you you're you've your yours yourself yup
""")
