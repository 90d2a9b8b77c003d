import re
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from reqall import Budget, ConfigError, Document, Services, Stored
from reqall.plugins.chunkers import register_chunkers
from reqall.plugins.chunkers.sentences import split_sentences

REGISTRATION = next(r for r in register_chunkers() if r.name == "sentences")


def words(text):
    return len(text.split())


def characters(text):
    return len(text)


def octets_and_marks(text):
    return len(text.encode()) + 2


def pieces_of_six(text):
    """Count words by length, long ones as one unknown token: counts do not grow with the text."""
    return 2 + sum(1 if len(word) > 40 else -(-len(word) // 6) for word in text.split())


COUNTERS = [words, characters, octets_and_marks, pieces_of_six]


def document(name="Volume sync", key="REQ-1", **sections):
    return Document("jama:1", "jama", "jama:9", key, "t", "Requirement", name, sections=sections)


def cut(item, limit=None, count=words, **options):
    chunker = REGISTRATION.build(REGISTRATION.options(**options), Services())
    return chunker.chunk(item, Budget(limit, count))


def test_a_short_section_is_one_piece_below_its_name():
    (draft,) = cut(document(description=" The volume is the same everywhere.\n"))
    assert (draft.section, draft.context) == ("description", "Volume sync")
    assert draft.text == "Volume sync\nThe volume is the same everywhere."


def test_other_sections_are_named_readably():
    drafts = cut(document(description="One.", test_steps="Press +.", empty=" "))
    assert [(d.section, d.context, d.body) for d in drafts] == [
        ("description", "Volume sync", "One."),
        ("test_steps", "Volume sync | Test steps", "Press +."),
    ]


def test_a_document_without_text_is_its_name():
    (draft,) = cut(document(description="  "))
    assert (draft.section, draft.context, draft.body, draft.text) == ("", "Volume sync", "", "Volume sync")


def test_a_document_without_a_name_has_its_key():
    assert [draft.text for draft in cut(document(name=" "))] == ["REQ-1"]


def test_long_sections_are_cut_at_sentences_and_overlap():
    sentences = [f"Sentence {number} says that it is one." for number in range(40)]
    drafts = cut(document(description=" ".join(sentences)), size=40, overlap=14)
    assert len(drafts) > 5
    for draft in drafts:
        assert words(draft.text) <= 40
        assert draft.body.startswith("Sentence ")
        assert draft.body.endswith(" is one.")
    for before, after in pairwise(drafts):
        repeated = [sentence for sentence in sentences if sentence in before.body and sentence in after.body]
        assert len(repeated) == 2


def test_without_overlap_nothing_is_repeated():
    text = " ".join(f"Number {number} is here." for number in range(60))
    drafts = cut(document(description=text), size=30, overlap=0)
    assert " ".join(draft.body for draft in drafts) == text


def test_overlap_shrinks_with_the_budget():
    text = " ".join(f"No {number}." for number in range(200))
    (first, second, *_) = cut(document(description=text), limit=20, size=200, overlap=40)
    repeated = set(re.findall(r"\d+", first.body)) & set(re.findall(r"\d+", second.body))
    assert len(repeated) == 2


def test_chinese_is_cut_at_its_own_full_stops():
    text = "系统应在五秒内同步音量设置。失败时必须通知用户\uff01" * 20
    drafts = cut(document(description=text), count=characters, size=60, overlap=0)
    assert len(drafts) > 5
    assert all(draft.body[-1] in "。\uff01" for draft in drafts)
    assert "".join(draft.body for draft in drafts) == text


def test_a_word_longer_than_a_piece_is_cut():
    drafts = cut(document(description="x" * 500), count=characters, size=64, overlap=0)
    assert "".join(draft.body for draft in drafts) == "x" * 500
    assert all(characters(draft.text) <= 64 for draft in drafts)


def test_a_long_name_takes_no_more_than_a_quarter():
    name = "a very long name " * 30
    drafts = cut(document(name=name, description="word " * 100), size=40, overlap=0)
    assert {words(draft.context) for draft in drafts} == {10}
    (alone,) = cut(document(name=name), size=40, overlap=0)
    assert words(alone.text) == 40


def test_a_size_without_room_for_a_character_is_a_configuration_error():
    with pytest.raises(ConfigError, match="single character"):
        cut(document(description="word"), limit=2, count=octets_and_marks)


def test_an_overlap_above_half_of_the_size_is_refused():
    with pytest.raises(ValidationError, match="overlap"):
        REGISTRATION.options(size=100, overlap=51)


def test_size_and_overlap_are_part_of_the_fingerprint():
    stored = {
        name
        for name, info in REGISTRATION.options.model_fields.items()
        if any(isinstance(marker, Stored) for marker in info.metadata)
    }
    assert stored == {"size", "overlap"}
    assert REGISTRATION.index_version == 1


TEXT = st.text(max_size=300) | st.text(alphabet="ab .!?\n。\uff0c字🎉", max_size=600)


@settings(max_examples=150, deadline=None)
@given(
    name=TEXT,
    sections=st.dictionaries(st.sampled_from(["description", "test_steps", "x" * 99]), TEXT, max_size=3),
    limit=st.none() | st.integers(12, 80),
    size=st.integers(16, 60),
    count=st.sampled_from(COUNTERS),
)
def test_every_piece_is_within_the_budget_and_no_text_is_lost(name, sections, limit, size, count):
    drafts = cut(document(name=name, **sections), limit=limit, count=count, size=size, overlap=0)
    assert drafts
    assert all(count(draft.text) <= min(size, limit or size) for draft in drafts)
    for section, text in sections.items():
        kept = "".join(draft.body for draft in drafts if draft.section == section)
        assert "".join(kept.split()) == "".join(text.split())


@settings(max_examples=100, deadline=None)
@given(text=TEXT, size=st.integers(16, 60), overlap=st.integers(0, 8), count=st.sampled_from(COUNTERS))
def test_overlap_keeps_the_budget_too(text, size, overlap, count):
    drafts = cut(document(description=text), count=count, size=size, overlap=overlap)
    assert all(count(draft.text) <= size for draft in drafts)
    assert all(draft.body in text for draft in drafts)


@given(text=TEXT)
def test_sentences_add_up_to_the_text(text):
    assert "".join(split_sentences(text)) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Version 3.5 is out.", 1),
        ('He said "stop." Then he left.', 2),
        ("一。二\uff01三\uff1f", 3),
        ("「一。」二。", 2),
        ("line\nline", 2),
    ],
)
def test_where_sentences_end(text, count):
    assert len(split_sentences(text)) == count


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)


PRELUDE = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was used")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from reqall import Budget, Document, Services
from reqall.plugins.chunkers import register_chunkers
sentences = next(r for r in register_chunkers() if r.name == "sentences")
chunker = sentences.build(sentences.options(size=32, overlap=8), Services())
def cut(text):
    item = Document("jama:1", "jama", "jama:9", "K", "t", "T", "Name", sections={"description": text})
    return chunker.chunk(item, Budget(None, lambda text: len(text.split())))
"""


def test_llama_index_is_loaded_only_when_a_section_is_cut():
    done = run(PRELUDE + "cut('short text'); assert not [m for m in sys.modules if m.startswith('llama_index')]")
    assert done.returncode == 0, done.stderr
    done = run(PRELUDE + "cut('word ' * 99); assert 'llama_index.core.node_parser' in sys.modules")
    assert done.returncode == 0, done.stderr


def test_cutting_needs_no_network_and_neither_nltk_nor_tiktoken():
    done = run(
        PRELUDE + "assert len(cut('A sentence is here. ' * 99)) > 9\n"
        "assert not {'nltk', 'tiktoken'} & set(sys.modules), 'loaded'"
    )
    assert done.returncode == 0, done.stderr
