"""How texts are cut into terms."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall.plugins.recallers import words
from reqall.plugins.recallers.languages import Languages, known_languages
from reqall.plugins.recallers.words import MOST_RUNS, Analysis, spaced

PLAIN = Analysis(Languages([]))
ENGLISH = Analysis(Languages(["english"]))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Volume sync, volume!", "volume sync volume"),
        ("SA-TC-7", "sa-tc-7"),
        ("see (SYS_REQ_12).", "see sys-req-12"),
        ("3.4.1 and v3.4", "3-4-1 and v3-4"),
        ("login-timeout", "logintimeout login timeout"),
        ("loginTimeout", "logintimeout login timeout"),
        ("login_timeout", "logintimeout login timeout"),
        ("HTTPServer", "httpserver http server"),
        ("WeatherStations IDs", "weatherstations weather stations ids"),
        ("e.g.", "e g"),
        ("user's user\u2019s", "user user"),
        ("isn't cannot", "is not can not"),
        ("Größe élan", "große elan"),
        ("登录超时", "登录 录超 超时"),
        ("锁", "锁"),
        ("ABC登录 x", "abc 登录 x"),
        ("ログ・イン", "ログ イン"),
        ("", ""),
        ("—?!", ""),
    ],
)
def test_what_is_asked_for(text, terms):
    assert PLAIN.asked(text) == terms.split()


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["10 ms", "10ms", "10-ms", "10\u00a0ms"], "10ms"),
        (["5V", "5 V", "5-V"], "5v"),
        (["2.5 MHz", "2.5MHz"], "2.5mhz"),
        (["30 %", "30%"], "30%"),
        (["-40 °C", "-40°C"], "40°c"),
        (["32-bit", "32 bits", "32bits"], None),
        (["100 KiB", "100KiB"], "100kib"),
    ],
)
def test_a_quantity_is_one_term_however_it_is_spaced(texts, whole):
    cut = {text: ENGLISH.asked(f"within {text} of start") for text in texts}
    if whole is None:
        assert all({"32", "32bit"} & set(terms) for terms in cut.values())
    else:
        assert all(whole in terms for terms in cut.values()), cut
        assert len(set(map(tuple, cut.values()))) == 1


@pytest.mark.parametrize("text", ["5 items", "Table 3 shows", "SYS-5V", "2 values", "10 msgs"])
def test_a_number_before_a_word_is_no_quantity(text):
    assert not any(term[0].isdigit() and term[-1].isalpha() for term in PLAIN.asked(text))


def test_an_identifier_is_indexed_with_its_runs_and_parts():
    assert PLAIN.indexed("SA-TC-7") == ["sa-tc-7", "sa-tc", "tc-7", "sa", "tc", "7"]
    many = "-".join(str(number) for number in range(MOST_RUNS + 1))
    assert PLAIN.indexed(many) == [many, *many.split("-")]


def test_a_run_of_letters_without_spaces_is_indexed_with_its_characters():
    assert PLAIN.indexed("登录超") == ["登", "录", "超", "登录", "录超"]


def test_stop_words_go_unless_there_is_nothing_else():
    assert ENGLISH.asked("the alarm shall not be within the pump") == ["alarm", "not", "within", "pump"]
    assert ENGLISH.indexed("who is it") == ["who", "is", "it"]


def test_words_are_stemmed_in_the_language_of_their_script():
    assert ENGLISH.asked("alarms требования требований συστήματα") == ["alarm", "требован", "требован", "συστημ"]


def test_several_languages_give_several_stems():
    both = Analysis(Languages(["english", "german"]))
    assert both.asked("Prüfungen") == ["prufungen", "prufung"]
    assert both.asked("der Alarm ist nicht in the pump") == ["alarm", "nicht", "pump"]


@pytest.mark.parametrize("language", ["german", "french", "italian", "spanish", "portuguese", "dutch"])
def test_stop_words_of_other_languages_leave_negations(language):
    negations = {
        "german": "nicht ohne keine", "french": "pas sans", "italian": "non senza", "spanish": "no sin",
        "portuguese": "não sem", "dutch": "geen zonder",
    }  # fmt: skip
    stops = Languages([language]).stop_words
    assert len(stops) > 50
    assert stops.isdisjoint(negations[language].split())


@given(st.text())
def test_a_term_is_one_word_and_no_syntax(text):
    """So terms may be joined by blanks, and none can be read as FTS5 syntax once it stands in quotes."""
    for terms in (ENGLISH.indexed(text), ENGLISH.asked(text)):
        assert " ".join(terms).split() == terms
        assert not any(character in term for term in terms for character in '"*^:(){}+\x00\\')


@given(st.text(alphabet="aB1-_. 5Vms登", max_size=30))
def test_what_is_asked_for_is_indexed(text):
    """A text finds itself: each of its terms is among those that it is found by."""
    assert set(ENGLISH.asked(text)) <= set(ENGLISH.indexed(text))


def test_text_of_spaced_scripts_stays_whole():
    assert spaced("volume level") == "volume level"


def test_the_analysis_is_the_one_that_indexes_were_made_with():
    """When this fails, terms are cut otherwise: raise `index_version` of sqlite_fts5, then put the new value here."""
    text = (
        "The SYS-REQ-12 loginTimeout shall not exceed 10 ms within rtems_task_create; operational verification, "
        "responsibilities of users' authentication, 登录超时 Превышение времени ожидания, Größe des Prüfstands"
    )
    several = Analysis(Languages(["english", "german", "french", "italian", "spanish"]))
    cut = [*ENGLISH.indexed(text), *ENGLISH.asked(text), *several.indexed(text)]
    assert hashlib.sha256(" ".join(cut).encode()).hexdigest()[:16] == "b46e13bf6ba96d7f"


def test_languages_are_known_by_name():
    assert {"english", "german", "russian", "italian"} <= set(known_languages())


@given(st.text(alphabet=st.characters(max_codepoint=0x7F)))
def test_plain_text_is_cut_like_any_other(text):
    found = [[match.groupdict() for match in each.finditer(text)] for each in (words._ASCII_TOKEN, words._TOKEN)]
    assert found[0] == found[1]
