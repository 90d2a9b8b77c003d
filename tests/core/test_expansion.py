"""The first stage of a search: several expanders, what their texts weigh, and expanders that read a first search."""

from dataclasses import replace

import pytest

from reqall import DocumentRanking, Filters, FoundDocument, PluginError, Query, Variant
from reqall.core.expansion import Expanding, VariantWeights
from reqall.core.guard import Component
from reqall.core.pipeline import Arm, Pipeline
from reqall.plugins.fusers.rrf import Rrf, RrfOptions


class Saying:
    """Gives these texts after the user's own."""

    def __init__(self, *texts):
        self.texts = texts

    def expand(self, query):
        return [query.text, *self.texts]


class Failing:
    def expand(self, query):
        raise PluginError("the endpoint is down")


class Reading:
    """Remembers what a first search found; its one text is the name of the best document."""

    def __init__(self):
        self.found = None

    def expand(self, query):
        raise AssertionError("what was found is to be read")

    def expand_from(self, query, found):
        self.found = list(found)
        return [query.text, *(each.document.name for each in found[:1])]


class Recording:
    """Fuses as RRF does, and remembers the weights."""

    def __init__(self):
        self.weights = []

    def fuse(self, rankings, weights):
        self.weights.append(list(weights))
        return Rrf(RrfOptions()).fuse(rankings, weights)


class Counting:
    """Passes recalls on, and remembers the texts; with `failure` it raises instead."""

    def __init__(self, inner, failure=None):
        self.inner, self.failure, self.asked = inner, failure, []
        self.storage = inner.storage

    def position(self):
        return self.inner.position()

    def recall(self, texts, limit, filters):
        self.asked.append(tuple(texts))
        if self.failure:
            raise self.failure
        return self.inner.recall(texts, limit, filters)


@pytest.fixture
def filled(bench, document):
    bench.commit(
        document(1, "alarm volume", name="Horn", status="Draft"),
        document(2, "alarm of the battery", name="Cell", status="Approved"),
        document(3, "horn and cell", name="Parts", status="Draft"),
    )
    return bench


@pytest.fixture
def counting(filled):
    """An arm of the bench whose recaller is counted."""

    def make(index, failure=None, weight=1.0):
        return Arm(replace(index, recaller=Counting(index.recaller, failure)), weight)

    return make


@pytest.fixture
def make(filled):
    def make(*expanders, arms=(), fuser=None, **more):
        steps = [each if isinstance(each, Expanding) else Expanding(each) for each in expanders]
        chosen = arms or [Arm(filled.words)]
        stages = {"fuser": fuser or Rrf(RrfOptions()), "fuser_name": "rrf", "reranker": None, "pin": False}
        return Pipeline("p", indexer=filled.indexer, arms=chosen, expanders=steps, **stages, **more)

    return make


def search(pipeline, text, sub_queries=(), **filters):
    return pipeline.search(Query(text, sub_queries, Filters(**filters)), 10, 10)


def test_the_texts_of_all_expanders_come_in_their_order_and_once(make):
    result = search(make(Saying("battery", "Horn"), Saying("horn ", "cell", "battery")), "alarm")
    assert result.sub_queries_used == ("alarm", "battery", "Horn", "cell")
    assert result.warnings == ()


def test_one_that_fails_costs_its_own_texts_only(make):
    broken = Expanding(Failing(), Component("expander 'broken'"))
    result = search(make(Saying("battery"), broken, Saying("cell")), "alarm")
    assert result.sub_queries_used == ("alarm", "battery", "cell")
    assert result.warnings == ("expander 'broken' was left out, its texts are missing: the endpoint is down",)


def test_too_many_texts_are_cut_with_a_warning(make):
    result = search(make(Saying("battery", "horn", "cell"), max_variants=3), "alarm")
    assert result.sub_queries_used == ("alarm", "battery", "horn")
    assert result.warnings == ("searched with 3 of 4 texts: max_variants is 3",)


def test_the_users_text_is_first_whatever_the_expander_forgets(make):
    class Forgetful:
        def expand(self, query):
            return ["battery"]

    assert search(make(Forgetful()), "alarm").sub_queries_used == ("alarm", "battery")


def test_a_text_weighs_by_its_origin_its_expander_and_itself(make, filled):
    fuser = Recording()
    weights = VariantWeights(original=2.0, sub_queries=0.5, expansions=0.25)
    steps = [Saying("client", "battery"), Expanding(Saying(Variant("cell", 3.0)), weight=0.1)]
    pipeline = make(*steps, arms=[Arm(filled.words, 10.0)], fuser=fuser, variant_weights=weights)
    result = search(pipeline, "alarm", sub_queries=("client",))
    assert result.sub_queries_used == ("alarm", "client", "battery", "cell")
    assert fuser.weights == [pytest.approx([20.0, 5.0, 2.5, 3.0])]
    told = {p.variant: p.weight for hit in result.hits for p in hit.provenance}
    assert told == pytest.approx({"alarm": 20.0, "battery": 2.5, "cell": 3.0})


