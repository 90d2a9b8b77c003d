import gzip
import json
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from reqall import ConfigError, SourceError, SourceUnavailableError
from reqall.plugins.sources.jama.http.patience import Patience
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TOKEN_PATH = "/rest/oauth/token"


def test_an_unreachable_host_names_the_variable_and_the_host(client_of, waits):
    with pytest.raises(SourceUnavailableError, match=r"127\.0\.0\.1:9") as error:
        client_of("http://127.0.0.1:9").get("/projects")
    assert "JAMA_URL" in error.value.remedy
    assert waits.are(1.0, 2.0)


def test_overload_is_waited_out_as_jama_advises(jama, client_of, waits):
    jama.faults.fail(429, 429, 429, 429, path="/projects")
    assert client_of(jama.url).get("/projects")["data"]
    assert waits.are(3.0, 5.0, 8.0, 13.0)


def test_overload_that_does_not_end_is_an_error(jama, client_of, waits):
    jama.faults.fail(*[429] * 5, path="/projects")
    with pytest.raises(SourceUnavailableError, match="overloaded"):
        client_of(jama.url).get("/projects")
    assert len(waits) == 4


@pytest.mark.parametrize(("kind", "low", "high"), [("seconds", 7, 7), ("date", 6, 9), ("garbage", 3, 3.75)])
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
    assert waits.are(3.0, 1.0, 2.0)


@pytest.mark.parametrize("failure", [500, 503, "reset", "short", "html500"])
def test_a_failure_is_tried_three_times(jama, client_of, waits, failure):
    jama.faults.fail(failure, failure, path="/projects")
    assert client_of(jama.url).get("/projects")["data"]
    assert waits.are(1.0, 2.0)
    jama.faults.fail(*[failure] * 3, path="/projects")
    with pytest.raises(SourceUnavailableError):
        client_of(jama.url).get("/projects")


def test_an_answer_that_takes_too_long(jama, client_of):
    jama.faults.slow_seconds = 1.0
    jama.faults.fail("slow", "slow", "slow", path="/projects")
    with pytest.raises(SourceUnavailableError, match="no answer in time"):
        client_of(jama.url, timeout=0.1).get("/projects")


def test_truncated_json_is_asked_for_again_and_then_an_error(jama, client_of, waits):
    jama.faults.fail("truncated", "truncated", path="/projects")
    assert client_of(jama.url).get("/projects")["data"]
    jama.faults.fail(*["truncated"] * 3, path="/projects")
    with pytest.raises(SourceError, match="GET /projects with HTTP 200 and JSON that cannot be read"):
        client_of(jama.url).get("/projects")
    assert waits.are(1.0, 2.0, 1.0, 2.0)


def test_a_login_page_is_not_asked_for_again(answering, client_of, waits):
    server = answering(lambda p, _: None if p == TOKEN_PATH else (200, {"Content-Type": "text/html"}, b"<html>"))
    with pytest.raises(SourceError, match="text/html instead of JSON"):
        client_of(server.url).get("/projects")
    assert waits == []


def test_waits_are_told(jama, client_of):
    told, client = [], client_of(jama.url)
    client.on_wait = told.append
    jama.faults.fail(429, 503, "reset", path="/projects")
    client.get("/projects")
    assert [line.partition(" s for Jama: ")[2] for line in told] == [
        "HTTP 429 to GET /projects",
        "HTTP 503 to GET /projects",
        "the connection failed to GET /projects",
    ]
    assert told[0].startswith(("waiting 3 s", "waiting 4 s"))


def test_with_somebody_to_be_told_a_request_is_patient(jama, client_of, waits):
    told, client = [], client_of(jama.url, patience=200)
    client.on_wait = told.append
    jama.faults.fail(*[503] * 7, path="/projects")
    assert client.get("/projects")["data"]
    assert 123 <= sum(waits) <= 123 * 1.25
    assert max(waits) <= 5.0
    jama.faults.fail(*[503] * 9, path="/projects")
    with pytest.raises(SourceUnavailableError, match="503"):
        client.get("/projects")
    assert len(told) == len(waits)


def test_who_is_told_is_so_of_its_own_thread(jama, client_of, waits):
    client = client_of(jama.url)
    client.on_wait = lambda _: pytest.fail("another thread's wait")
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: client.on_wait).result() is None
        jama.faults.fail(*[503] * 3, path="/projects")
        with pytest.raises(SourceUnavailableError):
            other.submit(client.get, "/projects").result()
    assert waits.are(1.0, 2.0)


def test_patience_does_not_help_against_a_wrong_certificate():
    patience = Patience(1000.0)
    assert patience.after_failure(requests.exceptions.SSLError(ssl.SSLCertVerificationError())) is None
    assert patience.after_failure(requests.exceptions.InvalidURL()) is None
    for outage in (requests.exceptions.ConnectTimeout(), requests.exceptions.ProxyError()):
        assert patience.after_failure(outage) is not None
        assert Patience().after_failure(outage) is None


