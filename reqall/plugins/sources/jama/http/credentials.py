"""The access token: asked for once, shared by all threads, renewed before it expires."""

import threading
import time
from collections.abc import Callable

import requests
from requests.auth import HTTPBasicAuth

from reqall import ConfigError
from reqall.plugins.sources.jama.http.address import is_set
from reqall.plugins.sources.jama.http.answers import read_token
from reqall.plugins.sources.jama.http.transport import SecretAuth, Transport

_EARLY = 60.0


class Bearer(SecretAuth):
    """Sets the token last, where nothing of requests replaces it."""

    def __init__(self, token: str) -> None:
        self.secret = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the header."""
        request.headers["Authorization"] = f"Bearer {self.secret}"
        return request


class Login(SecretAuth):
    """The client's id and secret, for the request for a token."""

    def __init__(self, client_id: str, secret: str) -> None:
        self.client_id = client_id
        self.secret = secret

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the header."""
        # As bytes: requests would otherwise encode the two as Latin-1.
        HTTPBasicAuth(self.client_id.encode(), self.secret.encode())(request)
        return request


class Credentials:
    """Hands out the token; `clock` counts seconds."""

    def __init__(
        self, transport: Transport, client_id: str, client_secret: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport = transport
        self._login = Login(client_id, client_secret)
        self._clock = clock
        self._lock = threading.Lock()
        self._bearer: Bearer | None = None
        self._renew_at = 0.0

    def bearer(self) -> Bearer:
        """Return the token, a new one 60 s before the old expires; one thread asks, the others wait."""
        with self._lock:
            if self._bearer is None or self._clock() >= self._renew_at:
                self._bearer = self._fetch()
            return self._bearer

    def drop(self, refused: Bearer) -> None:
        """Forget a token that Jama refused, unless another thread has replaced it already."""
        with self._lock:
            if self._bearer is refused:
                self._bearer = None

    def _fetch(self) -> Bearer:
        for variable, value in (("JAMA_CLIENT_ID", self._login.client_id), ("JAMA_CLIENT_SECRET", self._login.secret)):
            if not is_set(value):
                raise ConfigError(f"{variable} is not set", "Create API credentials in your Jama profile and set both.")
        asked_at = self._clock()
        token, life = read_token(self._transport.post_token(self._login))
        self._renew_at = asked_at + max(life - _EARLY, life / 2)
        return Bearer(token)
