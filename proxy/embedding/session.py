"""Runs an exported model: the text's tokens by tokenizers, their vector by onnxruntime, in the calling thread.

Texts run one by one. int8 quantises activations by their range over the whole run, so a text would get another vector
in other company (cosines down to 0.985), and a batch gains little on one core: with no padding at all, eight texts of
one length take 0.74 of the time a text at 32 tokens, 0.84 at 64, 0.94 at 128, 1.1 at 256. Of a run at 34 tokens half is
the quantised products; making tokens of the text takes 2 % as long.
"""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from proxy.embedding.base import Vectors
from proxy.embedding.exported import Exported

# Since 1.29 it keeps an id of the machine in the user's cache, and reports its use to Microsoft, unless it is told not
# to before it is loaded (its Privacy.md).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

INPUT, OUTPUT = "input_ids", "vector"  # names in the exported graph
_SEVERITY_ERROR = 3


class Session:
    """A loaded model."""

    def __init__(self, exported: Exported) -> None:
        self._prompt = exported.manifest.prompt
        self._dimensions = exported.manifest.dimensions
        self._tokenizer = Tokenizer.from_file(str(exported.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(exported.manifest.max_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the requests of everybody else need the cores
        options.inter_op_num_threads = 1
        options.log_severity_level = _SEVERITY_ERROR
        # Every length of text would leave its own memory plan behind.
        options.enable_mem_pattern = False
        if _overflows():
            options.add_session_config_entry("session.x64quantprecision", "1")
        # By path: given bytes, it keeps them.
        self._session = onnxruntime.InferenceSession(exported.model, options, providers=["CPUExecutionProvider"])

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, not yet checked. Texts must be encodable as UTF-8."""
        rows: Vectors = np.empty((len(texts), self._dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            ids = self._tokenizer.encode(self._prompt + text).ids
            row[:] = self._session.run([OUTPUT], {INPUT: np.array([ids], np.int64)})[0][0]
        return rows


def _overflows() -> bool:
    """Without VNNI, x64's fast product of uint8 and int8 overflows. The exact one takes half as long again, with VNNI
    too, where nothing overflows."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    try:
        return "vnni" not in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
