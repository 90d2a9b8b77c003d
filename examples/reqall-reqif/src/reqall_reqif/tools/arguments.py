"""The arguments of the browse tools, as a language model sees them: plain text, ids also as numbers."""

from typing import Annotated

from pydantic import BeforeValidator, Field


def _as_text(value: object) -> str:
    """Accept an id as number or text, and null for what is left out."""
    return "" if value is None else str(value)


_Text = BeforeValidator(_as_text)

ObjectId = Annotated[str, _Text, Field(description="Object id, key or IDENTIFIER")]
ObjectOrSpecification = Annotated[str, _Text, Field(description="Object id or key; a specification's for its top")]
SpecificationId = Annotated[str, _Text, Field(description="Specification id, key or name; empty: all")]
NextPage = Annotated[str, _Text, Field(description="From the last answer")]
