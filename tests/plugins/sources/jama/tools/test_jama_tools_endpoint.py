"""The guarded reading of endpoints: what it lets through, what it never does, and its bounds."""

import re
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reqall import InputError, NotFoundError, ReqallError, SourceError
from reqall.plugins.sources.jama.tools.endpoint import MOST_CHARACTERS, MOST_PAGES, allowed
from reqall.plugins.sources.jama.tools.endpoint_table import ALLOWED
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

ENDPOINT = "query_jama_endpoint"
GOOD = sorted(re.sub(r"\{\w+\}", "1001", template) for template in ALLOWED)
HOSTILE = [
    "https://evil.example/rest/v1/items/1",
    "http:items",
    "javascript:alert(1)",
    "//evil.example/items/1",
    "/items//1",
    "/items/1/../../users",
    "/items/./1",
    "/items/1/..",
    "/items/%2e%2e/users",
    "/items/1%2Fchildren",
    "/items/1%252f..",
    "\\\\evil.example\\items",
    "/items\\1",
    "/items/1?include=data.itemType",
    "/items/1#x",
    "/@evil.example/items/1",
    "/items/1@evil.example",
    "/items/1\r\nHost: evil.example",
    "/items/1\n",
    "/items/1 ",
    "/items/\uff11",
    "/items/\u0661",
    "/items/1\x00",
    "/items/-1",
    "/items/+1",
    "/items/0x10",
    "/items/1e3",
    "/items/{id}",
    "/items/{}",
    "/items/{}/children",
    "/Items/1",
    "/items/1/",
    "items/1",
    "",
    "/",
    "/files",
    "/attachments/1/file",
    "/system/settings/corsdomains",
    "/oauth/token",
    "/rest/v1/items/1",
    "/../oauth/token",
    "/items/" + "9" * 19,
    "/users/current/../../..",
    "/users/me",
    "/items/1/children/children",
    "/items/1;jsessionid=1",
    "/items/1/children\u2028",
    "/items/1/chil\u200bdren",
]


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_paths_are_refused_before_anything_is_sent(path):
    with pytest.raises(InputError) as error:
        allowed(path)
    assert error.value.remedy


@pytest.mark.parametrize("path", HOSTILE)
def test_no_request_is_sent_for_them(answering, tool, path):
    server = answering(lambda *_: None)
    with pytest.raises(InputError):
        tool(server.url, ENDPOINT, path=path)
    assert server.seen == []


@pytest.mark.parametrize("path", GOOD)
def test_every_path_of_the_list_is_allowed(path):
    assert re.sub(r"\{\w+\}", "1001", allowed(path).template) == path


def _mutations(path):
    """Change, add or drop characters anywhere in a good path."""
    place = st.integers(0, len(path))
    junk = st.sampled_from(["..", "/", "\\", "%2f", "%2e%2e", "?", "#", "@", ":", "//", "\n", "{}", "\u202e", "x", "0"])
    return st.tuples(place, junk | st.text(max_size=4), st.integers(0, 3)).map(
        lambda change: path[: change[0]] + change[1] + path[change[0] + change[2] :]
    )


@given(st.text() | st.sampled_from(GOOD).flatmap(_mutations))
@example("/items/1001/children")
def test_what_passes_is_a_template_with_numbers_in_it_and_nothing_else(path):
    try:
        endpoint = allowed(path)
    except InputError:
        return
    assert re.fullmatch(r"(/[a-z]+|/[0-9]{1,18})+", path)
    assert re.fullmatch(re.sub(r"\\\{\w+\\\}", "[0-9]{1,18}", re.escape(endpoint.template)), path)
    assert quote(path) == path


def test_a_redirect_is_not_followed(answering, tool):
    evil = answering(lambda *_: (200, {}, {"meta": {}, "data": {"id": 1}}))

    def reply(path, _):
        return None if path.endswith("/token") else (302, {"Location": f"{evil.url}/rest/v1/items/1"}, {})

    with pytest.raises(SourceError, match="redirects"):
        tool(answering(reply).url, ENDPOINT, path="/items/1")
    assert evil.seen == []


def test_one_object_comes_flat(jama, tool):
    result, found = tool(jama.url, ENDPOINT, both=True, path="/items/1001")
    (row,) = result.rows
    assert (row["id"], row["fields.name"], row["location.parent.item"]) == ("1001", "Volume step 1", "102")
    assert row["fields.description"] == "The level shall be kept at 1 & shown."
    assert row["createdDate"] == "2024-01-01T00:01:00Z"
    assert not any(name.startswith("resources") for name in row)
    assert (result.total, result.returned, result.next, result.truncated) == (1, 1, "", False)
    assert found.summary(result).startswith("1 of 1\n")


def test_steps_and_empty_lists(jama, tool):
    (case,) = tool(jama.url, ENDPOINT, path="/abstractitems/103").rows
    assert case["fields.testCaseSteps.1.expectedResult"] == "Louder"
    assert tool(jama.url, ENDPOINT, path="/items/1001/links").model_dump() == {
        "rows": [],
        "total": 0,
        "returned": 0,
        "next": "",
        "truncated": False,
        "note": "",
    }


