"""What a caller may ask, and how a wrong request is explained."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.core.catalog import Catalog
from reqall.core.config import MAX_CANDIDATE_K, MAX_TOP_K
from reqall.core.database import Database
from reqall.core.errors import InputError
from reqall.core.request import SearchRequest, filters_for
from reqall.core.types import Document, Filters, Project


def request(query="alarm", **fields):
    return SearchRequest(("P",), query, **fields)


def document(number, project, type_id, type_name, status):
    identifier = f"{project}-{number}"
    return Document(identifier, "s", project, f"K-{number}", type_id, type_name, "A name", status)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """Two projects: each has a type named Requirement, of different ids; statuses that differ in case."""
    database = Database(tmp_path_factory.mktemp("catalog") / "catalog.db")
    found = Catalog(database)
    with database.writing() as tx:
        for key in ("one", "two"):
            found.write_project(tx, Project(f"s:{key}", "s", key.upper(), f"Project {key}"))
        documents = [
            document(1, "s:one", "31", "Requirement", "Approved"),
            document(2, "s:one", "32", "Test Case", "Draft"),
            document(3, "s:two", "77", "Requirement", "APPROVED"),
            document(4, "s:two", "78", "Größe", None),
        ]
        found.write_documents(tx, documents)
    yield found
    database.close()


def filters(catalog, *projects, **fields):
    return filters_for(request(**fields), projects or ("s:one", "s:two"), catalog)


@pytest.mark.parametrize("query", ["a", "7", "汉", "  padded  ", "AIP-SYSR-10", "x" * 8000, "?!a"])
def test_a_query_with_a_word_is_taken_as_it_is(query):
    assert request(query).checked_query() == query


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "query is empty"),
        (" \n\t\u3000", "query is empty"),
        ("?!... --", "query has no word in it"),
        ("👍", "query has no word in it"),
        ("x" * 10_000, "query has 10000 characters; at most 8000 are searched with"),
    ],
)
def test_a_query_without_a_word_and_one_too_long_are_refused(query, message):
    with pytest.raises(InputError) as caught:
        request(query).checked_query()
    assert caught.value.message == message
    assert caught.value.remedy


def test_blank_rewrites_do_not_count():
    assert request(sub_queries=("a", "", " ", "b", "c", "d")).checked_sub_queries() == ("a", "b", "c", "d")


def test_the_query_and_its_rewrites_are_five_texts_at_most():
    with pytest.raises(InputError) as caught:
        request(sub_queries=tuple("abcde")).checked_sub_queries()
    assert caught.value.message == "5 sub_queries and the query are 6 texts; at most 5 are used"
    assert caught.value.remedy == "send up to 4 rewrites"


def test_a_bad_rewrite_is_told_by_its_number():
    with pytest.raises(InputError, match="sub_query 2 has no word in it"):
        request(sub_queries=("fine", "?")).checked_sub_queries()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((None, None), (50, 100)),
        ((10, None), (10, 100)),
        ((None, 50), (50, 50)),
        ((1, 1), (1, 1)),
        ((50, 500), (50, 500)),
    ],
)
def test_depth_is_what_is_asked_for_else_the_pipelines(asked, expected):
    found = request(top_k=asked[0], candidate_k=asked[1]).depth(50, 100, MAX_TOP_K, MAX_CANDIDATE_K)
    assert found == expected


def test_a_pool_that_was_not_asked_for_grows_with_the_hits():
    assert request(top_k=30).depth(10, 20, MAX_TOP_K, MAX_CANDIDATE_K) == (30, 30)


@pytest.mark.parametrize(
    "asked", [(0, None), (-1, 5), (51, None), (51, 100), (10, 501), (10, 9), (None, 0), (None, 49)]
)
def test_a_depth_beyond_the_limits_is_refused_with_both_numbers(asked):
    with pytest.raises(InputError) as caught:
        request(top_k=asked[0], candidate_k=asked[1]).depth(50, 100, MAX_TOP_K, MAX_CANDIDATE_K)
    hits = 50 if asked[0] is None else asked[0]
    pool = max(100, hits) if asked[1] is None else asked[1]
    assert caught.value.message == f"top_k is {hits} and candidate_k is {pool}"
    assert caught.value.remedy == "top_k goes from 1 to 50, candidate_k from 1 to 500, and top_k <= candidate_k"


@given(st.none() | st.integers(-2, 600), st.none() | st.integers(-2, 600), st.integers(1, 50), st.integers(50, 500))
def test_a_depth_is_within_the_limits_or_refused(top_k, candidate_k, own_top_k, own_candidate_k):
    hits = own_top_k if top_k is None else top_k
    pool = max(own_candidate_k, hits) if candidate_k is None else candidate_k
    asked = request(top_k=top_k, candidate_k=candidate_k)
    if 1 <= hits <= 50 and hits <= pool <= 500:
        assert asked.depth(own_top_k, own_candidate_k, 50, 500) == (hits, pool)
    else:
        with pytest.raises(InputError, match=f"top_k is {hits} and candidate_k is {pool}"):
            asked.depth(own_top_k, own_candidate_k, 50, 500)


def test_without_conditions_only_the_projects_filter(catalog):
    assert filters(catalog, "s:one") == Filters(("s:one",))


@pytest.mark.parametrize("text", ["Test Case", "test case", " TEST CASE ", "32"])
def test_a_type_is_found_by_name_in_any_case_and_by_id(catalog, text):
    assert filters(catalog, item_types=(text,)).type_ids == ("32",)


def test_a_name_means_the_types_of_all_projects_that_bear_it(catalog):
    assert set(filters(catalog, item_types=("requirement",)).type_ids) == {"31", "77"}
    assert filters(catalog, "s:two", item_types=("requirement",)).type_ids == ("77",)
    assert filters(catalog, item_types=("Test Case", "32", "test case")).type_ids == ("32",)


def test_a_status_is_found_in_any_case(catalog):
    assert filters(catalog, "s:one", statuses=("draft",)).statuses == ("Draft",)
    assert set(filters(catalog, statuses=("approved",)).statuses) == {"Approved", "APPROVED"}


def test_case_is_folded_as_unicode_folds_it(catalog):
    assert filters(catalog, item_types=("GRÖSSE",)).type_ids == ("78",)


@pytest.mark.parametrize(
    ("fields", "message", "remedy"),
    [
        (
            {"item_types": ("Test Cas",)},
            "no item type 'Test Cas' here; did you mean 'Test Case'?",
            "the projects have: Größe, Requirement, Test Case",
        ),
        (
            {"statuses": ("aproved",)},
            "no status 'aproved' here; did you mean 'Approved'?",
            "the projects have: APPROVED, Approved, Draft",
        ),
        ({"statuses": ("",)}, "no status '' here", "the projects have: APPROVED, Approved, Draft"),
    ],
)
def test_an_unknown_name_is_explained(catalog, fields, message, remedy):
    with pytest.raises(InputError) as caught:
        filters(catalog, **fields)
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


def test_a_name_of_another_project_is_not_here(catalog):
    with pytest.raises(InputError, match="no item type 'Test Case' here"):
        filters(catalog, "s:two", item_types=("Test Case",))


DAY = datetime(2026, 3, 1, tzinfo=UTC)
LAST = timedelta(days=1) - timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("2026-03-01", DAY, DAY + LAST),
        (" 2026-03-01 ", DAY, DAY + LAST),
        ("20260301", DAY, DAY + LAST),
        ("2026-W09-7", DAY, DAY + LAST),
        ("2026-03-01T00:00", DAY, DAY),
        ("2026-03-01T08:30", DAY.replace(hour=8, minute=30), DAY.replace(hour=8, minute=30)),
        ("2026-03-01T08:30Z", DAY.replace(hour=8, minute=30), DAY.replace(hour=8, minute=30)),
        ("2026-03-01 08:30:15.5+02:00", DAY.replace(hour=6, minute=30, second=15, microsecond=500_000), None),
        ("2026-02-28T20:00-04:00", DAY, DAY),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
        ("", None, None),
    ],
)
def test_dates_are_utc_and_a_bare_upper_date_means_its_whole_day(catalog, text, after, before):
    assert filters(catalog, modified_after=text).modified_after == after
    found = filters(catalog, modified_before=text).modified_before
    assert found == (after if before is None else before)
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "yesterday", "01.03.2026", "2026-13-01", "2026-02-30", "2026-03-01T25:00", "2026", "1772323200",
        "0001-01-01T00:00+14:00", "9999-12-31T23:00-05:00",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_an_example(catalog, text):
    for field in ("modified_after", "modified_before"):
        with pytest.raises(InputError) as caught:
            filters(catalog, **{field: text})
        assert caught.value.message == f"{field} is not a date: {text!r}"
        assert "2026-03-01T08:30Z" in caught.value.remedy


@given(text=st.text(max_size=30) | st.datetimes(timezones=st.none() | st.timezones()).map(str))
def test_any_text_is_a_time_in_utc_or_refused(catalog, text):
    try:
        moment = filters(catalog, modified_before=text).modified_before
    except InputError:
        return
    assert moment is None or moment.tzinfo is UTC


def test_bounds_that_leave_nothing_are_refused_with_both(catalog):
    with pytest.raises(InputError, match=r"modified_after \(2026-03-02\) is later than modified_before \(2026-03-01\)"):
        filters(catalog, modified_after="2026-03-02", modified_before="2026-03-01")
    same_day = filters(catalog, modified_after="2026-03-01", modified_before="2026-03-01")
    assert (same_day.modified_after, same_day.modified_before) == (DAY, DAY + LAST)
