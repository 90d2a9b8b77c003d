"""Faults and variants of the simulated Jama: tokens, limits, broken answers, relationship paging."""

import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from reqall.testing.jama_simulator import Failure, Faults, JamaSimulator, tiny_project
from reqall.testing.jama_simulator.requests_seen import busiest_second


@pytest.fixture
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(5)) as running:
        yield running


@pytest.fixture
def session(jama: JamaSimulator) -> Iterator[requests.Session]:
    with requests.Session() as session:
        log_in(jama, session)
        yield session


def log_in(jama: JamaSimulator, session: requests.Session) -> None:
    auth = (jama.client_id, jama.client_secret)
    form = {"grant_type": "client_credentials"}
    answer = requests.post(f"{jama.url}/rest/oauth/token", auth=auth, data=form, timeout=10)
    session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


def get(jama: JamaSimulator, session: requests.Session, path: str, **params: object) -> requests.Response:
    return session.get(f"{jama.url}/rest/v1{path}", params=params, timeout=10)


def test_tokens_expire_and_can_be_revoked(jama: JamaSimulator, session: requests.Session) -> None:
    assert get(jama, session, "/projects").status_code == 200
    jama.faults.revoke_tokens()
    assert get(jama, session, "/projects").status_code == 401
    log_in(jama, session)
    assert get(jama, session, "/projects").status_code == 200
    jama.faults.expires_in = 0
    log_in(jama, session)
    assert get(jama, session, "/projects").status_code == 401


