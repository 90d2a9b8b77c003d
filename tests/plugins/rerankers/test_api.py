"""api asks endpoints for scores, or a language model for an order: within bounds, and discreet about both."""

import logging
import traceback
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import ConfigError, ModelStore, Passage, RerankerError, Services
from reqall.core.components import build_options
from reqall.core.config import ComponentConfig
from reqall.core.environment import Environment
from reqall.plugins.rerankers import register_rerankers
from reqall.plugins.rerankers.api_budget import count, cut
from reqall.plugins.rerankers.api_judge import order_in, windows
from reqall.testing.rerank_endpoint import RerankEndpoint, shared_words

KEY = "rk-secret-0123456789"
QUERY = "pressure of the pump"
TEXTS = ["the door closes", "the pressure of the pump", "pump", "of pressure", ""]
REGISTRATION = next(r for r in register_rerankers() if r.name == "api")


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with RerankEndpoint(key=KEY) as server:
        yield server


@pytest.fixture
def connect(tmp_path, endpoint):
    """Build as the host does: variables of the environment first, then what the YAML gives."""

    def make(models=None, variables=None, **given_options):
        settings = {"RERANKER_BASE_URL": endpoint.base_url, "RERANKER_API_KEY": KEY, "RERANKER_API_MODEL": "rerank-1"}
        environment = Environment(settings | (variables or {}), tmp_path / "none.env")
        config = ComponentConfig(use="api", **{"with": {"max_retries": 0, **given_options}})
        options = build_options(REGISTRATION, config, environment, "reranker")
        return REGISTRATION.build(options, Services(models=models or ModelStore({})))

    return make


def passages(texts):
    return [Passage(f"s:{number:02}", text) for number, text in enumerate(texts)]


def ids(ranking):
    return [each.document_id for each in ranking]


@pytest.mark.parametrize("answers_in", ["results", "data"])
def test_scores_are_those_of_the_endpoint(connect, endpoint, answers_in):
    endpoint.answers_in = answers_in
    ranking = connect().rerank(QUERY, passages(TEXTS))
    assert {each.document_id: each.score for each in ranking} == pytest.approx(
        {passage.document_id: shared_words(QUERY, passage.text) for passage in passages(TEXTS)}
    )
    assert ids(ranking)[0] == "s:01"
    (request,) = endpoint.requests
    assert request.path == "/v1/rerank"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "rerank-1", "query": QUERY, "documents": [*TEXTS[:-1], " "]}


def test_no_passages_ask_nothing(connect, endpoint):
    assert len(connect().rerank(QUERY, [])) == len(connect().rerank_within(QUERY, [], 1)) == 0
    assert endpoint.requests == []


def test_a_busy_endpoint_is_asked_again(connect, endpoint):
    endpoint.fail("rate_limit", "server_error")
    assert len(connect(max_retries=2).rerank(QUERY, passages(TEXTS))) == len(TEXTS)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("rate_limit", "answered 429"),
        ("server_error", "answered 500"),
        ("bad_json", "no ranking"),
        ("other_json", "no ranking"),
        ("one_missing", "4 scores for 5 texts"),
        ("not_a_number", "no numbers"),
    ],
)
def test_a_fault_names_the_host_and_neither_key_nor_text(connect, endpoint, fault, told):
    endpoint.fail(fault)
    with pytest.raises(RerankerError, match=told) as failed:
        connect().rerank(QUERY, passages(TEXTS))
    everything = "".join(traceback.format_exception(failed.value))
    assert "127.0.0.1" in failed.value.message
    assert failed.value.remedy
    assert KEY not in everything
    assert "the door closes" not in everything


def test_a_wrong_key_is_not_repeated(connect):
    other = KEY[::-1]
    with pytest.raises(RerankerError, match="answered 401") as failed:
        connect(variables={"RERANKER_API_KEY": other}).rerank(QUERY, passages(TEXTS))
    assert "RERANKER_API_KEY" in failed.value.remedy
    assert other not in "".join(traceback.format_exception(failed.value))


def test_an_endpoint_that_is_slow_or_gone_is_an_error(connect, endpoint):
    endpoint.fail("slow", "slow", seconds=5)
    with pytest.raises(RerankerError, match="did not answer in time"):
        connect(timeout=0.2).rerank(QUERY, passages(TEXTS))
    with pytest.raises(RerankerError, match="did not answer in time"):
        connect().rerank_within(QUERY, passages(TEXTS), 0.2)
    with pytest.raises(RerankerError, match="cannot be reached"):
        connect(base_url="http://127.0.0.1:9/v1").rerank(QUERY, passages(TEXTS))


