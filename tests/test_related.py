"""Near-duplicates and missing links on the synced demo, and the law of near-duplicates on projects made up."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from reqall.app import PACKAGED, App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import InputError, NotFoundError
from reqall.core.request import ItemRequest
from reqall.core.types import Document, Project
from reqall.duplicates import duplicates
from reqall.experiment import run
from reqall.experiments.plan import LinkQueries, Plan
from reqall.missing_links import missing_links
from reqall.related import similar, suggest_links


def asked(item="", *projects, **options):
    return ItemRequest(projects or ("AIP",), item, **{"pipeline": "lexical", **options})


def watch(*_told):
    pass


def test_a_repeated_test_run_is_a_near_duplicate_that_differs_in_a_number(app):
    found = similar(app, asked("AIP-TSTRN-8", pipeline="default"))
    assert [each.document.key for each in found.items] == ["AIP-TSTRN-14", "AIP-TC-10"]
    assert found.items[0].score > 0.95
    assert found.items[0].differences == ("14 -> 15",)
    assert found.pipeline == "default"
    assert similar(app, asked("AIP-TSTRN-8", item_types=("Test Case",), least=0)).items[0].document.key == "AIP-TC-10"
    assert len(similar(app, asked("AIP-TSTRN-8", least=0, top_k=7)).items) == 7


def test_near_duplicates_of_a_project_are_those_of_its_items(app):
    found = duplicates(app, asked(least=0.6), watch, 100)
    assert found.compared == 232
    pairs = {(pair.first.key, pair.second.key): pair.score for pair in found.pairs}
    assert ("AIP-TSTRN-8", "AIP-TSTRN-14") in pairs
    for pair in found.pairs[:5]:
        of_one = similar(app, asked(pair.first.key, least=0.6, top_k=50))
        scores = {each.document.key: each.score for each in of_one.items}
        assert scores[pair.second.key] == pytest.approx(pair.score, abs=1e-4)
    few = duplicates(app, asked(item_types=("Test Run",)), watch, 2)
    assert len(few.pairs) == 2 < few.found < found.found
    assert {pair.first.type_name for pair in few.pairs} == {"Test Run"}


def test_suggested_links_are_new_and_go_as_the_project_links_its_types(app):
    found = suggest_links(app, asked("AIP-SYSR-12", item_types=("Test Case",)))
    assert {(each.document.key, each.direction) for each in found.links} == {
        ("AIP-STKR-5", "upstream"),
        ("AIP-RSK-2", "upstream"),
        ("AIP-SWR-9", "downstream"),
        ("AIP-TC-9", "downstream"),
    }
    keys = [each.document.key for each in found.items]
    assert "AIP-TC-7" in keys
    assert not {"AIP-TC-9", "AIP-SYSR-12"} & set(keys)
    assert {(each.direction, each.link_type) for each in found.items} == {("downstream", "Verifies")}
    blocked = next(each for each in found.items if each.document.key == "AIP-TC-7")
    assert {"blocked", "line"} <= set(blocked.terms)
    assert "line" in blocked.here
    assert "line" in blocked.there


def test_without_a_type_the_types_are_those_that_such_items_are_linked_with(app):
    upstream = suggest_links(app, asked("AIP-TC-9", direction="upstream", top_k=50))
    assert upstream.items
    assert {each.direction for each in upstream.items} <= {"upstream", "downstream"}
    assert {each.document.type_name for each in upstream.items} <= {
        "System Requirement",
        "Software Requirement",
        "Stakeholder Requirement",
        "Hardware Requirement",
        "Risk",
        "Test Plan",
    }
    assert "Test Run" not in {each.document.type_name for each in upstream.items}


def test_an_item_that_is_named_is_evidence(app):
    found = suggest_links(app, asked("AIP-SWR-18", pipeline="default", item_types=("Text",), least=0))
    named = [each for each in found.items if each.document.key == "AIP-TXT-1"]
    assert named[0].terms[0] == "AIP-TXT-1"


def test_suggestions_are_in_the_order_that_eval_measures(app):
    """Links are left out of suggestions, so those of items without any are compared."""
    plan = Plan({"lexical": app.config.pipelines["lexical"]}, links=LinkQueries("AIP", to_types=("Test Case",)))
    ranked = run(app, plan, watch).outcomes["AIP"]["lexical"].searched.run
    compared = 0
    for native, expected in list(ranked.items())[:5]:
        found = suggest_links(app, asked(native, item_types=("Test Case",), top_k=50, candidate_k=200))
        linked = {each.document.id.partition(":")[2] for each in found.links if each.document}
        left = [key for key in expected if key not in linked]
        got = [each.document.id.partition(":")[2] for each in found.items]
        assert got == left[: len(got)]
        compared += len(got)
    assert compared > 20


def test_missing_links_of_a_project_come_with_what_the_search_is_worth(app):
    request = asked(item_types=("System Requirement",), least=0.0)
    found = missing_links(app, request, ("Test Case",), watch, 5)
    assert len(found.pairs) == 5 < found.total
    assert [pair.score for pair in found.pairs] == sorted((pair.score for pair in found.pairs), reverse=True)
    assert all(0 < pair.score <= 1 and pair.terms for pair in found.pairs)
    assert {(pair.direction, pair.link_type) for pair in found.pairs} == {("upstream", "Verifies")}
    assert found.asked == 28
    assert found.from_without_links == ("AIP-TC-22", "AIP-TC-26")
    assert "AIP-SYSR-12" not in {pair.second.key for pair in found.pairs if pair.first.key == "AIP-TC-9"}
    assert found.known == 34
    assert found.found > found.known / 2
    higher = missing_links(app, replace(request, least=found.pairs[1].score), ("Test Case",), watch, 5)
    assert higher.total == 2


@pytest.mark.parametrize(
    ("item", "options", "message"),
    [
        ("AIP-NONE-1", {}, r"no item 'AIP-NONE-1' in project AIP"),
        ("ADS-SYSR-22", {}, r"not in project AIP\n.*jama:52"),
        ("AIP-TC-1", {"item_types": ("Test Cas",)}, "did you mean 'Test Case'"),
        ("AIP-TC-1", {"pipeline": "lexial"}, "did you mean 'lexical'"),
        ("AIP-TC-1", {"least": 1.5}, "threshold is 1.5"),
        ("AIP-TC-1", {"top_k": 51}, "top_k is 51"),
    ],
)
def test_what_cannot_be_is_said(app, item, options, message):
    for search in (similar, suggest_links):
        with pytest.raises(InputError, match=message):
            search(app, asked(item, **options))


def test_what_one_of_them_cannot_is_said(app):
    with pytest.raises(NotFoundError, match="init_jama_project"):
        similar(app, asked("1", "NOPE", source="jama"))
    with pytest.raises(InputError, match="did you mean 'upstream'"):
        suggest_links(app, asked("AIP-TC-1", direction="upstrem"))
    with pytest.raises(InputError, match="has a link upstream here"):
        suggest_links(app, asked("AIP-FLD-1", direction="upstream"))
    with pytest.raises(InputError, match="above 0"):
        duplicates(app, asked(least=0), watch, 1)
    with pytest.raises(InputError, match="both types"):
        missing_links(app, asked(), ("Test Case",), watch, 1)


WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """An App with a lexical pipeline named `similar`, whose catalog is written by the test."""
    folder = tmp_path_factory.mktemp("made_up")
    text = PACKAGED.read_text(encoding="utf-8")
    lexical = "\n  similar: {recall: [{index: words}]}\n  default: {recall: [{index: words}], fuse: {use: isr}}\n"
    config = folder / "pipelines.yaml"
    config.write_text(text[: text.index("pipelines:")] + "pipelines:" + lexical, encoding="utf-8")
    opened = App(Overrides(str(config), "", str(folder / "catalog.db")), Environment({}, Path(folder / ".env")))
    yield opened
    opened.close()


def fill(app, texts):
    """Put these texts, an item each, in the place of all that the project P holds."""
    catalog, indexer = app.assembly.catalog, app.assembly.indexer()
    with app.assembly.database.writing() as tx:
        catalog.write_project(tx, Project("s:p", "s", "P", "Made up"))
        catalog.write_synced(tx, "s:p", None, app.clock())
    items = [
        Document(f"s:{n}", "s", "s:p", f"P-{n}", "t", "Requirement", f"item {n}", sections={"description": text})
        for n, text in enumerate(texts)
    ]
    stale = sorted(set(catalog.document_ids("s:p")) - {item.id for item in items})
    indexer.commit(items, stale, eager=True, within=lambda _tx, _done: None)


@pytest.mark.parametrize("edit", ["change", "remove", "add", "turn"])
def test_an_item_with_a_small_edit_is_found_first_and_an_unrelated_one_never(made_up, edit):
    chance = random.Random(edit)
    texts = [" ".join(chance.sample(WORDS, 20)) for _ in range(30)]
    words = texts[0].split()
    place = chance.randrange(20)
    changed = {
        "change": [*words[:place], "other", *words[place + 1 :]],
        "remove": words[:place] + words[place + 1 :],
        "add": [*words[:place], "more", *words[place:]],
        "turn": words[place:] + words[:place],
    }[edit]
    fill(made_up, [*texts, " ".join(changed)])
    found = similar(made_up, ItemRequest(("P",), "P-0"))
    assert [each.document.key for each in found.items] == ["P-30"]
    assert found.pipeline == "similar"
    assert found.items[0].score >= 0.8
    pairs = duplicates(made_up, ItemRequest(("P",), ""), watch, 100).pairs
    assert [(pair.first.key, pair.second.key) for pair in pairs] == [("P-0", "P-30")]


def test_a_pipeline_named_after_the_purpose_is_used_else_the_default(made_up):
    fill(made_up, ["alpha beta", "alpha beta gamma"])
    assert suggest_links(made_up, ItemRequest(("P",), "P-0")).pipeline == "default"
    assert similar(made_up, ItemRequest(("P",), "P-0", pipeline="default")).pipeline == "default"


def test_an_item_without_words_is_refused(made_up):
    fill(made_up, ["alpha"])
    empty = Document("s:e", "s", "s:p", "P-E", "t", "Requirement", "?", sections={"description": "!"})
    made_up.assembly.indexer().commit([empty], (), eager=True, within=lambda _tx, _done: None)
    with pytest.raises(InputError, match="'P-E' has no word"):
        similar(made_up, ItemRequest(("P",), "P-E"))
