"""What the native tools return of a project, and of Jama as a whole."""

from pydantic import Field

from reqall.plugins.sources.jama.tools.results import ItemRow, Listing, Result


class ReleaseRow(Result):
    """One release."""

    release_id: str = Field(description="Id")
    name: str = Field(description="Name")
    description: str = Field(description="Description")
    date: str = Field(description="Release date")
    active: bool = Field(description="In use")
    archived: bool = Field(description="Archived")
    items: int = Field(description="Item count")


class ReleaseList(Listing):
    """The releases of a project."""

    releases: list[ReleaseRow] = Field(description="Releases")


class TestRunRow(ItemRow):
    """One test run."""

    test_case_id: str = Field(description="Its test case")
    outdated: bool = Field(description="Test case has changed since")
    executed: str = Field(description="Date of execution")
    tester: str = Field(description="Assigned to")
    cycle: str = Field(description="Cycle name")
    plan: str = Field(description="Plan name")


class TestRunList(Listing):
    """Test runs."""

    test_runs: list[TestRunRow] = Field(description="Runs")


class ItemTypeRow(Result):
    """One item type."""

    type_id: str = Field(description="Id")
    name: str = Field(description="Name")
    key: str = Field(description="Key")
    category: str = Field(description="CORE, SET, TEST_CASE ...")
    fields: list[str] = Field(description="As name: label (kind: choices)")


class ItemTypeList(Listing):
    """Item types with their fields."""

    item_types: list[ItemTypeRow] = Field(description="Types")


class TagRow(Result):
    """One tag."""

    tag_id: str = Field(description="Id")
    name: str = Field(description="Name")


class TagList(Listing):
    """The tags of a project."""

    tags: list[TagRow] = Field(description="Tags")


class BaselineRow(Result):
    """One baseline."""

    baseline_id: str = Field(description="Id")
    name: str = Field(description="Name")
    description: str = Field(description="Description")
    created: str = Field(description="UTC")
    author: str = Field(description="Who made it")


class BaselineList(Listing):
    """The baselines of a project."""

    baselines: list[BaselineRow] = Field(description="Baselines")


class UserRow(Result):
    """One user."""

    user_id: str = Field(description="Id")
    name: str = Field(description="First and last name")
    username: str = Field(description="Login name")
    email: str = Field(description="Address")
    active: bool = Field(description="May log in")


class UserList(Listing):
    """Users."""

    users: list[UserRow] = Field(description="Users")


class EndpointResult(Result):
    """What an endpoint answered."""

    rows: list[dict[str, str]] = Field(description="Flat objects, empty values left out")
    total: int = Field(description="In all; -1: unknown")
    returned: int = Field(description="In this answer")
    next: str = Field(description="Parameter of the next page, such as startAt=50")
    truncated: bool = Field(description="Rows are missing or texts are cut")
    note: str = Field(description="Remark")
