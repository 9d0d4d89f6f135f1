import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from proxy.embedding.base import PROBES, Vectors, checked, checked_probes
from proxy.embedding.exported import read
from proxy.embedding.session import Session
from proxy.embedding.source import BUILTIN, source_of
from tests.embedding.sentences import ODD, SENTENCES


@pytest.fixture(scope="module")
def session(embedding_folder: Path) -> Session:
    source = source_of(BUILTIN)
    exported = read(embedding_folder / source.folder, source)
    assert exported is not None
    return Session(exported)


def cosines(vectors: Vectors) -> Vectors:
    every: Vectors = vectors @ vectors.T
    np.fill_diagonal(every, -1)
    return every


def test_the_exported_model_agrees_with_the_original(session: Session, originals: Vectors) -> None:
    agreement = (checked(SENTENCES, session.vectors(SENTENCES)) * originals[: len(SENTENCES)]).sum(axis=1)
    assert agreement.mean() >= 0.995
    assert agreement.min() >= 0.99
    cut_and_odd = (checked(ODD, session.vectors(ODD)) * originals[len(SENTENCES) :]).sum(axis=1)
    assert cut_and_odd.min() >= 0.98


def test_it_ranks_as_the_original_does(session: Session, originals: Vectors) -> None:
    ours = cosines(checked(SENTENCES, session.vectors(SENTENCES)))
    theirs = cosines(originals[: len(SENTENCES)])
    # The neighbour it finds is the original's own, or one that the original holds for as near to a hundredth.
    found = theirs[np.arange(len(ours)), ours.argmax(axis=1)]
    assert (theirs.max(axis=1) - found).max() < 0.01
    pairs = np.triu_indices(len(ours), 1)
    ranks = [every[pairs].argsort().argsort() for every in (ours, theirs)]
    assert statistics.correlation(*(rank.tolist() for rank in ranks)) > 0.995


def test_what_means_the_same_is_near(session: Session) -> None:
    nearest = cosines(checked(SENTENCES, session.vectors(SENTENCES))).argmax(axis=1)
    assert sum(int(index) == place ^ 1 for place, index in enumerate(nearest)) >= 0.8 * len(SENTENCES)


def test_a_text_has_the_same_vector_in_any_company(session: Session) -> None:
    together = session.vectors([*SENTENCES, *ODD])
    for place in (0, 7, len(SENTENCES)):
        np.testing.assert_array_equal(session.vectors([[*SENTENCES, *ODD][place]])[0], together[place])


def test_its_probes_are_far_apart(session: Session) -> None:
    assert checked_probes(session.vectors(PROBES)).shape == (3, 384)


def test_what_runs_it_leaves_no_id_of_the_machine_behind(tmp_path: Path) -> None:
    told = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environ = {**told, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import proxy.embedding.session"], env=environ, check=True)
    assert list(tmp_path.iterdir()) == []
