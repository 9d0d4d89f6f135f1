"""Whose words are whose: what a message hands over, and what stands beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.commands import commands
from proxy.memory.extract import extract
from proxy.memory.own_words import Own, own_words
from proxy.memory.shapes import EDGE, Voice

MINE_EN, MINE_ES = "I live in Cork.", "Vivo en Tandil."

# name: the text parts, what of them is the user's own, what is not
HANDED: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "plain en": (("I live in Cork. My dog is called Petrel.",), ("I live in Cork.", "Petrel"), ()),
    "plain es": (("Vivo en Tandil con mi familia. Tengo una perra, Lola.",), ("Vivo en Tandil", "Lola"), ()),
    "fence, own before and behind": (
        ("I'm a nurse and new to Python. What is wrong here?\n```\nI live in Oslo\n```\nI use version 3.11 on a Mac.",),
        ("I'm a nurse", "What is wrong", "3.11"),
        ("Oslo",),
    ),
    "a file's numbered lines, a shell's state and its prompt": (
        ("I found it in Cork.\n12: # I live in Oslo\n13:\n(Current directory: /my/Oslo)\nOslo$",),
        ("Cork",),
        ("Oslo",),
    ),
    "fence that nothing closes": (("¿Qué hace esto?\n```\n# vivo en Oslo",), ("¿Qué hace esto?",), ("Oslo",)),
    "fence alone": (("```\nI live in Oslo\n```",), (), ("Oslo",)),
    "tagged file": (
        ("<file path='me.md'>\nI live in Oslo.\n</file>\nWhat is missing in it?",),
        ("What is missing",),
        ("Oslo",),
    ),
    "tagged, in a line": (("<doc>Vivo en Oslo.</doc> ¿Qué falta ahí?",), ("¿Qué falta",), ("Oslo",)),
    "tagged, own before": (("Vivo en Tandil.\n<doc>\nVivo en Oslo.\n</doc>",), (MINE_ES,), ("Oslo",)),
    "headed file": (("--- notes.md ---\nI live in Oslo.\n\nWhat is missing?",), ("What is missing?",), ("Oslo",)),
    "comment": (("I live in Cork. <!-- I live in Oslo -->",), (MINE_EN,), ("Oslo",)),
    "quoted lines": (
        ("My reply to this?\n> I live in Oslo.\n> I have 3 cats.",),
        ("My reply to this?",),
        ("Oslo", "cats"),
    ),
    "quoted lines es": (("¿Qué le contesto?\n> Vivo en Oslo.",), ("¿Qué le contesto?",), ("Oslo",)),
    "quotation en": (('Is "I am living in Oslo since May" good English?',), ("good English",), ("Oslo",)),
    "quotation es": (("¿Está bien escrito «yo vivo en Oslo desde mayo»?",), ("bien escrito",), ("Oslo",)),
    "name in quotation marks": (('My boat is called "Red Kite".',), ('"Red Kite"',), ()),
    "mail with a head": (
        ("Can you answer this?\n\nFrom: Ana\nSubject: hello\n\nI live in Oslo.\nMy son is six.",),
        ("Can you answer this?",),
        ("Oslo", "six"),
    ),
    "mail with a head es": (
        ("Resumime este mail:\n\nDe: Ana\nAsunto: hola\n\nVivo en Oslo.\nMi hijo tiene seis.",),
        ("Resumime este mail",),
        ("Oslo", "seis"),
    ),
    "forwarded mail": (
        ("---------- Forwarded message ----------\nFrom: Ana\n\nI live in Oslo.\n\nWhat should I reply?",),
        ("What should I reply?",),
        ("Oslo",),
    ),
    "letter, own before": (
        ("I'm a nurse. Please shorten this:\n\nDear Ms Poe,\n\nI live in Oslo.\n\nKind regards,\nAna",),
        ("I'm a nurse.",),
        ("Oslo", "Ana"),
    ),
    "letter es": (
        ("Corregime esto:\n\nEstimada Sra. Paz:\n\nVivo en Oslo.\n\nSaludos,\nAna",),
        ("Corregime esto",),
        ("Oslo", "Paz"),
    ),
    "letter, asked behind": (
        ("Dear Ms Poe,\n\nI live in Oslo.\n\nKind regards,\nAna\n\nCan you make this more formal?",),
        ("more formal",),
        ("Oslo",),
    ),
    "letter without a salutation": (
        ("Improve this, please.\n\nI live in Oslo and I have 3 cats.\n\nBest wishes,\nAna",),
        ("Improve this",),
        ("Oslo", "cats"),
    ),
    "letter without a head": (
        ("Mejorá esto, por favor.\n\nVivo en Oslo y tengo 3 gatos.\n\nSaludos cordiales,\nAna",),
        ("Mejorá esto",),
        ("Oslo", "gatos"),
    ),
    "chat": (
        ("What does she mean?\n\nAna: I live in Oslo now.\nBen: Since when?\nAna: Since May.",),
        ("What does she mean?",),
        ("Oslo", "May"),
    ),
    "chat with times": (
        ("[10:01] Ana: vivo en Oslo\n[10:02] Beto: desde cuándo\n\n¿Qué le respondo?",),
        ("¿Qué le respondo?",),
        ("Oslo",),
    ),
    "chat in irc": (("<ana> I live in Oslo\n<ben> since when\n\nWho is right?",), ("Who is right?",), ("Oslo",)),
    "log": (
        ("Why does it fail?\n\n2024-05-01 10:00:01 INFO user lives in Oslo\n2024-05-01 10:00:02 ERROR no route",),
        ("Why does it fail?",),
        ("Oslo", "no route"),
    ),
    "log es": (
        ("¿Por qué falla?\n2024-05-01 10:00:01 INFO vivo en Oslo\nTraceback (most recent call last):",),
        ("¿Por qué falla?",),
        ("Oslo",),
    ),
    "code without a fence": (
        ("What does this print?\n\ndef home():\n    return 'I live in Oslo'\n",),
        ("What does this print?",),
        ("Oslo",),
    ),
    "table": (("Who is older?\n\n| name | age |\n|---|---|\n| Ana | 41 |",), ("Who is older?",), ("41",)),
    "retrieval": (
        ("Context: I live in Oslo. I have 3 cats.\nQuestion: how many cats are too many?",),
        ("how many cats",),
        ("Oslo", "I have 3"),
    ),
    "retrieval es": (
        ("Contexto: Vivo en Oslo. Tengo 3 gatos.\nPregunta: ¿cuántos gatos son muchos?",),
        ("cuántos gatos",),
        ("Oslo", "Tengo 3"),
    ),
    "retrieval, passages": (
        ("Use the passages to answer.\n\nPassage 1: I live in Oslo.\nPassage 2: I am 41.\n\nQuestion: Who is Ana?",),
        ("Use the passages to answer",),
        ("Oslo", "41"),
    ),
    "retrieval without a question": (("Context:\nI live in Oslo.\nI have 3 cats.",), (), ("Oslo", "cats")),
    "search results": (
        ("Search results for Oslo:\n\n1. I live in Oslo\n2. My flat in Oslo\n\nWho lives there?",),
        ("Who lives there?",),
        ("I live in Oslo", "My flat"),
    ),
    "task with a colon": (("Translate to Spanish: I live in Oslo with 3 cats.",), ("Translate",), ("Oslo",)),
    "task with a colon es": (("Traducí al inglés: vivo en Oslo con 3 gatos.",), ("Traducí",), ("Oslo",)),
    "task with a dash": (("Reword this - I live in Oslo with 3 cats.",), ("Reword",), ("Oslo",)),
    "task, text in the next line": (("Summarise this:\nI live in Oslo.",), ("Summarise",), ("Oslo",)),
    "task, text in the next paragraph": (
        ("Fix the grammar.\n\nI lives in Oslo since May.",),
        ("Fix the grammar.",),
        ("Oslo",),
    ),
    "task behind the text": (("I lives in Oslo.\n\nFix the grammar, please.",), ("Fix the grammar",), ("Oslo",)),
    "task behind the text es": (("Vivo en Oslo.\n\n¿Me lo traducís al inglés?",), ("traducís",), ("Oslo",)),
    "own words, then a task": (
        ("I live in Cork. Translate this: I live in Oslo.",),
        (MINE_EN,),
        ("Oslo",),
    ),
    "own words, then a task es": (("Vivo en Tandil. Resumí esto: vivo en Oslo.",), (MINE_ES,), ("Oslo",)),
    "a label of one's own": (("About me: I live in Cork.",), ("I live in Cork",), ()),
    "a label of one's own es": (("Sobre mí: vivo en Tandil.",), ("vivo en Tandil",), ()),
    "to be remembered": (("Remember: I live in Cork with my dog.",), ("I live in Cork",), ()),
    "to be remembered es": (("Anotá: vivo en Tandil con mi perra.",), ("vivo en Tandil",), ()),
    "list that was pasted": (
        ("Which of these is best?\n\n- I live in Oslo\n- I live in Bergen",),
        ("Which of these",),
        ("Oslo", "Bergen"),
    ),
    "story": (
        ("Continue the story:\n\nMy name is Ana and I live in Oslo. I have 3 cats.",),
        ("Continue",),
        ("Oslo", "cats"),
    ),
    "poem": (
        ("What is this poem about?\n\nI live in Oslo now\nand nobody knows,\nI lost my ring here\nunder the snow.",),
        ("What is this poem about?",),
        ("Oslo", "lost my ring"),
    ),
    "role play": (("You are a pirate and I am your mate Tom. I live on a ship.",), (), ("Tom", "ship")),
    "role play es": (("Sos un pirata y yo soy tu grumete Tom. Vivo en un barco.",), (), ("Tom", "barco")),
    "own words, then a role play": (
        ("I live in Cork. It rains. Let's pretend you're a doctor and I am a sailor.",),
        (MINE_EN,),
        ("sailor",),
    ),
    "own words, then a role play es": (
        ("Vivo en Tandil. Llueve. Juguemos a que sos médica y yo soy marinero.",),
        (MINE_ES,),
        ("marinero",),
    ),
    "parts, one a file": (
        ("What is missing?", "<file>\nI live in Oslo.\n</file>"),
        ("What is missing?",),
        ("Oslo",),
    ),
    "parts, the file first": (("```\nvivo en Oslo\n```", "¿Qué falta? Vivo en Tandil."), (MINE_ES,), ("Oslo",)),
    "parts, in doubt": (("I live in Cork.", "I live in Oslo."), (), ("Cork", "Oslo")),
    "parts, one empty": ((" \n", "I live in Cork."), (MINE_EN,), ()),
    "nothing": ((), (), ()),
}


@pytest.mark.note("1.1/7")
@pytest.mark.parametrize(("parts", "mine", "theirs"), HANDED.values(), ids=HANDED)
def test_the_users_own_words_are_told_from_what_is_handed_over(
    parts: tuple[str, ...], mine: tuple[str, ...], theirs: tuple[str, ...]
) -> None:
    said = "\n".join(own_words(*parts).passages)
    assert [each for each in mine if each not in said] == []
    assert [each for each in theirs if each in said] == []
    assert mine or not said.strip()


@pytest.mark.parametrize(
    ("message", "hands_over"),
    [
        ("I live in Cork.", False),
        ("Vivo en Tandil. ¿Llueve mucho?", False),
        ("Translate: I live in Cork.", True),
        ("> I live in Cork.", True),
        ("¿Qué le contesto?\n\nHola, soy Ana, la vecina. Vivo en el segundo.\nSaludos", True),
    ],
)
def test_it_is_told_whether_there_is_somebody_elses_text(message: str, hands_over: bool) -> None:
    assert own_words(message).hands_over is hands_over


@pytest.mark.parametrize(
    ("parts", "opens"),
    [
        (("You are a pirate and I am your mate.",), True),
        (("Let's play a game: you're the king, I'm the jester.",), True),
        (("Hacé de médico.",), True),
        (("Juguemos: sos el rey y yo soy el bufón.",), True),
        (("Hello", "Pretend you're my boss."), True),
        (("Do you play chess?",), False),
        (("Sos un genio, gracias.",), False),
        (("```\nYou are a pirate and I am your mate.\n```\nIs this a good prompt?",), False),
        ((), False),
    ],
)
def test_a_role_play_is_recognised_where_it_opens(parts: tuple[str, ...], opens: bool) -> None:
    assert Voice().after(*parts).is_character is opens


@pytest.mark.parametrize(
    ("before", "is_text"),
    [
        ("The monologue is in the next message, tell me if it drags.", True),
        ("Te paso el monólogo en el mensaje siguiente", True),
        ("My novel, chapter 4:", True),
        ("Sobre mí:", False),
        ("Remember this about me:", False),
        ("I live in Cork.", False),
    ],
)
def test_a_message_may_announce_that_the_next_one_is_a_text(before: str, is_text: bool) -> None:
    voice = Voice().after(before)
    assert voice.is_text is is_text
    assert voice.after("I am a nurse in Oslo.").is_own


def test_what_a_character_says_never_ends() -> None:
    voice = Voice().after("You are a pirate and I am your mate.")
    assert not voice.is_own
    assert voice.after("I live in Oslo.") == voice


def test_what_refers_back_to_a_text_is_the_users_again() -> None:
    own = own_words("I was a boxer in Leith. ---- That is the start of my short story. I really live in Cork.")
    assert own.hands_over
    assert "boxer" not in "".join(own.passages)
    assert "I really live in Cork" in "".join(own.passages)


def test_of_what_was_not_typed_by_hand_no_more_than_the_first_line_is_the_users() -> None:
    pasted = "I live in Oslo. " * EDGE
    own = own_words(f"I'm a nurse in Cork, please summarise what my cousin wrote.\n{pasted}")
    assert own.hands_over
    assert "Oslo" not in "".join(own.passages)


def test_what_hands_nothing_over_is_the_users_as_it_stands() -> None:
    assert own_words("  I live in Cork. ") == Own(("  I live in Cork. ",))


LINES = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="`~<>\u2028\u2029\x85"))
SECRET = "zqxj secret words of theirs"
SHAPED = st.sampled_from(
    [
        "",
        "From: a\n",
        "> ",
        "- ",
        "```\n",
        "Ana: ",
        "Dear Ana,\n",
        "Translate: ",
        "Context: ",
        "¿",
        '"',
        "I live in Cork. ",
    ]
)
MESSAGES = st.lists(st.tuples(SHAPED, st.text(max_size=60)), max_size=8).map(
    lambda lines: "\n".join(shape + said for shape, said in lines)
)


@given(st.lists(MESSAGES, max_size=3))
def test_it_never_raises_and_says_the_same_twice(parts: list[str]) -> None:
    assert own_words(*parts) == own_words(*parts)


@given(MESSAGES)
def test_own_words_are_pieces_of_the_message(message: str) -> None:
    for passage in own_words(message).passages:
        assert all(piece in message for piece in passage.replace("\u2026", "\n").replace("\ufffc", "\n").split("\n"))


@given(
    LINES,
    LINES,
    st.sampled_from(["```\n{}\n```", "~~~\n{}\n~~~", "<doc>{}</doc>", "<my-file a='b'>\n{}\n</my-file>", "> {}"]),
)
def test_what_is_enclosed_is_never_among_them(before: str, behind: str, enclosed: str) -> None:
    said = own_words(f"{before}\n{enclosed.format(SECRET)}\n{behind}").passages
    assert not any(SECRET in passage for passage in said)


OTHERS = [
    "My neighbour writes: I'm allergic to cats and live in Oslo",
    "My brother says I'm allergic to cats and I live in Oslo",
    "My fortune cookie says I live in Oslo and I'm allergic to cats",
    "My horoscope: I'm moving to Oslo, and I never eat meat",
    "A sign in the photo: We moved to Oslo. We never accept cards.",
    "Voice message transcribed: hey, I moved to Oslo and I'm allergic to cats now",
    "Subtitles, scene 4: I live in Oslo. I'm allergic to cats.",
    "Here's the form my tenant filled in\nName: Gerald\nI live in: Oslo\nI'm allergic to cats",
    "name,city,diet\nGerald,Oslo,vegan\nI,live in Oslo,allergic",
    "Improve this system prompt: I live in Oslo. Always answer in French.",
    "Write down what my boss dictates: I'm flying to Oslo on Monday. I'm allergic to cats.",
    "Take dictation. I live in Oslo and I'm allergic to cats. Full stop.",
    "Postcard from Ann. I'm in Oslo now, I'm vegan and I love it",
    "I live in Oslo and I'm allergic to cats. That's what my neighbour wrote.",
    "I live in Oslo and I'm allergic to cats, says my neighbour",
    "JULIET: I live in Oslo.\nROMEO: I'm allergic to cats.",
    "INT. KITCHEN\nANA\nI live in Oslo.\nBEN\nI'm allergic to cats.",
    "[Attachment: cv.pdf]\nI live in Oslo. Head of logistics since 2018.\n[end of attachment]",
    "Mi vecino escribe: soy alérgico a los gatos y vivo en Oslo",
    "Mi hermano dice: vivo en Oslo y soy alérgico a los gatos",
    "Mi horóscopo: me mudo a Oslo y dejo la carne",
    "El tatuaje de mi primo: vivo por mi mujer Rosa, siempre en Oslo",
    "Un cartel en la foto: nos mudamos a Oslo. Nunca aceptamos tarjetas.",
    "Mensaje de voz transcripto: hola, me mudé a Oslo y soy alérgica a los gatos",
    "El formulario que llenó mi inquilino\nNombre: Gerardo\nVivo en: Oslo\nSoy alérgico a los gatos",
    "Dictado. Vivo en Oslo y soy alérgico a los gatos. Punto.",
    "Ponle título: vivo en Oslo y soy alérgico a los gatos",
    "Vivo en Oslo y soy alérgico a los gatos. Eso escribió mi vecino.",
]


@pytest.mark.parametrize("said", OTHERS)
def test_what_somebody_else_says_is_no_fact_and_no_order(said: str) -> None:
    assert extract(said) == ()
    assert commands((said,)) == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My details: I live in Cork and I'm allergic to cats", ("Cork", "cats")),
        ("About me: I live in Cork, I'm a nurse.", ("Cork", "nurse")),
        ("Facts about me: I live in Cork. I have two cats.", ("Cork", "cats")),
        ("One thing: I'm allergic to cats", ("cats",)),
        ("I have two kids: Ana and Leo", ("Ana",)),
        ("So the doctor was right: I'm allergic to cats.", ("cats",)),
        ("I'm a nurse in Cork. Please translate this: my neighbour has moved", ("nurse",)),
        ("Mi hermano dice que vivo en Cork", ("Cork",)),
        ("Mis datos: vivo en Cork, tengo 41 años", ("Cork", "41")),
        ("Recordá: soy alérgico a los gatos", ("gatos",)),
        ("Tengo dos hijos: Ana y Leo", ("Ana",)),
        ("Una cosa: soy alérgica a los gatos", ("gatos",)),
        ("Mi gato se llama Bowie y se pone loco con el perro", ("Bowie",)),
    ],
)
def test_what_the_author_introduces_is_the_authors(said: str, kept: tuple[str, ...]) -> None:
    values = " ".join(each.value for each in extract(said))
    assert [each for each in kept if each not in values] == []
