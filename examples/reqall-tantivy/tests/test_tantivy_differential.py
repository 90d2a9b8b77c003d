"""The same documents in SQLite's FTS5 and in rank_bm25: other engines, the same words, a similar order."""

import random
import re
from datetime import datetime
from statistics import fmean

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall.testing.contracts import Shelf

COUNT = 200
PLAIN = {"language": [], "stub_weight": 0, "pair_weight": 0, "k1": 1.2, "b": 0.75}
"""FTS5 as the textbook has it: words as they are, and nothing beside them."""


def words(line):
    return re.findall(r"[a-z]+", f"{line['title']} {line['text']}".lower())


@pytest.fixture
def lines(requirements):
    return requirements(COUNT)


@pytest.fixture
def fill(tmp_path, lines, plugin_host):
    """Put the documents on a shelf of a recaller; ours or an installed one."""
    opened = []

    def fill(name, **options):
        registration = plugin_host.find("recaller", name)
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        shelf = Shelf(lambda services: registration.build(registration.options(**options), services), folder)
        opened.append(shelf)
        shelf.write(
            [
                shelf.entry(
                    line["_id"],
                    line["text"],
                    key=line["_id"],
                    name=line["title"],
                    type=line["metadata"]["type"],
                    status=line["metadata"]["status"] or None,
                    modified=datetime.fromisoformat(line["metadata"]["modified"]),
                )
                for line in lines
            ],
            seq=1,
        )
        return shelf

    yield fill
    for shelf in opened:
        shelf.close()


def queries(lines, lengths, count):
    draw = random.Random(11)
    return [
        " ".join(draw.sample(sorted(set(words(line))), draw.choice(lengths))) for line in draw.choices(lines, k=count)
    ]


def overlaps(shelf, other, texts, top=10):
    """Share of the first ten that both have, of each text that has more than ten matches."""
    found = [(shelf.find(text, COUNT), other.find(text, COUNT)) for text in texts]
    return [len(set(a[:top]) & set(b[:top])) / top for a, b in found if min(len(a), len(b)) >= top]


@pytest.mark.parametrize(
    ("ours", "name", "theirs"),
    [
        ({"language": "none"}, "sqlite_fts5", PLAIN),
        ({"language": "none"}, "rank_bm25", {}),
    ],
)
def test_a_word_is_in_the_same_documents(fill, lines, ours, name, theirs):
    shelf, other = fill("tantivy", stop_words=False, **ours), fill(name, **theirs)
    vocabulary = sorted({word for line in lines for word in words(line)})
    assert len(vocabulary) > 80
    for word in vocabulary:
        assert sorted(shelf.find(word, COUNT)) == sorted(other.find(word, COUNT)), word


def test_a_key_is_in_the_same_documents(fill, lines):
    shelf, other = fill("tantivy"), fill("sqlite_fts5")
    for line in lines[::7]:
        assert shelf.find(line["_id"], COUNT) == other.find(line["_id"], COUNT) == [line["_id"]]


@pytest.mark.parametrize(("lengths", "least"), [((1,), 0.7), ((2, 3), 0.7), ((4, 5, 6), 0.7)])
def test_the_first_ten_are_mostly_those_of_fts5(fill, lines, lengths, least):
    shelf, other = fill("tantivy"), fill("sqlite_fts5", **PLAIN | {"language": "english"})
    found = overlaps(shelf, other, queries(lines, lengths, 60))
    assert len(found) > 20
    assert fmean(found) >= least, found


@pytest.mark.parametrize(("lengths", "least"), [((1,), 0.7), ((2, 3), 0.7), ((4, 5, 6), 0.7)])
def test_the_first_ten_are_mostly_those_of_rank_bm25(fill, lines, lengths, least):
    shelf, other = fill("tantivy", language="none", stop_words=False), fill("rank_bm25")
    found = overlaps(shelf, other, queries(lines, lengths, 60))
    assert len(found) > 20
    assert fmean(found) >= least, found


def test_filters_leave_the_same_documents(fill, lines):
    shelf, other = fill("tantivy"), fill("sqlite_fts5")
    bounds = [datetime.fromisoformat(line["metadata"]["modified"]) for line in lines[:4]]
    for filters in (
        {"statuses": ("Draft",)},
        {"type_ids": ("defect", "test case")},
        {"modified_after": bounds[0]},
        {"modified_before": bounds[1], "statuses": ("Approved", "Draft")},
        {"modified_after": min(bounds), "modified_before": max(bounds), "type_ids": ("requirement",)},
    ):
        for text in ("pump", "volume level", "report"):
            found = shelf.find(text, COUNT, **filters)
            assert sorted(found) == sorted(other.find(text, COUNT, **filters))
            assert found


def test_the_engine_builds_what_the_host_builds(plugin_host):
    assert plugin_host.find("recaller", "tantivy").build is build_tantivy
    assert plugin_host.find("recaller", "tantivy").options is TantivyOptions
