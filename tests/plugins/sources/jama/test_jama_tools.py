import inspect
from functools import cache
from typing import get_type_hints

import pytest
from pydantic import BaseModel, TypeAdapter, create_model

from reqall import InputError, NotFoundError, ReqallError, SourceUnavailableError
from reqall.plugins.sources import jama as plugin
from reqall.plugins.sources.jama import metadata
from reqall.testing.jama_simulator import JamaSimulator, tiny_project


@pytest.fixture
def tools_of(source_of):
    """List the tools of a source, which is built once and not before it is needed."""

    def build(url, name="jama"):
        (registration,) = plugin.register_sources()
        return registration.tools(name, cache(lambda: source_of(url, name)))

    return build


@pytest.fixture
def tool(tools_of):
    """Find a tool and call it as a server does: through its own annotations."""

    def build(url, name, **arguments):
        (found,) = [each for each in tools_of(url) if each.name == name]
        parameters = inspect.signature(found.call).parameters
        fields = {
            key: (each.annotation, ... if each.default is inspect.Parameter.empty else each.default)
            for key, each in parameters.items()
        }
        checked = create_model("Arguments", **fields)(**arguments)
        return found.call(**dict(checked)), found

    return build


def test_names_carry_the_sources_name(tools_of):
    tools = tools_of("", name="plant")
    assert [(each.name, each.toolset) for each in tools] == [
        ("list_plant_projects", "browse"),
        ("get_plant_item", "browse"),
        ("query_plant_native_metadata", "search"),
    ]
    assert "search_plant_semantics" in tools[1].description


def test_schemas_are_simple_and_described(tools_of):
    for each in tools_of(""):
        result = get_type_hints(each.call)["return"]
        assert issubclass(result, BaseModel)
        text = str(TypeAdapter(result).json_schema())
        assert "anyOf" not in text
        assert all(field.description for field in result.model_fields.values())
        for parameter in inspect.signature(each.call).parameters.values():
            schema = TypeAdapter(parameter.annotation).json_schema()
            assert schema["description"]
            assert schema["type"] in ("string", "integer")


def test_projects(jama, tool):
    result, found = tool(jama.url, "list_jama_projects")
    assert [(row.project_id, row.key, row.name) for row in result.projects] == [
        ("3", "OTH", "Other"),
        ("2", "TNY", "Tiny"),
    ]
    assert result.total == 2
    assert found.summary(result) == "2 projects"


@pytest.mark.parametrize("identifier", [1001, "1001", "jama:1001", "TNY-REQ-1", " tny-req-1 "])
def test_an_item_by_id_or_key(jama, tool, identifier):
    item, found = tool(jama.url, "get_jama_item", item_id=identifier)
    assert (item.item_id, item.key, item.type, item.status) == ("1001", "TNY-REQ-1", "Requirement", "Approved")
    assert (item.project_id, item.parent_id) == ("2", "102")
    assert item.sections == {"description": "The level shall be kept at 1 & shown."}
    assert item.fields["priority"] == "High"
    assert item.fields["assigned"] == "Ada Tiny"
    assert item.created == "2024-01-01T00:01:00Z"
    assert found.summary(item) == "TNY-REQ-1 Volume step 1 (Requirement, Approved)"


@pytest.mark.parametrize("identifier", [106, "TNY-TSTRN-1", 107])
def test_test_objects_and_attachments_are_items_too(jama, tool, identifier):
    item, _ = tool(jama.url, "get_jama_item", item_id=identifier)
    assert item.key in ("TNY-TSTRN-1", "TNY-ATT-1")


@pytest.mark.parametrize("identifier", [999999, "TNY-REQ-999", "TNY"])
def test_an_item_that_is_not_there(jama, tool, identifier):
    with pytest.raises(NotFoundError, match=str(identifier)):
        tool(jama.url, "get_jama_item", item_id=identifier)


def test_no_item_at_all(jama, tool):
    with pytest.raises(InputError, match="no item was given"):
        tool(jama.url, "get_jama_item", item_id=" ")


@pytest.mark.parametrize("project", [2, "2", "jama:2", "tny", "TINY"])
def test_a_query_takes_a_project_by_id_key_or_name(jama, tool, project):
    result, found = tool(jama.url, "query_jama_native_metadata", project_id=project)
    assert result.project_id == "2"
    assert (result.total, result.returned, result.truncated, result.note) == (12, 12, False, "")
    assert found.summary(result) == "12 of 12 items."
    assert not [row for row in result.items if row.type == "Attachment"]


def test_a_query_counts_what_it_does_not_return(jama, tool):
    result, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, max_results=3)
    assert (result.total, result.returned, result.truncated) == (12, 3, True)


@pytest.mark.parametrize("kind", [24, "24", "requirement", "Requirements", "REQ"])
def test_a_query_by_item_type(jama, tool, kind):
    result, _ = tool(jama.url, "query_jama_native_metadata", project_id="TNY", item_type=kind)
    assert [row.key for row in result.items] == [f"TNY-REQ-{n}" for n in range(1, 6)]
    row = result.items[0]
    assert (row.item_id, row.name, row.status, row.modified) == (
        "1001",
        "Volume step 1",
        "Approved",
        "2024-01-01T00:01:00Z",
    )
    assert row.url == f"{jama.url}/perspective.req#/items/1001?projectId=2"


