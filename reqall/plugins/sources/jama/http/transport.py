"""Sends requests to one Jama, patiently; nothing else in this plugin touches the network.

There is a GET, and a POST for the token: nothing that changes Jama can be sent.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
import urllib3
from requests.auth import AuthBase

from reqall import ConfigError, SourceUnavailableError
from reqall.plugins.sources.jama.http.address import base_url
from reqall.plugins.sources.jama.http.connection import TOKEN_PATH, Certificates, GatedAdapter
from reqall.plugins.sources.jama.http.patience import Patience, in_words, is_untrusted
from reqall.plugins.sources.jama.http.rate import shared_limit
from reqall.plugins.sources.jama.http.reply import Reply

T = TypeVar("T")
R = TypeVar("R")
Params = Mapping[str, Any]

PATIENCE = 1800.0
"""Seconds for which a sync waits for one answer: maintenance and restarts of a Jama take minutes."""

_TOLD_EVERY = 5.0
"""Seconds after which who is told of a wait is told again, and can end it."""

_CONNECT_TIMEOUT = 10.0
_PIECE = 65_536


class SecretAuth(AuthBase):
    """What authorises a request; `secret` is what no message may repeat."""

    secret: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to wait for the next bytes of an answer and for all of it, and how many requests leave in one second.

    `patience`: seconds that a request whose waits somebody is told of may be held back in all.
    """

    timeout: float = 30.0
    deadline: float = 120.0
    requests_per_second: int = 8
    patience: float = PATIENCE


class _Local(threading.local):
    """What each thread has of its own: a session with its cookies, a count, and who is told that it waits."""

    session: requests.Session | None = None
    sent: int = 0
    on_wait: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    """One request; `what` names it in messages."""

    method: str
    url: str
    what: str
    auth: SecretAuth
    params: Params | None = None
    form: Params | None = None


class Transport:
    """One Jama: its address, connections that all threads share, and retries."""

    def __init__(
        self,
        url: str,
        *,
        limits: Limits | None = None,
        certificates: Certificates | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url
        self._limits = limits or Limits()
        self._certificates = certificates or Certificates()
        self._sleep = sleep
        self._local = _Local()

    @cached_property
    def base(self) -> str:
        """The normalised address. Raises ConfigError."""
        return base_url(self._url)

    @cached_property
    def _adapter(self) -> GatedAdapter:
        limit = shared_limit(self.base, self._limits.requests_per_second)
        return GatedAdapter(limit, self._certificates.context())

    @property
    def on_wait(self) -> Callable[[str], None] | None:
        """Who is told that the calling thread's requests are held back; None is nobody.

        With somebody to be told they are held back for long, else only for so long as a tool may take.
        """
        return self._local.on_wait

    @on_wait.setter
    def on_wait(self, told: Callable[[str], None] | None) -> None:
        self._local.on_wait = told

    def for_caller(self, call: Callable[[T], R]) -> Callable[[T], R]:
        """Return `call` for other threads: what they send for the calling one is told to whom its own is."""
        told = self.on_wait

        def work(value: T) -> R:
            before, self.on_wait = self.on_wait, told
            try:
                return call(value)
            finally:
                self.on_wait = before

        return work

    @property
    def sent(self) -> int:
        """How many requests the calling thread has sent so far, or had sent for it."""
        return self._local.sent

    def count(self, requests_sent: int) -> None:
        """Add to the calling thread's count what other threads sent for it."""
        self._local.sent += requests_sent

    def get(self, path: str, params: Params, auth: SecretAuth) -> Reply:
        """Send a GET to `/rest/v1` and return the last answer, whatever its status."""
        return self._patiently(_Request("GET", f"{self.base}/rest/v1{path}", f"GET {path}", auth, params=params))

    def post_token(self, auth: SecretAuth) -> Reply:
        """Ask for a token with the client's credentials (RFC 6749, 4.4.2)."""
        grant = {"grant_type": "client_credentials"}
        url = f"{self.base}{TOKEN_PATH}"
        return self._patiently(_Request("POST", url, f"the token request POST {TOKEN_PATH}", auth, form=grant))

    def _patiently(self, request: _Request) -> Reply:
        patience = Patience(None if self.on_wait is None else self._limits.patience)
        while True:
            try:
                reply = self._send(request)
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                wait, why = patience.after_failure(error), in_words(error)
                if wait is None:
                    raise self._unreachable(request, error) from error
            except OSError as error:  # not of the network: requests found no file there
                raise ConfigError(
                    "the certificates that REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE names cannot be read",
                    "Correct the path, or unset the variable.",
                ) from error
            else:
                wait = patience.after(reply)
                if wait is None:
                    return reply
                why = "an answer that was cut off" if reply.is_good else f"HTTP {reply.status}"
            self._wait(wait, f"{why} to {request.what}")

    def _wait(self, seconds: float, why: str) -> None:
        """Wait, in small steps when somebody is told: a job that is cancelled meanwhile ends it by an error."""
        told = self.on_wait
        while told is not None and seconds > _TOLD_EVERY:
            told(f"waiting {math.ceil(seconds)} s for Jama: {why}")
            self._sleep(_TOLD_EVERY)
            seconds -= _TOLD_EVERY
        if told is not None:
            told(f"waiting {math.ceil(seconds)} s for Jama: {why}")
        self._sleep(seconds)

    def _send(self, request: _Request) -> Reply:
        self._local.sent += 1
        began = time.perf_counter()
        certificates = self._certificates
        # `auth` is always given, so that requests does not look into ~/.netrc and put that password
        # in the token's place. A redirect would carry the token along: none is followed. `verify` is
        # a bundle or left to requests, which then heeds REQUESTS_CA_BUNDLE; it is never False.
        with self._session().request(
            request.method,
            request.url,
            params=request.params,
            data=request.form,
            auth=request.auth,
            timeout=(min(self._limits.timeout, _CONNECT_TIMEOUT), self._limits.timeout),
            allow_redirects=False,
            headers={"Accept": "application/json"},
            verify=certificates.trusted,
            cert=certificates.own,
            stream=True,
        ) as response:
            content = self._read(response, began + self._limits.deadline)
            return Reply(response.url, response.status_code, response.headers, content, request.auth.secret)

    def _session(self) -> requests.Session:
        session = self._local.session
        if session is None:
            session = self._local.session = requests.Session()
            session.mount("https://", self._adapter)
            session.mount("http://", self._adapter)
        return session

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        if HTTPStatus.MULTIPLE_CHOICES <= response.status_code < HTTPStatus.BAD_REQUEST:
            return b""
        pieces = []
        # One read of the socket at a time, so that a trickle of bytes does not go on for ever.
        while piece := response.raw.read1(_PIECE, decode_content=True):
            pieces.append(piece)
            if time.perf_counter() > deadline:
                raise requests.Timeout(f"more than {self._limits.deadline} s", response=response)
        return b"".join(pieces)

    def _unreachable(self, request: _Request, error: Exception) -> SourceUnavailableError:
        remedy = "Check JAMA_URL, the network and, where there is one, the proxy."
        if is_untrusted(error):
            remedy = (
                "If your company signs its own certificates, install its root certificate in this system's store, "
                "or set JAMA_CA_BUNDLE to a file that holds it."
            )
        host = urlsplit(self.base).netloc
        return SourceUnavailableError(f"cannot reach Jama at {host} for {request.what}: {in_words(error)}", remedy)
