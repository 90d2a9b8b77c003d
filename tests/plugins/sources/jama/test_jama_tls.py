import socket
import socketserver
import ssl
import threading
from contextlib import suppress

import pytest
import trustme

from reqall import ConfigError, SourceUnavailableError
from reqall.plugins.sources.jama.http.connection import Certificates

TOKEN_PATH = "/rest/oauth/token"


@pytest.fixture(scope="module", name="authority")
def _authority():
    return trustme.CA()


@pytest.fixture(name="secure")
def _secure(authority, answering, envelope):
    """Serve one row over TLS with a certificate of the authority; `before` may act in place of an answer."""

    def build(before=lambda _path: None, *, clients=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            authority.configure_trust(context)
        good = 200, {}, envelope([{"id": 1}], 1)
        return answering(lambda path, _: None if path == TOKEN_PATH else before(path) or good, context)

    return build


@pytest.fixture(name="bundle")
def _bundle(authority, tmp_path):
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)


@pytest.fixture(autouse=True)
def _no_bundle_of_the_environment(monkeypatch):
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


def test_an_unknown_authority_is_refused_and_explained(secure, client_of, waits):
    server = secure()
    with pytest.raises(SourceUnavailableError, match="certificate is not trusted") as error:
        client_of(server.url).get("/things")
    assert "JAMA_CA_BUNDLE" in error.value.remedy
    assert (server.seen, waits) == ([], [])


def test_a_bundle_is_trusted(secure, client_of, bundle):
    client = client_of(secure().url, certificates=Certificates(bundle))
    assert client.every("/things") == [{"id": 1}]


def test_a_bundle_takes_the_place_of_the_environments(secure, client_of, bundle, tmp_path, monkeypatch):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", bundle)
    with pytest.raises(SourceUnavailableError, match="certificate is not trusted"):
        client_of(secure().url, certificates=Certificates(str(other))).get("/things")


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_bundle_of_the_environment_is_trusted_too(secure, client_of, bundle, monkeypatch, variable):
    monkeypatch.setenv(variable, bundle)
    assert client_of(secure().url).every("/things") == [{"id": 1}]


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_no_variable_switches_verification_off(secure, client_of, monkeypatch, value):
    server = secure()
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PYTHONHTTPSVERIFY", "SSL_NO_VERIFY"):
        monkeypatch.setenv(variable, value)
    with pytest.raises((SourceUnavailableError, ConfigError)):
        client_of(server.url).get("/things")
    assert server.seen == []


def test_the_certificate_must_be_the_hosts_own(authority, answering, client_of, bundle):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("jama.invalid").configure_cert(context)
    server = answering(lambda *_: (200, {}, {}), context)
    with pytest.raises(SourceUnavailableError, match="certificate is not trusted"):
        client_of(server.url, certificates=Certificates(bundle)).get("/things")


def test_a_client_shows_its_certificate(secure, authority, client_of, bundle, tmp_path):
    mine = authority.issue_cert("ada@example.invalid")
    both, certificate, key = tmp_path / "both.pem", tmp_path / "certificate.pem", tmp_path / "key.pem"
    mine.private_key_and_cert_chain_pem.write_to_path(both)
    certificate.write_bytes(mine.cert_chain_pems[0].bytes())
    mine.private_key_pem.write_to_path(key)
    server = secure(clients=True)
    for own in ((str(both),), (str(certificate), str(key))):
        assert client_of(server.url, certificates=Certificates(bundle, *own)).every("/things") == [{"id": 1}]
    with pytest.raises(SourceUnavailableError):
        client_of(server.url, certificates=Certificates(bundle)).get("/things")


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (("/nowhere/a.pem",), "JAMA_CA_BUNDLE"),
        (("", "/nowhere/b.pem"), "JAMA_CLIENT_CERT"),
        (("", "", "/nowhere/c.pem"), "JAMA_CLIENT_KEY"),
        (("", "", __file__), "JAMA_CLIENT_KEY is set without JAMA_CLIENT_CERT"),
    ],
)
def test_files_that_are_not_there_are_told(client_of, settings, variable):
    with pytest.raises(ConfigError, match=variable):
        client_of("https://127.0.0.1:9", certificates=Certificates(*settings)).get("/things")


def test_an_offline_check_tells_of_files_that_are_not_there(jama, source_of):
    lines = source_of(jama.url, ca_bundle="/nowhere/a.pem").validate(live=False)
    assert [line.partition(" names")[0] for line in lines] == ["JAMA_CA_BUNDLE"]


class Tunnel(socketserver.ThreadingTCPServer):
    """A proxy that opens tunnels for https and sees nothing of what passes."""

    daemon_threads = True
    asked = ()


class _Tunnelling(socketserver.StreamRequestHandler):
    def handle(self):
        method, target, _ = self.rfile.readline().decode().split()
        self.server.asked += ((method, target),)
        while self.rfile.readline().strip():
            pass
        host, port = target.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as far:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=self.pump, args=(far, self.connection), daemon=True)
            back.start()
            self.pump(self.connection, far)

    @staticmethod
    def pump(source, target):
        with suppress(OSError):
            while piece := source.recv(65_536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


def test_a_proxy_for_https_sees_a_tunnel_and_the_certificate_is_verified(secure, client_of, bundle, monkeypatch):
    server = secure()
    with Tunnel(("127.0.0.1", 0), _Tunnelling) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_address[1]}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "")
        assert client_of(server.url, certificates=Certificates(bundle)).every("/things") == [{"id": 1}]
        with pytest.raises(SourceUnavailableError, match="certificate is not trusted"):
            client_of(server.url).every("/things")
        proxy.shutdown()
        thread.join()
    assert set(proxy.asked) == {("CONNECT", server.url.removeprefix("https://"))}


def test_the_source_takes_the_settings_from_its_options(secure, source_of, bundle):
    server = secure()
    assert source_of(server.url, ca_bundle=bundle).client.every("/things") == [{"id": 1}]
    with pytest.raises(SourceUnavailableError, match="certificate is not trusted"):
        source_of(server.url, ca_bundle="${JAMA_CA_BUNDLE:-}").client.every("/things")


def test_a_tls_connection_that_breaks_off_is_tried_again(secure, client_of, bundle, waits):
    """The connection ends without TLS's own good-bye, at first before and then within the answer."""

    def cut(handler):
        handler.wfile.write(b'{"meta"')
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    def cut_at_once(handler):
        handler.wfile = handler.connection.makefile("wb")
        handler.connection.shutdown(socket.SHUT_RDWR)

    ends = iter([(200, {"Content-Length": 99}, cut), (200, {}, cut_at_once)])
    client = client_of(secure(lambda _path: next(ends, None)).url, certificates=Certificates(bundle))
    assert client.every("/things") == [{"id": 1}]
    assert waits.are(1.0, 2.0)
