"""RERANKER_ENABLED: lets a deployment rerank without a configuration file of its own."""

from collections.abc import Mapping
from typing import Any

from reqall.core.config import ConfigFile, StageConfig
from reqall.core.errors import ConfigError

VARIABLE = "RERANKER_ENABLED"
PIPELINE = "default"
RERANKER = "qwen3"
"""What the pipeline then reranks with; its model is the plugin's own option, taken from RERANKER_MODEL."""

_ON = ("1", "true", "yes", "on")
_OFF = ("", "0", "false", "no", "off")


def is_enabled(environment: Mapping[str, str]) -> bool:
    """Read the switch. Raises ConfigError for a value that is none."""
    text = environment.get(VARIABLE, "").strip().lower()
    if text not in (*_ON, *_OFF):
        raise ConfigError(f"{VARIABLE} is {text!r}", "give 1 to rerank with qwen3, 0 for what pipelines.yaml says")
    return text in _ON


def switched(config: ConfigFile, environment: Mapping[str, str]) -> ConfigFile:
    """Return the configuration as the switch says: one that names the reranker already keeps its options.

    Whether the reranker is installed is not asked here: without it a search keeps the fused order and says so.
    """
    pipeline = config.pipelines.get(PIPELINE)
    if not is_enabled(environment) or pipeline is None or _names(pipeline.rerank.model_dump(by_alias=True)):
        return config
    stage = StageConfig(use=RERANKER, timeout=pipeline.rerank.timeout)
    changed = {**config.pipelines, PIPELINE: pipeline.model_copy(update={"rerank": stage})}
    return config.model_copy(update={"pipelines": changed})


def _names(component: Any) -> bool:
    """Tell whether a component is the reranker, or holds it in its options."""
    if not isinstance(component, Mapping):
        return False
    return component.get("use") == RERANKER or any(_names(option) for option in component.get("with", {}).values())