def test_a_missing_licence_is_told_in_jamas_words(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.licence_missing = True
    answer = get(jama, session, "/projects")
    assert answer.status_code == 401
    assert answer.json()["meta"]["message"] == "A named Creator license is required for access."


def test_forbidden_paths(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.forbidden_paths = ["/users$"]
    assert get(jama, session, "/users").status_code == 403
    assert get(jama, session, "/users/15").status_code == 200


def test_relationships_want_a_last_id(jama: JamaSimulator, session: requests.Session) -> None:
    missing = get(jama, session, "/relationships", project=2)
    assert missing.status_code == 400
    text = "The lastId parameter is now required to call GET /relationships API endpoint."
    assert missing.json()["meta"]["message"] == text
    page = get(jama, session, "/relationships", project=2, lastId=2, maxResults=2).json()
    assert [row["id"] for row in page["data"]] == [3, 4]
    assert page["meta"]["pageInfo"] == {"startIndex": 0, "resultCount": 2, "totalResults": 5}
    assert get(jama, session, "/relationships", project=2, lastId=5).json()["data"] == []
    assert [row["id"] for row in get(jama, session, "/relationships", project=3, lastId=0).json()["data"]] == [
        1_000_001
    ]
    assert get(jama, session, "/relationships", project=1, lastId=0).json()["data"] == []
    assert get(jama, session, "/relationships", lastId=0).status_code == 400


def test_relationship_totals_differ_between_versions(jama: JamaSimulator, session: requests.Session) -> None:
    def page_info(**params: object) -> dict:
        return get(jama, session, "/relationships", project=2, **params).json()["meta"]["pageInfo"]

    assert "totalResults" not in page_info(lastId=0, omitCount="true")
    jama.faults.relationship_total = "remaining"
    assert page_info(lastId=2)["totalResults"] == 3
    jama.faults.relationship_total = "absent"
    assert "totalResults" not in page_info(lastId=2)
    jama.faults.legacy_relationships = True
    assert page_info(startAt=4) == {"startIndex": 4, "resultCount": 1, "totalResults": 5}


@pytest.mark.parametrize("kind", ["seconds", "date", "garbage", None])
def test_too_many_calls_a_second(jama: JamaSimulator, session: requests.Session, kind: str | None) -> None:
    jama.faults.rate_limit_per_second = 3
    jama.faults.retry_after = kind
    answers = [get(jama, session, "/projects") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    header = answers[-1].headers.get("Retry-After")
    assert answers[-1].json()["meta"]["status"] == "Too Many Requests"
    if kind == "seconds":
        assert header == "1"
    elif kind == "date":
        assert parsedate_to_datetime(header).timestamp() > time.time()
    else:
        assert header == ("soon, please" if kind else None)
    if kind is None:
        jama.faults.rate_limit_html = True
        assert get(jama, session, "/projects").text.startswith("<!DOCTYPE html>")
        time.sleep(1.05)
        assert get(jama, session, "/projects").status_code == 200


def test_the_record_tells_what_the_limit_saw(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.rate_limit_per_second = 5
    statuses = [get(jama, session, "/projects").status_code for _ in range(5)]
    log_in(jama, session)  # requests for tokens do not count
    assert (jama.busiest_second, {*statuses}) == (5, {200})
    assert get(jama, session, "/projects").status_code == 429
    assert jama.busiest_second == 6
    moments = [seen.at for seen in jama.requests]
    assert moments == sorted(moments)
    assert moments[0] < moments[-1] <= time.monotonic()
    # A failure counts like any other request.
    time.sleep(1.05)
    jama.faults.fail(*[500] * 5)
    assert [get(jama, session, "/projects").status_code for _ in range(6)] == [500] * 5 + [429]


@given(st.lists(st.integers(0, 4000), max_size=30), st.integers(1, 6))
def test_the_limit_refuses_exactly_when_a_second_is_too_busy(milliseconds: list[int], limit: int) -> None:
    moments = [millisecond / 1024 for millisecond in sorted(milliseconds)]
    most = max(
        (sum(end - 1 < one <= end for one in moments[: place + 1]) for place, end in enumerate(moments)), default=0
    )
    assert busiest_second(moments) == most
    faults = Faults(rate_limit_per_second=limit)
    assert any(faults.over_limit(moment) for moment in moments) == (most > limit)


def test_failures_are_consumed_one_a_request(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.fail_next = [500, 503]
    log_in(jama, session)  # failures without a path leave the token endpoint alone
    statuses = [get(jama, session, "/projects").status_code for _ in range(3)]
    assert statuses == [500, 503, 200]
    jama.faults.fail(404, path="/relationships")
    jama.faults.fail_next.append(Failure(401, "oauth"))
    assert get(jama, session, "/projects").status_code == 200
    assert get(jama, session, "/relationships").status_code == 404
    refused = requests.post(f"{jama.url}/rest/oauth/token", timeout=10)
    assert (refused.status_code, jama.faults.fail_next) == (401, [])
    jama.faults.fail_path = "/items/1001"
    jama.faults.fail_next = [500]
    assert get(jama, session, "/items/1002").status_code == 200
    assert get(jama, session, "/items/1001").status_code == 500


def test_broken_answers(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.fail_next = ["truncated"]
    broken = get(jama, session, "/projects")
    assert broken.status_code == 200
    with pytest.raises(requests.JSONDecodeError):
        broken.json()
    jama.faults.fail_next = ["html500"]
    page = get(jama, session, "/projects")
    assert (page.status_code, page.headers["content-type"]) == (500, "text/html; charset=utf-8")
    jama.faults.fail_next = ["short"]
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        get(jama, session, "/projects")
    jama.faults.fail_next = ["reset"]
    with pytest.raises(requests.ConnectionError, match="reset by peer"):
        get(jama, session, "/projects")
    assert get(jama, session, "/projects").status_code == 200


def test_slow_answers_and_pages(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.slow_seconds = 0.2
    jama.faults.fail_next = ["slow"]
    assert get(jama, session, "/projects/2").elapsed.total_seconds() >= 0.2
    jama.faults.page_delay = 0.2
    assert get(jama, session, "/projects").elapsed.total_seconds() >= 0.2
    assert get(jama, session, "/projects/2").elapsed.total_seconds() < 0.2


def test_it_stops_while_a_client_waits(jama: JamaSimulator, session: requests.Session) -> None:
    jama.faults.fail_next = ["slow"]
    jama.faults.slow_seconds = 30
    with pytest.raises(requests.Timeout):
        session.get(f"{jama.url}/rest/v1/projects", timeout=0.1)
    start = time.perf_counter()
    jama.stop()
    assert time.perf_counter() - start < 1


def test_the_search_index_may_lag(jama: JamaSimulator, session: requests.Session) -> None:
    def found(phrase: str) -> list[int]:
        return [row["id"] for row in get(jama, session, "/abstractitems", contains=phrase).json()["data"]]

    jama.faults.index_lag_seconds = 0.5
    jama.world.edit(1001, name="Mute")
    added = jama.world.add({"itemType": 24, "parent": {"item": 102}, "fields": {"name": "Mute too"}})
    assert found("mute") == []
    assert found("volume step 1") == [1001]
    time.sleep(0.55)
    assert found("mute") == [1001, added]


def test_contains_may_know_fields_and_stars(jama: JamaSimulator, session: requests.Session) -> None:
    def total(phrase: str) -> int:
        return get(jama, session, "/abstractitems", project=2, contains=phrase).json()["meta"]["pageInfo"][
            "totalResults"
        ]

    assert total("name:volume st*") == 0
    jama.faults.contains_mode = "lucene"
    assert total("name:volume st*") == 5
    assert total("description:volume") == 0
    assert total("volum") == 0
    assert total("volum*") == 8
