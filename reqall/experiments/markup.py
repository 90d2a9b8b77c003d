"""HTML and SVG from elements: whatever is not an element is escaped, so no text can become markup."""

from html import escape


class Markup(str):
    """Text that is markup already; made by `element` and `joined` alone."""

    __slots__ = ()


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element. `class_` is written class, `stroke_width` stroke-width; None leaves an attribute out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Join elements and texts; texts are escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(str(child)) for child in children))


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
