"""hyde and multi_query against a server on loopback: what is asked, what is made of it, and what fails."""

import pytest

from reqall import ConfigError, PluginError, Query, Services
from reqall.core.components import build_options
from reqall.core.environment import Environment
from reqall.core.registration import ComponentConfig
from reqall.plugins.expanders import register_expanders
from reqall.plugins.expanders.chat import REMEMBERED
from reqall.testing.openai_endpoint import OpenAIEndpoint

KEY = "sk-secret-0123456789"
BOTH = ["hyde", "multi_query"]
TEXT = "confidential volume of the alarm"


def build(tmp_path, name, variables, **given):
    """Build as the host does: variables of the environment first, then what the YAML gives."""
    registration = next(each for each in register_expanders() if each.name == name)
    environment = Environment({"CHAT_API_KEY": KEY, "CHAT_MODEL": "small", **variables}, tmp_path / "none.env")
    config = ComponentConfig(use=name, **{"with": given})
    return registration.build(build_options(registration, config, environment, f"expander {name!r}"), Services())


@pytest.fixture
def endpoint():
    with OpenAIEndpoint(key=KEY) as server:
        yield server


@pytest.fixture
def connect(tmp_path, endpoint, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def make(name, variables=None, **given):
        return build(tmp_path, name, {"CHAT_BASE_URL": endpoint.base_url, **(variables or {})}, **given)

    return make


def test_multi_query_takes_a_rewrite_per_line(connect, endpoint):
    endpoint.answering = lambda _: (
        '1. loudness of the siren\n\n- "how loud is it"\n (3) volume\nloudness of the siren\nX'
    )
    assert connect("multi_query").expand(Query("volume")) == ["volume", "loudness of the siren", "how loud is it", "X"]
    assert connect("multi_query", count=1).expand(Query("volume")) == ["volume", "loudness of the siren"]
    (first, second) = endpoint.chats
    assert (first.path, first.model, first.question) == ("/v1/chat/completions", "small", "volume")
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert "Write 3 other queries" in first.messages[0][1]
    assert "Write 1 other queries" in second.messages[0][1]


def test_the_clients_rewrites_are_as_good(connect, endpoint):
    assert connect("multi_query").expand(Query("volume", ("loudness",))) == ["volume", "loudness"]
    assert endpoint.chats == []


def test_hyde_searches_with_the_item_that_would_answer(connect, endpoint):
    endpoint.answering = lambda _: "The alarm shall\n be loud."
    hyde = connect("hyde", most_characters=15, instruction="Answer.")
    assert hyde.expand(Query("volume", ("loudness",))) == ["volume", "loudness", "The alarm shall"]
    assert endpoint.chats[0].messages == (("system", "Answer."), ("user", "volume"))


def test_further_parameters_are_sent(connect, endpoint):
    connect("hyde", parameters={"temperature": 0, "max_tokens": 200}).expand(Query("volume"))
    assert endpoint.chats[0].parameters == {"temperature": 0, "max_tokens": 200}


@pytest.mark.parametrize("name", BOTH)
def test_azure_is_asked_by_deployment_with_its_header(tmp_path, name, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with OpenAIEndpoint(key=KEY) as server:
        variables = {"CHAT_BASE_URL": server.azure_url, "CHAT_API_VERSION": "2024-10-21"}
        assert len(build(tmp_path, name, variables).expand(Query("volume"))) > 1
    assert server.chats[0].path == "/openai/deployments/small/chat/completions?api-version=2024-10-21"
    assert server.chats[0].headers["api-key"] == KEY
    assert "authorization" not in server.chats[0].headers


def test_a_key_may_go_in_a_header_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with OpenAIEndpoint(key=KEY, key_header="x-key") as server:
        variables = {"CHAT_BASE_URL": server.base_url}
        assert build(tmp_path, "hyde", variables, key_header="x-key").expand(Query("volume"))[1:]


@pytest.mark.parametrize("name", BOTH)
def test_the_same_question_is_asked_once(connect, endpoint, name):
    expander = connect(name)
    assert expander.expand(Query("volume")) == expander.expand(Query("volume"))
    assert len(endpoint.chats) == 1
    expander.expand(Query("battery"))
    assert len(endpoint.chats) == 2


def test_few_answers_are_remembered(connect, endpoint):
    expander = connect("hyde")
    for number in range(REMEMBERED + 1):
        expander._chat._answers["instruction", str(number)] = "an answer"
    expander.expand(Query("volume"))
    assert len(expander._chat._answers) == REMEMBERED


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("server_error", "answered 500 (server_error) for the model small"),
        ("rate_limit", "answered 429 (rate_limit_exceeded) for the model small"),
        ("bad_json", "sent an answer that is none"),
        ("no_choices", "sent an answer that is none"),
        ("slow", "did not answer in time"),
    ],
)
def test_a_failure_names_the_host_and_nothing_that_was_sent_and_is_not_remembered(
    connect, endpoint, caplog, name, fault, told
):
    expander = connect(name, timeout=0.2 if fault == "slow" else 10, max_retries=0)
    endpoint.switch_on(fault, times=1)
    with caplog.at_level("INFO"), pytest.raises(PluginError) as caught:
        expander.expand(Query(TEXT))
    assert caught.value.message.startswith("the chat endpoint 127.0.0.1 ")
    assert told in caught.value.message
    assert "CHAT_" in caught.value.remedy
    for text in (str(caught.value), caplog.text):
        assert KEY not in text
        assert "confidential" not in text
    assert caught.value.__cause__ is None
    assert expander.expand(Query(TEXT))[1:]


