"""The reader of the configuration file: YAML to plain values with the line of every key; bounded, for hostile files.

The YAML is a subset without surprises: `on`, `off`, `yes`, `no`, dates and sexagesimal numbers are text, keys
are text and come once, a key without a value counts as not given, tags are refused, anchors and merge keys work.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from proxy.config.redacting import redact

Where: TypeAlias = tuple[str | int, ...]  # ("upstreams", 0, "timeout", "idle")

MAX_BYTES = 131_072  # of a file; a large configuration has 10 KB
MAX_NODES = 20_000  # values, after aliases are expanded
MAX_DEPTH = 32  # levels
MAX_SHOWN = 100  # problems in the text of an error

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one setting: its path, and a sentence with the value found and the value expected."""

    where: Where
    text: str
    line: int | None = None  # of the file, from 1


class ConfigError(Exception):
    """An error for a configuration that cannot be used. Its text has every problem, a line each, and no secret."""

    def __init__(self, source: str, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        shown = [f"  {line_of(problem)}" for problem in self.problems[:MAX_SHOWN]]
        rest = [f"  … and {len(problems) - MAX_SHOWN} more"] if len(problems) > MAX_SHOWN else []
        super().__init__("\n".join([f"{source}: {count}", *shown, *rest]))


def line_of(problem: Problem) -> str:
    """Returns a problem as a line of text: its place, and what there is to say."""
    where = [f"line {problem.line}"] if problem.line else []
    if problem.where:
        where.append(path_text(problem.where))
    return f"{', '.join(where)}: {problem.text}" if where else problem.text


def path_text(where: Where) -> str:
    """Returns a path as text, such as `upstreams[0].prices["kimi-*"].input`."""
    text = ""
    for part in (redact(part) if isinstance(part, str) else part for part in where):
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[\w-]{1,64}", part):
            text += f".{part}" if text else part
        else:
            text += f'["{part if len(part) <= 64 else part[:61] + "..."}"]'.encode("unicode_escape").decode()
    return text


@dataclass(frozen=True, slots=True)
class Source:
    """The values of a file. `lines`: of every key and list item, from 1. `from_env`: the variables of values."""

    tree: Any
    lines: Mapping[Where, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    from_env: Mapping[Where, str] = field(default_factory=dict)

    def line(self, where: Where) -> int | None:
        """Returns the line of `where`, or of the nearest section around it; None if the file has none."""
        for end in range(len(where), 0, -1):
            if where[:end] in self.lines:
                return self.lines[where[:end]]
        return None


def read(path: Path) -> Source:
    """Reads the file as plain values. Errors of reading are problems of the result."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        return Source({}, problems=(Problem((), f"cannot be read: {reason}"),))
    return parse(data)


def parse(data: bytes) -> Source:
    """Parses YAML as plain values; an empty document is an empty mapping. Errors are problems of the result."""
    if len(data) > MAX_BYTES:
        return Source({}, problems=(Problem((), f"is larger than {MAX_BYTES // 1024} KiB"),))
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=_Loader)
        if root is None:
            return Source({})
        reader = _Reader()
        tree = reader.value(root, ())
    except UnicodeDecodeError as error:
        return Source({}, problems=(Problem((), f"is not UTF-8 (byte {error.start})"),))
    except _TooMuch as error:
        return Source({}, problems=(Problem((), str(error)),))
    except RecursionError:
        return Source({}, problems=(Problem((), f"is nested deeper than {MAX_DEPTH} levels"),))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # Only the parser's own words: the line itself, which `str(error)` quotes, may hold a secret.
        text = re.sub(r"(alias|anchor|tag|directive|handle)\s+['\"].*", r"\1", error.problem or error.context or "")
        return Source({}, problems=(Problem((), f"is not YAML: {text}", mark.line + 1 if mark else None),))
    except (yaml.YAMLError, ValueError, OverflowError):  # a character escape beyond Unicode raises the latter two
        return Source({}, problems=(Problem((), "is not YAML: it has characters that are not text"),))
    if not isinstance(tree, dict):
        kind = "nothing" if tree is None else kind_of(tree)
        return Source({}, problems=(Problem((), f"found {kind}, expected a mapping of settings"), *reader.problems))
    return Source(tree, reader.lines, tuple(reader.problems))


def kind_of(value: object) -> str:
    """Returns the kind of a value in words, for a message that must not repeat the value."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (dict, "a mapping"),
        ((list, tuple), "a list"),
        (str, "text"),
        (bool, "true or false"),
        ((int, float), "a number"),
    )
    return next((name for types, name in kinds if isinstance(value, types)), "something else")


def substituted(source: Source, environ: Mapping[str, str]) -> Source:
    """Replaces `${NAME}` and `${NAME:-default}` in texts from the environment, once: the replacement is not expanded
    again."""
    problems = list(source.problems)
    from_env: dict[Where, str] = {}

    def replaced(value: Any, where: Where) -> Any:
        if isinstance(value, dict):
            return {key: replaced(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [replaced(item, (*where, index)) for index, item in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        names = list(dict.fromkeys(match[1] for match in _VARIABLE.finditer(value)))
        from_env[where] = ", ".join(f"${{{name}}}" for name in names)
        if "${" in _VARIABLE.sub("", value):
            problems.append(Problem(where, "has a ${ that is not ${NAME} or ${NAME:-default}", source.line(where)))
            return value
        unset = [m[1] for m in _VARIABLE.finditer(value) if m[2] is None and m[1] not in environ]
        problems.extend(
            Problem(where, f"the environment variable {name} is not set", source.line(where)) for name in unset
        )
        return value if unset else _VARIABLE.sub(lambda m: environ.get(m[1]) or (m[2] or ""), value)

    return Source(replaced(source.tree, ()), source.lines, tuple(problems), from_env)


def required(value: str) -> list[str]:
    """Returns the variables of a text that have no default."""
    return [match[1] for match in _VARIABLE.finditer(value) if match[2] is None]


class _TooMuch(Exception):
    """An error for a document beyond the bounds, with the sentence for its problem."""


class _Loader(yaml.SafeLoader):
    """A loader of YAML 1.2's core types alone: in 1.1 `mode: off` is false, `22:30` is 1350."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own attribute)


for _tag, _pattern, _first in (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]{1,30}$", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("merge", r"<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class _Reader:
    """The walk over composed nodes, which collects lines and problems."""

    def __init__(self) -> None:
        self.lines: dict[Where, int] = {}
        self.problems: list[Problem] = []
        self._nodes = 0

    def value(self, node: yaml.Node, where: Where) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _TooMuch(f"holds more than {MAX_NODES} values once its aliases are expanded")
        if len(where) > MAX_DEPTH:
            raise _TooMuch(f"is nested deeper than {MAX_DEPTH} levels")
        if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, where)
        if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            items = enumerate(node.value)
            return [self._item(item, (*where, index), item.start_mark.line) for index, item in items]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, where)
        self._refuse(node, where, "tags are not supported")
        return None

    def _item(self, node: yaml.Node, where: Where, line: int) -> Any:
        self.lines.setdefault(where, line + 1)
        return self.value(node, where)

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                for part in self._merged(item, where):
                    merged = part | merged  # of several, the first given wins
            elif not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                self._refuse(key, where, "a key must be text; put it in quotes")
            elif key.value in result:
                first = self.lines[(*where, key.value)]
                self._refuse(key, (*where, key.value), f"is given twice, first in line {first}")
            else:
                result[key.value] = self._item(item, (*where, key.value), key.start_mark.line)
        return {name: value for name, value in (merged | result).items() if value is not None}

    def _merged(self, node: yaml.Node, where: Where) -> Iterator[dict[str, Any]]:
        for part in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if isinstance(part, yaml.MappingNode):
                yield self.value(part, (*where, "<<"))
            else:
                self._refuse(part, where, "<< takes a mapping or a list of mappings")

    def _scalar(self, node: yaml.ScalarNode, where: Where) -> str | int | float | bool | None:
        text: str = node.value
        try:
            match node.tag.removeprefix("tag:yaml.org,2002:"):
                case "str" | "merge":
                    return text
                case "null":
                    return None
                case "bool":
                    return {"true": True, "false": False}[text.lower()]
                case "int":
                    return int(text)
                case "float":
                    return float(text)
        except (ValueError, KeyError):
            pass
        self._refuse(node, where, "tags are not supported")
        return None

    def _refuse(self, node: yaml.Node, where: Where, text: str) -> None:
        self.problems.append(Problem(where, text, node.start_mark.line + 1))
