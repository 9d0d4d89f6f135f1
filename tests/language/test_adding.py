"""A language is added by a folder of data files, and by nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.language.detect import language
from proxy.language.tables import languages
from proxy.language.words import plain
from proxy.reuse.cacheable import listed_reason
from proxy.reuse.gate import emotional, side_effect, time_dependent
from tests.builders import chat, user

PROXY = Path(__file__).parents[2] / "proxy"


def test_a_folder_is_all_that_a_language_takes(tmp_path: Path) -> None:
    package = tmp_path / "proxy"
    package.mkdir()
    for each in PROXY.iterdir():
        if each.name != "language":
            (package / each.name).symlink_to(each)
    shutil.copytree(PROXY / "language", package / "language")
    folder = package / "language" / "eo"
    folder.mkdir()
    (folder / "detection.txt").write_text("# Esperanto\n[words]\nkiel la de\n", encoding="utf-8")
    (folder / "moment.txt").write_text("# Now.\n[now]\nhodiau | (nun|morgau)\n", encoding="utf-8")
    (folder / "orders.txt").write_text("# Orders.\n[act]\nmalsaltu\n", encoding="utf-8")
    said = (
        "from proxy.language.words import plain; from proxy.reuse.gate import side_effect, time_dependent;"
        "print([time_dependent(plain(text)) for text in ('kio okazas nun', 'kio estas koto')], "
        "side_effect(plain('Malsaltu lampon')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", said],
        capture_output=True,
        check=False,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert ran.stderr == ""
    assert ran.stdout == "[True, False] True\n"
    assert not side_effect(plain("Malsaltu lampon"))


def test_portuguese_has_the_files_of_detection_and_of_the_gate_alone() -> None:
    has = {
        subject for subject in ("detection", "function", "moment", "feelings", "orders") if "pt" in languages(subject)
    }
    assert has == {"detection", "function", "moment", "feelings", "orders"}
    assert not {subject for subject in ("lexicon", "licences", "frames", "standing") if "pt" in languages(subject)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Que horas são?", "time_dependent"),
        ("Vai chover amanhã em Lisboa?", "time_dependent"),
        ("Quem é o presidente do Brasil?", "time_dependent"),
        ("Quem ganhou o jogo?", "time_dependent"),
        ("Qual é a previsão do tempo para o Porto?", "time_dependent"),
        ("Estou muito triste, não aguento mais", "emotional"),
        ("Meu cachorro morreu", "emotional"),
        ("Você pode desligar a luz? Desligue a luz da sala", "side_effect"),
        ("Por favor, envie o relatório para a Ana", "side_effect"),
        ("Como funciona a energia solar?", None),
        ("O que é a fotossíntese?", None),
        ("Escreva um poema sobre o mar", None),
    ],
)
def test_what_is_never_reused_is_recognised_in_portuguese_too(text: str, reason: str | None) -> None:
    assert listed_reason(chat(user(text))) == reason


@pytest.mark.parametrize("text", ["como funciona a energia", "Que horas são?", "O que é a fotossíntese?"])
def test_portuguese_is_no_language_that_questions_are_compared_in(text: str) -> None:
    assert language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "¿Qué era el ágora de Atenas?",
        "What is an agora?",
        "¿Qué es una liga de fútbol?",
        "What is the EU?",
        "Who invented the telephone?",
        "¿Cómo se dice gracias en portugués?",
    ],
)
def test_words_that_portuguese_shares_keep_their_sense(text: str) -> None:
    said = plain(text)
    assert not time_dependent(said)
    assert not side_effect(said)
    assert not emotional(said)
