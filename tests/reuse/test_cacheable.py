"""Decisions on whole requests. The sentences were written for this test, not taken from the evaluation data."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.cacheable import (
    ASKED,
    BYPASSES,
    EDGE_CHARACTERS,
    LONGEST_TOOL_NAME,
    VERDICTS,
    bypass_reason,
    learned,
    listed,
)
from proxy.types import ChatRequest
from tests.builders import chat

NEVER_REUSED = """
¿Quién está al frente del Banco Central?
¿Qué salió en la lotería?
¿Cómo viene la mano con el paro docente?
¿Cuánto hay que pagar por un kilo de pan en Rosario?
¿Anda el tren Mitre?
¿Dónde juega Julián Álvarez?
¿Cuál es la película del momento?
¿Sale el sol más tarde ya?
¿Qué tal el tránsito por la General Paz?
¿Hay alguna alerta por tormentas?
¿Qué se estrena en el cine?
¿A cuántos puntos está Racing del primero?
¿Quién quedó eliminado de Gran Hermano?
¿Cuánto se está pagando el alquiler de un monoambiente en Palermo?
¿Ya está disponible el resultado del CBC?
¿Qué hora tienen en Madrid?
¿Cuándo abren las inscripciones del posgrado?
¿Continúa la huelga de pilotos?
¿Cómo amaneció el bitcoin?
¿Quién es la nueva ministra de Salud?
¿Qué temperatura hay en el mar?
¿Cuánta gente vive hoy en el mundo?
¿Mañana hay clases?
¿Qué número salió a la cabeza?
¿En qué anda el proyecto de ley de alquileres?
¿Hay cola en la aduana?
¿Está de oferta el aceite en el súper?
¿Qué dijo el presidente en la conferencia?
¿Está al aire el programa de Mirtha?
¿Qué se viene este finde en Guadalajara?
¿Qué falta para que termine la obra del puente?
¿Con cuántos días de anticipación estamos del eclipse?
What's the going price for a used Corolla?
Who's on the cover of Time?
Is the Eurostar running?
How are the roads in Vermont?
What's the snow report for Aspen?
Where is the ISS?
How many days until the election?
Who's ahead in the Senate race?
What's the deadline to file taxes?
Is there school tomorrow?
Which films are up for Best Picture?
How's the air quality in Delhi?
What phase is the moon in?
Are the trains delayed?
What time does the sun set?
Is Messi still playing for Miami?
When's the next full moon?
How many unread emails do I have?
What's the waiting list for the Model Y?
Who do the Yankees play next?
What's the best-selling book on Amazon?
How much is a first class stamp?
Did the verdict come in?
Has it stopped raining?
Who is the Secretary General of the UN?
What did Apple stock close at?
Is the museum free on Sundays?
What are people saying about the new album?
Where's my order?
How many people are on the ISS at the moment?
What is the population of the world as of now?
No puedo con mi alma.
Estoy hecho pelota.
Mi viejo está en terapia intensiva y no sé cómo ayudarlo.
Me clavaron el visto otra vez y me pone mal.
Nadie me toma en serio en el trabajo.
Tengo un vacío adentro que no se llena con nada.
Me siento invisible.
Discutí con mi mujer y me fui de casa.
No merezco lo que me está pasando.
Qué ganas de llorar que tengo.
Me enteré de que mi pareja me engaña.
Se me hace cuesta arriba todo.
Estoy súper emocionado porque nace mi hija.
Me carcome la culpa.
Tengo pánico de hablar con mi papá.
Soy la persona más feliz del mundo.
Estoy de bajón.
¿Cómo hago para dejar de pensar en ella? La extraño.
¿Por qué nadie me quiere?
Me aterra quedarme sola.
Desde que se fue mi abuelo la casa está vacía.
La ansiedad me está matando.
No confío en nadie después de lo que pasó.
Perdimos el bebé.
Estoy cansado de fingir que está todo bien.
Me da cosa contarle a mi familia.
Se me parte el alma ver así a mi mamá.
Me amargó el día ese comentario.
Ay, no sabes, ando bien agüitada.
Lo odio con toda mi alma.
I'm a nervous wreck before every meeting.
I keep crying for no reason.
My best friend stopped talking to me and it hurts.
I'm not doing well.
I don't see the point anymore.
Everything feels pointless.
I'm torn between staying and leaving him.
I got rejected again and I feel worthless.
I'm so grateful for my friends.
She said yes! I'm the luckiest guy alive!
I can't shake this feeling of dread.
It breaks my heart to see him like this.
My anxiety is through the roof.
I'm petrified of the surgery.
We had to put our cat down.
I'm sick of pretending to be fine.
Nothing I do is ever good enough for my dad.
I wake up every morning with a knot in my stomach.
I feel like running away.
I'm embarrassed to tell my doctor.
I'm missing her so badly.
How do I stop hating myself?
Why do I feel so alone even with people around?
I've lost all motivation.
My mother's dementia is tearing us apart.
I snapped at my kids and I feel awful.
Sacá turno con el dermatólogo.
Chequeá mi saldo y pagá la tarjeta.
Poné a lavar la ropa.
Encargá empanadas para seis.
Agregá a Tomás al grupo.
Corregí la dirección de entrega de mi pedido.
¿Me anotás en la lista de espera?
Abrile la puerta al cartero.
Fijá una alarma para las siete.
Dejale un comentario en el doc a Belén.
Cobrale a la mesa cuatro.
Hacé un pedido al súper con lo de siempre.
Conectate al wifi de la oficina.
Mandá a imprimir el póster.
Bloquea a este contacto.
Tómale una foto a la pizarra y compártela.
Apártame dos boletos.
Ciérrale al gas.
Sube el volumen.
Envíenle flores a mi mamá.
Quita a Luis del proyecto.
Dale like a su publicación.
Necesito que me saques un pasaje a Salta.
¿Te puedo pedir que llames al consorcio?
Concretá la compra.
Firmá el contrato por mí.
Cargá saldo al celular.
Actualizá mi CV en LinkedIn.
Ponle candado a la carpeta.
Aprobá la solicitud de vacaciones de Nico.
Migrá la base a la versión 15.
Reenviá esto a todo el equipo.
Liquidá los sueldos.
Desuscribime de esas promos.
Pick up my prescription.
Get me a cab.
Warm up the car.
Ship the package to Denver.
Kill the process on port 8080.
Drop the users table.
Grant Bob admin access.
Move $500 to checking.
Feed the cat at six.
Close all my open tabs.
Please get rid of the duplicates in my contacts.
File the expense report.
Would you mind rescheduling my dentist appointment?
Track my package and text me when it arrives.
Fire up the coffee maker.
Switch off the bedroom lamp.
Unfollow everyone on my account.
Reserve a court for 7pm.
Take Anna off the distribution list.
Translate this and post it on the blog.
Make sure the doors are locked.
Put $50 on the Lakers.
Roll back the last deployment.
Have flowers delivered to my wife.
Give Tom access to the drive.
Cast the video to the TV.
Ring the front desk.
Clean up the logs on the server.
Bump the version and publish to npm.
Spin up three more instances.
Notify all users about the outage.
¿Qué cotización tiene el yuan?
¿Cómo le fue a Colapinto en la clasificación?
¿Cuál es el récord de visitantes del parque en lo que va del verano?
¿Ya pasó el camión de la basura?
¿Cuánto vale la entrada al Louvre?
¿Se puede cruzar a Chile por el paso Cristo Redentor?
¿Qué nivel tiene el río Paraná?
¿Cuánto hay que esperar en la guardia?
¿Qué colectivos están de paro?
¿Quién lidera las encuestas en Colombia?
¿Qué restaurante tiene mesa para dos?
¿Cuál es la canción más escuchada de Bad Bunny?
¿Hay vuelos directos de Buenos Aires a Tokio?
¿A cuánto cerró el Merval?
¿Cuántos habitantes tiene China en este momento?
¿Qué famosos se separaron últimamente?
¿Cuál es la temperatura del mar en Pinamar?
¿Cuántos días llevamos sin lluvia?
¿Qué feriado viene después de Pascua?
¿Qué dólar usa Netflix?
¿Qué pronostican para el jueves?
¿Cuál es el último celular de Samsung?
¿En qué liga está el Leganés?
¿Dónde es el próximo mundial?
¿Quién es el novio de Tini?
¿Qué hace falta para entrar a Estados Unidos ahora?
¿Qué tasa paga Mercado Pago?
¿Viene demorado el 152?
¿Hasta qué hora abre el shopping?
¿Cuánto cobra un maestro?
What's the cheapest phone plan right now?
Who did Barcelona sign?
Is the tube on strike?
What's the current time in Sydney?
When does daylight saving end?
Which airlines fly to Bali?
Who is the highest paid actor?
How many medals has Italy won at these Olympics?
What's the wait like at Space Mountain?
Is gas cheaper in Nevada?
What are the odds on the Chiefs?
What new features did iOS get?
Who's running for mayor?
What's the top-rated show on HBO?
Are schools closed because of the snow?
Where can I watch the final?
What's the tide at Ocean Beach?
Is Taylor Swift on tour?
Which stores are open on Christmas Day?
How much snow fell overnight?
Did anyone win the Mega Millions?
Who is Zendaya dating?
What concerts are coming up in Austin?
How's Nvidia doing?
What's the interest rate on a savings account?
Is the bridge closed?
What's the age of the US president?
Who's the Speaker of the House?
How many electric cars were sold last year?
What's playing at the Odeon?
Estoy con una angustia terrible.
Mi mejor amigo me traicionó.
Me quiero morir de la vergüenza.
Hace meses que no salgo de la cama.
Estoy más solo que un perro.
No encuentro sentido a nada.
Me pongo a llorar por cualquier cosa.
Lo único que quiero es que me abracen.
Tengo el corazón destrozado.
Nunca me sentí tan querida.
Me estresa muchísimo la mudanza.
Estoy asustada, me encontré un bulto.
Sufro por él todos los días.
Siento envidia de mi hermana y me odio por eso.
Qué miedo me da envejecer sola.
Ya no confío en mi pareja.
Me volví a pelear con mi hijo y me parte el alma.
¡Me dieron el trabajo! No lo puedo creer.
Todo el mundo avanza y yo sigo igual.
Estoy que trino con el vecino.
Mi mamá tiene cáncer.
La culpa no me deja dormir.
Me llena de orgullo mi nieto.
¿Por qué no puedo ser feliz?
Fui un pésimo padre.
I'm lonely since I moved here.
I got dumped over text.
I feel invisible at home.
I'm crying as I write this.
My heart sinks whenever he calls.
I can't forgive myself.
I'm thrilled, we're having a baby!
Work is killing me, I can't sleep.
I'm scared of dying.
My friends left me out again.
I'm ashamed of my body.
It's been a year since she died and it still hurts.
I hate being alone.
I'm mad at myself for giving up.
Nobody showed up to my birthday.
I feel trapped in my marriage.
I don't deserve to be happy.
Am I a bad person for wanting to leave?
I'm so done with everything.
My dad never once hugged me.
Desactivá la alarma de la oficina.
Ponete en contacto con el proveedor.
Avisale al jefe que llego a las diez.
Prográmame una cita con el contador.
Tirá abajo el servidor de pruebas.
¿Me das de baja el servicio de cable?
Podés cerrar los tickets viejos.
Comprame un café por la app.
Invitá a los de diseño a la reunión.
Dame permiso de administrador.
Cambiale el nombre al archivo.
Reportá este comentario.
Descargá la factura de marzo.
Abrí Spotify y poné rock.
Traeme el auto a la puerta.
Quiero cancelar mi reserva.
Anotá que le debo mil pesos a Juan.
Guardá esta receta en mis notas.
Resolvé el ticket 990 y avisá al cliente.
Bajale el brillo a la pantalla.
Marca a mi hermano.
Genera la factura y envíala.
Pasame con un operador.
Adelantá la canción.
Contestale que sí.
Send my location to Mark.
Please book me a haircut on Friday.
Fix the typo in the live site and redeploy.
Sign the document for me.
Pay off my credit card.
Could you unlock the car?
Donate ten dollars to UNICEF.
Archive all emails from last year.
Put the heating on.
Apply for the job on my behalf.
Open a support ticket.
Tell my wife I'm running late.
Stop the music.
Message the group that dinner is cancelled.
Register me for the marathon.
Order more printer paper.
Please update the status of the order to shipped.
Report this user.
Save this contact as Dr. Lee.
Dispute the charge from Uber.
¿A cuánto está el euro en el Banco Nación?
¿Nieva en Bariloche?
¿Qué dice el último parte meteorológico?
¿Qué temperatura máxima se espera para Mendoza?
¿A qué precio está la soja?
¿Cómo está el subte B?
¿Ya salió la lista de convocados?
¿Sigue suspendido el servicio del tren Roca?
¿Va a llover el domingo en Tandil?
¿Cuánto está el bondi?
¿Se canceló el recital de Fito?
¿Quién ganó Wimbledon?
¿Cuándo vuelve a tocar Charly?
¿Cuántas semanas faltan para las vacaciones de invierno?
¿Cuánto cuesta hoy por hoy un monoambiente en Córdoba?
¿Cómo cerraron los bonos?
¿Cuál es el hashtag del día?
¿Cuántos muertos dejó el terremoto?
¿Cuánta gente hay en la fila del Registro Civil?
¿Quedan lugares para el taller de cerámica?
¿Qué libro es el más vendido?
¿Hay nubes en Salta?
¿Cuándo cierra la convocatoria de becas?
¿Quién gobierna en Perú?
¿Ya hay fecha para el superclásico?
¿Cuánto aumentó la nafta en el año?
¿Hasta qué hora atiende el Correo los sábados?
¿En qué posición está Alpine?
¿Cuánto sale entrar al Zoo de San Diego?
¿Cuál es el parche más nuevo de Valorant?
¿Cuánto van Boca y River?
¿Quién hizo el último gol?
What's silver trading at?
Is it snowing in Denver?
Who won the debate?
How hot will it get on Thursday?
Is the A train running?
Who's the prime minister of the UK?
Where is Chelsea in the standings?
Has the verdict been announced?
What are the winning numbers?
How tall is the tallest building in the world these days?
Which gas station is cheapest around here?
How many weeks until summer?
Is the pass open?
What's the most streamed song?
When is the filing deadline?
How crowded is Disneyland?
What time is checkout at the Hilton?
Who has the most Grand Slam titles?
What shows are on Broadway?
How many followers does Ronaldo have?
What's new in the latest Windows update?
Is there a vaccine shortage?
Are flights to Miami cancelled?
What's the current population of India?
Who's hosting the Oscars?
How much is a gallon of milk?
"""

REUSABLE = """
¿Cómo superar el miedo a volar según los psicólogos?
¿Qué es un agujero negro?
¿Cómo se hace una tortilla de papas?
¿Cuál es el río más largo de América?
¿Cómo elimino filas duplicadas en pandas?
¿Qué significa "estar al día"?
¿Cómo se manda un mensaje con la API de Twilio?
¿Para qué sirve el comando git push?
¿Cuándo se fundó Buenos Aires?
¿Quién pintó Las Meninas?
¿Qué es el síndrome del impostor?
¿Cuál es la diferencia entre miedo y fobia?
¿Por qué lloran los bebés?
¿Cómo se calcula la inflación?
¿Qué es una orden de compra?
¿Cuánto pesa un elefante?
¿Cuántos huesos tiene el cuerpo humano?
¿Cómo se programa una alarma en un reloj Casio?
¿Qué diferencia hay entre alquilar y comprar una casa?
¿Qué es la hora UTC?
¿Cómo funciona un reloj de sol?
¿Qué es la nueva trova?
¿Quién fue la última reina de Egipto?
¿Qué es la memoria a corto plazo?
Explicame la diferencia entre TCP y UDP.
Dame una receta de pan casero.
Contame sobre la Revolución de Mayo.
Escribí una función que borre un elemento de una lista.
¿Cómo se escribe una carta de renuncia?
¿Qué hace la función now() en Postgres?
¿Por qué se celebra el Día de Muertos?
¿Cómo se cura un mate?
¿Qué es un plazo fijo?
¿Cómo se pide un café en italiano?
¿Dónde queda Ushuaia?
¿Qué es el amor según Platón?
¿Qué es una sentencia switch?
¿Cuántos jugadores tiene un equipo de vóley?
¿Qué idioma se habla en Brasil?
What is a black hole?
How do I reverse a linked list?
What's the longest river in South America?
How do I remove duplicate rows in pandas?
What does "up to date" mean?
How do I schedule a cron job?
How do I cancel a promise in JavaScript?
When was Rome founded?
Who painted Guernica?
What is impostor syndrome?
Why do babies cry?
How is inflation measured?
What is a purchase order?
How much does an elephant weigh?
How do you set an alarm on a Casio watch?
What is UTC?
What was Hitchcock's last film?
What is short-term memory?
Explain the difference between TCP and UDP.
Give me a recipe for bread.
Write a function that removes an item from a list.
How do I write a resignation letter?
Why is Thanksgiving celebrated?
What is a stop loss order in trading?
What's the difference between sell and cell?
How does Bitcoin mining work?
What is the plot of Back to the Future?
Is a tomato a fruit?
Are whales mammals?
Can dogs eat chocolate?
Does water expand when it freezes?
Is it possible to divide by zero?
What is a call option?
What is the boiling point of water?
How does a price elasticity of demand work?
What is a current ratio in accounting?
How to tell someone you love them in Japanese?
What causes anxiety disorders?
How long is a marathon?
Who invented the telephone?
What is the capital gains tax?
How do I turn off autoplay in HTML video?
How does one post a parcel abroad?
What is a live oak?
What is breaking strain?
Which planet is closest to the sun?
When should I use a hash map?
When do you use the subjunctive in Spanish?
What does git reset --hard do?
How many weeks are in a year?
What is the weather symbol for fog?
What is a news anchor?
How many players are on a soccer team?
What does it mean to feel blue?
Describe the water cycle.
List the planets in order.
Compare renting and buying a house.
What is a time zone?
What's the formula for compound interest?
¿Cuál es el plural de "crisis"?
¿Qué vitaminas tiene la naranja?
¿Cómo se llama el hijo de la vaca?
¿Cuántas provincias tiene Argentina?
¿Qué es un préstamo hipotecario?
¿Por qué el cielo es azul?
¿Cómo se limpia una sartén de hierro?
¿Cuál es la fórmula del agua?
¿Qué planeta es el más grande?
¿En qué año cayó el Muro de Berlín?
¿Qué países forman el Mercosur?
¿Qué es la tristeza según Spinoza?
¿Cómo se manda un fax?
¿Qué pasa si divido por cero?
¿Cómo elegir un buen melón?
¿Para qué se usa "todavía" y para qué "aún"?
¿Qué es una reserva natural?
¿Quién compuso "Mañana en el Abasto"?
¿Cuál es el mejor método para memorizar vocabulario?
¿Qué idiomas se hablan en Suiza?
¿Qué es un boleto de compraventa?
¿Dónde nació Borges?
¿Cuánto dura un embarazo?
¿Qué colores tiene la bandera de Italia?
¿Cómo se resuelve una ecuación de segundo grado?
¿Qué hace un notario?
¿Qué herramientas necesito para cambiar una rueda?
¿Cuáles son las capas de la atmósfera?
¿Cómo se elimina una mancha de vino?
¿Qué es un mensaje de error 500?
What is the plural of "crisis"?
What vitamins are in an orange?
How many provinces does Canada have?
What is a mortgage?
Why is the sky blue?
How do you clean a cast-iron pan?
What's the chemical formula of water?
Which planet is the largest?
What year did the Berlin Wall fall?
Which countries are in Mercosur?
What is melancholy in literature?
How do you send a fax?
What happens if I divide by zero?
How do you pick a ripe melon?
When do you use "still" and when "yet"?
What is a nature reserve?
Who composed the Four Seasons?
What languages are spoken in Switzerland?
Where was Borges born?
How long does a pregnancy last?
What colours are on the Italian flag?
How do you solve a quadratic equation?
What does a notary do?
What tools do I need to change a tyre?
What are the layers of the atmosphere?
How is wine made?
What is a 500 error?
How do I send a POST request with curl?
How does one cancel a lease in general?
What is the next prime after 7?
What does the "buy" button do in a wireframe?
What is a standing order in banking?
How many strings does a violin have?
What's the square root of 144?
Who was Cleopatra?
How are diamonds formed?
How is cheese made?
What is the last letter of the Greek alphabet?
What is a tomorrow-next swap in finance?
Where is Machu Picchu?
¿Qué es un eclipse?
¿Cómo se forma el granizo?
¿Qué fue el Cordobazo?
¿Cómo se envía una carta certificada?
¿Por qué se dice "buen día" y no "buenos días"?
¿Quién escribió "La última noche de Boris Grushenko"?
¿Qué diferencia hay entre enojo e ira?
Recordame el teorema de Pitágoras.
¿Por qué la última vértebra se llama cóccix?
¿Qué se entiende por "precio justo"?
¿Qué significa "por ahora"?
¿Cómo se calcula el tipo de cambio real?
¿Cómo se programa un lavarropas?
¿Cómo se publica una app en Google Play?
¿Cómo se dice "te amo" en guaraní?
¿Qué es la presión atmosférica?
¿Cómo se redacta una queja?
¿Quién canta "Hoy ten miedo de mí"?
¿Cómo se crea un evento en Google Calendar?
¿Qué tiempo verbal es "había comido"?
¿Cómo se borra una columna en SQL?
¿Qué hizo San Martín después de Guayaquil?
¿Cómo vendo un auto usado paso a paso?
¿Cómo se calcula la edad de una persona en Excel?
¿Cómo se bloquea un número en general?
¿Cuál es la diferencia entre "recién" y "apenas"?
¿Qué es el presente histórico?
¿Cuántos minutos tiene un partido de fútbol?
¿Cuánto mide una cancha de tenis?
¿Qué es la felicidad para Aristóteles?
¿Cuáles son los síntomas del estrés?
¿Cuál es el código de país de Chile?
¿Qué lleva un gin tonic?
¿Cuándo se usa "haya"?
¿De qué está hecho el vidrio?
What does "now" mean in SQL?
Which preposition goes with "Monday"?
What is clinical depression according to the DSM?
How does one transfer a domain?
What is "Yesterday" by the Beatles about?
What is a price floor in economics?
How does git push work?
What is present value?
Why is "I miss you" hard to translate?
How is the score in tennis counted?
How do I publish a package to npm?
What's the origin of the phrase "break the news"?
What is a last in first out stack?
What was the price of bread in 1914?
How do I get the current branch in git?
What is a recent history buffer?
How do notifications work in Android?
How is the date computed from a Unix timestamp?
What does "current liabilities" mean?
How many minutes is a soccer match?
How big is a tennis court?
What are the symptoms of stress?
What is the country code for Chile?
What is in a gin and tonic?
What is glass made of?
Who discovered penicillin?
How do bees make honey?
What is the role of the prime minister in a parliamentary system?
How do elections work in Germany?
What's the tallest mountain in Africa?
How do you delete a row in Excel?
What is happiness according to Aristotle?
When was the Magna Carta signed?
"""


def request(content: Any = "What is a monad?", **fields: Any) -> ChatRequest:
    return conversation({"role": "user", "content": content}, **fields)


def conversation(*messages: dict[str, Any], **fields: Any) -> ChatRequest:
    return chat(*messages, **{"model": "kimi-k2", **fields})


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def test_bypasses_what_is_of_the_day_of_the_heart_or_an_order() -> None:
    found = {text: bypass_reason(request(text)) for text in NEVER_REUSED.strip().splitlines()}
    of_these = {"time_dependent", "emotional", "side_effect"}
    assert {text: reason for text, reason in found.items() if reason not in of_these} == {}


def test_lets_pass_what_anyone_may_be_told_again() -> None:
    found = {text: bypass_reason(request(text)) for text in REUSABLE.strip().splitlines()}
    assert {text: reason for text, reason in found.items() if reason is not None} == {}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"n": 1}, None),
        ({"n": None}, None),
        ({"n": 2}, "n_gt_1"),
        ({"modalities": ["text"]}, None),
        ({"modalities": ["text", "audio"]}, "audio"),
        ({"audio": {"voice": "alloy", "format": "wav"}}, "audio"),
        ({"web_search_options": {}}, "live_search"),
        ({"enable_search": True}, "live_search"),
        ({"enable_search": False}, None),
        ({"plugins": [{"id": "web"}]}, "live_search"),
        ({"model": "gpt-4o-search-preview"}, "live_search"),
        ({"model": "perplexity/sonar-pro"}, "live_search"),
        ({"model": "meta-llama/llama-3:online"}, "live_search"),
        ({"model": "research-free-text"}, "live_search"),
        ({"model": "elasticsearch-tuned"}, None),
        ({"tools": []}, None),
        ({"tools": None}, None),
        ({"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]}, "tools_with_effects"),
        ({"tools": [{"type": "web_search"}]}, "tools_with_effects"),
        ({"tools": [{"type": "custom", "custom": {"name": "get_x"}}]}, "tools_with_effects"),
        ({"tools": [function("$web_search")]}, "tools_with_effects"),
        ({"tools": [function("get_weather"), function("send_mail")]}, "tools_with_effects"),
        ({"tools": [function("get_weather"), function("list_orders")]}, None),
        ({"tools": [{"type": "function"}]}, "tools_with_effects"),
        ({"tools": [function("get_weather" + "x" * LONGEST_TOOL_NAME)]}, "tools_with_effects"),
        ({"tools": "get_weather"}, "tools_with_effects"),
        ({"functions": [{"name": "get_weather"}]}, None),
        ({"functions": [{"name": "delete_user"}]}, "tools_with_effects"),
    ],
)
def test_what_the_request_carries(fields: dict[str, Any], reason: str | None) -> None:
    assert bypass_reason(request(**fields)) == reason


@pytest.mark.note("5.2/3")
@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("get_weather", True),
        ("getUserById", True),
        ("list-orders", True),
        ("GetUser", True),
        ("search", True),
        ("look_up_word", True),
        ("buscar_libros", True),
        ("obtenerClima", True),
        ("consultar-saldo", True),
        ("get_or_create_user", False),
        ("find_and_replace", False),
        ("fetchThenStore", False),
        ("query_execute", False),
        ("show_notification", False),
        ("getaway_booking", False),
        ("listen", False),
        ("send_email", False),
        ("web_search", False),
        ("mcp__files__read", False),
        ("enviar_mail", False),
        ("buscar_y_borrar", False),
        ("run", False),
        ("", False),
        ("漢字", False),
    ],
)
def test_a_tool_only_reads_if_its_name_begins_so_and_nothing_in_it_says_otherwise(name: str, reads: bool) -> None:
    assert bypass_reason(request(tools=[function(name)])) == (None if reads else "tools_with_effects")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "What is a monad?"}]}, None),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}, "multimodal"),
        ({"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "file"}]}, "multimodal"),
        ({"role": "user", "content": [{"type": "of_next_year"}]}, "multimodal"),
        ({"role": "user", "content": ["What is a monad?"]}, "multimodal"),
        ({"role": "user", "content": {"text": "What is a monad?"}}, "multimodal"),
        ({"role": "assistant", "audio": {"id": "a1"}}, "multimodal"),
        ({"role": "assistant", "content": None}, None),
        ({"role": "user", "content": [{"type": "text", "text": "¿Qué tiempo hace hoy?"}]}, "time_dependent"),
        ({"role": "user", "content": [{"type": "text", "text": None}]}, None),
    ],
)
def test_what_a_message_is_made_of(message: dict[str, Any], reason: str | None) -> None:
    assert bypass_reason(conversation({"role": "system", "content": "Be brief."}, message)) == reason


def test_an_image_in_the_history_counts() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
    question = {"role": "user", "content": "What is a monad?"}
    assert bypass_reason(conversation(picture, question)) == "multimodal"


def test_the_newest_user_message_decides_even_if_tools_have_answered_since() -> None:
    asked = {"role": "user", "content": "How is the weather right now?"}
    called: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    assert bypass_reason(conversation(asked, called, {"role": "tool", "content": "18 °C"})) == "time_dependent"


def test_an_earlier_question_of_the_day_does_not_taint_a_long_one_that_stands_alone() -> None:
    earlier = {"role": "user", "content": "How is the weather right now?"}
    newest = {"role": "user", "content": "What is the difference between a monad and an applicative functor?"}
    assert bypass_reason(conversation(earlier, newest)) is None


def test_a_short_follow_up_asks_what_the_question_before_it_asked() -> None:
    earlier = {"role": "user", "content": "¿Llueve en Rosario?"}
    answer = {"role": "assistant", "content": "Sí."}
    assert bypass_reason(conversation(earlier, answer, {"role": "user", "content": "¿Y en Salta?"})) == "time_dependent"


@pytest.mark.parametrize("place", ["before", "after"])
def test_an_instruction_at_either_end_of_a_pasted_document_is_read(place: str) -> None:
    order, document = "Send this to my landlord.", "The tenant keeps the garden. " * 1000
    text = f"{order} {document}" if place == "before" else f"{document} {order}"
    assert bypass_reason(request(text)) == "side_effect"


def test_the_middle_of_a_pasted_document_is_not() -> None:
    filler = "The tenant keeps the garden. " * (EDGE_CHARACTERS // 20)
    assert bypass_reason(request(f"{filler} Send an email today. {filler}")) is None


def test_an_embedding_is_the_newest_messages_and_says_nothing_of_the_one_before() -> None:
    for sign in (-50, 50):
        vector = np.full(384, sign, np.float32)
        earlier, follow_up = {"role": "user", "content": "¿Llueve en Rosario?"}, {"role": "user", "content": "¿Y?"}
        assert bypass_reason(conversation(earlier, follow_up), vector) is not None


@given(st.text(alphabet="aei .,?¿i'mhowtheisque\n\"", max_size=300), st.integers(1, 400))
def test_any_text_gets_a_decision(text: str, repeat: int) -> None:
    assert bypass_reason(request(text * repeat)) in {None, *BYPASSES}


def test_no_user_message_asks_nothing() -> None:
    assert bypass_reason(conversation({"role": "system", "content": "What time is it?"})) is None


def test_the_last_of_what_is_past_is_not_the_latest() -> None:
    assert bypass_reason(request("¿Cuál fue la última película de Hitchcock?")) is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Which party controls the Senate?", "time_dependent"),
        ("What does a used Corolla go for?", "time_dependent"),
        ("¿Cuántos goles lleva Haaland?", "time_dependent"),
        ("¿Cómo se llama el ministro de Transporte?", "time_dependent"),
        ("Stick the parcel invoice in the shared drive and tell Ana.", "side_effect"),
        ("Encargale una torta a la panadería.", "side_effect"),
        ("Some nights I just lie there and it all feels heavy.", "emotional"),
        ("Desde que se fue la casa me queda enorme.", "emotional"),
    ],
)
def test_recognises_what_is_not_to_be_reused(said: str, asked: str) -> None:
    assert learned(said) == asked


@pytest.mark.parametrize(
    "said",
    [
        "Is it safe to pour acid into water?",
        "Who was Ada Lovelace?",
        "How does Telegram make a profit?",
        "¿Quién es Noam Chomsky?",
        "¿Alguien vio un unicornio?",
        "How many goals did Pelé score in 1958?",
        "¿En qué año se estrenó Psicosis?",
        "¿Cómo se juega al truco?",
        "What is a circuit breaker?",
        "Dame un ejemplo de carta formal.",
    ],
)
def test_lets_pass_what_is_the_same_on_any_day(said: str) -> None:
    assert learned(said) is None


def test_an_embedding_is_weighed_too() -> None:
    said = "What is a monad?"
    decided = {learned(said, np.eye(384, dtype=np.float32)[at] * sign) for at in range(384) for sign in (-50, 50)}
    assert decided > {None}


def test_an_embedding_of_another_model_is_not() -> None:
    assert learned("What is a monad?", np.full(768, 50, np.float32)) is None


def test_the_reason_is_the_lists_where_they_have_one() -> None:
    assert listed("What time is it right now?") == learned("What time is it right now?") == "time_dependent"


def test_the_lists_are_asked_once_for_each_verdict() -> None:
    assert len(set(VERDICTS)) == len(VERDICTS) > len(ASKED)
