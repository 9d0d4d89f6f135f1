"""Token counts of prompts. The upstream's own count is the truth; before it is known:

- until a model's upstream has reported a count, the o200k ranks that ship in a package (`TokenCounter`);
- from then on a rough count, calibrated per model by the reported ones (`proxy/storage/shared`).

Nothing is downloaded: `bpe-openai` carries the ranks as data, read without importing it, and tiktoken itself checks
their sha256 against the one that it expects of its own download. tiktoken counts with the GIL released, so a large body
counted in a worker thread does not hold up the event loop.
"""

import asyncio
import gzip
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import tiktoken

from proxy.lru import Lru
from proxy.types import ChatRequest, Message, Part

ENCODING = "o200k_base"
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"  # tiktoken's cache key, no more

# OpenAI's cookbook on counting chat tokens: 3 a message and its role, 1 a name, 3 that prime the reply.
PER_MESSAGE = 3
PER_ROLE = 1
PER_NAME = 1
PER_REQUEST = 3
# An image in the middle of what vision models bill (low detail 85; high 170 a tile). The calibration corrects it.
PER_IMAGE = 765
PER_IMAGE_LOW = 85

# Characters counted at once: tiktoken's regex panics (a BaseException, stack overflow) on a run of a million spaces. A
# cut costs a token or two.
PIECE = 100_000
# Characters counted of a longer text, and extrapolated: a run of a million spaces takes half a second.
MOST_COUNTED = 1_000_000

# New text up to this many bytes is counted on the event loop (about 0.1 ms); more goes to a worker thread, whose
# round trip costs as much.
INLINE_BYTES = 8 * 1024
MOST_COUNTS = 20_000  # of texts, 100 bytes each


@cache
def load_tokenizer() -> tiktoken.Encoding:
    """Returns the o200k encoding, one a process, without network. Takes about 0.3 s, once. Raises OSError if the
    package data is not there, and ValueError if it isn't what tiktoken expects."""
    spec = importlib.util.find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package bpe-openai, which carries the token ranks, is not installed")
    ranks = gzip.decompress(
        (Path(spec.submodule_search_locations[0]) / "data" / f"{ENCODING}.tiktoken.gz").read_bytes()
    )
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="olvido-") as folder:
        # tiktoken reads a file of this name in this folder instead of downloading it, and verifies its hash.
        name = hashlib.sha1(_RANKS_URL.encode(), usedforsecurity=False).hexdigest()
        (Path(folder) / name).write_bytes(ranks)
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return tiktoken.get_encoding(ENCODING)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


Key: TypeAlias = tuple[bytes, int]  # of a message: its link, and its length in bytes


class Counter:
    """Base of token counters: counts messages with their framing; subclasses count a text."""

    def text(self, text: str) -> int:
        """Returns the tokens of a text."""
        raise NotImplementedError

    def message(self, message: Message) -> int:
        """Returns the tokens of a message, framing included."""
        count = PER_MESSAGE + PER_ROLE
        count += self.text(message.text) if message.is_plain else sum(map(self._part, message.parts))
        if message.is_bare:
            return count
        for value in message.beside:
            count += self.text(value) if isinstance(value, str) else self._json(value)
        if (name := message.name) is not None:
            count += PER_NAME + self.text(name)
        return count

    def overhead(self, request: ChatRequest) -> int:
        """Returns the tokens that are not messages: tools, the response format, the reply's priming."""
        return PER_REQUEST + sum(map(self._json, request.beside.values()))

    def _part(self, part: Part) -> int:
        if part.kind == "text":
            return self.text(part.text)
        if part.kind == "other":
            return self._json(part.definition)
        return PER_IMAGE_LOW if part.is_low else PER_IMAGE

    def _json(self, value: Any) -> int:
        return self.text(msgspec.json.encode(value).decode())


class RoughCounter(Counter):
    """A counter by length, four bytes a token. Rough by itself, and as good as any once it is calibrated (`Calibration`
    in storage/shared): it takes a microsecond a message, where the ranks, 20 MB that no CPU cache holds, take 20 to 70
    (measured in a running server)."""

    def text(self, text: str) -> int:
        """Returns the tokens of a text."""
        return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // 4

    def request(self, request: ChatRequest, messages: Sequence[Message] | None = None) -> int:
        """Returns the tokens of a request, with `messages` in place of its own if they are given."""
        # A plain message counts with all its bytes; the calibration learns the share of punctuation.
        messages = request.messages if messages is None else messages
        texts = sum([len(message.raw) for message in messages if message.is_plain])
        others = sum([self.message(message) for message in messages if not message.is_plain])
        return texts // 4 + others + self.overhead(request)


