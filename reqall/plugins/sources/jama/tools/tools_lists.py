"""The tools that list what a project, or Jama as a whole, has."""

from reqall import SourceTool
from reqall.plugins.sources.jama.tools.arguments import (
    Exact,
    ItemId,
    Name,
    NextPage,
    ProjectId,
    TestCycleId,
)
from reqall.plugins.sources.jama.tools.results import LinkList, ProjectList
from reqall.plugins.sources.jama.tools.results_lists import (
    BaselineList,
    ItemTypeList,
    ReleaseList,
    TagList,
    TestRunList,
    UserList,
)
from reqall.plugins.sources.jama.tools.telling import BuildSource, told


def list_tools(name: str, source: BuildSource) -> list[SourceTool]:
    """Return the tools about projects, types and people."""
    tools = (_projects, _find_project, _types, _find_type, _links, _runs, _releases, _tags, _baselines, _users)
    return [tool(name, source) for tool in tools]


def _projects(name: str, source: BuildSource) -> SourceTool:
    def call(*, cursor: NextPage = "") -> ProjectList:
        from reqall.plugins.sources.jama.tools.browse import list_projects

        return list_projects(source(), cursor)

    return SourceTool(
        name=f"list_{name}_projects",
        title="List projects",
        description=(
            "List all projects that you may see, by name, with id and key. With a name in hand use "
            f"find_{name}_project_by_name."
        ),
        call=call,
        summary=told,
        lean=True,
    )


def _find_project(name: str, source: BuildSource) -> SourceTool:
    # `name` is both the source's name out here and the argument in there.
    def call(name: Name, *, exact: Exact = False, cursor: NextPage = "") -> ProjectList:
        from reqall.plugins.sources.jama.tools.browse import find_projects

        return find_projects(source(), name, exact=exact, cursor=cursor)

    return SourceTool(
        name=f"find_{name}_project_by_name",
        title="Find a project",
        description='Find projects by name or key, the best match first. Example: {"name": "smart alarm"}',
        call=call,
        summary=told,
    )


def _types(name: str, source: BuildSource) -> SourceTool:
    def call(*, project_id: ProjectId = "", cursor: NextPage = "") -> ItemTypeList:
        from reqall.plugins.sources.jama.tools.browse_types import list_item_types

        return list_item_types(source(), project_id, cursor)

    return SourceTool(
        name=f"list_{name}_item_types",
        title="List item types",
        description='List item types and their fields, all or those of a project. Example: {"project_id": "SA"}',
        call=call,
        summary=told,
    )


def _find_type(name: str, source: BuildSource) -> SourceTool:
    def call(name: Name, *, cursor: NextPage = "") -> ItemTypeList:
        from reqall.plugins.sources.jama.tools.browse_types import find_item_types

        return find_item_types(source(), name, cursor)

    return SourceTool(
        name=f"find_{name}_item_type_by_name",
        title="Find an item type",
        description=(
            "Find an item type by name or key; of a single match also the choices of its fields, such as the "
            'possible statuses. Example: {"name": "Test Case"}'
        ),
        call=call,
        summary=told,
    )


def _links(name: str, source: BuildSource) -> SourceTool:
    def call(project_id: ProjectId, *, item_id: ItemId = "", cursor: NextPage = "") -> LinkList:
        from reqall.plugins.sources.jama.tools.browse_links import list_project_links

        return list_project_links(source(), project_id, item_id, cursor)

    return SourceTool(
        name=f"list_{name}_project_relationships",
        title="Relationships of a project",
        description=(
            "List who is linked to whom in a project, from upstream to downstream, or only the links of one item. "
            f'To trace one item use get_{name}_item_relationships. Example: {{"project_id": "SA"}}'
        ),
        call=call,
        summary=told,
    )


def _runs(name: str, source: BuildSource) -> SourceTool:
    def call(*, project_id: ProjectId = "", test_cycle_id: TestCycleId = "", cursor: NextPage = "") -> TestRunList:
        from reqall.plugins.sources.jama.tools.browse_runs import list_test_runs

        return list_test_runs(source(), project_id, test_cycle_id, cursor)

    return SourceTool(
        name=f"list_{name}_test_runs",
        title="List test runs",
        description=(
            "List test runs with result, test case and tester, of one test cycle or of a whole project. "
            'Example: {"project_id": "SA"}'
        ),
        call=call,
        summary=told,
    )


def _releases(name: str, source: BuildSource) -> SourceTool:
    def call(project_id: ProjectId, *, cursor: NextPage = "") -> ReleaseList:
        from reqall.plugins.sources.jama.tools.browse_lists import list_releases

        return list_releases(source(), project_id, cursor)

    return SourceTool(
        name=f"list_{name}_releases",
        title="List releases",
        description='List the releases of a project. Example: {"project_id": "SA"}',
        call=call,
        summary=told,
    )


def _tags(name: str, source: BuildSource) -> SourceTool:
    def call(project_id: ProjectId, *, cursor: NextPage = "") -> TagList:
        from reqall.plugins.sources.jama.tools.browse_lists import list_tags

        return list_tags(source(), project_id, cursor)

    return SourceTool(
        name=f"list_{name}_tags",
        title="List tags",
        description=(
            f"List the tags of a project. A tag's items: query_{name}_endpoint with /tags/{{id}}/items. "
            'Example: {"project_id": "SA"}'
        ),
        call=call,
        summary=told,
    )


def _baselines(name: str, source: BuildSource) -> SourceTool:
    def call(project_id: ProjectId, *, cursor: NextPage = "") -> BaselineList:
        from reqall.plugins.sources.jama.tools.browse_lists import list_baselines

        return list_baselines(source(), project_id, cursor)

    return SourceTool(
        name=f"list_{name}_baselines",
        title="List baselines",
        description='List the baselines (frozen states) of a project. Example: {"project_id": "SA"}',
        call=call,
        summary=told,
    )


def _users(name: str, source: BuildSource) -> SourceTool:
    def call(*, cursor: NextPage = "") -> UserList:
        from reqall.plugins.sources.jama.tools.browse_lists import list_users

        return list_users(source(), cursor)

    return SourceTool(
        name=f"list_{name}_users",
        title="List users",
        description="List the people who use Jama.",
        call=call,
        summary=told,
    )
