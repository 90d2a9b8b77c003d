"""Synonyms of a list and of the project: both directions, several words, the case of abbreviations."""

import pytest
from pydantic import ValidationError

from reqall import ConfigError, Document, Filters, Project, Query, Services
from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.corpus import CatalogCorpus
from reqall.core.database import Database
from reqall.core.indexing import Indexer
from reqall.plugins.expanders import register_expanders
from reqall.plugins.expanders.synonym_file import read_groups
from reqall.plugins.expanders.thesaurus import Thesaurus

SYNONYMS = next(each for each in register_expanders() if each.name == "synonyms")
GROUPS = [
    ("ECU", "Electronic Control Unit", "Steuergerät"),
    ("CAN", "Controller Area Network"),
    ("sign in", "log on"),
    ("故障", "错误"),
    ("ASIL-D", "highest safety level"),
]


def build(services=None, **options):
    return SYNONYMS.build(SYNONYMS.options(**options), services or Services("synonyms"))


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("reset the ECU now", ["reset the ECU (Electronic Control Unit) now", "reset the ECU (Steuergerät) now"]),
        ("two ECUs", ["two ECUs (Electronic Control Unit)", "two ECUs (Steuergerät)"]),
        ("electronic  control unit", ["electronic  control unit (ECU)", "electronic  control unit (Steuergerät)"]),
        ("STEUERGERÄT", ["STEUERGERÄT (ECU)", "STEUERGERÄT (Electronic Control Unit)"]),
        ("what can it do", []),
        ("ecu", []),
        ("ECUX and XECU", []),
        ("how to Sign-in?", ["how to Sign-in (log on)?"]),
        ("sign. In", []),
        ("系统故障时", ["系统故障 (错误)时"]),
        ("ASIL-D parts", ["ASIL-D (highest safety level) parts"]),
        ("the Electronic Control Unit (ECU)", ["the Electronic Control Unit (Steuergerät) (ECU (Steuergerät))"]),
        ("CAN of the ECU", ["CAN (Controller Area Network) of the ECU (Electronic Control Unit)",
                            "CAN (Controller Area Network) of the ECU (Steuergerät)"]),
        ("", []),
    ],
)  # fmt: skip
def test_terms_are_found_whole_and_their_synonyms_added(text, rewritten):
    assert list(Thesaurus(GROUPS).rewritten(text)) == rewritten


def test_the_longest_term_counts():
    thesaurus = Thesaurus([("control unit", "CU"), ("electronic control unit", "ECU")])
    assert list(thesaurus.rewritten("electronic control unit")) == ["electronic control unit (ECU)"]


def test_a_term_in_two_groups_has_the_synonyms_of_both():
    assert list(Thesaurus([("stop", "halt"), ("end", "stop")]).rewritten("stop it")) == [
        "stop (halt) it",
        "stop (end) it",
    ]


def test_case_may_be_ignored():
    assert list(Thesaurus(GROUPS, ignore_case=True).rewritten("the can bus")) == [
        "the can (Controller Area Network) bus"
    ]
    assert build(terms={"CAN": "Controller Area Network"}, ignore_case=True).expand(Query("can"))[1:] == [
        "can (Controller Area Network)"
    ]


def test_lists_of_options_and_file_are_joined_and_bounded(tmp_path):
    file = tmp_path / "list.csv"
    file.write_text('# ours\necu,Steuergerät\n\nhorn, "siren, loud"\n', encoding="utf-8")
    expander = build(file=file, terms={"ecu": ["control unit", "brain"]}, variants=2)
    assert expander.expand(Query("ecu", ("client",))) == ["ecu", "client", "ecu (control unit)", "ecu (brain)"]
    assert expander.expand(Query("horn")) == ["horn", "horn (siren, loud)"]


