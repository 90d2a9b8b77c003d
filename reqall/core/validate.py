"""Checks a whole file against what is installed: names, options, references; all mistakes in one go.

Options may hold `${VAR}`. An option whose variable is not set is not judged here: it is an error
only when its component is built.
"""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import SecretBytes, SecretStr, ValidationError

from reqall.core.components import expand_options, nested, option_problems, references, unchecked
from reqall.core.config import ConfigFile, check_structure
from reqall.core.environment import Environment, is_reference
from reqall.core.errors import PluginError
from reqall.core.host import PluginHost
from reqall.core.problems import Path_, Problem, YamlFile
from reqall.core.registration import PluginOptions, Registration
from reqall.core.wording import did_you_mean, one_of


def validate(file: YamlFile, host: PluginHost, environment: Environment) -> ConfigFile:
    """Return the configuration, or raise one ConfigError that lists every mistake."""
    config, problems = check_structure(file)
    check = _Check(file.tree if isinstance(file.tree, dict) else {}, host, environment)
    file.raise_for([*problems, *check.all()], "mend these places; `reqall plugins` lists what can be used")
    assert config is not None
    return config


class _Check:
    """Walks the raw tree, so that one mistake does not hide another."""

    def __init__(self, tree: dict[str, Any], host: PluginHost, environment: Environment) -> None:
        self.tree, self.host, self.environment = tree, host, environment
        self.names = {
            kind: [str(name) for name in self._section(plural)]
            for kind, plural in (("source", "sources"), ("embedder", "embedders"), ("index", "indexes"))
        }

    def _section(self, name: str) -> dict[str, Any]:
        section = self.tree.get(name)
        return section if isinstance(section, dict) else {}

    def all(self) -> Iterator[Problem]:
        for name, tree in self._section("sources").items():
            yield from self.component("source", tree, ("sources", name))
        for name, tree in self._section("embedders").items():
            yield from self.component("embedder", tree, ("embedders", name))
        for name, tree in self._section("indexes").items():
            yield from self.index(tree, ("indexes", name))
        for name, tree in self._section("pipelines").items():
            if isinstance(tree, dict):
                yield from self.pipeline(tree, ("pipelines", name))

    def index(self, tree: Any, path: Path_) -> Iterator[Problem]:
        yield from self.component("recaller", tree, path)
        if not isinstance(tree, dict):
            return
        chunk = tree.get("chunk", {"use": "whole"})
        yield from self.component("chunker", chunk, (*path, "chunk"))
        if self._unbounded(chunk) and self._embeds(tree):
            message = (
                f"the chunker {chunk['use']!r} does not keep to what the embedder can read; the rest would be"
                " invisible to this index; use one that does, such as 'sentences'"
            )
            yield Problem((*path, "chunk"), message)

    def pipeline(self, tree: dict[str, Any], path: Path_) -> Iterator[Problem]:
        for stage, kind in (("fuse", "fuser"), ("rerank", "reranker")):
            if stage in tree:
                yield from self.component(kind, tree[stage], (*path, stage))
        yield from self.expanders(tree, (*path, "expand"))
        arms = tree.get("recall")
        for position, arm in enumerate(arms if isinstance(arms, list) else []):
            index = arm.get("index") if isinstance(arm, dict) else None
            if isinstance(index, str) and index not in self.names["index"]:
                yield self._unknown("index", index, (*path, "recall", position, "index"))

    def expanders(self, tree: dict[str, Any], path: Path_) -> Iterator[Problem]:
        written, arms = tree.get("expand"), tree.get("recall")
        recalled = [arm.get("index") for arm in arms if isinstance(arm, dict)] if isinstance(arms, list) else []
        known = [str(index) for index in recalled]
        steps = (
            [((*path, n), each) for n, each in enumerate(written)] if isinstance(written, list) else [(path, written)]
        )
        for place, step in steps:
            yield from self.component("expander", step, place)
            indexes = step.get("indexes") if isinstance(step, dict) else None
            for number, name in enumerate(indexes if isinstance(indexes, list) else []):
                if isinstance(name, str) and name not in known:
                    told = f"this pipeline does not recall from an index {name!r}{did_you_mean(name, known)}"
                    yield Problem((*place, "indexes", number), f"{told} (it does from: {one_of(known)})")

    def component(self, kind: str, tree: Any, path: Path_) -> Iterator[Problem]:
        if not isinstance(tree, dict) or not isinstance(tree.get("use"), str):
            return  # the structure check has said so
        try:
            registration = self.host.find(kind, tree["use"])
        except PluginError as error:
            yield Problem((*path, "use"), f"{error.message} ({error.remedy})")
            return
        given = tree.get("with", {})
        if isinstance(given, dict):
            yield from self._secrets(registration.options, given, (*path, "with"))
            yield from self._values(registration, given, (*path, "with"))
            yield from self._references(registration.options, given, (*path, "with"))
            for name, inner in nested(registration.options):
                yield from self.component(inner, given.get(name), (*path, "with", name))

    def _secrets(self, model: type[PluginOptions], given: dict[str, Any], path: Path_) -> Iterator[Problem]:
        for name, value in given.items():
            info = model.model_fields.get(name)
            if info is not None and _is_secret(info.annotation) and _is_literal(value):
                message = f"{name} is a secret: write ${{VARIABLE}} here and set that in the environment"
                yield Problem((*path, name), message)

    def _values(self, registration: Registration[Any], given: dict[str, Any], path: Path_) -> Iterator[Problem]:
        model = registration.options
        values, unset = expand_options(model, given, self.environment)
        try:
            model.model_validate(values)
        except ValidationError as error:
            for problem in option_problems(error, path, model, given):
                option = problem.path[len(path) :][:1]
                # What concerns all options together is not judged either while one of them is unknown.
                if not unset or (option and option[0] not in unset):
                    yield problem
        except Exception as error:  # noqa: BLE001 - a plugin's own validator; its mistake is one of many
            yield Problem(path, unchecked(registration, error))

    def _references(self, model: type[PluginOptions], given: dict[str, Any], path: Path_) -> Iterator[Problem]:
        values, _ = expand_options(model, given, self.environment)
        for name, kind in references(model):
            value = values.get(name, None if name in given else model.model_fields[name].default)
            if isinstance(value, str) and value not in self.names.get(kind, []):
                yield self._unknown(kind, value, (*path, name))

    def _unknown(self, kind: str, name: str, path: Path_) -> Problem:
        known = self.names.get(kind, [])
        return Problem(path, f"no {kind} {name!r} in this file{did_you_mean(name, known)} (it has: {one_of(known)})")

    def _unbounded(self, chunk: Any) -> bool:
        use = chunk.get("use") if isinstance(chunk, dict) else None
        return use in self.host.names("chunker") and "unbounded" in self.host.find("chunker", use).traits

    def _embeds(self, tree: dict[str, Any]) -> bool:
        use = tree.get("use")
        known = use in self.host.names("recaller")
        return known and any(kind == "embedder" for _, kind in references(self.host.find("recaller", str(use)).options))


def _is_secret(annotation: Any) -> bool:
    return annotation in (SecretStr, SecretBytes) or any(_is_secret(inner) for inner in get_args(annotation))


def _is_literal(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return any(_is_literal(item) for item in (value.values() if isinstance(value, dict) else value))
    return value is not None and not is_reference(value)
