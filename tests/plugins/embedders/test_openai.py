import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import ConfigError, EmbedderError, Services
from reqall.core.components import build_options
from reqall.core.environment import Environment
from reqall.core.registration import ComponentConfig
from reqall.plugins.embedders import register_embedders
from reqall.testing.openai_endpoint import OpenAIEndpoint, word_vector

KEY = "sk-secret-0123456789"
REGISTRATION = next(r for r in register_embedders() if r.name == "openai")


def build(tmp_path, variables, **given_options):
    """Build as the host does: variables of the environment first, then what the YAML gives."""
    environment = Environment({"EMBEDDING_API_KEY": KEY, **variables}, tmp_path / "none.env")
    config = ComponentConfig(use="openai", **{"with": given_options})
    options = build_options(REGISTRATION, config, environment, "embedders.openai")
    return REGISTRATION.build(options, Services())


@pytest.fixture
def endpoint():
    with OpenAIEndpoint(key=KEY) as server:
        yield server


@pytest.fixture
def connect(tmp_path, endpoint, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def make(variables=None, **given_options):
        return build(tmp_path, {"EMBEDDING_BASE_URL": endpoint.base_url, **(variables or {})}, **given_options)

    return make


def expected(texts):
    return [pytest.approx(word_vector(text, 1536), abs=1e-6) for text in texts]


def test_defaults_are_openai_with_its_small_model(tmp_path):
    embedder = build(tmp_path, {})
    assert embedder._url == "https://api.openai.com/v1"
    assert (embedder.dimensions, embedder.max_tokens) == (1536, 8191)
    assert embedder.identity == "openai:text-embedding-3-small:1536"


def test_vectors_are_those_of_the_endpoint(connect, endpoint):
    texts = ["volume sync", "login session", "volume"]
    vectors = connect().embed_documents(texts)
    assert vectors.dtype == "float32"
    assert vectors.tolist() == expected(texts)
    (request,) = endpoint.requests
    assert (request.path, request.inputs, request.dimensions) == ("/v1/embeddings", tuple(texts), None)
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_answers_in_another_order_are_put_right(connect, endpoint):
    endpoint.switch_on("shuffled")
    texts = [f"requirement {number}" for number in range(5)]
    assert connect().embed_query(texts).tolist() == expected(texts)


def test_vectors_of_any_length_are_scaled_to_1(connect, endpoint):
    endpoint.switch_on("long_vectors")
    assert connect().embed_query(["volume"]).tolist() == expected(["volume"])


def test_no_text_asks_nothing(connect, endpoint):
    assert connect().embed_documents([]).shape == (0, 1536)
    assert endpoint.requests == []


def test_an_empty_text_does_not_spoil_its_batch(connect):
    assert connect().embed_documents(["volume", ""]).tolist() == expected(["volume", " "])


def test_batches_hold_batch_size_texts(connect, endpoint):
    texts = [f"text {number}" for number in range(7)]
    vectors = connect(batch_size=3).embed_documents(texts)
    assert [len(request.inputs) for request in endpoint.requests] == [3, 3, 1]
    assert vectors.tolist() == expected(texts)


def test_batches_stay_below_the_tokens_of_a_request(connect, endpoint):
    connect().embed_documents(["x" * 140_000] * 5)
    assert [len(request.inputs) for request in endpoint.requests] == [2, 2, 1]


def test_dimensions_are_sent_when_given_and_only_then(connect, endpoint):
    embedder = connect({"EMBEDDING_DIMENSIONS": "256"})
    assert embedder.embed_query(["volume"]).shape == (1, 256)
    assert endpoint.requests[0].dimensions == 256
    assert embedder.identity == "openai:text-embedding-3-small:256"


def test_a_server_that_refuses_the_parameter_is_asked_without_it(connect, endpoint):
    endpoint.dimensions = 64
    endpoint.switch_on("no_dimensions")
    embedder = connect({"EMBEDDING_MODEL": "bge-m3", "EMBEDDING_DIMENSIONS": "64"})
    assert embedder.embed_query(["volume"]).shape == (1, 64)
    assert embedder.embed_query(["volume"]).shape == (1, 64)
    assert [request.dimensions for request in endpoint.requests] == [64, None, None]


def test_a_refusal_stays_an_error_when_openais_model_shall_give_another_length(connect, endpoint):
    endpoint.switch_on("no_dimensions")
    with pytest.raises(EmbedderError, match="EMBEDDING_DIMENSIONS"):
        connect(model="text-embedding-3-large", dimensions=64).embed_query(["volume"])


def test_an_unknown_model_needs_its_dimensions(connect):
    with pytest.raises(ConfigError, match="EMBEDDING_DIMENSIONS"):
        connect({"EMBEDDING_MODEL": "bge-m3"})


def test_dimensions_that_are_no_number_name_the_option(connect):
    with pytest.raises(ConfigError, match="dimensions"):
        connect({"EMBEDDING_DIMENSIONS": "many"})


def test_azure_by_deployment(connect, endpoint):
    embedder = connect(
        {
            "EMBEDDING_BASE_URL": endpoint.azure_url + "/",
            "EMBEDDING_API_VERSION": "2024-10-21",
            "EMBEDDING_MODEL": "our embeddings",
            "EMBEDDING_DIMENSIONS": "128",
        }
    )
    assert embedder.embed_query(["volume"]).shape == (1, 128)
    (request,) = endpoint.requests
    assert request.path == "/openai/deployments/our%20embeddings/embeddings?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


def test_azure_needs_its_endpoint(tmp_path):
    with pytest.raises(ConfigError, match="EMBEDDING_BASE_URL"):
        build(tmp_path, {"EMBEDDING_API_VERSION": "2024-10-21"})


def test_the_key_can_travel_in_another_header(connect, endpoint):
    endpoint.key_header = "x-gateway-key"
    connect({"EMBEDDING_KEY_HEADER": "X-Gateway-Key"}).embed_query(["volume"])
    assert "authorization" not in endpoint.requests[0].headers


def test_rate_limit_and_server_error_are_tried_again_as_told(connect, endpoint):
    endpoint.switch_on("rate_limit", times=1, seconds=0.8)
    endpoint.switch_on("server_error", times=1)
    started = time.monotonic()
    assert connect().embed_query(["volume"]).shape == (1, 1536)
    assert time.monotonic() - started >= 0.8
    assert len(endpoint.requests) == 3


FAULTS = [
    ("rate_limit", r"answered 429 \(rate_limit_exceeded\)", "quota"),
    ("server_error", r"answered 500 \(server_error\)", "EMBEDDING_BASE_URL"),
    ("bad_json", "no embeddings", "EMBEDDING_BASE_URL"),
    ("slow", "did not answer in time", "timeout"),
    ("one_missing", "1 vectors for 2 texts", "EMBEDDING_MODEL"),
    ("zero_vectors", "without a direction", "EMBEDDING_MODEL"),
    ("wrong_dimensions", "vectors of 1537 dimensions, 1536 expected", "EMBEDDING_DIMENSIONS"),
]


@pytest.mark.parametrize(("fault", "message", "remedy"), FAULTS)
def test_a_fault_that_stays_names_what_to_do(connect, endpoint, fault, message, remedy):
    endpoint.switch_on(fault, seconds=2)
    with pytest.raises(EmbedderError, match=message) as caught:
        connect(max_retries=0, timeout=0.5).embed_query(["confidential words", "volume"])
    assert remedy in caught.value.remedy
    assert "confidential" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_refused_text_is_not_repeated(connect):
    # The stand-in quotes the texts in its refusal, as some servers do.
    with pytest.raises(EmbedderError, match="answered 400") as caught:
        connect(batch_size=2048, max_retries=0)._request(["confidential words"] * 2049)
    assert "confidential" not in str(caught.value)


def test_a_wrong_key_is_named_by_its_variable_and_never_repeated(connect, endpoint):
    endpoint.key = "another"
    with pytest.raises(EmbedderError, match=r"answered 401 \(invalid_api_key\)") as caught:
        connect().embed_query(["volume"])
    assert "EMBEDDING_API_KEY" in caught.value.remedy
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_address_without_the_api_is_named(connect, endpoint):
    with pytest.raises(EmbedderError, match="answered 404") as caught:
        connect({"EMBEDDING_BASE_URL": endpoint.azure_url}).embed_query(["volume"])
    assert "as far as /v1" in caught.value.remedy


def test_an_endpoint_that_is_down_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with OpenAIEndpoint() as gone:
        url = gone.base_url
    with pytest.raises(EmbedderError, match=r"127\.0\.0\.1 cannot be reached: .*refused"):
        build(tmp_path, {"EMBEDDING_BASE_URL": url}, max_retries=0).embed_query(["volume"])


@pytest.mark.parametrize("key", [" ", "key…", "two\nlines"])
def test_a_key_that_no_header_can_carry_is_refused_early(tmp_path, key):
    with pytest.raises(ConfigError, match="EMBEDDING_API_KEY") as caught:
        build(tmp_path, {"EMBEDDING_API_KEY": key})
    assert key.strip() == "" or key not in str(caught.value)


def test_a_missing_key_names_its_variable(tmp_path):
    with pytest.raises(ConfigError, match="EMBEDDING_API_KEY"):
        build(tmp_path, {"EMBEDDING_API_KEY": ""})


@pytest.mark.parametrize("url", ["api.openai.com/v1", "https:///v1", "ftp://host"])
def test_an_address_that_is_none_is_refused_early(tmp_path, url):
    with pytest.raises(ConfigError, match="EMBEDDING_BASE_URL"):
        build(tmp_path, {"EMBEDDING_BASE_URL": url})


def test_threads_share_one_client(connect, endpoint):
    embedder = connect()
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda number: embedder.embed_query([f"text {number}"]), range(16)))
    assert vectors[9].tolist() == expected(["text 9"])
    assert len(endpoint.requests) == 16


