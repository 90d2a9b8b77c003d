"""How long to wait before a request is sent again, and when to give up."""

import random
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import requests
import urllib3

from reqall.plugins.sources.jama.http.reply import Reply

OVERLOAD_WAITS = (3.0, 5.0, 8.0, 13.0)
"""Seconds before each new try after a 429, as Jama advises (support.jamasoftware.com, article 37036412486285)."""

FAILURE_WAITS = (1.0, 2.0)
"""Seconds before each new try after a 5xx, a broken connection or a broken answer: three tries in all."""

JITTER = 0.25
"""The part by which such a wait is drawn out at random, so that clients do not all come back at once."""

SHORTEST_WAIT, LONGEST_WAIT = 0.5, 120.0
"""Seconds of a Retry-After that are honoured; beyond, waiting makes no sense and the caller is told instead."""


class Patience:
    """Counts what went wrong with one request and says how long to wait; None is give up."""

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._overloads = iter(OVERLOAD_WAITS)
        self._failures = iter(FAILURE_WAITS)

    def after_failure(self, error: Exception) -> float | None:
        """Return the wait after a request that got no answer."""
        return None if is_final(error) else self._next(self._failures)

    def after(self, reply: Reply) -> float | None:
        """Return the wait after an answer that says: not now."""
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            wait = self._next(self._overloads)
        elif reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR or reply.is_broken:
            wait = self._next(self._failures)
        else:
            return None
        asked = retry_after(reply)
        if wait is None or asked is None:
            return wait
        return max(asked, SHORTEST_WAIT) if asked <= LONGEST_WAIT else None

    def _next(self, waits: Iterator[float]) -> float | None:
        wait = next(waits, None)
        return None if wait is None else wait * (1.0 + JITTER * self._draw())


def retry_after(reply: Reply) -> float | None:
    """Read the Retry-After header, seconds or a date (RFC 9110, 10.2.3); None when absent or unreadable."""
    text = reply.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        then = parsedate_to_datetime(text)
        now = parsedate_to_datetime(reply.headers["Date"])
    except (ValueError, KeyError):
        return None
    # The server's own Date is the reference: this machine's clock may be wrong.
    return max(0.0, (_aware(then) - _aware(now)).total_seconds())


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_final(error: Exception) -> bool:
    """Tell whether a second try would change nothing: a wrong certificate or proxy, a host that takes no calls."""
    final = (requests.exceptions.ProxyError, requests.exceptions.ConnectTimeout, requests.exceptions.InvalidURL)
    return isinstance(error, final) or is_untrusted(error)


def is_untrusted(error: BaseException) -> bool:
    """Tell whether a certificate was refused, rather than that a TLS connection broke off."""
    seen: set[int] = set()
    todo: list[object] = [error]
    while todo:
        each = todo.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, ssl.SSLCertVerificationError):
            return True
        todo += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
    return False


def in_words(error: Exception) -> str:
    """Say what went wrong with a request that got no answer; nothing of the request itself is repeated."""
    if is_untrusted(error):
        return "its TLS certificate is not trusted"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refused the connection"
    if isinstance(error, requests.exceptions.Timeout | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(error, requests.exceptions.SSLError | urllib3.exceptions.SSLError):
        return "the TLS connection failed"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "the connection failed"
    return "the answer broke off" if isinstance(error, urllib3.exceptions.ProtocolError) else "the answer is unreadable"
