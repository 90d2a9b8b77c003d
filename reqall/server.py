"""The MCP server: publishes the tools over stdio or HTTP; it has no logic of its own.

`python -m reqall.server` and `reqall serve` run it. Logs go to stderr; stdout is the protocol's.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.tools import Tool
from mcp.types import Completion, CompletionArgument, CompletionContext

from reqall import __version__
from reqall.app import App, Overrides
from reqall.core.errors import ReqallError
from reqall.core.protocols import SourceTool
from reqall.serving.completion import complete
from reqall.serving.http import TOKEN_VARIABLE, Address, run_http
from reqall.serving.instructions import instructions
from reqall.serving.prompts import prompts
from reqall.serving.published import publish
from reqall.serving.toolsets import ALL, Selection, chosen
from reqall.tools import all_tools

QUIET_SECONDS = 1.0
"""How long after the first answer to a client the schedule begins: its libraries must not slow the client's start."""

_log = logging.getLogger("reqall.server")


def build(app: App, selection: Selection = ALL) -> MCPServer:
    """Return a server with the chosen tools of the App's sources. Loads no model, asks no source.

    Raises InputError when the choice names what is not there.
    """
    offered = chosen(_unique(all_tools(app)), selection)
    tools: list[Tool] = [publish(tool) for tool in offered]
    names = {tool.name for tool in offered}
    told = instructions(app, names)
    server = MCPServer("reqall", version=__version__, instructions=told, log_level="WARNING", tools=tools)
    for prompt in prompts(app.config.sources, names):
        server.add_prompt(prompt)
    _complete_from(app, server)
    return server


def _complete_from(app: App, server: MCPServer) -> None:
    async def completion(
        _reference: Any, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion:
        given = (context.arguments if context else None) or {}
        return Completion(values=await to_thread.run_sync(complete, app, argument.name, argument.value, given))

    server.completion()(completion)  # type: ignore[no-untyped-call]


def serve(overrides: Overrides, selection: Selection = ALL, address: Address | None = None) -> None:
    """Serve over stdio until the client closes the stream, or over HTTP until the process is told to end.

    Raises ConfigError, InputError before that.
    """
    app = App(overrides)
    logging.basicConfig(stream=sys.stderr, level=app.environment.get("REQALL_LOG_LEVEL", "WARNING").upper())
    after = _AfterHandshake(lambda: _start_schedule(app))
    try:
        server = build(app, selection)
        app.sync_interval  # noqa: B018 - a wrong one is told before anything is served
        if address is not None:
            after.begin()  # nobody waits for a handshake: a shared server keeps its projects fresh without clients
            run_http(server, address, app.environment.get(TOKEN_VARIABLE) or "")
        else:
            server.middleware.append(after)
            server.run("stdio")
    finally:
        after.stop()
        app.close()


class _AfterHandshake:
    """Calls a function once, in a thread, when the first message about tools has been answered."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._begun = False
        self._timer = threading.Timer(QUIET_SECONDS, call)
        self._timer.daemon = True

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        finally:
            if ctx.method.startswith("tools/"):
                self.begin()

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._timer.start()

    def stop(self) -> None:
        self._timer.cancel()
        if self._begun:
            self._timer.join()


def _start_schedule(app: App) -> None:
    try:
        app.schedule.start()
    except ReqallError as error:
        _log.error("projects are not synced by themselves, indexes not filled: %s", error)


def _unique(tools: Iterable[SourceTool]) -> list[SourceTool]:
    """Refuse a name that comes twice: the SDK would silently keep the first."""
    named: dict[str, SourceTool] = {}
    for tool in tools:
        if tool.name in named:
            _log.error("tool %s is offered twice; the first one stays", tool.name)
        named.setdefault(tool.name, tool)
    return list(named.values())


def main() -> None:
    """Run the server; a mistake in the configuration is one message on stderr and exit code 1."""
    try:
        serve(Overrides())
    except ReqallError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
