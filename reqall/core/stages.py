"""The parts of a pipeline as they are written: a component, a stage, an expander, a leg of recall."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from reqall.core.problems import ONE, SEVERAL
from reqall.core.registration import ComponentConfig

MAX_TIMEOUT_SECONDS = 3600

Weight: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]

Seconds: TypeAlias = Annotated[float, Field(gt=0, le=MAX_TIMEOUT_SECONDS, allow_inf_nan=False, strict=True)]


class Strict(BaseModel):
    """Refuses keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StageConfig(ComponentConfig):
    """A stage of a pipeline: its component, and how long that may be silent."""

    timeout: Seconds | None = None


class ExpandConfig(StageConfig):
    """An expander: what its own texts count in the fusion, and the indexes that are asked with them."""

    weight: Weight | None = None
    indexes: Annotated[list[str], Field(min_length=1)] | None = None


Expanders: TypeAlias = Annotated[
    Annotated[ExpandConfig, Tag(ONE)] | Annotated[list[ExpandConfig], Tag(SEVERAL)],
    Discriminator(lambda given: SEVERAL if isinstance(given, list) else ONE),
]


class VariantWeightsConfig(Strict):
    """What a ranking counts in the fusion by the origin of its text, beside the weight of its leg."""

    original: Weight = 1.0
    sub_queries: Weight = 1.0
    expansions: Weight = 1.0


class ArmConfig(Strict):
    """One leg of recall: an index and its weight in the fusion."""

    index: str
    weight: Weight = 1.0
    required: bool = Field(default=False, strict=True)
    timeout: Seconds | None = None
