"""The pages of the reference on MCP tools: what each takes and gives, and what it reads of Jama."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

from mcp.types import Tool
from reference_tables import rows_of, table

from reqall.app import PACKAGED, App, Overrides
from reqall.core.environment import Environment
from reqall.plugins.sources.jama.tools.tool_endpoints import ENDPOINTS
from reqall.server import build
from reqall.tools import all_tools


def tools_page() -> Iterator[str]:
    """Yield the MCP tools of the packaged configuration, as a client sees them."""
    yield "# MCP tools\n"
    yield "The tools of the packaged configuration, whose one source is named `jama`; another name gives other names of"
    yield "tools. No tool changes anything in the source. What those of Jama read: [endpoints](jama-endpoints.md).\n"
    yield "Fields of answers are published without their meanings, which stand here: each word of a definition costs"
    yield "every conversation. [tools.json](tools.json) is what a client is sent.\n"
    for tool, answer in _published():
        yield f"## {tool.name}\n"
        yield f"{tool.description}\n"
        yield from table(("argument", "type", "default", "meaning"), rows_of(tool.input_schema))
        for part, schema in ((f"Answer of {tool.name}", answer), *answer.get("$defs", {}).items()):
            told = schema.get("description", "")
            yield f"{part}: {told}\n" if told else f"{part}:\n"
            yield from table(("field", "type", "meaning"), [(row[0], row[1], row[3]) for row in rows_of(schema)])


def jama_endpoints_page() -> Iterator[str]:
    """Yield a table: each native tool of Jama, the endpoints it reads, the fields it returns."""
    yield "# What the Jama tools read\n"
    yield "Every native tool sends GET requests to these endpoints of Jama's REST API v1 and to no others; a test"
    yield "compares the list with what is really sent. Master data (item types, options, users ...) is asked once and"
    yield "kept for ten minutes. `query_jama_endpoint` reads what its caller names, out of an allow-list.\n"
    published = {tool.name: (tool, answer) for tool, answer in _published()}
    rows = []
    for base, endpoints in ENDPOINTS.items():
        tool, answer = published[base.replace("_", "_jama_", 1)]
        reads = ", ".join(f"`{path}`" for path in endpoints) if base != "query_endpoint" else "any of the allow-list"
        rows.append((f"`{tool.name}`", reads, ", ".join(_fields(answer))))
    yield from table(("tool", "endpoints", "fields of the answer"), rows)


def tools_list() -> Iterator[str]:
    """Yield `tools/list` as a client is sent it: a change of any tool is seen here, and decided."""
    sent = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool, _ in _published()]
    yield json.dumps(sent, indent=1, ensure_ascii=False)


def _published() -> list[tuple[Tool, dict[str, Any]]]:
    """Return each tool as it is sent, and the schema of its answer with all meanings."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(Overrides(str(PACKAGED), "default", f"{folder}/catalog.db"), Environment({}, Path(folder, ".env")))
        try:
            answers = {tool.name: get_type_hints(tool.call)["return"].model_json_schema() for tool in all_tools(app)}
            return [(tool, answers[tool.name]) for tool in asyncio.run(build(app).list_tools())]
        finally:
            app.close()


def _fields(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an answer; those of its rows in brackets."""
    for name, schema in answer.get("properties", {}).items():
        inner = schema.get("items", {}).get("properties", {})
        yield f"`{name}` ({', '.join(f'`{field}`' for field in inner)})" if inner else f"`{name}`"
