"""YAML as requirements files need it: every scalar is the text that stands there.

So `id: 0012` stays 0012, `level: 1.10` stays 1.10 and `status: on` stays on. Nothing is constructed, no
tag is obeyed, and aliases are refused: a file can neither run code nor grow when it is read.
"""

from collections.abc import Iterator
from typing import Any

from reqall import JsonValue
from reqall.plugins.sources.folder.entry import unreadable

MAX_DEPTH = 50
"""Lists and mappings within each other; more is refused."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

TRUE = frozenset({"yes", "true", "enabled", "1", "on"})


def load_mapping(text: str, path: str, first_line: int = 1) -> dict[str, JsonValue] | None:
    """Parse one mapping of texts, lists and mappings; None when the text is something else.

    An empty text is an empty mapping. `first_line` is where the text begins in its file.
    Raises SourceError with file:line.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    builder = _Builder(path, first_line)
    try:
        found = builder.document(iter(yaml.parse(text, Loader=loader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = first_line + (mark.line if mark else 0)
        what = getattr(error, "problem", None) or "a character that YAML does not allow"
        raise unreadable(path, line, f"not YAML ({what})", "Mend the YAML.") from error
    if found is None:
        return {}
    return found if isinstance(found, dict) else None


def truth(value: JsonValue, *, default: bool) -> bool:
    """Read a truth value as it is written."""
    return default if value is None else str(value).strip().lower() in TRUE


class _Builder:
    """Makes plain values of the events of a parse."""

    def __init__(self, path: str, first_line: int) -> None:
        self._path = path
        self._first_line = first_line

    def document(self, events: Iterator[Any]) -> JsonValue:
        import yaml

        found: JsonValue = None
        count = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                count += 1
                if count > 1:
                    raise self._refused(event, "more than one YAML document")
                found = self._value(next(events), events, 0)
        return found

    def _value(self, event: Any, events: Iterator[Any], depth: int) -> JsonValue:
        import yaml

        if depth > MAX_DEPTH:
            raise self._refused(event, f"more than {MAX_DEPTH} levels of YAML")
        if isinstance(event, yaml.AliasEvent):
            raise self._refused(event, f"the alias *{event.anchor}")
        if isinstance(event, yaml.ScalarEvent):
            return None if event.implicit[0] and event.value in NULLS else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[JsonValue] = []
            while not isinstance(inner := next(events), yaml.SequenceEndEvent):
                items.append(self._value(inner, events, depth + 1))
            return items
        pairs: dict[str, JsonValue] = {}
        while not isinstance(inner := next(events), yaml.MappingEndEvent):
            if not isinstance(inner, yaml.ScalarEvent):
                raise self._refused(inner, "a key that is no text")
            if inner.value in pairs:
                raise self._refused(inner, f"the key {inner.value!r} is there twice")
            pairs[inner.value] = self._value(next(events), events, depth + 1)
        return pairs

    def _refused(self, event: Any, what: str) -> Exception:
        return unreadable(self._path, self._first_line + event.start_mark.line, what, "Write it without.")
