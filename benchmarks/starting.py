"""The server's start: from its process to the answered `initialize`, against an empty server's."""

import json
import os
import subprocess
import sys
from pathlib import Path

from ratios import Ratio, in_turn

_EMPTY = 'from mcp.server import MCPServer\nMCPServer("empty").run("stdio")\n'
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def measure(folder: Path, rounds: int) -> Ratio:
    """Start both servers in turn; the first round only fills caches of files."""
    empty = folder / "empty_server.py"
    empty.write_text(_EMPTY, encoding="utf-8")
    seconds = in_turn(
        {
            "ours": lambda _: _start(["-m", "reqall.server"], folder),
            "empty": lambda _: _start([str(empty)], folder),
        },
        rounds + 1,
    )
    return Ratio.of("server start / empty MCPServer", seconds["ours"][1:], seconds["empty"][1:], 1.5)


def _start(arguments: list[str], folder: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAMA_", "REQALL_"))}
    settings = {**kept, "REQALL_HOME": str(folder), "JAMA_MCP_DB_PATH": str(folder / "catalog.db")}
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=settings, text=True) as server:  # noqa: S603 - our own server
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(_INITIALIZE) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert "serverInfo" in answer["result"], answer
        server.kill()
