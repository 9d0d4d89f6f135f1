"""Sentences written for this test, not taken from the evaluation data: they are also a second opinion on it."""

import pytest

from proxy.language.words import plain
from proxy.reuse.gate import time_dependent

TIME_DEPENDENT = """
¿Qué hora es en Tokio?
¿Cómo va a estar el tiempo mañana en Bariloche?
¿Cuánto sale hoy el litro de nafta súper?
¿Quién es el presidente de Chile?
¿Cómo salió Boca anoche?
¿Cómo salió River?
¿Está caído WhatsApp?
¿Abrió la bolsa?
¿A qué hora cierra el banco?
¿Cuál es el valor de la UF?
¿Qué pasó con el juicio de las coimas?
¿Sigue el paro de colectivos?
¿Todavía hay entradas para Coldplay?
¿Cuándo sale el próximo tren a La Plata?
¿Cuál es la última versión de Node?
¿Hay subte?
¿Cómo anda el tráfico para entrar a Monterrey?
¿A cómo está el kilo de aguacate?
¿Quién va ganando la Fórmula 1?
¿Cuándo es el próximo feriado largo?
¿Qué ponen en la tele esta noche?
¿Cuál es el tipo de cambio del peso mexicano?
¿Ya salieron los resultados del examen de admisión?
¿Está lloviendo en Sevilla?
¿Cuántos grados hace en Córdoba?
Dame las novedades del mercado de pases.
Decime el pronóstico para el finde.
¿Quién ganó el Oscar a mejor película este año?
¿Cuánto falta para el Mundial?
¿Cuántos seguidores tiene Messi en Instagram?
¿Qué edad tiene Mirtha Legrand?
¿Qué farmacia está de turno cerca de mí?
¿Cuánto cuesta un iPhone en Argentina?
¿Cuándo se estrena la nueva de Batman?
¿Cuál es el hombre más rico del mundo?
Recién se cortó la luz, ¿qué pasó en el barrio?
¿Cuáles son las películas más vistas de Netflix?
¿Hay nieve en Cerro Catedral?
¿Quién es el entrenador del Real Madrid?
¿Se suspendió el partido?
¿Qué se sabe del avión desaparecido?
¿Cuánto subió la inflación el último mes?
¿Con quién juega España en cuartos?
¿En qué canal pasan el partido?
¿Cómo cerró el Ibex?
¿Cuánto está la libra?
¿Qué día es?
¿Cuándo cobran los docentes?
¿Hasta cuándo hay tiempo para anotarse en el padrón?
¿Mi vuelo sale en horario?
What time is it in New York?
What's the weather like in Paris?
Will it rain tomorrow?
Do I need an umbrella tonight?
How much is Bitcoin worth?
What's the euro to dollar exchange rate?
Who is the president of France?
Who's the CEO of Twitter?
Did Liverpool win?
What was the score of the Celtics game?
When is the next train to Boston?
Is the library open?
Is Slack down?
What's the latest iPhone model?
What is the latest version of Django?
Any news on the strike?
What's happening in Gaza?
How's the market doing?
Is my package out for delivery?
Are there any tickets left for Saturday?
When does the new Zelda game come out?
Who's performing at Glastonbury this year?
How many people have been infected so far?
What's the current inflation rate in the UK?
What's the unemployment rate?
How much does a Tesla Model 3 cost?
What's the price of gas in California?
When do the clocks change?
When is Easter this year?
How many days are left until my birthday?
Is it safe to travel to Lebanon right now?
What are mortgage rates?
Who leads the polls?
Has Apple announced anything new?
What's on TV?
What's the best restaurant open near me?
Has the Fed raised rates?
Is the 7 train running?
Who's injured for the Chiefs?
What's the surf like at Bondi?
How old is Madonna?
How old is the Pope?
Who holds the 100m world record?
What's the top movie on Netflix?
Is flight UA23 on time?
What did the president say yesterday?
How are tech stocks performing?
What's Tesla stock at?
Which team is top of the Premier League?
When does the pharmacy close?
Is there a storm coming?
"""

# Look-alikes: words of time and of news in questions whose answer stays.
TIMELESS = """
¿Qué significa "hoy por hoy"?
¿Cómo se calcula el precio de una acción?
¿Cómo obtengo la fecha de hoy en Python?
¿Qué es el tipo de cambio real?
¿Qué es la inflación?
¿Cuál es la diferencia entre clima y tiempo?
¿Por qué se usa "recién" con el pretérito?
¿Cuándo terminó la Segunda Guerra Mundial?
¿Quién fue el primer presidente de Uruguay?
¿Quién ganó el Mundial de 1978?
¿Qué es un pronóstico?
¿Cómo cuidar a un recién nacido?
Ahora bien, ¿qué es una monada en programación funcional?
Ahora que sé qué es un vector, ¿qué es una matriz?
¿Cómo funciona la bolsa de valores?
¿Para qué sirve el comando pwd, que muestra el directorio actual?
¿Qué es la corriente alterna?
¿Cuánto vale el número pi?
¿Cuántos días tiene un año bisiesto?
¿A qué temperatura hierve el agua?
¿Por qué llueve más en la selva?
¿Qué es la complejidad temporal de un algoritmo?
¿Cómo se llama el último libro de la Biblia?
¿Cuántos años tiene la Tierra?
¿Cómo se prepara el mate por la mañana?
¿Qué significa "vivir el momento"?
¿Cuál es la hora de Greenwich y cómo se define?
¿Qué es una noticia falsa?
Explicame qué hace datetime.now() en Python.
¿Cómo se mide la temperatura corporal?
What does "breaking news" mean?
What is the time complexity of quicksort?
How do I get today's date in JavaScript?
How do I print the current directory in bash?
What does NOW() do in MySQL?
What is a current account?
What is alternating current?
Now that I know what a closure is, what is a decorator?
Who won the battle of Waterloo in 1815?
Who was the first president of the United States?
What is the difference between weather and climate?
How is the price of an option calculated?
How do stock markets work?
What is an exchange rate?
How old is the universe?
How old is the Earth?
What was the score of the 1966 World Cup final?
Why do prices rise with inflation?
What's the meaning of "last straw"?
How does live reload work in Vite?
What is a news ticker?
How do I undo the last commit in git?
What does latest mean in a Docker image tag?
How do I select rows from the last week in SQL?
What is open source software?
How many days are there in a leap year?
What is the speed of light?
Is Python an open source language?
What happened in the year 1066?
Who wrote Tomorrow and Tomorrow and Tomorrow?
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.note("5.2/1", "5.2/4")
@pytest.mark.parametrize("text", lines(TIME_DEPENDENT))
def test_asks_about_this_moment(text: str) -> None:
    assert time_dependent(plain(text))


@pytest.mark.note("5.2/4")
@pytest.mark.parametrize("text", lines(TIMELESS))
def test_same_answer_tomorrow(text: str) -> None:
    assert not time_dependent(plain(text))
