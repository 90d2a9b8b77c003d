import random
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import SourceAuthError, SourceError
from reqall.plugins.sources.jama.http.walk import Fetched, OffsetWalk
from reqall.testing.jama_simulator import JamaSimulator, tiny_project

TOKEN_PATH = "/rest/oauth/token"


def test_pages_go_by_what_came_and_send_what_was_asked(client_of):
    with JamaSimulator(project=tiny_project(120)) as jama:
        client = client_of(jama.url)
        listings = list(client.pages("/abstractitems", {"project": 2}))
        assert [len(listing.rows) for listing in listings] == [50, 49, 29]
        assert {listing.total for listing in listings} == {128}
        starts = [seen.params["startAt"] for seen in jama.requests if "startAt" in seen.params]
        assert sorted(starts) == [["0"], ["49"], ["98"]]


def test_a_plus_in_a_date_is_escaped(jama, client_of):
    since = "2024-01-01T00:03:00.000+0000"
    rows = client_of(jama.url).every("/abstractitems", {"project": 2, "lastActivityDate": since})
    assert sorted(row["id"] for row in rows) == [1003, 1004, 1005]
    assert "%2B0000" in jama.requests[-1].query


def test_a_server_with_small_pages_and_no_total(answering, client_of, envelope):
    def reply(path, query):
        if path == TOKEN_PATH:
            return None
        start = int(query["startAt"][0])
        return 200, {}, envelope([{"id": n} for n in range(start, min(start + 3, 10))])

    rows = client_of(answering(reply).url).every("/things")
    assert [row["id"] for row in rows] == list(range(10))


def test_a_server_that_repeats_its_first_page_ends(answering, client_of, envelope):
    page = envelope([{"id": 1}, {"id": 2}])
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, page))
    assert len(client_of(server.url).every("/things")) == 2


class Shifting:
    """A list in a fixed order; before a page is read, rows go from it or come into it, anywhere."""

    def __init__(self, rows, size, script, seed):
        self.rows, self.size, self.script = sorted(rows), size, list(script)
        self.random = random.Random(seed)
        self.stayed = set(rows)
        self.reads = 0

    def fetch(self, start):
        self.reads += 1
        if self.script and start:
            gone, come = self.script.pop()
            for _ in range(min(gone, len(self.rows))):
                self.stayed.discard(self.rows.pop(self.random.randrange(len(self.rows))))
            for _ in range(come):
                self.rows = sorted([*self.rows, self.random.random() * 100])
        data = [{"id": None, "n": n} for n in self.rows[start : start + self.size]]
        return Fetched(data, len(self.rows), "", 1)


@given(
    st.integers(0, 60),
    st.integers(2, 9),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=15),
    st.integers(0, 9_999),
)
@settings(max_examples=300, deadline=None)
def test_what_stays_is_found_once_while_others_come_and_go(rows, size, script, seed):
    changing = Shifting(range(rows), size, script, seed)
    walk = OffsetWalk("GET /things", changing.fetch, lambda _: None, 1)
    found = [row["n"] for fresh, _ in walk for row in fresh]
    assert len(found) == len(set(found))
    assert changing.stayed <= set(found)
    assert changing.reads <= 2 + rows + 25 * len(script)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=10), st.integers(0, 9_999))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_side_by_side_lose_nothing_either(script, seed):
    """Several threads read while the list changes; a lock makes each page one look at the list."""
    changing, lock = Shifting(range(120), 7, script, seed), threading.Lock()

    def fetch(start):
        with lock:
            page = changing.fetch(start)
        time.sleep(0.0005 * (start % 3))
        return page

    found = [row["n"] for fresh, _ in OffsetWalk("GET /things", fetch, lambda _: None, 6) for row in fresh]
    assert len(found) == len(set(found))
    assert changing.stayed <= set(found)


def test_a_short_page_in_the_middle_is_continued_from_its_end(answering, client_of, envelope):
    """Pages are 9 rows long, but for some."""

    def reply(path, query):
        if path == TOKEN_PATH:
            return None
        start = int(query["startAt"][0])
        rows = [{"id": n} for n in range(start, min(start + (9 if start % 3 else 4), 200))]
        return 200, {}, envelope(rows, 200)

    rows = client_of(answering(reply).url).every("/things")
    assert [row["id"] for row in rows] == list(range(200))


