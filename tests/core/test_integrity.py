"""What is damaged is found and named, nothing else is; a repair mends it from the catalog, once and for all."""

import struct
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reqall import CatalogError, Filters, Link, Project
from reqall.core.findings import EXAMPLES
from reqall.core.integrity import inspect
from reqall.core.repair import repair
from reqall.plugins.recallers.rank_bm25 import RankBm25, RankBm25Options
from reqall.testing.fakes import MemoryRecaller

PROJECT = "s:p"
LONG = struct.pack("<64f", *[2.0] + [0.0] * 63)


def nothing(_tx, _done):
    """Hold no lease."""


class Vault:
    """A bench with documents of two projects, and means to break and to look."""

    def __init__(self, bench, document):
        self.bench, self.document = bench, document
        with bench.database.writing() as tx:
            bench.catalog.write_project(tx, Project(PROJECT, "s", "p", "P"))
        self.documents = [
            document(n, f"text{n}\nline{n} of pumps", status="Draft" if n % 2 else None) for n in range(1, 7)
        ]
        self.others = [document(n, f"other{n}", project_id="s:q", status="Done") for n in range(7, 10)]
        bench.commit(*self.documents, *self.others)

    def run(self, *statements):
        with self.bench.database.writing() as tx:
            for statement in statements:
                list(tx.execute(statement))

    def inspect(self, project=PROJECT):
        return inspect(self.bench.indexer, project)

    def problems(self, project=PROJECT):
        return [(finding.subject, finding.message) for finding in self.inspect(project).problems]

    def repair(self, project=PROJECT):
        return repair(self.bench.indexer, self.inspect(project), nothing)

    def sound(self):
        """Nothing is wrong, and every index holds every chunk, each once."""
        bench = self.bench
        assert self.problems() == self.problems("s:q") == []
        assert bench.held(bench.words) == bench.held(bench.meaning) == bench.chunks()
        assert len(bench.chunks()) == 2 * len(self.documents) + len(self.others)
        assert all(bench.indexer.is_level(index) for index in bench.indexer.indexes)
        for number in range(1, 7):
            assert bench.find(bench.words, f"text{number}") == [f"s:{number}"]
            (ranking,) = bench.meaning.recaller.recall([f"name{number} text{number}"], 1, Filters())
            assert next(iter(ranking)).document_id == f"s:{number}"
        assert bench.find(bench.words, "pumps", statuses=("Draft",)) == ["s:1", "s:3", "s:5"]
        return True


@pytest.fixture
def vault(bench, document):
    return Vault(bench, document)


def test_a_sound_file(vault):
    state = vault.inspect()
    assert vault.sound()
    assert (state.documents, state.findings, state.rewritten) == (6, [], set())
    assert [(s.index.name, s.state, s.entries, s.behind) for s in state.indexes] == [
        ("words", "level", 15, 0),
        ("meaning", "level", 15, 0),
    ]


def test_a_repair_of_a_sound_file_changes_nothing(vault):
    before = vault.bench.dump()
    assert vault.repair() == 0
    assert vault.bench.dump() == before


