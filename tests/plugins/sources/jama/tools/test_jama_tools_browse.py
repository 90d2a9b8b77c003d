"""Projects, item types, single items and what hangs on them."""

import pytest

from reqall import InputError, SourceAuthError
from reqall.plugins.sources.jama.tools.browse_items import in_threads
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

INVISIBLE = "\u202e\u200b\u2066\ufeff\U000e0041\x07"
"""A bidirectional override, a zero-width space, an isolate, a byte order mark, a tag character, a bell."""


def _changed(change):
    project = tiny_project()
    change({item["id"]: item for item in project["items"]}, project)
    return JamaSimulator(project=project)


def test_projects(jama, tool):
    result, found = tool(jama.url, "list_jama_projects", both=True)
    rows = [(row.project_id, row.key, row.name) for row in result.projects]
    assert rows == [("3", "OTH", "Other"), ("2", "TNY", "Tiny")]
    assert found.summary(result) == "2 of 2\nOTH | Other\nTNY | Tiny"


def test_many_projects_come_in_pages(tool, chain):
    project = tiny_project()
    project["projects"] += [
        {"id": 1000 + n, "projectKey": f"K{n}", "isFolder": False, "fields": {"name": f"Project {n:03}"}}
        for n in range(250)
    ]
    with JamaSimulator(project=project) as jama:
        rows, pages = chain(jama.url, "list_jama_projects", "projects")
        assert [page.returned for page in pages] == [100, 100, 52]
        assert [row.name for row in rows] == sorted(row.name for row in rows)
        assert tool(jama.url, "find_jama_project_by_name", name="project 24").total == 10


@pytest.mark.parametrize(
    ("name", "exact", "keys"),
    [
        ("tiny", False, ["TNY"]),
        ("tny", True, ["TNY"]),
        (" TINY ", True, ["TNY"]),
        ("t", False, ["OTH", "TNY"]),
        ("tinny", False, ["TNY"]),
        ("tin", True, []),
        ("zzz", False, []),
    ],
)
def test_a_project_by_name(jama, tool, name, exact, keys):
    result = tool(jama.url, "find_jama_project_by_name", name=name, exact=exact)
    assert [row.key for row in result.projects] == keys
    assert bool(result.note) == (not keys)
    assert "list_jama_projects" in result.note or keys
    with pytest.raises(InputError):
        tool(jama.url, "find_jama_project_by_name", name=" ")


def test_item_types_with_their_fields(jama, tool):
    everything = tool(jama.url, "list_jama_item_types")
    assert everything.total == 9
    inside = tool(jama.url, "list_jama_item_types", project_id="OTH")
    assert [(row.type_id, row.name, row.key, row.category) for row in inside.item_types] == [
        ("24", "Requirement", "REQ", "CORE")
    ]
    fields = inside.item_types[0].fields
    assert "priority$24: Priority (MULTI_LOOKUP)" in fields
    assert "results$24: Results (TEST_RUN_RESULTS)" in fields


def test_an_item_type_by_name(jama, tool):
    name = "find_jama_item_type_by_name"
    for wanted in ("requirement", "Requirements", "REQ", 24):
        (row,) = tool(jama.url, name, name=wanted).item_types
        assert "status: Status (LOOKUP: Approved, High)" in row.fields
    assert [row.name for row in tool(jama.url, name, name="test").item_types] == [
        *("Test Case", "Test Plan", "Test Cycle", "Test Run")
    ]
    assert [row.name for row in tool(jama.url, name, name="Requirmnt").item_types] == ["Requirement"]
    nothing = tool(jama.url, name, name="zzz")
    assert (nothing.total, nothing.item_types) == (0, [])
    assert "list_jama_item_types" in nothing.note


@pytest.mark.parametrize("identifier", [1001, "1001", "jama:1001", "TNY-REQ-1", " tny-req-1 "])
def test_an_item_by_id_or_key(jama, tool, identifier):
    item, found = tool(jama.url, "get_jama_item", both=True, item_id=identifier)
    assert (item.item_id, item.key, item.type, item.status) == ("1001", "TNY-REQ-1", "Requirement", "Approved")
    assert (item.project_id, item.parent_id, item.created_by) == ("2", "102", "Ada Tiny")
    assert item.sections == {"description": "The level shall be kept at 1 & shown."}
    assert item.fields["priority"] == "High"
    assert item.fields["assigned"] == "Ada Tiny"
    assert (item.created, item.modified) == ("2024-01-01T00:01:00Z", "2024-01-01T00:01:00Z")
    assert not item.truncated
    assert found.summary(item).startswith("TNY-REQ-1 Volume step 1 (Requirement, Approved) http")


