"""How long to wait before a request is sent again, and when to give up.

Who waits for the answer, as a tool does, is told after a few tries. A sync that runs in the background
outlives an outage: it tries on for as long as it is given, and its job says what it waits for.
"""

import random
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from itertools import chain, islice, repeat

import requests
import urllib3

from reqall.plugins.sources.jama.http.reply import Reply

OVERLOAD_WAITS = (3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 60.0)
"""Seconds before each new try after a 429, as Jama advises (support.jamasoftware.com, article 37036412486285).

The last of these is repeated.
"""

FAILURE_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds before each new try after a 5xx, a broken connection or a broken answer; the last is repeated."""

FEW_OVERLOADS, FEW_FAILURES = 4, 2
"""How many of these waits are made when somebody waits for the answer."""

JITTER = 0.25
"""The part by which such a wait is drawn out at random, so that clients do not all come back at once."""

SHORT_PATIENCE = 40.0
"""Seconds that all waits for one request may take when somebody waits for the answer: hosts of tools give up then."""

SHORTEST_WAIT = 0.5
"""Seconds that are waited even if Retry-After asks for less."""


class Patience:
    """Counts what went wrong with one request and says how long to wait; None is give up.

    `seconds` is what all its waits may take together; None is what somebody who waits for the answer has.
    """

    def __init__(self, seconds: float | None = None, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._is_short = seconds is None
        self._left = SHORT_PATIENCE if seconds is None else seconds
        self._overloads = _waits(OVERLOAD_WAITS, FEW_OVERLOADS if self._is_short else None)
        self._failures = _waits(FAILURE_WAITS, FEW_FAILURES if self._is_short else None)

    def after_failure(self, error: Exception) -> float | None:
        """Return the wait after a request that got no answer."""
        if is_hopeless(error) or (self._is_short and is_settled(error)):
            return None
        return self._granted(self._next(self._failures))

    def after(self, reply: Reply) -> float | None:
        """Return the wait after an answer that says: not now."""
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            wait = self._next(self._overloads)
        elif reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR or reply.is_broken:
            wait = self._next(self._failures)
        else:
            return None
        asked = retry_after(reply)
        return self._granted(wait if wait is None or asked is None else max(asked, SHORTEST_WAIT))

    def _granted(self, wait: float | None) -> float | None:
        """Return a wait for which there is time, else None: the caller is told instead."""
        if wait is None or wait > self._left:
            return None
        self._left -= wait
        return wait

    def _next(self, waits: Iterator[float]) -> float | None:
        wait = next(waits, None)
        return None if wait is None else wait * (1.0 + JITTER * self._draw())


def _waits(seconds: tuple[float, ...], most: int | None) -> Iterator[float]:
    return islice(chain(seconds, repeat(seconds[-1])), most)


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


def is_hopeless(error: Exception) -> bool:
    """Tell whether waiting changes nothing: an address that is none, a certificate that is not trusted."""
    return isinstance(error, requests.exceptions.InvalidURL) or is_untrusted(error)


def is_settled(error: Exception) -> bool:
    """Tell whether a second try soon would change nothing: a wrong proxy, a host that takes no calls."""
    return isinstance(error, requests.exceptions.ProxyError | requests.exceptions.ConnectTimeout)


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
