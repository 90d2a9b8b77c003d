"""Neither the client's secret nor a token is ever written anywhere."""

import logging
import traceback

import pytest
from pydantic import SecretStr

from reqall import ReqallError

TOKEN_PATH = "/rest/oauth/token"
SECRET, TOKEN = "sesame-open-7f3a", "t0k3n-9c1d-very-secret"


def echoing(path, query):
    """Answer with every kind of trouble; the messages repeat the token, as some servers do."""
    if path == TOKEN_PATH:
        return 200, {}, {"access_token": TOKEN, "expires_in": 3600}
    kind = path.rpartition("/")[2]
    said = {"error": "invalid_token", "error_description": f"Invalid access token: {TOKEN}"}
    answers = {
        "401": (401, {}, said),
        "403": (403, {}, {"meta": {"message": f"no right for {TOKEN}"}}),
        "404": (404, {}, said),
        "429": (429, {"Retry-After": "x"}, said),
        "500": (500, {}, said),
        "302": (302, {"Location": f"https://elsewhere.invalid/?token={TOKEN}"}, b""),
        "html": (200, {"Content-Type": "text/html"}, TOKEN.encode()),
        "cut": (200, {}, f'{{"data": "{TOKEN}'.encode()),
    }
    return answers.get(kind)


def written(error):
    return "".join(traceback.format_exception(error)) + repr(error) + str(error) + error.message + error.remedy


@pytest.mark.parametrize("kind", ["401", "403", "404", "429", "500", "302", "html", "cut"])
def test_no_log_error_or_repr_holds_a_secret(answering, source_of, caplog, kind):
    caplog.set_level(logging.DEBUG)
    told = []
    source = source_of(answering(echoing).url, client_secret=SecretStr(SECRET))
    source.on_wait = told.append
    with pytest.raises(ReqallError) as error:
        source.client.get(f"/things/{kind}")
    reprs = repr([vars(source), vars(source.client), vars(source.client._credentials), vars(source.client._transport)])
    for text in (written(error.value), caplog.text, str(told), reprs):
        assert TOKEN not in text
        assert SECRET not in text
    assert "urllib3" in {record.name.partition(".")[0] for record in caplog.records}


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_token_request_that_fails_repeats_no_secret(answering, source_of, caplog, status):
    caplog.set_level(logging.DEBUG)
    body = {"error": "invalid_client", "error_description": f"Bad client credentials {SECRET}"}
    source = source_of(answering(lambda *_: (status, {}, body)).url, client_secret=SecretStr(SECRET))
    (line,) = source.validate(live=True)
    with pytest.raises(ReqallError) as error:
        source.projects()
    assert "Bad client credentials ***" in line
    assert SECRET not in line + written(error.value) + caplog.text


def test_a_connection_that_fails_repeats_no_secret(source_of, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ReqallError) as error:
        source_of("http://127.0.0.1:9", client_secret=SecretStr(SECRET)).projects()
    assert SECRET not in written(error.value) + caplog.text