def test_a_list_by_pages_or_whole(tool):
    with JamaSimulator(project=tiny_project(120)) as jama:
        first = tool(jama.url, ENDPOINT, path="/items/102/children")
        assert (first.total, first.returned, first.next, first.truncated) == (120, 20, "startAt=20", True)
        assert first.next in first.note
        second = tool(jama.url, ENDPOINT, path="/items/102/children", params={"startAt": 20, "maxResults": "50"})
        assert (second.rows[0]["documentKey"], second.returned, second.next) == ("TNY-REQ-21", 50, "startAt=70")
        last = tool(jama.url, ENDPOINT, path="/items/102/children", params={"startAt": "110"})
        assert (last.returned, last.next, last.truncated) == (10, "", False)
        whole = {"path": "/relationships", "params": {"project": "tny"}, "all_pages": True}
        links, found = tool(jama.url, ENDPOINT, both=True, **whole)
        assert (links.total, links.returned, links.next, links.truncated) == (120, 120, "", False)
        assert len(found.summary(links).splitlines()) == 21


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("total", ["all", "remaining", "absent"])
def test_relationships_go_on_by_last_id(tool, legacy, total):
    with JamaSimulator(project=tiny_project(47), legacy_relationships=legacy, relationship_total=total) as jama:
        params, found = {"project": "2"}, []
        for _ in range(5):
            page = tool(jama.url, ENDPOINT, path="/relationships", params=params)
            found += [row["id"] for row in page.rows]
            if not page.next:
                break
            name, _, value = page.next.partition("=")
            if name == "lastId" and legacy:
                with pytest.raises(SourceError) as error:
                    tool(jama.url, ENDPOINT, path="/relationships", params={"project": "2", name: value})
                assert "startAt" in error.value.remedy
                name, value = "startAt", len(found)
            params = {"project": "2", name: value}
        assert found == [str(number) for number in range(1, 48)]


def test_all_pages_have_a_cap_that_is_told(tool):
    project = tiny_project(MOST_PAGES * 50 + 20)
    project["items"] = [item for item in project["items"] if item["project"] == 2]
    for item in project["items"]:
        item["fields"] = {"name": "n"}
    with JamaSimulator(project=project) as jama:
        types = {"project": "TNY", "itemType": "Requirement"}
        result = tool(jama.url, ENDPOINT, path="/abstractitems", params=types, all_pages=True)
        assert result.total == MOST_PAGES * 50 + 20
        assert 0 < result.returned <= MOST_PAGES * 50
        assert result.truncated
        assert result.next == f"startAt={result.returned}"
        assert len(result.model_dump_json()) < MOST_CHARACTERS * 1.2


def test_long_texts_and_big_pages_are_cut_and_nothing_is_skipped(tool):
    project = tiny_project(60)
    for item in project["items"]:
        if item["itemType"] == 24:
            item["fields"]["description"] = "word " * 1_000
            item["fields"]["due$24"] = None
    with JamaSimulator(project=project) as jama:
        params, keys = {"maxResults": "50"}, []
        while True:
            page = tool(jama.url, ENDPOINT, path="/items/102/children", params=params)
            assert len(page.model_dump_json()) < MOST_CHARACTERS * 1.2
            assert "[cut: " in page.rows[0]["fields.description"]
            assert page.truncated
            keys += [row["documentKey"] for row in page.rows]
            if not page.next:
                break
            params = {"maxResults": "50", "startAt": page.next.removeprefix("startAt=")}
        assert keys == [f"TNY-REQ-{n}" for n in range(1, 61)]


def test_parameters_are_checked_by_name(jama, tool):
    with pytest.raises(InputError) as error:
        tool(jama.url, ENDPOINT, path="/items", params={"project": 2, "rootonly": "true", "startAt": 20})
    assert "Did you mean 'rootOnly'" in error.value.remedy
    for name in ("startAt", "maxResults"):
        with pytest.raises(InputError, match=name):
            tool(jama.url, ENDPOINT, path="/items", params={"project": 2, name: "ten"})
    with pytest.raises(NotFoundError, match="Tinny"):
        tool(jama.url, ENDPOINT, path="/items", params={"project": "Tinny"})
    with pytest.raises(InputError):
        tool(jama.url, ENDPOINT, path="/items/1001", params={"url": "http://evil.example"})


def test_several_values_are_alternatives(jama, tool):
    both = {"project": 2, "itemType": ["Test Case", 31], "contains": "up, or"}
    tool(jama.url, ENDPOINT, path="/abstractitems", params=both)
    sent = [seen.params for seen in jama.requests if seen.path.endswith("/abstractitems")][-1]
    assert sorted(sent["itemType"]) == ["26", "31"]
    assert sent["contains"] == ["up, or"]
    assert tool(jama.url, ENDPOINT, path="/users", params=None).returned == 1
    assert tool(jama.url, ENDPOINT, path="/users", params={"includeInactive": True, "username": None}).returned == 2


@pytest.mark.parametrize("path", ["/itms/5", "/item/5/children", "/project/2"])
def test_a_misspelt_path_gets_a_suggestion(jama, tool, path):
    with pytest.raises(InputError) as error:
        tool(jama.url, ENDPOINT, path=path)
    assert "Did you mean" in error.value.remedy


def test_what_jama_refuses_is_passed_on(jama, tool):
    with pytest.raises(NotFoundError):
        tool(jama.url, ENDPOINT, path="/items/999999")
    with pytest.raises(ReqallError):
        tool(jama.url, ENDPOINT, path="/items")
