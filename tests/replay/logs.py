"""Conversations as a log has them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from proxy.config import Config
from proxy.embedding import EmbeddingOff
from proxy.replay.reading import Logged
from proxy.replay.running import Resources
from tests.builders import Said, assistant, config, counter, system, user

MODEL = "kimi-k2.6"
AT = 1_700_000_000.0

_TOPICS = {
    "es": (
        ("¿Qué conviene plantar en el balcón en otoño?", "Acelga, rúcula y habas: aguantan el frío y piden poca agua."),
        ("¿Cada cuánto se riega la rúcula?", "Día por medio, temprano, sin mojar las hojas cuando les da el sol."),
        ("¿Qué maceta le va bien a las habas?", "Una de veinte litros con buen drenaje, tres plantas por maceta."),
        ("¿Cómo evito los pulgones?", "Jabón potásico diluido cada diez días y una caléndula cerca."),
        ("¿Cuándo se cosecha la acelga?", "A los sesenta días, cortando las hojas de afuera primero."),
    ),
    "en": (
        ("Which trains run from the coast on Sundays?", "Four slow ones, at seven, eleven, three and eight."),
        ("Can I take a bicycle on them?", "In the last carriage, up to six bicycles, without a reservation."),
        ("Where do I change for the valley line?", "At the old junction, platform two, with nine minutes to spare."),
        ("Is there a cheaper ticket for groups?", "From five people on, a third off, bought a day before."),
        ("What if the last train is cancelled?", "A night bus follows the same stops twenty minutes later."),
    ),
}
FACT = {"es": "Recordá que soy alérgico a las nueces.", "en": "Remember that I am allergic to walnuts."}


def conversation(lang: str, turns: int) -> list[Said]:
    """A user states something to be kept, then asks one thing after the other; ends with a question."""
    told: list[Said] = [system("Answer briefly."), user(FACT[lang]), assistant("Noted.")]
    for number in range(turns):
        asked, answered = _TOPICS[lang][number % len(_TOPICS[lang])]
        told += [user(f"{number + 1}. {asked} " * 3), assistant(f"({number + 1}) {answered} " * 6)]
    return told[:-1]


def requests(told: Sequence[Said]) -> Iterator[Sequence[Said]]:
    """What a client sends that sends its whole history every time."""
    for index, said in enumerate(told, 1):
        if said["role"] == "user":
            yield told[:index]


def logged(told: Sequence[Said], *, at: float | None = None, **more: Any) -> Logged:
    fields = more.pop("fields", {})
    return Logged(msgspec.json.encode({"model": MODEL, "messages": told, **fields}), at=at, **more)


def log_of(lang: str, turns: int, *, key: str = "") -> list[Logged]:
    return [
        logged(told, at=AT + 30 * number, key=key or lang)
        for number, told in enumerate(requests(conversation(lang, turns)))
    ]


def priced(*, cached: float = 0.2, **sections: Any) -> Config:
    upstream = {
        "name": "up",
        "base_url": "http://127.0.0.1:1/v1",
        "dialect": "kimi",
        "price": {"input": 1, "cached": cached, "output": 4},
    }
    return config(**{"upstreams": [upstream], **sections})


@asynccontextmanager
async def by_words() -> AsyncIterator[Resources]:
    with ThreadPoolExecutor(1) as executor:
        yield Resources(counter(), EmbeddingOff(), executor)
