"""The native metadata query: what Jama filters, what is compared here, and nothing missed."""

import pytest

from reqall import InputError, NotFoundError
from reqall.plugins.sources.jama.tools import metadata
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

QUERY = "query_jama_native_metadata"


@pytest.mark.parametrize("project", [2, "2", "jama:2", "tny", "TINY", " Tiny "])
def test_a_project_by_id_key_or_name(jama, tool, project):
    result, found = tool(jama.url, QUERY, both=True, project_id=project)
    assert (result.project_id, result.total, result.returned) == ("2", 12, 12)
    assert (result.truncated, result.cursor, result.note) == (False, "", "")
    assert found.summary(result).startswith("12 of 12\n")
    assert not [row for row in result.items if row.type == "Attachment"]


@pytest.mark.parametrize("kind", [24, "24", "requirement", "Requirements", "REQ"])
def test_an_item_type_by_id_name_or_key(jama, tool, kind):
    result = tool(jama.url, QUERY, project_id="TNY", item_type=kind)
    assert [row.key for row in result.items] == [f"TNY-REQ-{n}" for n in range(1, 6)]
    first = result.items[0]
    assert (first.item_id, first.name, first.type) == ("1001", "Volume step 1", "Requirement")
    assert (first.status, first.modified) == ("Approved", "2024-01-01T00:01:00Z")
    assert first.url.startswith(f"{jama.url}/perspective.req#/items/1001")


def test_attachments_come_when_asked_for(jama, tool):
    result = tool(jama.url, QUERY, project_id="TNY", item_type="Attachment")
    assert [row.key for row in result.items] == ["TNY-ATT-1"]
    assert result.total == 1


def test_a_key_a_keyword_and_a_release(jama, tool):
    by_key = tool(jama.url, QUERY, project_id=2, document_key="tny-tc-1", status=None)
    assert [row.name for row in by_key.items] == ["Volume up"]
    by_word = tool(jama.url, QUERY, project_id=2, keyword="kept at 3")
    assert [row.key for row in by_word.items] == ["TNY-REQ-3"]
    for release in ("r1", 75):
        assert tool(jama.url, QUERY, project_id=2, release=release).total == 5
    with pytest.raises(NotFoundError) as error:
        tool(jama.url, QUERY, project_id=2, release="R2")
    assert "It has: R1" in error.value.remedy
    with pytest.raises(NotFoundError) as error:
        tool(jama.url, QUERY, project_id=2, release="R 1")
    assert "Did you mean 'R1'" in error.value.remedy


@pytest.mark.parametrize(
    ("after", "before", "numbers"),
    [
        ("2024-01-01T00:03:00Z", "", [3, 4, 5]),
        ("2024-01-01T00:03:00.001Z", "", [4, 5]),
        ("", "2024-01-01T00:02:00", [1, 2]),
        ("2024-01-01T01:02:00+01:00", "2024-01-01T00:04:00Z", [2, 3, 4]),
        ("2024-01-01", "2024-01-01", [1, 2, 3, 4, 5]),
        ("", "2023-12-31", []),
        ("2024-01-02", "", []),
    ],
)
def test_dates_are_inclusive_and_a_date_is_a_whole_day(jama, tool, after, before, numbers):
    result = tool(jama.url, QUERY, project_id=2, item_type=24, modified_after=after, modified_before=before)
    assert [row.key for row in result.items] == [f"TNY-REQ-{n}" for n in numbers]
    assert result.total == len(numbers)


def test_a_time_that_an_answer_showed_finds_its_item_again(jama, tool):
    jama.world.items[1002]["modifiedDate"] = "2024-01-01T00:09:00.750+0000"
    shown = tool(jama.url, QUERY, project_id=2, document_key="TNY-REQ-2").items[0].modified
    assert shown == "2024-01-01T00:09:00Z"
    again = tool(jama.url, QUERY, project_id=2, modified_after=shown, modified_before=shown)
    assert [row.key for row in again.items] == ["TNY-REQ-2"]


