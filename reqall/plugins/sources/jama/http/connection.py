"""Connections to Jama on which only reading requests leave, at the limited rate, over verified TLS.

The limit and the lock sit on the connection itself, so that nothing that is built on top can pass
them by: not a retry, not a second client, not a request for a token.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import truststore
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, PoolManager

from reqall import ConfigError
from reqall.plugins.sources.jama.http.rate import RateLimit

TOKEN_PATH = "/rest/oauth/token"  # noqa: S105 - a path

_POOL = 64
"""Connections that are kept; more threads than that at once is what no option allows."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Which servers are trusted, and how this client shows who it is; empty is the system's store, and nothing."""

    ca_bundle: str = ""
    client_cert: str = ""
    client_key: str = ""

    @property
    def trusted(self) -> str | None:
        """The bundle that is trusted instead of the system's store. Raises ConfigError."""
        return _existing(self.ca_bundle, "JAMA_CA_BUNDLE") or None

    @property
    def own(self) -> str | tuple[str, str] | None:
        """The client's certificate, with its key when that is in another file. Raises ConfigError."""
        certificate = _existing(self.client_cert, "JAMA_CLIENT_CERT")
        key = _existing(self.client_key, "JAMA_CLIENT_KEY")
        if key and not certificate:
            raise ConfigError("JAMA_CLIENT_KEY is set without JAMA_CLIENT_CERT", "Set both, or neither.")
        return (certificate, key) if key else certificate or None

    def check(self) -> None:
        """Raise ConfigError when a file is not there."""
        _ = self.trusted, self.own

    def context(self) -> ssl.SSLContext | None:
        """Return what verifies by the system's certificate store; None when a bundle takes its place."""
        return None if self.ca_bundle else truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _existing(path: str, variable: str) -> str:
    if path and not Path(path).expanduser().exists():
        raise ConfigError(f"{variable} names a file that is not there: {path}", "Correct the path, or unset it.")
    return str(Path(path).expanduser()) if path else ""


class _Gated:
    """What a connection of urllib3's does besides: it lets pass only what reads, and not too much of it."""

    limit: ClassVar[RateLimit]

    def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
        """Send a request, on a connection that stands, as soon as the limit allows."""
        if method != "GET" and not (method == "POST" and urlsplit(url).path.endswith(TOKEN_PATH)):
            raise RuntimeError(f"the Jama source only reads: {method} is not sent")
        connection: Any = super()
        if connection.is_closed:
            connection.connect()
        self._place = self.limit.take()
        try:
            connection.request(method, url, *args, **kwargs)
        finally:
            self.limit.sent(self._place)

    def getresponse(self) -> Any:
        """Wait for the answer's beginning."""
        connection: Any = super()
        try:
            return connection.getresponse()
        finally:
            self.limit.answered(self._place)


class GatedAdapter(HTTPAdapter):
    """The connections of one client, shared by its threads and kept alive."""

    def __init__(self, limit: RateLimit, context: ssl.SSLContext | None) -> None:
        self._limit = limit
        self._tls = {} if context is None else {"ssl_context": context}
        super().__init__(pool_maxsize=_POOL)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        """Set up the connections that go straight to Jama."""
        super().init_poolmanager(connections, maxsize, block, **self._tls, **pool_kwargs)
        self._gate(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **proxy_kwargs: Any) -> Any:
        """Set up the connections that go through a proxy."""
        known = proxy in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **self._tls, **proxy_kwargs)
        if not known:
            self._gate(manager)
        return manager

    def _gate(self, manager: PoolManager) -> None:
        classes = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {scheme: _gated(pool, self._limit) for scheme, pool in classes.items()}


def _gated(pool: type[HTTPConnectionPool], limit: RateLimit) -> type[HTTPConnectionPool]:
    connection = type("GatedConnection", (_Gated, pool.ConnectionCls), {"limit": limit})
    return type("GatedPool", (pool,), {"ConnectionCls": connection})
