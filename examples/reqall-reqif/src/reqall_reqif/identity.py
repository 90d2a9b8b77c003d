"""What tells objects and specifications apart from one export to the next."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from reqall import SourceError
from reqall_reqif.mapping import Mapper, Parts, prefix_of
from reqall_reqif.merging import UNPLACED, Merged, Place
from reqall_reqif.options import ReqifOptions
from reqall_reqif.reading.exchange import Specification, SpecObject


@dataclass(frozen=True, slots=True)
class Entry:
    """An object with all that makes it a document; `native` is its id without the source's name."""

    native: str
    key: str
    found: SpecObject
    parts: Parts
    place: Place

    @property
    def name(self) -> str:
        """Name of the object, else that of its first place."""
        return self.parts.name or self.place.name


class Identities:
    """Gives ids: IDENTIFIERs, or keys for exporters that make IDENTIFIERs anew each time."""

    def __init__(self, merged: Merged, mapper: Mapper, options: ReqifOptions) -> None:
        self._merged, self._mapper = merged, mapper
        self._by_key = options.identity == "key"

    def key_of(self, specification: Specification) -> str:
        """Return what a user calls a specification: its key, else its name, else its IDENTIFIER."""
        return self._mapper.key_of(specification.values) or self.title_of(specification)

    def title_of(self, specification: Specification) -> str:
        """Return the name of a specification, else its IDENTIFIER."""
        return specification.long_name or self._mapper.name_of(specification.values) or specification.id

    def specifications(self) -> dict[str, str]:
        """Map IDENTIFIERs of specifications to ids. Raises SourceError when two have the same one."""
        natives = {
            each.id: self.key_of(each) if self._by_key else each.id for each in self._merged.specifications.values()
        }
        repeated = [native for native, count in Counter(natives.values()).items() if count > 1]
        if repeated:
            raise SourceError(
                f"two specifications have the key {repeated[0]!r}, so that it cannot tell them apart",
                "Set identity to identifier, or give the specifications different names.",
            )
        return {**natives, UNPLACED: UNPLACED}

    def entries(self, natives: Mapping[str, str]) -> dict[str, Entry]:
        """Map IDENTIFIERs to objects, in reading order, what is in no specification last."""
        prefixes = {each.id: prefix_of(each.values) for each in self._merged.specifications.values()}
        repeats: Counter[str] = Counter()
        entries: dict[str, Entry] = {}
        for identifier, place in self._merged.places.items():
            found = self._merged.objects[identifier]
            parts = self._mapper.parts(found)
            # A number is unique in its module only; what users know has the module's prefix before it.
            key = f"{prefixes.get(place.specification, '') if parts.key.isdigit() else ''}{parts.key}"
            if not self._by_key:
                entries[identifier] = Entry(identifier, key or identifier, found, parts, place)
            elif key:
                entries[identifier] = Entry(key, key, found, parts, place)
            else:
                above = entries[place.parent].native if place.parent else natives[place.specification]
                named = f"{above}/{parts.name or place.name}"
                repeats[named] += 1
                native = named if repeats[named] == 1 else f"{named}#{repeats[named]}"
                entries[identifier] = Entry(native, native, found, parts, place)
        return entries


def by_native(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Map ids to objects. Raises SourceError when two have the same one."""
    found: dict[str, Entry] = {}
    for entry in entries.values():
        known = found.setdefault(entry.native, entry)
        if known is not entry:
            raise SourceError(
                f"{entry.found.place}: the key {entry.native!r} is that of two objects, {known.found.id} and "
                f"{entry.found.id}, so that it cannot tell them apart",
                "Set identity to identifier, or key_attributes to an attribute that differs in all objects.",
            )
    return found
