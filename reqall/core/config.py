"""Reads `pipelines.yaml`: its structure, and where in the file every value stands.

All mistakes of a file are collected and raised as one ConfigError, a line each, as
`file:line:column: what is wrong`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from reqall.core.errors import ConfigError
from reqall.core.wording import did_you_mean

Path_: TypeAlias = tuple[str | int, ...]

MAX_TOP_K = 50
MAX_CANDIDATE_K = 500


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ComponentConfig(_Strict):
    """A component by its registered name, with its options."""

    use: str
    options: dict[str, Any] = Field(default_factory=dict, alias="with")


class IndexConfig(ComponentConfig):
    """An index: a recaller, and how documents are cut for it."""

    chunk: ComponentConfig = ComponentConfig(use="whole")


class ArmConfig(_Strict):
    """One leg of recall: an index and its weight in the fusion."""

    index: str
    weight: float = Field(default=1.0, ge=0)
    required: bool = False


class PipelineConfig(_Strict):
    """The stages of a search."""

    expand: ComponentConfig | None = None
    recall: list[ArmConfig] = Field(min_length=1)
    fuse: ComponentConfig = ComponentConfig(use="rrf")
    rerank: ComponentConfig = ComponentConfig(use="none")
    pin: bool = True
    top_k: int = Field(default=50, ge=1, le=MAX_TOP_K)
    candidate_k: int = Field(default=100, ge=1, le=MAX_CANDIDATE_K)


class ConfigFile(_Strict):
    """The whole file."""

    version: Literal[1]
    sources: dict[str, ComponentConfig] = Field(default_factory=dict)
    embedders: dict[str, ComponentConfig] = Field(default_factory=dict)
    indexes: dict[str, IndexConfig]
    pipelines: dict[str, PipelineConfig] = Field(min_length=1)


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


def read_yaml(path: Path) -> YamlFile:
    """Parse a file; duplicate keys become problems, broken syntax a ConfigError with its place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({type(error).__name__})", "name a readable UTF-8 file") from error
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> YamlFile:
    """Parse YAML text; `name` stands for the file in messages."""
    loader = yaml.SafeLoader(text)
    found = YamlFile(name)
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{name}:1:1: the file is empty", "start with `version: 1`, as the packaged file does")
        found.tree = _build(loader, node, (), found)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{name}{place}: not valid YAML: {error.problem}", "mend the syntax there") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: not valid YAML: {error}", "save it as plain UTF-8 text") from error
    finally:
        loader.dispose()
    return found


def _build(loader: yaml.SafeLoader, node: Node, path: Path_, found: YamlFile) -> Any:
    found.values[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, MappingNode):
        loader.flatten_mapping(node)
        tree: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node) if isinstance(key_node, ScalarNode) else str(key_node.value)
            place = (*path, key)
            if key in tree:
                found.problems.append(Problem(place, f"{key!r} stands here twice", at_key=True))
            found.keys[place] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            tree[key] = _build(loader, value_node, place, found)
        return tree
    if isinstance(node, SequenceNode):
        return [_build(loader, item, (*path, index), found) for index, item in enumerate(node.value)]
    return loader.construct_object(node)


def check_structure(file: YamlFile) -> tuple[ConfigFile | None, list[Problem]]:
    """Check the file's structure; the parsed configuration, unless something is wrong."""
    problems = [*file.problems, *_limits(file.tree)]
    try:
        return ConfigFile.model_validate(file.tree), problems
    except ValidationError as error:
        return None, problems + model_problems(error, (), ConfigFile)


def _limits(tree: Any) -> list[Problem]:
    pipelines = tree.get("pipelines") if isinstance(tree, dict) else None
    found = []
    for name, pipeline in (pipelines if isinstance(pipelines, dict) else {}).items():
        if isinstance(pipeline, dict):
            top_k, candidate_k = pipeline.get("top_k", 50), pipeline.get("candidate_k", 100)
            if isinstance(top_k, int) and isinstance(candidate_k, int) and top_k > candidate_k:
                message = f"top_k ({top_k}) is larger than candidate_k ({candidate_k}): the pool cannot fill it"
                found.append(Problem(("pipelines", name, "top_k"), message))
    return found


def model_problems(error: ValidationError, path: Path_, model: type[BaseModel]) -> list[Problem]:
    """Turn pydantic's errors into ours: short, with a suggestion for misspelt names."""
    return [_problem(detail, path, model) for detail in error.errors(include_url=False, include_input=False)]


def _problem(detail: Mapping[str, Any], path: Path_, model: type[BaseModel]) -> Problem:
    loc = tuple(detail["loc"])
    place = (*path, *loc)
    if detail["type"] == "extra_forbidden":
        suggestion = did_you_mean(str(loc[-1]), _fields(model, loc[:-1]))
        return Problem(place, f"unknown key {loc[-1]!r}{suggestion}", at_key=True)
    if detail["type"] == "missing":
        return Problem(place, f"{loc[-1]!r} is missing")
    message = str(detail["msg"])
    return Problem(place, f"{loc[-1]}: {message[0].lower()}{message[1:]}" if loc else message)


def _fields(model: type[BaseModel], loc: Path_) -> list[str]:
    """Return the keys allowed at `loc`, found by walking the models' annotations."""
    for step in loc:
        model = _step(model, step)
    return [info.alias or name for name, info in model.model_fields.items()]


def _step(model: type[BaseModel], step: str | int) -> type[BaseModel]:
    by_alias = {info.alias or name: info.annotation for name, info in model.model_fields.items()}
    annotation = by_alias.get(str(step))
    for nested in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            return nested
    return model
