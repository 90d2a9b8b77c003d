"""Run the simulated Jama: beside a test, on a thread, or in the foreground."""

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reqall.testing.jama_simulator.api import Api
from reqall.testing.jama_simulator.app import TOKEN_PATH, Door
from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.httpd import HttpServer, listen
from reqall.testing.jama_simulator.plan import Plan
from reqall.testing.jama_simulator.requests_seen import SeenRequest, busiest_second
from reqall.testing.jama_simulator.tokens import CLIENT_ID, CLIENT_SECRET
from reqall.testing.jama_simulator.world import World

_PATIENCE = 10.0


class JamaSimulator:
    """A Jama Connect on 127.0.0.1, over real HTTP, from a project file.

    The project comes from `project` (a dict), else from `project_file`, else from the packaged
    demo. Every attribute of `Faults` can be given as a keyword. Use it as a context manager, or
    call `start` and `stop`, and `start` again: its port and its world stay.
    """

    client_id = CLIENT_ID
    client_secret = CLIENT_SECRET

    def __init__(
        self,
        project_file: str | Path | None = None,
        port: int = 0,
        context_path: str = "",
        *,
        project: Mapping[str, Any] | None = None,
        **switches: Any,
    ) -> None:
        """Read the project and listen on the port (0 takes a free one); serving starts later."""
        known = {field.name for field in fields(Faults) if not field.name.startswith("_")}
        if unknown := sorted(switches.keys() - known):
            raise TypeError(f"unknown switches {', '.join(unknown)}; known: {', '.join(sorted(known))}")
        self.faults = Faults(**switches)
        self.world = World(read_project(project_file) if project is None else project)
        prefix = f"/{context_path.strip('/')}" if context_path.strip("/") else ""
        self._listener = listen(port)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{prefix}"
        plan = Plan(self.world)
        self._api = Api(self.world, self.faults, self.url, plan)
        self._door = Door(self._api.app(), self.world, self.faults, prefix, plan)
        self._server = HttpServer(self._door)
        self._port = self._listener.getsockname()[1]
        self._thread: threading.Thread | None = None

    @property
    def requests(self) -> list[SeenRequest]:
        """Every request seen so far, those for tokens included."""
        return self._door.requests

    @property
    def writes(self) -> list[SeenRequest]:
        """The requests seen that would change something in Jama: a reader makes none."""
        return [seen for seen in self.requests if seen.method != "GET" and not _is_for_token(seen)]

    @property
    def tokens(self) -> list[str]:
        """Every token given out so far: none may stand in what a client leaves behind."""
        return self._door.tokens.given

    @property
    def busiest_second(self) -> int:
        """The most requests within any window of one second; those for tokens do not count.

        Above `rate_limit_per_second` exactly when a request was refused for the limit.
        """
        return busiest_second(seen.at for seen in self.requests if not _is_for_token(seen))

    def start(self) -> Self:
        """Serve on a thread of its own; returns when requests are answered."""
        if self._server.should_exit:
            self._listener, self._server = listen(self._port), HttpServer(self._door)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), name="jama-simulator")
        self._thread.start()
        deadline = time.monotonic() + _PATIENCE
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                self.stop()
                raise RuntimeError("the simulator did not start")
            time.sleep(0.002)
        return self

    def stop(self) -> None:
        """Stop serving and close every socket; clients that still wait are cut off."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_PATIENCE)
            self._thread = None
        self._listener.close()

    def run(self) -> None:
        """Serve in the foreground until interrupted."""
        try:
            self._server.run([self._listener])
        finally:
            self._listener.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None and self._api.errors:
            raise RuntimeError("a request failed inside the simulator") from self._api.errors[0]


def _is_for_token(seen: SeenRequest) -> bool:
    return seen.path.endswith(TOKEN_PATH)


def read_project(project_file: str | Path | None = None) -> dict[str, Any]:
    """Read a project file; None reads the packaged demo project."""
    packaged = files("reqall.testing").joinpath("demo_project.json")
    source = packaged if project_file is None else Path(project_file)
    content = json.loads(source.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{source} holds no JSON object")  # noqa: TRY004 - the content is wrong, not a type here
    return content


def serve(port: int = 0, project_file: str | Path | None = None, context_path: str = "") -> None:
    """Serve a project in the foreground until Ctrl+C; prints how to reach it."""
    jama = JamaSimulator(project_file, port, context_path)
    print(  # noqa: T201 - the one thing that whoever starts it needs to read
        f"JAMA_URL={jama.url}\nJAMA_CLIENT_ID={jama.client_id}\nJAMA_CLIENT_SECRET={jama.client_secret}",
        flush=True,
    )
    with contextlib.suppress(KeyboardInterrupt):
        jama.run()
