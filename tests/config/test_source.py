from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.config.source import MAX_BYTES, ConfigError, Problem, Where, kind_of, parse, path_text, read, substituted


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", {}),
        ("# only a comment\n", {}),
        ("\ufeffa: 1", {"a": 1}),
        ("a: on\nb: off\nc: yes\nd: 22:30\ne: 2024-01-01\nf: 0x10\ng: 010", {
            "a": "on", "b": "off", "c": "yes", "d": "22:30", "e": "2024-01-01", "f": "0x10", "g": 10}),
        ("a: true\nb: False\nc: 1.5\nd: -2\ne: '5'\nf: 1e3", {
            "a": True, "b": False, "c": 1.5, "d": -2, "e": "5", "f": 1000.0}),
        ("a:\nb: ~\nc: null\nd: [~]", {"d": [None]}),
        ("on: 1\nyes: 2", {"on": 1, "yes": 2}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 1}\nd: {<<: *x, b: 2}", {"a": {"b": 1, "c": 1}, "d": {"b": 2, "c": 1}}),
        ("a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y]}", {
            "a": {"b": 1}, "c": {"b": 2, "d": 3}, "e": {"b": 1, "d": 3}}),
    ],
)  # fmt: skip
def test_yaml_is_read_without_surprises(text: str, tree: Any) -> None:
    source = parse(text.encode())
    assert source.problems == ()
    assert source.tree == tree


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1", Problem((), "is not YAML: expected ',' or ']', but got '<stream end>'", 1)),
        ("a: 1\n\tb: 2", Problem((), "is not YAML: found character '\\t' that cannot start any token", 2)),
        ("a: 1\n---\nb: 2", Problem((), "is not YAML: but found another document", 2)),
        ("api_key: *sk-hunter2", Problem((), "is not YAML: found undefined alias", 1)),
        ("- 1", Problem((), "found a list, expected a mapping of settings")),
        ("hunter2", Problem((), "found text, expected a mapping of settings")),
        ("~", Problem((), "found nothing, expected a mapping of settings")),
        ("a: 1\nb: 2\na: 3", Problem(("a",), "is given twice, first in line 1", 3)),
        ("a: {b: 1, b: 2}", Problem(("a", "b"), "is given twice, first in line 1", 1)),
        ("a:\n  1: x", Problem(("a",), "a key must be text; put it in quotes", 2)),
        ("? [a]\n: 1", Problem((), "a key must be text; put it in quotes", 1)),
        ("a: !!python/object:os.system x", Problem(("a",), "tags are not supported", 1)),
        ("a: !!int x", Problem(("a",), "tags are not supported", 1)),
        ("a: !!bool x", Problem(("a",), "tags are not supported", 1)),
        ("a: !!set {x}", Problem(("a",), "tags are not supported", 1)),
        ("a: {<<: 1}", Problem(("a",), "<< takes a mapping or a list of mappings", 1)),
        ("a: &a [*a]", Problem((), "is nested deeper than 32 levels")),
        ("a: " + "[" * 1_500, Problem((), "is nested deeper than 32 levels")),
        ("a: " + "[" * 40 + "]" * 40, Problem((), "is nested deeper than 32 levels")),
        (BOMB, Problem((), "holds more than 20000 values once its aliases are expanded")),
        ("a: \x00", Problem((), "is not YAML: it has characters that are not text")),
        ('a: "\\UFFFFFFFF"', Problem((), "is not YAML: it has characters that are not text")),
        ("x" * (MAX_BYTES + 1), Problem((), "is larger than 128 KiB")),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)  # fmt: skip
def test_what_cannot_be_read_is_a_problem_with_its_line(text: str, problem: Problem) -> None:
    assert parse(text.encode()).problems == (problem,)


def test_text_that_is_not_utf8_is_a_problem() -> None:
    assert parse(b"a: \xff").problems == (Problem((), "is not UTF-8 (byte 3)"),)


