import array
import base64
import json
import math
import urllib.error
import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.testing.openai_endpoint import OpenAIEndpoint, word_vector


@pytest.fixture
def endpoint():
    with OpenAIEndpoint(key="k", dimensions=64) as server:
        yield server


def post(url, body, **headers):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": "Bearer k", **headers})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as response:
        return json.load(response)


def refused(url, body, **headers):
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(url, body, **headers)
    with caught.value as response:
        return response.code, json.load(response)["error"], response.headers


def ask(endpoint, *texts, **more):
    return post(f"{endpoint.base_url}/embeddings", {"input": texts, "model": "m", **more})


def test_answers_in_openais_shape(endpoint):
    answer = ask(endpoint, "volume", "login")
    assert (answer["object"], answer["model"]) == ("list", "m")
    assert [item["index"] for item in answer["data"]] == [0, 1]
    assert answer["data"][0]["embedding"] == word_vector("volume", 64)
    assert endpoint.requests[0].inputs == ("volume", "login")


def test_base64_holds_the_same_vector(endpoint):
    (item,) = ask(endpoint, "volume", encoding_format="base64")["data"]
    vector = array.array("f", base64.b64decode(item["embedding"]))
    assert list(vector) == pytest.approx(word_vector("volume", 64), abs=1e-6)


def test_dimensions_are_obeyed(endpoint):
    assert len(ask(endpoint, "volume", dimensions=8)["data"][0]["embedding"]) == 8


@given(text=st.text(max_size=40), dimensions=st.integers(1, 40))
def test_vectors_have_length_1(text, dimensions):
    vector = word_vector(text, dimensions)
    assert len(vector) == dimensions
    assert math.hypot(*vector) == pytest.approx(1)


def test_texts_that_share_words_are_nearer():
    def dot(first, second):
        return sum(a * b for a, b in zip(word_vector(first, 512), word_vector(second, 512), strict=True))

    assert dot("volume of the speaker", "Speaker volume!") > 0.6
    assert dot("音量设置", "同步音量") > 0.3
    assert abs(dot("volume of the speaker", "login session expires")) < 0.3


def test_a_wrong_key_is_refused_in_openais_shape(endpoint):
    status, error, _ = refused(f"{endpoint.base_url}/embeddings", {"input": "x"}, Authorization="Bearer other")
    assert status == 401
    assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")
    assert endpoint.requests == []


def test_azure_wants_its_own_header_and_a_version(endpoint):
    url = f"{endpoint.azure_url}/openai/deployments/d/embeddings"
    assert refused(f"{url}?api-version=1", {"input": "x"})[0] == 401
    assert refused(url, {"input": "x"}, **{"api-key": "k"})[0] == 404
    assert len(post(f"{url}?api-version=1", {"input": "x"}, **{"api-key": "k"})["data"]) == 1


@pytest.mark.parametrize("texts", [[], [""], ["x"] * 2049], ids=["none", "empty", "too many"])
def test_inputs_that_openai_refuses_are_refused(endpoint, texts):
    assert refused(f"{endpoint.base_url}/embeddings", {"input": texts, "model": "m"})[0] == 400


def test_faults_come_in_turn_and_end(endpoint):
    endpoint.switch_on("rate_limit", times=2, seconds=3)
    endpoint.switch_on("server_error", times=1)
    url, body = f"{endpoint.base_url}/embeddings", {"input": "x"}
    answers = [refused(url, body) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 429, 500]
    assert answers[0][2]["Retry-After"] == "3"
    assert len(post(url, body)["data"]) == 1


def test_a_fault_without_times_stays_until_it_is_switched_off(endpoint):
    endpoint.switch_on("wrong_dimensions")
    assert [len(ask(endpoint, "x")["data"][0]["embedding"]) for _ in range(2)] == [65, 65]
    endpoint.switch_off()
    assert len(ask(endpoint, "x")["data"][0]["embedding"]) == 64


def test_a_slow_answer_does_not_hold_up_the_end():
    with OpenAIEndpoint(key="k") as server:
        server.switch_on("slow", seconds=60)
        request = urllib.request.Request(
            f"{server.base_url}/embeddings", b'{"input": "x"}', {"Authorization": "Bearer k"}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with pytest.raises(TimeoutError):
            opener.open(request, timeout=0.2)


def chat(endpoint, text, **more):
    messages = [{"role": "system", "content": "Rewrite."}, {"role": "user", "content": text}]
    return post(f"{endpoint.base_url}/chat/completions", {"messages": messages, "model": "m", **more})


def test_chats_are_answered_in_openais_shape(endpoint):
    answer = chat(endpoint, "volume", temperature=0)
    assert (answer["object"], answer["model"]) == ("chat.completion", "m")
    (choice,) = answer["choices"]
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"].splitlines()[0] == "1. volume in words of its own 1"
    assert endpoint.chats[0].messages == (("system", "Rewrite."), ("user", "volume"))
    assert endpoint.chats[0].parameters == {"temperature": 0}
    assert endpoint.requests == []


def test_a_chat_meets_the_faults_too(endpoint):
    endpoint.answering = lambda request: request.question.upper()
    assert chat(endpoint, "volume")["choices"][0]["message"]["content"] == "VOLUME"
    endpoint.switch_on("no_choices", times=1)
    assert chat(endpoint, "volume")["choices"] == []
    endpoint.switch_on("rate_limit", times=1)
    status, error, headers = refused(
        f"{endpoint.base_url}/chat/completions", {"messages": [{"role": "u", "content": ""}]}
    )
    assert (status, error["code"], headers["Retry-After"]) == (429, "rate_limit_exceeded", "1")
