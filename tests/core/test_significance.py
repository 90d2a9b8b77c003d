"""The randomisation test against all exchanges, Holm against the definition, the interval against the normal one."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall.core.significance import compare, holm

values = st.integers(0, 4).map(lambda number: number / 4)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=8)


def paired(rows):
    """Pairs of a metric that is a mean over queries."""
    return [((system, 1.0), (baseline, 1.0)) for system, baseline in rows]


def ratio(parts):
    divisor = sum(part[1] for part in parts)
    return sum(part[0] for part in parts) / divisor if divisor else 0.0


def enumerated(collections):
    """The exact p value: all exchanges of all queries, each equally likely."""
    queries = [(place, pair) for place, pairs in enumerate(collections) for pair in pairs]

    def difference(exchange):
        total = 0.0
        for wanted in range(len(collections)):
            own = [
                (pair[::-1] if flip else pair)
                for (place, pair), flip in zip(queries, exchange, strict=True)
                if place == wanted
            ]
            total += ratio([system for system, _ in own]) - ratio([baseline for _, baseline in own])
        return total / len(collections)

    observed = abs(difference([False] * len(queries)))
    all_exchanges = [difference(flips) for flips in product((False, True), repeat=len(queries))]
    return sum(abs(each) >= observed - 1e-9 for each in all_exchanges) / len(all_exchanges)


@given(pairs)
@settings(max_examples=25)
def test_p_is_that_of_all_exchanges(rows):
    assert compare({"a": [paired(rows)]})["a"].p == pytest.approx(enumerated([paired(rows)]), abs=0.025)


@given(st.lists(st.lists(st.tuples(values, values), min_size=1, max_size=4), min_size=2, max_size=2))
@settings(max_examples=25)
def test_p_of_the_mean_over_collections_is_that_of_all_exchanges(collections):
    given_pairs = [paired(rows) for rows in collections]
    assert compare({"a": given_pairs})["a"].p == pytest.approx(enumerated(given_pairs), abs=0.025)


counts = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda two: (float(min(two)), float(max(two))))


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=7))
@settings(max_examples=25)
def test_a_ratio_of_sums_is_compared_as_such(rows):
    found = compare({"a": [rows]})["a"]
    assert found.difference == pytest.approx(ratio([r[0] for r in rows]) - ratio([r[1] for r in rows]))
    assert found.p == pytest.approx(enumerated([rows]), abs=0.025)


def test_an_even_difference_over_many_queries_is_significant_and_no_difference_is_not():
    better = [paired([(0.6, 0.5)] * 12)]
    same = [paired([(0.5, 0.5)] * 12)]
    found = compare({"better": better, "same": same})
    assert found["better"].p == pytest.approx(2 / 2**12, abs=0.0008)
    assert found["better"].adjusted == pytest.approx(2 * found["better"].p)
    assert (found["better"].wins, found["better"].ties, found["better"].losses) == (12, 0, 0)
    assert found["better"].low == pytest.approx(0.1) == found["better"].high
    assert (found["same"].p, found["same"].difference) == (1.0, 0.0)
    assert (found["same"].wins, found["same"].ties, found["same"].losses) == (0, 12, 0)


def test_wins_ties_and_losses_are_summed_over_collections():
    found = compare({"a": [paired([(1, 0), (0, 1), (0.1 + 0.2, 0.3)]), paired([(1, 0)])]})["a"]
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)


def test_collections_count_alike_whatever_their_size():
    found = compare({"a": [paired([(1, 0)]), paired([(0, 0)] * 9)]})["a"]
    assert found.difference == pytest.approx(0.5)


def test_the_result_is_the_same_each_time_and_turns_with_the_sides():
    rows = [(0.1, 0.4), (0.9, 0.3), (0.5, 0.5), (0.7, 0.2), (0.3, 0.1)]
    found, again = (compare({"a": [paired(rows)]})["a"] for _ in range(2))
    turned = compare({"a": [paired([row[::-1] for row in rows])]})["a"]
    assert found == again
    assert (turned.p, turned.difference) == (found.p, pytest.approx(-found.difference))
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


def test_the_interval_is_near_that_of_the_normal_distribution():
    np = pytest.importorskip("numpy")
    random = np.random.default_rng(5)
    rows = [(float(value), 0.0) for value in random.normal(0.2, 0.5, 400)]
    found = compare({"a": [paired(rows)]})["a"]
    error = np.std([row[0] for row in rows]) / 20
    assert found.low == pytest.approx(found.difference - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.difference + 1.96 * error, abs=0.1 * error)


def test_holm_worked_by_hand():
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 is .04 .06 .06 .04, and none is below the one before.
    adjusted = holm({"c": 0.03, "a": 0.01, "d": 0.04, "b": 0.02})
    assert adjusted == {name: pytest.approx(p) for name, p in {"c": 0.06, "a": 0.04, "d": 0.06, "b": 0.06}.items()}
    assert list(adjusted) == ["c", "a", "d", "b"]


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_holm_never_lowers_a_p_and_keeps_the_order(raw):
    adjusted = holm(raw)
    assert all(raw[name] <= adjusted[name] <= 1 for name in raw)
    ordered = sorted(raw, key=lambda name: raw[name])
    assert [adjusted[name] for name in ordered] == sorted(adjusted.values())
