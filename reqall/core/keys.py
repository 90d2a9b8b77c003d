"""What in a query may be a document's key: exact identifiers are pinned, no ranking decides about them."""

import re

from reqall.core.rows import storable_text

_TOKEN = re.compile(r"[^\s,;:!?()\[\]{}\"'`<>\u00ab\u00bb\u2018-\u201f\u3001-\u3011\uff01-\uff0f\uff1a-\uff1f]+")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")


def key_tokens(text: str) -> dict[str, int]:
    """Map each token, in folded case, to where it stands first.

    In scripts without spaces a key stands between letters: there its ASCII part counts too.
    """
    found = [match for pattern in (_TOKEN, _ASCII_TOKEN) for match in pattern.finditer(text)]
    found.sort(key=lambda match: match.start(), reverse=True)
    return {storable_text(match[0].strip(".")).casefold(): match.start() for match in found}
