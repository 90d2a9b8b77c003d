"""The assembled App on the demo: what a search must find, and what an App refuses."""

from pathlib import Path

import pytest

from reqall.app import App, Overrides
from reqall.core.environment import Environment
from reqall.core.errors import InputError, NotFoundError
from reqall.core.request import SearchRequest


def keys(app, query, *projects, **options):
    _, result = app.search(SearchRequest(projects or ("AIP", "ADS"), query, **options))
    return [hit.document.key for hit in result.hits]


@pytest.mark.parametrize("key", ["AIP-SYSR-10", "AIP-SET-1", "AIP-FLD-1", "AIP-BUG-14", "aip-tc-7"])
def test_an_exact_key_comes_first(app, key):
    """Of a requirement, a set, a folder without text, a defect without text, in any case."""
    _, result = app.search(SearchRequest(("AIP",), f"what about {key}?"))
    assert result.hits[0].document.key == key.upper()
    assert result.hits[0].strategy == "exact"


def test_a_key_outside_the_filter_is_not_pinned(app):
    _, result = app.search(SearchRequest(("AIP",), "AIP-SYSR-10", item_types=("Test Case",)))
    assert {hit.document.type_name for hit in result.hits} == {"Test Case"}


def test_codes_are_found_by_words_and_paraphrases_by_meaning(app):
    assert set(keys(app, "E-1047")[:5]) >= {"AIP-SWR-10", "AIP-BUG-2", "AIP-TC-22"}
    assert "AIP-SYSR-35" in keys(app, "inactivity logout")[:10]


def test_chinese_is_found_by_words(app):
    assert "AIP-SYSR-57" in keys(app, "汉字高度", pipeline="lexical")


def test_an_instruction_in_an_item_is_only_content(app):
    _, result = app.search(SearchRequest(("AIP",), "AIP-BUG-7"))
    assert result.hits[0].document.key == "AIP-BUG-7"


def test_filters_hold_in_every_pipeline(app):
    for pipeline in ("default", "lexical", "vector", "bm25"):
        request = SearchRequest(("ADS",), "alarm battery library", item_types=("Test Case",), pipeline=pipeline)
        _, result = app.search(request)
        assert result.hits
        assert {(hit.document.type_name, hit.document.project_id) for hit in result.hits} == {("Test Case", "jama:52")}


def test_names_are_explained(app):
    with pytest.raises(NotFoundError, match="did you mean 'AIP'"):
        keys(app, "alarm", "AIPP")
    with pytest.raises(InputError, match="did you mean 'Test Case'"):
        keys(app, "alarm", "AIP", item_types=("Test Cas",))
    with pytest.raises(NotFoundError, match="did you mean 'default'"):
        keys(app, "alarm", "AIP", pipeline="defualt")


def test_projects_are_found_by_id_key_and_name(app):
    for text in ("51", "jama:51", "aip", "Asteria Infusion Pump"):
        assert app.synced_project(text).key == "AIP"


def test_an_unchanged_project_is_not_embedded_again(app, jama):
    job = app.sync("ADS", full=True)
    assert (job.status, job.embedded, job.deleted) == ("DONE", 0, 0)
    job = app.sync("ADS")
    assert (job.status, job.embedded, job.deleted) == ("DONE", 0, 0)
    assert jama.writes == []


def test_search_needs_no_settings_of_the_source(home):
    bare = {name: value for name, value in home.items() if not name.startswith(("JAMA_URL", "JAMA_CLIENT"))}
    app = App(Overrides(), Environment(bare, Path("/nonexistent/.env")))
    assert keys(app, "occlusion alarm", "AIP")
    app.close()
