import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import ConfigError, NotFoundError, SourceAuthError, SourceError, SourceUnavailableError
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TOKEN_PATH = "/rest/oauth/token"


def tokens_asked(jama):
    return [seen for seen in jama.requests if seen.path.endswith(TOKEN_PATH)]


def test_one_token_serves_many_requests(jama, client_of):
    client = client_of(jama.url)
    for _ in range(3):
        assert client.get("/projects")["meta"]["status"] == "OK"
    assert len(tokens_asked(jama)) == 1
    assert client.sent == 4
    assert jama.writes == []


def test_many_threads_ask_for_one_token(jama, client_of):
    client, gate = client_of(jama.url), threading.Barrier(8)

    def fetch(_):
        gate.wait()
        return client.get("/projects")["meta"]["status"]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fetch, range(8))) == {"OK"}
    assert len(tokens_asked(jama)) == 1


@pytest.mark.parametrize(("life", "kept_until"), [(3600, 3540), (60, 30)])
def test_a_token_is_renewed_before_it_expires(client_of, ticks, life, kept_until):
    with JamaSimulator(project=tiny_project(), expires_in=life) as jama:
        client = client_of(jama.url, clock=ticks)
        client.get("/projects")
        ticks.now = kept_until - 1
        client.get("/projects")
        assert len(tokens_asked(jama)) == 1
        ticks.now = kept_until
        client.get("/projects")
        assert len(tokens_asked(jama)) == 2


def test_a_revoked_token_is_replaced_once(jama, client_of):
    client = client_of(jama.url)
    client.get("/projects")
    jama.faults.revoke_tokens()
    assert client.get("/projects")["data"]
    assert len(tokens_asked(jama)) == 2


def test_a_context_path_and_doubled_slashes(client_of):
    with JamaSimulator(project=tiny_project(), context_path="contour") as jama:
        client = client_of(jama.url.replace("/contour", "//contour//"))
        assert client.base == jama.url
        assert client.get("/projects")["data"]


def test_bad_credentials_name_both_variables_and_no_secret(jama, client_of):
    with pytest.raises(SourceAuthError) as error:
        client_of(jama.url, secret="sesame-open").get("/projects")
    assert "JAMA_CLIENT_ID" in error.value.remedy
    assert "JAMA_CLIENT_SECRET" in error.value.remedy
    assert "sesame-open" not in str(error.value)


def test_missing_credentials_are_a_configuration_error_without_a_request(jama, client_of):
    with pytest.raises(ConfigError, match="JAMA_CLIENT_SECRET is not set"):
        client_of(jama.url, secret="${JAMA_CLIENT_SECRET}").get("/projects")
    assert jama.requests == []


def test_a_missing_licence_is_told_in_jamas_words(jama, client_of):
    jama.faults.licence_missing = True
    with pytest.raises(SourceAuthError, match="named Creator license") as error:
        client_of(jama.url).get("/projects")
    assert "licence" in error.value.remedy
    assert "JAMA_CLIENT" not in error.value.remedy


def test_forbidden_and_missing_are_told_apart(jama, client_of):
    client = client_of(jama.url)
    jama.faults.forbidden_paths.append("/users")
    with pytest.raises(SourceAuthError, match="forbids GET /users"):
        client.get("/users")
    assert client.every("/users", optional=True) == []
    with pytest.raises(NotFoundError, match="/abstractitems/999999"):
        client.one("/abstractitems/999999")
    assert client.one("/abstractitems/999999", optional=True) is None


def test_an_unreachable_host_names_the_variable_and_the_host(client_of, waits):
    with pytest.raises(SourceUnavailableError, match=r"127\.0\.0\.1:9") as error:
        client_of("http://127.0.0.1:9").get("/projects")
    assert "JAMA_URL" in error.value.remedy
    assert waits == [1.0, 2.0]


def test_another_web_site_is_no_jama(answering, client_of):
    site = answering(lambda *_: (200, {"Content-Type": "text/html"}, b"<html>welcome</html>"))
    with pytest.raises(SourceUnavailableError, match="does not answer like Jama") as error:
        client_of(site.url).get("/projects")
    assert "JAMA_URL" in error.value.remedy


