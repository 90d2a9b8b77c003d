"""Reads what Jama answered: the JSON envelope, or an error that says what to do."""

from http import HTTPStatus
from urllib.parse import urlsplit

from reqall import NotFoundError, SourceAuthError, SourceError, SourceUnavailableError
from reqall.plugins.sources.jama.http.patience import retry_after
from reqall.plugins.sources.jama.http.reply import Reply, Row

__all__ = ["Row", "failure", "is_licence_missing", "read_envelope", "read_token"]


def read_envelope(reply: Reply, path: str) -> Row:
    """Return the JSON object of a good answer; raise the error that a bad one stands for."""
    if not reply.is_good:
        raise failure(reply, f"GET {path}")
    if "data" not in reply.object:
        raise _unreadable(reply, path)
    return reply.object


def read_token(reply: Reply) -> tuple[str, float]:
    """Return the token and its life in seconds. Raises SourceAuthError, SourceUnavailableError."""
    status = reply.status
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        if is_licence_missing(reply):
            raise _unauthorised(reply, "the token request")
        raise SourceAuthError(
            f"Jama at {reply.host} refused the credentials: HTTP {status}{_quoted(reply)}",
            "Check JAMA_CLIENT_ID and JAMA_CLIENT_SECRET: create new API credentials in your Jama profile.",
        )
    if reply.redirects or status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise failure(reply, "the token request")
    token, life = reply.object.get("access_token"), reply.object.get("expires_in", 3600)
    if not reply.is_good or not isinstance(token, str) or not token:
        raise SourceUnavailableError(
            f"{reply.host} does not answer like Jama: HTTP {status} to the token request",
            "Check JAMA_URL: host and context path, as in https://host/contour for a self-hosted Jama.",
        )
    return token, float(life) if isinstance(life, int | float) else 3600.0


def is_licence_missing(reply: Reply) -> bool:
    """Tell whether Jama refuses the user for want of a licence, which no new token changes."""
    return reply.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) and "licen" in _quoted(reply).casefold()


def failure(reply: Reply, what: str) -> SourceError | NotFoundError:
    """Return the error for an answer with a bad status; `what` names the request."""
    status, said = reply.status, f"HTTP {reply.status}{_quoted(reply)}"
    if status == HTTPStatus.UNAUTHORIZED or is_licence_missing(reply):
        return _unauthorised(reply, what)
    if status == HTTPStatus.FORBIDDEN:
        return SourceAuthError(
            f"Jama forbids {what}: {said}", "Ask the Jama administrator for the permission to read it."
        )
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(
            f"Jama found nothing for {what}: {said}", "Check the id; it may be deleted or not visible."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        asked = retry_after(reply)
        trouble = "is overloaded" if status == HTTPStatus.TOO_MANY_REQUESTS else "failed"
        later = f"in {asked:.0f} s" if asked else "in a few minutes"
        return SourceUnavailableError(f"Jama {trouble} at {what}: {said}", f"Try again {later}.")
    if reply.redirects:
        target = urlsplit(reply.headers.get("Location", "")).netloc or "another page"
        return SourceUnavailableError(
            f"Jama at {reply.host} redirects {what} to {target} (HTTP {status}); redirects are not followed",
            "Set JAMA_URL to the final address of Jama.",
        )
    return SourceError(f"Jama refused {what}: {said}")


def _unauthorised(reply: Reply, what: str) -> SourceAuthError:
    said = f"HTTP {reply.status}{_quoted(reply)}"
    if is_licence_missing(reply):
        return SourceAuthError(
            f"Jama refused {what}: {said}",
            "The REST API needs a user with a named Creator licence: ask the Jama administrator.",
        )
    return SourceAuthError(f"Jama refused the token at {what}: {said}", "Check JAMA_CLIENT_ID and JAMA_CLIENT_SECRET.")


def _unreadable(reply: Reply, path: str) -> SourceError:
    what = "JSON that cannot be read" if "json" in reply.kind else f"{reply.kind or 'something'} instead of JSON"
    return SourceError(
        f"Jama at {reply.host} answered GET {path} with HTTP {reply.status} and {what}",
        "Try again; if it stays so, check JAMA_URL and what stands between (proxy, single sign-on).",
    )


def _quoted(reply: Reply) -> str:
    """Jama's own words, as `: words`, or nothing."""
    return f": {reply.words}" if reply.words else ""
