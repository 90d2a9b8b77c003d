"""The address of Jama: what people paste, made into one base URL."""

import re
from urllib.parse import urlsplit

from reqall import ConfigError

# What stands behind the base in an address that was copied from a browser or from an API client.
_BEYOND_BASE = re.compile(r"/(?:rest|perspective\.req|login\.req|api-docs)(?:/.*)?$", re.IGNORECASE)

_REMEDY = "Set JAMA_URL to the address of Jama, such as https://example.jamacloud.com."


def is_set(value: str) -> bool:
    """Tell whether a setting has a value: neither empty nor a variable that nobody replaced."""
    return bool(value.strip()) and not value.strip().startswith("${")


def base_url(text: str) -> str:
    """Return scheme, host, port and context path without a trailing or doubled slash.

    Raises ConfigError for an address that is missing, lacks its scheme or holds a password.
    """
    if not is_set(text):
        raise ConfigError("JAMA_URL is not set", _REMEDY)
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError("JAMA_URL is not a valid address", _REMEDY) from error
    if "@" in text:
        raise ConfigError("JAMA_URL holds a user or a password", f"Leave it out. {_REMEDY}")
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"JAMA_URL does not begin with https:// and a host: {text.strip()!r}", _REMEDY)
    path = _BEYOND_BASE.sub("", re.sub(r"/{2,}", "/", parts.path))
    return f"{parts.scheme}://{parts.netloc.lower()}{path.rstrip('/')}"
