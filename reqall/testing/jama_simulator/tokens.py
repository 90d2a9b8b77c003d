"""The OAuth side: client credentials in, bearer tokens out."""

import base64
import binascii
import secrets
from time import monotonic
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse

from reqall.testing.jama_simulator.faults import Faults

CLIENT_ID = "simulator-client"
CLIENT_SECRET = "simulator-secret"  # noqa: S105 - opens nothing but the simulator


class Tokens:
    """Tokens given out, until they expire or are revoked."""

    def __init__(self, faults: Faults) -> None:
        """Read expiry and revocation from the switches."""
        self._faults = faults
        self._given: dict[str, tuple[int, float]] = {}

    @property
    def given(self) -> list[str]:
        """Every token given out so far, valid or not."""
        return list(self._given)

    async def answer(self, request: Request) -> JSONResponse:
        """Answer a request for a token; errors have OAuth's shape, not Jama's."""
        if _basic_credentials(request) != (CLIENT_ID, CLIENT_SECRET):
            return _refusal(401, "invalid_client", "Client authentication failed")
        form = parse_qs((await request.body()).decode())
        if form.get("grant_type") != ["client_credentials"]:
            return _refusal(400, "unsupported_grant_type", "The grant type must be client_credentials")
        token = secrets.token_urlsafe(24)
        self._given[token] = (self._faults.token_generation, monotonic() + self._faults.expires_in)
        return JSONResponse({"access_token": token, "token_type": "bearer", "expires_in": self._faults.expires_in})

    def allow(self, request: Request) -> bool:
        """Tell whether a request bears a valid token."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        generation, expiry = self._given.get(token, (-1, 0.0))
        return scheme.lower() == "bearer" and generation == self._faults.token_generation and monotonic() < expiry


def _basic_credentials(request: Request) -> tuple[str, str] | None:
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, secret


def _refusal(status: int, error: str, description: str) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, status)
