import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from reqall import ConfigError, InputError, NotFoundError, SourceAuthError, SourceError, SourceUnavailableError
from reqall.plugins.sources.jama.http.connection import Certificates, GatedAdapter
from reqall.plugins.sources.jama.http.rate import RateLimit
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


def test_a_missing_licence_costs_no_second_token(jama, client_of):
    jama.faults.licence_missing = True
    client = client_of(jama.url)
    for optional in (False, True):
        with pytest.raises(SourceAuthError, match="HTTP 401: A named Creator license"):
            client.every("/users", optional=optional)
    assert len(tokens_asked(jama)) == 1


def test_a_token_that_is_refused_again_is_told_with_jamas_words(answering, client_of):
    refusal = {"meta": {"status": "Unauthorized", "message": "You must be logged in."}}
    server = answering(lambda path, _: None if path == TOKEN_PATH else (401, {}, refusal))
    with pytest.raises(SourceAuthError, match="token at GET /projects: HTTP 401: You must be logged in"):
        client_of(server.url).get("/projects")
    assert [method for method, _, _ in server.seen] == ["POST", "GET", "POST", "GET"]


def test_revoked_tokens_are_replaced_once_for_all_threads(jama, client_of):
    client, gate = client_of(jama.url), threading.Barrier(6)
    client.get("/projects")
    jama.faults.revoke_tokens()

    def fetch(_):
        gate.wait()
        return client.get("/projects")["meta"]["status"]

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(fetch, range(6))) == {"OK"}
    assert len(tokens_asked(jama)) == 2


@pytest.mark.parametrize("path", ["/projects/", "//projects", "projects", " /projects// "])
def test_slashes_too_many_are_left_out_of_a_path(jama, client_of, path):
    assert client_of(jama.url).get(path)["data"]
    assert jama.requests[-1].path == "/rest/v1/projects"


@pytest.mark.parametrize("path", ["/../oauth/token", "/items/..", "/items?x=1", "/a#b", "/a b", "/%2e%2e/x", "/a\\b"])
def test_a_path_that_leaves_the_api_is_refused(jama, client_of, path):
    with pytest.raises(InputError, match="no path"):
        client_of(jama.url).get(path)
    assert not [seen for seen in jama.requests if not seen.path.endswith(TOKEN_PATH)]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST", "HEAD"])
def test_no_connection_lets_a_write_pass(jama, method):
    with requests.Session() as session:
        session.mount("http://", GatedAdapter(RateLimit(9), Certificates().context()))
        with pytest.raises(RuntimeError, match="only reads"):
            session.request(method, f"{jama.url}/rest/v1/items/1001", json={})
        assert session.get(f"{jama.url}/rest/v1/projects").status_code == 401
    assert [seen.method for seen in jama.requests] == ["GET"]


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, SourceAuthError, "token at GET /items/5: HTTP 401: So it is"),
        (403, SourceAuthError, "forbids GET /items/5: HTTP 403: So it is"),
        (404, NotFoundError, "nothing for GET /items/5: HTTP 404: So it is"),
        (409, SourceError, "refused GET /items/5: HTTP 409: So it is"),
        (429, SourceUnavailableError, "overloaded at GET /items/5: HTTP 429: So it is"),
        (500, SourceUnavailableError, "failed at GET /items/5: HTTP 500: So it is"),
    ],
)
def test_an_error_names_the_request_the_status_and_jamas_words(answering, client_of, status, kind, said):
    body = {"meta": {"message": "So it\n is"}}
    server = answering(lambda path, _: None if path == TOKEN_PATH else (status, {}, body))
    with pytest.raises(kind, match=said):
        client_of(server.url).one("/items/5")


def test_forbidden_and_missing_are_told_apart(jama, client_of):
    client = client_of(jama.url)
    jama.faults.forbidden_paths.append("/users")
    with pytest.raises(SourceAuthError, match="forbids GET /users"):
        client.get("/users")
    assert client.every("/users", optional=True) == []
    with pytest.raises(NotFoundError, match="/abstractitems/999999"):
        client.one("/abstractitems/999999")
    assert client.one("/abstractitems/999999", optional=True) is None


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