WRONG = "documents with an entry that is wrong: "
DAMAGES = {
    "chunk gone": (
        ["DELETE FROM chunk WHERE document_id = 's:2' AND ordinal = 1"],
        {
            ("catalog", "1 documents are cut into other chunks than are stored"),
            ("index words", "1 documents have entries that the catalog does not know"),
            ("index meaning", "1 documents have entries that the catalog does not know"),
        },
    ),
    "chunks gone": (
        ["DELETE FROM chunk WHERE document_id = 's:2'"],
        {
            ("index words", "1 documents have entries that the catalog does not know"),
            ("index words", "1 documents lack entries"),
            ("index meaning", "1 documents have entries that the catalog does not know"),
            ("index meaning", "1 documents lack entries"),
        },
    ),
    "chunk altered": (
        ["UPDATE chunk SET body = 'text3' WHERE document_id = 's:2' AND ordinal = 0"],
        {
            ("catalog", "1 documents are cut into other chunks than are stored"),
            ("index meaning", f"1 {WRONG}its vector is of another text"),
            ("index words", f"1 {WRONG}its words differ"),
        },
    ),
    "orphan chunk": (
        [
            "INSERT INTO chunk VALUES (900, 's:gone', 'lines', 0, '', '', 'x')",
            "UPDATE meta SET value=900 WHERE key='chunk_id'",
        ],
        {("catalog", "1 chunks belong to no document")},
    ),
    "not logged": (
        ["DELETE FROM change WHERE document_id IN ('s:1', 's:2')"],
        {("catalog", "2 documents are not in the change log: no index takes them in")},
    ),
    "logged as deleted": (
        ["UPDATE change SET deleted = 1 WHERE document_id = 's:1'"],
        {("catalog", "1 documents are not in the change log: no index takes them in")},
    ),
    "logged but gone": (
        ["INSERT INTO change VALUES ('s:77', 77, 0)", "UPDATE meta SET value = 77 WHERE key = 'seq'"],
        {("catalog", "1 documents of the change log are not there")},
    ),
    "counters": (
        ["UPDATE meta SET value = 2 WHERE key = 'chunk_id'"],
        {("catalog", "the counters are behind the rows: numbers would be given twice")},
    ),
    "entry without words": (
        ["DELETE FROM ix_words_words WHERE rowid = (SELECT min(id) FROM ix_words_entry WHERE document_id = 's:4')"],
        {("index words", "1 documents lack entries")},
    ),
    "words without entry": (
        ["DELETE FROM ix_words_entry WHERE document_id = 's:4'"],
        {("index words", "2 rows of words without an entry")},
    ),
    "entries gone": (
        [
            "DELETE FROM ix_words_words WHERE rowid IN (SELECT id FROM ix_words_entry WHERE document_id = 's:4')",
            "DELETE FROM ix_words_entry WHERE document_id = 's:4'",
        ],
        {("index words", "1 documents lack entries")},
    ),
    "date in words": (
        ["UPDATE ix_words_entry SET modified = 5 WHERE document_id = 's:4'"],
        {("index words", f"1 {WRONG}its time of change differs")},
    ),
    "status in the catalog": (
        # As if an update of facets had been lost: the catalog is right, both indexes are not.
        ["UPDATE document SET status = 'Final', facet_hash = '{final}' WHERE id = 's:3'"],
        {("index words", f"1 {WRONG}its facets differ"), ("index meaning", f"1 {WRONG}its facets differ")},
    ),
    "no status in the catalog": (
        ["UPDATE document SET status = NULL, facet_hash = '{none}' WHERE id = 's:3'"],
        {("index words", f"1 {WRONG}its facets differ"), ("index meaning", f"1 {WRONG}its facets differ")},
    ),
    "vector gone": (
        ["DELETE FROM ix_meaning_vectors WHERE id = (SELECT min(id) FROM ix_meaning_entry WHERE document_id = 's:5')"],
        {("index meaning", "1 documents lack entries")},
    ),
    "vectors without entry": (
        ["DELETE FROM ix_meaning_entry WHERE document_id = 's:5'"],
        {("index meaning", "2 vectors without an entry")},
    ),
    "vector altered": (
        [f"UPDATE ix_meaning_vectors SET embedding = x'{LONG.hex()}' WHERE id = 1"],
        {("index meaning", f"1 {WRONG}its vector is not of length 1")},
    ),
    "a table gone": (
        ["DROP TABLE ix_meaning_vectors"],
        {("index meaning", "it cannot be read (SQLError)")},
    ),
    "inverted index damaged": (
        ["DELETE FROM ix_words_words_data WHERE id > 1000"],
        {
            ("file", 'fts5: corruption found reading blob 137438953473 from table "ix_words_words"'),
            ("index words", 'fts5: corruption found reading blob 137438953473 from table "ix_words_words"'),
        },
    ),
}


def hash_of(vault, number, **changes):
    from reqall.core.rows import Hashes

    return Hashes.of(vault.document(number, f"text{number}\nline{number} of pumps", **changes)).facets


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_repaired(vault, name):
    statements, expected = DAMAGES[name]
    final, none = hash_of(vault, 3, status="Final"), hash_of(vault, 3, status=None)
    vault.run(*(s.replace("{final}", final).replace("{none}", none) for s in statements))
    assert set(vault.problems()) == expected
    # Entries without chunks, broken structures and the file's own rows belong to no project.
    assert set(vault.problems("s:q")) <= expected
    vault.repair()
    if "status in the catalog" in name:
        assert vault.problems() == []
        is_final = name.startswith("status")
        words = vault.bench.words
        assert vault.bench.find(words, "line3", statuses=("Final",)) == (["s:3"] if is_final else [])
        assert vault.bench.find(words, "line3", statuses=("Draft",)) == []
        return
    assert vault.sound()


