"""The TF-IDF recaller: the cosine of the textbook, statistics of what is searched, one reading of all texts."""

import math
import random
from collections import Counter

import pytest

from reqall import PluginError, Services
from reqall.plugins.recallers.sqlite_tfidf import KEPT, TfidfOptions, build_sqlite_tfidf
from reqall.plugins.recallers.term_vectors import packed

VOCABULARY = [f"q{chr(97 + number)}" for number in range(26)]


@pytest.fixture
def shelf(make_shelf):
    return make_shelf("sqlite_tfidf")


def textbook_cosines(documents, query):
    """The cosine of sqrt(tf) x idf in documents and tf x idf in the query, idf = 1 + ln((N + 1) / (df + 1))."""

    def idf(word):
        df = sum(word in words for words in documents.values())
        return 1 + math.log((len(documents) + 1) / (df + 1))

    asked = {word: times * idf(word) for word, times in Counter(query).items()}
    scores = {}
    for key, words in documents.items():
        weights = {word: math.sqrt(times) * idf(word) for word, times in Counter(words).items()}
        product = sum(weight * weights.get(word, 0) for word, weight in asked.items())
        if product:
            scores[key] = product / math.hypot(*weights.values()) / math.hypot(*asked.values())
    return scores


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_cosines(shelf, seed):
    chance = random.Random(seed)
    documents = {}
    for number in range(40):
        name, body = (chance.choices(VOCABULARY[:-2], k=chance.randint(1, most)) for most in (6, 30))
        documents[f"d{number}"] = name + body
        shelf.put(f"d{number}", " ".join(body), name=" ".join(name))
    for _ in range(10):
        query = chance.choices(VOCABULARY, k=chance.randint(1, 6))
        found = {chunk.document_id: chunk.score for chunk in shelf.ranking(" ".join(query), 40)}
        assert found == pytest.approx(textbook_cosines(documents, query), rel=1e-6)


def test_a_text_is_nearest_to_itself(shelf):
    shelf.put("long", "the volume level follows the ignition and is stored in memory for the next start")
    shelf.put("short", "volume level")
    assert shelf.find("volume level") == ["short", "long"]
    first = shelf.ranking("The volume level follows the ignition, is stored in memory for the next start.").chunks[0]
    assert (first.document_id, first.score) == ("long", pytest.approx(1, abs=1e-6))


def test_a_word_that_all_items_of_the_searched_project_share_weighs_little(shelf):
    for number in range(20):
        shelf.put(f"a{number}", f"zephyr topic{number}", project="a")
        shelf.put(f"b{number}", f"other matter{number}", project="b")
    shelf.put("b", "zephyr timer", project="b")

    def score(*projects):
        return {c.document_id: c.score for c in shelf.ranking("zephyr topic3", 50, project_ids=projects)}

    assert score("a")["a3"] == pytest.approx(score()["a3"]) == pytest.approx(1)
    assert score("a")["a5"] < 0.7 * score()["a5"]
    assert set(score("b")) == {"b"}


def test_more_selections_of_projects_than_are_kept_are_answered_alike(shelf):
    projects = [f"p{number}" for number in range(KEPT + 3)]
    for project in projects:
        shelf.put(f"in-{project}", f"alarm of {project}", project=project)
    for _ in range(2):
        assert [shelf.find("alarm", project_ids=(p,)) for p in projects] == [[f"in-{p}"] for p in projects]


def test_what_is_written_after_a_search_is_found_by_the_next(shelf):
    shelf.put("d1", "alarm")
    assert shelf.find("alarm") == ["d1"]
    shelf.put("d2", "alarm")
    shelf.put("d1", "silence")
    assert shelf.find("alarm") == ["d2"]


def test_names_in_camel_case_are_found_whole_and_by_their_parts(shelf):
    shelf.put("d1", "GUILoginHandler checks setStationID")
    for text in ("guiloginhandler", "login handlers", "GUI", "station", "LoginHandler", "setStationID"):
        assert shelf.find(text) == ["d1"], text
    assert shelf.find("stat") == []


def test_words_are_stemmed_in_the_language_that_is_given(make_shelf):
    shelf = make_shelf("sqlite_tfidf", language="german")
    shelf.put("d1", "die Bremsen des Zuges")
    assert shelf.find("Bremse") == ["d1"]


def test_key_and_facets_are_no_terms(shelf):
    shelf.put("d1", "text", key="SA-TC-7", project="jama:51", type="Requirement", status="Approved")
    assert [shelf.find(text) for text in ("SA-TC-7", "jama 51 Requirement Approved")] == [[], []]
    assert shelf.find("text", statuses=("Approved",)) == ["d1"]


@pytest.mark.parametrize(
    ("body", "found", "missed"),
    [
        ("用户登录超时后系统应当锁定", ["登录超时的处理", "系统"], ["录登", "密码"]),
        ("Превышение времени ожидания ёлка", ["времени", "ЁЛКА"], ["время"]),
        ("système d'exploitation Größe", ["systeme", "große größe"], ["rechner"]),
    ],
)
def test_other_scripts_are_searchable(shelf, body, found, missed):
    shelf.put("d1", body)
    assert [text for text in found if shelf.find(text) != ["d1"]] == []
    assert [text for text in missed if shelf.find(text)] == []


def test_packed_terms_do_not_depend_on_their_order():
    terms = {"timer": 2, "alarm": 1, "volume": 70_000}
    assert packed(terms) == packed(dict(reversed(terms.items())))
    assert len(packed(terms)) == 8 * len(terms)


def test_without_a_database_it_is_refused():
    with pytest.raises(PluginError, match="lives in the catalog"):
        build_sqlite_tfidf(TfidfOptions(), Services())
