"""What becomes of an index that nothing names any more, and of one whose plugin is not installed."""

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall import Services

ONLY_WORDS = """
version: 1
sources:
  specs: {use: jsonl, with: {path: PATH, project: pump}}
indexes:
  words: {use: sqlite_fts5}
pipelines:
  default: {recall: [{index: words}]}
"""


@pytest.fixture
def synced(home, requirements):
    home.write(requirements(30))
    home.run("sync", "pump")
    return home


def folders(home):
    return [path.name for path in home.indexes.iterdir()]


def test_collected_when_the_configuration_names_it_no_more(synced):
    assert len(folders(synced)) == 1
    synced.configure(ONLY_WORDS)
    trial = synced.json("gc", "--dry-run")
    assert [(each["index"], each["is_dropped"]) for each in trial["indexes"]] == [("rust", True)]
    assert trial["folder_bytes"] > 1000
    assert len(folders(synced)) == 1
    synced.json("gc")
    assert folders(synced) == []
    assert synced.json("gc")["indexes"] == []


def test_kept_while_another_configuration_uses_it(synced):
    other = synced.folder / "other.yaml"
    other.write_text(ONLY_WORDS.replace("PATH", str(synced.corpus)))
    (verdict,) = synced.json("--config", str(other), "gc")["indexes"]
    assert not verdict["is_dropped"]
    assert len(folders(synced)) == 1


def test_another_language_is_another_index(synced):
    synced.configure(synced.config.read_text().replace("use: tantivy", "use: tantivy, with: {language: german}"))
    synced.run("sync", "pump")
    assert len(folders(synced)) == 2
    synced.json("gc")
    assert len(folders(synced)) == 1
    assert synced.json("check", "--deep", "pump")["findings"] == []


def test_another_weight_is_the_same_index(synced):
    before = folders(synced)
    options = (
        "{name_weight: 3, key_weight: 0, text_weight: 2, stop_words: false, lock_seconds: 1, writer_memory_mb: 20}"
    )
    synced.configure(synced.config.read_text().replace("use: tantivy", f"use: tantivy, with: {options}"))
    assert synced.json("check", "--deep", "pump")["findings"] == []
    assert folders(synced) == before


def test_a_forgotten_project_leaves_no_entries(synced):
    synced.run("forget", "pump", "--yes")
    recaller = build_tantivy(TantivyOptions(), Services(folder=synced.index_folder()))
    assert list(recaller.inventory(None)) == []


def test_without_the_plugin_the_configuration_is_refused_with_what_is_installed(synced):
    told = synced.run("search", "pump", "--project", "pump", code=1, REQALL_PLUGINS="")
    assert "no recaller named 'tantivy'" in told
    for name in ("rank_bm25", "sqlite_fts5", "sqlite_vec", "REQALL_PLUGINS"):
        assert name in told
    assert "Traceback" not in told


def test_without_the_plugin_its_index_is_left_alone(synced):
    synced.configure(ONLY_WORDS)
    told = synced.run("gc", REQALL_PLUGINS="")
    assert "tantivy cannot be loaded here to drop it" in told
    assert len(folders(synced)) == 1


WRONG = {
    "language: klingon": "english",
    "langauge: german": "did you mean 'language'",
    "name_weight: -1": "greater than or equal to 0",
    "text_weight: 0": "greater than 0",
    "writer_memory_mb: 1": "greater than or equal to 15",
}


def test_wrong_options_are_told_with_their_place(home):
    config = home.config.read_text()
    before, after = config.split("  rust: {use: tantivy}\n")
    indexes = [f"  rust{number}: {{use: tantivy, with: {{{option}}}}}\n" for number, option in enumerate(WRONG)]
    home.configure(before + "".join(indexes) + after.replace("index: rust}", "index: rust0}"))
    lines = home.run("check", code=1).splitlines()
    first = before.count("\n") + 1
    for number, told in enumerate(WRONG.values(), start=first):
        assert [line for line in lines if f"pipelines.yaml:{number}:" in line and told in line], lines


def test_every_option_is_described():
    assert all(field.description for field in TantivyOptions.model_fields.values())
