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
) -> None:
    """Serve MCP over stdio."""
    from reqall.server import serve as run
    from reqall.serving.toolsets import Selection

    run(given(pipeline), Selection(_names(toolsets), _names(tools), _names(exclude_tools)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