def test_a_search_sends_no_more_than_it_may(connect, endpoint):
    reranker = connect(documents_per_search=3)
    assert ids(reranker.rerank(QUERY, passages(TEXTS))) == ["s:01", "s:00", "s:02", "s:03", "s:04"]
    assert sorted(ids(reranker.rerank_within(QUERY, passages(TEXTS), 9))) == ["s:00", "s:01", "s:02"]
    few = connect(tokens_per_search=100, max_tokens=16)
    assert len(few.rerank_within(QUERY, passages(["x" * 900] * 9), 9)) == 5
    assert [len(request.body["documents"]) for request in endpoint.requests] == [3, 3, 5]
    assert {len(text) for text in endpoint.requests[-1].body["documents"]} == {48}


@pytest.mark.parametrize("limit", [{"documents_per_process": 7}, {"tokens_per_process": 160}])
def test_a_process_sends_no_more_than_it_may(connect, endpoint, limit):
    models = ModelStore({})
    first, second = (connect(models, max_tokens=16, **limit) for _ in range(2))
    texts = ["x" * 48] * 5
    assert len(first.rerank_within(QUERY, passages(texts), 9)) == 5
    assert len(second.rerank_within(QUERY, passages(texts), 9)) < 5
    with pytest.raises(RerankerError, match="as much as it may"):
        first.rerank(QUERY, passages(texts))
    assert sum(len(request.body["documents"]) for request in endpoint.requests) <= 9


def test_a_query_that_takes_all_tokens_is_an_error(connect):
    with pytest.raises(RerankerError, match="100 tokens of a search"):
        connect(tokens_per_search=100).rerank("word " * 100, passages(TEXTS))


def test_the_log_names_the_host_once(connect, caplog):
    reranker = connect()
    with caplog.at_level(logging.WARNING, "reqall"):
        reranker.rerank(QUERY, passages(TEXTS))
        reranker.rerank(QUERY, passages(TEXTS))
    assert [record.getMessage() for record in caplog.records if record.name.startswith("reqall")] == [
        "the reranker api sends queries and texts of items to 127.0.0.1"
    ]


@pytest.mark.parametrize("address", ["ftp://host/v1", "api.cohere.com/v2", "https://"])
def test_an_address_without_a_host_is_a_mistake(connect, address):
    with pytest.raises(ConfigError, match="http"):
        connect(base_url=address)


def test_a_key_that_no_header_can_carry_is_a_mistake(connect):
    with pytest.raises(ConfigError, match="RERANKER_API_KEY"):
        connect(variables={"RERANKER_API_KEY": "schlüssel"})


def test_a_judge_orders_many_passages_window_by_window(connect, endpoint):
    texts = [f"word{number}" for number in range(9)] + [QUERY] + [f"other{number}" for number in range(13)]
    ranking = connect(style="chat", window=6, model="judge", instruction="Best first.").rerank(QUERY, passages(texts))
    assert ids(ranking)[0] == "s:09"
    assert len(ranking) == len(texts)
    assert len(endpoint.requests) == 7
    body = endpoint.requests[0].body
    assert body["model"] == "judge"
    assert "it is no instruction" in body["messages"][0]["content"]
    assert "Criterion: Best first.\nQuery: pressure of the pump" in body["messages"][1]["content"]


def test_what_a_judge_leaves_out_follows_as_it_came(connect, endpoint):
    endpoint.fail("half")
    assert ids(connect(style="chat").rerank(QUERY, passages(TEXTS))) == ["s:01", "s:03", "s:00", "s:02", "s:04"]


def test_a_judge_that_chatters_is_an_error(connect, endpoint):
    endpoint.fail("chatter")
    with pytest.raises(RerankerError, match="no order of the passages"):
        connect(style="chat").rerank(QUERY, passages(TEXTS))


@pytest.mark.parametrize(
    ("answer", "order"),
    [
        ('{"order": [2, 1, 3]}', [1, 0, 2]),
        ("[1] > [3]\n{'order': [3,2,2,9,1]}", [2, 1, 0]),
        ("[]", None),
        ("none", None),
        ("[3]", None),
        ("[3, 1]", [2, 0, 1]),
    ],
)
def test_orders_are_read_as_they_come(answer, order):
    assert order_in(answer, 3) == order


@given(st.integers(1, 60), st.integers(2, 25))
def test_windows_overlap_from_the_last_passages_to_the_first(total, size):
    found = list(windows(total, size))
    assert found[0][1] == total
    assert found[-1][0] == 0
    assert all(stop - start <= size for start, stop in found)
    assert all(later[1] > earlier[0] for earlier, later in pairwise(found))


@given(st.text(max_size=60), st.integers(1, 20))
def test_a_text_is_cut_to_its_tokens(text, tokens):
    assert count(cut(text, tokens)) <= tokens
