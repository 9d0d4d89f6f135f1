"""Which steps lead from the words of one question to those of another that is the same, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import analyse
from proxy.reuse.verdict import difference
from tests.languages import EN, ES


def differs(language: Language, asked: str, earlier: str) -> bool:
    questions = analyse(asked, language), analyse(earlier, language)
    both_ways = {bool(difference(*questions)[0]), bool(difference(*questions[::-1])[0])}
    assert len(both_ways) == 1
    return both_ways.pop()


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "How do I clean a cast iron pan?", "how do i claen a cast iron pan"),
        (EN, "How do I clean a cast iron pan?", "how do i clean a cast-iron pan"),
        (EN, "Why doesn't oil mix with water?", "why doesnt oil mix with water"),
        (EN, "How does photosynthesis work?", "How does fotosynthesis work?"),
        (EN, "Which colours do cats see?", "Which colors do cats see?"),
        (EN, "How do I organise my books?", "How do I organize my books?"),
        (EN, "How do I sort a list in Java?", "In Java, how do I sort a list?"),
        (EN, "What is a torque wrench?", "Hi! Could you tell me what is a torque wrench please? Thanks"),
        (EN, "What does a notary do?", "Can you explain what does a notary do"),
        (EN, "How do two magnets attract?", "How do 2 magnets attract?"),
        (EN, "How do I update Firefox?", "How do I update Fire fox?"),
        (ES, "¿Cómo limpio una sartén de hierro?", "como limpio una sarten de hierro"),
        (ES, "¿Qué vitaminas tienen las espinacas?", "que vitaminas tienen las espinakas"),
        (ES, "¿Qué es una llave dinamométrica?", "Hola, ¿me podrías decir qué es una llave dinamométrica? Gracias"),
        (ES, "Antes de comprar un coche, ¿qué miro?", "¿Qué miro antes de comprar un coche?"),
    ],
)
def test_spelling_order_and_wrappers_are_no_other_words(language: Language, asked: str, earlier: str) -> None:
    assert not differs(language, asked, earlier)


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "Is it better to fly?", "Is it worse to fly?"),
        (EN, "Are all owls wise?", "Are some owls wise?"),
        (EN, "How do I clean a pan?", "How do I clean pans?"),
        (EN, "Who wins the cup?", "Who won the cup?"),
        (EN, "What are enzymes?", "What are enzymes for?"),
        (EN, "What is a good recipe for lasagna?", "What is a good vegan recipe for lasagna?"),
        (EN, "Can I pay online?", "Must I pay online?"),
        (EN, "How do I clean a desert rose?", "How do I clean a dessert rose?"),
        (EN, "How do I install numpys?", "How do I install numpy?"),
        (EN, "How do typed arrays work?", "How do untyped arrays work?"),
        (EN, "How do I filed a complaint?", "How do I filled a complaint?"),
        (EN, "Is mourning long?", "Is morning long?"),
        (ES, "¿Cómo aumento la memoria?", "¿Cómo reduzco la memoria?"),
        (ES, "¿Quién gana el torneo?", "¿Quién ganará el torneo?"),
        (ES, "¿Qué son las enzimas?", "¿Para qué son las enzimas?"),
        (ES, "¿Cómo renombro una columna?", "¿Cómo renombro columnas?"),
    ],
)
def test_a_word_that_is_replaced_added_or_inflected_is_a_difference(
    language: Language, asked: str, earlier: str
) -> None:
    assert differs(language, asked, earlier)


# Each licence: two that are the same by it, and two that nearly are.
TABLE = {
    "frame": [
        (EN, "How do I clean a pan?", "What is the best way to clean a pan?", True),
        (EN, "How do I clean a pan?", "What is the cheapest way to clean a pan?", False),
        (EN, "What is a torque wrench?", "Define torque wrench", True),
        (EN, "What is a torque wrench?", "What is a torque wrench for?", False),
        (EN, "Crocodile vs alligator", "What is the difference between a crocodile and an alligator?", True),
        (EN, "Who wrote Dracula?", "Who is the author of Dracula?", True),
        (EN, "Who wrote Dracula?", "Who is the editor of Dracula?", False),
        (ES, "¿Cómo limpio una sartén?", "¿Cuál es la mejor forma de limpiar una sartén?", True),
        (ES, "¿Cómo hago arroz?", "¿Cómo consigo arroz?", False),
        (ES, "¿Dónde va el acento?", "¿A dónde va el acento?", False),
        (ES, "¿Qué causa el hipo?", "¿Qué cura el hipo?", False),
    ],
    "wrapper": [
        (EN, "How do magnets work?", "Hello! My name is Priya. How do magnets work?", True),
        (EN, "What should I eat?", "I'm pregnant, what should I eat?", False),
        (EN, "How do I exit vim?", "For my homework: how do I exit vim?", True),
        (ES, "¿Cómo salgo de vim?", "Hola, soy Julián, ¿cómo salgo de vim?", True),
        (ES, "¿Qué visa necesito?", "Soy extranjero, ¿qué visa necesito?", False),
        (ES, "¿Por dónde pasa el Nilo?", "¿Dónde pasa el Nilo?", False),
    ],
    "spelling": [
        (EN, "How long do sweet potatoes keep?", "How long do sweet potatos keep?", True),
        (EN, "What is the capital of Australia?", "What is the capital of Austria?", False),
        (EN, "How long does the Pixel 6 last?", "How long does the Pixel 6a last?", False),
        (EN, "How do I re-cover a sofa?", "How do I recover a sofa?", False),
        (ES, "¿Qué pasa sino pago?", "¿Qué pasa si no pago?", False),
        (ES, "¿Cómo quito la humedad?", "¿Cómo quito la umedad?", True),
        (ES, '¿Qué significa "revelarse"?', '¿Qué significa "rebelarse"?', False),
    ],
    "accents and capitals": [
        (ES, "¿Qué es un año?", "¿Qué es un ano?", False),
        (ES, '¿Cuándo se escribe "tu"?', '¿Cuándo se escribe "tú"?', False),
        (ES, "¿Qué estudia la geología?", "que estudia la geologia", True),
        (EN, "What is Polish?", "What is polish?", False),
        (EN, "How many MB are in a GB?", "How many Mb are in a GB?", False),
        (EN, "How do I install Ubuntu?", "how do i install ubuntu", True),
    ],
    "abbreviation": [
        (EN, "What does the World Health Organization do?", "What does the WHO do?", True),
        (EN, "What does the World Heritage Fund do?", "What does the WHO do?", False),
        (EN, "How many tbsp are in a cup?", "How many tablespoons are in a cup?", True),
        (EN, "How many tbsp are in a cup?", "How many teaspoons are in a cup?", False),
        (ES, "¿Qué es la OTAN?", "¿Qué es la Organización del Tratado del Atlántico Norte?", True),
        (ES, "¿Cuántos ml tiene una taza?", "¿Cuántos mililitros tiene una taza?", True),
        (ES, "¿Cuántos ml tiene una taza?", "¿Cuántos mg tiene una taza?", False),
    ],
    "verb": [
        (EN, "How do I merge two lists?", "How do I go about merging two lists?", True),
        (EN, "How do I stop smoking?", "How do I stop to smoke?", False),
        (EN, "How should knives be stored?", "How should I store knives?", True),
        (EN, "Who killed Macbeth?", "Who was killed by Macbeth?", False),
        (ES, "¿Cómo recorto una imagen?", "¿Cómo se recorta una imagen?", True),
        (ES, "¿Cómo come un gato?", "¿Cómo se come un gato?", False),
        (ES, "¿Cómo limpias un horno?", "¿Cómo limpiaste un horno?", False),
    ],
    "register": [
        (ES, "¿Qué antivirus usas para Mac?", "¿Qué antivirus usás para Mac?", True),
        (ES, "¿Qué tenés que hacer si llueve?", "¿Qué tienes que hacer si llueve?", True),
        (ES, "¿Qué puedes comer?", "¿Qué debes comer?", False),
        (ES, '¿Cómo se usa "vos"?', '¿Cómo se usa "usted"?', False),
    ],
    "plural": [
        (EN, "What do hedgehogs eat?", "What does a hedgehog eat?", True),
        (EN, "What do these hedgehogs eat?", "What does a hedgehog eat?", False),
        (EN, "What is the largest moon?", "What are the largest moons?", False),
        (EN, "What is a custom?", "What are customs?", False),
        (EN, "What is the lifespan of a parrot?", "What is the lifespan of parrots?", True),
        (EN, "How do I rename a column?", "How do I rename columns?", False),
        (ES, "¿Qué comen los erizos?", "¿Qué come un erizo?", True),
        (ES, "¿Cuál es el río más largo?", "¿Cuáles son los ríos más largos?", False),
    ],
    "synonym": [
        (EN, "How do cell phones work?", "How do mobile phones work?", True),
        (EN, "How do I make money?", "How do I earn money?", True),
        (EN, "What do lawyers do?", "What do attorneys do?", True),
        (EN, "What is the average salary?", "What is the median salary?", False),
        (EN, 'What does "begin" mean?', 'What does "start" mean?', False),
        (ES, "¿Cómo arreglo una canilla?", "¿Cómo reparo un grifo?", True),
        (ES, "¿Cómo ganar dinero?", "¿Cómo hacer dinero?", True),
        (ES, "¿Qué pena tiene el hurto?", "¿Qué pena tiene el robo?", False),
    ],
    "article": [
        (EN, "Which vitamins are good for the skin?", "Which vitamins are good for skin?", True),
        (EN, "What does it mean to be in office?", "What does it mean to be in the office?", False),
        (EN, "Which birds eat few insects?", "Which birds eat a few insects?", False),
        (EN, "Who was on board in 2010?", "Who was on the board in 2010?", False),
        (EN, "How big is Amazon?", "How big is the Amazon?", False),
        (ES, "¿Quién fundó Valencia?", "¿Quién fundó el Valencia?", False),
        (ES, "¿Por qué finge Raúl ser médico?", "¿Por qué finge Raúl ser el médico?", False),
        (ES, "¿Cuál es la capital de la India?", "¿Cuál es la capital de India?", True),
        (ES, "¿Qué es un cometa?", "¿Qué es una cometa?", False),
        (ES, "¿Qué es el frente?", "¿Qué es la frente?", False),
    ],
    "tool": [
        (EN, "How do I mute alerts on Android?", "How do I mute alerts in Android?", True),
        (EN, "How do I sleep with a cold?", "How do I sleep in the cold?", False),
        (EN, "How do I copy files to Linux?", "How do I copy files from Linux?", False),
    ],
    "keywords": [
        (EN, "symptoms iron deficiency", "What are the symptoms of iron deficiency?", True),
        (EN, "Is Earth a black hole?", "Is Earth in a black hole?", False),
        (EN, "frankenstein novel", "When was the novel Frankenstein published?", False),
        (EN, "metformin side effects", "What are the side effects of metformin?", True),
        (EN, "dollars euros", "How do I go from dollars to euros?", False),
        (ES, "síntomas de la menopausia", "¿Cuáles son los síntomas de la menopausia?", True),
    ],
    "numbers": [
        (EN, "What is twenty percent of 350?", "What's 20% of 350?", True),
        (EN, "Who drew one hundred and five maps?", "Who drew 105 maps?", True),
        (EN, "Who won in round two hundred?", "Who won in round two?", False),
        (EN, "Do I need ten or two eggs?", "Do I need twelve eggs?", False),
        (EN, "What did Henry VIII die of?", "What did Henry VII die of?", False),
        (ES, "¿Cómo llego a diez mil pasos?", "¿Cómo llego a 10.000 pasos?", True),
        (ES, "¿Quién gobernó en el siglo XVIII?", "¿Quién gobernó en el siglo dieciocho?", True),
        (ES, "¿Cuánto es treinta y cinco menos dos?", "¿Cuánto es treinta menos dos?", False),
    ],
    "who does it": [
        (EN, "When did they build the Eiffel Tower?", "When was the Eiffel Tower built?", True),
        (EN, "Should mushrooms be washed?", "Should I wash mushrooms?", True),
        (EN, "Where should one store potatoes?", "Where should I store potatoes?", True),
        (EN, "Why did they fire the coach?", "Why did the coach fire?", False),
        (EN, "When should he take insulin?", "When should I take insulin?", False),
        (ES, "¿Qué idioma hablan en Angola?", "¿Qué idioma se habla en Angola?", True),
        (ES, "¿Cómo comen los gatos?", "¿Cómo se come un gato?", False),
    ],
    "of what measure": [
        (EN, "How tall is the Aconcagua?", "What is the height of the Aconcagua?", True),
        (EN, "How far is Mars from Earth?", "What's the distance between Mars and Earth?", True),
        (EN, "How tall is the Aconcagua?", "How old is the Aconcagua?", False),
        (ES, "¿Qué altura tiene el Aconcagua?", "¿Cuánto mide el Aconcagua?", True),
        (ES, "¿Cuánto pesa un oso?", "¿Cuánto mide un oso?", False),
    ],
    "accents, and words that are none": [
        (ES, "¿Qué come un papá?", "¿Qué come un papa?", False),  # two words, told by their accents
        (ES, "¿Cómo se cura el jamón?", "¿Cómo se cura el jamon?", True),
        (ES, "¿Dónde está el alemán?", "¿Dónde está el aleman?", True),
        (ES, "¿Qué significa jamón?", "¿Qué significa jamon?", False),  # asked of the word
        (ES, "¿Cómo inflo un neumático viejo?", "¿Cómo inflo una llanta vieja?", True),
        (EN, "How do I use a zorba?", "How do I use a zorbi?", False),  # no dictionary has either
        (EN, "How do I cover a sofa?", "How do I recover a sofa?", False),
    ],
}


@pytest.mark.parametrize(
    ("language", "asked", "earlier", "same"), [pytest.param(*row, id=row[1]) for rows in TABLE.values() for row in rows]
)
def test_what_is_not_licensed_is_a_difference(language: Language, asked: str, earlier: str, *, same: bool) -> None:
    assert differs(language, asked, earlier) is not same


@given(st.text(max_size=80), st.sampled_from([EN, ES]))
def test_no_text_differs_from_itself(text: str, language: Language) -> None:
    assert not differs(language, text, text)
