"""What people see in a terminal of near-duplicates and missing trace links."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from reqall.answers_related import LinksAnswer, SimilarAnswer
from reqall.core.present import shorten
from reqall.core.wording import one_of
from reqall.terminal import output

LINE = 160


def print_similar(answer: SimilarAnswer) -> None:
    """Print near-duplicates: a line of facts, then what differs."""
    console = output()
    for found in answer.results:
        facts = " · ".join(part for part in (found.item_type_name, found.path) if part)
        _headline(console, found.score, found.document_key or found.document_id, found.name, facts)
        _line(console, "; ".join(found.differences) or "the same text")
    told = f"{len(answer.results)} of {answer.compared} compared items are like {answer.item} at {answer.threshold:g}"
    console.print(f"[dim]{escape(told)} or more, pipeline {answer.pipeline}[/]", soft_wrap=True)
    _warn(answer.warnings)


def print_suggestions(answer: LinksAnswer) -> None:
    """Print the links of an item, then those it may lack: a line of facts, then the sentences that agree."""
    console = output()
    for link in answer.existing_links:
        console.print(f"[dim]linked: {escape(link)}[/]", soft_wrap=True)
    for found in answer.results:
        facts = " · ".join(
            part for part in (found.item_type_name, found.direction, found.link_type, found.path) if part
        )
        _headline(console, found.score, found.document_key or found.document_id, found.name, facts)
        _line(console, f"here:  {found.here}")
        _line(console, f"there: {found.there}")
        _line(console, f"words: {', '.join(found.shared_words)}")
    if not answer.results:
        console.print("nothing found to link")
    console.print(f"[dim]{len(answer.results)} suggested for {answer.item}, pipeline {answer.pipeline}[/]")
    _warn(answer.warnings)


def print_duplicates(record: dict[str, Any]) -> None:
    """Print the near-duplicate pairs of a project."""
    console = output()
    for pair in record["pairs"]:
        types = " · ".join(dict.fromkeys(pair["item_type_names"]))
        _headline(console, pair["score"], f"{pair['first']} ~ {pair['second']}", pair["names"][0], types)
        _line(console, "; ".join(pair["differences"]) or "the same text")
    shown, total = len(record["pairs"]), record["total"]
    console.print(f"[dim]{shown} of {total} pairs at {record['threshold']:g} or more, {record['compared']} items[/]")
    _warn(record["warnings"])


def print_missing_links(record: dict[str, Any]) -> None:
    """Print the missing links of a project, then which items have none."""
    console = output()
    for pair in record["pairs"]:
        way = " ".join(part for part in (pair["direction"], pair["link_type"]) if part)
        has = f"has {pair['links_of_from']} links" if pair["links_of_from"] else "has no link"
        facts = " · ".join(part for part in (way, has) if part)
        _headline(console, pair["score"], f"{pair['from']} -> {pair['to']}", " / ".join(pair["names"]), facts)
        _line(console, f"words: {', '.join(pair['shared_words'])}")
    shown, total = len(record["pairs"]), record["total"]
    console.print(f"[dim]{shown} of {total} missing links at {record['threshold']:g} or more[/]")
    without, to = record["from_without_links"], record["to_without_links"]
    console.print(f"{len(without)} of {record['asked']} items asked have no such link: {escape(one_of(without))}")
    console.print(f"{len(to)} items have none from them: {escape(one_of(to))}", soft_wrap=True)
    console.print(
        f"{record['known_links_found']} of {record['known_links']} existing links are among the first 10 hits: what the"
        " search is worth here",
        soft_wrap=True,
    )
    _warn(record["warnings"])


def _headline(console: Console, score: float, key: str, name: str, facts: str) -> None:
    console.print(f"{score:.2f} [bold]{escape(key)}[/] {escape(name)} [dim]({escape(facts)})[/]", soft_wrap=True)


def _line(console: Console, text: str) -> None:
    console.print(f"    [dim]{escape(shorten(' '.join(text.split()), LINE))}[/]", soft_wrap=True)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        Console(stderr=True).print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
