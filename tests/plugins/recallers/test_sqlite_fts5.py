"""The FTS5 recaller: BM25 as in the textbook, queries that are only words, scripts without spaces."""

import math
import random
from collections import Counter
from itertools import pairwise

import pytest
from pydantic import ValidationError

from reqall import PluginError, Services
from reqall.plugins.recallers.sqlite_fts5 import MAX_TERMS, Fts5Options, build_sqlite_fts5

VOCABULARY = [f"q{chr(97 + number)}rstuv{chr(97 + number)}" for number in range(26)]
PLAIN = {"language": [], "stub_weight": 0, "pair_weight": 0}


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("sqlite_fts5")


def textbook_bm25(documents, query, weights, k1, b, pair):
    """BM25F over (key, name, path, body) with Lucene's idf; lengths are those of name and body."""
    lengths = {key: len(columns[1]) + len(columns[3]) for key, columns in documents.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = Counter()

    def idf(word):
        holders = sum(any(word in column for column in columns) for columns in documents.values())
        return math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))

    def add(times, occurrences):
        for key, columns in documents.items():
            tf = sum(weight * occurrences(column) for column, weight in zip(columns, weights, strict=True))
            if tf:
                scores[key] += times * tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[key] / mean))

    for word, times in Counter(query).items():
        add(times * idf(word), lambda column, word=word: column.count(word))
    for (first, second), times in Counter(pairwise(query)).items():
        if pair and first != second:
            add(
                times * pair * (idf(first) + idf(second)) / 2,
                lambda column, both=(first, second): list(pairwise(column)).count(both),
            )
    return +scores


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), (0.5, 1.5, 0.25, 1.0)])
@pytest.mark.parametrize("pair", [0, 0.3])
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (2.5, 0.85)])
def test_scores_are_those_of_bm25(make_shelf, weights, pair, k1, b):
    names = ("key_weight", "name_weight", "path_weight", "body_weight")
    options = PLAIN | {"k1": k1, "b": b, "pair_weight": pair}
    shelf = make_shelf("sqlite_fts5", **options, **dict(zip(names, weights, strict=True)))
    chance = random.Random(f"{weights}{pair}{k1}")
    documents = {}
    for number in range(50):
        key, name, path, body = (chance.choices(VOCABULARY, k=chance.randint(1, most)) for most in (2, 6, 4, 30))
        documents[f"d{number}"] = (key, name, path, body)
        shelf.put(f"d{number}", " ".join(body), key=" ".join(key), name=" ".join(name), path=path)
    shelf.write([], ["d7"])
    del documents["d7"]
    for _ in range(10):
        query = chance.choices(VOCABULARY, k=chance.randint(1, 6))
        expected = textbook_bm25(documents, query, weights, k1, b, pair)
        found = {chunk.document_id: chunk.score for chunk in shelf.ranking(" ".join(query), 50)}
        assert found == pytest.approx(expected, rel=1e-9)


def test_the_beginning_of_a_word_counts_less_than_the_word(shelf):
    shelf.put("same", "authentication needed")
    shelf.put("akin", "Authentifizierung needed")
    shelf.put("other", "author needed")
    ranking = shelf.ranking("authentication")
    assert [chunk.document_id for chunk in ranking] == ["same", "akin"]
    assert ranking.chunks[1].score < ranking.chunks[0].score / 2


def test_neighbours_of_the_query_come_first_where_they_are_neighbours(shelf):
    shelf.put("apart", "pressure of the sensor, and a valve")
    shelf.put("beside", "sensor pressure, and of a valve")
    assert shelf.find("the sensor pressure") == ["beside", "apart"]


@pytest.mark.parametrize("pool", [1, 7, 500])
def test_what_is_beyond_the_pool_comes_below_it(make_shelf, pool):
    """A small limit is the beginning of a large one, whatever the pool, and nothing is lost."""
    shelf = make_shelf("sqlite_fts5", pool=pool)
    for number in range(40):
        shelf.put(f"d{number:02}", f"pump {'valve ' * (number % 5)} {'text ' * (number % 7)}")
    everything = shelf.ranking("pump valve", 100)
    assert sorted(chunk.document_id for chunk in everything) == [f"d{number:02}" for number in range(40)]
    for limit in (1, 3, 8, 20):
        assert shelf.find("pump valve", limit) == [chunk.document_id for chunk in everything][:limit]


def test_words_of_most_chunks_are_asked_for_where_rarer_ones_find_too_little(make_shelf):
    shelf = make_shelf("sqlite_fts5", pool=3)
    for number in range(40):
        shelf.put(f"d{number:02}", "system text" + (" valve" if number < 2 else ""))
    assert shelf.find("system valve", 30)[:2] == ["d00", "d01"]
    assert len(shelf.find("system valve", 30)) == 30


def test_a_word_said_twice_counts_twice(shelf):
    shelf.put("d1", "volume level")
    for number in range(9):
        shelf.put(f"other{number}", "something else")
    once, twice = shelf.ranking("volume").chunks[0].score, shelf.ranking("volume Volume").chunks[0].score
    assert twice == pytest.approx(2 * once)


def test_an_index_that_was_emptied_and_filled_again_counts_anew(shelf):
    shelf.put("d1", "volume volume brake")
    shelf.put("d2", "brake")
    before = shelf.ranking("volume brake")
    shelf.drop()
    shelf.put("d1", "volume")
    shelf.put("d3", "volume")
    shelf.drop()
    shelf.put("d1", "volume volume brake", number=1)
    shelf.put("d2", "brake", number=2)
    assert shelf.ranking("volume brake") == before


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
    assert shelf.find("who is") == ["d2"]


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
        ("Превышение времени ожидания ёлка", ["времени", "ЁЛКА", "елка", "ожидание"], ["выше"]),
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
    assert shelf.find(" ".join(["zz9", *filler[: MAX_TERMS - 2], "extraordinarily"])) == ["d1", "d2"]


def test_words_are_found_in_other_forms_of_their_language(make_shelf):
    german = make_shelf("sqlite_fts5", language="german", stub_weight=0)
    german.put("d1", "Die Prüfungen der Bremsen")
    assert german.find("Prüfung Bremse") == ["d1"]
    assert german.find("die der") == []
    both = make_shelf("sqlite_fts5", language=["english", "german"], stub_weight=0)
    both.put("d1", "Die Prüfungen der Bremsen")
    both.put("d2", "verified categories")
    assert both.find("Prüfung") == ["d1"]
    assert both.find("category") == ["d2"]


def test_a_language_that_is_not_known_is_refused():
    with pytest.raises(ValidationError, match="no language 'klingon'; there are"):
        Fts5Options(language=["english", "klingon"])


def test_without_a_database_it_is_refused():
    with pytest.raises(PluginError, match="lives in the catalog"):
        build_sqlite_fts5(Fts5Options(), Services())
