"""What a component may read of the catalog to learn from it."""

from reqall import Services
from reqall.core.corpus import CatalogCorpus


def ids(documents):
    return [each.id for each in documents]


def test_a_walk_yields_what_changed_of_a_project(bench, document):
    corpus = CatalogCorpus(bench.catalog, bench.log)
    assert (corpus.seq(), ids(corpus.changed("s:p", 0))) == (0, [])
    bench.commit(document(1, "one"), document(2, "two"), document(3, "three", project_id="s:q"))
    before = corpus.seq()
    assert sorted(ids(corpus.changed("s:p", 0))) == ["s:1", "s:2"]
    bench.commit(document(2, "two, edited"), deleted=["s:1"])
    assert ids(corpus.changed("s:p", before)) == ["s:2"]
    assert corpus.seq() > before
    assert ids(corpus.changed("s:p", corpus.seq())) == []


def test_what_is_gone_or_moved_is_not_present(bench, document):
    corpus = CatalogCorpus(bench.catalog, bench.log)
    bench.commit(document(1, "one"), document(2, "two"), document(3, "three"))
    bench.commit(document(2, "two", project_id="s:q"), deleted=["s:1"])
    assert corpus.present("s:p", ["s:1", "s:2", "s:3", "s:9"]) == {"s:3"}


def test_without_a_catalog_there_is_nothing_to_learn():
    corpus = Services().corpus
    assert (corpus.seq(), corpus.projects(), ids(corpus.changed("s:p", 0)), corpus.present("s:p", ["s:1"])) == (
        0,
        (),
        [],
        set(),
    )
