"""Which endpoints of Jama each native tool reads: for the reference, and for whoever grants permissions.

Names of tools without the source's name (`get_item` for `get_jama_item`); templates as in Jama's
specification. What is asked once and kept, such as the item types, is listed with every tool that
may be the first to need it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from reqall.plugins.sources.jama.tools.endpoint_table import ALLOWED

_PROJECT = ("/projects",)
_ITEM = ("/abstractitems", "/abstractitems/{id}")
_TYPE = ("/itemtypes",)
_STATUS = ("/picklists/{picklistId}/options", "/picklistoptions/{picklistOptionId}")
_ROWS = (*_TYPE, *_STATUS)
_PEOPLE = ("/users",)
_LINKS = ("/relationshiptypes",)


def _of(part: str, *kinds: str) -> tuple[str, ...]:
    return tuple(f"/{kind}/{{id}}/{part}" for kind in kinds)


_AROUND = tuple(
    template
    for direction in ("upstream", "downstream")
    for part in ("relationships", "related")
    for template in _of(f"{direction}{part}", "items", "testplans", "testruns")
)

ENDPOINTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query_native_metadata": (
            *_PROJECT,
            *_ROWS,
            "/abstractitems",
            "/projects/{projectId}/itemtypes",
            "/releases",
        ),
        "list_projects": _PROJECT,
        "find_project_by_name": _PROJECT,
        "list_item_types": (*_PROJECT, *_TYPE, "/projects/{projectId}/itemtypes"),
        "find_item_type_by_name": (*_TYPE, "/picklists/{picklistId}/options"),
        "list_project_relationships": (*_PROJECT, *_ITEM, *_TYPE, *_LINKS, "/relationships", *_AROUND),
        "list_test_runs": (
            *_PROJECT,
            *_ITEM,
            *_ROWS,
            *_PEOPLE,
            "/testplans",
            "/testplans/{id}",
            "/testplans/{id}/testcycles",
            "/testcycles/{testCycleId}/testruns",
        ),
        "list_releases": (*_PROJECT, "/releases"),
        "list_tags": (*_PROJECT, "/tags"),
        "list_baselines": (*_PROJECT, *_PEOPLE, "/baselines"),
        "list_users": (*_PROJECT, *_PEOPLE),
        "get_item": (*_ITEM, *_ROWS, *_PEOPLE, "/releases"),
        "get_item_children": (*_ITEM, *_ROWS, "/items/{id}/children"),
        "get_item_relationships": (*_ITEM, *_ROWS, *_LINKS, *_AROUND),
        "get_item_comments": (
            *_ITEM,
            *_TYPE,
            *_PEOPLE,
            *_of("comments", "items", "testplans", "testruns"),
            "/attachments/{attachmentId}/comments",
        ),
        "get_item_attachments": (
            *_ITEM,
            *_TYPE,
            *_PEOPLE,
            *_of("attachments", "items", "testplans", "testruns"),
        ),
        "get_item_versions": (*_ITEM, *_PEOPLE, "/abstractitems/{id}/versions"),
        "get_synchronized_items": (
            *_ITEM,
            *_ROWS,
            "/items/{id}/synceditems",
            "/items/{id}/synceditems/{syncedItemId}/syncstatus",
        ),
        "query_endpoint": tuple(ALLOWED),
    }
)
"""Templates of the endpoints by the base name of the tool that reads them."""
