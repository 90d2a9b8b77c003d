"""Sends requests to one Jama, patiently; nothing else in this plugin touches the network.

There is a GET, and a POST for the token: nothing that changes Jama can be sent.
"""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from reqall import SourceUnavailableError
from reqall.plugins.sources.jama.address import base_url

Params = Mapping[str, Any]

OVERLOAD_WAITS = (3.0, 5.0, 8.0, 13.0)
"""Seconds before each new try after a 429, as Jama advises (support.jamasoftware.com, article 37036412486285)."""

FAILURE_WAITS = (1.0, 2.0)
"""Seconds before each new try after a 5xx or a broken connection: three tries in all."""

LONGEST_WAIT = 120.0
"""Seconds of a Retry-After beyond which waiting makes no sense: the caller is told instead."""

_CONNECT_TIMEOUT = 10.0

# A second try changes nothing about a wrong certificate, proxy or host that does not answer.
_FINAL = (requests.exceptions.SSLError, requests.exceptions.ProxyError, requests.exceptions.ConnectTimeout)


class _Patience:
    """Counts what went wrong with one request and says how long to wait; None is give up."""

    def __init__(self) -> None:
        self._overloads = iter(OVERLOAD_WAITS)
        self._failures = iter(FAILURE_WAITS)

    def after_failure(self, error: requests.RequestException) -> float | None:
        """Return the wait after a request that got no answer."""
        return None if isinstance(error, _FINAL) else next(self._failures, None)

    def after(self, response: requests.Response) -> float | None:
        """Return the wait after an answer that says: not now."""
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            wait = next(self._overloads, None)
        elif response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            wait = next(self._failures, None)
        else:
            return None
        asked = retry_after(response)
        if wait is None or asked is None:
            return wait
        return asked if asked <= LONGEST_WAIT else None


def retry_after(response: requests.Response) -> float | None:
    """Read the Retry-After header, seconds or a date (RFC 9110, 10.2.3); None when absent or unreadable."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        then = parsedate_to_datetime(text)
        now = parsedate_to_datetime(response.headers["Date"])
    except (ValueError, KeyError):
        return None
    # The server's own Date is the reference: this machine's clock may be wrong.
    return max(0.0, (_aware(then) - _aware(now)).total_seconds())


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Local(threading.local):
    """What each thread has of its own: a session with its connections, and a count."""

    session: requests.Session | None = None
    sent: int = 0


class Transport:
    """One Jama: its address, a keep-alive session per thread, and retries."""

    def __init__(self, url: str, *, timeout: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url = url
        self._timeouts = (min(timeout, _CONNECT_TIMEOUT), timeout)
        self._sleep = sleep
        self._local = _Local()

    @cached_property
    def base(self) -> str:
        """The normalised address. Raises ConfigError."""
        return base_url(self._url)

    @property
    def host(self) -> str:
        """The host and port, for messages."""
        return urlsplit(self.base).netloc

    @property
    def sent(self) -> int:
        """How many requests the calling thread has sent so far."""
        return self._local.sent

    def get(self, path: str, params: Params, auth: AuthBase) -> requests.Response:
        """Send a GET to `/rest/v1` and return the last answer, whatever its status."""
        return self._patiently("GET", f"{self.base}/rest/v1{path}", auth, params=params)

    def post_token(self, auth: AuthBase) -> requests.Response:
        """Ask for a token with the client's credentials (RFC 6749, 4.4.2)."""
        grant = {"grant_type": "client_credentials"}
        return self._patiently("POST", f"{self.base}/rest/oauth/token", auth, form=grant)

    def _patiently(
        self, method: str, url: str, auth: AuthBase, *, params: Params | None = None, form: Params | None = None
    ) -> requests.Response:
        patience = _Patience()
        while True:
            try:
                response = self._send(method, url, auth, params, form)
            except requests.RequestException as error:
                wait = patience.after_failure(error)
                if wait is None:
                    raise _unreachable(self.host, error) from error
            else:
                wait = patience.after(response)
                if wait is None:
                    return response
            self._sleep(wait)

    def _send(
        self, method: str, url: str, auth: AuthBase, params: Params | None, form: Params | None
    ) -> requests.Response:
        if self._local.session is None:
            self._local.session = requests.Session()
        self._local.sent += 1
        # `auth` is always given, so that requests does not look into ~/.netrc and put that
        # password in the token's place. A redirect would carry the token along: none is followed.
        return self._local.session.request(
            method,
            url,
            params=params,
            data=form,
            auth=auth,
            timeout=self._timeouts,
            allow_redirects=False,
            headers={"Accept": "application/json"},
        )


def _unreachable(host: str, error: requests.RequestException) -> SourceUnavailableError:
    if isinstance(error, requests.exceptions.SSLError):
        what = "its TLS certificate was refused"
    elif isinstance(error, requests.exceptions.ProxyError):
        what = "the proxy refused the connection"
    elif isinstance(error, requests.exceptions.Timeout):
        what = "no answer in time"
    elif isinstance(error, requests.exceptions.ConnectionError):
        what = "the connection failed"
    else:
        what = "the answer broke off"
    return SourceUnavailableError(
        f"cannot reach Jama at {host}: {what}",
        "Check JAMA_URL, the network and, where there is one, the proxy.",
    )
