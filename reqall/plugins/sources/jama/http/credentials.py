"""The access token: asked for once, shared by all threads, renewed before it expires.

A sync may wait long for a token. So who is in a hurry asks beside it; and who waited for an answer that
never came is told so with the one who asked, rather than to wait as long again.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import requests
from requests.auth import HTTPBasicAuth

from reqall import ConfigError, SourceError
from reqall.plugins.sources.jama.http.address import is_set
from reqall.plugins.sources.jama.http.answers import read_token
from reqall.plugins.sources.jama.http.transport import SecretAuth, Transport

_EARLY = 60.0


class Bearer(SecretAuth):
    """Sets the token last, where nothing of requests replaces it; a new one is due at `renew_at`."""

    def __init__(self, token: str, renew_at: float) -> None:
        self.secret = token
        self.renew_at = renew_at

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


@dataclass(slots=True)
class _Lane:
    """Threads of like patience: one of them asks, the others wait for it; `asked` counts, `failure` is the last."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: int = 0
    failure: SourceError | None = None


class Credentials:
    """Hands out the token; `clock` counts seconds."""

    def __init__(
        self, transport: Transport, client_id: str, client_secret: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport = transport
        self._login = Login(client_id, client_secret)
        self._clock = clock
        self._lanes = {is_patient: _Lane() for is_patient in (False, True)}
        self._changing = threading.Lock()
        self._bearer: Bearer | None = None

    def bearer(self) -> Bearer:
        """Return the token, a new one 60 s before the old expires; one thread asks, the others wait."""
        lane = self._lanes[self._transport.on_wait is not None]
        seen = lane.asked
        with lane.lock:
            bearer = self._bearer
            if bearer is not None and self._clock() < bearer.renew_at:
                return bearer
            if lane.asked != seen and lane.failure is not None:
                raise lane.failure
            return self._ask(lane)

    def drop(self, refused: Bearer) -> None:
        """Forget a token that Jama refused, unless another thread has replaced it already."""
        with self._changing:
            if self._bearer is refused:
                self._bearer = None

    def _ask(self, lane: _Lane) -> Bearer:
        lane.failure = None
        try:
            bearer = self._fetch()
        except SourceError as error:  # no other: that a job was cancelled concerns no other job
            lane.failure = error
            raise
        finally:
            lane.asked += 1
        with self._changing:
            self._bearer = bearer
        return bearer

    def _fetch(self) -> Bearer:
        for variable, value in (("JAMA_CLIENT_ID", self._login.client_id), ("JAMA_CLIENT_SECRET", self._login.secret)):
            if not is_set(value):
                raise ConfigError(f"{variable} is not set", "Create API credentials in your Jama profile and set both.")
        asked_at = self._clock()
        token, life = read_token(self._transport.post_token(self._login))
        return Bearer(token, asked_at + max(life - _EARLY, life / 2))