def test_who_is_told_may_end_the_waiting(jama, client_of):
    client = client_of(jama.url)

    def cancel(_):
        raise KeyError("cancelled")

    client.on_wait = cancel
    jama.faults.fail(429, path="/projects")
    with pytest.raises(KeyError):
        client.get("/projects")


def trickle(handler):
    """Write one byte now and then, for longer than any deadline of a test."""
    for _ in range(400):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.01)


def test_an_answer_that_trickles_has_a_deadline(answering, client_of):
    server = answering(lambda p, _: None if p == TOKEN_PATH else (200, {"Content-Length": 400}, trickle))
    began = time.perf_counter()
    with pytest.raises(SourceUnavailableError, match="GET /projects: no answer in time"):
        client_of(server.url, timeout=5.0, deadline=0.2).get("/projects")
    assert time.perf_counter() - began < 2.5


def test_packed_answers_are_unpacked(answering, client_of, envelope):
    rows = [{"id": n, "name": "x" * 100} for n in range(500)]
    body = gzip.compress(json.dumps(envelope(rows, 500)).encode())
    server = answering(lambda p, _: None if p == TOKEN_PATH else (200, {"Content-Encoding": "gzip"}, body))
    assert client_of(server.url).every("/things") == rows


def test_a_packed_answer_that_is_damaged(answering, client_of, waits):
    server = answering(lambda p, _: None if p == TOKEN_PATH else (200, {"Content-Encoding": "gzip"}, b"no gzip"))
    with pytest.raises(SourceUnavailableError, match="unreadable"):
        client_of(server.url).get("/projects")
    assert waits.are(1.0, 2.0)


def test_an_answer_in_chunks_that_stops(answering, client_of, envelope, waits):
    whole = json.dumps(envelope([{"id": 1}], 1)).encode()
    parts = iter([b"", whole[:9]])

    def chunks(handler):
        part = next(parts, whole)
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if part else b"")
        handler.wfile.write(b"0\r\n\r\n" if part is whole else b"")

    server = answering(lambda p, _: None if p == TOKEN_PATH else (200, {"Transfer-Encoding": "chunked"}, chunks))
    assert client_of(server.url).every("/things") == [{"id": 1}]
    assert waits.are(1.0, 2.0)


def test_connections_are_kept(answering, client_of, envelope):
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, envelope([], 0)))
    client = client_of(server.url)
    for _ in range(5):
        client.get("/projects")
    assert len(server.seen) == 6
    assert server.connections == 1


def test_threads_share_kept_connections(answering, client_of, envelope):
    rows = [{"id": n} for n in range(200)]

    def reply(path, query):
        start, most = int(query.get("startAt", ["0"])[0]), int(query.get("maxResults", ["5"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope(rows[start : start + most], len(rows)))

    server = answering(reply)
    client = client_of(server.url, page_size=5, parallel_pages=4)
    for _ in range(3):
        assert client.every("/things") == rows
    assert server.connections <= 6
    assert len(server.seen) == 1 + 3 * 50


def test_a_proxy_is_used_unless_the_host_is_excepted(answering, client_of, envelope, monkeypatch):
    proxy = answering(lambda path, _: None if path.endswith(TOKEN_PATH) else (200, {}, envelope([{"id": 7}], 1)))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("NO_PROXY", "elsewhere.invalid")
    monkeypatch.setenv("no_proxy", "elsewhere.invalid")
    assert client_of("http://jama.invalid").every("/things") == [{"id": 7}]
    assert [path for _, path, _ in proxy.seen] == ["/rest/oauth/token", "/rest/v1/things"]
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "jama.invalid")
    with pytest.raises(SourceUnavailableError, match=r"jama\.invalid"):
        client_of("http://jama.invalid").get("/things")
    assert len(proxy.seen) == 2


def test_a_proxy_that_is_not_there_is_told_without_its_password(client_of, monkeypatch, waits):
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://ada:sesame@127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    with pytest.raises(SourceUnavailableError, match="proxy") as error:
        client_of("http://jama.invalid").get("/things")
    assert "sesame" not in str(error.value)
    assert waits == []


def test_a_missing_bundle_of_the_environment_is_told(client_of, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(ConfigError, match="REQUESTS_CA_BUNDLE"):
        client_of("https://127.0.0.1:9").get("/things")


def test_a_server_that_goes_while_pages_are_fetched(client_of):
    with JamaSimulator(project=tiny_project(300)) as jama:
        client = client_of(jama.url, page_size=10)
        pages = client.pages("/abstractitems", {"project": 2})
        next(pages)
    with pytest.raises(SourceUnavailableError, match="GET /abstractitems"):
        list(pages)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("jama-pages")]


def test_a_server_that_takes_no_calls(client_of):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(SourceUnavailableError, match="the token request POST /rest/oauth/token: no answer in time"):
            client_of(f"http://127.0.0.1:{port}", timeout=0.05).get("/things")
