"""Answers of the tools to the model: what was done, or why not and what to do instead, in a sentence."""

from collections.abc import Mapping
from types import MappingProxyType

from proxy.types import Language

_TEXTS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            # done
            "marked": "Marked: {messages} messages, {tokens} tokens. They leave the context when it is next rewritten; "
            "recall_original brings any of them back.",
            "summarised": "Your summary takes the place of {messages} messages ({tokens} tokens) when the context is "
            "next rewritten; recall_original brings any of them back.",
            "marked-already": "These messages are marked already: nothing to do.",
            "saved": "Saved {name}: {tokens} tokens.",
            "unchanged": "{name} has this text already: nothing to do.",
            "edited": "{name} is updated: {tokens} tokens. Other sessions load it from now on.",
            "remembered": "Remembered: {key}.",
            "forgotten": "Forgotten: {what}.",
            "waits": "Kept aside: this quotes a tool's result or a document, so a person has to confirm it. Go on.",
            "files": "Files: {files}.",
            "no-files": "No file was saved yet.",
            # why not
            "not-json": "The arguments are no JSON object. Give: {about}.",
            "missing": "The argument {about} is missing.",
            "wrong-type": "The argument {about} has the wrong type; ids are whole numbers, texts are strings.",
            "unknown-argument": "There is no argument {about}.",
            "too-long": "{about} is too long. Shorten it.",
            "empty": "{about} is empty.",
            "bad-range": "The end of the range is before its start.",
            "bad-name": "File names are letters a-z, digits, - and _, and end in .md, without folders: notes.md.",
            "bad-section": "There is no such section. Sections: {about}.",
            "reserved": "{about} is not yours to write. Choose another name, or use edit_section or remember.",
            "bad-path": "{about} is no file of yours: files are /memories/NAME.md, a name of letters a-z, digits, - "
            "and _, without further folders. Some names are reserved: memory.md, identity.md, dates.",
            "bad-command": "There is no such command. Commands: {about}.",
            "unknown-tool": "There is no such tool.",
            "unknown-id": "There is no message {id} in this session. Ids go from 1 to {last}.",
            "newest": "Message {id} belongs to the newest step or is the newest question: it stays.",
            "pinned": "Message {id} is pinned by the person: leave it out.",
            "system": "Message {id} holds instructions: it stays.",
            "not-here": "Message {id} is not in this line of the conversation any more.",
            "gone": "The original of message {id} is not kept any more.",
            "was-forgotten": "Message {id} was forgotten at the user's wish.",
            "no-shorter": "The summary has {tokens} tokens, what it replaces {before}. Make it shorter, or leave it.",
            "too-large": "{name} may have {most} tokens, this has {tokens}. Keep what matters most.",
            "too-many-files": "No more files may be saved ({most}). Write to one of these: {files}.",
            "no-file": "There is no file {name}. {files}",
            "changed": "{name} was changed by somebody else meanwhile. It now reads:\n{text}",
            "no-fact": "Nothing is remembered under {key}. Keys: {keys}.",
            "ambiguous": "Several facts could be meant by {key}: {keys}.",
            "no-facts": "Facts are not kept here. Use edit_section or save_to_disk.",
            "credential": "Passwords, keys, access codes and card numbers are never remembered. "
            "Say where it is kept instead.",
            "unreached": "Memory cannot be reached now, and nothing was changed. Go on without it.",
            "ended": "Memory tools have ended for this session. Go on without them.",
            "last-round": "No more memory calls in this answer. Answer now.",
        },
        "es": {
            "marked": "Marcados: {messages} mensajes, {tokens} tokens. Salen del contexto cuando se reescriba; "
            "recall_original recupera cualquiera.",
            "summarised": "Tu resumen ocupa el lugar de {messages} mensajes ({tokens} tokens) cuando se reescriba el "
            "contexto; recall_original recupera cualquiera.",
            "marked-already": "Esos mensajes ya están marcados: no hay nada que hacer.",
            "saved": "Guardado {name}: {tokens} tokens.",
            "unchanged": "{name} ya tiene ese texto: no hay nada que hacer.",
            "edited": "{name} está actualizado: {tokens} tokens. Otras sesiones lo cargan desde ahora.",
            "remembered": "Recordado: {key}.",
            "forgotten": "Olvidado: {what}.",
            "waits": "Apartado: esto cita el resultado de una herramienta o un documento, y una persona tiene que "
            "confirmarlo. Sigue adelante.",
            "files": "Archivos: {files}.",
            "no-files": "Todavía no se guardó ningún archivo.",
            "not-json": "Los argumentos no son un objeto JSON. Da: {about}.",
            "missing": "Falta el argumento {about}.",
            "wrong-type": "El argumento {about} es de otro tipo; los ids son números enteros, los textos cadenas.",
            "unknown-argument": "No hay ningún argumento {about}.",
            "too-long": "{about} es demasiado largo. Acórtalo.",
            "empty": "{about} está vacío.",
            "bad-range": "El fin del rango está antes del comienzo.",
            "bad-name": "Los nombres de archivo llevan letras a-z, cifras, - y _, y terminan en .md, sin carpetas: "
            "notas.md.",
            "bad-section": "No existe esa sección. Secciones: {about}.",
            "reserved": "{about} no es tuyo. Elige otro nombre, o usa edit_section o remember.",
            "bad-path": "{about} no es un archivo tuyo: los archivos son /memories/NOMBRE.md, un nombre de letras a-z, "
            "cifras, - y _, sin más carpetas. Hay nombres reservados: memory.md, identity.md, fechas.",
            "bad-command": "No existe ese comando. Comandos: {about}.",
            "unknown-tool": "No existe esa herramienta.",
            "unknown-id": "No hay ningún mensaje {id} en esta sesión. Los ids van de 1 a {last}.",
            "newest": "El mensaje {id} es del último paso o es la última pregunta: se queda.",
            "pinned": "El mensaje {id} está fijado por la persona: déjalo.",
            "system": "El mensaje {id} tiene instrucciones: se queda.",
            "not-here": "El mensaje {id} ya no está en esta línea de la conversación.",
            "gone": "El original del mensaje {id} ya no se conserva.",
            "was-forgotten": "El mensaje {id} se olvidó por deseo del usuario.",
            "no-shorter": "El resumen tiene {tokens} tokens y lo que reemplaza {before}. Acórtalo, o déjalo así.",
            "too-large": "{name} puede tener {most} tokens y esto tiene {tokens}. Conserva lo que más importa.",
            "too-many-files": "No se pueden guardar más archivos ({most}). Escribe en uno de estos: {files}.",
            "no-file": "No hay ningún archivo {name}. {files}",
            "changed": "Otra persona o sesión cambió {name}. Ahora dice:\n{text}",
            "no-fact": "No se recuerda nada con la clave {key}. Claves: {keys}.",
            "ambiguous": "{key} puede ser más de un dato: {keys}.",
            "no-facts": "Aquí no se guardan datos. Usa edit_section o save_to_disk.",
            "credential": "Nunca se recuerdan contraseñas, claves, códigos de acceso ni números de tarjeta. "
            "Di dónde se guarda.",
            "unreached": "Ahora no se puede llegar a la memoria, y no se cambió nada. Sigue sin ella.",
            "ended": "Las herramientas de memoria terminaron en esta sesión. Sigue sin ellas.",
            "last-round": "No hay más llamadas a la memoria en esta respuesta. Responde ahora.",
        },
    }
)
NAMES = frozenset(_TEXTS["en"])


def sentence(language: Language, said: str, /, **values: object) -> str:
    """Returns an answer by its name, in the language of the tools."""
    return _TEXTS[language][said].format(**values)
