"""The eight tools as they are offered: names, descriptions, JSON Schemas of their arguments; and the memory tool that
Anthropic's models know, which is offered in their place where the provider has it.

They are part of every prompt from the offer on, so they are short, and equal to the byte for a session.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, get_args

from proxy.protocol.chat import function_tool
from proxy.types import Json, Language
from proxy.types.desk import SectionName, ToolName

SUFFIX = "_memory"  # of a tool's name where the client has a tool of that name
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)
NAMES: tuple[ToolName, ...] = tuple(sorted(get_args(ToolName)))
MEMORY: Final = "memory"
MEMORY_OFFER = (MEMORY,)  # names of an offer of the memory tool

_INTEGER: Mapping[str, Json] = {"type": "integer"}
_STRING: Mapping[str, Json] = {"type": "string"}
_ARGUMENTS: Mapping[ToolName, Mapping[str, Json]] = MappingProxyType(
    {
        "prune_messages": {"message_ids": {"type": "array", "items": _INTEGER, "minItems": 1}},
        "summarize_range": {"start_id": _INTEGER, "end_id": _INTEGER, "summary_text": _STRING},
        "recall_original": {"message_id": _INTEGER},
        "save_to_disk": {"file_name": _STRING, "content": _STRING},
        "load_from_disk": {"file_name": _STRING},
        "edit_section": {"section_name": {"type": "string", "enum": list(SECTIONS)}, "new_content": _STRING},
        "remember": {"key": _STRING, "value": _STRING},
        "forget": {"key": _STRING},
    }
)
_DESCRIPTIONS: Mapping[Language, Mapping[ToolName, str]] = MappingProxyType(
    {
        "en": {
            "prune_messages": "Leave messages out of your context: repeated errors, failed attempts, outputs that are "
            "no longer needed. Ids are in the memory status and in markers. Originals stay recallable.",
            "summarize_range": "Replace a range of messages by your own summary of it. Keep what later steps need: "
            "decisions, names, paths, numbers.",
            "recall_original": "Get the original of a message that was pruned or summarised, when you doubt a detail.",
            "save_to_disk": "Write a note to a file that outlasts this session. Replaces the file. Names end in .md.",
            "load_from_disk": "Read a file that was saved with save_to_disk.",
            "edit_section": "Replace the text of a section of your memory. It is loaded in every session.",
            "remember": "Remember a stable fact that the user has stated about themselves or their work.",
            "forget": "Forget a remembered fact, when the user asks for it or it no longer holds.",
        },
        "es": {
            "prune_messages": "Quita mensajes de tu contexto: errores repetidos, intentos fallidos, salidas que ya no "
            "hacen falta. Los ids están en el estado de memoria y en las marcas. Los originales se pueden recuperar.",
            "summarize_range": "Reemplaza un rango de mensajes por tu propio resumen. Conserva lo que harán falta "
            "después: decisiones, nombres, rutas, números.",
            "recall_original": "Recupera el original de un mensaje podado o resumido, cuando dudes de un detalle.",
            "save_to_disk": "Escribe una nota en un archivo que dura más que esta sesión. Reemplaza el archivo. El "
            "nombre termina en .md.",
            "load_from_disk": "Lee un archivo guardado con save_to_disk.",
            "edit_section": "Reemplaza el texto de una sección de tu memoria. Se carga en cada sesión.",
            "remember": "Recuerda un dato estable que el usuario dijo de sí o de su trabajo.",
            "forget": "Olvida un dato recordado, cuando el usuario lo pida o ya no valga.",
        },
    }
)


def offered_names(taken: Collection[str | None]) -> tuple[str, ...]:
    """Returns the names under which the tools are offered to a client with tools of the names `taken`, in the order of
    `NAMES`."""
    return tuple(_free(name, taken) for name in NAMES)


def _free(name: str, taken: Collection[str | None]) -> str:
    while name in taken:
        name += SUFFIX
    return name


@lru_cache(64)
def definitions(language: Language, names: tuple[str, ...]) -> tuple[Json, ...]:
    """Returns the definitions of all tools under these names, sorted by name."""
    if names == MEMORY_OFFER:
        return (_MEMORY_TOOL,)
    told = _DESCRIPTIONS[language]
    made = {
        offered: function_tool(offered, told[name], _schema(_ARGUMENTS[name]))
        for name, offered in zip(NAMES, names, strict=True)
    }
    return tuple(made[offered] for offered in sorted(made))


# The provider has a schema of its own: this one is counted in its place, and sent where an upstream has none.
_MEMORY_TOOL = function_tool(
    MEMORY,
    "Keep what you learn in Markdown files of the folder /memories, which outlasts this session. View it before "
    "anything else; record progress as you go, since your context may be reset at any moment. Commands: view (a file "
    "or the folder), create, str_replace, insert (behind a line), delete, rename.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
            **dict.fromkeys(("path", "file_text", "old_str", "new_str", "insert_text"), _STRING),
            "insert_line": _INTEGER,
            "view_range": {"type": "array", "items": _INTEGER},
            **dict.fromkeys(("old_path", "new_path"), _STRING),
        },
        "required": ["command"],
    },
)


def _schema(properties: Mapping[str, Json]) -> Json:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
