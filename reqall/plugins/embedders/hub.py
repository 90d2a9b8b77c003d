"""Fetches a model's files from a hub that speaks the API of huggingface.co, or finds them where they were fetched to.

https://huggingface.co/docs/huggingface_hub/package_reference/file_download
"""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from reqall import EmbedderError

HUB = "https://huggingface.co"
"""Where models are fetched from when HF_ENDPOINT names no mirror."""

_FOLDER = "copy the model's files to a folder on this machine and name it with the option `folder`"


def fetch(repository: str, patterns: Sequence[str], *, revision: str, endpoint: str, offline: bool) -> Path:
    """Return the folder of a model's files, those that match `patterns`. Raises EmbedderError.

    Files are kept in the cache of huggingface_hub (HF_HOME, HF_HUB_CACHE), which other programs share; what
    is there is used when the hub cannot be reached. With `offline`, or HF_HUB_OFFLINE=1, it is not asked.
    """
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    host = urlsplit(endpoint or HUB).hostname or endpoint
    try:
        found = huggingface_hub.snapshot_download(
            repository,
            revision=revision or None,
            allow_patterns=list(patterns),
            local_files_only=offline,
            endpoint=endpoint or None,
        )
    except HFValidationError as error:
        raise EmbedderError(
            f"{repository!r} is no name of a model on a hub", "Write it as owner/name, or name a folder with `folder`."
        ) from error
    except LocalEntryNotFoundError as error:
        why = "is not on this machine, and the hub is not asked" if _is_offline(offline) else "cannot be fetched: "
        where = "" if _is_offline(offline) else f"{host} does not answer, and it is not in the cache"
        raise EmbedderError(
            f"the model {repository} {why}{where}",
            f"Check the network and HF_ENDPOINT (a mirror), or {_FOLDER}.",
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        raise EmbedderError(
            f"{host} answered {status} for the model {repository}",
            f"Check its name and `revision`; a model with conditions needs HF_TOKEN. Or {_FOLDER}.",
        ) from error
    except OSError as error:
        raise EmbedderError(
            f"the files of the model {repository} cannot be fetched from {host} or stored ({type(error).__name__})",
            f"Check the network, HF_ENDPOINT and the space on the disk of HF_HOME, or {_FOLDER}.",
        ) from error
    return Path(found)


def _is_offline(offline: bool) -> bool:
    from huggingface_hub.constants import HF_HUB_OFFLINE

    return offline or bool(HF_HUB_OFFLINE)
