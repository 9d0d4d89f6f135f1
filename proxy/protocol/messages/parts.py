"""Blocks of a message as parts of a chat completion's: texts and images, and in a tool's result also what can be told
as text (documents of text, search results, names of tools)."""

from collections.abc import Iterator, Mapping

from proxy.types import Json

IS_ERROR = "Error: "  # before the result of a tool that has failed: a chat completion has no field for it


def part(block: Json) -> Json:
    """Returns a block as a part; itself if there is none that says the same."""
    match block:
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return {"type": "image_url", "image_url": {"url": url}}
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}  # a breakpoint moves from request to request: it says nothing
        case _:
            return block


def is_expressed(made: Json) -> bool:
    """True for what `part` or `result_part` returns, if it is a part of a chat completion."""
    match made:
        case {"type": "text", "text": str()} | {"type": "image_url"}:
            return True
        case _:
            return False


def result_part(block: Json) -> Json:
    """Returns a block of a tool's result as a part; itself if there is none that says the same."""
    match block:
        case {"type": "document", "source": {"type": "text", "data": str(text)}, **more}:
            return _text(*_heads(more), text)
        case {"type": "document", "source": {"type": "content", "content": content}, **more}:
            texts = [content] if isinstance(content, str) else list(_texts(content))
            return block if None in texts else _text(*_heads(more), *texts)
        case {"type": "search_result", "source": str(source), "content": content, **more}:
            texts = list(_texts(content))
            return block if None in texts else _text(*_heads(more), source, *texts)
        case {"type": "tool_reference", "tool_name": str(name)}:
            return _text(name)
        case _:
            return part(block)


def _text(*texts: str | None) -> Json:
    return {"type": "text", "text": "\n".join([text for text in texts if text])}


def _heads(more: Mapping[Json, Json]) -> Iterator[str]:
    return (value for name in ("title", "context") if isinstance(value := more.get(name), str))


def _texts(content: Json) -> Iterator[str | None]:
    """Yields the texts of blocks; None for one that is no text."""
    for block in content if isinstance(content, list) else (None,):
        match block:
            case {"type": "text", "text": str(text)}:
                yield text
            case _:
                yield None
