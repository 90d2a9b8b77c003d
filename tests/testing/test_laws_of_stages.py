"""Each law of fusers, rerankers and expanders is broken once by a component that is wrong in that way alone."""

import pytest

from reqall import DocumentRanking, RankedDocument, Variant
from reqall.testing.contracts import (
    DeadlineContract,
    DisclosureContract,
    ExpanderContract,
    FeedbackContract,
    FuserContract,
    RerankerContract,
    ScoresContract,
)
from reqall.testing.fake_reranker import SharedWordsReranker


def summed(rankings, weights):
    """The score of a document: weight / rank, summed."""
    shares = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for document in ranking:
            shares.setdefault(document.document_id, []).append(weight / document.rank)
    return DocumentRanking.of((key, sum(sorted(parts))) for key, parts in shares.items())


def turned(ranking):
    return DocumentRanking.of((document.document_id, document.rank) for document in ranking)


class Fusing:
    """A fuser of one function."""

    def __init__(self, fuse):
        self.fuse = fuse


class Counting:
    """A fuser whose scores depend on how often it was called."""

    calls = 0

    def fuse(self, rankings, weights):
        self.calls += 1
        return DocumentRanking.of((d.document_id, d.score + self.calls) for d in summed(rankings, weights))


def inventing(rankings, weights):
    return DocumentRanking.of([("invented", 1.0), *((d.document_id, d.score) for d in summed(rankings, weights))])


def first_ranking_wins(rankings, weights):
    return summed(rankings, [weight * 10.0 ** -(2 * place) for place, weight in enumerate(weights)])


def divided(rankings, weights):
    fused, total = summed(rankings, weights), sum(weights)
    return DocumentRanking.of((d.document_id, d.score / total) for d in fused)


FUSERS = {
    "test_nothing_fused_is_nothing": (inventing, "empty rankings gave documents"),
    "test_it_invents_nothing_and_repeats_nothing": (inventing, "invented documents that no ranking holds"),
    "test_one_ranking_keeps_its_order": (lambda r, w: turned(summed(r, w)), "one ranking alone did not keep"),
    "test_identical_rankings_keep_their_order": (
        lambda r, w: turned(summed(r, w)),
        "that are all the same did not keep",
    ),
    "test_the_order_of_the_rankings_means_nothing": (first_ranking_wins, "were given"),
    "test_a_document_first_everywhere_is_first": (lambda r, w: turned(summed(r, w)), "first in all rankings came out"),
    "test_a_ranking_of_weight_0_moves_nothing": (lambda r, _w: summed(r, [1.0] * len(r)), "a ranking of weight 0"),
    "test_only_rankings_of_weight_0_are_no_error": (divided, "division by zero"),
    "test_threads_get_the_same": (Counting().fuse, "got different rankings"),
}


@pytest.mark.parametrize("law", FUSERS)
def test_the_contract_of_fusers_notices(notices, law):
    fuse, words = FUSERS[law]
    notices(FuserContract, law, words, fuser=Fusing(fuse))


def test_no_law_of_fusers_is_untried(laws_of):
    assert laws_of(FuserContract) == set(FUSERS)


NAN, ONE = float("inf"), 1.0
MALFORMED = [
    (["a"], "a DocumentRanking was to be returned, not list"),
    (DocumentRanking((RankedDocument("a", ONE, 1), RankedDocument("a", ONE, 2))), "stands in the ranking twice"),
    (DocumentRanking((RankedDocument("a", NAN, 1),)), "not a finite number"),
    (DocumentRanking((RankedDocument("a", ONE, 0),)), "ranks do not count"),
    (DocumentRanking((RankedDocument("b", ONE, 1), RankedDocument("a", ONE, 2))), "equal scores by document id"),
    (DocumentRanking((RankedDocument("a", ONE, 1), RankedDocument("b", 2.0, 2))), "not best first"),
]


@pytest.mark.parametrize(("ranking", "words"), MALFORMED)
def test_a_ranking_that_is_none_is_noticed(notices, ranking, words):
    fuser = Fusing(lambda _rankings, _weights: ranking)
    notices(FuserContract, "test_only_rankings_of_weight_0_are_no_error", words, fuser=fuser)


class Reranking:
    """A reranker of one function."""

    def __init__(self, rerank):
        self.rerank = rerank


def ranked(passages):
    return DocumentRanking.of((p.document_id, 1.0) for p in passages)


def refusing(condition):
    """A reranker that cannot read some passages or queries."""

    def rerank(query, passages):
        if condition(query, passages):
            raise ValueError("unreadable")
        return ranked(passages)

    return rerank


class Crowded:
    """A reranker that loses a passage from its second call on, as one that shares a buffer might."""

    calls = 0

    def rerank(self, _query, passages):
        self.calls += 1
        return ranked(passages if self.calls < 2 else passages[1:])


RERANKERS = {
    "test_it_orders_its_passages_and_nothing_else": (lambda _q, p: ranked(p[:2]), "not a permutation"),
    "test_no_passages_no_ranking": (lambda _q, _p: DocumentRanking.of([("x", 1.0)]), "out of no passages"),
    "test_one_passage_stays": (lambda _q, p: ranked(p[1:]), "not a permutation"),
    "test_equal_texts_stay_apart": (
        lambda _q, p: ranked({each.text: each for each in p}.values()),
        "not a permutation",
    ),
    "test_odd_passages_are_no_error": (refusing(lambda _q, p: any(not each.text for each in p)), "unreadable"),
    "test_odd_queries_are_no_error": (refusing(lambda q, _p: not q), "unreadable"),
    "test_threads_get_permutations": (Crowded().rerank, "not a permutation"),
}


