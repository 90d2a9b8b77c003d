"""Reads what Jama answered: the JSON envelope, or an error that says what to do."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import requests

from reqall import NotFoundError, SourceAuthError, SourceError, SourceUnavailableError
from reqall.plugins.sources.jama.transport import retry_after

Row: TypeAlias = dict[str, Any]
"""A JSON object of Jama's: an item, a relationship, a user ..."""

_LONGEST_MESSAGE = 300


def read_envelope(response: requests.Response, path: str) -> Row:
    """Return the JSON object of a good answer; raise the error that a bad one stands for."""
    if not HTTPStatus.OK <= response.status_code < HTTPStatus.MULTIPLE_CHOICES:
        raise failure(response, f"GET {path}")
    try:
        envelope = response.json()
    except ValueError as error:
        raise _unreadable(response, path) from error
    if not isinstance(envelope, dict) or "data" not in envelope:
        raise _unreadable(response, path)
    return envelope


def read_token(response: requests.Response) -> tuple[str, float]:
    """Return the token and its life in seconds. Raises SourceAuthError, SourceUnavailableError."""
    status = response.status_code
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise SourceAuthError(
            f"Jama at {_host(response)} refused the credentials{_quoted(response)}",
            "Check JAMA_CLIENT_ID and JAMA_CLIENT_SECRET: create new API credentials in your Jama profile.",
        )
    if _redirects(status) or status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise failure(response, "the token request")
    body = _json_object(response)
    token, life = body.get("access_token"), body.get("expires_in", 3600)
    if status >= HTTPStatus.MULTIPLE_CHOICES or not isinstance(token, str) or not token:
        raise SourceUnavailableError(
            f"{_host(response)} does not answer like Jama: HTTP {status} to the token request",
            "Check JAMA_URL: host and context path, as in https://host/contour for a self-hosted Jama.",
        )
    return token, float(life) if isinstance(life, int | float) else 3600.0


def failure(response: requests.Response, what: str) -> SourceError | NotFoundError:
    """Return the error for an answer with a bad status; `what` names the request."""
    status, said = response.status_code, _quoted(response)
    if status == HTTPStatus.UNAUTHORIZED:
        return _unauthorised(what, said)
    if status == HTTPStatus.FORBIDDEN:
        return SourceAuthError(
            f"Jama forbids {what}{said}", "Ask the Jama administrator for the permission to read it."
        )
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(f"Jama found nothing for {what}{said}", "Check the id; it may be deleted or not visible.")
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        asked = retry_after(response)
        trouble = "is overloaded" if status == HTTPStatus.TOO_MANY_REQUESTS else "failed"
        later = f"in {asked:.0f} s" if asked else "in a few minutes"
        return SourceUnavailableError(f"Jama {trouble}: HTTP {status} to {what}{said}", f"Try again {later}.")
    if _redirects(status):
        target = urlsplit(response.headers.get("Location", "")).netloc or "another page"
        return SourceUnavailableError(
            f"Jama at {_host(response)} redirects {what} to {target}; redirects are not followed",
            "Set JAMA_URL to the final address of Jama.",
        )
    return SourceError(f"Jama refused {what}: HTTP {status}{said}")


def _redirects(status: int) -> bool:
    return HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST


def _unauthorised(what: str, said: str) -> SourceAuthError:
    if "licen" in said.casefold():
        return SourceAuthError(
            f"Jama refused {what}{said}",
            "The REST API needs a user with a named Creator licence: ask the Jama administrator.",
        )
    return SourceAuthError(f"Jama refused the token at {what}{said}", "Check JAMA_CLIENT_ID and JAMA_CLIENT_SECRET.")


def _unreadable(response: requests.Response, path: str) -> SourceError:
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip()
    what = "JSON that cannot be read" if "json" in kind else f"{kind or 'something'} instead of JSON"
    return SourceError(
        f"Jama at {_host(response)} answered GET {path} with {what}",
        "Try again; if it stays so, check JAMA_URL and what stands between (proxy, single sign-on).",
    )


def _quoted(response: requests.Response) -> str:
    """Jama's own words, as `: words`, or nothing."""
    body = _json_object(response)
    meta = body.get("meta")
    words = meta.get("message") if isinstance(meta, Mapping) else None
    words = words or body.get("error_description") or body.get("error") or body.get("message")
    return f": {' '.join(words.split())[:_LONGEST_MESSAGE]}" if isinstance(words, str) and words.strip() else ""


def _json_object(response: requests.Response) -> Row:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _host(response: requests.Response) -> str:
    return urlsplit(response.url).netloc
