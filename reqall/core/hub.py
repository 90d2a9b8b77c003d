"""Fetches a model's files from the Hugging Face hub, or a mirror of it, into the cache that all its programs share.

Cache: https://huggingface.co/docs/huggingface_hub/guides/manage-cache. A large file goes to `<hash>.incomplete` first,
is taken up where it broke off, and gets its place only when its SHA-256 is the one that the hub lists.
"""

import fnmatch
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from reqall.core.errors import ModelError
from reqall.core.weights import HubModel

OFFICIAL = "https://huggingface.co"

_SHA256_LENGTH = 64
_CHUNK_BYTES = 1 << 20
_REFUSALS = {
    401: "Check the model's name; for a model that needs consent, accept its terms and set HF_TOKEN.",
    403: "Accept the model's terms on its page and set HF_TOKEN.",
    404: "Check the model's name and its revision.",
    429: "Wait some minutes; HF_TOKEN raises the limit.",
}
_NO_ANSWER = "Check the network and HTTPS_PROXY; HF_ENDPOINT names a mirror, such as https://hf-mirror.com."


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as the hub lists it: its size in bytes, and its hash, SHA-256 or git's SHA-1 of a blob."""

    name: str
    size: int
    hash: str


class Hub:
    """One hub and the cache folder on this machine."""

    def __init__(self, endpoint: str, token: str | None, cache: Path) -> None:
        """Ask nobody yet. A token that was saved for the official hub is sent to no mirror."""
        self.endpoint = endpoint.rstrip("/")
        self.host = urlsplit(self.endpoint).netloc
        self.cache = cache
        self._token = token or (None if self.endpoint == OFFICIAL else False)

    def snapshot(self, model: HubModel) -> Path | None:
        """Find the folder of the model's files in the cache, complete or not; nothing is asked."""
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(model.name, model.files[0], cache_dir=str(self.cache), revision=model.revision)
        return Path(found).parents[len(Path(model.files[0]).parts) - 1] if isinstance(found, str) else None

    def files(self, model: HubModel) -> list[HubFile]:
        """List what the hub has of the model, small files first. Raises ModelError."""
        from huggingface_hub import HfApi

        with self._told(model):
            api = HfApi(endpoint=self.endpoint, token=self._token)
            found = api.model_info(model.name, revision=model.revision, files_metadata=True, timeout=30)
        listed = [
            HubFile(each.rfilename, each.size or 0, each.lfs.sha256 if each.lfs else each.blob_id or "")
            for each in found.siblings or ()
            if any(fnmatch.fnmatchcase(each.rfilename, pattern) for pattern in model.wanted)
        ]
        return sorted(listed, key=lambda file: (file.size, file.name))

    def fetch(self, model: HubModel, file: HubFile, report: Callable[[int], None]) -> Path:
        """Fetch one file unless it is there, and check its hash; `report` is given bytes as they come.

        Raises ModelError.
        """
        with self._told(model):
            if len(file.hash) == _SHA256_LENGTH:
                self._fetch_blob(model, file, report)
                return self._place(model, file)
            path = self._place(model, file)
            if file.hash and file_hash(path, file.hash) != file.hash:
                path = self._place(model, file, anew=True)
        if file.hash and file_hash(path, file.hash) != file.hash:
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise _spoilt(model, file)
        return path

    def _place(self, model: HubModel, file: HubFile, *, anew: bool = False) -> Path:
        """Give a file its place in the snapshot; what is not among the cache's blobs is fetched."""
        from huggingface_hub import hf_hub_download

        found = hf_hub_download(
            model.name,
            file.name,
            revision=model.revision,
            cache_dir=self.cache,
            endpoint=self.endpoint,
            token=self._token,
            tqdm_class=_silent_bar(),
            force_download=anew,
        )
        return Path(found)

    def _fetch_blob(self, model: HubModel, file: HubFile, report: Callable[[int], None]) -> None:
        """Put a large file into the cache's blobs, from where a broken download ended; its hash decides."""
        from huggingface_hub import hf_hub_url
        from huggingface_hub.file_download import http_get, repo_folder_name
        from huggingface_hub.utils._fixes import WeakFileLock
        from huggingface_hub.utils._headers import build_hf_headers

        folder = repo_folder_name(repo_id=model.name, repo_type="model")
        blob = self.cache / folder / "blobs" / file.hash
        lock = self.cache / ".locks" / folder / f"{file.hash}.lock"
        blob.parent.mkdir(parents=True, exist_ok=True)
        lock.parent.mkdir(parents=True, exist_ok=True)
        url = hf_hub_url(model.name, file.name, revision=model.revision, endpoint=self.endpoint)
        part = blob.with_name(f"{blob.name}.incomplete")
        with WeakFileLock(lock):
            if blob.exists() and file_hash(blob, file.hash) == file.hash:
                return
            blob.unlink(missing_ok=True)
            with part.open("ab") as stream:
                if stream.tell() > file.size:
                    stream.truncate(0)
                begun = stream.tell()
                report(begun)
                http_get(
                    url,
                    stream,
                    resume_size=begun,
                    headers=build_hf_headers(token=self._token),
                    expected_size=file.size,
                    tqdm_class=_silent_bar(report),
                )
            if file_hash(part, file.hash) != file.hash:
                part.unlink()
                raise _spoilt(model, file)
            part.rename(blob)

    @contextmanager
    def _told(self, model: HubModel) -> Iterator[None]:
        """Turn what the library raises into a ModelError: the host and the status, no address and no token."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:  # the library lets the errors of its HTTP client through
            status = getattr(getattr(error, "response", None), "status_code", None)
            what = f"answered {status}" if status else f"could not be asked ({type(error).__name__})"
            if isinstance(error, OSError) and error.errno is not None and not status:
                raise ModelError(
                    f"{model.name} cannot be kept in {self.cache}: {error.strerror}",
                    "Make room there, or name another folder with HF_HOME.",
                ) from error
            remedy = _REFUSALS.get(status or 0, _NO_ANSWER)
            raise ModelError(f"{self.host} {what} when asked for the model {model.name}", remedy) from error


def file_hash(path: Path, like: str) -> str:
    """Hash a file in the way that a hash was made: SHA-256, or SHA-1 of a git blob. Raises OSError."""
    with path.open("rb") as stream:
        if len(like) == _SHA256_LENGTH:
            return hashlib.file_digest(stream, "sha256").hexdigest()
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
        return digest.hexdigest()


def _spoilt(model: HubModel, file: HubFile) -> ModelError:
    return ModelError(
        f"{file.name} of {model.name} did not arrive as it is listed: its checksum is another one; it was removed",
        "Fetch it again; if that stays, HF_ENDPOINT names a mirror that is not faithful, or a proxy changes files.",
    )


def _silent_bar(report: Callable[[int], None] = lambda _count: None) -> Any:
    """Make a progress bar for the library that shows nothing and passes the bytes on."""

    class Bar:
        def __init__(self, *_arguments: Any, **_options: Any) -> None:
            pass

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_error: object) -> None:
            pass

        def update(self, count: float = 1) -> None:
            report(int(count))

    return Bar
