"""XML to a tree, safely: no entity is resolved, nothing is fetched, names carry no namespaces.

libxml2's own limits stay on: 256 levels, 10 MB in one text or attribute, no amplification by entities.
"""

import re
from typing import Any, TypeAlias

from reqall import SourceError

Element: TypeAlias = Any
"""An element of lxml, which has no type annotations of its own."""

_WRONGLY_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"'](?:utf-?16|ucs-?2|unicode)", re.IGNORECASE)
_OLD_ROOTS = frozenset({"RIF", "RIF-CONTENT"})


def parse(data: bytes, place: str) -> Element:
    """Return the root of a ReqIF text, in any encoding that it declares. Raises SourceError with file:line."""
    from lxml import etree

    # A text that can be read as ASCII is not in the UTF-16 that it declares: a tool has recoded it.
    encoding = "utf-8" if _WRONGLY_DECLARED.match(data) else None
    parser = etree.XMLParser(
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        reason = str(error.msg).partition(", line")[0]
        raise SourceError(
            f"{place}:{error.lineno}: not readable as XML ({reason})", "Export the file again."
        ) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise SourceError(
            f"{place}: has a document type declaration (DOCTYPE), which ReqIF does not have",
            "Remove the declaration: it may bring in other files, or entities that grow without bounds.",
        )
    _strip_namespaces(root)
    if root.tag != "REQ-IF":
        old = root.tag in _OLD_ROOTS
        reason = "RIF, the predecessor of ReqIF," if old else f"<{root.tag}>, not <REQ-IF>,"
        raise SourceError(f"{place}:{root.sourceline}: {reason} is its content", "Export it as ReqIF 1.0 or later.")
    return root


def _strip_namespaces(root: Element) -> None:
    """Leave local names: exporters bind ReqIF and XHTML to prefixes of their own, or to none."""
    from lxml import etree

    for element in root.iter():
        if "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if "}" in name]:
            del element.attrib[name]
    etree.cleanup_namespaces(root)
