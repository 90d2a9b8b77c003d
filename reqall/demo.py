"""`reqall demo`: the main job on a simulated Jama, from an empty folder to answers through MCP."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import JobError
from reqall.core.metrics import evaluate
from reqall.core.request import SearchRequest
from reqall.terminal import output, watch_job
from reqall.testing.jama_simulator import JamaSimulator

PROJECTS = ("AIP", "ADS")
SHOWN = 5
SERVE_PORT = 8766


@dataclass(frozen=True, slots=True)
class Showcase:
    """A question, and the keys that a requirements engineer would want to see."""

    question: str
    wanted: frozenset[str]

    def quality(self, keys: Sequence[str]) -> float:
        """Return nDCG@10 of a ranking of keys."""
        scores = evaluate({"": keys}, {"": dict.fromkeys(self.wanted, 1)}, ["nDCG@10"])
        return scores.means["nDCG@10"]


SHOWCASES = (
    Showcase("what raises E-1047", frozenset({"AIP-SWR-10", "AIP-BUG-2", "AIP-TC-22"})),
    Showcase(
        "unsigned firmware image rejected",
        frozenset({"AIP-RSK-8", "AIP-STKR-18", "AIP-SYSR-47", "AIP-SWR-32", "AIP-SWR-34", "AIP-TC-24"}),
    ),
    Showcase(
        "post-occlusion bolus when a kink opens",
        frozenset({"AIP-SYSR-11", "AIP-RSK-9", "AIP-SWR-8", "AIP-TC-8"}),
    ),
)


def run(*, stay: bool = False) -> None:
    """Run the demo; with `stay`, leave simulator and an MCP server running until Ctrl+C."""
    console = output()
    with tempfile.TemporaryDirectory(prefix="reqall-demo-") as folder, JamaSimulator() as jama:
        settings = {
            "JAMA_URL": jama.url,
            "JAMA_CLIENT_ID": jama.client_id,
            "JAMA_CLIENT_SECRET": jama.client_secret,
            "JAMA_MCP_DB_PATH": str(Path(folder) / "catalog.db"),
            "REQALL_HOME": folder,
        }
        console.print(f"[bold]1. A simulated Jama[/] answers at {jama.url}")
        app = App(Overrides(), Environment({**os.environ, **settings}, Path(folder) / ".env"))
        try:
            _sync(app, console)
            _search(app, console)
            asyncio.run(_through_mcp(settings, console))
            if stay:
                _stay(app, settings, console)
        finally:
            app.close()


def _sync(app: App, console: Console) -> None:
    console.print("[bold]2. Sync[/] reads both projects and indexes them: words at once, then vectors")
    for project in PROJECTS:
        job = watch_job(app.jobs, app.sync(project, background=True))
        if job.status != "DONE":
            raise JobError(f"the demo's sync of {project} ended with {job.status}: {job.error}")
        console.print(f"   {project}: {job.message}; {job.embedded} texts embedded, {job.requests} requests")


def _search(app: App, console: Console) -> None:
    console.print("[bold]3. Search[/]: words alone, vectors alone, both ([green]*[/] = what an engineer wants to see)")
    for showcase in SHOWCASES:
        console.print(f"   {escape(showcase.question)}")
        table = Table("", "lexical", "vector", "default (hybrid)", box=None, pad_edge=True)
        rankings = [_keys(app, showcase.question, pipeline) for pipeline in ("lexical", "vector", "default")]
        for rank in range(SHOWN):
            table.add_row(
                str(rank + 1), *(_marked(keys[rank], showcase) if rank < len(keys) else "" for keys in rankings)
            )
        table.add_row("", *(f"[bold]nDCG@10 {showcase.quality(keys):.2f}[/]" for keys in rankings))
        console.print(table)
    console.print("   [dim]picked to show the difference; `reqall eval` measures it on judged collections[/]")


def _keys(app: App, question: str, pipeline: str) -> list[str]:
    _, result = app.search(SearchRequest(PROJECTS, question, pipeline=pipeline, top_k=10))
    return [hit.document.key for hit in result.hits]


def _marked(key: str, showcase: Showcase) -> str:
    return f"[green]{key} *[/]" if key in showcase.wanted else key


async def _through_mcp(settings: Mapping[str, str], console: Console) -> None:
    from mcp import Client, StdioServerParameters

    console.print("[bold]4. The same through MCP[/]: a client starts the server over stdio, as an LLM client does")
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "reqall.server"], env={**os.environ, **settings}
    )
    async with Client(command) as client:
        tools = (await client.list_tools()).tools
        console.print(f"   tools: {', '.join(tool.name for tool in tools)}")
        question = SHOWCASES[1].question
        arguments = {
            "project_id": "AIP",
            "query": question,
            "sub_queries": ["only genuine software may run"],
            "top_k": 3,
        }
        answer = await client.call_tool("search_jama_semantics", arguments)
        console.print(f"   search_jama_semantics({escape(json.dumps(arguments))})", soft_wrap=True)
        for hit in (answer.structured_content or {})["results"]:
            console.print(f"   -> {hit['document_key']} {escape(hit['name'])}", soft_wrap=True)


def _stay(app: App, settings: Mapping[str, str], console: Console) -> None:
    from reqall.server import build
    from reqall.serving.http import PATH, Address, run_http

    command = {"command": sys.executable, "args": ["-m", "reqall.server"], "env": dict(settings)}
    console.print("[bold]5. Connect your client[/] (Ctrl+C ends simulator and server)")
    console.print_json(json.dumps({"mcpServers": {"reqall": command}}))
    console.print(f"   or by HTTP: http://127.0.0.1:{SERVE_PORT}{PATH}")
    run_http(build(app), Address(port=SERVE_PORT), "")
