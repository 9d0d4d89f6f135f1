"""The rest of the API that a proxy has to let through: models, embeddings, files, and a mirror for what arrives."""

import base64
import hashlib
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.scripted import refusals
from tests.scripted.config import ScriptedConfig
from tests.scripted.recording import Received
from tests.scripted.refusals import Refusal
from tests.scripted.reply import Reply

_CREATED = 1_700_000_000
_DIMENSIONS = 256
_PIECE = 64 * 1024
_BOUNDARY = re.compile(r'boundary="?([^";]+)"?')
_DISPOSITION = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    filename: str
    content: bytes


class Surface:
    def __init__(self, config: ScriptedConfig) -> None:
        self._config = config
        self._files: dict[str, bytes] = {}

    def models(self, _request: Received, _path: Mapping[str, str]) -> Reply | Refusal:
        return _ok({"object": "list", "data": [_model(name) for name in self._config.models]})

    def model(self, _request: Received, path: Mapping[str, str]) -> Reply | Refusal:
        name = path["model"]
        return _ok(_model(name)) if name in self._config.models else refusals.unknown_model(name)

    def embeddings(self, request: Received, _path: Mapping[str, str]) -> Reply | Refusal:
        try:
            body = request.json()
            texts, model = body["input"], body["model"]
        except (msgspec.DecodeError, KeyError, TypeError):
            return refusals.missing("input")
        if model not in self._config.models:
            return refusals.unknown_model(str(model))
        inputs = texts if isinstance(texts, list) and not _is_tokens(texts) else [texts]
        vectors = [vector(repr(text), body.get("dimensions") or _DIMENSIONS) for text in inputs]
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": at, "embedding": _packed(numbers) if as_base64 else numbers}
            for at, numbers in enumerate(vectors)
        ]
        count = sum(len(text) if isinstance(text, list) else len(self._config.encode(str(text))) for text in inputs)
        usage = {"prompt_tokens": count, "total_tokens": count}
        return _ok({"object": "list", "data": data, "model": model, "usage": usage})

    def upload(self, request: Received, _path: Mapping[str, str]) -> Reply | Refusal:
        parts = {part.name: part for part in _multipart(request)}
        if "file" not in parts:
            return refusals.missing("file")
        content = parts["file"].content
        digest = hashlib.sha256(content).hexdigest()
        file_id = f"file-{digest[:24]}"
        self._files[file_id] = content
        return _ok(
            {
                "id": file_id,
                "object": "file",
                "bytes": len(content),
                "created_at": _CREATED,
                "filename": parts["file"].filename,
                "purpose": parts["purpose"].content.decode() if "purpose" in parts else "assistants",
                "status": "processed",
                "sha256": digest,
            }
        )

    def content(self, _request: Received, path: Mapping[str, str]) -> Reply | Refusal:
        stored = self._files.get(path["file"])
        if stored is None:
            return _no_file(path["file"])
        pieces = [stored[at : at + _PIECE] for at in range(0, len(stored), _PIECE)]
        return Reply(200, pieces, "application/octet-stream")

    def delete(self, _request: Received, path: Mapping[str, str]) -> Reply | Refusal:
        if self._files.pop(path["file"], None) is None:
            return _no_file(path["file"])
        return _ok({"id": path["file"], "object": "file", "deleted": True})

    def echo(self, request: Received, _path: Mapping[str, str]) -> Reply | Refusal:
        """Method, path, query, headers in order, and the body's size and hash."""
        digest = hashlib.sha256(request.body).hexdigest()
        seen = {"method": request.method, "path": request.path, "query": request.query, "headers": request.headers}
        return _ok({**seen, "size": len(request.body), "sha256": digest})


def vector(text: str, dimensions: int) -> list[float]:
    """A unit vector that depends on the text only."""
    data = hashlib.shake_128(text.encode("utf-8", "replace")).digest(2 * dimensions)
    numbers = [int.from_bytes(data[at : at + 2]) / 32768 - 1 for at in range(0, len(data), 2)]
    norm = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return [number / norm for number in numbers]


def _packed(numbers: Sequence[float]) -> str:
    return base64.b64encode(array("f", numbers).tobytes()).decode()


def _is_tokens(value: Sequence[Any]) -> bool:
    return bool(value) and all(isinstance(item, int) for item in value)


def _ok(body: Any) -> Reply:
    return Reply(200, [msgspec.json.encode(body)])


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "olvido-demo"}


def _no_file(file_id: str) -> Refusal:
    return Refusal(404, refusals.openai_error(f"No such File object: {file_id}", param="id"))


def _multipart(request: Received) -> list[_Part]:
    boundary = _BOUNDARY.search(request.header("content-type"))
    if boundary is None:
        return []
    parts = []
    for piece in (b"\r\n" + request.body).split(f"\r\n--{boundary[1]}".encode())[1:-1]:
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        names = dict(_DISPOSITION.findall(head.decode("utf-8", "replace")))
        parts.append(_Part(names.get("name", ""), names.get("filename", ""), content))
    return parts
