import gc
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from reqall.plugins.sources.jama.http.rate import RateLimit, shared_limit


def busiest(moments, window=1.0):
    """Return the most moments in any window of time."""
    moments = sorted(moments)
    return max(sum(start <= each < start + window for each in moments) for start in moments)


def test_a_burst_passes_and_the_rest_waits_for_its_second():
    limit, moments = RateLimit(20, window=0.5), []

    def go(_):
        place = limit.take()
        moments.append(time.perf_counter())
        limit.sent(place)
        limit.answered(place)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(go, range(45)))
    moments.sort()
    assert moments[19] - moments[0] < 0.25
    assert busiest(moments, 0.5) <= 20
    assert moments[-1] - moments[0] < 1.6


def test_a_place_is_held_until_the_server_has_the_request():
    limit = RateLimit(1, window=0.2)
    place = limit.take()
    waiter = threading.Thread(target=limit.take)
    waiter.start()
    waiter.join(0.5)
    assert waiter.is_alive()  # nothing was sent: the window has not begun
    limit.sent(place)
    waiter.join(0.15)
    assert waiter.is_alive()
    waiter.join(2.0)
    assert not waiter.is_alive()


def test_a_late_answer_frees_nothing_twice():
    limit = RateLimit(1, window=0.2)
    first = limit.take()
    limit.sent(first)
    began = time.perf_counter()
    second = limit.take()
    assert time.perf_counter() - began >= 0.2
    limit.answered(first)
    limit.sent(second)
    assert limit.take()
    assert time.perf_counter() - began >= 0.4


def test_clients_of_one_address_share_a_limit_and_the_lowest_rate():
    one, two = shared_limit("https://a.invalid", 9), shared_limit("https://a.invalid", 5)
    assert one is two
    assert one.rate == 5
    assert shared_limit("https://b.invalid", 9) is not one
    del one, two
    gc.collect()
    assert shared_limit("https://a.invalid", 9).rate == 9


SERVER = """
import json, sys
from reqall.testing.jama_simulator import JamaSimulator, tiny_project
switches = json.loads(sys.argv[1])
with JamaSimulator(project=tiny_project(1000), **switches) as jama:
    print(jama.url, flush=True)
    sys.stdin.readline()
    print(json.dumps([seen.at for seen in jama.requests]), flush=True)
"""


@pytest.fixture(name="apart")
def _apart():
    """Start a simulator in a process of its own, where this one's work does not delay its record."""
    with ExitStack() as stack:

        def start(**switches):
            command = [sys.executable, "-c", SERVER, json.dumps(switches)]
            return stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )

        yield start


@pytest.mark.parametrize("page_delay", [0.0, 0.12])
def test_the_server_never_sees_more_in_a_second_and_no_time_is_lost(client_of, apart, page_delay):
    """Two clients, several threads: the simulator counts as Jama does, and never has to refuse."""
    rate, told = 40, []
    server = apart(rate_limit_per_second=rate, page_delay=page_delay)
    url = server.stdout.readline().strip()
    clients = [client_of(url, page_size=25, requests_per_second=rate) for _ in range(2)]

    def walk(client):
        client.on_wait = told.append
        return len(client.every("/abstractitems", {"project": 2}))

    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(walk, clients))
    took = time.perf_counter() - began
    moments = json.loads(server.communicate("\n")[0])
    assert counts == [1008, 1008]
    assert told == []
    assert busiest(moments) <= rate
    assert took < (len(moments) - 1) // rate * 1.1 + 6 * page_delay + 0.8  # the walk begins page by page


def test_tokens_and_retries_are_counted_too(jama, client_of, waits):
    jama.faults.fail(*[500] * 2, path="/projects")
    jama.faults.fail(500, path="/oauth/token")
    client = client_of(jama.url, requests_per_second=3)
    client.get("/projects")
    assert len(jama.requests) == 5
    assert busiest(seen.at for seen in jama.requests) <= 3
    assert len(waits) == 3
