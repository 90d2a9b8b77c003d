"""What keys mean, wherever they stand: in front matter, below a heading, in {...} behind it.

Keys are compared without regard to case, blanks, `-` and `_`. What is no known key stays: a text is a
section, any other value a field.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reqall import JsonValue
from reqall.plugins.sources.folder.entry import Trace, is_prose, time_of

_NOUNS: Mapping[str, str] = {
    **dict.fromkeys(("id", "key", "uid", "identifier", "hrid"), "uid"),
    **dict.fromkeys(("title", "name"), "name"),
    **dict.fromkeys(("type", "itemtype", "kind"), "type"),
    **dict.fromkeys(("status", "state"), "status"),
    **dict.fromkeys(("created", "date"), "created"),
    **dict.fromkeys(("modified", "updated", "lastmodified", "lastupdated"), "modified"),
}
_TEXTS = frozenset({"statement", "rationale", "comment", "description", "text"})
_DIVIDERS = re.compile(r"[\s,;]+")
_TARGET_KEYS = ("id", "uid", "key", "hrid")


def folded(key: str) -> str:
    """Return a key as keys are compared."""
    return re.sub(r"[\s_-]+", "", key).casefold()


@dataclass(frozen=True, slots=True)
class LinkRoles:
    """Which keys hold links, and where their targets are; a key in both is downstream."""

    upstream: frozenset[str]
    downstream: frozenset[str]

    @classmethod
    def of(cls, upstream: Collection[str], downstream: Collection[str]) -> "LinkRoles":
        """Take the keys as they are written."""
        return cls(frozenset(map(folded, upstream)), frozenset(map(folded, downstream)))

    def points_upstream(self, key: str) -> bool | None:
        """Tell the direction of a key's targets; None when it holds no links."""
        name = folded(key)
        if name in self.downstream:
            return False
        return True if name in self.upstream else None


@dataclass(slots=True)
class Attributes:
    """What a mapping of keys says about an entry."""

    nouns: dict[str, str] = field(default_factory=dict)
    times: dict[str, datetime] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)
    fields: dict[str, JsonValue] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)


def read_attributes(values: Mapping[str, JsonValue], roles: LinkRoles) -> Attributes:
    """Sort the values; empty ones are left out. Of two keys with one meaning the first counts, the other stays."""
    found = Attributes()
    for key, value in values.items():
        upstream, noun = roles.points_upstream(key), _NOUNS.get(folded(key), "")
        if value is None or value in ("", [], {}):
            continue
        if upstream is not None:
            found.traces += _links(key, value, roles, upstream=upstream)
            found.fields[key] = value  # an id that no file has stays visible here
        elif folded(key) == "relations" and isinstance(value, list):
            found.traces += _relations(value)
            found.fields[key] = value
        elif noun in ("created", "modified") and (time := time_of(value)) and noun not in found.times:
            found.times[noun] = time
        elif noun in ("uid", "name", "type", "status") and noun not in found.nouns and isinstance(value, str):
            found.nouns[noun] = " ".join(value.split())
        elif isinstance(value, str) and (folded(key) in _TEXTS or is_prose(value)):
            join_section(found.sections, key.lower(), value.strip())
        else:
            found.fields[key] = value
    return found


def _links(key: str, value: JsonValue, roles: LinkRoles, *, upstream: bool) -> Iterator[Trace]:
    """Read ids from a text, a list, or a mapping from kinds of links to either."""
    if isinstance(value, dict):
        for kind, inner in value.items():
            own = roles.points_upstream(kind)
            yield from _links(kind, inner, roles, upstream=upstream if own is None else own)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _mapped(key, item, upstream=upstream)
            else:
                yield from _links(key, item, roles, upstream=upstream)
    elif value is not None:
        for target in _DIVIDERS.split(str(value).strip(" []")):
            if target.strip("[]"):
                yield Trace(target.strip("[]"), key, upstream)


def _mapped(key: str, item: Mapping[str, JsonValue], *, upstream: bool) -> Iterator[Trace]:
    """Read `{id: REQ-1, type: refines}`, or `{REQ-1: fingerprint}` as Doorstop writes it."""
    by_name = {folded(name): value for name, value in item.items()}
    targets = [by_name[name] for name in _TARGET_KEYS if by_name.get(name)] or list(item)
    if targets:
        yield Trace(str(targets[0]), str(by_name.get("type") or by_name.get("role") or key), upstream)


def join_section(sections: dict[str, str], name: str, text: str) -> None:
    """Add a text to a section; two of one name become one."""
    sections[name] = "\n\n".join(filter(None, [sections.get(name, ""), text]))


def _relations(value: list[JsonValue]) -> Iterator[Trace]:
    """Read StrictDoc's relations in Markdown: a list of mappings with Type, ID and Role."""
    for item in value:
        by_name = {folded(name): inner for name, inner in item.items()} if isinstance(item, dict) else {}
        kind, target = str(by_name.get("type", "")).casefold(), str(by_name.get("id") or "")
        if kind in ("parent", "child") and target:
            yield Trace(target, str(by_name.get("role") or by_name["type"]), upstream=kind == "parent")
