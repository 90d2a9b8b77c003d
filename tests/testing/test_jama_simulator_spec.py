"""What the simulated Jama serves, held against a specification of the real one's API.

`REQALL_JAMA_SPEC` names a JSON file with `paths` (parameters and the response's model for each
GET) and `definitions` (the models: `properties` with their types, `allowed_values`).
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from reqall.testing.jama_simulator import Faults, JamaSimulator, World, tiny_project
from reqall.testing.jama_simulator.ask import Ask, Endpoint
from reqall.testing.jama_simulator.query import Params
from reqall.testing.jama_simulator.records import KINDS
from reqall.testing.jama_simulator.resources import ENDPOINTS

SPEC_FILE = os.environ.get("REQALL_JAMA_SPEC")
pytestmark = pytest.mark.skipif(not SPEC_FILE, reason="REQALL_JAMA_SPEC names no specification of Jama's API")

NEWER_PATHS = {f"/relationshiprulesets{end}" for end in ("", "/{}", "/{}/projects")}  # as both outside clients ask
UNSERVED_PATHS = {"/system/settings/corsdomains"}  # a setting of administrators
NEWER_PARAMETERS = {"/abstractitems": {"includeWildcard"}}
IGNORED_PARAMETERS = {"/relationshiptypes/{}": {"timestamp"}}
FUTURE_FIELD_TYPES = {"TEST_RUN_RESULTS", "FUTURE_WIDGET"}  # Jama adds types: readers have to bear them

# The specification marks nothing as required: these are what a reader cannot do without.
FRAME = "id documentKey globalId itemType project createdDate modifiedDate lastActivityDate createdBy modifiedBy"
FRAME += " fields resources type"
REQUIRED = {
    "Item": f"{FRAME} location lock",
    "Attachment": f"{FRAME} fileName mimeType fileSize lock",
    "TestPlan": f"{FRAME} archived",
    "TestCycle": FRAME,
    "TestRun": f"{FRAME} testCaseVersionNumber testCaseCurrentVersionNumber testGroup sortOrderFromTestGroup",
    "VersionedItem": f"{FRAME} version currentVersion",
    "BaselineItem": f"{FRAME} version currentVersion baseline baselineLocation",
    "Activity": "id date details action user item eventType objectType",
    "Baseline": "id name createdDate createdBy project origin",
    "Comment": "id createdDate createdBy deleted status body commentType location",
    "Filter": "id name author projectScope public",
    "ItemType": "id typeKey display displayPlural image category widgets fields system",
    "ItemTypeField": "id name label fieldType readOnly required triggerSuspect synchronize itemType",
    "Location": "sortOrder globalSortOrder sequence parent",
    "Lock": "locked",
    "PickList": "id name",
    "PickListOption": "id name active pickList sortOrder",
    "Project": "id isFolder fields",
    "Relationship": "id fromItem toItem relationshipType suspect",
    "RelationshipType": "id name isDefault",
    "Release": "id name project active archived itemCount",
    "SyncStatus": "inSync",
    "Tag": "id name project",
    "TestCycleTestGroup": "testGroup name assignedTo testCycle",
    "TestGroup": "id name assignedTo",
    "User": "id username firstName lastName email active",
    "UserGroup": "id name",
    "Version": "item versionNumber versionedItem createdDate createdBy",
    "VersionedRelationship": "id fromItem toItem relationshipType suspect",
    "WorkflowTransition": "id action newStatus",
}
OF_KIND = dict(zip(KINDS, ("Item", "Attachment", "TestPlan", "TestCycle", "TestRun"), strict=True))
# The generator of the specification took an item's web links for the envelope's links.
WEB_LINK = {"properties": {"id": "int", "url": "str", "description": "str"}, "allowed_values": {}}

Get = Callable[[str, dict[str, str]], requests.Response]
SPEC: dict[str, Any] = json.loads(Path(SPEC_FILE).read_text(encoding="utf-8")) if SPEC_FILE else {"paths": {}}


def anonymous(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


READS = {anonymous(path): methods["get"] for path, methods in SPEC["paths"].items() if "get" in methods}

FIRST = {
    "abstractitems": 301, "activities": 1, "attachments": 107, "baselines": 7, "comments": 551, "filters": 10,
    "items": 1001, "itemtypes": 24, "picklistoptions": 293, "picklists": 61, "projects": 2, "relationships": 1,
    "relationshiprulesets": 3, "relationshiptypes": 4, "releases": 75, "tags": 9, "testcycles": 105,
    "testplans": 104, "testruns": 106, "usergroups": 6, "users": 15,
}  # fmt: skip
# Where the collection's usual example has nothing to show.
FIRST_OF_PATH = {"/items/{}/children": 100}
FIRST_OF_PATH |= {f"/items/{{}}/{end}": 103 for end in ("links", "links/{}", "lock")}
FIRST_OF_PATH |= {f"/items/{{}}/upstream{end}": 103 for end in ("related", "relationships")}
LATER = {"versionNum": 1, "itemId": 103, "testGroupId": 11, "testCaseId": 103, "syncedItemId": 301}
PAIRS = {
    "/files": {"url": "https://example.invalid/attachment/107/a.pdf"},
    "/relationships": {"lastId": "0"},
    "/abstractitems/{}/versionedrelationships": {"timestamp": "2025-01-01T00:00:00.000+0000"},
}


def numbers_of(endpoint: Endpoint) -> tuple[int, ...]:
    _, collection, *rest = endpoint.path.split("/")
    names = [part.strip("{}") for part in rest if part.startswith("{")][1:]
    later = [(71 if "links" in rest else 9) if name == "partId" else LATER[name] for name in names]
    first = FIRST_OF_PATH.get(anonymous(endpoint.path), FIRST.get(collection, 0))
    return (first, *later) if "{" in endpoint.path else ()


def pairs_of(endpoint: Endpoint) -> dict[str, str]:
    path = anonymous(endpoint.path)
    wants_project = any(one["name"] == "project" for one in READS.get(path, {}).get("parameters", []))
    return PAIRS.get(path, {}) | ({"project": "2"} if wants_project else {})


def live_in(world: World) -> World:
    """Give every list something to show."""
    for item in (1001, 104, 106, 107):
        world.comment(item, "<p>Seen.</p>")
    world.relate(104, 106)
    world.relate(106, 104)
    return world


@pytest.fixture(scope="module")
def get() -> Iterator[Get]:
    with JamaSimulator(project=tiny_project()) as jama, requests.Session() as session:
        live_in(jama.world)
        log_in(jama, session)
        yield lambda path, pairs: session.get(f"{jama.url}/rest/v1{path}", params=pairs, timeout=10)


def log_in(jama: JamaSimulator, session: requests.Session) -> None:
    auth, form = (jama.client_id, jama.client_secret), {"grant_type": "client_credentials"}
    token = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10).json()["access_token"]
    session.headers["Authorization"] = f"Bearer {token}"


def check(value: Any, kind: Any, where: str, models: dict[str, Any]) -> None:
    """Hold a value against a type of the specification: a name, [type], {str: [type]} or alternatives."""
    if value is None or (isinstance(kind, list) and len(kind) > 1):
        return
    if isinstance(kind, list):
        assert isinstance(value, list), where
        for entry in value:
            check(entry, kind[0], where, models)
    elif isinstance(kind, dict):
        assert isinstance(value, dict), where
        for name, entry in value.items():
            inner = kind["str"]
            check(entry, inner[0] if len(inner) == 1 else inner, f"{where}.{name}", models)
    elif kind in ("int", "bool", "str"):
        assert type(value) is {"int": int, "bool": bool, "str": str}[kind], (where, value)
    elif kind == "datetime":
        assert re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}\+0000)?", value), (where, value)
    else:
        check_model(value, model_of(value, kind), where, models)


def model_of(row: dict[str, Any], model: str) -> str:
    if model not in ("Item", "AbstractItem", "AbstractVersionedItem") or row.get("type") not in OF_KIND:
        return model
    return ("Versioned" if "version" in row else "") + OF_KIND[row["type"]]


def check_model(row: dict[str, Any], model: str, where: str, models: dict[str, Any]) -> None:
    definition = models[model]
    unknown = row.keys() - definition["properties"].keys() - {"type"}
    assert not unknown, (where, model, unknown)
    lacking = set(REQUIRED.get(model, "").split()) - row.keys()
    assert not lacking, (where, model, lacking)
    for name, value in row.items():
        check(value, definition["properties"].get(name, "str"), f"{where}.{name}", models)
    for name, allowed in definition["allowed_values"].items():
        first, *others = re.sub(r"[^a-z_]", "", name).split("_")
        value = row.get(first + "".join(map(str.capitalize, others)))
        assert value in (None, *allowed, *FUTURE_FIELD_TYPES), (where, model, name, value)


def models_for(path: str) -> dict[str, Any]:
    if "/links" not in path:
        return SPEC["definitions"]
    renamed = {"LinkDataWrapper": "WebLink", "LinkDataListWrapper": ["WebLink"]}
    definitions = {"WebLink": WEB_LINK, **SPEC["definitions"]}
    for name, data in renamed.items():
        old = definitions[name]
        definitions[name] = {**old, "properties": {**old["properties"], "data": data}}
    return definitions


def test_every_reading_path_of_the_specification_is_served_and_no_other() -> None:
    served = [anonymous(endpoint.path) for endpoint in ENDPOINTS]
    assert len(served) == len(set(served))
    assert set(served) == (READS.keys() - UNSERVED_PATHS) | NEWER_PATHS


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.path)
def test_the_parameters_are_those_of_the_specification(endpoint: Endpoint) -> None:
    asked: set[str] = set()

    class Recording(Params):
        def many(self, name: str) -> list[str]:
            asked.add(name)
            return super().many(name)

    path = anonymous(endpoint.path)
    params = Recording((*pairs_of(endpoint).items(), ("contains", "x")))
    endpoint.answer(Ask(live_in(World(tiny_project())), Faults(), params, numbers_of(endpoint)))
    parameters = READS.get(path, {}).get("parameters", [])
    known = {one["name"] for one in parameters if one["in"] == "query"} - {"startAt", "maxResults", "include"}
    assert asked == (known - IGNORED_PARAMETERS.get(path, set())) | NEWER_PARAMETERS.get(path, set())
    pages = {"startAt", "maxResults"} <= {one["name"] for one in parameters}
    assert (endpoint.form == "list") == (pages or path in NEWER_PATHS - {"/relationshiprulesets/{}"})


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.path)
def test_answers_have_the_fields_of_the_specification(endpoint: Endpoint, get: Get) -> None:
    path = anonymous(endpoint.path)
    for number in numbers_of(endpoint):
        path = path.replace("{}", str(number), 1)
    answer = get(path, pairs_of(endpoint))
    assert answer.status_code == 200, answer.text
    if endpoint.form == "file":
        assert answer.content.startswith(b"%PDF")
        return
    body = answer.json()
    assert body["data"], "an empty answer proves nothing"
    if (wrapper := READS.get(anonymous(endpoint.path), {}).get("response")) is None:
        assert anonymous(endpoint.path) in NEWER_PATHS
    else:
        check(body, wrapper[0], endpoint.path, models_for(endpoint.path))


def test_all_of_the_demo_has_the_fields_of_the_specification() -> None:
    with JamaSimulator() as demo, requests.Session() as session:
        log_in(demo, session)
        lists = ["abstractitems", "comments", "users", "itemtypes", "picklists", "projects", "relationshiptypes"]
        lists += ["usergroups", "testruns", "filters"]
        per_project = ["relationships?lastId=0", "tags?", "releases?", "baselines?", "testplans?", "activities?"]
        lists += [f"{name}&project={project}" for name in per_project for project in (51, 52)]
        lists += [f"baselines/{one}/versioneditems" for one in demo.world.collections["baselines"]]
        lists += [f"testplans/{one['id']}/testgroups" for one in demo.world.every("testplans")]
        for asked in lists:
            path, _, query = asked.partition("?")
            wrapper = READS[anonymous(re.sub(r"\d+", "{x}", f"/{path}"))]["response"][0]
            for start in range(0, 400, 50):
                url = f"{demo.url}/rest/v1/{path}?{query}&maxResults=50&startAt={start}"
                body = session.get(url, timeout=10).json()
                check(body, wrapper, asked, SPEC["definitions"])
                if len(body["data"]) < 50:
                    break