def test_texts_for_some_indexes_ask_no_other(make, counting, filled):
    words, meaning = counting(filled.words), counting(filled.meaning)
    only_words = Expanding(Saying("battery"), indexes=frozenset({"words"}))
    search(make(only_words, Saying("cell"), arms=[words, meaning]), "alarm")
    assert words.index.recaller.asked == [("alarm", "battery", "cell")]
    assert meaning.index.recaller.asked == [("alarm", "cell")]


def test_a_text_that_two_expanders_give_reaches_the_indexes_of_both(make, counting, filled):
    words, meaning = counting(filled.words), counting(filled.meaning)
    steps = [Expanding(Saying("cell"), indexes=frozenset({index})) for index in ("words", "meaning")]
    search(make(*steps, arms=[words, meaning]), "alarm")
    assert words.index.recaller.asked == meaning.index.recaller.asked == [("alarm", "cell")]


def test_the_clients_own_texts_go_everywhere_whoever_passes_them_on(make, counting, filled):
    meaning = counting(filled.meaning)
    step = Expanding(Saying("client", "own"), indexes=frozenset({"words"}))
    search(make(step, arms=[Arm(filled.words), meaning]), "alarm", sub_queries=("client",))
    assert meaning.index.recaller.asked == [("alarm", "client")]


def test_what_an_arm_weighs_does_not_hang_on_the_number_of_its_texts(make, filled):
    fuser = Recording()
    step = Expanding(Saying("battery"), weight=0.5, indexes=frozenset({"words"}))
    search(make(step, arms=[Arm(filled.words, 2.0), Arm(filled.meaning, 1.0)], fuser=fuser), "alarm")
    (weights,) = fuser.weights
    assert weights == pytest.approx([2.0, 1.0, 1.5])
    assert sum(weights[:2]) == pytest.approx(2 * weights[2])


def test_a_text_may_weigh_nothing(make):
    result = search(make(Saying("parts"), variant_weights=VariantWeights(original=0.0)), "battery")
    assert result.hits[0].document.id == "s:3"


def test_a_first_search_is_read_within_the_filters_and_not_made_twice(make, counting, filled):
    words, reading = counting(filled.words), Reading()
    result = search(make(reading, arms=[words]), "alarm", statuses=("Draft",))
    assert [(found.document.id, found.score > 0) for found in reading.found] == [("s:1", True)]
    assert words.index.recaller.asked == [("alarm",), ("Horn",)]
    assert result.sub_queries_used == ("alarm", "Horn")
    assert [hit.document.id for hit in result.hits] == ["s:1", "s:3"]
    assert [(p.variant, p.rank) for p in result.hits[0].provenance] == [("alarm", 1), ("Horn", 1)]


def test_a_document_that_is_no_more_is_not_read(make, counting, filled):
    words, reading = counting(filled.words), Reading()
    with filled.database.writing() as tx:
        filled.catalog.delete_documents(tx, ["s:1"])
    search(make(reading, arms=[words]), "alarm")
    assert [found.document.id for found in reading.found] == ["s:2"]


def test_a_first_search_may_find_nothing(make, counting, filled):
    words, reading = counting(filled.words), Reading()
    result = search(make(reading, arms=[words]), "unheard")
    assert (reading.found, result.hits, result.warnings) == ([], (), ())
    assert words.index.recaller.asked == [("unheard",)]


def test_expanders_that_need_no_first_search_stand_beside_one_that_does(make):
    reading = Reading()
    assert search(make(reading, Saying("battery")), "volume").sub_queries_used == ("volume", "Horn", "battery")


def test_what_the_first_search_found_stays_when_the_second_fails(make, counting, filled):
    """An arm that fails is told of once, and is no reason to lose what another has found."""
    failing = counting(filled.words, PluginError("disk is full"))
    step = Expanding(Reading(), indexes=frozenset({"words"}))
    result = search(make(step, arms=[failing, Arm(filled.meaning)]), "alarm volume")
    assert result.hits[0].document.id == "s:1"
    assert result.warnings == ("index 'words' was left out: disk is full",)


def test_the_same_texts_for_all_weigh_what_the_arm_does(make, filled):
    fuser = Recording()
    search(make(Saying("battery"), arms=[Arm(filled.words, 0.3), Arm(filled.meaning, 0.7)], fuser=fuser), "alarm")
    assert fuser.weights == [[0.3, 0.3, 0.7, 0.7]]


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan"), "1"])
def test_a_weight_that_is_none_leaves_the_expander_out(make, weight):
    result = search(make(Saying(Variant("battery", weight))), "alarm")
    assert result.sub_queries_used == ("alarm",)
    assert "it returned a weight that is no number of 0 or more" in result.warnings[0]


def test_a_ranking_is_what_a_first_search_is_scored_by(make, filled):
    """The score of a found document is the fused one."""
    reading = Reading()
    search(make(reading), "alarm volume")
    expected = DocumentRanking.of([("s:1", 1 / 61), ("s:2", 1 / 62)])
    assert [(each.document.id, each.score) for each in reading.found] == [
        (each.document_id, pytest.approx(each.score)) for each in expected
    ]
    assert all(isinstance(each, FoundDocument) for each in reading.found)
