"""Which messages are understood on their own. The sentences were written for this test, not taken from the evaluation
data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.standing import stands_alone

FOLLOW_UPS_ES = """
¿Por qué?
¿Y el otro?
Traducilo al inglés.
Dame otro ejemplo.
¿Quién lo escribió?
¿Cuál es más rápido?
Gracias, me sirvió.
Ahora en Rust.
¿Eso funciona en Windows?
¿Dónde nació?
Seguí.
Contame más
Repetilo más simple
¿Tiene efectos secundarios?
¿Quién es el autor?
Lo mismo para España.
Explicame el paso 3.
¿Qué pasó después?
¿Está bien así?
Usá un tono más formal.
¿Cuál de estos es el más sano?
¿Y antes de eso?
¿En qué se diferencia de la versión anterior?
En una tabla
¿Cuántos años tenía?
¿Qué ingredientes lleva?
¿La primera opción es más segura?
¿Qué quieres decir con eso?
¿Cuál es mejor?
¿Cuántos hay?
¿Se puede congelar?
¿Hago lo mismo con las ruedas de adelante?
¿Alguien más participó?
¿Qué altura tiene el edificio?
¿De dónde es el autor?
¿Qué idioma hablan ahí?
También quiero saber el precio.
¿Una más chica serviría?
¿En qué año fue?
Resumí.
Corregí el error.
¿Cómo se pronuncia?
¿Qué ventajas tiene?
Para cuatro personas.
Quiero una versión más corta.
Eso está mal.
¿Cuál es la capital?
¿Es contagioso?
¿Son caros?
¿Puedo usar margarina en su lugar?
¿Le puedo poner azúcar?
¿Tenía hermanos?
Describí los síntomas.
¿Desde cuándo?
¿Cómo terminó?
Ponelo en formato lista
mejor en verso
¿Cuántas calorías tiene?
Tampoco entiendo la segunda parte.
¿Y la película?
¿Es gratis?
¿Puedo usar manteca en vez de aceite?
¿A qué temperatura?
¿La masa tiene que descansar toda la noche?
¿Eso lo cubre el seguro?
¿Y si ella se niega?
Hacé el tono más amable.
Agregá una conclusión.
Que no pase de 100 palabras.
¿Cómo termina la película?
¿En qué año se separó la banda?
¿Qué integrantes siguen vivos?
¿Por qué la función devuelve None?
¿El bucle para cuando n es cero?
¿Cuál sería la salida?
¿Se puede hacer sin recursión?
¿Qué complejidad tiene?
¿Dónde pongo el archivo?
¿Cada cuánto tomo las pastillas?
¿Y si me salteo una dosis?
¿Es muy grave?
¿A cuánto está el cambio allá?
¿Cómo llego desde el aeropuerto?
¿A qué distancia están las dos ciudades?
¿Necesito visa?
¿Por qué dividiste por dos?
¿Me revisás la respuesta?
Demostralo.
Usá otra palabra.
¿Cómo se escribe?
¿Cuántos murieron en la batalla?
¿Era pariente del rey anterior?
Ok, ¿y la más barata?
Esa no.
¿Pierdo la seña?
¿Trae cargador?
¿Tiene garantía?
¿Se lava a mano?
¿Gasta mucho?
¿Sube la presión?
¿Quién diseñó el puente?
¿Se podría repetir el experimento?
¿Riego todos los días?
¿Cuándo florecen?
¿Y adentro?
¿Alcanza con reiniciar?
¿Qué más puede causar eso?
¿Vienen las pilas?
¿Puedo devolverlos?
¿Tenés alguna recomendación?
Decilo como un pirata.
¿Hay una fórmula para eso?
Mostrá las cuentas.
¿Cómo terminó la historia?
¿La policía encontró el arma?
¿Y si no hay testamento?
¿Cuánto tarda el trámite?
¿Mi marido también necesita uno?
¿Cómo reaccionó la gente?
¿Y las mujeres?
"""

FOLLOW_UPS_EN = """
Why?
What about Lisbon?
Can you make it shorter?
Give me another example.
Is there a cheaper alternative?
No, I meant the river, not the bank.
Could you elaborate?
What if I don't have an oven?
How long does it take?
Continue.
Tell me more
Say that again but simpler
Are there any side effects?
Who is the author?
Same question for Spain.
Explain step 3.
What happened next?
Is this correct?
Use a more formal tone.
Which of these is the healthiest?
Then what?
What's its population?
In Spanish please
with examples
What were the main causes?
Do those have nuts?
Could you rephrase the answer?
What did you say about the deadline?
Which is better?
How many are there?
Can I freeze it?
What else should I consider?
Anything else?
Is the museum open on Sundays?
What was the outcome?
Why not?
Also, what about the price?
How is it different from the American one?
Does the medication cause drowsiness?
How far is it from there?
Summarize the article.
Give me three more.
Is there a difference?
What are the advantages?
For a family of four.
I want a shorter version.
My name is Laura and I live in Boston.
I don't understand.
How many people live in the city?
Can the dog eat the peel?
How would one do so?
Tell me about the history.
Describe the symptoms.
By whom?
Can I use butter rather than oil?
What temperature?
Should the dough rest overnight?
Is that covered by insurance?
And if she refuses?
Make the tone friendlier.
Add a conclusion.
Keep it under 100 words.
How does the movie end?
What year did the band split up?
Which members are still alive?
Why does the function return None?
Does the loop stop when n is zero?
What would the output be?
Is there a way to do that without recursion?
What's the time complexity?
Where do I put the file?
How often should I take the pills?
What if I miss a dose?
How serious is the condition?
What's the exchange rate there?
How do I get there from the airport?
How far apart are the two cities?
Do I need a visa?
Why did you divide by two?
Can you check my answer?
Prove it.
Use a different word.
How do you spell it?
How many died in the battle?
Was the king executed?
I disagree with your last point.
Perfect, thanks!
What's the catch?
How do I know which applies to me?
How much did the project cost?
What colour was the flag?
Should I water every day?
When will they bloom?
And indoors?
Is a reboot enough?
What else could cause this?
Are batteries included?
Can I return them?
Do you have a recommendation?
Say it like a pirate.
Is there a formula for that?
Show your work.
How did the story end?
Did the police find the weapon?
What if there's no will?
How long will the process take?
Will my husband need one too?
How did people react?
And what about women?
"""

STANDING_ES = """
¿Quién pintó Las Meninas?
Definí ósmosis.
¿Cuántas lunas tiene Júpiter?
¿Es legal grabar una llamada en Chile?
¿Cómo funcionan las vacunas?
Escribí un haiku sobre el otoño.
Traducí "buenos días" al japonés.
¿Cómo saco manchas de vino tinto de una alfombra?
¿A qué distancia está la Luna de la Tierra?
¿Cómo cancelo mi suscripción de Netflix?
¿Cuántos habitantes tiene Tokio?
¿Qué pasa si mezclo lavandina con amoníaco?
Contame sobre la Revolución Francesa.
¿Quién inventó el teléfono?
¿Cuánto es el 15% de 240?
que es un agujero negro
¿Se puede congelar el arroz cocido?
¿Qué altura tiene el Aconcagua?
¿El tomate es una fruta o una verdura?
¿Por qué ronronean los gatos?
¿Hay que elongar antes de correr?
¿Cómo funcionan los imanes?
Dame una receta de budín de banana.
¿Qué es el aprendizaje automático y cómo se usa en medicina?
Explicame recursividad
¿Qué comen los pingüinos?
¿Qué derechos tienen los inquilinos en España?
¿Cuánto dura el vuelo de Madrid a Tokio?
¿Es legal estacionar en la vereda en Portugal?
¿Quién escribió Rayuela?
Explicame la teoría de la relatividad en términos simples.
¿Qué diferencia hay entre un latte y un flat white?
¿Cuántos dientes tiene un tiburón?
¿Cómo escribo una carta de presentación para un trabajo docente?
¿Cuánta agua debe tomar un adulto por día?
Sugerime cinco nombres para una cafetería.
¿Qué significa la palabra efímero?
¿Cómo funciona la selección natural?
¿Qué idiomas se hablan en Suiza?
¿Cuál es el animal terrestre más rápido?
Contame sobre el Imperio Inca.
¿Cómo se forman las perlas?
¿Cómo matan bacterias los antibióticos?
¿Qué diferencia hay entre pensión y alimentos?
¿Cuándo se independizó Brasil?
¿Por qué Venus es más caliente que Mercurio?
¿Qué produce la fotosíntesis?
Traducí "tengo hambre" al italiano.
¿Quién fue Marie Curie?
"""

STANDING_EN = """
Who painted The Night Watch?
What's the difference between TCP and UDP?
How many moons does Jupiter have?
Is it legal to record a phone call in California?
How long should I boil an egg?
What are the side effects of ibuprofen?
How do vaccines work?
Write a haiku about autumn.
Translate "good morning" into Japanese.
How can I remove red wine stains from a carpet?
When did World War II end?
List the planets of the solar system in order.
How do I cancel my Netflix subscription?
What is the population of Tokyo?
Recommend three novels by Gabriel García Márquez.
How does a refrigerator work?
Summarize the plot of Hamlet.
What's 15% of 240?
what is a black hole
Can I freeze cooked rice?
What are the symptoms of dehydration?
Are tomatoes a fruit or a vegetable?
Which vitamins are fat-soluble?
What's the plural of octopus?
How do magnets work?
Give me a recipe for banana bread.
How does compound interest work?
Where is Machu Picchu?
How do I know whether my avocado is ripe?
How is cheese made?
How do I change a flat tire?
What temperature should chicken be cooked to?
Is it legal to park on the sidewalk in Portugal?
Who wrote Pride and Prejudice?
Explain the theory of relativity in simple terms.
What's the difference between a latte and a flat white?
When was the Berlin Wall built?
Why do leaves change color in autumn?
How do I write a cover letter for a teaching job?
How much water should an adult drink per day?
Suggest five names for a coffee shop.
What is the meaning of the word ephemeral?
how do i get rid of fruit flies
How does natural selection work?
What languages are spoken in Switzerland?
How long do turtles live?
what is the square root of 144
How do I renew a US passport?
How are pearls formed?
What is the tallest building in Dubai?
Can I take a power bank on a flight?
How do I declare an array in Java?
What vegetables grow in winter?
Explain inflation to a child.
How many players are on a volleyball team?
What does photosynthesis produce?
What are the rules of chess?
How far is Paris from London by train?
"""

FOLLOW_UPS = [line for table in (FOLLOW_UPS_ES, FOLLOW_UPS_EN) for line in table.strip().splitlines()]
STANDING = [line for table in (STANDING_ES, STANDING_EN) for line in table.strip().splitlines()]


def test_a_follow_up_does_not_stand_alone() -> None:
    assert [text for text in FOLLOW_UPS if stands_alone(text)] == []


def test_a_question_that_names_what_it_is_about_stands_alone() -> None:
    assert [text for text in STANDING if not stands_alone(text)] == []


@pytest.mark.parametrize(
    ("alone", "leaning"),
    [
        ("What are the side effects of ibuprofen?", "What are the side effects?"),
        ("Who is the author of Ulysses?", "Who is the author?"),
        ("Which is cheaper, gas or electric heating?", "Which is cheaper?"),
        ("Is it safe to swim after a big meal?", "Is it safe?"),
        ("How long does it take to boil an egg?", "How long does it take?"),
        ("What is osmosis and why does it matter?", "Why does it matter?"),
        ("If a bee stings you, does it die?", "Does it die?"),
        ("Can I freeze bread?", "Can I freeze it?"),
        ("Do I need a visa for Japan?", "Do I need a visa?"),
        ("Give me an example of a metaphor.", "Give me an example."),
        ('Translate "good night" into Korean.', "Translate that into Korean."),
        ("Is there water on Mars?", "Is there a difference?"),
        ("¿Cuál es la capital de Mongolia?", "¿Cuál es la capital?"),
        ("¿Qué altura tiene el Aconcagua?", "¿Qué altura tiene?"),
        ("¿Es contagiosa la gripe?", "¿Es contagiosa?"),
        ("¿Cuándo murió Sarmiento?", "¿Cuándo murió?"),
        ("¿Se puede congelar pan casero?", "¿Se puede congelar?"),
        ("¿Cómo instalo Docker en Windows?", "¿Cómo lo instalo en Windows?"),
        ("¿Quién inventó la radio?", "¿Quién la inventó?"),
        ("¿Dónde está el Louvre?", "¿Dónde está eso?"),
        ("Resumí la trama de Hamlet.", "Resumila."),
        ("Explicame recursividad", "Explicámelo"),
        ("¿Necesito visa para Japón?", "¿Necesito visa?"),
        ("Dame un ejemplo de metáfora.", "Dame otro ejemplo."),
    ],
)
def test_what_makes_the_difference(alone: str, leaning: str) -> None:
    assert stands_alone(alone)
    assert not stands_alone(leaning)


@pytest.mark.parametrize(
    ("preface", "text"),
    [
        ("Hi! ", "Who painted The Night Watch?"),
        ("Thanks. Another question: ", "Who painted The Night Watch?"),
        ("Changing the subject: ", "Who painted The Night Watch?"),
        ("Hola, ", "¿Quién pintó Las Meninas?"),
        ("Gracias por todo. Otra consulta: ", "¿Quién pintó Las Meninas?"),
        ("Cambiando de tema, ", "¿Quién pintó Las Meninas?"),
    ],
)
def test_a_greeting_or_another_topic_changes_nothing(preface: str, text: str) -> None:
    assert stands_alone(preface + text)


@pytest.mark.parametrize("opener", ["And ", "But ", "What about this: ", "Y ", "Pero ", "Entonces, "])
def test_what_goes_on_from_something_does_not_stand_alone(opener: str) -> None:
    assert [text for text in STANDING if stands_alone(opener + text)] == []


def test_an_introduction_is_what_the_next_sentences_point_at() -> None:
    introduction = "I keep bees on a rooftop in Oslo and lost half of my colonies to mites last winter."
    assert stands_alone(f"{introduction} How do I protect them?")
    assert not stands_alone("I keep bees. How do I protect them?")
    assert not stands_alone(f"It happened again. {introduction} How do I protect them?")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "👍",
        "ok",
        "def f(x): return x",
        "Quanto tempo vive um gato?",  # neither language: nothing is known of its grammar
        "My sister lives in Boston with two cats.",  # asks nothing
        "Mi hermana vive en Rosario con dos gatos.",
        "What is the capital of France? " * 100,
    ],
)
def test_doubt_says_no(text: str) -> None:
    assert not stands_alone(text)


@pytest.mark.parametrize("text", ["¿Qué decía el acuerdo de paz?", "How do I store leftovers?", "What is a genre?"])
def test_what_grammar_cannot_tell_counts_as_standing_alone(text: str) -> None:
    """Known limits: the same words can be asked by somebody who says no more."""
    assert stands_alone(text)


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert stands_alone(text) in (True, False)
