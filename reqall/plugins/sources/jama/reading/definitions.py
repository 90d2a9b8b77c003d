"""What items are read with beyond themselves: item types with their fields, and the options of picklists."""

import hashlib
import json
from collections.abc import Mapping

from reqall.plugins.sources.jama.reading.resolve import MasterData
from reqall.plugins.sources.jama.reading.schema import TypeSchema


def digest(master: MasterData, project: int) -> str:
    """Read the definitions that a project uses, anew, and make a short text of them: equal as long as they are."""
    types = master.item_types_of(project, fresh=True)
    picklists = sorted({each for schema in types.values() for each in _picklists(schema)})
    options = {picklist: sorted(master.options(picklist, fresh=True).items(), key=str) for picklist in picklists}
    told = [[_told(types[each]) for each in sorted(types)], options]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _picklists(schema: TypeSchema) -> set[int]:
    return {each.picklist for each in schema.fields.values() if each.picklist is not None}


def _told(schema: TypeSchema) -> list[object]:
    fields: Mapping[str, object] = {
        name: [each.key, each.label, each.kind, each.rich, each.picklist] for name, each in schema.fields.items()
    }
    return [schema.id, schema.name, schema.category, fields]
