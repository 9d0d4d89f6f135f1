"""The configuration with other numbers in a profile, held to the rules that a file is held to (pure)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proxy.config import Config
from proxy.config.explain import explained
from proxy.config.profiles import Profile
from proxy.config.source import Source, path_text
from proxy.errors import BadRequest
from proxy.types import Json

MOST_CHANGES = 100

_profile: TypeAdapter[Profile] = TypeAdapter(Profile)


def changed(config: Config, name: str, changes: Mapping[str, Json]) -> Config:
    """`changes` are of the profile of this name: `{"window.tokens": 2000}`. A profile that no request would have had
    takes the place of that of plain chats. Raises BadRequest, which names the number and what is wrong with it."""
    profile = config.profiles.get(name)
    if profile is None:
        known = ", ".join(config.profiles)
        raise BadRequest(f"There is no profile {name[:64]!r}; there are: {known}.", param="profile")
    if len(changes) > MOST_CHANGES:
        raise BadRequest(f"More than {MOST_CHANGES} changes.", param="changes")
    tree = asdict(profile)
    for path, value in changes.items():
        _put(tree, path, value)
    context = config.context
    if name not in (context.profile, context.profile_with_tools):
        context = context.model_copy(update={"profile": name})
    profiles = {**config.profiles, name: _validated(tree)}
    return config.model_copy(update={"profiles": profiles, "context": context})


def _put(tree: dict[str, Any], path: str, value: Json) -> None:
    if path == "base":
        raise BadRequest("base says where a profile's numbers come from, and is none of them.", param=path)
    *above, last = path.split(".")
    for part in above:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise BadRequest(f"changes: {path[:100]!r} leads nowhere, {part[:64]!r} is a number.", param=path[:100])
    tree[last] = value


def _validated(tree: Mapping[str, Any]) -> Profile:
    try:
        return _profile.validate_python(tree)
    except ValidationError as error:
        errors = [{**each, "loc": ("profiles", "-", *each["loc"])} for each in error.errors(include_url=False)]
    problems = [(path_text(problem.where[2:]), problem.text) for problem in explained(errors, Source({}))]
    told = "; ".join(f"{where}: {text}" if where else text for where, text in problems)
    raise BadRequest(f"changes: {told}", param=problems[0][0] or "changes")
