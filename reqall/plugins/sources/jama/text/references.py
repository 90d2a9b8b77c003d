"""What a reader of plain text is told of a link or an image: where it leads, what it shows."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

_LONGEST_ADDRESS = 2_000
_SCHEME = re.compile(r"^(?:https?:)?//|^(?:mailto|tel):", re.IGNORECASE)
_NO_PLACE = re.compile(r"^(?:#|$|(?:javascript|vbscript|data|about|blob|cid):)", re.IGNORECASE)


def address(attributes: Mapping[str, Any]) -> str:
    """Return where a link leads; empty when that is no place: a script, embedded data, the same page."""
    href = "%20".join(str(attributes.get("href") or "").split())
    return "" if _NO_PLACE.match(href) or len(href) > _LONGEST_ADDRESS else href


def says(text: str, place: str) -> bool:
    """Tell whether a link's text already names the place."""
    return _bare(text) == _bare(place)


def _bare(place: str) -> str:
    return _SCHEME.sub("", place.strip()).rstrip("/").casefold()


def picture(attributes: Mapping[str, Any]) -> str:
    """Return ` [image: what it shows] ` from the alternative text or the file's name, or nothing."""
    shown = " ".join(str(attributes.get("alt") or "").split())
    if not shown or shown.casefold().startswith("data:"):
        shown = _file_name(str(attributes.get("src") or "").strip())
    return f" [image: {shown}] " if shown else ""


def _file_name(source: str) -> str:
    if _NO_PLACE.match(source):
        return ""
    try:
        path = urlsplit(source).path
    except ValueError:
        return ""
    name = " ".join(unquote(path).rpartition("/")[2].split())
    return name if "." in name else ""