def test_an_empty_answer_is_a_failure(connect, endpoint):
    endpoint.answering = lambda _: " \n"
    with pytest.raises(PluginError, match="an answer without text"):
        connect("hyde").expand(Query("volume"))


def test_failures_are_tried_again(connect, endpoint):
    endpoint.switch_on("server_error", times=1)
    assert connect("hyde", max_retries=1).expand(Query("volume"))[1:]
    assert len(endpoint.chats) == 2


def test_a_wrong_key_is_told_without_it(connect, endpoint):
    with pytest.raises(PluginError, match="answered 401") as caught:
        connect("hyde", api_key="${OTHER}", variables={"OTHER": "sk-wrong"}).expand(Query("volume"))
    assert "sk-wrong" not in str(caught.value)
    assert "CHAT_API_KEY" in caught.value.remedy


def test_a_server_that_is_not_there_is_told(tmp_path, endpoint):
    with OpenAIEndpoint() as gone:
        url = gone.base_url
    with pytest.raises(PluginError, match="cannot be reached"):
        build(tmp_path, "hyde", {"CHAT_BASE_URL": url}, max_retries=0).expand(Query("volume"))


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"CHAT_API_KEY": " "}, "empty, or has characters"),
        ({"CHAT_BASE_URL": "ftp://x"}, "does not begin with http"),
        ({"CHAT_API_VERSION": "2024-10-21"}, "CHAT_BASE_URL is not"),
        ({"CHAT_MODEL": ""}, "CHAT_MODEL"),
    ],
)
def test_settings_are_checked_before_anything_is_asked(tmp_path, variables, told):
    with pytest.raises(ConfigError, match=told):
        build(tmp_path, "multi_query", variables)


def test_the_host_is_openai_unless_another_is_given(tmp_path, caplog):
    with caplog.at_level("INFO", "reqall.chat"):
        assert build(tmp_path, "hyde", {}).sends_to == "api.openai.com"
    assert "hyde sends query texts to api.openai.com" in caplog.text
    own = {"CHAT_BASE_URL": "https://user:word@models.example:8443/v1"}
    assert build(tmp_path, "multi_query", own).sends_to == "models.example"


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_asked_for_a_blank_text(connect, endpoint, text):
    assert connect("hyde").expand(Query(text)) == connect("multi_query").expand(Query(text)) == [text]
    assert endpoint.chats == []
