"""What a reranker reads of a document: name, path and best text, without markup and control characters.

Sources give clean text; what slipped through would be read by a model as if it said something.
"""

import re

from reqall.core.types import Document, Passage

_TAGS = (
    "a abbr b big blockquote body br caption center cite code col colgroup dd del div dl dt em font h[1-6] head hr "
    "html i img ins kbd li mark ol p pre q s samp script small span strike strong style sub sup table tbody td tfoot "
    "th thead tr tt u ul var"
).replace(" ", "|")
_MARKUP = re.compile(rf"<!--.*?-->|&nbsp;|</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE | re.DOTALL)
"""Elements of HTML by their names: `<x>` or `a < b` may be the text itself."""

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters without a shape or a meaning; those that join letters (U+200C, U+200D) belong to words."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\s]*")


def passage_of(document: Document, text: str) -> Passage:
    """Make the passage of a document: path and name on the first line, then the text."""
    name = clean(document.name)
    place = " > ".join(part for part in (*map(clean, document.path), name) if part)
    return Passage(document.id, "\n".join(part for part in (place, clean(text)) if part), name)


def clean(text: str) -> str:
    """Remove markup and what cannot be seen; blanks and line ends are single."""
    visible = _INVISIBLE.sub("", _MARKUP.sub(" ", text))
    return _LINES.sub("\n", _BLANKS.sub(" ", _CONTROL.sub(" ", visible))).strip()
