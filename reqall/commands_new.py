"""The command that begins a plugin."""

from pathlib import Path
from typing import Annotated

import typer


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command(name="new-plugin")(new_plugin)


def new_plugin(
    kind: Annotated[str, typer.Argument(help="source, chunker, embedder, expander, recaller, fuser or reranker")],
    name: Annotated[str, typer.Argument(help="What the YAML will call it, such as volume-sync")],
    folder: Annotated[Path, typer.Option(help="Where the folder `reqall-NAME` is made")] = Path(),
) -> None:
    """Write a package for a plugin of your own: it works, and its tests pass at once."""
    from reqall.scaffold.writing import write_plugin

    made = write_plugin(kind, name, folder)
    typer.echo(f"{made} is written. Next, as its README.md says:")
    typer.echo(f"    cd {made}\n    pip install -e '.[test]'\n    pytest")
