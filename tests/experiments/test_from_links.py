"""Queries and judgements from the demo project's trace links, searched in its own catalog."""

import pytest

from reqall.core.errors import InputError, NotFoundError
from reqall.core.types import native_id
from reqall.experiment import run
from reqall.experiments.links import from_links
from reqall.experiments.plan import LinkQueries, Plan

ASKED, SOUGHT = "Stakeholder Requirement", "System Requirement"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Results of this test are kept in a folder of its own."""
    monkeypatch.setenv("REQALL_HOME", str(tmp_path))
    return tmp_path


def project(app):
    found = app.synced_project("AIP")
    return found, {document.id: document for document in app.assembly.catalog.walk(found.id)}


def test_every_link_inside_the_project_is_a_judgement(app):
    found, documents = project(app)
    linked = from_links(app, LinkQueries("AIP"))
    expected = {
        (native_id(link.from_id), native_id(link.to_id))
        for link in app.assembly.catalog.links(found.id)
        if link.from_id in documents and link.to_id in documents and link.from_id != link.to_id
    }
    judged = {(query, document) for query, answers in linked.collection.qrels.items() for document in answers}
    assert judged == expected
    assert len(judged) > 20
    assert linked.filters.project_ids == (found.id,)
    assert linked.filters.type_ids == ()


def test_a_query_is_name_and_text_of_an_item_that_is_no_result_of_itself(app):
    _, documents = project(app)
    by_native = {native_id(key): document for key, document in documents.items()}
    for query in from_links(app, LinkQueries("AIP")).collection.queries:
        item = by_native[query.id]
        assert query.text.startswith(item.name)
        assert all(text in query.text for text in item.sections.values())
        assert query.exclude == {query.id}


def test_types_limit_queries_answers_and_what_is_searched(app):
    _, documents = project(app)
    types = {native_id(key): document.type_name for key, document in documents.items()}
    linked = from_links(app, LinkQueries("AIP", from_types=(ASKED.upper(),), to_types=(SOUGHT,)))
    assert {types[query.id] for query in linked.collection.queries} == {ASKED}
    assert {types[key] for answers in linked.collection.qrels.values() for key in answers} == {SOUGHT}
    (type_id,) = linked.filters.type_ids
    assert {document.type_name for document in documents.values() if document.type_id == type_id} == {SOUGHT}


def test_link_types_limit_judgements(app):
    found, _ = project(app)
    kinds = sorted({link.type for link in app.assembly.catalog.links(found.id)})
    counts = [
        sum(map(len, from_links(app, LinkQueries("AIP", link_types=(kind,))).collection.qrels.values()))
        for kind in kinds
    ]
    assert len(kinds) > 1
    assert sum(counts) >= sum(map(len, from_links(app, LinkQueries("AIP")).collection.qrels.values()))
    assert all(count > 0 for count in counts)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (LinkQueries("AIP", from_types=("Stakeholder Requirment",)), "did you mean 'Stakeholder Requirement'"),
        (LinkQueries("AIP", to_types=("no such",)), "--to-type: no item type 'no such'"),
        (LinkQueries("AIP", link_types=("no such",)), "--link-type: no link type 'no such'"),
        (LinkQueries("AIP", from_types=(SOUGHT,), to_types=(ASKED,)), "has no link of these types"),
    ],
)
def test_what_the_project_does_not_have_is_told(app, wanted, told):
    with pytest.raises(InputError) as caught:
        from_links(app, wanted)
    assert told in caught.value.message


def test_a_project_that_is_not_synced_is_told(app):
    with pytest.raises(NotFoundError, match="'AIQ' is not initialised"):
        from_links(app, LinkQueries("AIQ"))


def test_pipelines_are_compared_on_the_project_itself(app, kept):
    _, documents = project(app)
    links = LinkQueries("AIP", from_types=(ASKED,), to_types=(SOUGHT,))
    pipelines = {name: app.config.pipelines[name] for name in ("lexical", "bm25")}
    report = run(app, Plan(pipelines, links=links), lambda *_: None)
    (collection,) = report.collections
    assert collection.name == "AIP"
    assert report.warnings == []
    types = {native_id(key): document.type_name for key, document in documents.items()}
    for outcome in report.outcomes["AIP"].values():
        assert 0.3 < outcome.scores.means["nDCG@10"] < 1
        for query, ranked in outcome.searched.run.items():
            assert query not in ranked
            assert {types[document] for document in ranked} <= {SOUGHT}
    assert len(list((kept / "eval" / "results").iterdir())) == 2