def test_yaml_is_read_as_it_is_written(tmp_path):
    file = tmp_path / "list.yaml"
    file.write_text("ECU: [Electronic Control Unit]  # 3\nNO: nitric oxide\n5: five\n", encoding="utf-8")
    assert read_groups(file) == [("ECU", "Electronic Control Unit"), ("NO", "nitric oxide"), ("5", "five")]
    file.write_text("# nothing yet\n", encoding="utf-8")
    assert read_groups(file) == []


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.yaml", "ECU: [Unit]\nhorn:\nx: {y: z}\n- a\n", [":4: not valid YAML: "]),
        ("b.yaml", "ECU: [Unit]\nhorn: [horn]\n\nx: {y: z}\n", [
            ":2: 'horn' stands alone: name what it means the same as",
            ":4: the synonyms of a term are a text or a list of texts",
        ]),
        ("c.yml", "- ECU\n", [":1: must be a mapping of a term to its synonyms"]),
        ("d.yaml", "ECU: ''\n", [":1: a synonym of 'ECU', or that itself, has no letter or digit"]),
        ("e.csv", "ECU,Unit\nhorn\nx,--\n", [":2: 'horn' stands alone", ":3: a synonym of 'x'"]),
        ("f.csv", 'ECU,Unit\n"open', [":2: not valid CSV: "]),
        ("g.yaml", "a: \x01", [":1: not valid YAML"]),
    ],
)  # fmt: skip
def test_mistakes_of_a_file_are_told_by_line(tmp_path, name, content, lines):
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        build(file=file)
    told = caught.value.message.splitlines()
    assert len(told) == len(lines)
    for line, expected in zip(told, lines, strict=True):
        assert line.startswith(f"{file}{expected}")
    assert "reqall synonyms" in caught.value.remedy


def test_files_that_cannot_be_read_are_told(tmp_path):
    (tmp_path / "latin.csv").write_bytes("ecu,Steuerger\xe4t".encode("latin-1"))
    for name, told in (("none.csv", "cannot be read"), ("latin.csv", "not UTF-8"), ("list.txt", "ends in")):
        with pytest.raises(ConfigError, match=told):
            build(file=tmp_path / name)


@pytest.mark.parametrize("terms", [{"ECU": "ECU"}, {"ECU": []}, {"ECU": "-"}, {"": "x"}])
def test_terms_need_a_synonym(terms):
    with pytest.raises(ValidationError, match=r"stands alone|no letter or digit"):
        SYNONYMS.options(terms=terms)


@pytest.fixture
def catalog(tmp_path):
    """A catalog without an index, and what it lends."""
    database = Database(tmp_path / "catalog.db")
    held, log = Catalog(database), ChangeLog(database)
    indexer = Indexer(held, log, [])
    with database.writing() as tx:
        for key in ("p", "q"):
            held.write_project(tx, Project(f"s:{key}", "s", key, key))

    def put(number, text, project_id="s:p"):
        document = Document(f"s:{number}", "s", project_id, f"P-{number}", "t", "T", "", sections={"d": text})
        indexer.commit([document], [], eager=True, within=lambda _tx, _done: None)

    yield put, Services("synonyms", corpus=CatalogCorpus(held, log))
    database.close()


def test_what_the_project_defines_is_learnt_and_stays_fresh(catalog):
    put, services = catalog
    expander = build(services)
    put(1, "the Electronic Control Unit (ECU)")
    put(2, "the Engine Cooling Unit (ECU)", project_id="s:q")
    assert expander.expand(Query("ECU", filters=Filters(("s:p",)))) == ["ECU", "ECU (Electronic Control Unit)"]
    assert expander.expand(Query("ECU", filters=Filters(("s:q",)))) == ["ECU", "ECU (Engine Cooling Unit)"]
    assert expander.expand(Query("ECU")) == ["ECU", "ECU (Electronic Control Unit)", "ECU (Engine Cooling Unit)"]
    put(1, "the Emergency Call Unit (ECU)")
    assert expander.expand(Query("ECU", filters=Filters(("s:p",)))) == ["ECU", "ECU (Emergency Call Unit)"]
    assert build(services, learn=False).expand(Query("ECU")) == ["ECU"]
