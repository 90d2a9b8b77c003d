"""Expansion by synonyms: those of a list, and the abbreviations that the project's own documents define."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from pydantic import Field, field_validator

from reqall import PluginOptions, Query, Services
from reqall.plugins.expanders.distinct import distinct
from reqall.plugins.expanders.glossary import Glossary
from reqall.plugins.expanders.synonym_file import Group, fault_of, read_groups
from reqall.plugins.expanders.thesaurus import Thesaurus


class SynonymsOptions(PluginOptions):
    """Options of `synonyms`."""

    file: Path | None = Field(
        default=None, description="List of synonyms, .yaml (`ECU: [Electronic Control Unit]`) or .csv (a line each)."
    )
    terms: Mapping[str, str | list[str]] = Field(
        default_factory=dict, description="Further synonyms, written as in the YAML file."
    )
    learn: bool = Field(
        default=True, description="Also use the abbreviations that documents define, as in Control Unit (CU)."
    )
    ignore_case: bool = Field(
        default=False, description="Take `can` for the abbreviation CAN too; otherwise it must be written as it is."
    )
    variants: int = Field(default=2, ge=1, le=10, description="Most texts that are added.")

    @field_validator("terms")
    @classmethod
    def _have_words(cls, terms: Mapping[str, str | list[str]]) -> Mapping[str, str | list[str]]:
        for group in _groups(terms):
            if fault := fault_of(group):
                raise ValueError(fault)
        return terms


class Synonyms:
    """Adds the text with the other words for what it names beside them."""

    def __init__(self, options: SynonymsOptions, services: Services) -> None:
        """Read the file. Raises ConfigError for what is wrong in it."""
        listed = read_groups(options.file.expanduser()) if options.file else []
        self._groups = [*_groups(options.terms), *listed]
        self._glossary = Glossary(services.corpus) if options.learn else None
        self._options = options
        self._latest = self._thesaurus(())

    def expand(self, query: Query) -> Sequence[str]:
        """Return the user's text, the client's sub-queries, and the text with other words beside what it names."""
        given = distinct([query.text, *query.sub_queries])
        added = islice(self._current(query).rewritten(query.text), self._options.variants)
        return distinct([*given, *added], len(given) + self._options.variants)

    def _current(self, query: Query) -> Thesaurus:
        """Return the thesaurus of the query's projects; it is built anew when another one than the last is wanted."""
        entries = self._glossary.of(query.filters.project_ids) if self._glossary else []
        learnt = tuple((each.short, *each.longs) for each in entries)
        known, thesaurus = self._latest
        if known != learnt:
            _, thesaurus = self._latest = self._thesaurus(learnt)
        return thesaurus

    def _thesaurus(self, learnt: tuple[Group, ...]) -> tuple[tuple[Group, ...], Thesaurus]:
        return learnt, Thesaurus([*self._groups, *learnt], ignore_case=self._options.ignore_case)


def _groups(terms: Mapping[str, str | list[str]]) -> list[Group]:
    """List what means the same; a text alone is a list of one."""
    listed = ((term, [given] if isinstance(given, str) else given) for term, given in terms.items())
    return [tuple(dict.fromkeys(" ".join(text.split()) for text in (term, *given))) for term, given in listed]
