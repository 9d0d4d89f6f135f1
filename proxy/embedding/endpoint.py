"""The engine of an OpenAI-compatible server: `POST /v1/embeddings`."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx
import msgspec
import numpy as np
from httpx_aiohttp import HttpxAiohttpClient

from proxy.embedding.base import EmbeddingUnavailable, Vectors

TIMEOUT = httpx.Timeout(10.0, connect=5.0)  # seconds; the request that waits for it has a deadline of its own


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Item]


class EndpointEngine:
    """Embeds on an OpenAI-compatible server. `base_url`: up to and including /v1."""

    def __init__(self, base_url: str, model: str, api_key: str | None = None) -> None:
        self.version = f"{model}@{urlsplit(base_url).netloc}"
        self.doing = "asking the endpoint"
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._headers = {"content-type": "application/json"}
        if api_key is not None:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._client: httpx.AsyncClient | None = None

    async def open(self) -> None:
        """Makes the HTTP client."""
        if self._client is None:
            # httpx over aiohttp's sockets, as to every upstream.
            self._client = HttpxAiohttpClient(headers=self._headers, timeout=TIMEOUT)

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Raises EmbeddingUnavailable for an answer that is none."""
        assert self._client is not None, "open comes first"
        body = msgspec.json.encode({"model": self._model, "input": texts, "encoding_format": "float"})
        try:
            response = await self._client.post(self._url, content=body)
        except (httpx.HTTPError, TimeoutError) as error:
            raise EmbeddingUnavailable(f"the endpoint did not answer ({type(error).__name__})") from error
        if response.status_code != 200:
            raise EmbeddingUnavailable(f"the endpoint answered {response.status_code}")
        return _rows(response.content, len(texts))

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()


def _rows(body: bytes, expected: int) -> Vectors:
    """A row for each text, by `index`: servers need not answer in order."""
    try:
        items = msgspec.json.decode(body, type=_Reply).data
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise EmbeddingUnavailable("the endpoint's answer has not the shape of embeddings") from error
    items.sort(key=lambda item: item.index)
    if [item.index for item in items] != list(range(expected)):
        raise EmbeddingUnavailable(f"the endpoint answered {len(items)} vectors to {expected} texts")
    if len({len(item.embedding) for item in items}) != 1:
        raise EmbeddingUnavailable("the endpoint's vectors are not equally long")
    with np.errstate(over="ignore"):  # what is no float32 becomes infinite, which the checks refuse
        return np.array([item.embedding for item in items], np.float32)