class TokenCounter(Counter):
    """A counter by the o200k ranks. It counts each message once, by its link in the hash chain and its length (a link
    leaves out what is only informative), so a conversation that is sent again costs only what is new in it."""

    def __init__(self, encoding: tiktoken.Encoding, *, remembered: int = 50_000) -> None:
        self._encoding = encoding
        self._counts: Lru[Key, int] = Lru(remembered)

    def text(self, text: str) -> int:
        """Returns the tokens of a text; beyond a million characters by extrapolation."""
        # Ordinary: special tokens in a user's text are text.
        if len(text) <= PIECE:
            return len(self._encoding.encode_ordinary(text))
        counted = min(len(text), MOST_COUNTED)
        pieces = (text[start : min(start + PIECE, counted)] for start in range(0, counted, PIECE))
        tokens = sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)
        return tokens if counted == len(text) else round(tokens * len(text) / counted)

    async def request(self, request: ChatRequest, chain: Sequence[bytes], executor: Executor) -> int:
        """Returns the tokens of the whole prompt; off the event loop when much of it is new."""
        counted = sum(await self.messages(request.messages, chain, executor))
        if len(request.raw) - sum([len(message.raw) for message in request.messages]) <= INLINE_BYTES:
            return counted + self.overhead(request)
        return counted + await asyncio.get_running_loop().run_in_executor(executor, self.overhead, request)

    async def once(self, request: ChatRequest, executor: Executor) -> int:
        """Returns the tokens of the whole prompt without remembering any count."""
        work = partial(self._whole, request)
        if len(request.raw) <= INLINE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(executor, work)

    def _whole(self, request: ChatRequest) -> int:
        return sum(self._count(request.messages)) + self.overhead(request)

    async def messages(
        self, messages: Sequence[Message], chain: Sequence[bytes], executor: Executor
    ) -> tuple[int, ...]:
        """Returns the tokens of each message; off the event loop when many bytes of them are new."""
        keys = [(link, len(message.raw)) for message, link in zip(messages, chain, strict=True)]
        counts = [self._counts.get(key) for key in keys]
        new = [index for index, count in enumerate(counts) if count is None]
        if sum(len(messages[index].raw) for index in new) <= INLINE_BYTES:
            counted = self._count([messages[index] for index in new])
        else:
            loop = asyncio.get_running_loop()
            counted = await loop.run_in_executor(executor, self._count, [messages[index] for index in new])
        for index, count in zip(new, counted, strict=True):
            self._counts.put(keys[index], count)
            counts[index] = count
        return tuple([count or 0 for count in counts])

    def known(self, message: Message, link: bytes) -> int:
        """Returns the tokens of a message, counted here and now if they are not known. For worker threads."""
        key = (link, len(message.raw))
        if (count := self._counts.get(key)) is None:
            count = self.message(message)
            self._counts.put(key, count)
        return count

    def _count(self, messages: Sequence[Message]) -> list[int]:
        return [self.message(message) for message in messages]

    def _json(self, value: Any) -> int:
        # Tools are the same in every request of a conversation.
        encoded = msgspec.json.encode(value)
        key = (hashlib.blake2b(encoded, digest_size=16).digest(), len(encoded))
        count = self._counts.get(key)
        if count is None:
            count = self.text(encoded.decode())
            self._counts.put(key, count)
        return count


class RememberedCount:
    """A count of texts that remembers its results. Bounded; worker threads may share it."""

    def __init__(self, count: Callable[[str], int], most: int = MOST_COUNTS) -> None:
        self._count = count
        self._known: Lru[tuple[int, int], int] = Lru(most)

    def __call__(self, text: str) -> int:
        """Returns the tokens of a text."""
        key = (hash(text), len(text))  # a keyed hash of 64 bits, which a text keeps once it is known
        if (found := self._known.get(key)) is None:
            found = self._count(text)
            self._known.put(key, found)
        return found
