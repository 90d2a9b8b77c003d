"""The simulated Jama answers as the real one does: shapes, paging, filters, tokens."""

from collections.abc import Iterator

import pytest
import requests

from reqall.testing.jama_simulator import JamaSimulator, tiny_project


class Reader:
    """A bare client with a token."""

    def __init__(self, jama: JamaSimulator) -> None:
        self.jama = jama
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token_of(jama)}"

    def get(self, path: str, **params: object) -> requests.Response:
        return self.session.get(f"{self.jama.url}/rest/v1{path}", params=params, timeout=10)

    def data(self, path: str, **params: object) -> list[dict]:
        return self.get(path, maxResults=50, **params).json()["data"]

    def ids(self, path: str, **params: object) -> list[int]:
        return [row["id"] for row in self.data(path, **params)]


def ask_token(jama: JamaSimulator, secret: str | None = None, grant: str = "client_credentials") -> requests.Response:
    auth = (jama.client_id, secret or jama.client_secret)
    return requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data={"grant_type": grant}, timeout=10)


def token_of(jama: JamaSimulator) -> str:
    return ask_token(jama).json()["access_token"]


@pytest.fixture(scope="module")
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(60)) as running:
        yield running


@pytest.fixture(scope="module")
def reader(jama: JamaSimulator) -> Iterator[Reader]:
    reader = Reader(jama)
    with reader.session:
        yield reader


def test_tokens_come_for_basic_credentials_only(jama: JamaSimulator) -> None:
    assert ask_token(jama).json().keys() == {"access_token", "token_type", "expires_in"}
    refused = ask_token(jama, secret="wrong")
    assert refused.status_code == 401
    assert refused.json() == {"error": "invalid_client", "error_description": "Client authentication failed"}
    assert ask_token(jama, grant="password").status_code == 400
    form = {"grant_type": "client_credentials", "client_id": jama.client_id, "client_secret": jama.client_secret}
    assert requests.post(f"{jama.url}/rest/oauth/token", data=form, timeout=10).status_code == 401


def test_without_a_token_nothing_is_read(jama: JamaSimulator) -> None:
    for headers in ({}, {"Authorization": "Bearer made-up"}):
        answer = requests.get(f"{jama.url}/rest/v1/projects", headers=headers, timeout=10)
        assert answer.status_code == 401
        assert answer.json()["meta"].keys() == {"status", "timestamp", "message"}


def test_an_item_has_the_shape_of_a_real_one(reader: Reader) -> None:
    item = reader.get("/items/1002").json()["data"]
    root = "id documentKey globalId itemType project createdDate modifiedDate lastActivityDate createdBy modifiedBy"
    assert item.keys() == {*root.split(), "fields", "resources", "location", "lock", "type"}
    assert item["fields"]["documentKey"] == item["documentKey"] == "TNY-REQ-2"
    assert item["fields"]["globalId"] == item["globalId"]
    assert item["location"]["sequence"] == "1.1.1.2"
    assert item["location"]["sortOrder"] == 1
    assert item["location"]["parent"] == {"item": 102}
    assert item["resources"] == {"self": {"allowed": ["GET", "PUT", "PATCH", "DELETE"]}}
    assert (item["lock"], item["type"]) == ({"locked": False}, "items")
    assert item["fields"]["due$24"] == "2024-06-01"
    full = reader.session.get(
        f"{reader.jama.url}/rest/v1/items/1002", headers={"x-jama-date-fields-with-time": "true"}, timeout=10
    )
    assert full.json()["data"]["fields"]["due$24"] == "2024-06-01T12:30:00.000+0000"
    assert reader.get("/items/100").json()["data"]["location"]["parent"] == {"project": 2}


def test_the_envelope_names_its_links_and_fills_them_on_request(reader: Reader) -> None:
    plain = reader.get("/items", project=2).json()
    assert plain.keys() == {"meta", "links", "linked", "data"}
    assert plain["meta"]["status"] == "OK"
    assert plain["meta"]["pageInfo"] == {"startIndex": 0, "resultCount": 20, "totalResults": 64}
    assert plain["linked"] == {}
    href = f"{reader.jama.url}/rest/v1/picklistoptions/{{data.fields.status}}"
    assert plain["links"]["data.fields.status"] == {"type": "picklistoptions", "href": href}
    include = ["data.itemType", "data.fields.status", "data.fields.priority$24", "data.nonsense"]
    linked = reader.get("/items", project=2, include=include).json()["linked"]
    assert linked["picklistoptions"]["293"]["name"] == "Approved"
    assert linked["picklistoptions"]["300"]["name"] == "High"
    assert linked["itemtypes"]["24"]["display"] == "Requirement"


