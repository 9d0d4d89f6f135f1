"""`python -m tests.mirror`: every module of the proxy has its tests where one looks for them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Modules that are tested elsewhere, and where.
ELSEWHERE = {
    "types": "data only; mypy is its test",
    "likeness.py": "tests/memory/test_facts.py: which older fact a change is about",
    "noted_words.py": "tables only; tests/memory/test_noted.py says what they decide",
    "noun_words.py": "tables only; tests/memory/test_nouns.py says what they decide",
    "shift_phrases.py": "tables only; tests/memory/test_shift.py says what they decide",
    "signals_en.py": "tables only; tests/memory/test_signals.py and test_extract.py say what they decide",
    "signals_es.py": "tables only; as signals_en.py",
    "merge.py": "tests/wire/test_accumulate.py: its rules are an accumulator's",
    "statements.py": "SQL only; tests/storage/test_sqlite.py and tests/contract run it",
    "memory.py": "tests/contract: one suite over every backend",
    "accounts.py": "tests/contract/test_accounts.py and test_contents.py run what is off as well",
    "memory_folder.py": "tests/test_memory_cli.py runs it",
    "wipes_schema.py": "tests/contract/test_wipe_store.py runs it",
    "accounts_schema.py": "tests/storage/test_rollups.py and tests/contract run it",
    "memory_accounts.py": "tests/contract: one suite over every backend",
    "patterns.py": "tables only; tests/reuse/test_moment.py and test_cacheable.py say what they decide",
    "verbs.py": "tables only; tests/reuse/test_effects.py says what they decide",
    "lexicon_en.py": "tables only; tests/reuse/test_question.py and test_align.py say what they decide",
    "lexicon_es.py": "tables only; as lexicon_en.py",
    "filler_en.py": "tables only; tests/reuse/test_filler.py says what they decide",
    "filler_es.py": "tables only; as filler_en.py",
    "frames_en.py": "tables only; tests/reuse/test_frames.py says what they decide",
    "frames_es.py": "tables only; as frames_en.py",
    "english.py": "tables only; tests/reuse/test_standing.py says what they decide",
    "spanish.py": "tables only; as english.py",
    "vocabulary.py": "tables only; as english.py",
    "sentence.py": "a part of the package that tests/reuse/test_standing.py tests",
}


def missing() -> list[str]:
    wanted = []
    for module in sorted((ROOT / "proxy").rglob("*.py")):
        path = module.relative_to(ROOT / "proxy")
        if path.name.startswith("__") or path.name in ELSEWHERE or path.parts[0] in ELSEWHERE:
            continue
        test = Path("tests") / path.with_name(f"test_{path.name}")
        if not (ROOT / test).exists():
            wanted.append(f"proxy/{path} has no {test}")
    return wanted


if __name__ == "__main__":
    problems = missing()
    print("\n".join(problems) or "every module has its tests")
    sys.exit(bool(problems))
