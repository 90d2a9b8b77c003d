"""How `/abstractitems` selects: filters, the text search and the order of what is found."""

import re
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from reqall.testing.jama_simulator.faults import Faults
from reqall.testing.jama_simulator.query import Params, sort_records
from reqall.testing.jama_simulator.records import Record, as_list, plain_text
from reqall.testing.jama_simulator.world import World

DEFAULT_ORDER = ("sequence.asc", "documentKey.asc")
_DATE_FILTERS = ("createdDate", "modifiedDate", "lastActivityDate")
# What stands beside the tree has no sequence and comes after all that has one.
_AFTER_THE_TREE = (1 << 30,)

# Scripts without spaces are indexed by the character: within them a phrase may begin anywhere.
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"

Matcher = Callable[[str, Record], bool]


def select_items(world: World, faults: Faults, params: Params) -> list[Record]:
    """Return the items, test objects and attachments that pass every filter, in order.

    Values of one parameter are alternatives, different parameters must all be met.
    """
    found = _by_attributes(list(world.items.values()), params)
    for name in _DATE_FILTERS:
        if (moments := params.moments(name)) is not None:
            found = [record for record in found if moments.has(record.get(name))]
    if phrases := params.many("contains"):
        wildcard = params.flag("includeWildcard")
        tests = [_matcher(phrase, faults.contains_mode, wildcard=wildcard) for phrase in phrases]
        texts = ((record, _indexed_text(world, record, faults.index_lag_seconds)) for record in found)
        found = [record for record, text in texts if text is not None and any(test(text, record) for test in tests)]
    return sort_items(world, found, params.many("sortBy") or DEFAULT_ORDER)


def sort_items(world: World, records: Iterable[Record], orders: Sequence[str]) -> list[Record]:
    """Sort items by attributes, fields or their sequence, which counts as numbers, not as text."""

    def key_of(record: Record, name: str) -> object:
        if name == "sequence":
            place = world.place(record["id"])
            return place.sequence if place else _AFTER_THE_TREE
        return record.get(name, record["fields"].get(name.removeprefix("fields.")))

    return sort_records(records, orders, key_of)


def _by_attributes(records: list[Record], params: Params) -> list[Record]:
    for name in ("project", "itemType"):
        if numbers := set(params.integers(name)):
            records = [record for record in records if record[name] in numbers]
    if keys := set(params.many("documentKey")):
        records = [record for record in records if record["documentKey"] in keys]
    if releases := set(params.integers("release")):
        records = [record for record in records if releases & set(as_list(record["fields"].get("release")))]
    return records


def _indexed_text(world: World, record: Record, lag: float) -> str | None:
    """Return the text as the search index has it: as it was `lag` seconds ago."""
    horizon = monotonic() - lag
    recent = [before for moment, before in world.text_changes.get(record["id"], []) if lag and moment > horizon]
    return recent[0] if recent else world.text(record["id"])


def _matcher(phrase: str, mode: str, *, wildcard: bool) -> Matcher:
    """Return a test for whole words: the search knows no stems, so a singular misses its plural."""
    field, separator, pattern = phrase.rpartition(":") if mode == "lucene" else ("", "", phrase)
    any_end = rf"{_LETTER}*" if wildcard else ""
    words = rf"{any_end}\s+".join(re.escape(word) for word in pattern.casefold().split()) + any_end
    if mode == "lucene":
        words = words.replace(r"\*", ".*")
    expression = re.compile(rf"(?<!{_LETTER}){words}(?!{_LETTER})")
    if not separator:
        return lambda text, _record: expression.search(text) is not None
    return lambda _text, record: expression.search(_field_text(record, field)) is not None


def _field_text(record: Record, field: str) -> str:
    value = record.get(field, record["fields"].get(field))
    return plain_text(str(value or "")).casefold()