def test_paging_defaults_to_20_and_ends_at_50(reader: Reader) -> None:
    assert len(reader.get("/items", project=2, maxResults=500).json()["data"]) == 50
    last = reader.get("/items", project=2, startAt=50, maxResults=50).json()
    assert last["meta"]["pageInfo"] == {"startIndex": 50, "resultCount": 14, "totalResults": 64}
    assert reader.get("/items", project=2, startAt=999).json()["data"] == []
    # The response's own word for the start is no parameter: it is ignored, silently.
    assert reader.get("/items", project=2, startIndex=20).json()["data"][0]["id"] == 100
    reader.jama.faults.over_cap = "error"
    assert reader.get("/items", project=2, maxResults=51).status_code == 400
    reader.jama.faults.over_cap = "clamp"
    assert reader.get("/items", project=2, maxResults=0).status_code == 400
    assert reader.get("/items", project=2, startAt="x").status_code == 400


def test_items_are_the_tree_and_abstract_items_are_all(reader: Reader) -> None:
    tree = reader.ids("/items", project=2)
    assert tree[:4] == [100, 101, 102, 1001]
    assert not {104, 105, 106, 107} & {*tree, *reader.ids("/items", project=2, startAt=50)}
    assert reader.get("/items").status_code == 400
    assert reader.get("/items", project=99).status_code == 404
    assert reader.get("/items/106").status_code == 404
    assert reader.get("/abstractitems/106").json()["data"]["type"] == "testruns"
    assert reader.get("/abstractitems", project=2).json()["meta"]["pageInfo"]["totalResults"] == 68
    assert reader.ids("/abstractitems", itemType=[22, 35]) == [107, 104]


def test_filters_are_alternatives_within_and_conditions_between(reader: Reader) -> None:
    keys = ["TNY-REQ-1", "TNY-REQ-3", "OTH-REQ-1"]
    assert reader.ids("/abstractitems", documentKey=keys) == [300, 1001, 1003]
    assert reader.ids("/abstractitems", documentKey=keys, project=2) == [1001, 1003]
    assert len(reader.ids("/abstractitems", release=75)) == 50
    assert reader.get("/abstractitems", project="TNY").status_code == 400


@pytest.mark.parametrize(
    ("phrases", "found"),
    [
        ("VOLUME STEP 7", [1007]),
        ("kept at 12 & shown", [1012]),
        ("tny-req-13", [1013]),
        ("volumes step", []),
        ("step volume 7", []),
        (["volume step 7", "tny-req-13"], [1007, 1013]),
    ],
)
def test_contains_is_a_literal_phrase_in_any_case(reader: Reader, phrases: object, found: list[int]) -> None:
    assert reader.ids("/abstractitems", contains=phrases) == found


def test_contains_knows_no_stems_unless_asked_to_vary_the_words(reader: Reader) -> None:
    assert reader.ids("/abstractitems", contains="level shall", project=2) == list(range(1001, 1051))
    assert reader.ids("/abstractitems", contains="lev shal", project=2) == []
    assert len(reader.ids("/abstractitems", contains="lev shal", project=2, includeWildcard="true")) == 50
    assert reader.ids("/abstractitems", contains="evel", project=2, includeWildcard="true") == []


def test_contains_meets_a_phrase_within_a_script_without_spaces() -> None:
    project = tiny_project(1)
    project["items"][3]["fields"]["name"] = "中文界面文字"
    with JamaSimulator(project=project) as jama:
        reader = Reader(jama)
        with reader.session:
            assert reader.ids("/abstractitems", contains="界面") == [103]
            assert reader.ids("/abstractitems", contains="面界") == []


def test_lists_are_sorted_by_sequence_unless_told_otherwise(reader: Reader) -> None:
    found = reader.ids("/abstractitems", itemType=24, project=2)
    assert found == list(range(1001, 1051))  # 1.1.1.10 comes after 1.1.1.9
    newest = reader.ids("/abstractitems", itemType=24, project=2, sortBy="modifiedDate.desc")
    assert newest[0] == 1060
    assert reader.get("/abstractitems", sortBy="sideways").status_code == 400