def test_redirects_are_not_followed(answering, client_of):
    thief = answering(lambda *_: (200, {}, {"data": []}))
    moved = answering(lambda path, _: None if path == TOKEN_PATH else (302, {"Location": f"{thief.url}/x"}, b""))
    with pytest.raises(SourceUnavailableError, match=r"redirects GET /projects to 127\.0\.0\.1") as error:
        client_of(moved.url).get("/projects")
    assert "JAMA_URL" in error.value.remedy
    assert thief.seen == []


def test_a_redirected_token_request_does_not_carry_the_credentials_on(answering, client_of):
    thief = answering(lambda *_: (200, {}, {"access_token": "x"}))
    moved = answering(lambda *_: (307, {"Location": f"{thief.url}{TOKEN_PATH}"}, b""))
    with pytest.raises(SourceUnavailableError, match="redirects the token request"):
        client_of(moved.url).get("/projects")
    assert thief.seen == []


def test_netrc_does_not_replace_the_token(answering, client_of, envelope, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ada password sesame\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, envelope([], 0)))
    client_of(server.url).get("/projects")
    assert [(method, header.split()[0]) for method, _, header in server.seen] == [("POST", "Basic"), ("GET", "Bearer")]
    assert server.seen[1][2] == "Bearer t0"


def test_overload_is_waited_out_as_jama_advises(jama, client_of, waits):
    jama.faults.fail(429, 429, 429, 429, path="/projects")
    assert client_of(jama.url).get("/projects")["data"]
    assert waits == [3.0, 5.0, 8.0, 13.0]


def test_overload_that_does_not_end_is_an_error(jama, client_of, waits):
    jama.faults.fail(*[429] * 5, path="/projects")
    with pytest.raises(SourceUnavailableError, match="overloaded"):
        client_of(jama.url).get("/projects")
    assert len(waits) == 4


@pytest.mark.parametrize(("kind", "low", "high"), [("seconds", 7, 7), ("date", 6, 9), ("garbage", 3, 3)])
def test_retry_after_is_honoured(jama, client_of, waits, kind, low, high):
    jama.faults.retry_after, jama.faults.retry_after_seconds = kind, 7
    jama.faults.fail(429, path="/projects")
    client_of(jama.url).get("/projects")
    assert len(waits) == 1
    assert low <= waits[0] <= high


def test_a_very_long_retry_after_is_told_and_not_waited_for(jama, client_of, waits):
    jama.faults.retry_after, jama.faults.retry_after_seconds = "seconds", 3600
    jama.faults.fail(429, path="/projects")
    with pytest.raises(SourceUnavailableError) as error:
        client_of(jama.url).get("/projects")
    assert "3600" in error.value.remedy
    assert waits == []


def test_a_token_request_is_patient_too(jama, client_of, waits):
    jama.faults.fail(429, 503, "reset", path="/oauth/token")
    assert client_of(jama.url).get("/projects")["data"]
    assert waits == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("failure", [500, 503, "reset", "short", "html500"])
def test_a_failure_is_tried_three_times(jama, client_of, waits, failure):
    jama.faults.fail(failure, failure, path="/projects")
    assert client_of(jama.url).get("/projects")["data"]
    assert waits == [1.0, 2.0]
    jama.faults.fail(*[failure] * 3, path="/projects")
    with pytest.raises(SourceUnavailableError):
        client_of(jama.url).get("/projects")


def test_an_answer_that_takes_too_long(jama, client_of):
    jama.faults.slow_seconds = 1.0
    jama.faults.fail("slow", "slow", "slow", path="/projects")
    with pytest.raises(SourceUnavailableError, match="no answer in time"):
        client_of(jama.url, timeout=0.1).get("/projects")


def test_truncated_json_is_an_error(jama, client_of):
    jama.faults.fail("truncated", path="/projects")
    with pytest.raises(SourceError, match="JSON that cannot be read"):
        client_of(jama.url).get("/projects")


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({"Content-Type": "text/html;charset=utf-8"}, b"<html>log in</html>", "text/html instead of JSON"),
        ({}, b"[1, 2]", "JSON that cannot be read"),
        ({}, b'{"meta": {}}', "JSON that cannot be read"),
        ({}, b"\xff\xfe\x00", "JSON that cannot be read"),
    ],
)
def test_what_is_no_envelope_is_an_error(answering, client_of, headers, body, said):
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, headers, body))
    with pytest.raises(SourceError, match=said):
        client_of(server.url).get("/projects")


