"""All entries of a folder as documents and links: ids settled, folders added, links resolved."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from urllib.parse import quote

from reqall import Document, ItemType, JsonValue, Link, Project, SourceError
from reqall.plugins.sources.folder.entry import Entry, Reading, Trace, clean

_MAX_DEPTH = 8
"""Fields that are nested deeper are kept as their JSON."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a folder holds. `entries` has each document's entry by its id, in the order of the documents."""

    documents: Sequence[Document]
    links: Sequence[Link]
    entries: Mapping[str, Entry]
    duplicates: Sequence[str]
    dangling: Sequence[str]
    problems: Sequence[SourceError]
    watermark: str

    def types(self) -> list[ItemType]:
        """List the types of the documents, with the fields that each uses."""
        found: dict[str, ItemType] = {}
        for document in self.documents:
            known = found.setdefault(document.type_id, ItemType(document.type_id, document.type_name, {}))
            missing = {name: name.replace("_", " ") for name in document.fields if name not in known.fields}
            if missing:
                found[known.id] = ItemType(known.id, known.name, {**known.fields, **missing})
        return list(found.values())


def assemble(
    readings: Iterable[Reading], project: Project, *, url_prefix: str, problems: Sequence[SourceError], watermark: str
) -> Corpus:
    """Settle what only the whole folder can tell. The order of the readings decides who keeps an id used twice."""
    read = list(readings)
    entries = [entry for reading in read for entry in reading.entries]
    placed = {file: address for reading in read for file, address in reading.placed.items()}
    entries = [*_folders(entries), *entries]
    ids, duplicates = _ids(entries, project.source)
    parents = _parents(entries, placed)
    names: dict[str, str] = {}
    documents = [
        _document(entry, ids[entry.address], ids.get(parents[entry.address] or ""), project, url_prefix, names)
        for entry in entries
    ]
    links, dangling = _links(entries, ids)
    broken = [*problems, *(problem for reading in read for problem in reading.problems)]
    by_id = {ids[entry.address]: entry for entry in entries}
    return Corpus(documents, links, by_id, duplicates, dangling, broken, watermark)


def _folders(entries: Sequence[Entry]) -> list[Entry]:
    """Return an entry for each folder that holds files and has none: a document may stand for its folder."""
    known = {entry.address for entry in entries}
    missing: set[str] = set()
    for entry in entries:
        folder = _folder(entry.file)
        while folder and folder not in missing:
            missing.add(folder)
            folder = _folder(folder)
    return [
        Entry(address=folder, file=folder, line=0, type_id="Folder", type_name="Folder", name=folder.rpartition("/")[2])
        for folder in sorted(missing - known)
    ]


def _ids(entries: Sequence[Entry], source: str) -> tuple[dict[str, str], list[str]]:
    """Return each address's id: its own id where it is the first to have that, else the address."""
    owners: dict[str, Entry] = {}
    duplicates: list[str] = []
    for entry in entries:
        first = owners.setdefault(clean(entry.uid), entry) if entry.uid else entry
        if first is not entry:
            duplicates.append(f"the id {clean(entry.uid)} is used twice: {clean(first.place)} and {clean(entry.place)}")
    ids: dict[str, str] = {entry.address: f"{source}:{uid}" for uid, entry in owners.items()}
    used = set(ids.values())
    for entry in entries:
        if entry.address not in ids:
            found = f"{source}:{clean(entry.address)}"
            while found in used:
                found += "~"
            used.add(found)
            ids[entry.address] = found
    return ids, duplicates


def _parents(entries: Sequence[Entry], placed: Mapping[str, str]) -> dict[str, str | None]:
    """Return each address's parent; where files include each other in a circle, the first is put into its folder."""
    known = {entry.address for entry in entries}
    parents: dict[str, str | None] = {}
    for entry in entries:
        above = entry.parent if entry.parent is not None else placed.get(entry.file)
        parents[entry.address] = above if above in known else _holding(entry)
    for entry in entries:
        if entry.parent is None and entry.address in _ancestors(entry.address, parents):
            parents[entry.address] = _holding(entry)
    for entry in entries:
        if entry.address in _ancestors(entry.address, parents):
            parents[entry.address] = _holding(entry)
    return parents


def _holding(entry: Entry) -> str | None:
    folder = _folder(entry.file)
    return (_folder(folder) if folder == entry.address else folder) or None


def _ancestors(address: str, parents: Mapping[str, str | None]) -> set[str]:
    found: set[str] = set()
    above = parents[address]
    while above is not None and above not in found:
        found.add(above)
        above = parents.get(above)
    return found


def _document(
    entry: Entry, identifier: str, parent: str | None, project: Project, url_prefix: str, names: dict[str, str]
) -> Document:
    type_id = clean(entry.type_id)
    fields = {clean(name): _value(value) for name, value in entry.fields.items()}
    return Document(
        id=identifier,
        source=project.source,
        project_id=project.id,
        key=clean(entry.uid or entry.address),
        type_id=type_id,
        # One type has one name: the first that is met.
        type_name=names.setdefault(type_id, clean(entry.type_name)),
        name=clean(entry.name),
        status=clean(entry.status) if entry.status else None,
        sections={clean(name): clean(text) for name, text in entry.sections.items()},
        fields=fields if not entry.line else {"file": clean(entry.file), **fields},
        parent_id=parent,
        url=url_prefix + quote(entry.file, errors="replace") if url_prefix else None,
        created=entry.created,
        modified=entry.modified,
    )


def _links(entries: Sequence[Entry], ids: Mapping[str, str]) -> tuple[list[Link], list[str]]:
    """Resolve the links; those to ids that no file has are told apart."""
    by_uid: dict[str, Entry] = {}
    by_folded: dict[str, Entry] = {}
    for entry in entries:
        for name in (entry.uid, entry.address) if entry.uid else (entry.address,):
            by_uid.setdefault(name, entry)
            by_folded.setdefault(name.casefold(), entry)
    links: dict[tuple[str, str, str], Link] = {}
    dangling: list[str] = []
    for entry in entries:
        for trace in entry.traces:
            target = by_uid.get(trace.target) or by_folded.get(trace.target.casefold())
            if target is None:
                dangling.append(clean(f"{trace.target} ({entry.place})"))
            elif target.address != entry.address:
                link = _link(entry, trace, target, ids)
                links.setdefault((link.from_id, link.to_id, link.type), link)
    return list(links.values()), dangling


def _link(entry: Entry, trace: Trace, target: Entry, ids: Mapping[str, str]) -> Link:
    near, far = ids[entry.address], ids[target.address]
    ends = (far, near) if trace.upstream else (near, far)
    suspect = trace.stamp is not None and bool(target.stamp) and trace.stamp != target.stamp
    return Link(*ends, type=clean(trace.type) or "link", suspect=suspect)


def _value(value: JsonValue, depth: int = 0) -> JsonValue:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, list | dict) and depth >= _MAX_DEPTH:
        return clean(json.dumps(value, ensure_ascii=False))
    if isinstance(value, list):
        return [_value(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(str(name)): _value(item, depth + 1) for name, item in value.items()}
    return value


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