@pytest.mark.parametrize("identifier", [106, "TNY-TSTRN-1", 107, 104, 105])
def test_test_objects_and_attachments_are_items_too(jama, tool, identifier):
    assert tool(jama.url, "get_jama_item", item_id=identifier).key.startswith(("TNY-TST", "TNY-ATT"))


def test_a_long_item_is_bounded_and_says_so(tool):
    def change(items, _):
        items[1001]["fields"]["description"] = "<p>" + "word " * 3_000 + "</p>"
        items[1002]["fields"]["description"] = "<p>" + "word " * 9_000 + "</p>"

    with _changed(change) as jama:
        whole = tool(jama.url, "get_jama_item", item_id=1001)
        assert len(whole.sections["description"]) == 14_999
        assert not whole.truncated
        cut = tool(jama.url, "get_jama_item", item_id=1002)
        assert cut.truncated
        assert "[cut: " in cut.sections["description"]
        assert cut.fields.keys() == whole.fields.keys()
        assert len(cut.model_dump_json()) < 22_000


def test_content_is_shown_without_what_nobody_can_see(tool):
    dirty = f"Sy{INVISIBLE}nc \u540d\u524d \U0001f50a <b>"

    def change(items, project):
        items[1001]["fields"] |= {"name": dirty, "description": f"<p>{INVISIBLE}a &#8238;b</p>"}
        project["projects"][1]["fields"]["name"] = dirty
        project["tags"][0]["name"] = dirty
        project["users"][0]["firstName"] = dirty
        project["comments"][0]["body"]["text"] = f"<p>x{INVISIBLE}y</p>"
        project["itemtypes"][1]["display"] = dirty

    clean = "Sync \u540d\u524d \U0001f50a <b>"
    with _changed(change) as jama:
        item = tool(jama.url, "get_jama_item", item_id=1001)
        assert (item.name, item.sections["description"]) == (clean, "a b")
        assert item.type == clean
        answers = [
            item,
            *(tool(jama.url, name) for name in ("list_jama_projects", "list_jama_users", "list_jama_item_types")),
            tool(jama.url, "list_jama_tags", project_id=clean),
            tool(jama.url, "get_jama_item_comments", item_id=1001),
            tool(jama.url, "query_jama_native_metadata", project_id=2, item_type=clean),
            tool(jama.url, "query_jama_endpoint", path="/items/1001"),
        ]
        for answer in answers:
            assert not set(INVISIBLE) & set(answer.model_dump_json().encode().decode("unicode_escape", "ignore"))
            assert not set(INVISIBLE) & set(str(answer.model_dump()))
        assert tool(jama.url, "get_jama_item_comments", item_id=1001).comments[0].text == "xy"


def test_children(tool, chain):
    with JamaSimulator(project=tiny_project(45)) as jama:
        rows, pages = chain(jama.url, "get_jama_item_children", "items", item_id="TNY-FLD-1")
        assert [row.key for row in rows] == [f"TNY-REQ-{n}" for n in range(1, 46)]
        assert {page.total for page in pages} == {45}
        assert [row.name for row in tool(jama.url, "get_jama_item_children", item_id=100).items] == [
            *("Requirements", "Volume up")
        ]
        leaf = tool(jama.url, "get_jama_item_children", item_id=1001)
        assert (leaf.items, leaf.total, leaf.note) == ([], 0, "")
        for kind in (104, 105, 106, 107):
            assert "has no children" in tool(jama.url, "get_jama_item_children", item_id=kind).note


