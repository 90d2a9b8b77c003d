"""The endpoints that may be read by their path: GET templates of Jama's REST API v1.

From the specification that Jama serves at `/rest/v1/api-docs`, with the two parameters that are
younger than the copy in hand (`lastId`, `includeWildcard`). Left out on purpose: what answers with
the bytes of a file (`/attachments/{attachmentId}/file`, and `/files`, which takes any address), and
the settings of the system.
"""

import re
from typing import NamedTuple

PAGING = ("startAt", "maxResults")

# A line each: the template, `*` for a list, and the parameters it takes besides those of paging;
# an indented line continues the one before.
_TEMPLATES = """
/abstractitems * project itemType documentKey release createdDate modifiedDate lastActivityDate
  contains sortBy includeWildcard
/abstractitems/{id}
/abstractitems/{id}/versionedrelationships * timestamp
/abstractitems/{id}/versions *
/abstractitems/{id}/versions/{versionNum}
/abstractitems/{id}/versions/{versionNum}/versioneditem
/activities * project eventType objectType itemType date deleteEvents
/activities/{activityId}
/activities/{activityId}/affecteditems *
/attachments/{attachmentId}
/attachments/{attachmentId}/comments * rootCommentsOnly
/attachments/{attachmentId}/lock
/attachments/{attachmentId}/versions *
/attachments/{attachmentId}/versions/{versionNum}
/attachments/{attachmentId}/versions/{versionNum}/versioneditem
/baselines * project
/baselines/{baselineId}
/baselines/{baselineId}/versioneditems *
/baselines/{baselineId}/versioneditems/{itemId}
/baselines/{baselineId}/versioneditems/{itemId}/versionedrelationships *
/comments * rootCommentsOnly
/comments/{id}
/comments/{id}/replies *
/filters * project author filterScope
/filters/{filterId}
/filters/{filterId}/results * project lastActivityDate
/items * project rootOnly
/items/{id}
/items/{id}/activities *
/items/{id}/attachments *
/items/{id}/children *
/items/{id}/comments * rootCommentsOnly
/items/{id}/downstreamrelated *
/items/{id}/downstreamrelationships *
/items/{id}/links *
/items/{id}/links/{linkId}
/items/{id}/location
/items/{id}/lock
/items/{id}/parent
/items/{id}/synceditems *
/items/{id}/synceditems/{syncedItemId}/syncstatus
/items/{id}/tags *
/items/{id}/tags/{tagId}
/items/{id}/upstreamrelated *
/items/{id}/upstreamrelationships *
/items/{id}/versions *
/items/{id}/versions/{versionNum}
/items/{id}/versions/{versionNum}/versioneditem
/items/{id}/workflowtransitionoptions *
/itemtypes *
/itemtypes/{itemTypeId}
/picklistoptions/{picklistOptionId}
/picklists *
/picklists/{picklistId}
/picklists/{picklistId}/options *
/projects *
/projects/{projectId}
/projects/{projectId}/itemtypes *
/projects/{projectId}/tags *
/relationships * project lastId
/relationships/{relationshipId}
/relationshiptypes *
/relationshiptypes/{id} timestamp
/releases * project
/releases/{releaseId}
/tags * project
/tags/{id}
/tags/{id}/items *
/testcycles/{testCycleId}
/testcycles/{testCycleId}/testgroup/{testGroupId}
/testcycles/{testCycleId}/testruns *
/testcycles/{testCycleId}/versions *
/testcycles/{testCycleId}/versions/{versionNum}
/testcycles/{testCycleId}/versions/{versionNum}/versioneditem
/testplans * project
/testplans/{id}
/testplans/{id}/activities *
/testplans/{id}/attachments *
/testplans/{id}/comments * rootCommentsOnly
/testplans/{id}/downstreamrelated *
/testplans/{id}/downstreamrelationships *
/testplans/{id}/links *
/testplans/{id}/links/{linkId}
/testplans/{id}/lock
/testplans/{id}/tags *
/testplans/{id}/tags/{tagId}
/testplans/{id}/testcycles *
/testplans/{id}/testgroups *
/testplans/{id}/testgroups/{testGroupId}
/testplans/{id}/testgroups/{testGroupId}/testcases *
/testplans/{id}/testgroups/{testGroupId}/testcases/{testCaseId}
/testplans/{id}/upstreamrelated *
/testplans/{id}/upstreamrelationships *
/testplans/{id}/versions *
/testplans/{id}/versions/{versionNum}
/testplans/{id}/versions/{versionNum}/versioneditem
/testruns * testCycle testCase testPlan sortBy
/testruns/{id}
/testruns/{id}/activities *
/testruns/{id}/attachments *
/testruns/{id}/comments * rootCommentsOnly
/testruns/{id}/downstreamrelated *
/testruns/{id}/downstreamrelationships *
/testruns/{id}/links *
/testruns/{id}/links/{linkId}
/testruns/{id}/lock
/testruns/{id}/tags *
/testruns/{id}/tags/{tagId}
/testruns/{id}/upstreamrelated *
/testruns/{id}/upstreamrelationships *
/testruns/{id}/versions *
/testruns/{id}/versions/{versionNum}
/testruns/{id}/versions/{versionNum}/versioneditem
/usergroups * project
/usergroups/{id}
/usergroups/{id}/users *
/users * username email firstName lastName licenseType includeInactive
/users/current
/users/current/favoritefilters *
/users/{userId}
"""


class Endpoint(NamedTuple):
    """One GET template: `is_list` answers page by page, `params` are the parameters that it takes."""

    template: str
    is_list: bool
    params: tuple[str, ...]


def _read(text: str) -> Endpoint:
    template, *words = text.split()
    is_list = "*" in words
    params = [word for word in words if word != "*"]
    return Endpoint(template, is_list, (*params, *(PAGING if is_list else ())))


ALLOWED = {endpoint.template: endpoint for endpoint in map(_read, _TEMPLATES.replace("\n ", "").strip().splitlines())}
"""The endpoints by template, such as `/items/{id}/children`."""

_BY_SHAPE = {re.sub(r"\{\w+\}", "{}", template): endpoint for template, endpoint in ALLOWED.items()}


def endpoint_of(path: str) -> Endpoint | None:
    """Return the endpoint that a path with ASCII numbers for ids belongs to, or None."""
    return _BY_SHAPE.get(re.sub(r"(?<=/)[0-9]{1,18}(?=/|\Z)", "{}", path)) if "{" not in path else None
