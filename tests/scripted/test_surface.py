import hashlib
import math

import openai
import pytest

from tests.scripted.conftest import Upstream
from tests.scripted.surface import vector


def test_lists_its_models_and_knows_each(upstream: Upstream) -> None:
    names = [model.id for model in upstream.sdk.models.list()]
    assert {"demo-chat", "text-embedding-3-small"} <= set(names)
    assert upstream.sdk.models.retrieve("demo-chat").id == "demo-chat"
    with pytest.raises(openai.NotFoundError):
        upstream.sdk.models.retrieve("gpt-9")


def test_embeddings_are_the_same_for_the_same_text_as_floats_and_as_base64(upstream: Upstream) -> None:
    create = upstream.sdk.embeddings.create
    floats = create(model="text-embedding-3-small", input=["hola", "chau"], encoding_format="float")
    packed = create(model="text-embedding-3-small", input=["hola", "chau"])  # the SDK asks for base64
    for one, other in zip(floats.data, packed.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
    assert floats.data[0].embedding != floats.data[1].embedding
    assert floats.usage.prompt_tokens == 2
    assert len(create(model="text-embedding-3-small", input="hola", dimensions=8).data[0].embedding) == 8
    assert len(create(model="text-embedding-3-small", input=[1, 2, 3]).data) == 1


def test_vectors_have_length_one() -> None:
    assert math.sqrt(sum(number * number for number in vector("hola", 64))) == pytest.approx(1)


@pytest.mark.parametrize("content", [b"hola", b"", b"\r\n--x\r\n\x00\xff" * 40_000])
def test_a_file_comes_back_as_it_was_sent(upstream: Upstream, content: bytes) -> None:
    sent = upstream.sdk.files.create(file=("notes.bin", content), purpose="user_data")
    assert (sent.bytes, sent.filename, sent.purpose) == (len(content), "notes.bin", "user_data")
    assert getattr(sent, "sha256", None) == hashlib.sha256(content).hexdigest()
    assert upstream.sdk.files.content(sent.id).read() == content
    assert upstream.sdk.files.delete(sent.id).deleted
    with pytest.raises(openai.NotFoundError):
        upstream.sdk.files.content(sent.id)


def test_an_upload_without_a_file_is_refused(upstream: Upstream) -> None:
    assert upstream.http.post("/v1/files", content=b"nothing").json()["error"]["param"] == "file"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_the_mirror_tells_what_arrived(upstream: Upstream, method: str) -> None:
    answer = upstream.http.request(
        method, "/v1/echo/a%2Fb?x=1&x=2", content=b"body", headers=[("x-one", "1"), ("x-one", "2")]
    ).json()
    assert (answer["method"], answer["path"], answer["query"]) == (method, "/v1/echo/a%2Fb", "x=1&x=2")
    assert [value for name, value in answer["headers"] if name == "x-one"] == ["1", "2"]
    assert (answer["size"], answer["sha256"]) == (4, hashlib.sha256(b"body").hexdigest())
