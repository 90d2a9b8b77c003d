"""Abbreviations where a text defines them (Schwartz and Hearst 2003), and the glossary that is kept fresh."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import Document
from reqall.plugins.expanders.abbreviations import definitions
from reqall.plugins.expanders.glossary import Entry, Glossary


def pairs(text):
    return [(found.short, found.long) for found in definitions(text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("The Electronic Control Unit (ECU) shall", "ECU", "Electronic Control Unit"),
        ("The ECU (Electronic Control Unit) shall", "ECU", "Electronic Control Unit"),
        ("of heat shock transcription factor (HSF).", "HSF", "heat shock transcription factor"),
        ("a Real-Time Clock (RTC, see 3.1)", "RTC", "Real-Time Clock"),
        ('the "Mean Time Between Failures" ("MTBF")', "MTBF", "Mean Time Between Failures"),
        ("ein Steuergerät (SG) muss", "SG", "Steuergerät"),
        ("Блок управления двигателем (БУД) должен", "БУД", "Блок управления двигателем"),
        ("the Operating System\uff08OS\uff09", "OS", "Operating System"),
        ("Vehicle to Everything (V2E)", None, None),
        ("Transport Layer Security 1.3 (TLS1.3)", "TLS1.3", "Transport Layer Security 1.3"),
    ],
)
def test_definitions_are_found_in_both_orders(text, short, long):
    assert pairs(text) == ([(short, long)] if short else [])


@pytest.mark.parametrize(
    "text",
    [
        "the path (optional) of all",
        "see the table (A) above",
        "requirement (TBD)",
        "the unit (see ECU Electronic Control Unit in the glossary)",
        "Electronic Control. The Unit (ECU)",
        "the ECU (ECU)",
        "Electronic Control Unit (ECU",
        "()",
        "(ECU)",
        "the interface (USB 3.2 Gen 2 port on the left side)",
        "电子控制单元\uff08ECU\uff09",
        "a b c d e f g very far Electronic z y x w v u Control t s r q Unit (ECU)",
    ],
)
def test_what_is_no_definition_is_not_learnt(text):
    assert pairs(text) == []


def test_several_in_one_text_and_over_lines():
    text = "Controller Area Network (CAN) and the LIN (Local Interconnect Network)\nGraphics Processing\nUnit (GPU)"
    assert pairs(text) == [("CAN", "Controller Area Network"), ("LIN", "Local Interconnect Network")]


@given(st.text(alphabet="aAbBİß .,;()\uff08\uff09ECU-1", max_size=60))
def test_a_long_form_stands_in_the_text_and_begins_as_the_short_one_does(text):
    for short, long in pairs(text):
        assert " ".join(text.split()).find(long) >= 0
        assert long[0].casefold() == next(c for c in short if c.isalnum()).casefold()
        assert len(long) > len(short)


class ListCorpus:
    """Documents in memory; a write or a deletion is a change. `walks` counts the documents that were read."""

    def __init__(self):
        self.held, self.number, self.walks = {}, 0, 0

    def put(self, native, text, project="s:p", name=""):
        self.number += 1
        sections = {"d": text}
        self.held[native] = (
            self.number,
            Document(f"s:{native}", "s", project, native, "t", "T", name, sections=sections),
        )

    def remove(self, native):
        self.number += 1
        del self.held[native]

    def seq(self):
        return self.number

    def projects(self):
        return sorted({document.project_id for _, document in self.held.values()})

    def changed(self, project_id, after):
        for number, document in self.held.values():
            if number > after and document.project_id == project_id:
                self.walks += 1
                yield document

    def present(self, project_id, document_ids):
        return {d.id for _, d in self.held.values() if d.project_id == project_id} & set(document_ids)


@pytest.fixture
def corpus():
    made = ListCorpus()
    made.put("1", "the Electronic Control Unit (ECU)")
    made.put("2", "an electronic control unit (ECU) and the Engine Control Unit (ECU)", name="Brake (B)")
    made.put("3", "Controller Area Network (CAN)", project="s:q")
    return made


def test_the_most_frequent_meaning_is_first_and_spellings_are_one(corpus):
    corpus.put("4", "the Electronic Control Unit (ECU)")
    assert Glossary(corpus).of(["s:p"]) == [Entry("ECU", ("Electronic Control Unit", "Engine Control Unit"), (3, 1))]


def test_each_project_has_its_own(corpus):
    glossary = Glossary(corpus)
    assert [entry.short for entry in glossary.of(["s:q"])] == ["CAN"]
    assert [entry.short for entry in glossary.of([])] == ["ECU", "CAN"]
    assert glossary.of(["s:none"]) == []


def test_a_name_is_read_too(corpus):
    corpus.put("5", "", project="s:q", name="Local Interconnect Network (LIN)")
    assert [entry.short for entry in Glossary(corpus).of(["s:q"])] == ["CAN", "LIN"]


def test_only_what_changed_is_read_again(corpus):
    glossary = Glossary(corpus)
    glossary.of(["s:p"])
    glossary.of(["s:p"])
    assert corpus.walks == 2
    corpus.put("1", "the Emergency Call Unit (ECU)")
    longs = ("electronic control unit", "Emergency Call Unit", "Engine Control Unit")
    assert glossary.of(["s:p"])[0].longs == longs
    assert corpus.walks == 3


def test_what_is_gone_is_forgotten(corpus):
    glossary = Glossary(corpus)
    glossary.of(["s:p"])
    corpus.remove("1")
    assert glossary.of(["s:p"])[0].documents == (1, 1)
    corpus.put("2", "moved", project="s:q")
    assert glossary.of(["s:p"]) == []


def test_another_catalog_under_the_same_name_is_learnt_anew(corpus):
    glossary = Glossary(corpus)
    glossary.of(["s:p"])
    corpus.held, corpus.number = {}, 0
    corpus.put("9", "Global Positioning System (GPS)")
    assert [entry.short for entry in glossary.of(["s:p"])] == ["GPS"]
