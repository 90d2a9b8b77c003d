"""The dialects of attribute definitions and attribute values, made one."""

from reqall_reqif.reading.markup import Element
from reqall_reqif.reading.xhtml import plain_text, xhtml_text

KINDS = ("STRING", "INTEGER", "REAL", "BOOLEAN", "DATE", "ENUMERATION", "XHTML")
"""The seven kinds of attributes of ReqIF."""

FILES = "FILES"
"""The XML attribute of THE-VALUE that holds the names of files, a line for each; no attribute of ReqIF."""

_VALUE = "ATTRIBUTE-VALUE-"
_DEFINITION = "ATTRIBUTE-DEFINITION-"


class Refusal(Exception):  # noqa: N818 - it becomes a SourceError as soon as the file is known
    """An element that is no ReqIF; `line` is where it begins."""

    def __init__(self, element: Element, what: str) -> None:
        super().__init__(what)
        self.line: int = element.sourceline
        self.what = what


def reference(element: Element, wrapper: str, name: str, fallback: str = "") -> str:
    """Make sure that `<wrapper><name>identifier</name></wrapper>` is in the element; the identifier is returned.

    An absent one becomes `fallback`, white space around it goes, and whatever the inner element is
    called, it gets that name.
    """
    outer = element.find(wrapper)
    if outer is None:
        outer = element.makeelement(wrapper)
        element.append(outer)
    inner = next(iter(outer), None)
    if inner is None:
        inner = outer.makeelement(name)
        outer.append(inner)
    inner.tag = name
    inner.text = (inner.text or "").strip() or fallback
    return str(inner.text)


def tidy_definition(definition: Element) -> Element | None:
    """Tidy an ATTRIBUTE-DEFINITION; its default value is taken out and returned, tidied, if it has one."""
    kind = definition.tag.removeprefix(_DEFINITION)
    if not definition.tag.startswith(_DEFINITION) or kind not in KINDS:
        raise Refusal(definition, f"<{definition.tag}> in <SPEC-ATTRIBUTES> is no element of ReqIF")
    definition.set("LONG-NAME", definition.get("LONG-NAME") or "")
    reference(definition, "TYPE", f"DATATYPE-DEFINITION-{kind}-REF")
    default = None
    for outer in definition.findall("DEFAULT-VALUE"):
        definition.remove(outer)
        for value in outer:
            default = value if _tidy_value(value, definition.get("IDENTIFIER")) else default
    return default


def tidy_values(element: Element) -> None:
    """Tidy the VALUES of an element; those that say nothing are removed."""
    for values in element.findall("VALUES"):
        for value in list(values):
            if not _tidy_value(value):
                values.remove(value)


def _tidy_value(value: Element, definition: str = "") -> bool:
    """Tidy one ATTRIBUTE-VALUE; False when there is no value in it."""
    kind = value.tag.removeprefix(_VALUE)
    if not value.tag.startswith(_VALUE) or kind not in KINDS:
        raise Refusal(value, f"<{value.tag}> in <VALUES> is no element of ReqIF")
    if not reference(value, "DEFINITION", f"{_DEFINITION}{kind}-REF", definition):
        raise Refusal(value, f"<{value.tag}> does not say which attribute it is a value of")
    value.insert(0, value.find("DEFINITION"))
    inner = value.find("THE-VALUE")
    if kind == "XHTML":
        return inner is not None and _flatten(inner)
    if kind == "ENUMERATION":
        for choice in value.iterfind("VALUES/*"):
            choice.text = (choice.text or "").strip()
        return True  # no choice is one, too: the default does not take its place
    # RIF, the predecessor, had an element where ReqIF has an attribute.
    if value.get("THE-VALUE") is None and inner is not None:
        value.set("THE-VALUE", inner.text or "")
    return value.get("THE-VALUE") is not None


def unescape(value: Element) -> None:
    r"""Undo what StrictDoc does to strings: line ends and all beyond ASCII are written as in Python (`\n`, `\xe4`)."""
    text = value.get("THE-VALUE") or ""
    if "\\" in text and text.isascii():
        try:
            value.set("THE-VALUE", plain_text(text.encode().decode("unicode_escape")))
        except ValueError:  # it is no such text
            return


def _flatten(rich: Element) -> bool:
    """Leave the plain text of rich text, and the names of its files: the library would copy the whole tree twice."""
    text, files = xhtml_text(rich)
    for child in list(rich):
        rich.remove(child)
    rich.text = text
    rich.set(FILES, "\n".join(files))
    return True