@settings(deadline=None)
@given(st.one_of(st.text(), st.binary().map(lambda data: data.decode("latin-1")), st.text("{}[]&*:!<>-? \n'\"|%@a1~")))
def test_no_text_makes_parsing_raise(text: str) -> None:
    source = parse(text.encode("utf-8", "surrogatepass"))
    assert isinstance(source.tree, dict)


def test_a_value_knows_its_line_or_that_of_what_holds_it() -> None:
    source = parse(b"a:\n  - b: 1\n  - c: 2\n    d: 3\n")
    assert [source.line(w) for w in [("a",), ("a", 0), ("a", 1, "d"), ("a", 1, "unheard-of"), ("z",), ()]] == [
        1, 2, 4, 3, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (("upstreams", 0, "timeout", "idle"), "upstreams[0].timeout.idle"),
        (("prices", "kimi-*", "input"), 'prices["kimi-*"].input'),
        (("a\nb",), '["a\\nb"]'),
        (("x" * 100,), f'["{"x" * 61}..."]'),
        ((), ""),
    ],
)
def test_a_path_reads_as_in_the_file(where: Where, text: str) -> None:
    assert path_text(where) == text


ENVIRON = {"NAME": "value", "EMPTY": "", "NESTED": "${NAME}"}


@pytest.mark.parametrize(
    ("given_text", "result"),
    [
        ("plain $NAME", "plain $NAME"),
        ("${NAME}", "value"),
        ("a-${NAME}-${NAME}", "a-value-value"),
        ("${EMPTY}", ""),
        ("${ABSENT:-other}", "other"),
        ("${ABSENT:-}", ""),
        ("${NAME:-other}", "value"),
        ("${NESTED}", "${NAME}"),
    ],
)
def test_variables_are_replaced_once(given_text: str, result: str) -> None:
    source = substituted(parse(f"a: ['{given_text}']".encode()), ENVIRON)
    assert source.tree == {"a": [result]}
    assert source.problems == ()


@pytest.mark.parametrize(
    ("given_text", "text"),
    [
        ("${ABSENT}", "the environment variable ABSENT is not set"),
        ("${9}", "has a ${ that is not ${NAME} or ${NAME:-default}"),
        ("${NAME", "has a ${ that is not ${NAME} or ${NAME:-default}"),
    ],
)
def test_a_variable_that_cannot_be_replaced_is_a_problem(given_text: str, text: str) -> None:
    source = substituted(parse(f"a:\n  b: '{given_text}'".encode()), ENVIRON)
    assert source.problems == (Problem(("a", "b"), text, 2),)


def test_keys_are_not_substituted() -> None:
    assert substituted(parse(b"'${NAME}': 1"), ENVIRON).tree == {"${NAME}": 1}


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "none.yaml").problems == (Problem((), "cannot be read: No such file or directory"),)
    assert read(tmp_path).problems == (Problem((), "cannot be read: Is a directory"),)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "a mapping"),
        ([], "a list"),
        ("x", "text"),
        (True, "true or false"),
        (1, "a number"),
        (None, "something else"),
    ],
)
def test_a_kind_is_named_without_the_value(value: object, kind: str) -> None:
    assert kind_of(value) == kind


def test_the_error_shows_at_most_a_hundred_problems() -> None:
    error = ConfigError("f.yaml", [Problem((), "wrong", line) for line in range(1, 103)])
    assert len(error.problems) == 102
    assert str(error).splitlines()[-2:] == ["  line 100: wrong", "  … and 2 more"]


def test_the_error_lists_its_problems_by_line() -> None:
    error = ConfigError("f.yaml", [Problem(("b",), "second", 9), Problem(("a", 0), "first", 2), Problem((), "whole")])
    assert str(error) == "f.yaml: 3 problems\n  whole\n  line 2, a[0]: first\n  line 9, b: second"
