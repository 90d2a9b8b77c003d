"""What an experiment is asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reqall.core.config import PipelineConfig
from reqall.core.evaluation import DEPTH
from reqall.core.metrics import DEFAULT


@dataclass(frozen=True, slots=True)
class Tune:
    """Choose among the pipelines by `metric`, with queries that the choice is not judged by."""

    folds: int
    metric: str


@dataclass(frozen=True, slots=True)
class LinkQueries:
    """Queries from the items of a synced project, judged by its trace links; empty fields do not filter."""

    project: str
    link_types: tuple[str, ...] = ()
    from_types: tuple[str, ...] = ()
    to_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A run file of another system; `collection` is empty when there is only one."""

    file: Path
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment: pipelines by name, judged queries, and what to compute.

    `baseline` names the pipeline that the others are compared with; empty, the first. The first of
    `metrics` is the one that tables show comparisons of. `fresh` ignores results of earlier runs.
    """

    pipelines: Mapping[str, PipelineConfig]
    folders: tuple[Path, ...] = ()
    links: LinkQueries | None = None
    baseline: str = ""
    metrics: tuple[str, ...] = DEFAULT
    depth: int = DEPTH
    tune: Tune | None = None
    runs: tuple[OtherRun, ...] = field(default=())
    fresh: bool = False
