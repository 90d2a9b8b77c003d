"""The options of the source `folder`."""

import re
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, field_validator

from reqall import PluginOptions

Format: TypeAlias = Literal["sdoc", "markdown", "doorstop", "needs_json"]

FORMATS: tuple[Format, ...] = ("sdoc", "markdown", "doorstop", "needs_json")

UPSTREAM = (
    *("parent", "parents", "upstream", "links", "trace", "traces", "traces_to", "derives", "derives_from"),
    *("derived_from", "satisfies", "refines", "implements", "verifies", "validates", "tests", "fulfills"),
)
"""Names of links whose target is upstream: a requirement refines, a test verifies what is above it."""

DOWNSTREAM = (
    *("child", "children", "downstream", "satisfied_by", "refined_by", "implemented_by", "verified_by"),
    *("validated_by", "tested_by", "fulfilled_by", "derived_by"),
)
"""Names of links whose target is downstream."""


class FolderOptions(PluginOptions):
    """Which files of which folder are read, and how."""

    path: Path = Field(description="The folder; the source's one project is this folder.")
    name: str = Field("", description="Name of the project and a part of its id; empty: the folder's own name.")
    formats: tuple[Format, ...] = Field(
        FORMATS, min_length=1, description="Formats that are read; files of others are left alone."
    )
    include: tuple[str, ...] = Field(
        (), description="Globs of files or folders to read, relative to path: docs/**, *.sdoc. Empty: all."
    )
    exclude: tuple[str, ...] = Field((), description="Globs of files or folders to leave out, in the same form.")
    max_file_bytes: int = Field(10_000_000, ge=1, description="A larger file is not read, and reported.")
    url_prefix: str = Field(
        "", description="Web address that a file's path is appended to, for links: https://github.com/me/it/blob/main/"
    )
    heading_ids: str = Field(
        r"[A-Z][A-Z0-9]*(?:[-_.][A-Z0-9]+)*[-_.]\d+(?:[-_.][A-Za-z0-9]+)*",
        description="Regular expression of an id at the start of a Markdown heading, or in {#...} behind it.",
    )
    upstream: tuple[str, ...] = Field(
        UPSTREAM, description="Keys of links, in Markdown and needs.json, whose targets are upstream."
    )
    downstream: tuple[str, ...] = Field(
        DOWNSTREAM, description="Keys of links whose targets are downstream; they go before upstream."
    )
    page_size: int = Field(500, ge=1, description="Documents per page of a walk.")

    @field_validator("heading_ids")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return pattern

    @field_validator("url_prefix")
    @classmethod
    def _is_an_address(cls, prefix: str) -> str:
        if prefix and not re.match(r"[a-z][a-z0-9+.-]*://\S+$", prefix):
            raise ValueError("not a whole address: begin with https://")
        return prefix