@pytest.mark.parametrize("text", ["yesterday", "2024-13-01", "2024-01-01T25:00", "9999-12-31T23:59:59-12:00"])
def test_a_wrong_date_is_refused(jama, tool, text):
    with pytest.raises(InputError, match="modified_before is not a date"):
        tool(jama.url, QUERY, project_id=2, modified_before=text)
    with pytest.raises(InputError, match="later than"):
        tool(jama.url, QUERY, project_id=2, modified_after="2024-02-01", modified_before="2024-01-01")


def test_a_status_by_text_in_any_spelling_or_by_id(tool):
    with JamaSimulator(project=tiny_project(120)) as jama:
        jama.world.edit(1077, status=301)
        for wanted in ("retired", "Retired", 301, "301"):
            one = tool(jama.url, QUERY, project_id=2, status=wanted)
            assert [(row.key, row.status) for row in one.items] == [("TNY-REQ-77", "Retired")]
            assert (one.total, one.total_scanned, one.truncated) == (1, 128, False)
        for wanted in ("passed", "PASSED"):
            assert [row.key for row in tool(jama.url, QUERY, project_id=2, status=wanted).items] == ["TNY-TSTRN-1"]
        jama.world.items[106]["fields"]["testRunStatus"] = "NOT_RUN"
        assert tool(jama.url, QUERY, project_id=2, status="not run").total == 1


@pytest.mark.parametrize("name", ["state$24", "document_status$24", "lifecycle$24"])
@pytest.mark.parametrize("label", ["State", "Status", "Document Status", "Review state"])
def test_a_status_in_a_field_of_the_tenants_own(tool, name, label):
    project = tiny_project(30)
    types = next(each for each in project["itemtypes"] if each["id"] == 24)
    types["fields"] = [each for each in types["fields"] if each["name"] != "status"]
    types["fields"].append({"name": name, "label": label, "fieldType": "LOOKUP", "pickList": 61})
    for item in project["items"]:
        if item["itemType"] == 24 and item["fields"].pop("status", None):
            item["fields"][name] = 301 if item["id"] == 1025 else 293
    with JamaSimulator(project=project) as jama:
        result = tool(jama.url, QUERY, project_id=2, status="Retired")
        assert [(row.key, row.status) for row in result.items] == [("TNY-REQ-25", "Retired")]
        assert tool(jama.url, "get_jama_item", item_id=1025).status == "Retired"


def test_every_status_field_of_an_item_counts(tool):
    project = tiny_project()
    for item in project["items"]:
        if item["id"] == 103:
            item["fields"] |= {"status": 293, "testCaseStatus": "NOT_SCHEDULED"}
    with JamaSimulator(project=project) as jama:
        case = tool(jama.url, QUERY, project_id=2, item_type="TC", status="not scheduled")
        assert [(row.key, row.status) for row in case.items] == [("TNY-TC-1", "NOT_SCHEDULED")]
        approved = tool(jama.url, QUERY, project_id=2, item_type="TC", status="Approved")
        assert [(row.key, row.status) for row in approved.items] == [("TNY-TC-1", "Approved")]


def test_what_is_not_there_is_explained(jama, tool):
    status = tool(jama.url, QUERY, project_id=2, status="aproved", item_type="Requirement")
    assert status.total == 0
    assert "Did you mean 'Approved'?" in status.note
    choice = tool(jama.url, QUERY, project_id=2, status="Retird", item_type="Requirement")
    assert "Did you mean 'Retired'?" in choice.note
    keyword = tool(jama.url, QUERY, project_id=2, keyword="volumes of steps")
    assert keyword.total == 0
    assert "single word" in keyword.note
    nothing = tool(jama.url, QUERY, project_id=3, item_type="Test Case")
    assert (nothing.total, nothing.note) == (0, "No match.")


def test_misspelt_item_types_get_a_suggestion(jama, tool):
    with pytest.raises(NotFoundError) as close:
        tool(jama.url, QUERY, project_id=2, item_type="Requirment")
    assert "Did you mean 'Requirement'" in close.value.remedy
    with pytest.raises(NotFoundError) as other:
        tool(jama.url, QUERY, project_id=2, item_type="zzz")
    assert "Test Run" in other.value.remedy
    with pytest.raises(NotFoundError):
        tool(jama.url, QUERY, project_id=1)


