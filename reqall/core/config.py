"""Reads `pipelines.yaml`: what may stand in it, and where in the file every value stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import Field, StringConstraints, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from reqall.core.conformity import MAX_TEXTS
from reqall.core.errors import ConfigError
from reqall.core.expansion import MAX_VARIANTS
from reqall.core.guard import TIMEOUT_SECONDS
from reqall.core.problems import Path_, Problem, YamlFile, model_problems
from reqall.core.registration import ComponentConfig
from reqall.core.reranking import DEADLINE_SECONDS
from reqall.core.stages import (
    MAX_TIMEOUT_SECONDS,
    ArmConfig,
    ExpandConfig,
    Expanders,
    Seconds,
    StageConfig,
    Strict,
    VariantWeightsConfig,
)

__all__ = [
    "MAX_CANDIDATE_K",
    "MAX_TIMEOUT_SECONDS",
    "MAX_TOP_K",
    "ArmConfig",
    "ConfigFile",
    "ExpandConfig",
    "IndexConfig",
    "PipelineConfig",
    "StageConfig",
    "VariantWeightsConfig",
    "check_structure",
    "parse_yaml",
    "read_yaml",
]

MAX_TOP_K = 50
MAX_CANDIDATE_K = 500

MAX_VALUES = 20_000
MAX_DEPTH = 40
"""Bounds of a file, aliases expanded: a few lines of YAML can otherwise stand for any number of values."""

_LARGEST = 2**63
_MERGE = "tag:yaml.org,2002:merge"
_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str", "timestamp", "map", "seq")}

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
"""Names become parts of ids, of tools' names, of folders and of lists divided by commas."""


class IndexConfig(ComponentConfig):
    """An index: a recaller, and how documents are cut for it."""

    chunk: ComponentConfig = ComponentConfig(use="whole")


class PipelineConfig(Strict):
    """The stages of a search."""

    expand: Expanders | None = None
    variant_weights: VariantWeightsConfig = VariantWeightsConfig()
    max_variants: int = Field(default=MAX_VARIANTS, ge=1, le=MAX_TEXTS, strict=True)
    recall: list[ArmConfig] = Field(min_length=1)
    fuse: StageConfig = StageConfig(use="rrf")
    rerank: StageConfig = StageConfig(use="none")
    pin: bool = Field(default=True, strict=True)
    timeout: Seconds = TIMEOUT_SECONDS
    deadline: Seconds = DEADLINE_SECONDS
    top_k: int = Field(default=50, ge=1, le=MAX_TOP_K, strict=True)
    candidate_k: int = Field(default=100, ge=1, le=MAX_CANDIDATE_K, strict=True)

    @property
    def expanders(self) -> list[ExpandConfig]:
        """The expanders in order, however many were written."""
        if self.expand is None:
            return []
        return self.expand if isinstance(self.expand, list) else [self.expand]


class ConfigFile(Strict):
    """The whole file."""

    version: Literal[1]
    sources: dict[Name, ComponentConfig] = Field(default_factory=dict)
    embedders: dict[Name, ComponentConfig] = Field(default_factory=dict)
    indexes: dict[Name, IndexConfig]
    pipelines: dict[Name, PipelineConfig] = Field(min_length=1)


