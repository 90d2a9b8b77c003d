"""`reqall serve`: the MCP server, and which of its tools a client is offered."""

from typing import Annotated

import typer

from reqall.invocation import given


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(serve)


def serve(
    pipeline: Annotated[str, typer.Option(help="Pipeline that answers by default")] = "",
    toolsets: Annotated[
        str, typer.Option(help="Only these groups of tools, divided by commas: search, sync, browse, setup, lean")
    ] = "",
    tools: Annotated[str, typer.Option(help="Only these tools, or these beside --toolsets; divided by commas")] = "",
    exclude_tools: Annotated[str, typer.Option(help="Not these tools, whatever else is said")] = "",
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio: one server for many")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on; others than loopback need REQALL_HTTP_TOKEN")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one")] = 8765,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="Name by which clients reach the server; may be repeated")
    ] = None,
) -> None:
    """Serve MCP over stdio, or over HTTP with --http."""
    from reqall.server import serve as run
    from reqall.serving.http import Address
    from reqall.serving.toolsets import Selection

    address = Address(host, port, tuple(allowed_host or ())) if http else None
    run(given(pipeline), Selection(_names(toolsets), _names(tools), _names(exclude_tools)), address)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
