"""Edits of the simulated world: dates, activities, deletions, relationships, shifting pages."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import requests

from reqall.testing.jama_simulator import JamaSimulator, World, tiny_project

NOON = datetime(2025, 5, 5, 12, tzinfo=UTC)
NOON_TEXT = "2025-05-05T12:00:00.000+0000"


@pytest.fixture
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(5)) as running:
        running.world.clock.set(NOON)
        yield running


def log_in(jama: JamaSimulator, session: requests.Session) -> None:
    auth = (jama.client_id, jama.client_secret)
    form = {"grant_type": "client_credentials"}
    answer = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10)
    session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


@pytest.fixture
def session(jama: JamaSimulator) -> Iterator[requests.Session]:
    with requests.Session() as session:
        log_in(jama, session)
        yield session


def data(jama: JamaSimulator, session: requests.Session, path: str, **params: object) -> list[dict]:
    return session.get(f"{jama.url}/rest/v1{path}", params=params, timeout=10).json()["data"]


def item(jama: JamaSimulator, session: requests.Session, identifier: int) -> dict:
    return data(jama, session, f"/items/{identifier}")


def test_an_edit_is_stamped_logged_and_makes_links_suspect(jama: JamaSimulator, session: requests.Session) -> None:
    jama.world.edit(1002, name="Mute", status=None, **{"priority$24": [301]})
    edited = item(jama, session, 1002)
    assert edited["modifiedDate"] == edited["lastActivityDate"] == NOON_TEXT
    assert (edited["fields"]["name"], edited["fields"]["priority$24"]) == ("Mute", [301])
    assert "status" not in edited["fields"]
    assert [row["id"] for row in data(jama, session, "/abstractitems", modifiedDate=NOON_TEXT)] == [1002]
    assert [row["id"] for row in data(jama, session, "/abstractitems", contains="mute")] == [1002]
    activity = data(jama, session, "/activities", project=2)[0]
    shown = {"eventType": "UPDATE", "objectType": "ITEM", "item": 1002, "date": NOON_TEXT, "user": 15}
    assert activity | shown == activity
    links = data(jama, session, "/relationships", project=2, lastId=0)
    assert [link["id"] for link in links if link["suspect"]] == [2]


def test_dates_have_whole_seconds_and_never_run_behind_the_data(jama: JamaSimulator) -> None:
    jama.world.clock.advance(0.7)
    assert jama.world.clock.stamp() == NOON_TEXT
    jama.world.clock.advance(0.7)
    assert jama.world.clock.stamp() == "2025-05-05T12:00:01.000+0000"
    project = tiny_project(1)
    project["items"][0]["modifiedDate"] = "2999-01-01T00:00:00.000+0000"
    assert World(project).clock.stamp() > "2999"


def test_added_items_take_their_place(jama: JamaSimulator, session: requests.Session) -> None:
    added = jama.world.add({"itemType": 24, "parent": {"item": 102}, "fields": {"name": "New"}}, position=0)
    first = data(jama, session, "/items/102/children")[0]
    assert (first["id"], first["documentKey"], first["project"]) == (added, f"TNY-REQ-{added}", 2)
    assert first["createdDate"] == NOON_TEXT
    assert first["location"]["sequence"] == "1.1.1.1"
    assert item(jama, session, 1001)["location"]["sequence"] == "1.1.1.2"


def test_a_deleted_container_takes_all_below_and_leaves_one_event(
    jama: JamaSimulator, session: requests.Session
) -> None:
    jama.world.delete(102)
    assert [row["id"] for row in data(jama, session, "/items", project=2)] == [100, 101, 103]
    assert session.get(f"{jama.url}/rest/v1/items/1003", timeout=10).status_code == 404
    assert data(jama, session, "/relationships", project=2, lastId=0) == []
    assert data(jama, session, "/abstractitems", modifiedDate=NOON_TEXT) == []
    events = data(jama, session, "/activities", project=2, deleteEvents="true", date=NOON_TEXT)
    assert [(event["eventType"], event["item"]) for event in events] == [("DELETE", 102)]
    affected = data(jama, session, f"/activities/{events[0]['id']}/affecteditems")
    assert [row["id"] for row in affected] == [102, 1001, 1002, 1003, 1004, 1005]
    jama.faults.affected_items_after_delete = False
    assert data(jama, session, f"/activities/{events[0]['id']}/affecteditems") == []
    jama.world.clock.advance(1)
    later = jama.world.clock.stamp()
    assert data(jama, session, "/activities", project=2, deleteEvents="true", date=later) == []


def test_a_restored_container_comes_back_in_order_with_its_links(
    jama: JamaSimulator, session: requests.Session
) -> None:
    before = [row["id"] for row in data(jama, session, "/items", project=2)]
    jama.world.delete(102)
    jama.world.restore(102)
    assert [row["id"] for row in data(jama, session, "/items", project=2)] == before
    assert len(data(jama, session, "/relationships", project=2, lastId=0)) == 5
    assert len(data(jama, session, "/abstractitems", modifiedDate=NOON_TEXT)) == 6
    jama.world.delete(1001)
    jama.world.delete(103)
    jama.world.restore(1001, move_dates=False)
    assert 1 not in jama.world.collections["relationships"]
    jama.world.restore(103)
    assert sorted(jama.world.collections["relationships"]) == [1, 2, 3, 4, 5, 1_000_001]


def test_vanished_items_leave_no_event(jama: JamaSimulator, session: requests.Session) -> None:
    jama.world.vanish(1001)
    assert data(jama, session, "/activities", project=2) == []
    assert 1001 not in [row["id"] for row in data(jama, session, "/items", project=2)]


def test_a_move_changes_the_place_and_the_last_activity_only(jama: JamaSimulator, session: requests.Session) -> None:
    jama.world.move(102, {"project": 3})
    moved, child = item(jama, session, 102), item(jama, session, 1001)
    assert moved["lastActivityDate"] == NOON_TEXT > moved["modifiedDate"]
    assert (moved["project"], child["project"]) == (3, 3)
    assert child["location"]["sequence"] == "4.1"
    jama.world.move(1001, 103, position=0)
    assert (
        item(jama, session, 1001)["location"] | {"sequence": "1.2.1", "parent": {"item": 103}}
        == (item(jama, session, 1001)["location"])
    )
    with pytest.raises(ValueError, match="below itself"):
        jama.world.move(100, 103)


def test_comments_and_links_move_the_last_activity(jama: JamaSimulator, session: requests.Session) -> None:
    jama.world.comment(1003, "<p>Why?</p>")
    link = jama.world.relate(1004, 1005)
    moved = [row["id"] for row in data(jama, session, "/abstractitems", lastActivityDate=NOON_TEXT)]
    assert moved == [1003, 1004, 1005]
    assert data(jama, session, "/abstractitems", modifiedDate=NOON_TEXT) == []
    assert data(jama, session, "/items/1003/comments")[0]["body"]["text"] == "<p>Why?</p>"
    assert data(jama, session, f"/relationships/{link}")["toItem"] == 1005
    jama.world.unrelate(link)
    assert session.get(f"{jama.url}/rest/v1/relationships/{link}", timeout=10).status_code == 404
    kinds = [row["objectType"] for row in data(jama, session, "/activities", project=2)]
    assert kinds == ["RELATIONSHIP", "RELATIONSHIP", "COMMENT"]
    assert data(jama, session, "/activities", project=2, deleteEvents="true") == []
    assert len(data(jama, session, "/activities", project=2, objectType=["COMMENT", "USER"])) == 1


def test_pages_shift_when_items_come_between_them(jama: JamaSimulator, session: requests.Session) -> None:
    seen = []

    def insert_before_the_second(world: World, path: str, start: int) -> None:
        seen.append((path, start))
        if start == 4:
            world.add({"itemType": 24, "parent": {"item": 102}, "fields": {"name": "New"}}, position=0)

    jama.faults.before_page = insert_before_the_second
    first = [row["id"] for row in data(jama, session, "/items", project=2, maxResults=4)]
    second = [row["id"] for row in data(jama, session, "/items", project=2, startAt=4, maxResults=4)]
    assert seen == [("/rest/v1/items", 0), ("/rest/v1/items", 4)]
    assert first == [100, 101, 102, 1001]
    assert second == [1001, 1002, 1003, 1004]


def test_a_failing_hook_is_told_when_the_simulator_closes() -> None:
    def fail(_world: World, _path: str, _start: int) -> None:
        raise LookupError("of the hook")

    jama = JamaSimulator(project=tiny_project(), before_page=fail)
    with requests.Session() as session:
        jama.start()
        log_in(jama, session)
        answer = session.get(f"{jama.url}/rest/v1/projects", timeout=10)
        assert answer.json()["meta"]["message"] == "LookupError: of the hook"
        with pytest.raises(RuntimeError, match="inside the simulator"):
            jama.__exit__(None, None, None)