def read_yaml(path: Path) -> YamlFile:
    """Parse a file; duplicate keys become problems, broken syntax a ConfigError with its place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", "name a file that exists") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 (byte {error.start})", "save it as UTF-8") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({type(error).__name__})", "name a readable file") from error
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> YamlFile:
    """Parse YAML text; `name` stands for the file in messages. Raises ConfigError."""
    found = YamlFile(name)
    loader, node = _compose(text, name)
    found.tree = _Builder(loader, found).build(node, ())
    return found


def _compose(text: str, name: str) -> tuple[yaml.SafeLoader, Node]:
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{name}{place}: not valid YAML: {_told(error)}", _syntax_remedy(error, text)) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        message = f"{name}:{line}:{column}: the character U+{error.character:04X} cannot stand in YAML"
        raise ConfigError(message, "remove it, or write it as an escape in double quotes") from error
    except (ValueError, OverflowError, RecursionError) as error:  # PyYAML lets these through
        mark = loader.get_mark() if loader else None
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number or an escape out of range"
        raise ConfigError(f"{name}{place}: not valid YAML: {reason}", "mend the syntax before this place") from error
    if node is None:
        raise ConfigError(f"{name}:1:1: the file is empty", "start with `version: 1`, as the packaged file does")
    return loader, node


def _told(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    return f"{error.context} {problem}" if problem.startswith("but ") else problem


def _syntax_remedy(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark
    lines = text.splitlines()
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "'\\t'" in str(error.problem):
        return "indent with spaces: YAML allows no tabs there"
    if "${" in line and "{" in line.replace("${", ""):
        return "inside { } put a variable in quotes: {url: '${VARIABLE}'}"
    return "mend the syntax there"


class _Builder:
    """Turns YAML's nodes into plain values and notes where each stands; every key becomes text."""

    def __init__(self, loader: yaml.SafeLoader, found: YamlFile) -> None:
        self._loader, self._found = loader, found
        self._left = MAX_VALUES

    def build(self, node: Node, path: Path_) -> Any:
        self._spend(node, len(path))
        self._found.values[path] = _place(node)
        if node.tag not in _TAGS:
            raise self._refusal(node, f"the tag {node.tag!r} cannot be used here", "write a plain or a quoted value")
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, path: Path_) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for key_node, value_node, own in self._pairs(node, len(path)):
            if not isinstance(key_node, ScalarNode):
                raise self._refusal(key_node, "a key must be a word, not a list or a mapping", "mend the key")
            key = str(key_node.value)
            place = (*path, key)
            if key in tree and not own:
                continue
            if key in tree:
                self._found.problems.append(Problem(place, f"{key!r} stands here twice", at_key=True))
            self._found.keys[place] = _place(key_node)
            tree[key] = self.build(value_node, place)
        return tree

    def _pairs(self, node: MappingNode, depth: int) -> Iterator[tuple[Node, Node, bool]]:
        """Yield a mapping's own pairs, then those that `<<` merges into it, the nearest first."""
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merged += value_node.value if isinstance(value_node, SequenceNode) else [value_node]
            else:
                self._spend(key_node, depth)
                yield key_node, value_node, True
        for other in merged:
            self._spend(other, depth)
            if not isinstance(other, MappingNode):
                raise self._refusal(other, "`<<` merges mappings only", "name an anchor of a mapping, such as `<<: *a`")
            yield from ((key, value, False) for key, value, _ in self._pairs(other, depth + 1))

    def _scalar(self, node: Node) -> Any:
        try:
            value = self._loader.construct_object(node)
        except (ArithmeticError, AttributeError, LookupError, ValueError) as error:  # as PyYAML lets them out
            kind = node.tag.rpartition(":")[2]
            raise self._refusal(node, f"looks like a value of type {kind} but is none", "put it in quotes") from error
        if isinstance(value, int) and abs(value) >= _LARGEST:
            raise self._refusal(node, "the number is too large", "write a smaller one, or put it in quotes")
        return value

    def _spend(self, node: Node, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            message = f"the file holds more than {MAX_VALUES} values, aliases expanded"
            raise self._refusal(node, message, "use fewer aliases")
        if depth > MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} deep; does an anchor hold itself?"
            raise self._refusal(node, message, "nest less")

    def _refusal(self, node: Node, message: str, remedy: str) -> ConfigError:
        line, column = _place(node)
        return ConfigError(f"{self._found.name}:{line}:{column}: {message}", remedy)


def _place(node: Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def check_structure(file: YamlFile) -> tuple[ConfigFile | None, list[Problem]]:
    """Check the file's structure; the parsed configuration, unless something is wrong."""
    if not isinstance(file.tree, dict):
        return None, [Problem((), "the file must be a mapping that starts with `version: 1`")]
    problems = [*file.problems, *_limits(file.tree)]
    try:
        return ConfigFile.model_validate(file.tree), problems
    except ValidationError as error:
        return None, problems + model_problems(error, (), ConfigFile)


def _limits(tree: dict[str, Any]) -> Iterator[Problem]:
    pipelines = tree.get("pipelines")
    for name, pipeline in pipelines.items() if isinstance(pipelines, dict) else ():
        if isinstance(pipeline, dict):
            top_k, candidate_k = pipeline.get("top_k", 50), pipeline.get("candidate_k", 100)
            if isinstance(top_k, int) and isinstance(candidate_k, int) and MAX_TOP_K >= top_k > candidate_k:
                message = f"top_k ({top_k}) is larger than candidate_k ({candidate_k}): the pool cannot fill it"
                yield Problem(("pipelines", name, "top_k" if "top_k" in pipeline else "candidate_k"), message)
