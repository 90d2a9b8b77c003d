"""An embedding endpoint that fails holds a sync up or ends it; what is stored is never embedded again."""

import threading
import time
from collections import Counter

import pytest

from reqall import Filters
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
from reqall.testing.openai_endpoint import OpenAIEndpoint
from tests.soak.outages import TNY, Household

CONFIGURATION = """
version: 1
embedders: {remote: {use: openai, with: {dimensions: 16, max_retries: 1}}}
indexes:
  words: {use: sqlite_fts5}
  meaning: {use: sqlite_vec, with: {embedder: remote}, chunk: {use: sentences}}
pipelines: {default: {recall: [{index: words}, {index: meaning}]}}
"""
REQUIREMENTS = 150
STEP = 64
"""Documents that an index takes in one step, and here texts in one request."""


@pytest.fixture
def endpoint():
    with OpenAIEndpoint(dimensions=16) as served:
        yield served


@pytest.fixture
def here(tmp_path, endpoint):
    """A household whose texts are embedded by the endpoint."""
    variables = {"EMBEDDING_BASE_URL": endpoint.base_url, "EMBEDDING_API_KEY": endpoint.key}
    with JamaSimulator(project=tiny_project(REQUIREMENTS)) as simulator:
        built = Household(simulator, tmp_path, configuration=CONFIGURATION, variables=variables, page_size=50)
        yield built
        built.close()


def texts(requests):
    """How often each text was sent."""
    return Counter(text for request in requests for text in request.inputs)


def lag(here, index):
    return here.assembly.indexer().lag(here.assembly.index(index))


def test_an_endpoint_that_stumbles_is_tried_again(here, endpoint):
    """And the job does not go on to say that it waits for Jama, as it did just before."""
    here.faults.fail(429, path="/relationships")
    endpoint.switch_on("slow", times=1, seconds=0.2)
    endpoint.switch_on("rate_limit", times=1, seconds=0.01)
    job, messages = here.sync(background=True), set()
    while not (job := here.jobs.get(job.job_id)).ended:
        messages |= {job.message} if job.phase == "embedding" else set()
        time.sleep(0.01)
    assert (job.status, job.error) == ("DONE", "")
    assert len(here.said) == 1
    assert messages == {"index meaning"}
    answered = [request for number, request in enumerate(endpoint.requests) if number != 1]
    assert set(texts(answered).values()) == {1}
    assert job.embedded == texts(answered).total() >= REQUIREMENTS
    assert lag(here, "meaning") == 0


@pytest.mark.parametrize("fault", ["rate_limit", "server_error"])
def test_an_endpoint_that_is_down_ends_the_job_and_the_next_sync_goes_on(here, endpoint, fault):
    endpoint.switch_on("shuffled", times=1)  # a good answer in another order
    endpoint.switch_on(fault, seconds=0.01)
    failed = here.sync()
    assert failed.status == "ERROR"
    assert "embedding endpoint" in failed.error
    assert (lag(here, "words"), lag(here, "meaning")) == (0, here.assembly.catalog.count(TNY.id) - STEP)
    words = here.assembly.index("words").recaller
    assert len(words.recall(["level kept shown"], 1000, Filters((TNY.id,)))[0]) == REQUIREMENTS
    stored = texts(endpoint.requests[:1])
    endpoint.switch_off()
    endpoint.requests.clear()
    job = here.done()
    assert job.message.startswith("0 changed, 0 deleted")
    later = texts(endpoint.requests)
    assert not stored.keys() & later.keys()
    assert stored.total() == STEP
    assert (failed.embedded, job.embedded) == (STEP, later.total())
    assert set(later.values()) == {1}
    assert lag(here, "meaning") == 0


def test_an_endpoint_that_is_down_during_an_incremental_sync(here, endpoint):
    here.done()
    here.edit()
    endpoint.switch_on("rate_limit", seconds=0.01)
    failed = here.sync()
    assert failed.status == "ERROR"
    assert "embedding endpoint" in failed.error
    endpoint.switch_off()
    endpoint.requests.clear()
    here.done()
    sent = texts(endpoint.requests)
    edited = [text for text in sent if "Edited" in text]
    assert len(edited) == len(sent) - 1 == 11
    assert set(sent.values()) == {1}
    assert lag(here, "meaning") == 0


def test_texts_are_embedded_while_the_links_are_walked(here, endpoint):
    """The walk waits for the network, the embedder for the processor: one does not wait for the other."""
    seen = []

    def wait_for_a_step(_world, path, _last):
        deadline = time.monotonic() + 10
        while path.endswith("/relationships") and not seen and time.monotonic() < deadline:
            time.sleep(0.01)
            seen.extend(job for job in here.jobs.history() if job.embedded)

    here.faults.before_page = wait_for_a_step
    job = here.done()
    assert [(each.phase, each.embedded > 0, each.done) for each in seen] == [("links", True, seen[0].total)]
    assert set(texts(endpoint.requests).values()) == {1}
    assert job.embedded == texts(endpoint.requests).total() >= REQUIREMENTS
    assert lag(here, "meaning") == 0


def test_a_sync_that_fails_at_the_links_does_not_embed_on(here, endpoint):
    endpoint.switch_on("slow", seconds=0.2)
    here.faults.forbidden_paths.append("/relationships")
    failed = here.sync()
    assert failed.status == "ERROR"
    assert "forbids GET /relationships" in failed.error
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("beside")]
    left = lag(here, "meaning")
    assert left > 0
    endpoint.switch_off()
    endpoint.requests.clear()
    here.faults.forbidden_paths.clear()
    here.done()
    assert texts(endpoint.requests).total() == left
    assert lag(here, "meaning") == 0
