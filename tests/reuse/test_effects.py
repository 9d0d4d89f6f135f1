import pytest

from proxy.language.words import plain
from proxy.reuse.gate import side_effect

ORDERS = """
Mandá un mail a Recursos Humanos avisando que falto.
Mándale un mensaje a Lupita.
Envíale el archivo a contabilidad.
Borrá todos los correos de spam.
Elimina la carpeta Descargas.
Comprá dos entradas para el cine.
Reservame una mesa para cuatro.
Resérvame un vuelo a Cancún.
Agendá una reunión con Marta el lunes.
Agéndame con el doctor.
Apagá el aire acondicionado.
Préndele a la tele.
¿Podrías encender la calefacción?
¿Me comprás un pasaje a Mendoza?
¿Puedes llamar a mi mamá?
Necesito que canceles mi suscripción.
Quiero que le avises a Juan que llego tarde.
Por favor, transferí 5000 pesos a la cuenta de Ana.
Che, recordame sacar la basura.
Recuérdame tomar la pastilla a las ocho.
Avisame cuando llegue el paquete.
Despertame a las siete.
Poneme un temporizador de diez minutos.
Pon el volumen al cincuenta por ciento.
Publicá esta foto en Instagram.
Sube el archivo a Drive.
Desplegá la última build a producción.
Haz una copia de seguridad del servidor.
Hacé una transferencia a Pedro.
Hazme una reserva en el hotel.
Cerrá la sesión en todos los dispositivos.
Cambiá la contraseña de mi cuenta.
Agregá leche a la lista de compras.
Mueve la reunión a las cinco.
Abrí el portón del garaje.
Pedime una pizza.
Pídele a Carlos que me llame.
Decile a Sofía que la espero.
Escribile a Juan que no voy.
Resumí el informe y mandáselo al director.
Cancele mi cita, por favor.
Envíe el contrato al cliente.
Quisiera reservar una habitación doble.
Ayudame a cancelar mi plan de celular.
Pagá la luz y el gas.
Dame de alta en el servicio.
Instalá Docker en el servidor.
Mergeá el PR 88.
Suscribime al boletín.
Renovame el seguro del auto.
Contratá un plomero para el sábado.
Vaciá el carrito.
Send an email to my landlord.
Please delete my account.
Book a table for two at eight.
Order me a pizza.
Remind me to call mom.
Set a timer for ten minutes.
Set an alarm for 6am.
Could you turn off the heating?
Would you schedule a meeting with Anna?
I need you to cancel my subscription.
I'd like to book a room for two nights.
I want to return this order.
Text Sarah that I'm late.
Email the invoice to accounting.
Call my mom.
Transfer $200 to my savings account.
Hey Siri, play some jazz.
Alexa, dim the lights.
Restart the server.
Deploy the app to production.
Push this to main.
Close the ticket and notify the customer.
Rename the folder to Archive.
Mute the group chat.
Unsubscribe me from the newsletter.
Tweet that we are hiring.
Share the document with the team.
Make a reservation for tonight.
Make a payment of 50 euros to Bob.
Tell John I'll be there at five.
Ask Maria to send me the slides.
Let my team know the meeting is off.
Summarize this thread and forward it to Paul.
Write a reply to this email and send it.
Reset my password.
Refund the customer.
Sell all my Apple shares.
Submit the form.
Open the garage door.
Add Maria to the group.
Remove Tom from the channel.
Change my seat to an aisle.
Enable two-factor authentication on my account.
Install the latest drivers on my laptop.
Renew my library books.
Reply to Anna and say yes.
Go ahead and delete the old backups.
Create a calendar event for the launch.
Sign me up for the newsletter.
Apply the coupon to my cart.
Withdraw my application.
Start the dishwasher.
Upgrade my plan to premium.
Take a screenshot and send it to me.
Can you pick a date and book the venue?
Vacuum the living room.
"""

QUESTIONS_AND_TEXTS = """
¿Cómo borro una rama en git?
¿Cómo se envía un mail desde Python?
¿Cómo puedo cancelar una suscripción en general?
¿Cómo se abre y se cierra un archivo en Python?
¿Qué pasa si borro la carpeta node_modules?
¿Conviene comprar o alquilar?
¿Qué hace el comando rm?
¿Para qué sirve reiniciar el router?
Explicame cómo instalar Docker y configurar una red.
Escribí un poema sobre el mar.
Escribime una función en Python que borre archivos viejos.
Traducí este texto al inglés.
Resumí este artículo en tres puntos.
Dame tres ejemplos de metáforas.
Decime cuál es la raíz cuadrada de 144.
Recordame cómo se calcula el área de un círculo.
Recordame qué es un número primo.
Contame un chiste.
Creá una función que sume dos números.
Agregá comentarios a este código.
Cambiá esta oración a voz pasiva.
Hacé un resumen del texto.
Haceme una lista de diez nombres para un gato.
Hazme una tabla comparativa de planetas.
¿Podés explicarme la fotosíntesis?
¿Podrías darme la receta del flan?
Quiero aprender a tocar la guitarra, ¿por dónde empiezo?
Necesito que me expliques el teorema de Pitágoras.
Mostrame un ejemplo de bucle for.
Ordená estas palabras alfabéticamente.
Mi perro come y duerme mucho, ¿es normal?
How do I delete a file in git?
How do I send an email from Python?
How can I cancel a subscription in general?
How do I open, read and close a file in C?
What happens if I delete System32?
Is it better to buy or rent?
What does the restart command do?
Explain how to install Docker and run a container.
Write a poem about the sea.
Write a Python function that deletes old files.
Translate this text to Spanish.
Summarize this article.
Give me three examples of metaphors.
Tell me the square root of 144.
Remind me what a prime number is.
Remind me how the area of a circle is computed.
Tell me a joke.
Create a function that adds two numbers.
Add comments to this code.
Change this sentence to the passive voice.
Make a list of ten cat names.
Make a table comparing the planets.
Can you explain photosynthesis?
Could you give me a recipe for flan?
Book recommendations for beginners in chess?
Call stack vs heap: what is the difference?
Text alignment in CSS, how does it work?
Order of operations in math?
Show me an example of a for loop.
Turn this paragraph into bullet points.
Give a short definition of entropy.
Email marketing: what is an open rate?
Which is better, renting or buying?
Print hello world in Python.
Sort these words alphabetically.
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.parametrize("text", lines(ORDERS))
def test_orders_something_done(text: str) -> None:
    assert side_effect(plain(text))


@pytest.mark.parametrize("text", lines(QUESTIONS_AND_TEXTS))
def test_asks_for_words_only(text: str) -> None:
    assert not side_effect(plain(text))
