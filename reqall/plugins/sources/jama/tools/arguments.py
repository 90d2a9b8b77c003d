"""The arguments of the native tools, as a language model sees them: plain text, ids also as numbers."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field


def _as_text(value: object) -> str:
    """Accept an id as number or text, and null for what is left out."""
    return "" if value is None else str(value)


def _as_texts(value: object) -> Any:
    """Accept numbers, booleans and lists among the values, and null for none."""
    if not isinstance(value, dict):
        return {} if value is None else value
    return {name: _joined(each) for name, each in value.items() if each is not None}


def _joined(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_joined, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


_Text = BeforeValidator(_as_text)

ProjectId = Annotated[str, _Text, Field(description="Project id, key or name")]
ItemId = Annotated[str, _Text, Field(description="Item id or document key")]
TestCycleId = Annotated[str, _Text, Field(description="Test cycle id or key, instead of project_id")]
DocumentKey = Annotated[str, _Text, Field(description="Exact document key, such as SA-TC-7")]
ItemTypeName = Annotated[str, _Text, Field(description="Item type by name, key or id")]
Status = Annotated[str, _Text, Field(description="Status by name or id")]
Keyword = Annotated[str, _Text, Field(description="Word or literal phrase in the item")]
Release = Annotated[str, _Text, Field(description="Release by name or id")]
ModifiedAfter = Annotated[str, _Text, Field(description="Inclusive: 2026-03-01 or 2026-03-01T08:30Z")]
ModifiedBefore = Annotated[str, _Text, Field(description="Inclusive; a date means its whole day")]
Name = Annotated[str, _Text, Field(description="Name or a part of it, or the key")]
Exact = Annotated[bool, Field(description="Only the whole name or key")]
NextPage = Annotated[str, _Text, Field(description="From the last answer")]
EndpointPath = Annotated[str, Field(description="Path below /rest/v1, with ids as numbers: /items/9608/activities")]
EndpointParams = Annotated[
    dict[str, str], BeforeValidator(_as_texts), Field(description='Query parameters: {"project": "SA"}')
]
AllPages = Annotated[bool, Field(description="Read on to the end, up to 500 rows")]
