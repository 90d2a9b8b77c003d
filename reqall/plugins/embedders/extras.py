"""Libraries that are installed only where they are wanted."""

from importlib.util import find_spec

from reqall import PluginError


def require_extra(embedder: str, library: str, extra: str) -> None:
    """Raise PluginError where a library is not installed; it is not imported yet."""
    if find_spec(library) is None:
        raise PluginError(
            f"{embedder}: the package {library.replace('_', '-')} is not installed",
            f"pip install 'reqall[{extra}]', or name another embedder.",
        )