def test_names_that_two_share_are_refused(tool):
    project = tiny_project()
    project["projects"][2]["fields"]["name"] = "Tiny"
    project["itemtypes"][0]["display"] = "Requirement"
    with JamaSimulator(project=project) as jama:
        with pytest.raises(InputError, match="2 projects are called") as error:
            tool(jama.url, QUERY, project_id="tiny")
        assert "2, 3" in error.value.remedy
        with pytest.raises(InputError, match="2 item types are called"):
            tool(jama.url, QUERY, project_id=2, item_type="Requirement")


@pytest.mark.parametrize("arguments", [{}, {"status": "Approved"}, {"item_type": 24}, {"keyword": "Volume step"}])
@pytest.mark.parametrize("size", [19, 20, 21, 40, 41, 125])
def test_pages_are_complete_and_say_the_truth(tool, chain, size, arguments):
    with JamaSimulator(project=tiny_project(size)) as jama:
        found, pages = chain(jama.url, QUERY, "items", project_id=2, **arguments)
        wanted = [f"TNY-REQ-{n}" for n in range(1, size + 1)]
        assert [row.key for row in found if row.type == "Requirement"] == wanted
        assert len({row.item_id for row in found}) == len(found) == size + (0 if arguments else 7)
        assert all(page.truncated == bool(page.cursor) for page in pages)
        assert all(page.returned == 20 for page in pages[:-1])
        assert all(page.total == len(found) for page in pages)
        assert tool(jama.url, "list_jama_projects").total == 2


def test_a_query_by_status_goes_on_behind_its_bound(tool, chain):
    with JamaSimulator(project=tiny_project(metadata.MOST_SCANNED + 300)) as jama:
        for number in (3, 700, metadata.MOST_SCANNED + 1, metadata.MOST_SCANNED + 290):
            jama.world.edit(1000 + number, status=301)
        first, found = tool(jama.url, QUERY, both=True, project_id=2, status="Retired")
        assert (first.total, first.returned, first.truncated) == (-1, 2, True)
        assert first.total_scanned == metadata.MOST_SCANNED
        assert "pass the cursor to go on" in first.note
        assert first.note in found.summary(first)
        rows, pages = chain(jama.url, QUERY, "items", project_id=2, status="Retired")
        assert [row.key for row in rows] == ["TNY-REQ-3", "TNY-REQ-700", "TNY-REQ-1001", "TNY-REQ-1290"]
        assert [page.total for page in pages] == [-1, 4]


def test_rows_that_go_between_two_pages_are_the_only_ones_missing(tool, chain):
    with JamaSimulator(project=tiny_project(60)) as jama:
        first = tool(jama.url, QUERY, project_id=2, status="Approved")
        for gone in (1001, 1002, 1020, 1040):
            jama.world.delete(gone)
        second = tool(jama.url, QUERY, project_id=2, status="Approved", cursor=first.cursor)
        third = tool(jama.url, QUERY, project_id=2, status="Approved", cursor=second.cursor)
        keys = [row.key for page in (first, second, third) for row in page.items]
        assert keys == [f"TNY-REQ-{n}" for n in range(1, 61) if n != 40]
        assert not third.cursor


@pytest.mark.parametrize("cursor", ["x", "!", "AAAA", "W10", "项", "a" * 5_000, "WyJ4IiwxLDIsMyxbXV0", "bnVsbA"])
def test_a_cursor_that_is_none_is_refused(jama, tool, cursor):
    with pytest.raises(InputError, match="not one of this tool's"):
        tool(jama.url, QUERY, project_id=2, cursor=cursor)


def test_a_cursor_is_good_for_its_own_question_only(tool):
    with JamaSimulator(project=tiny_project(60)) as jama:
        cursor = tool(jama.url, QUERY, project_id=2).cursor
        for other in ({"status": "Approved"}, {"item_type": 24}, {"keyword": "Volume"}):
            with pytest.raises(InputError, match="another question"):
                tool(jama.url, QUERY, project_id=2, cursor=cursor, **other)
        with pytest.raises(InputError, match="another question"):
            tool(jama.url, QUERY, project_id=3, cursor=cursor)
        with pytest.raises(InputError, match="another question"):
            tool(jama.url, "list_jama_projects", cursor=cursor)
        assert tool(jama.url, QUERY, project_id="tny", cursor=cursor).returned == 20
