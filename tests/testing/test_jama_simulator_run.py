"""Running the simulated Jama: on a thread, in the foreground, with a context path; what it records."""

import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest
import requests

from reqall.testing.jama_simulator import JamaSimulator, tiny_project


def ask_token(jama: JamaSimulator) -> requests.Response:
    auth = (jama.client_id, jama.client_secret)
    form = {"grant_type": "client_credentials"}
    return requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10)


def log_in(jama: JamaSimulator, session: requests.Session) -> None:
    session.headers["Authorization"] = f"Bearer {ask_token(jama).json()['access_token']}"


def test_nothing_can_be_written_and_every_try_is_seen() -> None:
    with JamaSimulator(project=tiny_project(1)) as jama, requests.Session() as session:
        log_in(jama, session)
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = session.request(method, f"{jama.url}/rest/v1/items/1001?x=1%2B1", json={}, timeout=10)
            assert answer.status_code == 405
    assert [seen.method for seen in jama.writes] == ["POST", "PUT", "PATCH", "DELETE"]
    assert jama.writes[0] == ("POST", "/rest/v1/items/1001", "x=1%2B1")
    assert jama.writes[0].params == {"x": ["1+1"]}


def test_a_context_path_is_part_of_the_url() -> None:
    with JamaSimulator(project=tiny_project(1), context_path="/contour/") as jama:
        assert jama.url.endswith("/contour")
        with requests.Session() as session:
            log_in(jama, session)
            answer = session.get(f"{jama.url}/rest/v1/items?project=2", timeout=10).json()
            bare = jama.url.removesuffix("/contour")
            assert session.get(f"{bare}/rest/v1/projects", timeout=10).status_code == 404
    assert answer["links"]["data.itemType"]["href"].startswith(f"{jama.url}/rest/v1/itemtypes/")


def test_it_starts_and_stops_cleanly_and_quickly() -> None:
    before, start = threading.active_count(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with JamaSimulator(project=tiny_project(1)) as jama:
                assert ask_token(jama).status_code == 200
    assert threading.active_count() == before
    assert time.perf_counter() - start < 3
    with pytest.raises(requests.ConnectionError):
        ask_token(jama)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 1 is needed"),
        ({"projects": []}, "unknown project"),
        ({"itemtypes": []}, "unknown item type"),
        ({"tags": [{"id": 1}, {"id": 1}]}, "two records in 'tags' have the id 1"),
    ],
)
def test_a_project_file_with_mistakes_is_refused(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JamaSimulator(project=tiny_project() | change)


def test_unknown_switches_are_refused() -> None:
    with pytest.raises(TypeError, match=r"unknown switches overcap; known: .*over_cap"):
        JamaSimulator(project=tiny_project(), overcap="error")


def test_the_packaged_demo_project_can_be_served() -> None:
    with JamaSimulator() as jama:
        assert jama.world.every("projects")
        assert jama.world.every("items")


def test_the_foreground_command_serves_until_interrupted() -> None:
    code = "from reqall.testing.jama_simulator import serve; serve()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip().removeprefix("JAMA_URL=")
        try:
            while True:
                try:
                    assert requests.get(f"{url}/rest/v1/projects", timeout=10).status_code == 401
                    break
                except requests.ConnectionError:
                    time.sleep(0.01)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