def test_jamas_message_of_a_refusal_is_passed_on(jama, client_of):
    with pytest.raises(SourceError, match="lastId parameter is now required"):
        client_of(jama.url).get("/relationships", {"project": 2})


def test_pages_go_by_what_came_and_send_what_was_asked(client_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        client = client_of(jama.url)
        listings = list(client.pages("/abstractitems", {"project": 2}))
        assert [len(listing.rows) for listing in listings] == [50, 50, 28]
        assert {listing.total for listing in listings} == {128}
        starts = [seen.params["startAt"] for seen in jama.requests if "startAt" in seen.params]
        assert starts == [["0"], ["50"], ["100"]]


def test_a_plus_in_a_date_is_escaped(jama, client_of):
    since = "2024-01-01T00:03:00.000+0000"
    rows = client_of(jama.url).every("/abstractitems", {"project": 2, "lastActivityDate": since})
    assert sorted(row["id"] for row in rows) == [1003, 1004, 1005]
    assert "%2B0000" in jama.requests[-1].query


def test_a_server_with_small_pages_and_no_total(answering, client_of, envelope):
    def reply(path, query):
        if path == TOKEN_PATH:
            return None
        start = int(query["startAt"][0])
        return 200, {}, envelope([{"id": n} for n in range(start, min(start + 3, 10))])

    rows = client_of(answering(reply).url).every("/things")
    assert [row["id"] for row in rows] == list(range(10))


def test_a_server_that_repeats_its_first_page_ends(answering, client_of, envelope):
    page = envelope([{"id": 1}, {"id": 2}])
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, page))
    assert len(client_of(server.url).every("/things")) == 2


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=12), st.integers(0, 99))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_rows_that_stay_are_found_once_while_others_come_or_go(answering, client_of, envelope, size, steps, seed):
    """Between two pages either rows go, anywhere, or rows come, at the end."""
    rows, gone, script = list(range(1, size + 1)), set(), list(steps)

    def reply(path, query):
        if path == TOKEN_PATH:
            return None
        start, most = int(query["startAt"][0]), int(query["maxResults"][0])
        if start and script:
            removed, added = script.pop()
            for n in range(removed if not seed % 2 else 0):
                if rows:
                    gone.add(rows.pop((seed + n * 7) % len(rows)))
            rows.extend(range(1000 + len(script) * 10, 1000 + len(script) * 10 + (added if seed % 2 else 0)))
        return 200, {}, envelope([{"id": n} for n in rows[start : start + most]], len(rows))

    found = [row["id"] for row in client_of(answering(reply).url, page_size=5).every("/things")]
    assert len(found) == len(set(found))
    assert set(range(1, size + 1)) - gone <= set(found)


@pytest.mark.parametrize("total", ["all", "remaining", "absent"])
@pytest.mark.parametrize("legacy", [False, True])
def test_relationships_are_walked_to_the_end(client_of, total, legacy):
    switches = {"relationship_total": total, "legacy_relationships": legacy}
    with JamaSimulator(project=tiny_project(120), **switches) as jama:
        listings = list(client_of(jama.url).relationships(2))
        ids = [row["id"] for listing in listings for row in listing.rows]
        assert ids == list(range(1, 121))
        first = next(seen for seen in jama.requests if seen.path.endswith("/relationships"))
        assert first.params["lastId"] == ["0"]


def test_a_cursor_that_includes_its_own_id(answering, client_of, envelope):
    def reply(path, query):
        last = int(query.get("lastId", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": n} for n in range(max(last, 1), 8)][:3]))

    listings = client_of(answering(reply).url).relationships(2)
    assert [row["id"] for listing in listings for row in listing.rows] == list(range(1, 8))


def test_a_cursor_that_goes_back_is_an_error(answering, client_of, envelope):
    def reply(path, query):
        last = int(query.get("lastId", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": 9 if not last else last - 1}]))

    with pytest.raises(SourceError, match="does not advance"):
        list(client_of(answering(reply).url).relationships(2))


def test_connections_are_kept(answering, client_of, envelope):
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, envelope([], 0)))
    client = client_of(server.url)
    for _ in range(5):
        client.get("/projects")
    assert len(server.seen) == 6
    assert server.connections == 1
