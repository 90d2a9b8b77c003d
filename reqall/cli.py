"""The command line: thin, each command calls the App and prints.

Exit codes: 0 done, 1 failed with a message that says what to do, 2 wrong usage. With `--json`, and
for `export`, stdout holds that alone; progress and logs go to stderr.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from reqall import (
    __version__,
    commands_check,
    commands_eval,
    commands_jobs,
    commands_models,
    commands_new,
    commands_plugins,
    commands_related,
    commands_serve,
    commands_synonyms,
    commands_upkeep,
)
from reqall.answers import document_record, search_answer
from reqall.core.errors import ReqallError
from reqall.core.request import SearchRequest
from reqall.invocation import AsJson, Project, give, opened, print_json

cli = typer.Typer(
    name="reqall",
    help="Requirements recall: hybrid retrieval over requirements, for people and language models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@cli.callback()
def options(
    config: Annotated[str, typer.Option(help="The pipelines.yaml to use (REQALL_CONFIG)")] = "",
    db: Annotated[str, typer.Option(help="The catalog's database file (JAMA_MCP_DB_PATH)")] = "",
) -> None:
    """Take the options that hold for every command."""
    give(config, db)


commands_jobs.register(cli)
commands_check.register(cli)
commands_upkeep.register(cli)
commands_plugins.register(cli)
commands_models.register(cli)
commands_new.register(cli)
commands_synonyms.register(cli)
commands_eval.register(cli)
commands_serve.register(cli)
commands_related.register(cli)


@cli.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, a description or a document key")],
    project: Annotated[list[str], typer.Option("--project", "-p", help="Project id, key or name; may be repeated")],
    pipeline: Annotated[str, typer.Option(help="Which pipeline (REQALL_PIPELINE, else default)")] = "",
    top_k: Annotated[int | None, typer.Option(help="Hits to show, 1 to 50")] = None,
    candidate_k: Annotated[int | None, typer.Option(help="Documents considered per index, 1 to 500")] = None,
    item_type: Annotated[list[str] | None, typer.Option(help="Only this type; may be repeated")] = None,
    status: Annotated[list[str] | None, typer.Option(help="Only this status; may be repeated")] = None,
    modified_after: Annotated[str, typer.Option(help="ISO 8601, inclusive")] = "",
    modified_before: Annotated[str, typer.Option(help="ISO 8601, inclusive; a bare date means its whole day")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Show which index and text found each hit")] = False,
    as_json: AsJson = False,
) -> None:
    """Search a synced project; works offline."""
    from reqall.terminal import print_hits

    request = SearchRequest(
        tuple(project),
        query,
        item_types=tuple(item_type or ()),
        statuses=tuple(status or ()),
        modified_after=modified_after,
        modified_before=modified_before,
        top_k=top_k if top_k is not None or as_json else 10,
        candidate_k=candidate_k,
        pipeline=pipeline,
    )
    with opened(pipeline) as app:
        projects, result = app.search(request)
    answer = search_answer(projects, result, explain=explain)
    if as_json:
        record = answer.model_dump()
        print_json({"hits": record.pop("results"), **record})
    else:
        print_hits(answer)


@cli.command()
def export(project: Project) -> None:
    """Print a synced project's documents as JSON lines."""
    with opened() as app:
        catalog = app.assembly.catalog
        found = app.synced_project(project)
        leaving: dict[str, list[Any]] = {}
        for link in catalog.links(found.id):
            leaving.setdefault(link.from_id, []).append(link)
        for document in catalog.walk(found.id):
            sys.stdout.write(
                json.dumps(document_record(document, leaving.get(document.id, [])), ensure_ascii=False) + "\n"
            )


@cli.command()
def schema() -> None:
    """Print a JSON Schema of pipelines.yaml for editors, with what is installed and its options."""
    from reqall.core.schema import file_schema

    with opened() as app:
        print_json(file_schema(app.host))


@cli.command()
def demo(
    stay: Annotated[
        bool, typer.Option("--serve", help="Leave simulator and data running and print how to connect")
    ] = False,
) -> None:
    """Show the main job on a simulated Jama: sync, three searches, the same through MCP."""
    from reqall.demo import run

    run(stay=stay)


@cli.command(name="jama-simulator")
def jama_simulator(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one")] = 0,
    project: Annotated[Path | None, typer.Option(help="Project file; without it the demo's")] = None,
) -> None:
    """Run a simulated Jama on loopback until Ctrl+C."""
    from reqall.testing.jama_simulator import serve as run

    run(port, project)


@cli.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    """Run the command line; our own errors become one message and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        cli()
    except ReqallError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
