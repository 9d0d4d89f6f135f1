"""What the demo model knows without being told: a few answers, so that a conversation with it reads like one."""

import re

_KNOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"visado.*permiso de residencia", re.IGNORECASE),
        (
            "El visado se pide antes de viajar, en el consulado, y habilita a entrar en el país por un motivo y un "
            "plazo determinados. El permiso de residencia se tramita ya en el país, acredita que se puede vivir en él "
            "durante más tiempo y suele venir con un documento físico. Lo habitual es que el primero sea la puerta de "
            "entrada y el segundo lo que la mantiene abierta: con un visado de larga duración se entra, y dentro del "
            "plazo que indica se solicita la residencia."
        ),
    ),
    (
        re.compile(r"undo the last commit", re.IGNORECASE),
        (
            "Use `git reset --soft HEAD~1`. It moves the branch back by one commit and leaves both the index and the "
            "working tree as they are, so everything that was in the commit is staged again. With `--mixed`, the "
            "default, the changes stay in the working tree but are no longer staged. If the commit has already been "
            "pushed and others may have built on it, `git revert HEAD` is the safer way: it adds a commit that takes "
            "the changes back."
        ),
    ),
    (
        re.compile(r"learn a little portuguese", re.IGNORECASE),
        (
            "Twenty minutes a day beat two hours on a Sunday. Start with the sounds, because the nasal vowels are "
            "what makes Portuguese hard to follow at first, and learn the two hundred most frequent words with their "
            "pronunciation. Add a podcast for learners on the way to work, repeat aloud, and once a week talk for "
            "half an hour with somebody who corrects you. After two months you'll order, ask your way and understand "
            "most of what is answered."
        ),
    ),
    (
        re.compile(r"despertador en la cocina", re.IGNORECASE),
        (
            "Es una buena idea: obliga a levantarse, y una vez de pie ya pasó lo más difícil. Dejá preparado ahí "
            "mismo el desayuno o el café, para que llegar tenga premio, y no lo pongas más de quince minutos antes de "
            "lo que ahora te cuesta. Si en dos semanas funciona, adelantalo de a diez minutos. Lo que no conviene es "
            "dejar un segundo despertador en la mesa de luz: se termina usando ese."
        ),
    ),
)


def general_answer(question: str) -> str | None:
    """The answer to a question of general knowledge, or None."""
    return next((answer for pattern, answer in _KNOWN if pattern.search(question)), None)
