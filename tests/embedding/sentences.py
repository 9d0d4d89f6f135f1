"""Pairs that mean the same, in Spanish and English, each unlike every other pair."""

PAIRS = (
    ("¿Cómo restablezco mi contraseña?", "Olvidé mi clave, ¿cómo la cambio?"),
    ("¿Cuál es la capital de Francia?", "Decime qué ciudad es la capital francesa."),
    ("Receta de tortilla de papas", "¿Cómo se hace una tortilla de patatas?"),
    ("¿A qué distancia está la Luna de la Tierra?", "Distancia entre la Tierra y la Luna"),
    ("El perro de mi vecino ladra toda la noche.", "Mi vecino tiene un perro que no para de ladrar de noche."),
    ("¿Qué es la fotosíntesis?", "Explicame la fotosíntesis de las plantas."),
    ("Traducí este contrato al inglés", "Necesito la versión en inglés del contrato"),
    ("¿Quién escribió Cien años de soledad?", "El autor de la novela Cien años de soledad"),
    ("How do I reverse a list in Python?", "Python: get a list in reverse order"),
    ("What causes high blood pressure?", "Reasons why someone has hypertension"),
    ("The train to Berlin leaves at nine.", "At nine o'clock the Berlin train departs."),
    ("How can I lose weight quickly?", "What is the fastest way to lose weight?"),
    ("Write a haiku about autumn leaves", "Compose a short haiku on the leaves of autumn"),
    ("What is the boiling point of water?", "At what temperature does water boil?"),
    ("My laptop won't turn on after the update.", "After updating, my laptop does not start."),
    ("Who won the football world cup in 1986?", "The 1986 FIFA World Cup winner"),
)
SENTENCES = tuple(sentence for pair in PAIRS for sentence in pair)
# Cut by the model after 256 tokens, and what tokenizers stumble over.
ODD = ("palabra " * 400, "", "¡ÑANDÚ!\n\t\x00 \u200b🎉 中文", "x" * 8000)
