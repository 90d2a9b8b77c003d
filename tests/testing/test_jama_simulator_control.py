"""The control API of the simulated Jama: as its page shows it, and what it refuses."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from reqall.testing.jama_simulator import JamaSimulator, tiny_project

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "rehearse-with-the-simulator.md"
CUT = "--- next block ---"


@pytest.fixture
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(60)) as running:
        yield running


def control(jama: JamaSimulator, method: str, path: str = "", body: Any = None, **kwargs: Any) -> requests.Response:
    data = body if isinstance(body, str) else json.dumps(body) if body is not None else None
    return requests.request(method, f"{jama.url}/_simulator{path}", data=data, timeout=10, **kwargs)


def edit(jama: JamaSimulator, **command: Any) -> dict[str, Any]:
    answer = control(jama, "POST", "/edits", command)
    assert answer.status_code == 200, answer.text
    return answer.json()["outcomes"][0]


def read(jama: JamaSimulator, path: str, **params: Any) -> requests.Response:
    auth, form = (jama.client_id, jama.client_secret), {"grant_type": "client_credentials"}
    token = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    return requests.get(f"{jama.url}/rest/v1{path}", headers=headers, params=params, timeout=10)


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="needs curl and bash")
def test_every_call_of_the_guide_works_and_answers_what_it_shows() -> None:
    blocks = re.findall(r"^```(sh|json)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shell = [text for language, text in blocks if language == "sh"]
    shown = {
        sum(kind == "sh" for kind, _ in blocks[:place]) - 1: json.loads(text)
        for place, (language, text) in enumerate(blocks)
        if language == "json"
    }
    assert (len(shell) > 8, len(shown) > 4) == (True, True)
    with JamaSimulator() as demo:
        script = f"\necho; echo '{CUT}'\n".join(shell).replace("http://127.0.0.1:8765", demo.url)
        done = subprocess.run(
            ["bash", "-euo", "pipefail"], input=script, env=os.environ, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert demo.requests == []
        assert read(demo, "/items/20249").json()["data"]["fields"]["name"] == "Delay of the occlusion alarm"
    answers = [json.loads(text) if text.strip() else None for text in done.stdout.split(CUT)]
    assert len(answers) == len(shell)
    assert {number: answers[number] for number in shown} == shown


def test_the_guide_names_every_switch_and_every_edit(jama: JamaSimulator) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    switches = control(jama, "GET", "/faults").json().keys() - {"fail_next"}
    assert len(switches) > 15
    assert {name for name in switches if f"`{name}`" not in text} == set()
    answer = control(jama, "POST", "/edits", {"do": "nothing"}).json()["error"]
    for name in re.findall(r"'(\w+)'", answer.partition("expected tags")[2]):
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "127.8.8.8", "[::1]:8765", "LOCALHOST."])
def test_loopback_names_are_let_in(jama: JamaSimulator, host: str) -> None:
    assert control(jama, "GET", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example.com"},
        {"Host": "10.0.0.5"},
        {"Host": "localhost.example.com"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "https://example.com"},
        {"Origin": "null"},
        {"Host": "localhost", "Origin": "http://127.0.0.1.example.com"},
    ],
)
def test_everyone_else_is_refused(jama: JamaSimulator, headers: dict[str, str]) -> None:
    before = jama.world.revision
    refused = control(jama, "POST", "/edits", {"do": "delete", "item": 1001}, headers=headers)
    assert refused.status_code == 403
    assert jama.world.revision == before
    assert control(jama, "GET", headers={"Origin": jama.url}).status_code == 200


def test_it_stands_beside_jama(jama: JamaSimulator) -> None:
    overview = control(jama, "GET", "/").json()
    assert [(one["key"], one["items"]) for one in overview["projects"]] == [("TNY", 68), ("OTH", 3)]
    for path in overview["paths"]:
        assert requests.get(jama.url + path, timeout=10).status_code in (200, 405)
    assert control(jama, "GET", "/nothing").status_code == 404
    assert requests.get(f"{jama.url}/_simulators", timeout=10).status_code == 404
    assert [seen.path for seen in jama.requests] == ["/_simulators"]
    with JamaSimulator(project=tiny_project(), context_path="contour") as deep:
        bare = deep.url.removesuffix("/contour")
        assert requests.get(f"{bare}/_simulator", timeout=10).status_code == 200


def test_switches_are_set_shown_and_set_back(jama: JamaSimulator) -> None:
    shown = control(jama, "PATCH", "/faults", {"rate_limit_per_second": 0, "over_cap": "error", "expires_in": 5}).json()
    assert (shown["rate_limit_per_second"], jama.faults.over_cap, jama.faults.expires_in) == (0, "error", 5)
    assert read(jama, "/projects").status_code == 429
    control(jama, "PATCH", "/faults", {"rate_limit_per_second": None})
    assert read(jama, "/projects").status_code == 200
    control(jama, "DELETE", "/faults")
    assert jama.faults.expires_in == 3600
    assert read(jama, "/projects", maxResults=51).status_code == 200


def test_failures_and_revoked_tokens_reach_the_reader(jama: JamaSimulator) -> None:
    control(jama, "POST", "/failures", {"kinds": [500]})
    assert read(jama, "/projects").status_code == 500
    session = read(jama, "/projects").request.headers["Authorization"]
    assert control(jama, "POST", "/tokens/revoke").json() == {"revoked": True}
    answer = requests.get(f"{jama.url}/rest/v1/projects", headers={"Authorization": session}, timeout=10)
    assert answer.status_code == 401


def test_edits_are_made_by_id_or_key(jama: JamaSimulator) -> None:
    added = edit(jama, do="add", item={"itemType": 24, "parent": {"item": "TNY-FLD-1"}, "fields": {"name": "New"}})
    assert read(jama, f"/items/{added['id']}").json()["data"]["documentKey"] == added["documentKey"]
    at_root = edit(jama, do="add", item={"itemType": 30, "parent": {"project": 3}}, position=0)
    assert read(jama, f"/items/{at_root['id']}").json()["data"]["location"]["sequence"] == "1"
    changed = edit(jama, do="edit", item="tny-req-1", fields={"name": "Mute", "status": None})
    assert changed == {"id": 1001, "version": 2}
    edit(jama, do="delete", item=[1002, "TNY-REQ-3"])
    event = read(jama, "/activities", project=2, deleteEvents="true").json()["data"][0]
    assert event["eventType"] == "BATCH_DELETE"
    gone = read(jama, f"/activities/{event['id']}/affecteditems").json()["data"]
    assert [one["id"] for one in gone] == [1002, 1003]
    edit(jama, do="restore", item="TNY-REQ-3", move_dates=False)
    assert read(jama, "/items/1003").json()["data"]["modifiedDate"] == "2024-01-01T00:03:00.000+0000"
    edit(jama, do="vanish", item=1004)
    edit(jama, do="move", item=1005, project=3, position=1)
    assert read(jama, "/items/1005").json()["data"]["project"] == 3
    link = edit(jama, do="relate", upstream=1006, downstream=1007, type=4)["id"]
    edit(jama, do="unrelate", relationship=link)
    assert read(jama, f"/relationships/{link}").status_code == 404
    reply = edit(jama, do="comment", item=1001, text="<p>Indeed.</p>", reply_to=551)["id"]
    assert read(jama, "/comments/551/replies").json()["data"][-1]["id"] == reply


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        ("POST", "/edits", "{", "Expecting"),
        ("POST", "/edits", [], "JSON object"),
        ("POST", "/edits", {}, "do"),
        ("POST", "/edits", {"edits": []}, "at least 1 item"),
        ("POST", "/edits", {"edits": [{"do": "vanish", "item": 1}], "befor": {}}, "do"),
        ("POST", "/edits", {"do": "edit", "item": 1001, "fields": {}}, "at least 1 item"),
        ("POST", "/edits", {"do": "edit", "item": 1001, "fields": {"a": 1}, "x": 1}, "Extra inputs"),
        ("POST", "/edits", {"do": "delete", "item": "TNY-REQ-999"}, "there is no item 'TNY-REQ-999'"),
        ("POST", "/edits", {"do": "delete", "item": [101, 1001]}, "below another"),
        ("POST", "/edits", {"do": "restore", "item": 1001}, "no deleted item 1001"),
        ("POST", "/edits", {"do": "move", "item": 1001}, "either below or project"),
        ("POST", "/edits", {"do": "move", "item": 100, "below": 103}, "below itself"),
        ("POST", "/edits", {"do": "move", "item": 100, "project": 9}, "no project 9"),
        ("POST", "/edits", {"do": "relate", "upstream": 101, "downstream": 1001}, "is a set"),
        ("POST", "/edits", {"do": "relate", "upstream": 1001, "downstream": 1002, "type": 9}, "no relationship type"),
        ("POST", "/edits", {"do": "unrelate", "relationship": 99}, "no relationship 99"),
        ("POST", "/edits", {"do": "comment", "item": 1001, "text": "x", "reply_to": 1}, "no comment 1"),
        ("POST", "/edits", {"do": "add", "item": {"itemType": 24}}, "needs itemType and parent"),
        ("POST", "/edits", {"do": "add", "item": {"itemType": 9, "parent": {"project": 2}}}, "no item type 9"),
        ("POST", "/edits", {"do": "add", "item": {"itemType": 24, "parent": {"project": 9}}}, "no project 9"),
        ("POST", "/edits", {"do": "add", "item": {"itemType": 24, "parent": {"project": 2}, "fields": 1}}, "an object"),
        ("POST", "/edits", {"before": {"path": "("}, "edits": [{"do": "vanish", "item": 1}]}, "regular expression"),
        ("PATCH", "/faults", {"over_cap": "perhaps"}, "over_cap"),
        ("PATCH", "/faults", {"before_page": "x"}, "before_page: Extra inputs"),
        ("PATCH", "/faults", {"forbidden_paths": ["["]}, "regular expression"),
        ("PATCH", "/faults", {"relationship_history_since": "2024"}, "not a date"),
        ("POST", "/failures", {"kinds": [200]}, "400 to 599"),
        ("POST", "/failures", {"kinds": ["rest"]}, "reset, truncated"),
        ("POST", "/clock", {"set": "yesterday"}, "set"),
        ("GET", "/requests?path=(", None, "regular expression"),
        ("GET", "/requests?last=x", None, "invalid literal"),
    ],
)
def test_mistakes_are_told_and_change_nothing(
    jama: JamaSimulator, method: str, path: str, body: Any, told: str
) -> None:
    before = (jama.world.revision, repr(jama.faults))
    answer = control(jama, method, path, body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]
    assert (jama.world.revision, repr(jama.faults)) == before


def test_a_child_comes_back_with_the_container_that_took_it(jama: JamaSimulator) -> None:
    edit(jama, do="delete", item=102)
    refused = control(jama, "POST", "/edits", {"do": "restore", "item": 1001})
    assert (refused.status_code, "item above it" in refused.text) == (400, True)
    edit(jama, do="restore", item="TNY-FLD-1")
    assert read(jama, "/items/1001").status_code == 200


def test_edits_wait_for_their_page(jama: JamaSimulator) -> None:
    new = {"do": "add", "item": {"itemType": 24, "parent": {"item": 102}, "fields": {"name": "New"}}, "position": 0}
    for start, edits in ((50, [new]), (999, [new]), (None, [{"do": "vanish", "item": "TNY-REQ-999"}])):
        before = {"path": "/items$"} | ({} if start is None else {"start": start})
        assert control(jama, "POST", "/edits", {"before": before, "edits": edits}).status_code == 202
    assert control(jama, "GET").json()["edits_waiting"] == 3
    first = [row["id"] for row in read(jama, "/items", project=2, maxResults=50).json()["data"]]
    second = [row["id"] for row in read(jama, "/items", project=2, maxResults=50, startAt=50).json()["data"]]
    assert first[-1] == second[0]
    done, waiting, failed = control(jama, "GET", "/edits").json()["edits"]
    assert (done["state"], waiting["state"], failed["state"]) == ("done", "waiting", "failed")
    assert failed["error"] == "there is no item 'TNY-REQ-999'"
    assert jama.world.items[done["outcomes"][0]["id"]]["fields"] == {"name": "New"}
    again = [row["id"] for row in read(jama, "/items", project=2, maxResults=50, startAt=50).json()["data"]]
    assert again == second
    assert control(jama, "DELETE", "/edits").json() == {"edits": []}


def test_the_record_is_shown_and_forgotten(jama: JamaSimulator) -> None:
    for start in (0, 20, 40):
        read(jama, "/items", project=2, startAt=start)
    found = control(jama, "GET", "/requests", params={"path": "/items", "last": 2}).json()
    assert (found["total"], found["busiest_second"]) == (3, jama.busiest_second)
    assert [one["query"] for one in found["requests"]] == ["project=2&startAt=20", "project=2&startAt=40"]
    assert found["requests"][0]["at"] <= found["requests"][1]["at"]
    assert control(jama, "DELETE", "/requests").json()["total"] == 0
    assert jama.requests == []