@pytest.mark.parametrize("total", [None, 7])
def test_a_server_with_one_row_a_page(answering, client_of, envelope, total):
    def reply(path, query):
        start = int(query.get("startAt", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": n} for n in range(7)][start:][:1], total))

    assert [row["id"] for row in client_of(answering(reply).url).every("/things")] == list(range(7))


def test_rows_without_an_id_come_too(answering, client_of, envelope):
    rows = [{"versionNumber": n} for n in range(12)]

    def reply(path, query):
        start = int(query.get("startAt", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope(rows[start : start + 5], 12))

    assert client_of(answering(reply).url).every("/items/1/versions") == rows


def test_announced_rows_that_do_not_come_are_an_error(answering, client_of, envelope):
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, envelope([], 5)))
    with pytest.raises(SourceError, match="GET /things and sent none"):
        client_of(server.url).every("/things")


def test_a_server_that_ignores_the_offset_is_an_error(answering, client_of, envelope):
    page = envelope([{"id": 1}, {"id": 2}], 9)
    server = answering(lambda path, _: None if path == TOKEN_PATH else (200, {}, page))
    with pytest.raises(SourceError, match="GET /things with the same page"):
        client_of(server.url).every("/things")


def test_a_list_that_never_rests_is_an_error():
    numbers = iter(range(10**6))
    walk = OffsetWalk("GET /things", lambda _: Fetched([next(numbers), next(numbers)], 10**6, "", 1), print, 1)
    with pytest.raises(SourceError, match="GET /things changes faster"):
        list(walk)


def test_items_are_asked_for_in_an_order_that_ends_in_the_key(jama, client_of):
    client = client_of(jama.url)
    for path, sort in (
        ("/abstractitems", None),
        ("/abstractitems", "createdDate.asc"),
        ("/abstractitems", ["name.desc", "documentKey.desc"]),
        ("/testruns", None),
        ("/users", None),
    ):
        client.every(path, {"project": 2, **({"sortBy": sort} if sort else {})})
    assert [seen.params.get("sortBy") for seen in jama.requests[1:]] == [
        ["sequence.asc", "documentKey.asc"],
        ["createdDate.asc", "documentKey.asc"],
        ["name.desc", "documentKey.desc"],
        ["documentKey.asc"],
        None,
    ]


def test_who_takes_one_page_pays_for_one(client_of):
    with JamaSimulator(project=tiny_project(500)) as jama:
        pages = client_of(jama.url, page_size=10).pages("/abstractitems", {"project": 2})
        next(pages)
        assert len(jama.requests) == 2
        next(pages)
        pages.close()
        assert len(jama.requests) <= 2 + 2 + 4


def test_pages_are_fetched_side_by_side_and_no_more_than_allowed(answering, client_of, envelope):
    lock, inside, most = threading.Lock(), [0], [0]

    def reply(path, query):
        if path == TOKEN_PATH:
            return None
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.02)
        with lock:
            inside[0] -= 1
        start = int(query["startAt"][0])
        return 200, {}, envelope([{"id": n} for n in range(start, min(start + 10, 500))], 500)

    client = client_of(answering(reply).url, page_size=10, parallel_pages=5)
    assert [row["id"] for row in client.every("/things")] == list(range(500))
    assert most[0] == 5
    assert client.sent == 57


