"""Mistakes in a configuration file, each with its place.

All mistakes of a file are collected and raised as one ConfigError, a line each, as
`file:line:column: what is wrong`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError

from reqall.core.environment import has_variables
from reqall.core.errors import ConfigError
from reqall.core.wording import did_you_mean

Path_: TypeAlias = tuple[str | int, ...]

ONE, SEVERAL = "(one)", "(several)"
"""What pydantic puts into the place of a value that may stand alone or in a list; it is no step in the file."""

_SHAPES = {
    "dict_type": "must be a mapping (`name: value`)",
    "model_type": "must be a mapping (`name: value`)",
    "list_type": "must be a list (`[one, two]`)",
    "string_type": "must be text",
}
"""pydantic's error types for a value of the wrong shape, and what to call the right one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where in the tree, and what is wrong there."""

    path: Path_
    message: str
    at_key: bool = False


@dataclass
class YamlFile:
    """A parsed file: plain values, and the line and column of each key and value (from 1)."""

    name: str
    tree: Any = None
    keys: dict[Path_, tuple[int, int]] = field(default_factory=dict)
    values: dict[Path_, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def position(self, problem: Problem) -> tuple[int, int]:
        """Find line and column; of a path that is not in the file, those of its nearest ancestor."""
        path = problem.path
        if problem.at_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))

    def raise_for(self, problems: Iterable[Problem], remedy: str = "") -> None:
        """Raise one ConfigError for all problems, in the order of the file; none, no error."""
        placed = sorted({(*self.position(problem), problem.message) for problem in problems})
        if placed:
            lines = [f"{self.name}:{line}:{column}: {message}" for line, column, message in placed]
            raise ConfigError("\n".join(lines), remedy)


def model_problems(error: ValidationError, path: Path_, model: type[BaseModel]) -> list[Problem]:
    """Turn pydantic's errors into ours: short, without the value, with a suggestion for misspelt names."""
    return [_problem(detail, path, model) for detail in error.errors(include_url=False, include_context=False)]


def _problem(detail: Mapping[str, Any], path: Path_, model: type[BaseModel]) -> Problem:
    loc = tuple(step for step in detail["loc"] if step not in (ONE, SEVERAL))
    place = (*path, *loc)
    if detail["type"] == "extra_forbidden":
        suggestion = did_you_mean(str(loc[-1]), _fields(model, loc[:-1]))
        return Problem(place, f"unknown key {loc[-1]!r}{suggestion}", at_key=True)
    if detail["type"] == "missing":
        return Problem(place, f"{loc[-1]!r} is missing")
    if loc and loc[-1] == "[key]":
        rule = "begins with a letter or digit and holds letters, digits, '_', '-' and '.' only"
        return Problem(place[:-1], f"{loc[-2]!r} cannot be a name: a name {rule}", at_key=True)
    message = _complaint(detail)
    if not loc:
        return Problem(place, message)
    return Problem(place, f"{f'entry {loc[-1] + 1}' if isinstance(loc[-1], int) else loc[-1]}: {message}")


def _complaint(detail: Mapping[str, Any]) -> str:
    value, shape = detail["input"], _SHAPES.get(detail["type"])
    if has_variables(value):
        return "a ${VARIABLE} can stand only among the options under `with`"
    if shape and value is None:
        return "is empty; write something under it, or leave it out"
    if detail["type"] == "string_type" and isinstance(value, (bool, int, float, date)):
        return f"{shape}; put it in quotes"
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return shape or f"{message[:1].lower()}{message[1:]}"


def _fields(model: type[BaseModel], loc: Path_) -> list[str]:
    """Return the keys allowed at `loc`, found by walking the models' annotations."""
    for step in loc:
        model = _step(model, step)
    return [info.alias or name for name, info in model.model_fields.items()]


def _step(model: type[BaseModel], step: str | int) -> type[BaseModel]:
    by_alias = {info.alias or name: info.annotation for name, info in model.model_fields.items()}
    return next(_models_in(by_alias.get(str(step))), model)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for nested in get_args(annotation):
        yield from _models_in(nested)
