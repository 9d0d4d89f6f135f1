import pytest

from proxy.memory.cues import asking, asks_for, asks_for_answers, concreteness, cues, last_question


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("Which paint is it?", "asks"),
        ("cuanto mide mi barco", "asks"),
        ("y con que pintura sigo", "asks"),
        ("cuando es la regata de Azul", "asks"),
        ("¿quién pintó la quilla", "asks"),
        ("what's my berth number", "asks"),
        ("which paint is it", "asks"),
        ("Which paint is it?", "asking_word"),
        ("¿Con qué pintura sigo?", "asking_word"),
        ("Che, ¿cuándo era la cita?", "asking_word"),
        ("Remind me which paint it was", "request"),
        ("Recordame qué pintura era", "request"),
        ("Pasame de nuevo el número del taller", "request"),
        ("What did I say about the keel?", "before"),
        ("¿Qué te dije de la quilla?", "before"),
        ("¿Cómo se llamaba el taller?", "before"),
        ("Where was the shed?", "past"),
        ("¿Dónde guardaba las velas?", "past"),
        ("¿Quién pintó la quilla?", "past"),
        ("How long is my boat?", "ones_own"),
        ("¿Cuánto mide mi barco?", "ones_own"),
        ("Do you like boats?", "addressed"),
        ("How do I paint a keel?", "advice"),
        ("¿Me conviene pintarla ya?", "advice"),
        ("¿Cómo pinto la quilla?", "advice"),
        ("Wow, what a colour!", "going_on"),
        ("¿Y la vela?", "going_on"),
        ("What colour is it?", "pointing"),
    ],
)
def test_a_cue_is_seen(text: str, cue: str) -> None:
    assert getattr(cues(text), cue)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("The keel is red.", "asks"),
        ("que bueno que ya está pintada", "asks"),
        ("cuando llegué al taller, la quilla ya estaba pintada", "asks"),
        ("como te dije la quilla es roja", "asks"),
        ("what a red keel", "asks"),
        ("when the keel is dry, I'll paint the mast", "asks"),
        ("Is the keel red?", "asking_word"),
        ("I list to port when it blows", "request"),
        ("¿Cuánto costaría una vela?", "past"),
        ("¿Todavía hay energía?", "past"),
        ("Where does this keel come from?", "pointing"),
    ],
)
def test_a_cue_is_not_seen_where_it_only_looks_like_one(text: str, cue: str) -> None:
    assert not getattr(cues(text), cue)


def test_the_last_question_tells_and_the_whole_is_measured() -> None:
    said = cues("I painted my keel. Was it wise? Which red would suit a sail?")
    assert (said.asking_word, said.past, said.ones_own) == (True, False, False)
    assert (said.words, said.sentences) == (13, 3)


def test_figures_are_counted_as_they_are_written() -> None:
    assert cues("On 3/4/2024 the keel cost $1,200.50, or 10 %").figures == 3
    assert cues("What did the keel cost?").figures == 0


def test_of_a_very_long_message_the_ends_are_read() -> None:
    assert cues("boat " * 100_000 + "\nWhat did I say?").before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did you recommend for the keel?", True),
        ("¿Qué me recomendaste para la quilla?", True),
        ("¿Cuánto habías dicho que tardaba?", True),
        ("¿Existe una pintura más triste?", False),
        ("How did I mend the keel?", True),
        ("Which method did we use for the sail?", True),
        ("¿Cómo arreglé la quilla?", True),
        ("¿Qué pasos seguimos con la vela?", True),
        ("How do I mend the keel?", False),
        ("¿Cómo arreglo la quilla?", False),
        ("What did I say about the keel?", False),
        ("What do you recommend?", False),
    ],
)
def test_whose_words_are_wanted(text: str, expected: bool) -> None:
    assert asks_for_answers(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did I paint the keel?", "one"),
        ("In what year did I buy the boat?", "one"),
        ("How much was the mast?", "one"),
        ("¿Cuándo pinté la quilla?", "one"),
        ("¿En qué fecha era la regata?", "one"),
        ("Che, ¿quién pintó la quilla?", "one"),
        ("Why did I sell the boat?", "some"),
        ("¿Por qué vendí el barco?", "some"),
        ("Is the keel dry?", "some"),
        ("", "some"),
        ("What colours did I paint it?", "many"),
        ("Which islands have we sailed to?", "many"),
        ("List the repairs in the order I mentioned them", "all"),
        ("Can you give me a summary of our plans?", "all"),
        ("¿Cuáles eran las islas?", "many"),
        ("Where have I sailed this year?", "many"),
        ("How many times did I paint the keel?", "many"),
        ("¿Cuántas veces pinté la quilla?", "many"),
        ("How many coats does the keel have?", "one"),
        ("When do I have to pay the berth?", "one"),
        ("Resumime todo lo del barco", "all"),
        ("Resume lo del barco", "all"),
        ("When did I send my resume?", "one"),
        ("How has my plan for the boat changed?", "all"),
        ("¿Qué islas vimos?", "many"),
        ("¿Por qué pintamos las velas?", "some"),
        ("I have listed all of them. When is the race?", "one"),
    ],
)
def test_how_many_things_a_question_asks_for(text: str, expected: str) -> None:
    assert asks_for(text) == expected


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Which paint is best?", 1.0, 1.0),
        ("¿Qué pintura conviene?", 1.0, 1.0),
        ("I bought the red paint.", 0.0, 0.0),
        ("I bought the red paint. Is it any good?", 0.3, 0.7),
        (f"I have {'a very long keel and ' * 10}a mast, can you help me with it?", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_how_much_of_a_message_is_short_questions(text: str, least: float, most: float) -> None:
    assert least <= asking(text) <= most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was dear in the end", 0.0),
        ("Hello! We had soup. Then we slept.", 0.0),  # sentences begin with capitals
        ("It came to 950 in the end", 0.5),
        ("I sail with my cousin Inés", 0.5),
        ("Inés paga 950 a su prima Álvara", 1.0),
        ("I'm sure that I did", 0.0),
        ("", 0.0),
    ],
)
def test_figures_and_names_in_a_message(text: str, expected: float) -> None:
    assert concreteness(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Thanks! When is the race? ", "When is the race?"), ("One? Two? Three.", "Two?"), ("None.", ""), ("", "")],
)
def test_the_last_question_of_a_message(text: str, expected: str) -> None:
    assert last_question(text) == expected
