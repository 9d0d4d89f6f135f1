"""The language of questions as they are typed. They were written for this test, not taken from the evaluation data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.detect import language

SPANISH = """
cual es la capital de peru
Explicame recursividad
Definí entropía.
q es un agujero negro
como hago un bucle for en python
¿Me explicás el teorema de Bayes?
Cuantos gramos tiene una libra?
decime tres capitales de africa
porque los gatos ronronean
Cómo configuro nginx como reverse proxy?
dame una receta de lasaña
¿Qué hace git rebase?
quien gano el mundial 78
Hola, necesito ayuda con mi tesis
dónde queda Machu Picchu
¿Es peligroso tomar ibuprofeno con alcohol?
Recomendame libros de ciencia ficción
¿Vos sabés cómo se saca el DNI?
cuanto es 15 por 8
para que sirve el magnesio
Contá un chiste
Resumen de Don Quijote
diferencia entre virus y bacteria
¿Cuántas patas tiene una araña?
Escribe un poema corto
haceme un resumen de la segunda guerra mundial
capital de Francia?
¿Qué es Docker?
como se llama la moneda de japon
¿Puedo usar React Hooks con TypeScript?
ventajas de la energia solar
kiero saber como se hace el pan
Definición de ósmosis
que quiere decir FIFO
me podes explicar que es una API REST
¿Se puede compilar C++ en Windows sin Visual Studio?
¿Cuándo usar async/await?
quien invento la bombilla
Cuánto mide la torre eiffel
ayuda con mi tarea de algebra
¿Sabes cocinar lentejas?
dime un sinonimo de rapido
Qué comen los osos panda
hace frio en bariloche en julio?
necesito ideas para un cumpleaños
Resolvé esta ecuación
¿Qué es Kubernetes?
mejores playas de mexico
cuando sale el sol en invierno
Define inflación.
Traduce esta frase
¿Por qué llueve?
numero de emergencias en españa
como se juega al truco
"""

ENGLISH = """
Do birds dream?
Are snakes healthy?
Does God sleep?
waht is the capital of peru
Define entropy.
Explain recursion
how do i make a for loop in python
whats a black hole
Can you explain Bayes theorem?
How many grams in a pound?
name three african capitals
who won the 78 world cup
Give me a lasagna recipe
What does git rebase do?
where is Machu Picchu
Recommend science fiction books
Tell me a joke
whats 15 times 8
benefits of magnesium
Write a short poem
difference between virus and bacteria
capital of France?
What is Docker?
How many legs does a spider have?
Is it dangerous to drink alcohol with ibuprofen?
pls summarise world war 2
Summarize Don Quixote
What's the meaning of "quinceañera"?
list the planets
Convert miles to kilometers
can dogs eat chocolate
Who is Lionel Messi?
should I use tabs or spaces
advantages of solar energy
what's the past tense of go
Osmosis definition
how 2 lose weight fast
Compare MySQL and PostgreSQL
Are vaccines safe?
When was Simón Bolívar born?
who invented the light bulb
help with my algebra homework
Can you cook lentils?
give me a synonym for quick
What do pandas eat
birthday party ideas
Compare Java and Kotlin
Solve this equation
What is Kubernetes?
best beaches in mexico
when does the sun rise in winter
Define inflation.
Translate this sentence
Why does it rain?
emergency number in spain
how do you play chess
"""

NEITHER = [
    "Qual é a capital do Peru?",
    "O que é um buraco negro?",
    "Como faço um bolo de cenoura?",
    "Qual è la capitale del Perù?",
    "Come si fa il pane?",
    "Che cos'è la ricorsione?",
    "Quina és la capital del Perú?",
    "Com es fa el pa?",
    "Què és la recursivitat?",
    "Quelle est la capitale du Pérou?",
    "Comment faire du pain?",
    "Pourquoi le ciel est bleu?",
    "Was ist die Hauptstadt von Peru?",
    "Wie backt man Brot?",
    "Erkläre Rekursion",
    "Wat is de hoofdstad van Peru?",
    "Cal é a capital do Perú?",
    "Hva er hovedstaden i Norge?",
    "Care este capitala României?",
    "def f(x): return x + 1",
    "SELECT * FROM users WHERE id = 3",
    'print("hello world")',
    "for (int i = 0; i < n; i++) sum += a[i];",
    "ok",
    "2+2",
    "👍",
    "¿What is la capital of Peru?",
    "quais são os sintomas da gripe",
    "por que os gatos ronronam?",
    "como funciona a energia solar",
    "quanto é 15 vezes 8",
    "onde fica Machu Picchu",
    "me explique recursão",
    "quali sono i sintomi dell'influenza",
    "perché i gatti fanno le fusa",
    "dove si trova Machu Picchu",
    "quant costa un pis a Barcelona",
    "wo liegt Machu Picchu",
    "warum schnurren Katzen",
    "combien de pattes a une araignée",
    "où se trouve Machu Picchu",
    "日本の首都はどこですか",
    "Какая столица Перу?",
    "ما هي عاصمة بيرو؟",
    "Hvad er hovedstaden i Danmark",
    "Mikä on Suomen pääkaupunki?",
    "import numpy as np",
    "kubectl get pods -n default",
    "a b c d",
    "Kimchi",
    "Machu Picchu",
    "Zer da errekurtsioa?",
    "Em que ano acabou a guerra?",
    "o que significa resiliência",
    "como tirar mancha de vinho da roupa",
    "escreva um poema sobre o mar",
    "scrivi una poesia sul mare",
    "spiegami la ricorsione",
    "quanto fa 15 per 8",
    "quem inventou a lâmpada",
    "qual a altura da torre eiffel",
    "me ajuda com a tarefa de algebra",
    "o que comem os pandas",
    "melhores praias do mexico",
    "por que chove?",
    "como se joga xadrez",
    "receitas com frango",
    "chi ha inventato la lampadina",
    "quanto è alta la torre eiffel",
    "cosa mangiano i panda",
    "perché piove?",
    "ricette con il pollo",
    "come si gioca a scacchi",
    "qui a inventé l'ampoule",
    "quelle est la hauteur de la tour eiffel",
    "que mangent les pandas",
    "pourquoi il pleut",
    "recettes avec du poulet",
    "qui va inventar la bombeta",
    "què mengen els pandes",
    "per què plou?",
    "receptes amb pollastre",
    "wer hat die Glühbirne erfunden",
    "wie hoch ist der Eiffelturm",
    "was fressen Pandas",
    "wie spielt man Schach",
    "wie heeft de gloeilamp uitgevonden",
    "wat eten panda's",
    "ce mănâncă urșii panda",
    "vad äter pandor",
    "kto wynalazł żarówkę",
    "mitä pandat syövät",
    "ampulü kim icat etti",
    "por que chove en Galicia?",
    "como se xoga ao xadrez",
    "ls -la /tmp | grep foo",
    "x = [i for i in range(10)]",
    "SELECT name FROM t",
    "docker compose up -d",
    "Quiero saber how to cook rice",
    "eiffel",
    "qual è la radice quadrata di 144",
    "define fotossíntese",
    "explique a teoria da relatividade",
    "Spiega la fotosintesi",
]


@pytest.mark.parametrize("text", SPANISH.strip().splitlines())
def test_spanish(text: str) -> None:
    assert language(text) == "es"


@pytest.mark.parametrize("text", ENGLISH.strip().splitlines())
def test_english(text: str) -> None:
    assert language(text) == "en"


@pytest.mark.parametrize("text", NEITHER)
def test_other_languages_code_and_mixtures_are_neither(text: str) -> None:
    assert language(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('What does "¿Qué hora es, por favor?" mean?', "en"),
        ("¿Qué significa «once in a blue moon»?", "es"),
        ("How do I fix `el archivo no existe` in bash?", "en"),
        ("¿Qué hace `return the_value if it_is_there`?", "es"),
        ("WHAT IS THE CAPITAL OF PERU", "en"),
        ("CUAL ES LA CAPITAL DE PERU", "es"),
        ("¿Cómo uso JSON y REST con HTTP?", "es"),
        ("What\u2019s the capital of Peru?", "en"),
    ],
)
def test_the_question_decides_and_not_what_it_quotes(text: str, expected: str) -> None:
    assert language(text) == expected


def test_of_a_long_text_both_ends_are_read() -> None:
    pasted = "x1 " * 5000
    assert language(f"¿Qué hace el código que sigue? {pasted}") == "es"
    assert language(f"{pasted} What does the code above do?") == "en"


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert language(text) in ("es", "en", None)


@given(st.text(alphabet=st.characters(exclude_categories=["L", "N"]), max_size=50))
def test_what_has_no_letters_has_no_language(text: str) -> None:
    assert language(text) is None
