"""The native tools of a Jama source: they ask Jama itself and need no index.

They are listed before any source is built, so what asks Jama is imported with the first call. A
name carries the source's configured name: `get_item` is published as `get_jama_item`.
"""

from reqall import SourceTool
from reqall.plugins.sources.jama.tools.arguments import (
    AllPages,
    DocumentKey,
    EndpointParams,
    EndpointPath,
    ItemTypeName,
    Keyword,
    ModifiedAfter,
    ModifiedBefore,
    NextPage,
    ProjectId,
    Release,
    Status,
)
from reqall.plugins.sources.jama.tools.results import QueryResult
from reqall.plugins.sources.jama.tools.results_lists import EndpointResult
from reqall.plugins.sources.jama.tools.telling import BuildSource, told
from reqall.plugins.sources.jama.tools.tools_items import item_tools
from reqall.plugins.sources.jama.tools.tools_lists import list_tools


def native_tools(name: str, source: BuildSource) -> list[SourceTool]:
    """Return the tools of the source with this configured name; `source` builds it when one is called."""
    return [
        _query_metadata(name, source),
        *list_tools(name, source),
        *item_tools(name, source),
        _query_endpoint(name, source),
    ]


def _query_metadata(name: str, source: BuildSource) -> SourceTool:
    def call(
        project_id: ProjectId,
        *,
        document_key: DocumentKey = "",
        item_type: ItemTypeName = "",
        status: Status = "",
        keyword: Keyword = "",
        release: Release = "",
        modified_after: ModifiedAfter = "",
        modified_before: ModifiedBefore = "",
        cursor: NextPage = "",
    ) -> QueryResult:
        from reqall.plugins.sources.jama.tools.metadata import MetadataQuery, query_metadata

        query = MetadataQuery(
            project_id, document_key, item_type, status, keyword, release, modified_after, modified_before
        )
        return query_metadata(source(), query, cursor)

    return SourceTool(
        name=f"query_{name}_native_metadata",
        title="Query metadata",
        description=(
            "List the items of a project that meet exact conditions, all of them together, asked live; 20 per answer. "
            "For complete lists and counts; by meaning, or in your own words, use "
            f"search_{name}_semantics. "
            'Example: {"project_id": "SA", "item_type": "Test Case", "status": "Approved"}'
        ),
        call=call,
        summary=told,
        toolset="search",
        lean=True,
    )


def _query_endpoint(name: str, source: BuildSource) -> SourceTool:
    def call(path: EndpointPath, params: EndpointParams = {}, *, all_pages: AllPages = False) -> EndpointResult:  # noqa: B006 - never changed; a default that hosts can read in the schema
        from reqall.plugins.sources.jama.tools.endpoint import read_endpoint

        return read_endpoint(source(), path, params, all_pages=all_pages)

    return SourceTool(
        name=f"query_{name}_endpoint",
        title="Read an endpoint",
        description=(
            "Read a GET endpoint of Jama's REST API that no other tool covers, such as /filters/{id}/results, "
            "/items/{id}/activities, /items?rootOnly, /testplans/{id}/testgroups, /baselines/{id}/versioneditems. "
            'Example: {"path": "/items", "params": {"project": "SA", "rootOnly": "true"}}'
        ),
        call=call,
        summary=told,
    )
