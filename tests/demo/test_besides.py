"""What the demonstration shows besides a long conversation, and that its model can answer whatever people are told to
ask: by the page, by what is printed at its end."""

import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from proxy.config import Config
from proxy.demo.app import create_app
from proxy.demo.besides import IS, QUESTION, REWORDED, WAS, edited, reworded
from proxy.demo.index import Index
from proxy.demo.remembering import written
from proxy.demo.script import script
from proxy.demo.show import INVITED, MODEL, invitation
from tests.builders import encoding
from tests.servers import run_app, run_proxy

STATIC = Path(__file__).parents[2] / "proxy" / "page" / "static"
EXAMPLE = re.compile(r'"reuse\.none\.example": "(.*)"')


def suggested() -> list[list[str]]:
    """The questions that the page suggests, in each language."""
    found = EXAMPLE.findall((STATIC / "i18n" / "reuse.js").read_text(encoding="utf-8"))
    return [re.findall("“(.+?)”", each) for each in found]


@pytest.mark.long
def test_a_question_in_other_words_is_answered_from_memory_and_an_edit_reaches_the_next_prompt(printed: str) -> None:
    said = " ".join(printed.split())
    assert "(answered from memory, at no cost):" in said
    assert any(f"{question} (intent)" in said for question in REWORDED)
    assert "(the next prompt had it)" in said
    assert f"- {WAS} + {IS} asked in a new conversation: ¿De qué doy clases? → Según lo que me contaste: {IS}" in said


def test_the_line_that_is_edited_is_one_that_memorys_model_finds() -> None:
    assert WAS in [fact["value"] for fact in written()["facts"]]


def answering(*answers: httpx.Response) -> httpx.AsyncClient:
    """A proxy that gives these answers to questions, and has read the file."""
    left = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        return next(left) if request.url.path == "/v1/chat/completions" else facts(request)

    return httpx.AsyncClient(base_url="http://x", transport=httpx.MockTransport(answer))


def facts(request: httpx.Request) -> httpx.Response:
    """Two pages, of which the second has the edit."""
    first = {"facts": [{"value": "of somebody else"}], "next": "second"}
    second = {"facts": [{"value": IS}], "next": None}
    return httpx.Response(200, json=second if request.url.params.get("before") == "second" else first)


def said(text: str, source: str) -> httpx.Response:
    body = {"choices": [{"message": {"content": text}}]}
    return httpx.Response(200, json=body, headers={"x-olvido-source": source})


def counting(*numbers: float) -> Callable[[], Awaitable[float]]:
    left = iter(numbers)

    async def count() -> float:
        return next(left)

    return count


@pytest.mark.parametrize(
    ("sources", "told", "asked"),
    [
        (["intent"], "at no cost", 1),
        (["upstream", "intent"], "at no cost", 2),
        (["upstream"] * 3, "not answered from memory", 3),
    ],
)
async def test_where_the_second_answer_came_from_is_not_assumed(sources: list[str], told: str, asked: int) -> None:
    async with answering(*[said("A visa is a visa.", source) for source in ("upstream", *sources)]) as client:
        title, *lines = (await reworded(client, MODEL, counting(0, 0, 1))).splitlines()
    assert told in title
    assert len([line for line in lines if "(upstream)" in line or "(intent)" in line]) == 1 + asked


async def test_an_edit_that_did_not_reach_the_prompt_is_not_told_as_one_that_did(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text(f"- {WAS}\n", encoding="utf-8")
    async with answering(said("I don't know.", "upstream")) as client:
        assert "the next prompt did not have it" in await edited(client, MODEL, tmp_path)
    assert (tmp_path / "MEMORY.md").read_text(encoding="utf-8") == f"- {IS}\n"


@pytest.mark.parametrize("question", [QUESTION, *REWORDED, INVITED, *(each for pair in suggested() for each in pair)])
def test_the_model_knows_what_people_are_told_to_ask(question: str) -> None:
    answer = script({"model": MODEL}, [{"role": "user", "content": question}], seed=0, thinking=False).content or ""
    assert len(answer) > 200


def test_what_is_printed_at_the_end_fits_a_terminal_and_names_what_is_there() -> None:
    lines = invitation("http://127.0.0.1:8484/v1", Path(tempfile.gettempdir()) / "olvido-demo-01234567" / "olvido.yaml")
    assert max(map(len, lines.splitlines())) <= 80
    assert "http://127.0.0.1:8484/ui" in lines
    assert INVITED in lines
    assert "olvido-demo-01234567/memory\n" in lines
    assert "olvido-demo-01234567/olvido.yaml\n" in lines.split("export OLVIDO_CONFIG=")[1]


@pytest.fixture
def proxied(tmp_path: Path, embedding_folder: Path) -> Iterator[str]:
    assert embedding_folder.is_dir()
    with run_app(create_app(encoding().encode_ordinary)) as upstream:
        demo = {"name": "demo", "base_url": f"{upstream}/v1", "dialect": "kimi"}
        sections = {"server": {"port": 0}, "storage": {"path": tmp_path}, "upstreams": [demo]}
        with run_proxy(Config.model_validate(sections)) as url:
            yield url


async def sources(client: httpx.AsyncClient, key: str, questions: list[str]) -> list[str]:
    """Where the answers to questions came from, each asked once the answer before it is kept."""
    index, found = Index([client]), []
    for question in questions:
        kept = await index.entries()
        body = {"model": MODEL, "messages": [{"role": "user", "content": question}]}
        answer = await client.post("/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}"})
        found.append(answer.headers["x-olvido-source"])
        while found[-1] == "upstream" and await index.entries() <= kept:
            pass
    return found


@pytest.mark.long
async def test_what_the_page_suggests_to_ask_twice_is_answered_from_memory_the_second_time(proxied: str) -> None:
    assert len(suggested()) == 2
    async with httpx.AsyncClient(base_url=proxied, trust_env=False, timeout=60) as client:
        assert await Index([client]).warm()
        for number, questions in enumerate(suggested()):
            # A look-up that took too long on a busy machine lets its request go on: then another key asks.
            tries = [await sources(client, f"sk-{number}-{each}", questions) for each in range(3)]
            assert ["upstream", "intent"] in tries
