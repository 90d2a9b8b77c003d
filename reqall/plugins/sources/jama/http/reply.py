"""What Jama answered, read whole."""

import json
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import urlsplit

Row: TypeAlias = dict[str, Any]
"""A JSON object of Jama's: an item, a relationship, a user ..."""

_LONGEST_MESSAGE = 300


class Reply:
    """Status, headers (names in any case) and body of one answer."""

    def __init__(self, url: str, status: int, headers: Mapping[str, str], content: bytes, secret: str = "") -> None:
        self.host = urlsplit(url).netloc
        self.status = status
        self.headers = headers
        self._content = content
        self._secret = secret

    @cached_property
    def body(self) -> Any:
        """The JSON value; None when the body is none."""
        try:
            return json.loads(self._content)
        except (ValueError, RecursionError):
            return None

    @property
    def object(self) -> Row:
        """The JSON object; empty when the body is none."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def words(self) -> str:
        """Jama's own message, shortened, or nothing; the secret that was sent is blotted out where it echoes."""
        meta = self.object.get("meta")
        words = meta.get("message") if isinstance(meta, Mapping) else None
        words = words or next(filter(None, map(self.object.get, ("error_description", "error", "message"))), None)
        if not isinstance(words, str):
            return ""
        hidden = words.replace(self._secret, "***") if self._secret else words
        return " ".join(hidden.split())[:_LONGEST_MESSAGE]

    @property
    def kind(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def is_good(self) -> bool:
        """Whether the status says that all went well."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def redirects(self) -> bool:
        """Whether the answer sends the client elsewhere."""
        return HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST

    @property
    def is_broken(self) -> bool:
        """Whether the answer calls itself good JSON and is not: it was cut on its way."""
        return self.is_good and self.body is None and (not self.kind or "json" in self.kind)
