"""The README's first table is what the demonstration prints."""

import re
import subprocess
import sys

import pytest

from tests.docs.documents import ROOT

ROW = re.compile(r"^(.+?)  +([\d.,]+(?: of \d+)?) +([\d.,]+(?: of \d+)?)", re.MULTILINE)


def number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text.partition(" (")[0].partition(" of ")[0]))


@pytest.mark.long
def test_the_readme_s_table_is_what_the_demonstration_prints() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "proxy", "demo", "--exit", "--port", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    printed = {name.strip(): (number(direct), number(ours)) for name, direct, ours in ROW.findall(ran.stdout)}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (prompt tokens|…|cost|questions)[^|]*\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    told = {name: (number(direct), number(ours)) for name, direct, ours in rows}
    for name, begins in (
        ("prompt tokens", "prompt tokens billed"),
        ("…", "of these cached"),
        ("cost", "cost, US$"),
        ("questions", "facts recalled"),
    ):
        (direct, ours), (direct_now, ours_now) = told[name], next(v for k, v in printed.items() if k.startswith(begins))
        assert direct == pytest.approx(direct_now, rel=1e-3)  # the table is rounded
        assert ours == pytest.approx(ours_now, rel=0.03)  # embedding ends sooner or later
