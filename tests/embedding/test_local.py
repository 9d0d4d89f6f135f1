import asyncio
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from proxy.embedding.base import EmbeddingRefused, EmbeddingUnavailable
from proxy.embedding.exported import read
from proxy.embedding.local import LocalEngine
from proxy.embedding.source import BUILTIN, source_of
from tests.embedding.engines import until

# What a server does, in a process of its own: which libraries has it loaded when it serves vectors?
_SERVE = """
import asyncio, sys
from pathlib import Path
from proxy.embedding.local import LocalEngine
from proxy.embedding.service import EngineEmbedder

async def main(model, folder):
    embedder = EngineEmbedder(LocalEngine(model, [Path(folder)]))
    embedder.start()
    early = {"onnxruntime", "tokenizers"} & sys.modules.keys()
    while embedder.state == "warming":
        await asyncio.sleep(0.01)
    print(embedder.state, embedder.detail)
    print(len(await embedder.embed(["abc", "x y z"])), embedder.version)
    print(sorted(early), sorted({"torch", "transformers", "sentence_transformers", "onnx"} & sys.modules.keys()))
    await embedder.close()

asyncio.run(main(*sys.argv[1:]))
"""


def serve(model: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _SERVE, model, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_export_that_is_there_is_served_without_torch(embedding_folder: Path) -> None:
    assert serve(BUILTIN, embedding_folder) == ["ready ", "2 minilm-l6-v2/int8/3", "[] []"]


@pytest.mark.long
def test_a_model_by_its_folder_is_exported_without_torch_in_the_serving_process(tiny: Path, tmp_path: Path) -> None:
    model = str(tiny)
    state, version, loaded = serve(model, tmp_path / "kept")
    exported = read(tmp_path / "kept" / source_of(model).folder, source_of(model))
    assert exported is not None
    assert (exported.manifest.prompt, exported.manifest.max_tokens, exported.manifest.dimensions) == ("query: ", 12, 32)
    assert [state, version, loaded] == ["ready ", f"2 {exported.manifest.version}", "[] []"]
    assert exported.manifest.version.startswith("tiny/")


async def test_the_export_is_found_in_whichever_folder_has_it(embedding_folder: Path, tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path / "empty", embedding_folder])
    await engine.open()
    assert (await engine.vectors(["a", "b"])).shape == (2, 384)
    assert not (tmp_path / "empty").exists()
    await engine.close()


async def test_before_it_is_open_it_has_no_vectors(tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path])
    assert engine.version == "minilm-l6-v2/int8/3"
    with pytest.raises(EmbeddingUnavailable):
        await engine.vectors(["a"])
    await engine.close()


async def test_opening_it_again_keeps_what_is_loaded(minilm: LocalEngine) -> None:
    before = await minilm.vectors(["a"])
    await minilm.open()
    np.testing.assert_array_equal(await minilm.vectors(["a"]), before)


async def test_closing_ends_an_export_that_is_being_made(tmp_path: Path) -> None:
    engine = LocalEngine(BUILTIN, [tmp_path])
    opening = asyncio.gather(engine.open())
    scratch = tmp_path / source_of(BUILTIN).folder / "scratch"
    await until(scratch.exists, seconds=60)
    assert engine.doing.startswith("exporting")
    opening.cancel()
    with suppress(asyncio.CancelledError):
        await opening
    await engine.close()
    assert not scratch.exists()
    assert read(scratch.parent, source_of(BUILTIN)) is None


async def test_an_export_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / source_of(BUILTIN).folder).touch()
    engine = LocalEngine(BUILTIN, [tmp_path])
    with pytest.raises(EmbeddingRefused, match="File exists"):
        await engine.open()
    await engine.close()


async def test_without_a_folder_to_write_the_export_goes_into_one_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def temporary(below: str = "") -> list[Path]:
        return list(tmp_path.glob(f"olvido-*/{below}"))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    engine = LocalEngine(BUILTIN, [tmp_path / "file" / "below"])
    opening = asyncio.gather(engine.open())
    await until(lambda: temporary(f"{source_of(BUILTIN).folder}/lock"), seconds=60)
    opening.cancel()
    with suppress(asyncio.CancelledError):
        await opening
    await engine.close()
    assert not temporary()
