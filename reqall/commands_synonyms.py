"""The command that prints the abbreviations that a project's documents define."""

import json
import sys
from typing import Any

import typer

from reqall.invocation import AsJson, Project, opened, print_json


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(synonyms)


def synonyms(project: Project, as_json: AsJson = False) -> None:
    """Print the abbreviations that a synced project's items define, as the expander `synonyms` learns them.

    The output is a file for its option `file`: edit it, and name it there.
    """
    from reqall.core.corpus import CatalogCorpus
    from reqall.plugins.expanders.glossary import Entry, Glossary

    with opened() as app:
        found = app.synced_project(project)
        entries = Glossary(CatalogCorpus(app.assembly.catalog, app.assembly.log)).of([found.id])
    if as_json:
        print_json([_record(entry.short, entry.longs, entry.documents) for entry in entries])
        return
    sys.stdout.write(f"# Abbreviations that the items of {found.key} define, and how many items define them so.\n")

    def line(entry: Entry) -> str:
        # Texts of JSON are texts of YAML.
        longs = ", ".join(json.dumps(long, ensure_ascii=False) for long in entry.longs)
        return f"{json.dumps(entry.short, ensure_ascii=False)}: [{longs}]  # {', '.join(map(str, entry.documents))}\n"

    sys.stdout.writelines(line(entry) for entry in entries)


def _record(short: str, longs: tuple[str, ...], documents: tuple[int, ...]) -> dict[str, Any]:
    means = [{"long": long, "documents": count} for long, count in zip(longs, documents, strict=True)]
    return {"abbreviation": short, "means": means}
