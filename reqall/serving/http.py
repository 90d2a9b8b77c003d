"""Streamable HTTP: one server, and one model in memory, for many clients.

On loopback anyone on this machine may ask. Any other address needs a bearer token and the names by which
clients reach the server, so that neither the network nor a web page in somebody's browser gets in.
"""

import hmac
import ipaddress
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reqall import __version__
from reqall.core.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
HEALTH = "/health"
TOKEN_VARIABLE = "REQALL_HTTP_TOKEN"  # noqa: S105 - the variable's name
MIN_TOKEN_LENGTH = 16
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: port 0 takes a free one; `names` are those by which clients reach the server."""

    host: str = "127.0.0.1"
    port: int = 8765
    names: Sequence[str] = ()

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def run_http(server: "MCPServer", address: Address, token: str) -> None:
    """Serve until the process is told to end. Raises ConfigError when the address is taken or not safe."""
    import uvicorn

    check_safe(address, token)
    with _bound(address) as listening:
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"reqall answers at http://{shown}:{port}{PATH}; Ctrl+C ends it\n")
        sys.stderr.flush()
        # No access log, and no logging of its own: what is logged goes where reqall's logs go.
        config = uvicorn.Config(application(server, address, token), log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


def check_safe(address: Address, token: str) -> None:
    """Refuse to listen where others can reach the server without a secret and a name. Raises ConfigError."""
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise ConfigError(
            f"{TOKEN_VARIABLE} has fewer than {MIN_TOKEN_LENGTH} characters",
            "make one that cannot be guessed: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    if address.is_loopback:
        return
    if not token:
        raise ConfigError(
            f"{address.host} can be reached from other machines, and {TOKEN_VARIABLE} is not set",
            f"set {TOKEN_VARIABLE} to a secret that clients send as `Authorization: Bearer ...`, or take 127.0.0.1",
        )
    if not address.names:
        raise ConfigError(
            f"{address.host} can be reached from other machines, and no --allowed-host is given",
            "give the name by which clients reach this server, such as --allowed-host reqall.example.com",
        )


def application(server: "MCPServer", address: Address, token: str) -> "ASGIApp":
    """Return the ASGI application: the protocol behind the token, and a health check that tells nothing else."""
    from mcp.server.transport_security import TransportSecuritySettings

    server.custom_route(HEALTH, methods=["GET"])(_health)
    names = (*LOOPBACK_NAMES, *address.names)
    security = TransportSecuritySettings(
        allowed_hosts=[host for name in names for host in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{host}" for name in names for scheme in ("http", "https") for host in (name, f"{name}:*")
        ],
    )
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return BearerGate(inner, token) if token else inner


async def _health(_request: "Request") -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "ok", "version": __version__})


class BearerGate:
    """Lets a request in that carries the token; the health check needs none."""

    def __init__(self, app: "ASGIApp", token: str) -> None:
        """Guard an application."""
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer 401 without a word of what is behind."""
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http" or scope["path"] == HEALTH or self._is_known(dict(scope["headers"])):
            await self._app(scope, receive, send)
            return
        refused = PlainTextResponse("a bearer token is needed", 401, {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)

    def _is_known(self, headers: dict[bytes, Any]) -> bool:
        return hmac.compare_digest(headers.get(b"authorization", b""), self._expected)


def _bound(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {address.host} port {address.port} ({error.strerror or error})",
            "end what listens there, or give another --port (0 takes a free one)",
        ) from error
