"""Models as fastembed loads them: from its catalogue by name, or from a folder."""

import json
import threading
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reqall import ConfigError, EmbedderError, HubModel
from reqall.plugins.embedders.model_files import file_sha256, hidden_size, model_in

_ALSO = ("tokenizer_config.json", "special_tokens_map.json", "preprocessor_config.json")
_POOLING = (("pooling_mode_cls_token", "cls"), ("pooling_mode_lasttoken", "last_token"))

_registering = threading.Lock()


def described(name: str) -> Any:
    """Find a model in the catalogue; the names in it do not tell case apart. Raises ConfigError."""
    from fastembed import TextEmbedding

    known = {each["model"].casefold(): each for each in TextEmbedding.list_supported_models()}
    if name.casefold() in known:
        return known[name.casefold()]
    near = get_close_matches(name.casefold(), known, n=3)
    meant = f" Near to it: {', '.join(known[each]['model'] for each in near)}." if near else ""
    raise ConfigError(
        f"fastembed's catalogue has no model {name!r}",
        f"https://qdrant.github.io/fastembed/examples/Supported_Models/ lists it.{meant} "
        "A model that it lacks is read from a folder: the option `folder`.",
    )


def hub_model(name: str, revision: str) -> HubModel:
    """Return the repository of a model of the catalogue, and its files that are needed. Raises ConfigError."""
    model = described(name)
    files = ("config.json", "tokenizer.json", model["model_file"], *model["additional_files"])
    return HubModel(str(model["sources"]["hf"]), revision, files, _ALSO)


def pooling_in(folder: Path) -> str:
    """Return how a model in a folder makes one vector of many, as sentence-transformers writes it down; else mean."""
    file = folder / "1_Pooling" / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return next((pooling for key, pooling in _POOLING if config.get(key)), "mean")
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"{file} cannot be read", "Take it from the model again, or set `pooling`.") from error


def loaded(name: str, folder: Path, threads: int, max_tokens: int) -> Any:
    """Load a model; `name` is one of the catalogue or of `registered`. Raises EmbedderError."""
    from fastembed import TextEmbedding

    try:
        model = TextEmbedding(name, specific_model_path=str(folder), threads=threads or None)
        reads = int(model.model.tokenizer.truncation["max_length"])
    except Exception as error:  # ONNX Runtime, tokenizers and fastembed have no common root
        raise EmbedderError(
            f"the model in {folder} cannot be loaded by fastembed: {error}",
            "Take model.onnx, tokenizer.json, tokenizer_config.json and config.json from the same export.",
        ) from error
    if reads < max_tokens:
        raise EmbedderError(
            f"the model in {folder} reads {reads} tokens, not {max_tokens}: the rest would be invisible",
            f"Set `max_tokens: {reads}` for this embedder.",
        )
    return model


def registered(folder: Path, pooling: str) -> str:
    """Make a model in a folder known to fastembed, whose catalogue is one for the process; its name there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    file = model_in(folder)
    name = f"reqall/{file_sha256(file)[:16]}-{pooling}-{file.parent == folder}"
    with _registering:
        if name not in {each["model"] for each in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                name,
                pooling=PoolingType(pooling.upper()),
                normalization=True,
                sources=ModelSource(url=folder.resolve().as_uri()),
                dim=hidden_size(folder) or 0,
                model_file=file.relative_to(folder).as_posix(),
            )
    return name
