"""The abbreviations of each project, learnt from its own documents and kept as fresh as the catalog.

They live in memory: a process learns a project at the first question, later only what changed since. Nothing is
stored, so nothing can be left behind by a deletion, a `forget` or another process's sync.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reqall import Corpus, Document
from reqall.plugins.expanders.abbreviations import Definition, definitions


@dataclass(frozen=True, slots=True)
class Entry:
    """An abbreviation and what it stands for, the most frequent first; `documents` counts those that define it so."""

    short: str
    longs: tuple[str, ...]
    documents: tuple[int, ...]


@dataclass
class _Learnt:
    seq: int = 0
    found: dict[str, frozenset[Definition]] = field(default_factory=dict)
    entries: Sequence[Entry] = ()


class Glossary:
    """Learns abbreviations. Thread-safe."""

    def __init__(self, corpus: Corpus) -> None:
        """Read nothing yet."""
        self._corpus = corpus
        self._lock = threading.Lock()
        self._learnt: dict[str, _Learnt] = {}

    def of(self, project_ids: Sequence[str]) -> list[Entry]:
        """Return the abbreviations of projects, none named: of all; as of now, sorted by project and abbreviation."""
        with self._lock:
            return [each for project in project_ids or self._corpus.projects() for each in self._current(project)]

    def _current(self, project_id: str) -> Sequence[Entry]:
        # Read first: what is written meanwhile is then read again the next time.
        seq = self._corpus.seq()
        learnt = self._learnt.get(project_id)
        if learnt is None or learnt.seq > seq:
            learnt = self._learnt[project_id] = _Learnt()
        if learnt.seq < seq:
            for document in self._corpus.changed(project_id, learnt.seq):
                learnt.found[document.id] = _defined_in(document)
            present = self._corpus.present(project_id, learnt.found)
            learnt.found = {key: found for key, found in learnt.found.items() if found and key in present}
            learnt.entries, learnt.seq = _entries(learnt.found), seq
        return learnt.entries


def _defined_in(document: Document) -> frozenset[Definition]:
    return frozenset(found for text in (document.name, *document.sections.values()) for found in definitions(text))


def _entries(found: Mapping[str, frozenset[Definition]]) -> list[Entry]:
    """Count the documents of each definition; long forms that differ in case alone are one."""
    spellings: dict[str, dict[str, Counter[str]]] = {}
    for each in (each for defined in found.values() for each in defined):
        spellings.setdefault(each.short, {}).setdefault(each.long.casefold(), Counter())[each.long] += 1
    return [_entry(short, list(longs.values())) for short, longs in sorted(spellings.items())]


def _entry(short: str, spelt: Sequence[Counter[str]]) -> Entry:
    told = [(spellings.total(), min(spellings, key=lambda s: (-spellings[s], s))) for spellings in spelt]
    told.sort(key=lambda each: (-each[0], each[1].casefold()))
    return Entry(short, tuple(long for _, long in told), tuple(count for count, _ in told))