class Scored(SharedWordsReranker):
    """A scorer with a defect, and a deadline that it keeps in its own way."""

    def __init__(self, score=None, *, identity="s", batch_size=4, kept=slice(None)):
        super().__init__(batch_size, identity)
        self._score, self._kept = score, kept

    def score(self, query, passages):
        return self._score(passages) if self._score else super().score(query, passages)

    def rerank(self, query, passages):
        return DocumentRanking.of((each.document_id, score) for each, score in zip(passages, (3, 2, 1), strict=True))

    def rerank_within(self, query, passages, seconds):
        return ranked(passages[self._kept])


def by_id(passages):
    return [-float(each.document_id[2:]) for each in passages]


SCORED, LATE = "test_scores_are_those_of_the_order", "test_little_time_leaves_the_last_out"

ABLE = [
    (ScoresContract, SCORED, Scored(lambda p: [1.0]), "1 scores for 3 passages"),
    (ScoresContract, SCORED, Scored(lambda p: [float("inf")] * len(p)), "not finite"),
    (
        ScoresContract,
        SCORED,
        Scored(lambda p: [1.0 / len(p)] * len(p)),
        "depends on the other",
    ),
    (
        ScoresContract,
        SCORED,
        Scored(lambda p: [float(each.text[0] == "L") for each in p]),
        "otherwise",
    ),
    (
        ScoresContract,
        SCORED,
        Scored(by_id, batch_size=0),
        "batch size is below 1",
    ),
    (DeadlineContract, LATE, Scored(kept=slice(1, None)), "not the first passages"),
    (DeadlineContract, LATE, Scored(kept=slice(2)), "an hour was not enough"),
]


@pytest.mark.parametrize(("contract", "law", "reranker", "words"), ABLE)
def test_the_contracts_of_rerankers_abilities_notice(notices, contract, law, reranker, words):
    notices(contract, law, words, reranker=reranker)


@pytest.mark.parametrize("law", RERANKERS)
def test_the_contract_of_rerankers_notices(notices, law):
    rerank, words = RERANKERS[law]
    given = {"query": ""} if law == "test_odd_queries_are_no_error" else {}
    notices(RerankerContract, law, words, reranker=Reranking(rerank), **given)


def test_no_law_of_rerankers_is_untried(laws_of):
    assert laws_of(RerankerContract) == {*RERANKERS}
    for contract in (ScoresContract, DeadlineContract):
        assert laws_of(contract) == {law for each, law, _, _ in ABLE if each is contract}


class Expanding:
    """An expander of one function of the query."""

    def __init__(self, expand):
        self.expand = expand


class Sharing:
    """An expander that repeats what it gave before."""

    calls = 0

    def expand(self, query):
        self.calls += 1
        return [query.text] if self.calls == 1 else []


EXPANDERS = {
    "test_the_users_text_is_first_and_nothing_is_twice": (lambda q: [q.text.upper()], "must come first, unchanged"),
    "test_odd_texts_are_no_error": (lambda q: [q.text, " "], "a blank variant"),
    "test_the_clients_sub_queries_are_not_skipped": (lambda q: [q.text, *q.sub_queries[1:3]], "skipped or moved"),
    "test_a_repeated_sub_query_is_searched_once": (lambda q: [q.text, *q.sub_queries], "a text comes twice"),
    "test_many_sub_queries_are_bounded": (lambda q: [q.text, *q.sub_queries], "101 texts for one question"),
    "test_threads_get_their_own_texts": (Sharing().expand, "never empty"),
}


@pytest.mark.parametrize("law", EXPANDERS)
def test_the_contract_of_expanders_notices(notices, law):
    expand, words = EXPANDERS[law]
    given = {"text": "volume"} if law == "test_odd_texts_are_no_error" else {}
    notices(ExpanderContract, law, words, expander=Expanding(expand), **given)


def test_an_ability_that_is_not_tried_is_noticed(notices):
    notices(ExpanderContract, "test_its_abilities_are_tried", "DisclosureContract", expander=Telling("models.example"))


def test_no_law_of_expanders_is_untried(laws_of):
    assert laws_of(ExpanderContract) == {*EXPANDERS, "test_its_abilities_are_tried"}


class Telling(Expanding):
    """An expander that names a host."""

    def __init__(self, sends_to):
        super().__init__(lambda query: [query.text])
        self.sends_to = sends_to


class Fed:
    """An expander of one function of what was found."""

    def __init__(self, expand_from):
        self.expand_from = lambda query, found: expand_from(self, query, found)


def by_turns(self, query, _found):
    """Give another text each time."""
    self.turn = not getattr(self, "turn", False)
    return [query.text, "odd" if self.turn else "even"]


@pytest.mark.parametrize(
    ("expand_from", "words"),
    [
        (lambda _self, _query, found: [found[0].document.name], "list index out of range"),
        (lambda _self, _query, found: [each.document.name for each in found], "begins with the user's text"),
        (lambda _self, query, _found: [query.text, Variant("b", -1.0)], "a weight is a number of 0 or more"),
        (by_turns, "gave other texts"),
    ],
)
def test_the_contract_of_feedback_notices(notices, expand_from, words):
    notices(FeedbackContract, "test_what_a_first_search_found_is_read", words, expander=Fed(expand_from), count=0)


@pytest.mark.parametrize("host", ["https://models.example/v1", "user@models.example", ""])
def test_the_contract_of_disclosure_notices(notices, host):
    notices(DisclosureContract, "test_the_host_alone_is_named", "a host, nothing else", expander=Telling(host))


def test_no_law_of_these_abilities_is_untried(laws_of):
    assert laws_of(FeedbackContract) == {"test_what_a_first_search_found_is_read"}
    assert laws_of(DisclosureContract) == {"test_the_host_alone_is_named"}
