"""Several files as one: objects, specifications and the places that objects have in them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reqall import SourceError
from reqall_reqif.reading.exchange import Exchange, Node, Relation, Specification, SpecObject

UNPLACED = "~unplaced"
"""Stands for the specification of objects that are in none; no IDENTIFIER (an xsd:ID) begins so."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object stands first; `parent` is the object above it within the same specification."""

    specification: str
    parent: str | None = None
    name: str = ""


@dataclass(slots=True)
class Merged:
    """All files together; `children` and `roots` hold every place, `places` the first one of each object."""

    objects: dict[str, SpecObject] = field(default_factory=dict)
    specifications: dict[str, Specification] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    further: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    roots: dict[str, list[str]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge(exchanges: Sequence[Exchange]) -> Merged:
    """Put files together, in the order given. Raises SourceError when two hold the same specification."""
    merged = Merged()
    _merge_objects(merged, exchanges)
    _merge_specifications(merged, exchanges)
    counts: Counter[str] = Counter()
    for specification in merged.specifications.values():
        counts.update(_place(merged, specification))
    for identifier in merged.objects:
        if identifier not in merged.places:
            merged.places[identifier] = Place(UNPLACED)
            merged.roots.setdefault(UNPLACED, []).append(identifier)
    for exchange in exchanges:
        for relation in exchange.relations:
            ends_known = relation.source in merged.objects and relation.target in merged.objects
            counts["relations that lead to objects in no file"] += not ends_known
            counts["relations that lead from an object to itself"] += ends_known and relation.source == relation.target
            if ends_known and relation.source != relation.target:
                merged.relations.append(relation)
    counts["objects at several places, each of which is one document, at the first"] = len(merged.further)
    merged.notes += [f"{what}: {count}" for what, count in counts.items() if count]
    return merged


def _merge_objects(merged: Merged, exchanges: Iterable[Exchange]) -> None:
    """Take each object from the file where it was changed last; in a tie, from the first."""
    repeated = 0
    for exchange in exchanges:
        for identifier, found in exchange.objects.items():
            known = merged.objects.get(identifier)
            repeated += known is not None
            if known is None or (found.changed or _EARLIEST) > (known.changed or _EARLIEST):
                merged.objects[identifier] = found
    if repeated:
        merged.notes.append(f"objects in several files, of which what was changed last counts: {repeated}")


def _merge_specifications(merged: Merged, exchanges: Iterable[Exchange]) -> None:
    for exchange in exchanges:
        for specification in exchange.specifications:
            known = merged.specifications.setdefault(specification.id, specification)
            if known is not specification:
                name = specification.long_name or specification.id
                raise SourceError(
                    f"{exchange.place}: the specification {name!r} is also in {known.place}",
                    "Keep the newer export only, or set path to it: which of the two is valid cannot be told.",
                )


def _place(merged: Merged, specification: Specification) -> Mapping[str, int]:
    """Give the objects of a hierarchy their places; what was odd is counted.

    What stands below an object that is in no file moves up to the next one above.
    """
    unknown = 0
    above: list[str | None] = []
    for node in specification.nodes:
        parent = above[node.parent] if node.parent >= 0 else None
        known = node.object_id in merged.objects
        above.append(node.object_id if known else parent)
        unknown += not known
        if not known:
            continue
        siblings = merged.children.setdefault(parent, []) if parent else merged.roots.setdefault(specification.id, [])
        siblings.append(node.object_id)
        if node.object_id in merged.places:
            merged.further.setdefault(node.object_id, []).append(specification.long_name or specification.id)
        else:
            home = _home(merged.places, specification, node)
            merged.places[node.object_id] = Place(specification.id, home, node.name)
    return {"places in hierarchies for objects in no file": unknown}


def _home(places: Mapping[str, Place], specification: Specification, node: Node) -> str | None:
    """Return the nearest object above whose own first place is in the same specification.

    It was placed before, so no chain of parents is a circle.
    """
    while node.parent >= 0:
        node = specification.nodes[node.parent]
        place = places.get(node.object_id)
        if place and place.specification == specification.id:
            return node.object_id
    return None