@pytest.mark.parametrize("name", [name for name in DAMAGES if "inverted" not in name and "table" not in name])
def test_damage_of_few_entries_embeds_few_texts(vault, name):
    statements, _ = DAMAGES[name]
    vault.run(*statements)
    vault.bench.embedder.embedded.clear()
    vault.repair()
    limit = 15 if name == "vectors without entry" else 4
    assert len(vault.bench.embedder.embedded) <= limit


def test_all_damage_at_once(vault):
    skipped = ("status", "a table", "inverted", "counters", "logged but gone")
    for name, (statements, _) in DAMAGES.items():
        if not any(word in name for word in skipped):
            vault.run(*statements)
    assert {subject for subject, _ in vault.problems()} == {"catalog", "index words", "index meaning"}
    vault.repair()
    assert vault.sound()


def test_a_text_that_was_altered_is_left_to_the_source(vault):
    vault.run(
        "UPDATE document SET sections = '{\"description\": \"text9\"}' WHERE id = 's:2'",
        "UPDATE project SET watermark = 'w'",
    )
    assert vault.problems() == [("catalog", "1 documents are not as they were written")]
    assert vault.inspect().problems[0].examples == ("s:2",)
    vault.repair()
    # The next sync reads everything, and takes what the source has for new.
    assert vault.bench.catalog.project(PROJECT).watermark is None
    done = vault.bench.commit(*vault.documents)
    assert (done.written, done.unchanged) == (1, 5)
    assert vault.sound()


def test_links_to_nowhere_are_noted_only(vault):
    with vault.bench.database.writing() as tx:
        vault.bench.catalog.replace_links(tx, PROJECT, [Link("s:1", "s:2", "t"), Link("s:1", "x:9", "t")])
    (finding,) = vault.inspect().findings
    assert (finding.level, finding.message) == ("note", "1 links lead to documents that are not there")
    assert finding.examples == ("s:1 -> x:9",)
    assert vault.inspect().problems == []


def test_an_index_that_is_behind_is_not_damaged(vault, document):
    changed = document(1, "text1 anew\nline1 of pumps", status="Draft")
    vault.bench.commit(changed, document(2, "text2\nline2 of pumps", status="Other"), eager=False)
    state = vault.inspect()
    assert state.problems == []
    assert [(s.index.name, s.state, s.behind) for s in state.indexes] == [
        ("words", "level", 0),
        ("meaning", "behind", 2),
    ]
    assert [finding.level for finding in state.findings] == ["note"]


def test_an_index_that_is_not_built_yet_is_noted(vault):
    bench = vault.bench
    bench.indexer.indexes.append(bench.index("fresh"))
    state = vault.inspect()
    assert state.problems == []
    assert state.indexes[-1].state == "absent"
    assert "6 documents" in state.findings[-1].message


def test_a_recaller_that_shows_nothing_is_noted(vault):
    bench = vault.bench
    bench.indexer.indexes.append(bench.index("other", recaller=MemoryRecaller("external")))
    bench.level()
    state = vault.inspect()
    assert state.problems == []
    assert state.indexes[-1].state == "unknown"


def test_an_index_in_memory_is_compared_too(vault):
    bench = vault.bench
    recaller = RankBm25(RankBm25Options())
    bench.indexer.indexes.append(bench.index("memory", recaller=recaller))
    assert vault.problems() == []
    assert vault.inspect().indexes[-1].entries == 15
    recaller._documents["s:1"] = recaller._documents["s:1"][:1]
    recaller._documents["s:gone"] = recaller._documents.pop("s:2")
    recaller._documents["s:3"] = [*recaller._documents["s:4"]]
    assert {subject for subject, _ in vault.problems()} == {"index memory"}
    vault.repair()
    assert vault.sound()


def test_an_external_engine_that_is_damaged_is_filled_anew(vault, external):
    external.lines = ["shard 3 is lost"]
    drops = external.drops
    assert vault.problems() == [("index far", "shard 3 is lost")]
    found = vault.inspect()
    external.lines = []
    repair(vault.bench.indexer, found, nothing)
    assert external.drops > drops
    assert vault.problems() == []
    assert len(external.held) == 9


class Inventory(MemoryRecaller):
    """An external engine that shows what it holds."""

    fault = None
    lines = ()

    def inventory(self, tx):
        assert tx is None
        if self.fault:
            raise self.fault
        return [(entry.chunk.id, key) for key, held in self.held.items() for entry in held]

    def faults(self, entries, tx):
        return []

    def damage(self, tx):
        return self.lines


