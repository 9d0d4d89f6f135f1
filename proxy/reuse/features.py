"""What the learned gate sees of a message: its words, their beginnings and ends, and the frame that they stand in.

A frame is the sentence without its matter: words of grammar stay, a name becomes `N`, a number `#`, any other word `_`
and its ending. "Did Nike restock the Pandas?" and "Did Netflix cancel the show?" ask one thing of two worlds; "how do I
_" asks the same on any day, whatever it is that one does.
"""

from collections.abc import Iterator
from itertools import pairwise

from proxy.language.phrases import words
from proxy.language.text import plain

_GRAMMAR = words(
    """
    a an the this that these those my your his her its our their some any no every each all both another other i you he
    she it we they me him us them who what which whose when where why how is are was were am be been being isn't aren't
    wasn't weren't do does did don't doesn't didn't has have had having can could will would shall should may might must
    won't can't what's who's where's how's when's it's that's there's i'm i've i'd i'll he's she's let's not and or but
    if so because than as of in on at to for from by with about into onto out up down off over under between after
    before during without through until since per there here still yet already ever never just now then very too much
    many more most less least few lot long far old often soon late early big tall good best worst better new latest last
    next first
    el la los las un una unos unas lo este esta estos estas ese esa esos esas aquel mi mis tu tus su sus nuestro nuestra
    cada todo toda todos todas otro otra algun alguna algo alguien nada nadie ningun ninguna yo vos usted ustedes ella
    ellos te se nos le les que quien quienes cual cuales cuando donde adonde como cuanto cuanta cuantos cuantas por para
    porque es son era eran fue fueron sera ser estan estaba estaban estuvo estoy estamos estar hay habia hubo habra
    haber ha han hemos hace hacen hizo hacer tiene tienen tengo tenia tener va van voy vamos ir puede pueden puedo podes
    podrias puedes debe deben debo si y o e u pero ni de del al en con sin sobre entre desde hasta hacia segun tras
    durante ya todavia aun sigue siguen sigo mas menos muy tan tanto mejor peor mayor menor primer primera ultimo ultima
    ultimos ultimas nuevo nueva proximo proxima quoted ? . ,
    """
)
_ENDINGS = (
    *(("ing", "_ing"), ("ed", "_ed"), ("ly", "_ly"), ("tion", "_tion"), ("ando", "_ndo"), ("iendo", "_ndo")),
    *(("aron", "_ron"), ("ieron", "_ron"), ("ado", "_do"), ("ido", "_do"), ("ara", "_ra")),
    *(("ar", "_r"), ("er", "_r"), ("ir", "_r"), ("s", "_s")),
)
_ENDS = tuple(ending for ending, _ in _ENDINGS)
_STRESSED = ("ó", "é", "í")  # "llegó" has happened, "llego" has not; plain text can't tell them apart
_RUNS = frozenset(("_", "N"))
_STOPS = frozenset((".", "?"))
_MARKS = _STOPS | {","}
_LONGEST_FRAME = 4
_OPENING = 6  # words of a message's beginning that are taken as a whole


def lexical(tokens: list[str]) -> list[str]:
    """Words, pairs of neighbours, and the beginnings and ends of words, which stand for stems and forms."""
    found = [f"{left} {right}" for left, right in pairwise(tokens)]
    for token in tokens:
        if token in _MARKS:
            continue
        found.append(token)
        if len(token) > 4:
            found += (f"{token[:4]}-", f"-{token[-3:]}")
        if len(token) > 6:
            found += (f"{token[:6]}-", f"-{token[-4:]}")
    return [*dict.fromkeys(found)]


def framed(shapes: list[str]) -> list[str]:
    """Every run of two to four shapes, those of the beginning up to six, and runs in which matter counts as one."""
    found = [" ".join(shapes[:size]) + " >" for size in range(2, _OPENING + 1)]
    for size in range(2, _LONGEST_FRAME + 1):
        found += ("< " + " ".join(shapes[at : at + size]) for at in range(len(shapes) - size + 1))
    matter = ["_" if shape[0] == "_" else shape for shape in shapes]
    short = [
        shape for before, shape in zip(["", *matter], matter, strict=False) if shape not in _RUNS or shape != before
    ]
    for size in range(3, _LONGEST_FRAME + 2):
        found += ("~ " + " ".join(short[at : at + size]) for at in range(len(short) - size + 1))
    return [*dict.fromkeys(found)]


def tokens_of(text: str) -> list[str]:
    """The words and marks of plain `text`, one mark between two sentences, digits as zeros."""
    found: list[str] = []
    for word in text.split():
        if word in _STOPS and found and found[-1] in _STOPS:
            found[-1] = max(word, found[-1])
        else:
            found.append(word if word.isalpha() else _digits_hidden(word))
    return found


def shapes_of(said: str, tokens: list[str]) -> list[str]:
    names = {*plain(" ".join(_names(said))).split()}
    stressed = {*plain(" ".join(word for word in _spoken(said) if word.endswith(_STRESSED))).split()}
    return [_shape(token, names, stressed) for token in tokens]


def _digits_hidden(token: str) -> str:
    digits = sum(character.isdigit() for character in token)
    return "0" * min(digits, 4) if digits else token


def _spoken(said: str) -> Iterator[str]:
    return (word.strip("¿?¡!.,;:()\"'") for word in said.lower().split())


def _names(said: str) -> Iterator[str]:
    before = "."
    for word in said.split():
        if word[0].isupper() and before[-1] not in ".?!:":
            yield word
        before = word


def _shape(token: str, names: set[str], stressed: set[str]) -> str:
    if token in _GRAMMAR:
        return token
    if token[0] == "0":
        return f"#{len(token)}"
    if token in names:
        return "N"
    if token in stressed:
        return "_'"
    if token.endswith(_ENDS):
        return next(shape for ending, shape in _ENDINGS if token.endswith(ending))
    return "_"
