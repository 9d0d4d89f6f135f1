"""Commands of Anthropic's memory tool: what they do is what the provider's own implementation over a folder does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from hypothesis import given
from hypothesis import strategies as st

from proxy.desk import memory_tool
from proxy.desk.memory_tool import Command, Create, Delete, Insert, Refused, Rename, Replace, View
from proxy.desk.tools import Unclear

Json = Any
_NAMES = st.sampled_from(["a.md", "b.md"])
_TEXTS = st.text(st.sampled_from("ab\n"), max_size=6)
_COMMANDS = st.one_of(
    st.builds(dict, command=st.just("create"), path=_NAMES, file_text=_TEXTS),
    st.builds(dict, command=st.just("view"), path=_NAMES),
    st.builds(
        dict,
        command=st.just("view"),
        path=_NAMES,
        view_range=st.tuples(st.integers(1, 4), st.integers(-1, 4)).map(list),
    ),
    st.builds(dict, command=st.just("str_replace"), path=_NAMES, old_str=_TEXTS.filter(bool), new_str=_TEXTS),
    st.builds(dict, command=st.just("insert"), path=_NAMES, insert_line=st.integers(-1, 4), insert_text=_TEXTS),
    st.builds(dict, command=st.just("delete"), path=_NAMES),
    st.builds(dict, command=st.just("rename"), old_path=_NAMES, new_path=_NAMES),
)


def given_paths(command: Mapping[str, Json]) -> dict[str, Json]:
    return {name: f"/memories/{value}" if "path" in name else value for name, value in command.items()}


def carried_out(files: dict[str, str], command: Command) -> str:  # noqa: C901 (a command each)
    """What the runner does, over texts in a dict."""

    def known(name: str) -> str:
        if name not in files:
            raise memory_tool.unknown(name)
        return files[name]

    match command:
        case View(name=name):
            return memory_tool.viewed(command, known(name))
        case Create(name=name, text=text):
            if name in files:
                raise memory_tool.existing(name)
            files[name] = text
        case Replace(name=name):
            files[name], told = memory_tool.replaced(command, known(name))
            return told
        case Insert(name=name):
            files[name] = memory_tool.inserted(command, known(name))
        case Delete(name=name):
            known(name)
            del files[name]
        case Rename(name=name, new_name=new_name):
            if new_name in files:
                raise memory_tool.existing(new_name)
            files[new_name] = known(name)
            del files[name]
    return ""


@given(st.lists(_COMMANDS, max_size=8))
def test_files_become_what_they_become_with_the_providers_own_implementation(commands: Sequence[Json]) -> None:
    with TemporaryDirectory() as folder:
        theirs, ours = BetaLocalFilesystemMemoryTool(folder), dict[str, str]()
        for each in map(given_paths, commands):
            expected: Json
            try:
                expected = theirs.call(each)
            except ToolError:
                expected = None
            try:
                told: str | None = carried_out(ours, memory_tool.read(msgspec.json.encode(each).decode()))
            except Refused:
                told = None
            assert (told is None) == (expected is None), each
            if each["command"] == "view":
                assert told == expected
        stored = {path.name: path.read_text() for path in (Path(folder) / "memories").iterdir()}
    assert ours == stored


def test_the_folder_is_listed_with_sizes() -> None:
    assert memory_tool.listed({"b.md": 1536, "a.md": 5, "c.md": 3 * 2**20}).splitlines()[1:] == [
        "3.0M\t/memories",
        "5B\t/memories/a.md",
        "1.5K\t/memories/b.md",
        "3.0M\t/memories/c.md",
    ]


def test_a_replacement_shows_the_lines_around_it() -> None:
    text = "".join(f"{number}\n" for number in range(1, 9))
    _, told = memory_tool.replaced(Replace("a.md", "5", "five"), text)
    assert told.splitlines()[1:] == ["     3\t3", "     4\t4", "     5\tfive", "     6\t6", "     7\t7"]


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        (Replace("a.md", "z", "y"), "a", "did not appear verbatim in /memories/a.md"),
        (Replace("a.md", "a", "y"), "a\nba", "Multiple occurrences of old_str `a` in lines: 1, 2."),
        (Replace("a.md", "", "y"), "a", "did not appear"),
    ],
)
def test_a_replacement_that_is_not_clear_says_why(command: Replace, text: str, said: str) -> None:
    with pytest.raises(Refused, match=said.replace("/", r"\/").replace(".", r"\.")):
        memory_tool.replaced(command, text)


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../etc/passwd.md",
        "/memories/..\\a.md",
        "/memories/%2e%2e/a.md",
        "/memories/a/b.md",
        "/etc/a.md",
        "a.md",
        "/memoriesa.md",
        "/memories//a.md",
        "/memories/./a.md",
        "/memories/a.txt",
        "/memories/.a.md",
        "/memories/memory.md",
        "/memories/identity.md",
        "/memories/2026-01-01.md",
        "/memories/a.md\x00",
        "/memories",
        "",
    ],
)
def test_there_is_no_way_out_of_the_folder(path: str) -> None:
    for command in ({"command": "create", "file_text": "x"}, {"command": "delete"}):
        with pytest.raises(Unclear) as unclear:
            memory_tool.read(msgspec.json.encode({**command, "path": path}).decode())
        assert unclear.value.reason == "bad-path"


@pytest.mark.parametrize(
    ("given_", "reason"),
    [
        ("{no", "not-json"),
        ("[]", "not-json"),
        ("{}", "bad-command"),
        ('{"command":"format"}', "bad-command"),
        ('{"command":"view"}', "missing"),
        ('{"command":"view","path":5}', "wrong-type"),
        ('{"command":"view","path":"/memories","view_range":[1]}', "wrong-type"),
        ('{"command":"create","path":"/memories/a.md"}', "missing"),
        ('{"command":"insert","path":"/memories/a.md","insert_line":"1","insert_text":"x"}', "wrong-type"),
        ('{"command":"insert","path":"/memories/a.md","insert_line":true,"insert_text":"x"}', "wrong-type"),
        ('{"command":"insert","path":"/memories/a.md","insert_text":"x"}', "missing"),
    ],
)
def test_a_command_that_is_none_has_a_reason(given_: str, reason: str) -> None:
    with pytest.raises(Unclear) as unclear:
        memory_tool.read(given_)
    assert unclear.value.reason == reason


def test_the_folder_itself_may_be_viewed() -> None:
    assert memory_tool.read('{"command":"view","path":"/memories/"}') == View("")
