"""The status of an item, whatever its field is called.

Jama's own fields are `status`, `testCaseStatus` and `testRunStatus`; many tenants have a field of
their own instead, such as `state$89`, or one that is labelled Document Status.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from reqall.plugins.sources.jama.http.answers import Row
from reqall.plugins.sources.jama.reading.resolve import MasterData
from reqall.plugins.sources.jama.reading.schema import FieldSchema, TypeSchema, bare, undefined
from reqall.plugins.sources.jama.tools.excerpts import line

_PREDEFINED = ("status", "testCaseStatus", "testRunStatus")
_CALLED = ("status", "state")
_KINDS = ("LOOKUP", "MULTI_LOOKUP", "STRING", "TEST_CASE_STATUS", "TEST_RUN_STATUS", "")


class FieldStatus(NamedTuple):
    """What one status field of an item holds: texts, and what stands for them in Jama."""

    texts: tuple[str, ...]
    raw: tuple[str, ...]

    @property
    def text(self) -> str:
        """The status as people read it."""
        return ", ".join(self.texts)

    def is_one_of(self, wanted: str) -> bool:
        """Tell whether a status is meant by a text, in any case and spelling (NOT_RUN, not run), or by its id."""
        return wanted.strip() in self.raw or _folded(wanted) in map(_folded, self.texts)


def status_fields(schema: TypeSchema) -> list[FieldSchema]:
    """Return the fields of a type that hold a status, the one that counts first."""
    own = [schema.fields.get(name) or undefined(name) for name in _PREDEFINED]
    others = [each for each in schema.fields.values() if each.name not in _PREDEFINED and each.kind in _KINDS]
    named = [each for each in others if _last_word(each, whole=True)]
    ending = [each for each in others if each not in named and _last_word(each, whole=False)]
    return [*own, *named, *ending]


def statuses(master: MasterData, row: Row, schema: TypeSchema) -> Iterator[FieldStatus]:
    """Yield what the item's status fields hold; those without a value are left out."""
    fields, project = row.get("fields"), row.get("project")
    if not isinstance(fields, dict):
        return
    for definition in status_fields(schema):
        value = fields.get(definition.name)
        resolved = master.resolve(definition, value, project if isinstance(project, int) else 0)
        if resolved is not None:
            yield FieldStatus(tuple(line(each) for each in _listed(resolved)), tuple(map(str, _listed(value))))


def status_text(master: MasterData, row: Row, schema: TypeSchema) -> str:
    """Return the item's status as text; nothing when it has none."""
    return next((each.text for each in statuses(master, row, schema)), "")


def _last_word(each: FieldSchema, *, whole: bool) -> bool:
    for name in (each.label, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare(each.name))):
        words = re.split(r"[\W_]+", name.casefold())
        if words[-1] in _CALLED and (not whole or len(words) == 1):
            return True
    return False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _folded(text: str) -> str:
    """Return a status without case, spaces and punctuation, unless nothing else is in it."""
    return re.sub(r"[\W_]+", "", text.casefold()) or text.strip().casefold()
