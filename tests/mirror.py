"""`python -m tests.mirror`: every module of the proxy has its tests where one looks for them.

`proxy/a/b.py` is tested by `tests/a/test_b.py`. A module that is tested elsewhere is named below by its whole path."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent

_DATA = "data only; mypy is its test"
_SQL = "SQL only; tests/storage/sqlite/test_connection.py and tests/contract run it"

# Paths below `proxy/` of modules that are tested elsewhere, and where.
ELSEWHERE = {
    "api.py": "tests/test_passthrough.py, tests/pipeline/test_other_apis.py: over real sockets",
    "bench/connections.py": "tests/bench/test_load.py",
    "bench/upstream.py": "tests/bench/test_load.py",
    "cli/whom.py": "tests/cli/test_erase.py, tests/cli/test_export.py",
    "cli/remembered.py": "tests/cli/test_memory.py",
    "context/draft.py": "data; tests/context/test_budget.py measures every part of it",
    "context/draft_sizes.py": "tests/context/test_budget.py: with what was sent before",
    "context/telling.py": "tests/context/test_planner.py, tests/context/test_invariants.py: of whole plans",
    "context/sizes.py": "tests/context/test_planner.py: limits and sizes of whole plans",
    "context/marks.py": "tests/context/test_desk_plans.py",
    "desk/protecting.py": "tests/desk/test_wishes.py",
    "desk/schemas.py": "tests/desk/test_tools.py",
    "desk/sentences.py": "tests/desk/test_tools.py",
    "config/memory.py": "data only; tests/config/test_config.py reads and refuses such settings, as all of them",
    "conversation/list_forms.py": "tests/conversation/test_lists.py: every form, as lists of whole messages",
    "config/reuse.py": "data only; tests/config/test_config.py, as all settings",
    "config/storage.py": "data only; tests/config/test_config.py, as all settings",
    "curation/model.py": "tests/pipeline/test_memory_model.py",
    "curation/watching.py": "tests/curation/test_doing.py, tests/files/test_remembering.py",
    "desk/planned.py": "tests/desk/test_view.py, tests/context/test_desk_plans.py",
    "desk/running.py": "tests/pipeline/test_tool_loop.py: an interface",
    "memory/watching.py": "tests/files/test_remembering.py",
    "observe/labels.py": "tests/observe/test_catalogue.py: every value is counted somewhere",
    "files/known.py": "tests/files/test_merging.py: every change of a file goes through it",
    "files/merged_lines.py": "tests/files/test_merging.py: every merge is written by it",
    "reuse/gate.py": "tests/reuse/test_moment.py, tests/reuse/test_feelings.py and tests/reuse/test_effects.py",
    "reuse/english.py": "tests/reuse/test_standing.py: whether a question stands alone, in each language",
    "reuse/spanish.py": "tests/reuse/test_standing.py: whether a question stands alone, in each language",
    "reuse/sentence.py": "tests/reuse/test_standing.py: whether a text of such sentences stands alone",
    "reuse/substitutes.py": "tests/reuse/test_licences.py: every licence with its rows",
    "pipeline/kept_responses.py": "tests/pipeline/test_other_apis.py: over real sockets",
    "protocol/messages/reading.py": "tests/protocol/messages/test_events.py: what was written is read",
    "protocol/responses/reading.py": "tests/protocol/responses/test_events.py: what was written is read",
    "pipeline/desk_facts.py": "tests/pipeline/test_desk_tools.py: with all tools of the desk",
    "pipeline/tool_rounds.py": "tests/pipeline/test_tool_loop.py: with all of the loop",
    "pipeline/tool_stream.py": "tests/pipeline/test_tool_loop.py: with all of the loop",
    "pipeline/tool_turns.py": "tests/pipeline/test_tool_loop.py: with all of the loop",
    "services/asking.py": "tests/test_services.py, tests/pipeline/test_judge.py, test_mirror.py, test_memory_model.py",
    "services/opened.py": _DATA,
    "services/remembering.py": "tests/test_services.py: every part is the one that the others know",
    "storage/schema/beginning.py": _SQL,
    "storage/schema/many_machines.py": _SQL,
    "storage/schema/curation.py": _SQL,
    "storage/schema/desk.py": _SQL,
    "storage/schema/requests.py": _SQL,
    "storage/schema/keys.py": _SQL,
    "storage/schema/quality.py": _SQL,
    "storage/database.py": "what each kind does: tests/storage/sqlite/test_database.py; stores over it: tests/contract",
    "storage/desk.py": "tests/contract/test_desk_store.py",
    "storage/jobs.py": "tests/contract/test_job_store.py",
    "storage/shared/counters.py": "tests/contract/test_counters.py",
    "storage/redis/links.py": "tests/storage/redis/test_connection.py, tests/cli/test_servers.py: with a real server",
    "storage/redis/counters.py": "tests/contract/test_counters.py",
    "storage/quality.py": "tests/contract/test_quality_store.py",
    "storage/stores/quality.py": "tests/contract/test_quality_store.py",
    "storage/sqlite/quality.py": "tests/contract/test_quality_store.py",
    "storage/postgres/quality.py": "tests/contract/test_quality_store.py",
    "storage/returns.py": "tests/contract/test_return_store.py",
    "storage/sqlite/returns.py": "tests/contract/test_return_store.py",
    "storage/postgres/returns.py": "tests/contract/test_return_store.py",
    "storage/stores/returns.py": "tests/contract/test_return_store.py",
    "storage/keys.py": "tests/contract/test_key_store.py",
    "storage/sqlite/keys.py": "tests/contract/test_key_store.py",
    "storage/postgres/keys.py": "tests/contract/test_key_store.py",
    "storage/stores/keys.py": "tests/contract/test_key_store.py",
    "storage/postgres/stores.py": "names only; tests/storage/test_opening.py opens them all",
    "storage/sqlite/stores.py": "names only; tests/storage/test_opening.py opens them all",
    "storage/stores/archive.py": "tests/contract/test_archive.py, tests/storage/sqlite/test_archive.py",
    "storage/stores/sessions.py": "tests/contract/test_session_store.py, tests/storage/sqlite/test_sessions.py",
    "storage/stores/states.py": "tests/contract/test_state_store.py, tests/storage/sqlite/test_sessions.py",
    "storage/stores/wipes.py": "tests/contract/test_wipe_store.py, tests/storage/sqlite/test_wipes.py",
    "storage/retention.py": "tests/storage/sqlite/test_expiry.py, tests/storage/postgres/test_expiry.py",
    "storage/accounts.py": "tests/contract/test_accounts.py",
    "storage/shared/flights.py": "tests/contract/test_shared.py",
    "storage/sqlite/names.py": "tests/storage/sqlite/test_database.py, and all stores: tests/contract",
    "storage/postgres/writer.py": "tests/storage/postgres/test_database.py: what waits, what is refused, what goes on",
    "storage/stores/accounts.py": "tests/contract/test_accounts.py",
    "storage/postgres/aliases.py": "tests/contract/test_aliases.py",
    "storage/sqlite/aliases.py": "tests/contract/test_aliases.py",
    "storage/stores/aliases.py": "tests/contract/test_aliases.py",
    "storage/stores/contents.py": "tests/contract/test_contents.py",
    "storage/stores/desk.py": "tests/contract/test_desk_store.py",
    "storage/stores/desk_changes.py": "tests/contract/test_desk_store.py, tests/storage/sqlite/test_desk.py",
    "storage/stores/desk_forgetting.py": "tests/contract/test_desk_forgetting.py",
    "storage/stores/desk_payloads.py": "tests/contract/test_desk_forgetting.py, tests/contract/test_desk_store.py",
    "storage/stores/desk_rows.py": "tests/contract/test_desk_store.py, tests/storage/sqlite/test_desk.py",
    "storage/stores/facts.py": "tests/contract/test_fact_store.py, tests/storage/sqlite/test_facts.py",
    "storage/stores/job_changes.py": "tests/contract/test_job_store.py",
    "storage/stores/job_expiry.py": "tests/storage/sqlite/test_expiry.py, tests/storage/postgres/test_expiry.py",
    "storage/stores/job_forgetting.py": "tests/contract/test_job_store.py",
    "storage/stores/job_rows.py": "tests/contract/test_job_store.py",
    "storage/stores/jobs.py": "tests/contract/test_job_store.py",
    "storage/stores/kinds.py": _DATA,
    "storage/stores/ledger.py": "tests/contract/test_ledger.py, tests/storage/sqlite/test_ledger.py",
    "storage/stores/reuse.py": "tests/contract/test_reuse_store.py",
    "storage/stores/whose.py": "tests/contract/test_accounts.py, tests/contract/test_contents.py",
    "storage/write_queue.py": "tests/storage/sqlite/test_writer.py, tests/storage/test_spool.py",
    "types/answer.py": _DATA,
    "types/curation.py": _DATA,
    "types/desk.py": _DATA,
    "types/identity.py": _DATA,
    "types/ledger.py": _DATA,
    "types/memory.py": _DATA,
    "types/plan.py": _DATA,
    "types/quality.py": _DATA,
    "types/request.py": _DATA,
    "workers/generations.py": "tests/workers/test_supervisor.py and tests/e2e/test_workers.py: with real processes",
    "workers/worker.py": "tests/e2e/test_workers.py: as a process, which it is",
}

_NAMED_TEST = re.compile(r"tests/[\w/]+\.py")


def missing(root: Path, elsewhere: Mapping[str, str]) -> list[str]:
    """What is wrong, a line each: modules without a test, and entries of `elsewhere` that do not hold any more."""
    modules = {path.relative_to(root / "proxy").as_posix(): path for path in (root / "proxy").rglob("*.py")}
    wrong = []
    for name, module in sorted(modules.items()):
        test = Path("tests") / Path(name).with_name(f"test_{module.name}")
        tested = (root / test).exists()
        if name in elsewhere and tested:
            wrong.append(f"proxy/{name} is said to be tested elsewhere, and has {test.as_posix()}")
        elif not tested and name not in elsewhere and not module.name.startswith("__"):
            wrong.append(f"proxy/{name} has no {test.as_posix()}")
    for name, where in elsewhere.items():
        if name not in modules:
            wrong.append(f"proxy/{name} is said to be tested elsewhere, and is not there")
        wrong.extend(
            f"proxy/{name} is said to be tested by {test}, which is not there"
            for test in _NAMED_TEST.findall(where)
            if not (root / test).is_file()
        )
    return wrong


if __name__ == "__main__":
    problems = missing(ROOT, ELSEWHERE)
    print("\n".join(problems) or "every module has its tests")
    sys.exit(bool(problems))