def test_comments_in_threads(tool):
    def change(_, project):
        first = project["comments"][0]
        project["comments"] = [
            {
                **first,
                "body": {**first["body"]},
                "id": n,
                "inReplyTo": to,
                "createdDate": f"2024-01-01T00:{n:02}:00.000+0000",
            }
            for n, to in ((1, None), (2, None), (3, 1), (4, 3), (5, 1), (6, 99))
        ]
        project["comments"][1]["deleted"] = True
        project["comments"][2]["body"]["text"] = "<p>" + "long " * 1_000 + "</p>"
        project["comments"][3]["createdBy"] = 404

    with _changed(change) as jama:
        result = tool(jama.url, "get_jama_item_comments", item_id="TNY-REQ-1")
        assert [row.comment_id for row in result.comments] == ["1", "3", "4", "5", "2", "6"]
        assert [row.reply_to for row in result.comments] == ["", "1", "3", "1", "", "99"]
        first, long, unknown, _, deleted, _ = result.comments
        assert (first.author, first.kind, first.status) == ("Ada Tiny", "QUESTION", "OPEN")
        assert (first.text, first.created) == ("Why this level?", "2024-01-01T00:01:00Z")
        assert "[cut: " in long.text
        assert len(long.text) < 2_100
        assert unknown.author == "404"
        assert deleted.text == "(deleted)"
        assert tool(jama.url, "get_jama_item_comments", item_id=1002).comments == []
        assert "has no comments" in tool(jama.url, "get_jama_item_comments", item_id=105).note


def test_no_comment_is_lost_in_a_circle():
    rows = [{"id": 1, "inReplyTo": 2}, {"id": 2, "inReplyTo": 1}, {"id": 3, "inReplyTo": 3}, {"id": 4}]
    assert sorted(row["id"] for row in in_threads(rows)) == [1, 2, 3, 4]


def test_attachments(jama, tool):
    (row,) = tool(jama.url, "get_jama_item_attachments", item_id=1001).attachments
    assert (row.attachment_id, row.key, row.file_name) == ("107", "TNY-ATT-1", "a.pdf")
    assert (row.mime_type, row.author) == ("application/pdf", "Ada Tiny")
    assert row.size > 0
    assert tool(jama.url, "get_jama_item_attachments", item_id=1002).attachments == []
    for kind in (104, 106):
        assert tool(jama.url, "get_jama_item_attachments", item_id=kind).total == 1
    assert "has no attachments" in tool(jama.url, "get_jama_item_attachments", item_id=107).note


def test_versions(jama, tool):
    result = tool(jama.url, "get_jama_item_versions", item_id="OTH-REQ-2")
    versions = {row.version: row for row in result.versions}
    assert sorted(versions) == [1, 2]
    assert (versions[2].comment, versions[2].changes) == ("As agreed with TNY", "Changed: name, status")
    assert (versions[2].author, versions[2].created) == ("Ada Tiny", "2024-01-01T00:10:00Z")
    assert tool(jama.url, "get_jama_item_versions", item_id="TNY-TSTRN-1").total >= 1


def test_synchronized_items(jama, tool):
    (row,) = tool(jama.url, "get_jama_synchronized_items", item_id="TNY-REQ-1").items
    assert (row.key, row.project_id, row.in_sync) == ("OTH-REQ-2", "3", "no")
    assert tool(jama.url, "get_jama_synchronized_items", item_id=1002).items == []
    jama.faults.forbidden_paths = ["syncstatus"]
    assert tool(jama.url, "get_jama_synchronized_items", item_id=1001).items[0].in_sync == "unknown"


def test_short_lists_of_a_project(jama, tool):
    (release,) = tool(jama.url, "list_jama_releases", project_id="tny").releases
    assert (release.release_id, release.name, release.active, release.items) == ("75", "R1", True, 5)
    (tag,) = tool(jama.url, "list_jama_tags", project_id=2).tags
    assert (tag.tag_id, tag.name) == ("9", "safety")
    (baseline,) = tool(jama.url, "list_jama_baselines", project_id=2).baselines
    assert (baseline.name, baseline.author, baseline.created) == ("B1", "Ada Tiny", "2024-01-01T00:00:00Z")
    assert tool(jama.url, "list_jama_releases", project_id=3).releases == []


def test_users_and_their_refusal(jama, tool):
    users = tool(jama.url, "list_jama_users").users
    assert [(row.name, row.active) for row in users] == [("Ada Tiny", True), ("Gone Tiny", False)]
    jama.faults.forbidden_paths = ["/users"]
    refused = tool(jama.url, "list_jama_users")
    assert (refused.users, refused.total, refused.cursor) == ([], -1, "")
    assert "does not let you list its users" in refused.note
    jama.faults.forbidden_paths = ["/users", "/projects"]
    with pytest.raises(SourceAuthError):
        tool(jama.url, "list_jama_users")