@given(text=st.text(max_size=60), limit=st.integers(8, 80))
def test_what_is_counted_within_the_limit_is_read_whole(cl100k, tmp_path_factory, text, limit):
    embedder = build(tmp_path_factory.getbasetemp(), {}, max_tokens=limit)
    if embedder.count_tokens(text) <= limit:
        assert len(cl100k.encode(text, disallowed_special=())) <= limit


PROSE = [
    "The system shall synchronise the volume within five seconds after the user has changed it. " * 5,
    "系统应在五秒内同步音量设置。" * 5,
    "Система должна синхронизировать громкость в течение пяти секунд. " * 5,
]


@pytest.mark.parametrize("text", PROSE, ids=["en", "zh", "ru"])
def test_prose_is_counted_a_little_above_its_tokens(cl100k, tmp_path, text):
    tokens = len(cl100k.encode(text))
    assert tokens <= build(tmp_path, {}).count_tokens(text) <= 2 * tokens


@pytest.fixture(scope="module")
def cl100k():
    """The vocabulary of OpenAI's embedding models, as llama-index-core ships it."""
    from importlib.metadata import distribution

    import tiktoken

    folder = distribution("llama-index-core").locate_file("llama_index/core/_static/tiktoken_cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return tiktoken.get_encoding("cl100k_base")
