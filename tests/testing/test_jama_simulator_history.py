"""The past of the simulated Jama: versions, baselines, relationships as they once were; files; twins."""

import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests

from reqall.testing.jama_simulator import JamaSimulator, World, tiny_project

Get = Callable[..., requests.Response]
NOON = datetime(2025, 5, 5, 12, tzinfo=UTC)


@pytest.fixture
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(3)) as running:
        running.world.clock.set(NOON)
        yield running


@pytest.fixture
def get(jama: JamaSimulator) -> Iterator[Get]:
    auth, form = (jama.client_id, jama.client_secret), {"grant_type": "client_credentials"}
    token = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10).json()["access_token"]
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        yield lambda path, **params: session.get(f"{jama.url}/rest/v1{path}", params=params, timeout=10)


def data(answer: requests.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def moment(minute: int) -> str:
    return f"2025-05-05T12:{minute:02}:00.000+0000"


def test_an_edit_makes_a_version_and_keeps_the_old_one(jama: JamaSimulator, get: Get) -> None:
    jama.world.edit(1001, name="Mute", status=None)
    jama.world.clock.advance(60)
    jama.world.edit(1001, **{"name": "Quiet", "due$24": "2025-06-01T00:00:00.000+0000"})
    versions = data(get("/items/1001/versions"))
    assert [one["versionNumber"] for one in versions] == [1, 2, 3]
    assert versions[2] | {"versionedItem": [1001, 3], "createdDate": moment(1), "createdBy": 15} == versions[2]
    assert versions[2]["changeDetails"] == "Changed: due$24, name"
    first, second, third = (data(get(f"/items/1001/versions/{n}/versioneditem")) for n in (1, 2, 3))
    assert [one["fields"]["name"] for one in (first, second, third)] == ["Volume step 1", "Mute", "Quiet"]
    assert (first["fields"]["status"], "status" in second["fields"]) == (293, False)
    assert (first["fields"]["due$24"], third["fields"]["due$24"]) == ("2024-06-01", "2025-06-01")
    assert (first["version"], first["currentVersion"]) == (1, 3)
    assert not {"lock", "location"} & first.keys()
    assert data(get("/abstractitems/1001/versions/2"))["versionNumber"] == 2
    assert get("/items/1001/versions/4").json()["meta"]["message"] == "Version not found"
    assert get("/items/1001/versions/4/versioneditem").status_code == 404


def test_a_run_names_the_version_it_ran_and_the_present_one(jama: JamaSimulator, get: Get) -> None:
    jama.world.edit(103, name="Volume up and down")
    run = data(get("/testruns/106"))
    assert (run["testCaseVersionNumber"], run["testCaseCurrentVersionNumber"]) == (1, 2)


def test_a_baseline_keeps_what_was(jama: JamaSimulator, get: Get) -> None:
    before = data(get("/baselines/12/versioneditems"))
    assert [(one["id"], one["version"], one["baselineLocation"]["sequence"]) for one in before] == [
        (300, 1, "1"),
        (301, 1, "2"),
        (302, 1, "3"),
    ]
    assert (before[1]["fields"]["name"], before[1]["currentVersion"]) == ("Loudness step 1", 2)
    jama.world.edit(300, name="Changed")
    jama.world.delete(301)
    jama.world.move(302, {"project": 2})
    after = data(get("/baselines/12/versioneditems"))
    assert [one["fields"] for one in after] == [one["fields"] for one in before]
    assert after[0]["currentVersion"] == 2
    assert [one["baselineLocation"] for one in after] == [one["baselineLocation"] for one in before]
    assert data(get("/baselines/12/versioneditems/301"))["baseline"] == 12
    assert get("/baselines/12/versioneditems/1001").status_code == 404
    links = data(get("/baselines/12/versioneditems/301/versionedrelationships"))
    assert [(one["id"], one["fromItem"], one["toItem"]) for one in links] == [(1_000_001, [301, 1], [302, 1])]


@pytest.mark.parametrize(
    ("origin", "found"),
    [
        ({"project": 2}, [100, 101, 102, 1001, 1002, 1003, 103]),
        ({"item": 101}, [101, 102, 1001, 1002, 1003]),
        ({"release": 75}, [1001, 1002, 1003]),
        ({"filter": 8}, [1001]),
        ({}, [100, 101, 102, 1001, 1002, 1003, 103]),
    ],
)
def test_a_baseline_holds_what_its_origin_says(origin: dict[str, int], found: list[int]) -> None:
    baseline = {"id": 1, "name": "B", "project": 2, "createdDate": "2024-06-01T00:00:00.000+0000", "origin": origin}
    world = World(tiny_project(3) | {"baselines": [baseline]})
    assert list(world.baselines.content(baseline)) == found
    early = baseline | {"createdDate": "2024-01-01T00:01:30.000+0000"}
    world = World(tiny_project(3) | {"baselines": [early]})
    assert list(world.baselines.content(early)) == [one for one in found if one < 1002]


def test_relationships_of_the_past(jama: JamaSimulator, get: Get) -> None:
    path = "/abstractitems/1001/versionedrelationships"

    def at(minute: int) -> list[int]:
        return [one["id"] for one in data(get(path, timestamp=moment(minute)))]

    jama.world.clock.advance(600)
    added = jama.world.relate(1001, 1002)
    jama.world.clock.advance(600)
    jama.world.unrelate(1)
    jama.world.clock.advance(600)
    jama.world.delete(1002)
    assert [at(minute) for minute in (5, 10, 20, 30)] == [[1], [1, added], [added], []]
    jama.world.clock.advance(600)
    jama.world.restore(1002)
    assert [at(minute) for minute in (29, 39, 40)] == [[added], [], [added]]
    assert get(path).status_code == get(path, timestamp="now").status_code == 400
    jama.faults.relationship_history_since = moment(20)
    assert at(20) == [added]
    predates = get(path, timestamp=moment(19))
    assert predates.json()["meta"]["message"] == "The requested resource predates relationship history tracking."


def test_versions_in_a_file_are_numbered_from_one() -> None:
    project = tiny_project()
    project["versions"] = project["versions"][1:]
    with pytest.raises(ValueError, match="versions of item 301"):
        World(project)


def test_twins_share_a_global_id_and_may_fall_out_of_step(jama: JamaSimulator, get: Get) -> None:
    assert [one["id"] for one in data(get("/items/1001/synceditems"))] == [301]
    assert data(get("/items/1001/synceditems/301/syncstatus"))["inSync"] is False
    jama.world.edit(301, **jama.world.items[1001]["fields"])
    assert data(get("/items/1001/synceditems/301/syncstatus"))["inSync"] is True
    assert get("/items/1001/synceditems/302/syncstatus").status_code == 404
    child = jama.world.add({"itemType": 24, "parent": {"item": 1001}, "globalId": "GID-c", "fields": {"name": "a"}})
    other = jama.world.add({"itemType": 24, "parent": {"item": 1001}, "fields": {"name": "b"}})
    twin = jama.world.add({"itemType": 24, "parent": {"item": 301}, "globalId": "GID-c", "fields": {"name": "c"}})
    summary = data(get("/items/1001/synceditems/301/syncstatus"))["collectionSummary"]
    assert summary == {"totalChildren": 2, "totalMissing": 1, "totalOutOfSync": 1}
    assert len({child, other, twin}) == 3


def test_a_status_can_become_any_active_option_but_itself(get: Get) -> None:
    options = data(get("/items/1001/workflowtransitionoptions"))
    assert [(one["action"], one["newStatus"]) for one in options] == [("High", 300)]
    assert get("/items/103/workflowtransitionoptions").json()["data"] == []


def test_sets_have_no_relationships(jama: JamaSimulator) -> None:
    with pytest.raises(ValueError, match="item 101 is a set"):
        jama.world.relate(1001, 101)
    assert sorted(jama.world.collections["relationships"]) == [1, 2, 3, 1_000_001]


def test_files_are_of_their_kind() -> None:
    project = tiny_project(1)
    pdf = project["items"][-4]
    kinds = {"p.png": "image/png", "t.csv": "text/csv", "o.bin": "application/octet-stream"}
    for number, (name, mime) in enumerate(kinds.items(), 501):
        frame = pdf | {"id": number, "documentKey": f"TNY-ATT-{number}", "fileName": name, "mimeType": mime}
        project["items"].append(frame | ({"content": "a,b\n1,é\n"} if name == "t.csv" else {}))
    with JamaSimulator(project=project) as jama:
        auth, form = (jama.client_id, jama.client_secret), {"grant_type": "client_credentials"}
        token = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10).json()["access_token"]

        def get(path: str, **params: str) -> requests.Response:
            headers = {"Authorization": f"Bearer {token}"}
            return requests.get(f"{jama.url}/rest/v1{path}", headers=headers, params=params, timeout=10)

        files = {number: get(f"/attachments/{number}/file") for number in (107, 501, 502, 503)}
        for number, file in files.items():
            assert data(get(f"/attachments/{number}"))["fileSize"] == len(file.content)
            url = f"https://elsewhere.example/contour/attachment/{number}/x"
            assert get("/files", url=url).content == file.content
        for wrong, status in (
            ("107", 400),
            ("https://a.example/attachments/107/x", 400),
            ("http://a/attachment/9/x", 404),
        ):
            assert get("/files", url=wrong).status_code == status
        assert get("/files").status_code == 400
    assert files[502].text == "a,b\n1,é\n"
    assert files[107].content.endswith(b"%%EOF\n")
    start = int(files[107].content.rpartition(b"startxref\n")[2].split()[0])
    assert files[107].content[start:].startswith(b"xref")
    header, pixels = files[501].content[8:33], files[501].content[41:-16]
    width, height = struct.unpack(">II", header[8:16])
    assert len(zlib.decompress(pixels)) == height * (1 + 3 * width)
