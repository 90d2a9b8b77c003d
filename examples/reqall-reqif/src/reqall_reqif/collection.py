"""All that the files say, as projects, documents and links."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from reqall import Document, ItemType, JsonValue, Link, Project
from reqall_reqif.identity import Entry, Identities, by_native
from reqall_reqif.mapping import ALSO_IN, FILES, Mapper
from reqall_reqif.merging import UNPLACED, Merged, merge
from reqall_reqif.options import ReqifOptions
from reqall_reqif.reading.exchange import Exchange, Relation, Specification


class Collection:
    """Immutable; `watermark` changes with every byte of the files and with the options."""

    def __init__(self, exchanges: Sequence[Exchange], options: ReqifOptions, name: str, digest: str) -> None:
        self.exchanges = exchanges
        self.merged: Merged = merge(exchanges)
        self._name, self._upstream = name, options.upstream
        self._identities = Identities(self.merged, Mapper(options), options)
        self._natives = self._identities.specifications()
        self.entries: Mapping[str, Entry] = self._identities.entries(self._natives)
        self.by_native: Mapping[str, Entry] = by_native(self.entries)
        self._members: dict[str, list[Entry]] = {native: [] for native in self._natives.values()}
        self._type_names: dict[str, str] = {}
        for entry in self.entries.values():
            self._members[self._natives[entry.place.specification]].append(entry)
            self._type_names.setdefault(entry.found.type.id, entry.found.type.name)
        newest = max((each.parts.modified for each in self.entries.values() if each.parts.modified), default=None)
        self.watermark = f"{newest.isoformat() if newest else '-'} {digest}"

    def projects(self) -> list[Project]:
        """List the specifications in the order of files, and what is in none of them."""
        say = self._identities
        found = [
            Project(self._prefixed(self._natives[each.id]), self._name, say.key_of(each), say.title_of(each))
            for each in self.merged.specifications.values()
        ]
        if self._members[UNPLACED]:
            found.append(Project(self._prefixed(UNPLACED), self._name, "UNPLACED", "Objects in no specification"))
        return found

    def specification(self, project: Project) -> Specification | None:
        """Return the specification that a project is; None for the objects in none."""
        native = project.id.partition(":")[2]
        return next((each for each in self.merged.specifications.values() if self._natives[each.id] == native), None)

    def members(self, project: Project) -> Sequence[Entry]:
        """Return the objects of a project in reading order; nothing for a project that is gone."""
        return self._members.get(project.id.partition(":")[2], [])

    def project_id(self, entry: Entry) -> str:
        """Return the id of the project that an object is in."""
        return self._prefixed(self._natives[entry.place.specification])

    def document_id(self, entry: Entry) -> str:
        """Return the id of the document that an object is."""
        return self._prefixed(entry.native)

    def document(self, entry: Entry) -> Document:
        """Return an object as a document."""
        further = self.merged.further.get(entry.found.id)
        extra: dict[str, JsonValue] = {ALSO_IN: list(dict.fromkeys(further))} if further else {}
        return Document(
            id=self.document_id(entry),
            source=self._name,
            project_id=self.project_id(entry),
            key=entry.key,
            type_id=entry.found.type.id,
            type_name=self._type_names[entry.found.type.id],
            name=entry.name,
            status=entry.parts.status,
            sections=entry.parts.sections,
            fields={**entry.parts.fields, **extra},
            parent_id=self.document_id(self.entries[entry.place.parent]) if entry.place.parent else None,
            created=entry.parts.created,
            modified=entry.parts.modified,
        )

    def links(self, project: Project) -> Iterator[Link]:
        """Yield the relations that touch a project, each once."""
        return self.links_of(map(self.document_id, self.members(project)))

    def links_of(self, document_ids: Iterable[str]) -> Iterator[Link]:
        """Yield the relations that touch one of these documents, each once."""
        inside = set(document_ids)
        return (link for link in self._links if link.from_id in inside or link.to_id in inside)

    def describe(self, project: Project) -> list[ItemType]:
        """List the types of a project's documents with the names of their attributes."""
        fields: dict[str, dict[str, str]] = {}
        for entry in self.members(project):
            kind = entry.found.type
            names = (FILES, ALSO_IN, "DESC", *(each.name for each in kind.definitions), *entry.found.values)
            fields.setdefault(kind.id, {}).update((name, name) for name in names)
        return [ItemType(kind, self._type_names[kind], named) for kind, named in fields.items()]

    @cached_property
    def _links(self) -> Sequence[Link]:
        return list(dict.fromkeys(map(self._link, self.merged.relations)))

    def _link(self, relation: Relation) -> Link:
        ends = [self.document_id(self.entries[each]) for each in (relation.target, relation.source)]
        if self._upstream == "source":
            ends.reverse()
        return Link(ends[0], ends[1], relation.type_name, relation.suspect)

    def _prefixed(self, native: str) -> str:
        return f"{self._name}:{native}"
