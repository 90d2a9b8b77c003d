"""The FTS5 recaller: BM25 as in the textbook, queries that are only words, scripts without spaces."""

import math
import random
from collections import Counter

import pytest

from reqall import PluginError, Services
from reqall.plugins.recallers.sqlite_fts5 import MAX_PHRASES, Fts5Options, build_sqlite_fts5

VOCABULARY = [f"q{chr(97 + number)}" for number in range(26)]


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("sqlite_fts5")


def textbook_bm25(documents, query, weights):
    """Robertson's BM25 over weighted columns, idf never below 1e-6, as FTS5 documents it."""
    k1, b = 1.2, 0.75
    lengths = {key: sum(len(column) for column in columns) for key, columns in documents.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = Counter()
    for word, times in Counter(query).items():
        holders = [key for key, columns in documents.items() if any(word in column for column in columns)]
        idf = max(math.log((len(documents) - len(holders) + 0.5) / (len(holders) + 0.5)), 1e-6)
        for key in holders:
            tf = sum(weight * column.count(word) for column, weight in zip(documents[key], weights, strict=True))
            scores[key] += times * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[key] / mean))
    return scores


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.5, 1.5, 1.0)])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_bm25(make_shelf, weights, seed):
    names = ("key_weight", "name_weight", "body_weight")
    shelf = make_shelf("sqlite_fts5", tokenizer="unicode61", **dict(zip(names, weights, strict=True)))
    chance = random.Random(seed)
    documents = {}
    for number in range(50):
        key, name, body = (chance.choices(VOCABULARY, k=chance.randint(1, most)) for most in (2, 6, 30))
        documents[f"d{number}"] = (key, name, body, ["project", "type"])
        shelf.put(f"d{number}", " ".join(body), key=" ".join(key), name=" ".join(name))
    for _ in range(10):
        query = chance.choices(VOCABULARY, k=chance.randint(1, 6))
        expected = textbook_bm25(documents, query, (*weights, 0.0))
        found = {chunk.document_id: chunk.score for chunk in shelf.ranking(" ".join(query), 50)}
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_word_said_twice_counts_twice(shelf):
    shelf.put("d1", "volume level")
    for number in range(9):
        shelf.put(f"other{number}", "something else")
    once, twice = shelf.ranking("volume").chunks[0].score, shelf.ranking("volume Volume").chunks[0].score
    assert twice == pytest.approx(2 * once)


def test_a_key_is_found_as_a_phrase_and_not_by_its_number(shelf):
    for number in (7, 70, 8):
        shelf.put(f"d{number}", "some text", key=f"SA-TC-{number}")
    shelf.put("d9", "waits for 7 seconds", key="SA-TC-9")
    assert shelf.find("SA-TC-7") == ["d7"]
    assert shelf.find("what does (sa-tc-7) test?") == ["d7"]
    assert shelf.find("TC-8") == ["d8"]


def test_a_joined_word_is_found_by_its_parts(shelf):
    shelf.put("d1", "the login timeout of rtems_task_create")
    for text in ("login-timeout", "login/timeout", "LOGIN", "timeouts", "rtems_task_create", "task", "create-task"):
        assert shelf.find(text) == ["d1"], text


def test_stop_words_find_nothing_unless_there_is_nothing_else(shelf):
    shelf.put("d1", "this is the alarm")
    shelf.put("d2", "who is it")
    assert shelf.find("what is the alarm") == ["d1"]
    assert shelf.find("who is") == ["d2", "d1"]


def test_facets_never_match_as_words(shelf):
    shelf.put("d1", "text", project="jama:51", type="Requirement", status="Approved")
    shelf.rows("create virtual table temp.terms using fts5vocab(main, ix_test_words, 'col')")
    facets = [term for (term,) in shelf.rows("select term from temp.terms where col = 'facet'")]
    assert len(facets) == 3
    assert [facet for facet in facets if shelf.find(facet)] == []
    assert shelf.find("jama 51 Requirement Approved") == []
    assert shelf.find("text", statuses=("Approved",)) == ["d1"]


@pytest.mark.parametrize("value", ["", 'a" OR "b', "已批准", "x" * 5000, "in work", "IN WORK "])
def test_any_text_may_be_a_facet(shelf, value):
    shelf.put("d1", "text", project=value, type=value, status=value)
    shelf.put("d2", "text")
    assert shelf.find("text", project_ids=(value,), type_ids=(value,), statuses=(value,)) == ["d1"]


@pytest.mark.parametrize(
    ("body", "found", "missed"),
    [
        ("用户登录超时后系统应当锁定", ["登录", "超时", "登录超时的处理", "锁", "系统"], ["录登", "密码"]),
        ("ログイン画面のタイムアウト", ["タイムアウト", "画面", "ﾛｸﾞｲﾝ"], ["パスワード"]),
        ("사용자는로그인해야한다", ["로그인", "사용자"], ["비밀번호"]),
        ("ผู้ใช้เข้าสู่ระบบ", ["ระบบ"], ["กขฃ"]),
        ("Превышение времени ожидания ёлка", ["времени", "ЁЛКА"], ["время"]),
        ("हिन्दी में आवश्यकता", ["आवश्यकता"], ["सुरक्षा"]),
        ("système d'exploitation Größe", ["systeme", "grosse größe", "d\u2019exploitation"], ["rechner"]),
        ("\uff36\uff2f\uff2c\uff35\uff2d\uff25 control", ["volume"], ["\uff36"]),
        ("ABC系统ABC", ["abc", "系统"], ["统系"]),
    ],
)
def test_other_scripts_are_searchable(shelf, body, found, missed):
    shelf.put("d1", body)
    assert [text for text in found if shelf.find(text) != ["d1"]] == []
    assert [text for text in missed if shelf.find(text)] == []


def test_names_and_keys_count_as_they_are_weighted(make_shelf):
    def order(**weights):
        shelf = make_shelf("sqlite_fts5", **weights)
        shelf.put("named", "some text", name="volume")
        shelf.put("keyed", "some text", key="volume")
        shelf.put("told", "volume text")
        for number in range(9):
            shelf.put(f"other{number}", "another text", name="other")
        return shelf.find("volume")

    assert order(key_weight=1, name_weight=3, body_weight=2) == ["named", "told", "keyed"]
    assert order(key_weight=3, name_weight=1, body_weight=2) == ["keyed", "told", "named"]
    assert order(key_weight=0, name_weight=0) == ["told"]


def test_a_very_long_query_keeps_its_longest_words(shelf):
    shelf.put("d1", "extraordinarily")
    shelf.put("d2", "zz9")
    filler = [f"x{number:04}y" for number in range(1500)]
    assert shelf.find(" ".join(["zz9", *filler, "extraordinarily"])) == ["d1"]
    assert shelf.find(" ".join(["zz9", *filler[: MAX_PHRASES - 2], "extraordinarily"])) == ["d1", "d2"]


def test_a_tokenizer_that_fts5_does_not_know_is_refused(make_shelf):
    database = make_shelf("sqlite_fts5").database
    with pytest.raises(PluginError, match="tokenizer 'no such'"):
        build_sqlite_fts5(Fts5Options(tokenizer="no such"), Services(prefix="x", database=database))
    quoted = make_shelf("sqlite_fts5", tokenizer="unicode61 tokenchars '-'")
    quoted.put("d1", "state-of-the-art")
    assert quoted.find("art") == []


def test_without_a_database_it_is_refused():
    with pytest.raises(PluginError, match="lives in the catalog"):
        build_sqlite_fts5(Fts5Options(), Services())
