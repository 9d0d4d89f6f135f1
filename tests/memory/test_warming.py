"""What the first question would wait for is loaded by the time it comes."""

import subprocess
import sys

import pytest

CODE = """
import sys
from proxy.memory.warming import warm
from proxy.memory import choosing, cues, kinds
from proxy.memory.predictions import needs

warm()

def refuse(event, arguments):
    if event == "open":
        raise AssertionError(f"{arguments[0]} was read only now")

sys.addaudithook(refuse)
cues.cues("Where did I tell you that the keys are?")
needs("Where should we eat tonight?", "en")
needs("¿Dónde cenamos hoy?", "es")
kinds.shares("I am allergic to nuts")
"""


@pytest.mark.long
def test_a_question_after_it_reads_no_file() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=60)
