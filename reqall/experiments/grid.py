"""A grid: one pipeline of the configuration with some of its values replaced, in every combination."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

from reqall.core.errors import InputError
from reqall.core.problems import Path_

MAX_VARIANTS = 1000
"""Pipelines that one grid may stand for."""

_DEPTHS = ("top_k", "candidate_k")


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of a grid: its name, its pipeline as plain values, and which value of each list it took."""

    name: str
    tree: dict[str, Any]
    chosen: Mapping[str, int]


def variants(name: str, pipeline: Mapping[str, Any], vary: Mapping[str, list[Any]]) -> Iterator[Variant]:
    """Yield all combinations, the last list fastest; without lists the pipeline itself.

    Raises InputError for a path that leads nowhere in the pipeline.
    """
    for places in product(*(range(len(values)) for values in vary.values())):
        chosen = dict(zip(vary, places, strict=True))
        tree = deepcopy(dict(pipeline))
        for path, place in chosen.items():
            put(tree, path, vary[path][place])
        told = ",".join(f"{path}={_shown(vary[path][place])}" for path, place in chosen.items())
        yield Variant(f"{name}[{told}]" if told else name, tree, chosen)


def size(vary: Mapping[str, list[Any]]) -> int:
    """Count the combinations without making them."""
    count = 1
    for values in vary.values():
        count *= len(values)
    return count


def steps(path: str) -> Path_:
    """Split `recall.0.weight` into keys and places of lists, counted from 0."""
    return tuple(int(step) if step.isdecimal() else step for step in path.split("."))


def put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Set a value; keys that are not there are made. Raises InputError for a path that leads nowhere."""
    *way, last = steps(path)
    if not way and last in _DEPTHS:
        raise InputError(f"{path} changes nothing here: every pipeline is run to the same `depth`", "leave it out")
    holder: Any = tree
    for number, step in enumerate(way):
        following = _entry(holder, step, path)
        if following is None:
            following = [] if isinstance((*way, last)[number + 1], int) else {}
            holder[step] = following
        holder = following
    _entry(holder, last, path)
    holder[last] = deepcopy(value)


def _entry(holder: Any, step: str | int, path: str) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int):
        if step < len(holder):
            return holder[step]
        raise InputError(f"{path}: the list has {len(holder)} entries, counted from 0, so none is {step}")
    found = "a single value: nothing is below it"
    if isinstance(holder, dict):
        found = "a mapping: name a key"
    elif isinstance(holder, list):
        found = "a list: name a place, counted from 0"
    raise InputError(f"{path}: at {str(step)!r} is {found}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
