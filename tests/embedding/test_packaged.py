"""That its vectors are the original's is in test_session.py."""

from pathlib import Path

import numpy as np
import pytest

from proxy.embedding import packaged
from proxy.embedding.base import EmbeddingRefused
from proxy.embedding.exported import write
from proxy.embedding.session import Session
from proxy.embedding.source import BUILTIN, source_of

pytestmark = pytest.mark.long  # the model is made from the package, several times


def test_it_is_made_without_torch_and_gives_vectors(tmp_path: Path) -> None:
    made = packaged.made(source_of(BUILTIN))
    assert (made.manifest.dimensions, made.manifest.max_tokens) == (packaged.DIMENSIONS, packaged.MAX_TOKENS)
    one, same, other = Session(write(tmp_path, made)).vectors(
        ["How do I cook rice?", "How is rice cooked?", "El perro ladra."]
    )
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-3)
    assert one @ same > 0.8
    assert one @ other < 0.3


def test_an_altered_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"another")
    monkeypatch.setattr(packaged, "packaged_model", lambda: tmp_path / "model.onnx")
    with pytest.raises(EmbeddingRefused, match="is not that of all-MiniLM-L6-v2"):
        packaged.made(source_of(BUILTIN))
