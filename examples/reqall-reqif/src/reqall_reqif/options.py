"""The options of the source `reqif`."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from reqall import PluginOptions


def _listed(value: Any) -> Any:
    """Accept one name in the place of a list of names."""
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Names of attributes, tried in this order: LONG-NAME or IDENTIFIER of the definition, in any case."""


class ReqifOptions(PluginOptions):
    """Where the files are, and which attributes play which part in a document."""

    path: Path = Field(
        description="A .reqif or .reqifz file, or a folder that is searched for them, with all below it."
    )
    key_attributes: Names = Field(
        default=(
            *("Object Identifier", "ReqIF.ForeignID", "IE PUID", "PUID", "UID", "ID", "Requirement ID", "Item ID"),
            *("Key", "Identifier"),
        ),
        description="Attributes that hold the key; the first with a value counts, else the IDENTIFIER.",
    )
    name_attributes: Names = Field(
        default=("ReqIF.Name", "ReqIF.ChapterName", "Object Heading", "Object Short Text", "Title", "Name", "Summary"),
        description="Attributes that hold the name; the first with a value counts, else LONG-NAME or the text.",
    )
    text_attributes: Names = Field(
        default=(
            *("ReqIF.Text", "Object Text", "Primary Text", "ReqIF.Description", "Description", "Statement"),
            *("Requirement Text", "Text"),
        ),
        description="Attributes that hold the text; the first with a value is the section `description`.",
    )
    status_attributes: Names = Field(
        default=("Status", "ReqIF.ForeignState", "State", "Workflow State", "Document Status"),
        description="Attributes that hold the status; the first with a value counts.",
    )
    section_attributes: Names = Field(
        default=("Rationale", "Comment", "Comments", "Notes", "ReqIF.FitCriteria", "Acceptance Criteria"),
        description="Further attributes whose text is searchable, beside all of the kind XHTML.",
    )
    identity: Literal["identifier", "key"] = Field(
        default="identifier",
        description="What stays the same in every export: the IDENTIFIER, or the key where IDENTIFIERs are made anew.",
    )
    upstream: Literal["target", "source"] = Field(
        default="target",
        description="Which end of a SPEC-RELATION is upstream: a link `satisfies` has what is satisfied as its target.",
    )
    page_size: int = Field(default=500, ge=1, description="Documents per page of a walk.")
    largest_file: int = Field(default=512, ge=1, description="Megabytes that one file may have, unpacked.")
