"""What the commands share: the options given before them, the App that they open, JSON on stdout."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from reqall.app import App, Overrides

Project = Annotated[str, typer.Argument(help="Project id, key or name")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout")]

_given = Overrides()


def give(config: str, database: str) -> None:
    """Take the options that hold for every command."""
    global _given  # noqa: PLW0603 - set once, before the command runs
    _given = Overrides(config=config, database=database)


def given(pipeline: str = "") -> Overrides:
    """Return these options, with a command's own pipeline."""
    return Overrides(_given.config, pipeline, _given.database)


@contextmanager
def opened(pipeline: str = "") -> Iterator[App]:
    """Open the App for one command; logs go to stderr."""
    app = App(given(pipeline))
    logging.basicConfig(stream=sys.stderr, level=app.environment.get("REQALL_LOG_LEVEL", "WARNING").upper())
    try:
        yield app
    finally:
        app.close()


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
