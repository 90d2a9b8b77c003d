"""One server over HTTP for many clients: who gets in, and who does not."""

import http.client
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from reqall import ConfigError
from reqall.serving.http import Address, check_safe

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@contextmanager
def serving(settings, *options):
    """A server on a free port; its port, and its process."""
    command = [sys.executable, "-m", "reqall", "serve", "--http", "--port", "0", *options]
    process = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told = process.stderr.readline()
        found = re.fullmatch(r"reqall answers at http://127\.0\.0\.1:(\d+)/mcp; .*\n", told)
        assert found, told + process.stderr.read()
        yield int(found[1]), process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def guarded(home):
    with serving(home | {"REQALL_HTTP_TOKEN": TOKEN}, "--allowed-host", "reqall.test") as (port, _):
        yield port


def status(port, path="/mcp", method="POST", **headers):
    """Send a request as it is; status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    content = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    try:
        connection.request(method, path, b"{}", {**content, **{k.replace("_", "-"): v for k, v in headers.items()}})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def bearer(token=TOKEN):
    return f"Bearer {token}"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_with_the_token_searches(guarded, mode):
    async with httpx2.AsyncClient(headers={"Authorization": bearer()}, timeout=30) as http_client:
        transport = streamable_http_client(f"http://127.0.0.1:{guarded}/mcp", http_client=http_client)
        async with Client(transport, mode=mode) as client:
            arguments = {"project_id": "AIP", "query": "what raises E-1047", "top_k": 3}
            result = await client.call_tool("search_jama_semantics", arguments)
            assert result.structured_content["returned"] == 3


@pytest.mark.parametrize(
    "given", [{}, {"Authorization": bearer("wrong")}, {"Authorization": TOKEN}, {"X_Token": TOKEN}]
)
def test_without_the_token_nothing_is_told(guarded, given):
    assert status(guarded, **given) == (401, "a bearer token is needed")
    assert status(guarded, "/", **given)[0] == 401


def test_health_needs_no_token_and_tells_nothing_else(guarded):
    code, body = status(guarded, "/health", "GET")
    assert code == 200
    assert re.fullmatch(r'\{"status":"ok","version":"[^"]+"\}', body)


def test_a_web_page_of_another_name_does_not_get_in(guarded):
    assert status(guarded, Authorization=bearer(), Host="evil.test")[0] == 421
    assert status(guarded, Authorization=bearer(), Origin="http://evil.test")[0] == 403
    assert status(guarded, Authorization=bearer(), Host="reqall.test", Origin="https://reqall.test")[0] not in (
        421,
        403,
    )


def test_on_loopback_no_token_is_needed_and_ctrl_c_ends_it(home):
    with serving(home) as (port, process):
        assert status(port)[0] not in (401, 421)
        assert status(port, Host="evil.test")[0] == 421
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=30)
    assert out == ""
    assert "Traceback" not in told


def test_a_port_that_is_taken_is_one_message(home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "reqall", "serve", "--http", "--port", port]
        process = subprocess.run(command, env=home, capture_output=True, text=True, timeout=60)
    assert process.returncode == 1
    assert process.stderr.startswith(f"error: cannot listen on 127.0.0.1 port {port}")
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_is_safe(host):
    check_safe(Address(host), "")


@pytest.mark.parametrize(
    ("address", "token", "told"),
    [
        (Address("0.0.0.0"), "", "REQALL_HTTP_TOKEN is not set"),
        (Address("::", names=["a"]), "", "REQALL_HTTP_TOKEN is not set"),
        (Address("example.com"), TOKEN, "no --allowed-host"),
        (Address("10.0.0.1"), TOKEN, "no --allowed-host"),
        (Address(), "short", "fewer than 16 characters"),
    ],
)
def test_an_open_address_without_a_lock_is_refused(address, token, told):
    with pytest.raises(ConfigError, match=told) as caught:
        check_safe(address, token)
    assert not token or token not in str(caught.value)


def test_an_open_address_with_both_is_allowed():
    check_safe(Address("0.0.0.0", names=["reqall.test"]), TOKEN)
