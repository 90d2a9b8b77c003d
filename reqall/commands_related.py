"""The commands for near-duplicates and missing trace links, of one item or of whole projects."""

from typing import Annotated

import typer

from reqall.core.errors import InputError
from reqall.core.request import ItemRequest
from reqall.invocation import AsJson, opened, print_json

Key = Annotated[str, typer.Argument(help="Document key or id; without it, the whole project")]
Projects = Annotated[list[str], typer.Option("--project", "-p", help="Project id, key or name; may be repeated")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only items of this type; may be repeated")]
Pipeline = Annotated[str, typer.Option(help="Which pipeline (that named after the purpose, else default)")]
Threshold = Annotated[float | None, typer.Option(help="Lowest score shown, 0 to 1")]
TopK = Annotated[int | None, typer.Option(help="Items to show, 1 to 50")]
CandidateK = Annotated[int | None, typer.Option(help="Documents considered per index, 1 to 500")]
Limit = Annotated[int, typer.Option(min=1, help="Pairs to show of a whole project")]

SHOWN = 10


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command(name="similar")(similar)
    cli.command(name="suggest-links")(suggest_links)


def similar(
    project: Projects,
    key: Key = "",
    threshold: Threshold = None,
    type_: Types = None,
    top_k: TopK = None,
    candidate_k: CandidateK = None,
    limit: Limit = 100,
    pipeline: Pipeline = "",
    as_json: AsJson = False,
) -> None:
    """Find near-duplicates of an item, or without an item the near-duplicate pairs of projects; works offline."""
    from reqall import answers_related, duplicates, related, terminal_related
    from reqall.terminal import watching

    request = ItemRequest(tuple(project), key, tuple(type_ or ()), "", threshold, top_k or SHOWN, candidate_k, pipeline)
    with opened(pipeline) as app:
        if key:
            answer = answers_related.similar_answer(related.similar(app, request))
            print_json(answer.model_dump()) if as_json else terminal_related.print_similar(answer)
            return
        with watching() as watch:
            found = duplicates.duplicates(app, request, watch, limit)
    record = answers_related.duplicates_record(found)
    print_json(record) if as_json else terminal_related.print_duplicates(record)


def suggest_links(
    project: Projects,
    key: Key = "",
    type_: Types = None,
    direction: Annotated[str, typer.Option(help="Only upstream or downstream links of the item")] = "",
    from_type: Annotated[
        list[str] | None, typer.Option(help="Without an item: link such items; may be repeated")
    ] = None,
    to_type: Annotated[
        list[str] | None, typer.Option(help="Without an item: to items of this type; may be repeated")
    ] = None,
    threshold: Threshold = None,
    top_k: TopK = None,
    candidate_k: CandidateK = None,
    limit: Limit = 50,
    pipeline: Pipeline = "",
    as_json: AsJson = False,
) -> None:
    """Find trace links that an item lacks, or without an item those between all items of two types; works offline."""
    from reqall import answers_related, missing_links, related, terminal_related
    from reqall.terminal import watching

    if key and (from_type or to_type):
        raise InputError("--from-type and --to-type are for a whole project", "with an item, name its --type")
    if not key and (type_ or direction):
        raise InputError("--type and --direction are for one item", "name an item, or --from-type and --to-type")
    if not key and not (from_type and to_type):
        raise InputError("links are sought from some types to others", "give --from-type and --to-type, or an item")
    types = tuple((type_ if key else to_type) or ())
    request = ItemRequest(tuple(project), key, types, direction, threshold, top_k or SHOWN, candidate_k, pipeline)
    with opened(pipeline) as app:
        if key:
            answer = answers_related.links_answer(related.suggest_links(app, request))
            print_json(answer.model_dump()) if as_json else terminal_related.print_suggestions(answer)
            return
        with watching() as watch:
            found = missing_links.missing_links(app, request, tuple(from_type or ()), watch, limit)
    record = answers_related.missing_links_record(found)
    print_json(record) if as_json else terminal_related.print_missing_links(record)