@pytest.fixture
def external(vault):
    recaller = Inventory("external")
    vault.bench.indexer.indexes.append(vault.bench.index("far", recaller=recaller))
    vault.bench.level()
    return recaller


def test_an_external_index_is_mended(vault, external):
    external.held.pop("s:1")
    external.held["s:zz"] = external.held["s:2"]
    assert {subject for subject, _ in vault.problems()} == {"index far"}
    vault.repair()
    assert vault.problems() == []
    assert sorted(external.held) == sorted(d.id for d in [*vault.documents, *vault.others])


@pytest.mark.parametrize("fault", [RuntimeError("secret text"), CatalogError("it is away", "start it")])
def test_an_engine_that_raises_is_named_and_the_others_are_checked(vault, external, fault):
    vault.run("DELETE FROM ix_words_words WHERE rowid = 1")
    external.fault = fault
    problems = vault.problems()
    told = "it is away" if isinstance(fault, CatalogError) else "RuntimeError"
    assert ("index far", f"it cannot be read ({told})") in problems
    assert ("index words", "1 documents lack entries") in problems
    assert "secret" not in str(problems)
    found = vault.inspect()
    external.fault, drops = None, external.drops
    repair(vault.bench.indexer, found, nothing)
    assert external.drops == drops  # it may only be away
    assert vault.sound()


def test_a_repair_that_dies_is_finished_by_the_next_level(vault):
    vault.run("DELETE FROM ix_meaning_vectors WHERE id <= 4")
    found = vault.inspect()

    def die(_texts):
        raise KeyboardInterrupt

    vault.bench.embedder.before = die
    with pytest.raises(KeyboardInterrupt):
        repair(vault.bench.indexer, found, nothing)
    assert vault.problems() == []  # what is not mended yet is behind, not wrong
    assert not vault.bench.indexer.is_level(vault.bench.meaning)
    vault.bench.level()
    assert vault.sound()


def test_a_repair_without_its_lease_changes_nothing(vault):
    vault.run("DELETE FROM ix_meaning_vectors WHERE id <= 4", "DELETE FROM chunk WHERE id = 5")
    before = vault.bench.dump()

    def lost(_tx, _done):
        raise CatalogError("lost")

    with pytest.raises(CatalogError, match="lost"):
        repair(vault.bench.indexer, vault.inspect(), lost)
    assert vault.bench.dump() == before


def test_examples_are_few(vault):
    vault.run("DELETE FROM change WHERE document_id <> 's:1'")
    (finding,) = vault.inspect().problems
    assert finding.examples == ("s:2", "s:3", "s:4", "s:5", "s:6")[:EXAMPLES]


def test_two_chunkings_are_kept_apart(vault):
    bench = vault.bench
    bench.indexer.indexes.append(bench.index("second", chunking="other lines"))
    bench.level()
    assert vault.problems() == []
    vault.run("DELETE FROM chunk WHERE chunking = 'other lines' AND document_id = 's:1'")
    assert {subject for subject, _ in vault.problems()} == {"index second"}
    vault.repair()
    assert vault.problems() == []
    assert vault.inspect().indexes[-1].entries == 15


TABLES = {
    "chunk": "id",
    "change": "seq",
    "ix_words_entry": "id",
    "ix_words_words": "rowid",
    "ix_meaning_entry": "id",
    "ix_meaning_vectors": "id",
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(losses=st.lists(st.tuples(st.sampled_from(sorted(TABLES)), st.integers(1, 15)), min_size=1, max_size=6))
def test_whatever_rows_are_lost_a_repair_brings_all_back(make_bench, document, losses):
    vault = Vault(make_bench(f"lost{abs(hash(tuple(losses)))}"), document)
    vault.run(*(f"DELETE FROM {table} WHERE {TABLES[table]} = {number}" for table, number in losses))
    for project in (PROJECT, "s:q"):
        vault.repair(project)
    assert vault.sound()


def test_a_document_that_cannot_be_cut_is_told_and_the_others_are_compared(vault):
    class Refusing:
        def chunk(self, document, budget):
            if document.id == "s:1":
                raise ValueError("its text")
            return vault.bench.words.chunker.chunk(document, budget)

    bench = vault.bench
    bench.indexer.indexes[:] = [replace(index, chunker=Refusing()) for index in bench.indexer.indexes]
    vault.run("DELETE FROM chunk WHERE document_id = 's:2' AND ordinal = 1")
    messages = [finding.message for finding in vault.inspect().problems]
    assert "1 documents cannot be cut: ValueError" in messages
    assert "1 documents are cut into other chunks than are stored" in messages
