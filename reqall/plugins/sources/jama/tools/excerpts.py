"""Texts of Jama as tools hand them out: nothing invisible in them, and never longer than agreed."""

from reqall.plugins.sources.jama.text.html import html_text, plain_text

MOST_IN_LIST = 2_000
"""Characters of one text in a list."""

MOST_IN_ITEM = 20_000
"""Characters of all texts of one item."""

MOST_IN_LINE = 300
"""Characters of a name; Jama itself allows 255."""


def line(value: object, most: int = MOST_IN_LINE) -> str:
    """Return a name or another short text in one line; nothing for None."""
    return "" if value is None else excerpt(" ".join(plain_text(str(value)).split()), most)


def excerpt(text: str, most: int = MOST_IN_LIST) -> str:
    """Return the text, or its beginning with a mark that says how much is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()} [cut: {len(text) - most} more characters]"


def rich(value: object) -> str:
    """Return the beginning of a rich text, as plain text; nothing for None."""
    return excerpt(html_text(str(value))) if value else ""


def within(texts: dict[str, str], room: int = MOST_IN_ITEM) -> tuple[dict[str, str], int]:
    """Return texts that together fit into `room` characters, and how much room is left.

    The first ones come first; one for which no room is left keeps its name and a mark.
    """
    kept: dict[str, str] = {}
    for name, text in texts.items():
        kept[name] = excerpt(text, max(0, room)).strip()
        room -= len(text)
    return kept, room