def test_date_filters_are_inclusive_and_want_an_escaped_plus(reader: Reader) -> None:
    fourth, fifth = "2024-01-01T00:04:00.000+0000", "2024-01-01T00:05:00+0000"
    assert reader.ids("/abstractitems", project=2, modifiedDate=[fourth, fifth]) == [1004, 1005]
    after = reader.get("/abstractitems", project=2, lastActivityDate=fourth)
    assert after.json()["meta"]["pageInfo"]["totalResults"] == 57
    assert "%2B0000" in after.request.url
    literal = f"{reader.jama.url}/rest/v1/abstractitems?project=2&modifiedDate={fourth}"
    assert reader.session.get(literal, timeout=10).status_code == 400
    for wrong in ("2024-01-01", "2024-01-01T00:04:00+00:00", [fourth, fourth, fourth]):
        assert reader.get("/abstractitems", createdDate=wrong).status_code == 400


def test_neighbours_of_an_item(reader: Reader) -> None:
    assert reader.ids("/items/100/children") == [101, 103]
    assert reader.get("/items/102/parent").json()["data"]["id"] == 101
    assert reader.get("/items/100/parent").status_code == 404
    assert reader.ids("/items/1002/downstreamrelated") == [103]
    assert reader.ids("/items/103/upstreamrelated")[:2] == [1001, 1002]
    assert reader.ids("/items/1002/downstreamrelationships") == [2]
    assert reader.ids("/items/1002/upstreamrelationships") == []
    assert reader.data("/items/1001/comments")[0]["body"] == {"text": "<p>Why this level?</p>"}
    assert reader.ids("/comments/551/replies") == [552]
    assert reader.ids("/comments", rootCommentsOnly="true") == [551]
    assert reader.ids("/items/1001/attachments") == [107]
    assert reader.data("/items/1001/tags") == [{"id": 9, "name": "safety", "project": 2, "type": "tags"}]
    assert reader.ids("/tags/9/items") == [1001, 104, 106]
    assert reader.ids("/filters/8/results") == [1001]


def test_types_picklists_users_releases(reader: Reader) -> None:
    fields = reader.get("/itemtypes/24").json()["data"]["fields"]
    assert fields[0] | {"id": 24001, "required": True, "itemType": 24, "triggerSuspect": True} == fields[0]
    assert fields[-1]["fieldType"] == "TEST_RUN_RESULTS"
    widgets = {row["id"]: [widget["name"] for widget in row["widgets"]] for row in reader.data("/itemtypes")}
    assert "RELATIONSHIPS" in widgets[24]
    assert "RELATIONSHIPS" not in widgets[31]
    assert reader.ids("/projects/3/itemtypes") == [24]
    assert [row["active"] for row in reader.data("/picklists/61/options")] == [True, True, False]
    assert reader.get("/picklistoptions/301").json()["data"]["name"] == "Retired"
    assert reader.ids("/users") == [15]
    assert reader.ids("/users", includeInactive="true") == [15, 16]
    assert reader.get("/users/current").json()["data"]["username"] == "ada"
    assert reader.data("/releases", project=2)[0]["itemCount"] == 60
    assert [row["isFolder"] for row in reader.data("/projects")] == [True, False, False]
    assert reader.ids("/relationshiptypes") == [4]
    assert reader.ids("/baselines", project=2) == [7]
    assert reader.ids("/baselines", project=3) == [12]
    assert reader.ids("/baselines", project=1) == []


def test_test_plans_cycles_and_runs(reader: Reader) -> None:
    assert reader.ids("/testplans", project=2) == [104]
    assert reader.ids("/testplans/104/testcycles") == [105]
    assert reader.ids("/testcycles/105/testruns") == [106]
    assert reader.get("/testcycles").status_code == 404  # no list of cycles by project
    for narrow in ({"testCycle": 105}, {"testCase": 103}, {"testPlan": 104}, {}):
        assert reader.ids("/testruns", **narrow) == [106]
    assert reader.ids("/testruns", testCycle=999) == []


def test_what_is_not_there_is_a_404_in_jamas_words(reader: Reader) -> None:
    for path in ("/items/9", "/items/x", "/nothing", "/items//1001", "/items/1001/nothing", "/projects/99"):
        answer = reader.get(path)
        assert answer.status_code == 404
        assert answer.json()["meta"]["status"] == "Not Found"
    assert reader.get("/items/9").json()["meta"]["message"] == "Item not found"
    assert reader.session.get(f"{reader.jama.url}/rest/v0/projects", timeout=10).status_code == 404
    assert reader.session.get(f"{reader.jama.url}/rest/latest/projects", timeout=10).status_code == 200
    assert reader.session.get(f"{reader.jama.url}/rest", timeout=10).json()["data"] == ["v1", "latest"]
    assert len(reader.get("/").json()["data"]) >= 20
