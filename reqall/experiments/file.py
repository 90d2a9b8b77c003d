"""Reads an experiment file: collections, a baseline, metrics and grids of pipelines.

Mistakes are told as those of pipelines.yaml, all in one go, each with its line and column; also
those that only a pipeline of the grid shows, at the value that brings them in.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reqall.core.config import MAX_CANDIDATE_K, ConfigFile, Name, PipelineConfig, read_yaml
from reqall.core.environment import Environment
from reqall.core.errors import ConfigError, InputError
from reqall.core.evaluation import DEPTH
from reqall.core.host import PluginHost
from reqall.core.metrics import DEFAULT, parse
from reqall.core.problems import Path_, Problem, YamlFile, model_problems
from reqall.core.validate import validate
from reqall.core.wording import did_you_mean, one_of
from reqall.experiments.grid import MAX_VARIANTS, Variant, size, steps, variants
from reqall.experiments.plan import Plan, Tune

REMEDY = "mend these places; docs/how-to/compare-pipelines.md shows a whole file"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TuneEntry(_Strict):
    """How to choose the best pipeline without judging it by the same queries."""

    folds: int = Field(default=5, ge=2, le=50, strict=True, description="Parts that the queries are divided into.")
    metric: str = Field(default="nDCG@10", description="What the choice is made by.")


class GridEntry(_Strict):
    """A pipeline of the configuration, and lists of values to try at places in it."""

    base: str = Field(default="", description="Pipeline of the configuration; without it the one of the entry's name.")
    vary: dict[str, list[Any]] = Field(
        default_factory=dict, description="Place in the pipeline, such as recall.0.weight, and the values to try there."
    )


class ExperimentFile(_Strict):
    """The whole file."""

    collections: list[str] = Field(
        default_factory=list, description="Folders in the form of BEIR; relative ones start at the file's own folder."
    )
    baseline: str = Field(default="", description="Pipeline that the others are compared with; without it the first.")
    metrics: list[str] = Field(
        default=list(DEFAULT), min_length=1, description="The first is the one that is compared."
    )
    depth: int = Field(default=DEPTH, ge=1, le=MAX_CANDIDATE_K, strict=True, description="Documents per arm and pool.")
    pipelines: dict[Name, GridEntry] = Field(min_length=1, description="What to compare.")
    tune: TuneEntry | None = Field(default=None, description="Also choose the best by cross-validation.")


def read_experiment(path: Path, config: ConfigFile, host: PluginHost, environment: Environment) -> Plan:
    """Read and check a file against the configuration. Raises one ConfigError that lists every mistake."""
    file = read_yaml(path)
    if not isinstance(file.tree, dict):
        file.raise_for([Problem((), "the file must be a mapping that holds `pipelines:`")], REMEDY)
    try:
        model = ExperimentFile.model_validate(file.tree)
    except ValidationError as error:
        file.raise_for([*file.problems, *model_problems(error, (), ExperimentFile)], REMEDY)
        raise
    reader = _Reader(file, model, config)
    found = dict(reader.variants())
    reader.problems += [*_metrics(model), *_folders(model, path.parent), *_baseline(model, config, found)]
    told: list[str] = []
    with _noting(told):
        file.raise_for([*file.problems, *reader.problems])
    with _noting(told):
        if found:
            validate(_as_configuration(file, config, found), host, environment)
    if told:
        raise ConfigError("\n".join(told), REMEDY)
    pipelines = {variant.name: PipelineConfig.model_validate(variant.tree) for variant in found.values()}
    if model.baseline and model.baseline not in pipelines:
        pipelines = {model.baseline: config.pipelines[model.baseline], **pipelines}
    return Plan(
        pipelines,
        tuple(path.parent / folder for folder in model.collections),
        baseline=model.baseline,
        metrics=tuple(model.metrics),
        depth=model.depth,
        tune=Tune(model.tune.folds, model.tune.metric) if model.tune else None,
    )


@contextmanager
def _noting(told: list[str]) -> Iterator[None]:
    """Note the mistakes that are raised, to tell them with others."""
    try:
        yield
    except ConfigError as error:
        told += error.message.splitlines()


class _Reader:
    """Makes the variants of all entries, and notes what is wrong with the entries."""

    def __init__(self, file: YamlFile, model: ExperimentFile, config: ConfigFile) -> None:
        self.file, self.model, self.config = file, model, config
        self.problems: list[Problem] = []

    def variants(self) -> Iterator[tuple[tuple[str, int], Variant]]:
        """Yield the variants by entry and number."""
        for name, entry in self.model.pipelines.items():
            path: Path_ = ("pipelines", name)
            base = entry.base or name
            if base not in self.config.pipelines:
                known = self.config.pipelines
                message = (
                    f"no pipeline {base!r} in the configuration{did_you_mean(base, known)} (it has: {one_of(known)})"
                )
                self.problems.append(Problem((*path, "base"), message))
                continue
            if not self._is_sound(entry, path):
                continue
            tree = self.config.pipelines[base].model_dump(by_alias=True)
            yield from (((name, number), each) for number, each in enumerate(variants(name, tree, entry.vary)))

    def _is_sound(self, entry: GridEntry, path: Path_) -> bool:
        before = len(self.problems)
        for place, values in entry.vary.items():
            at = (*path, "vary", place)
            if not values:
                self.problems.append(Problem(at, "the list is empty; write the values to try, or leave it out"))
            told = [repr(value) for value in values]
            self.problems += [
                Problem((*at, number), f"{value} stands here twice")
                for number, value in enumerate(told)
                if value in told[:number]
            ]
            self.problems += self._lost(entry, at, place)
        if (count := size(entry.vary)) > MAX_VARIANTS:
            message = f"the grid stands for {count} pipelines, more than {MAX_VARIANTS}"
            self.problems.append(Problem((*path, "vary"), message))
        return len(self.problems) == before

    def _lost(self, entry: GridEntry, at: Path_, place: str) -> Iterator[Problem]:
        """Say where a place leads nowhere; each is tried by itself, so that all are told."""
        base = self.config.pipelines[entry.base or str(at[1])].model_dump(by_alias=True)
        try:
            for _ in variants("", base, {place: entry.vary[place][:1]}):
                pass
        except InputError as error:
            yield Problem(at, error.message, at_key=True)


def _as_configuration(file: YamlFile, config: ConfigFile, found: dict[tuple[str, int], Variant]) -> YamlFile:
    """Return the configuration with the variants as its pipelines; their values stand where the grid has them."""
    tree = config.model_dump(by_alias=True)
    tree["pipelines"] = {}
    whole = YamlFile(file.name, tree)
    for number, ((entry, _), variant) in enumerate(found.items()):
        path: Path_ = ("pipelines", f"variant-{number}")
        tree["pipelines"][path[1]] = variant.tree
        whole.keys[path] = whole.values[path] = file.keys["pipelines", entry]
        for place, chosen in variant.chosen.items():
            at: Path_ = ("pipelines", entry, "vary", place)
            whole.keys[(*path, *steps(place))] = file.keys[at]
            whole.values[(*path, *steps(place))] = file.values[(*at, chosen)]
    return whole


def _metrics(model: ExperimentFile) -> Iterator[Problem]:
    places: list[tuple[Path_, str]] = [(("metrics", number), name) for number, name in enumerate(model.metrics)]
    if model.tune:
        places.append((("tune", "metric"), model.tune.metric))
    for path, name in places:
        try:
            parse(name)
        except InputError as error:
            yield Problem(path, f"{error.message} ({error.remedy})")


def _folders(model: ExperimentFile, start: Path) -> Iterator[Problem]:
    for number, name in enumerate(model.collections):
        if not (start / name).is_dir():
            yield Problem(("collections", number), f"no folder {name!r} here")


def _baseline(model: ExperimentFile, config: ConfigFile, found: dict[tuple[str, int], Variant]) -> Iterator[Problem]:
    known = [*(variant.name for variant in found.values()), *config.pipelines]
    if model.baseline and model.baseline not in known:
        message = f"no pipeline {model.baseline!r}{did_you_mean(model.baseline, known)}"
        yield Problem(("baseline",), f"{message} (there are: {one_of(dict.fromkeys(known))})")
