"""Values of attributes as JSON has them, and times in UTC."""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from reqall import JsonValue
from reqall_reqif.reading.dialect_values import FILES
from reqall_reqif.reading.exchange import Definition, Value
from reqall_reqif.reading.xhtml import plain_text

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}

Labels = Mapping[str, str]
"""Labels of enumeration values by their IDENTIFIERs."""


def value_of(attribute: Any, definition: Definition, labels: Labels) -> Value:
    """Return what a SpecObjectAttribute of the library says.

    Numbers, truth values and dates that are none stay the text that they are; a reference to an
    enumeration value that is not defined stays a reference.
    """
    kind = attribute.attribute_type.name
    if kind == "XHTML":
        flat = attribute.xml_node.find("THE-VALUE")
        return Value(definition, flat.text or "", tuple(flat.get(FILES).splitlines()))
    if kind == "ENUMERATION":
        chosen: list[JsonValue] = [labels.get(each, each) for each in attribute.value]
        single = len(chosen) == 1 and not definition.multiple
        return Value(definition, chosen[0] if single else chosen)
    return Value(definition, _scalar(kind, plain_text(attribute.value)))


def time_of(text: str | None) -> datetime | None:
    """Read an xsd:dateTime, in UTC where it names no zone; None for anything else."""
    try:
        time = datetime.fromisoformat((text or "").strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def told(content: JsonValue) -> str:
    """Return a value as text: a list divided by commas, truth in small letters."""
    if isinstance(content, list):
        return ", ".join(map(told, content))
    if isinstance(content, bool):
        return str(content).lower()
    return "" if content is None else str(content)


def _scalar(kind: str, text: str) -> JsonValue:
    if kind == "BOOLEAN":
        return _TRUTHS.get(text.lower(), text)
    if kind == "DATE":
        return _date(text)
    if kind in ("INTEGER", "REAL") and "_" not in text:  # Python reads 1_000 as a number, XML Schema does not
        try:
            number = int(text) if kind == "INTEGER" else float(text)
        except ValueError:
            return text
        return number if math.isfinite(number) else text
    return text


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        time = time_of(text)
        return time.isoformat() if time else text
