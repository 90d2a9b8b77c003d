"""The control API under `/_simulator`: a rehearsal sets faults and edits the world by HTTP."""

import ipaddress
import json
import re
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from reqall.testing.jama_simulator.edits import EDITS
from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.plan import Plan
from reqall.testing.jama_simulator.requests_seen import SeenRequest, busiest_second
from reqall.testing.jama_simulator.switches import (
    Before,
    ClockSetting,
    Failures,
    checked_pattern,
    shown_switches,
    switches_from,
)
from reqall.testing.jama_simulator.world import World

CONTROL_PATH = "/_simulator"
_SHOWN_REQUESTS = 100


class Control:
    """An ASGI application for whoever rehearses on this machine; nothing of it is Jama's."""

    def __init__(self, world: World, faults: Faults, plan: Plan, requests: list[SeenRequest]) -> None:
        """Build the routes over the simulator's parts."""
        self._world = world
        self._faults = faults
        self._plan = plan
        self._requests = requests
        routes = {
            "": (self._overview, ["GET"]),
            "/faults": (self._switches, ["GET", "PATCH", "DELETE"]),
            "/failures": (self._failures, ["GET", "POST", "DELETE"]),
            "/tokens/revoke": (self._revoke, ["POST"]),
            "/edits": (self._edits, ["GET", "POST", "DELETE"]),
            "/requests": (self._seen, ["GET", "DELETE"]),
            "/clock": (self._clock, ["GET", "POST"]),
        }
        self._paths = [CONTROL_PATH + path for path in routes]
        self._app = Starlette(
            routes=[Route(CONTROL_PATH + path, call, methods=methods) for path, (call, methods) in routes.items()],
            exception_handlers={ValueError: _refuse, ValidationError: _refuse_unfit},
        )
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests that were sent to a loopback name, by no web page from elsewhere."""
        request = Request(scope, receive)
        names = [_host_of(f"//{host}") for host in request.headers.getlist("host")]
        names += [_host_of(origin) for origin in request.headers.getlist("origin")]
        if not names or not all(map(_is_loopback, names)):
            refusal = JSONResponse({"error": "the control API answers to loopback host names only"}, 403)
            await refusal(scope, receive, send)
            return
        await self._app({**scope, "path": scope["path"].removesuffix("/")}, receive, send)

    async def _overview(self, _request: Request) -> Response:
        world, seen = self._world, self._requests
        with world.lock:
            projects = [
                {
                    "id": project["id"],
                    "key": project.get("projectKey"),
                    "items": sum(item["project"] == project["id"] for item in world.items.values()),
                }
                for project in world.every("projects")
                if not project.get("isFolder")
            ]
        counts = {"seen": len(seen), "busiest_second": busiest_second(one.at for one in seen)}
        waiting = sum(entry.state == "waiting" for entry in self._plan.entries)
        state = {"clock": world.clock.stamp(), "requests": counts, "edits_waiting": waiting}
        return JSONResponse({"projects": projects, **state, "paths": self._paths})

    async def _switches(self, request: Request) -> Response:
        if request.method == "PATCH":
            changes = switches_from(await _body(request))
        else:
            changes = vars(Faults()) if request.method == "DELETE" else {}
        for name, value in changes.items():
            if not name.startswith("_"):
                setattr(self._faults, name, value)
        return JSONResponse(shown_switches(self._faults))

    async def _failures(self, request: Request) -> Response:
        if request.method == "POST":
            failures = Failures.model_validate(await _body(request))
            self._faults.fail(*failures.kinds, path=failures.path)
        elif request.method == "DELETE":
            self._faults.fail_next.clear()
        return JSONResponse({"fail_next": shown_switches(self._faults)["fail_next"]})

    async def _revoke(self, _request: Request) -> Response:
        self._faults.revoke_tokens()
        return JSONResponse({"revoked": True})

    async def _edits(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._new_edits(request)
        if request.method == "DELETE":
            self._plan.entries.clear()
        return JSONResponse({"edits": [entry.shown() for entry in self._plan.entries]})

    async def _new_edits(self, request: Request) -> Response:
        body = await _body(request)
        before = body.pop("before", None)
        given = body.pop("edits") if body.keys() == {"edits"} else [body]
        edits = EDITS.validate_python(given)
        if before is None:
            return JSONResponse({"outcomes": [edit.apply(self._world) for edit in edits]})
        page = Before.model_validate(before)
        return JSONResponse(self._plan.add(page.path, page.start, edits).shown(), 202)

    async def _seen(self, request: Request) -> Response:
        if request.method == "DELETE":
            self._requests.clear()
        pattern = re.compile(checked_pattern(request.query_params.get("path", "")))
        last = int(request.query_params.get("last", _SHOWN_REQUESTS))
        found = [one for one in self._requests if pattern.search(one.path)]
        shown = [
            {"method": one.method, "path": one.path, "query": one.query, "at": round(one.at, 6)}
            for one in found[max(0, len(found) - last) :]
        ]
        return JSONResponse(
            {"total": len(found), "busiest_second": busiest_second(one.at for one in found), "requests": shown}
        )

    async def _clock(self, request: Request) -> Response:
        if request.method == "POST":
            ClockSetting.model_validate(await _body(request)).apply(self._world.clock)
        return JSONResponse({"clock": self._world.clock.stamp()})


async def _body(request: Request) -> dict[str, Any]:
    body = json.loads(await request.body() or b"{}")
    if not isinstance(body, dict):
        raise ValueError("the body has to be a JSON object")  # noqa: TRY004 - becomes an answer, not a bug
    return body


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    if name.rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


async def _refuse(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


async def _refuse_unfit(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    problems = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
    return JSONResponse({"error": "; ".join(problems)}, 400)