def test_a_slow_reader_does_not_make_pages_pile_up(answering, client_of, envelope):
    def reply(path, query):
        start = int(query.get("startAt", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": n} for n in range(start, start + 10)], 2000))

    server = answering(reply)
    for taken, _ in enumerate(client_of(server.url, page_size=10, parallel_pages=4).pages("/things"), start=1):
        if taken == 20:
            break
        time.sleep(0.005)
        assert len(server.seen) - 1 <= taken + 4


FAULTS = [429, 500, 503, "reset", "truncated", "short", "html500", "slow"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_middle_of_a_walk_is_passed_over(client_of, waits, fault):
    with JamaSimulator(project=tiny_project(300), slow_seconds=0.3) as jama:
        client = client_of(jama.url, page_size=20, timeout=0.15 if fault == "slow" else 9.0)
        pages = client.pages("/abstractitems", {"project": 2, "sortBy": "createdDate.asc"})
        rows = list(next(pages).rows)
        jama.faults.fail(fault, fault, path="/abstractitems")
        rows += [row for page in pages for row in page.rows]
        assert sorted(row["id"] for row in rows) == [*range(100, 108), *range(1001, 1301)]
        assert len(waits) == 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (429, "HTTP 429"),
        (500, "HTTP 500"),
        ("html500", "HTTP 500"),
        ("reset", "connection failed"),
        ("short", "broke off"),
        ("truncated", "HTTP 200 and JSON that cannot be read"),
        ("slow", "no answer in time"),
    ],
)
def test_a_fault_that_stays_is_an_error_that_names_the_request(client_of, fault, said):
    with JamaSimulator(project=tiny_project(60), slow_seconds=0.3) as jama:
        client = client_of(jama.url, page_size=20, parallel_pages=2, timeout=0.1 if fault == "slow" else 9.0)
        pages = client.pages("/abstractitems", {"project": 2})
        next(pages)
        jama.faults.fail(*[fault] * 20, path="/abstractitems")
        with pytest.raises(SourceError) as error:
            list(pages)
        assert "GET /abstractitems" in error.value.message
        assert said in error.value.message


def test_tokens_that_are_revoked_all_the_time(client_of):
    with JamaSimulator(project=tiny_project(300)) as jama:

        def revoke(_world, _path, start):
            if start % 3 == 0:
                jama.faults.revoke_tokens()

        jama.faults.before_page = revoke
        client = client_of(jama.url, page_size=20, parallel_pages=1)
        assert len(client.every("/abstractitems", {"project": 2})) == 308


def test_a_token_that_is_revoked_while_pages_are_under_way(client_of):
    with JamaSimulator(project=tiny_project(300)) as jama:
        client = client_of(jama.url, page_size=20)
        pages = client.pages("/abstractitems", {"project": 2})
        rows = list(next(pages).rows)
        jama.faults.revoke_tokens()
        rows += [row for page in pages for row in page.rows]
        assert len({row["id"] for row in rows}) == len(rows) == 308
        assert len([seen for seen in jama.requests if seen.path.endswith(TOKEN_PATH)]) == 2


def test_a_licence_that_is_lost_in_the_middle(client_of):
    with JamaSimulator(project=tiny_project(300)) as jama:
        pages = client_of(jama.url, page_size=20).pages("/abstractitems", {"project": 2})
        next(pages)
        jama.faults.licence_missing = True
        with pytest.raises(SourceAuthError, match="GET /abstractitems: HTTP 401: A named Creator license"):
            list(pages)


def test_many_threads_call_at_once(client_of):
    with JamaSimulator(project=tiny_project(8)) as jama:
        client = client_of(jama.url, parallel_pages=4)
        assert [
            row["id"] for row in client.in_parallel(client.one, [f"/items/{n}" for n in range(1001, 1009)])
        ] == list(range(1001, 1009))
        assert client.sent == len(jama.requests)
        with pytest.raises(SourceError):
            client.in_parallel(client.get, ["/projects", "/relationships"])


@pytest.mark.parametrize("total", ["all", "remaining", "absent"])
@pytest.mark.parametrize("legacy", [False, True])
def test_relationships_are_walked_to_the_end(client_of, total, legacy):
    switches = {"relationship_total": total, "legacy_relationships": legacy}
    with JamaSimulator(project=tiny_project(120), **switches) as jama:
        listings = list(client_of(jama.url).relationships(2))
        ids = [row["id"] for listing in listings for row in listing.rows]
        assert ids == list(range(1, 121))
        first = next(seen for seen in jama.requests if seen.path.endswith("/relationships"))
        assert first.params["lastId"] == ["0"]


def test_a_cursor_that_includes_its_own_id(answering, client_of, envelope):
    def reply(path, query):
        last = int(query.get("lastId", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": n} for n in range(max(last, 1), 8)][:3]))

    listings = client_of(answering(reply).url).relationships(2)
    assert [row["id"] for listing in listings for row in listing.rows] == list(range(1, 8))


def test_a_cursor_that_goes_back_is_an_error(answering, client_of, envelope):
    def reply(path, query):
        last = int(query.get("lastId", ["0"])[0])
        return None if path == TOKEN_PATH else (200, {}, envelope([{"id": 9 if not last else last - 1}]))

    with pytest.raises(SourceError, match="does not advance"):
        list(client_of(answering(reply).url).relationships(2))
