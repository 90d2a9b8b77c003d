"""How texts become terms, and what is found by them."""

import typing

import pytest
from reqall_tantivy.analysis import Analysis
from reqall_tantivy.options import WITHOUT_STOP_WORDS, Language, TantivyOptions
from reqall_tantivy.query import MAX_TERMS
from reqall_tantivy.recaller import build_tantivy
from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from reqall import Filters

LANGUAGES = typing.get_args(Language)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Login timeouts", [("login",), ("timeout",)]),
        ("SA-TC-7", [("sa", "tc", "7")]),
        ("version 3.5.", [("version",), ("3", "5")]),
        ("login-timeout", [("login",), ("timeout",)]),
        ("brake_state", [("brake", "state"), ("brake",), ("state",)]),
        ("the brake and the door", [("brake",), ("door",)]),
        ("to be or not to be", [("to",), ("to",), ("be",), ("be",), ("or",), ("not",)]),
        ("power down over voltage", [("power",), ("down",), ("over",), ("voltag",)]),
        ("登录超时 login", [("登", "录"), ("录", "超"), ("超", "时"), ("login",)]),
        ("the 登", [("登",)]),
        ("サーバー", [("サ", "ー"), ("ー", "バ"), ("バ", "ー")]),
        ("Превышение времени", [("превышение",), ("времени",)]),
        ("\uff33\uff21\uff0d\uff34\uff23\uff0d\uff17", [("sa", "tc", "7")]),
        ("Réseau naïf", [("reseau",), ("naif",)]),
        ("हिन्दी में", [("हिन्दी",), ("में",)]),
        ('volume AND ("x" OR name:y*)', [("volum",), ("x",), ("name",), ("y",)]),
        ("?! — …", []),
    ],
)
def test_a_query_becomes_terms(query, terms):
    assert sorted(Analysis("english").query_terms(query).elements()) == sorted(terms)


def test_a_repeated_word_counts_as_often():
    assert Analysis("none").query_terms("brake door brake") == {("brake",): 2, ("door",): 1}


def test_a_repeated_word_weighs_more(shelf):
    shelf.put("d1", "valve one")
    shelf.put("d2", "brake two")
    assert shelf.find("valve brake brake") == ["d2", "d1"]
    assert shelf.find("brake valve valve") == ["d1", "d2"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_analysers(language):
    analysis = Analysis(language)
    assert analysis.terms.analyze("Abc 12") == ["abc", "12"]
    assert analysis.query_terms("Abc")


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("danish", "og"),
        ("dutch", "het"),
        ("english", "the"),
        ("finnish", "ja"),
        ("french", "dans"),
        ("german", "und"),
        ("hungarian", "hogy"),
        ("italian", "che"),
        ("norwegian", "og"),
        ("portuguese", "para"),
        ("russian", "что"),
        ("spanish", "para"),
        ("swedish", "och"),
    ],
)
def test_stop_words_are_left_out_where_the_language_has_a_list(language, word):
    assert len(Analysis(language).query_terms(f"{word} volume")) == 1
    assert len(Analysis(language, stop_words=False).query_terms(f"{word} volume")) == 2


def test_the_list_of_languages_without_stop_words_is_right():
    """With a list no language would build; without one these words would all stay."""
    told = {language for language in LANGUAGES if language not in WITHOUT_STOP_WORDS}
    assert told == {
        *("danish", "dutch", "english", "finnish", "french", "german", "hungarian"),
        *("italian", "norwegian", "portuguese", "russian", "spanish", "swedish"),
    }
    for language in WITHOUT_STOP_WORDS:
        with pytest.raises(ValueError, match=r"stop word list|Unsupported language"):
            TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.stopword(language)).build()


def test_endings_are_cut_off_in_the_chosen_language(make_shelf):
    english, german, none = make_shelf(), make_shelf(language="german"), make_shelf(language="none")
    for shelf in (english, german, none):
        shelf.put("valves", "Valves are closing")
        shelf.put("prüfung", "Die Prüfungen")
    assert english.find("valve close") == ["valves"]
    assert none.find("valve close") == []
    assert german.find("Prüfung") == ["prüfung"]
    assert german.find("prufung") == ["prüfung"]
    assert none.find("Prüfung") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("登录", ["chinese"]),
        ("录超", ["chinese"]),
        ("超时登录", ["chinese"]),
        ("サーバー", ["japanese"]),
        ("サ", ["japanese"]),
        ("バーサ", ["japanese"]),
        ("로그인", ["korean"]),
        ("ระบบ", ["thai"]),
        ("времени", ["russian"]),
        ("ВРЕМЕНИ", ["russian"]),
        ("録時", []),
    ],
)
def test_other_scripts_are_found(shelf, query, found):
    shelf.put("chinese", "用户登录超时后系统应锁定")
    shelf.put("japanese", "サーバーへの接続")
    shelf.put("korean", "로그인은 오 분 후에 끝난다")
    shelf.put("thai", "ระบบต้องบันทึก")
    shelf.put("russian", "Превышение времени ожидания")
    assert shelf.find(query) == found


def test_a_key_is_found_as_a_whole_and_by_its_letters(shelf):
    shelf.put("seven", "The pump stops.", key="SA-TC-7")
    shelf.put("seventy", "The pump stops.", key="SA-TC-70")
    shelf.put("mentioned", "As in SA-TC-7 the pump stops.", key="SA-REQ-1")
    assert sorted(shelf.find("SA-TC-7")) == ["mentioned", "seven"]
    assert sorted(shelf.find("sa tc")) == ["mentioned", "seven", "seventy"]


def test_columns_have_their_weights(make_shelf):
    def order(**weights):
        shelf = make_shelf(**weights)
        shelf.put("named", "brake door", name="valve")
        shelf.put("keyed", "brake door", key="valve")
        shelf.put("told", "brake valve")
        return shelf.find("valve")

    assert order(name_weight=9.0)[0] == "named"
    assert order(key_weight=9.0)[0] == "keyed"
    assert order(text_weight=9.0)[0] == "told"
    assert sorted(order(key_weight=0)) == ["named", "told"]
    assert sorted(order(key_weight=0, name_weight=0)) == ["told"]


def test_weights_may_change_over_what_is_stored(shelf):
    shelf.put("named", "brake door", name="valve")
    shelf.put("told", "brake valve")
    reweighted = build_tantivy(TantivyOptions(name_weight=0), shelf.services)
    (ranking,) = reweighted.recall(["valve"], 5, Filters())
    assert list(ranking.best_chunks) == ["told"]


def test_of_a_huge_query_the_longest_words_count(shelf):
    shelf.put("long", "electromagnetic")
    shelf.put("short", "ab")
    filler = " ".join(f"filler{number}x" for number in range(MAX_TERMS))
    assert shelf.find(f"ab {filler} electromagnetic") == ["long"]


def test_a_filter_adds_nothing_to_a_score(shelf):
    shelf.put("d1", "valve brake", project="p", type="t", status="Draft")
    shelf.put("d2", "valve", project="q", type="t", status="Draft")
    plain = {chunk.document_id: chunk.score for chunk in shelf.ranking("valve")}
    filtered = {c.document_id: c.score for c in shelf.ranking("valve", project_ids=("p", "q"), statuses=("Draft",))}
    assert filtered == plain


def test_a_filter_that_utf_8_cannot_hold_meets_nothing(shelf):
    shelf.put("d1", "valve", status="Draft")
    assert shelf.find("valve", statuses=("\ud800",)) == []