def test_attachments_come_when_asked_for(jama, tool):
    result, _ = tool(jama.url, "query_jama_native_metadata", project_id="TNY", item_type="Attachment")
    assert [row.key for row in result.items] == ["TNY-ATT-1"]
    assert result.total == 1


def test_a_query_by_key_and_keyword(jama, tool):
    by_key, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, document_key="TNY-TC-1")
    assert [row.name for row in by_key.items] == ["Volume up"]
    by_word, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, keyword="kept at 3", document_key=None)
    assert [row.key for row in by_word.items] == ["TNY-REQ-3"]


def test_a_query_by_status_reads_all_and_says_the_truth(tool):
    with JamaSimulator(project=tiny_project(120)) as jama:
        jama.world.edit(1077, status=301)
        one, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, status="retired")
        assert [row.key for row in one.items] == ["TNY-REQ-77"]
        assert (one.total, one.truncated) == (1, False)
        many, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, status="Approved", max_results=10)
        assert (many.total, many.returned, many.truncated, many.note) == (119, 10, True, "")
        run, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, status="passed")
        assert [row.key for row in run.items] == ["TNY-TSTRN-1"]


def test_a_query_by_status_has_a_bound(tool):
    with JamaSimulator(project=tiny_project(metadata.MOST_WALKED + 30)) as jama:
        result, found = tool(jama.url, "query_jama_native_metadata", project_id=2, status="Approved", max_results=5)
        assert result.truncated
        assert result.returned == 5
        assert metadata.MOST_WALKED - 10 < result.total <= metadata.MOST_WALKED
        assert f"first {metadata.MOST_WALKED} items" in result.note
        assert result.note in found.summary(result)


def test_at_the_bound_itself_nothing_is_missing(tool):
    with JamaSimulator(project=tiny_project(metadata.MOST_WALKED)) as jama:
        result, _ = tool(
            jama.url, "query_jama_native_metadata", project_id=2, status="Approved", item_type=24, max_results=5
        )
        assert result.total == metadata.MOST_WALKED
        assert result.note == ""


def test_what_is_not_there_is_explained(jama, tool):
    status, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, status="aproved", item_type="Requirement")
    assert "Did you mean 'Approved'?" in status.note
    keyword, _ = tool(jama.url, "query_jama_native_metadata", project_id=2, keyword="volumes of steps")
    assert keyword.total == 0
    assert "single word" in keyword.note


def test_misspelt_names_get_a_suggestion(jama, tool):
    with pytest.raises(NotFoundError) as project:
        tool(jama.url, "query_jama_native_metadata", project_id="Tinny")
    assert "Did you mean 'Tiny'" in project.value.remedy
    assert "list_jama_projects" in project.value.remedy
    with pytest.raises(NotFoundError) as kind:
        tool(jama.url, "query_jama_native_metadata", project_id=2, item_type="Requirment")
    assert "Did you mean 'Requirement'" in kind.value.remedy
    with pytest.raises(NotFoundError) as other:
        tool(jama.url, "query_jama_native_metadata", project_id=2, item_type="zzz")
    assert "Test Run" in other.value.remedy


def test_a_folder_of_projects_is_no_project(jama, tool):
    with pytest.raises(NotFoundError):
        tool(jama.url, "query_jama_native_metadata", project_id=1)


def test_names_that_two_share_are_refused(tool):
    project = tiny_project()
    project["projects"][2]["fields"]["name"] = "Tiny"
    project["itemtypes"][0]["display"] = "Requirement"
    with JamaSimulator(project=project) as jama:
        with pytest.raises(InputError, match="2 projects are called") as error:
            tool(jama.url, "query_jama_native_metadata", project_id="tiny")
        assert "2, 3" in error.value.remedy
        with pytest.raises(InputError, match="2 item types are called"):
            tool(jama.url, "query_jama_native_metadata", project_id=2, item_type="Requirement")


def test_a_new_project_is_found_although_the_list_is_kept(answering, tools_of, envelope):
    rows = [{"id": 2, "projectKey": "TNY", "isFolder": False, "fields": {"name": "Tiny"}}]

    def reply(path, _):
        if path.endswith("/projects"):
            return 200, {}, envelope(rows, len(rows))
        return None if path.endswith("/token") else (200, {}, envelope([], 0))

    tools = {each.name: each for each in tools_of(answering(reply).url)}
    query = tools["query_jama_native_metadata"].call
    assert query("TNY").project_id == "2"
    rows.append({"id": 4, "projectKey": "NEW", "isFolder": False, "fields": {"name": "New"}})
    assert query("new").project_id == "4"


def test_every_failure_is_one_of_reqalls(jama, tool):
    jama.faults.fail(*[500] * 3, path="/projects")
    with pytest.raises(SourceUnavailableError):
        tool(jama.url, "list_jama_projects")
    with pytest.raises(ReqallError):
        tool("", "get_jama_item", item_id=5)
