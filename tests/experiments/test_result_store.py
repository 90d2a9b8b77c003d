"""What decides a result decides its fingerprint; results come back; broken ones do not."""

import pytest

from reqall.core.config import PipelineConfig
from reqall.core.database import Database
from reqall.core.evaluation import Searched
from reqall.experiments.caching import RememberingAssembly
from reqall.experiments.fingerprints import folder_hash, pipeline_fingerprint
from reqall.experiments.store import Store

FOUND = Searched({"q1": ["d1", "d2"], "q2": []}, ({"recall": 1.5}, {"recall": 2.0}))


def test_a_result_comes_back_as_it_was(tmp_path):
    store = Store(tmp_path / "results")
    assert store.get("c" * 64, "p" * 64) is None
    store.put("c" * 64, "p" * 64, FOUND)
    assert store.get("c" * 64, "p" * 64) == FOUND
    assert store.get("d" * 64, "p" * 64) is None
    assert store.get("c" * 64, "q" * 64) is None


def test_a_result_with_warnings_is_not_kept(tmp_path):
    store = Store(tmp_path)
    store.put("c", "p", Searched({"q1": []}, ({},), ("index 'meaning' was left out",)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": {}}', "null"])
def test_a_file_that_was_not_written_whole_counts_as_none(tmp_path, text):
    store = Store(tmp_path)
    store.put("c", "p", FOUND)
    (file,) = tmp_path.iterdir()
    file.write_text(text, encoding="utf-8")
    assert store.get("c", "p") is None


def test_any_change_of_a_collection_changes_its_hash(doors):
    seen = {folder_hash(doors)}
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        with (doors / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        seen.add(folder_hash(doors))
    assert len(seen) == 4


@pytest.fixture
def fingerprint(lonely, tmp_path):
    database = Database(tmp_path / "print.db")

    def of(tree, depth=200):
        pipelines = {"p": PipelineConfig.model_validate(tree)}
        config = lonely.config.model_copy(update={"pipelines": pipelines})
        assembly = RememberingAssembly(config, lonely.host, lonely.environment, database, tmp_path)
        return pipeline_fingerprint(assembly, "p", depth)

    yield of
    database.close()


def test_all_that_a_pipeline_is_made_of_is_in_its_fingerprint(fingerprint):
    words = {"index": "words"}
    pipelines = [
        {"recall": [words]},
        {"recall": [words], "pin": False},
        {"recall": [{**words, "weight": 2.0}]},
        {"recall": [{"index": "memory"}]},
        {"recall": [words, {"index": "memory"}]},
        {"recall": [words], "fuse": {"use": "rrf", "with": {"k": 10}}},
        {"recall": [words], "expand": {"use": "lexical_variants"}},
        {"recall": [words], "expand": [{"use": "lexical_variants"}, {"use": "rm3"}]},
        {"recall": [words], "expand": {"use": "rm3"}},
        {"recall": [words], "expand": {"use": "rm3", "weight": 0.5}},
        {"recall": [words], "expand": {"use": "rm3", "indexes": ["words"]}},
        {"recall": [words], "variant_weights": {"expansions": 0.5}},
        {"recall": [words], "max_variants": 3},
    ]
    found = [fingerprint(tree) for tree in pipelines]
    assert len({*found, fingerprint(pipelines[0], depth=50)}) == len(pipelines) + 1
    assert [fingerprint(tree) for tree in pipelines] == found


def test_the_content_of_a_file_that_an_option_names_is_in_it_too(fingerprint, tmp_path):
    file = tmp_path / "synonyms.yaml"
    tree = {"recall": [{"index": "words"}], "expand": {"use": "synonyms", "with": {"file": str(file)}}}
    seen = set()
    for content in ("ECU: Unit", "ECU: Control Unit"):
        file.write_text(content, encoding="utf-8")
        seen.add(fingerprint(tree))
    assert len(seen) == 2


def test_what_is_written_out_is_the_same_as_its_default(fingerprint):
    bare = {"recall": [{"index": "words"}]}
    told = {"recall": [{"index": "words", "weight": 1.0}], "fuse": {"use": "rrf", "with": {"k": 60}}, "top_k": 10}
    assert fingerprint(bare) == fingerprint(told)
