"""Reads a list of synonyms: YAML (`ECU: [Electronic Control Unit]`) or CSV (`ECU,Electronic Control Unit`).

Each entry, or line, holds texts that mean the same. All mistakes are told in one ConfigError, each with its line.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from reqall import ConfigError

Group: TypeAlias = tuple[str, ...]
"""Texts that mean the same."""

_REMEDY = "write `term: [synonym, another]` in YAML, or `term,synonym,another` in CSV; `reqall synonyms` prints a list"


def read_groups(path: Path) -> list[Group]:
    """Read a file; its name says what it is. Raises ConfigError."""
    kinds = {".yaml": _yaml, ".yml": _yaml, ".csv": _csv}
    if path.suffix.lower() not in kinds:
        raise ConfigError(f"{path}: the name of a list of synonyms ends in .yaml, .yml or .csv", "rename the file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})", "mend the option `file`") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 (byte {error.start})", "save it as UTF-8") from error
    groups: list[Group] = []
    problems: list[str] = []
    for line, group, problem in kinds[path.suffix.lower()](text):
        if problem:
            problems.append(f"{path}:{line}: {problem}")
        else:
            groups.append(group)
    if problems:
        raise ConfigError("\n".join(problems), _REMEDY)
    return groups


def _csv(text: str) -> Iterator[tuple[int, Group, str]]:
    reader = csv.reader(text.splitlines(), skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not row[0].startswith("#"):
                yield _checked(reader.line_num, [cell for cell in row if cell.strip()])
    except csv.Error as error:
        yield reader.line_num, (), f"not valid CSV: {error}"


def _yaml(text: str) -> Iterator[tuple[int, Group, str]]:
    import yaml
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield mark.line + 1 if mark else 1, (), f"not valid YAML: {error.problem or error.context}"
        return
    except (yaml.YAMLError, RecursionError):
        yield 1, (), "not valid YAML"
        return
    if root is None:
        return
    if not isinstance(root, MappingNode):
        yield root.start_mark.line + 1, (), "must be a mapping of a term to its synonyms"
        return
    for key, value in root.value:
        line = key.start_mark.line + 1
        nodes = value.value if isinstance(value, SequenceNode) else [value]
        if all(isinstance(node, ScalarNode) for node in (key, *nodes)):
            # The text as it is written: `NO`, `on` and `5` are words here.
            yield _checked(line, [node.value for node in (key, *nodes)])
        else:
            yield line, (), "the synonyms of a term are a text or a list of texts"


def _checked(line: int, texts: Sequence[str]) -> tuple[int, Group, str]:
    group = tuple(dict.fromkeys(" ".join(text.split()) for text in texts))
    return line, group, fault_of(group)


def fault_of(group: Group) -> str:
    """Say what is wrong with texts that shall mean the same; empty when nothing is."""
    if not all(any(character.isalnum() for character in text) for text in group):
        return f"a synonym of {group[0]!r}, or that itself, has no letter or digit"
    return f"{group[0]!r} stands alone: name what it means the same as" if len(group) == 1 else ""
