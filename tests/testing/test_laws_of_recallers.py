"""Each law of recallers is broken once by one that is wrong in that way alone."""

import itertools
import time
from dataclasses import replace

import pytest

from reqall import ChunkRanking, Filters, Position
from reqall.testing.contracts import DropContract, InspectionContract, RecallerContract, Shelf
from reqall.testing.fakes import MemoryRecaller


class Inspected(MemoryRecaller):
    """A recaller in memory that shows what it holds."""

    def entries(self):
        return {entry.chunk.id: entry for held in self.held.values() for entry in held}

    def inventory(self, tx):
        return [(chunk_id, entry.chunk.document_id) for chunk_id, entry in self.entries().items()]

    def faults(self, entries, tx):
        held = self.entries()
        return [(entry.chunk.id, "differs") for entry in entries if held[entry.chunk.id] != entry]

    def damage(self, tx):
        return ()


def applying(change):
    """A recaller that applies another batch than it is given."""

    class Applying(Inspected):
        def apply(self, batch, prepared, tx):
            super().apply(change(self, batch), prepared, tx)

    return Applying


def recalling(change):
    """A recaller that gives another answer; `change(self, ranking, text, limit, filters)`."""

    class Recalling(Inspected):
        def recall(self, texts, limit, filters):
            rankings = super().recall(texts, limit, filters)
            return [change(self, r, text, limit, filters) for r, text in zip(rankings, texts, strict=True)]

    return Recalling


def added(recaller, batch):
    """Keep what was there of a document that is written again."""
    kept = {key: [*recaller.held.get(key, ()), *entries] for key, entries in batch.upserts.items()}
    return replace(batch, upserts=kept)


def not_emptied(_recaller, batch):
    return replace(batch, upserts={key: entries for key, entries in batch.upserts.items() if entries})


class Doubled(Inspected):
    """Writes a batch that it has seen under another score."""

    def apply(self, batch, prepared, tx):
        seen = batch in self.applied
        super().apply(batch, prepared, tx)
        if seen:
            self.held.clear()


class Forgetful(Inspected):
    """Takes the position of every batch, also where there is none."""

    def apply(self, batch, prepared, tx):
        super().apply(batch, prepared, tx)
        self._position = batch.position


class Fresh(Inspected):
    """Has a position before anything was written."""

    def position(self):
        return super().position() or Position("f", 0)


class InCatalog(Inspected):
    """Says that it lives in the catalog, and does not."""

    def __init__(self):
        super().__init__()
        self.storage = "catalog"

    def apply(self, batch, prepared, tx):
        super().apply(batch, prepared, None)


class Halved(Inspected):
    """Lets a search see a batch half written."""

    def apply(self, batch, prepared, tx):
        for document_id in batch.documents:
            self.held = {key: held for key, held in self.held.items() if key != document_id}
        time.sleep(0.002)
        super().apply(batch, prepared, tx)


class Together(Inspected):
    """Answers the first of several texts with all of them."""

    def recall(self, texts, limit, filters):
        texts = [" ".join(texts), *texts[1:]] if len(texts) > 1 else texts
        return super().recall(texts, limit, filters)


class Parsing(Inspected):
    """Takes a query for an expression of its own."""

    def recall(self, texts, limit, filters):
        if any('"' in text for text in texts):
            raise ValueError("unterminated string")
        return super().recall(texts, limit, filters)


class Talkative(Inspected):
    """Has a ranking more than texts."""

    def recall(self, texts, limit, filters):
        return [*super().recall(texts, limit, filters), ChunkRanking()]


class Sticky(Inspected):
    """Keeps something when it is dropped."""

    def drop(self, tx):
        self._position = None


class Marked(Inspected):
    """Keeps its position when it is dropped."""

    def drop(self, tx):
        kept = self._position
        super().drop(tx)
        self._position = kept


class Undroppable(MemoryRecaller):
    drop = None


def shared(recaller_class):
    """One object for all processes: an engine outside, or a memory that is wrongly kept."""

    def make():
        built = recaller_class()
        return lambda _services: built

    return make


def anew(recaller_class):
    return lambda: lambda _services: recaller_class()


def chunks_as_documents(self, ranking, text, limit, filters):
    (whole,) = MemoryRecaller.recall(self, [text], 999, filters)
    return ChunkRanking(whole.chunks[:limit])


def filtered_late(self, _ranking, text, limit, filters):
    (first,) = MemoryRecaller.recall(self, [text], limit, Filters())
    (allowed,) = MemoryRecaller.recall(self, [text], 999, filters)
    keys = {chunk.chunk_id for chunk in allowed}
    return ChunkRanking.of((c.chunk_id, c.document_id, c.score) for c in first if c.chunk_id in keys)


def without(**fields):
    """Do not look at some filters."""

    def change(self, _ranking, text, limit, filters):
        return MemoryRecaller.recall(self, [text], limit, replace(filters, **fields))[0]

    return change


def scored(score):
    return lambda self, ranking, *_: ChunkRanking.of((c.chunk_id, c.document_id, score(self, c)) for c in ranking)


def last_kept(self, _ranking, text, limit, filters):
    (whole,) = MemoryRecaller.recall(self, [text], 999, filters)
    kept = list(whole.best_chunks)[-limit:] if limit else []
    return ChunkRanking.of((c.chunk_id, c.document_id, c.score) for c in whole if c.document_id in kept)


def never_blank(self, ranking, text, limit, filters):
    return ranking if text.strip() else MemoryRecaller.recall(self, ["volume shared"], limit, filters)[0]


def by_facets(self, ranking, text, limit, filters):
    return ranking if text != "Draft" else MemoryRecaller.recall(self, ["shared"], limit, filters)[0]


def exclusive(self, _ranking, text, limit, filters):
    """Leave the bounds themselves out."""
    (whole,) = MemoryRecaller.recall(self, [text], 999, filters)
    bounds = {filters.modified_after, filters.modified_before} - {None}
    kept = {e.chunk.id for e in self.entries().values() if e.facets.modified not in bounds}
    return ChunkRanking.of((c.chunk_id, c.document_id, c.score) for c in whole if c.chunk_id in kept)


def first_facets(recaller, batch):
    """Keep the facets that a chunk had first."""
    known = recaller.entries()
    upserts = {
        key: [replace(e, facets=known[e.chunk.id].facets) if e.chunk.id in known else e for e in entries]
        for key, entries in batch.upserts.items()
    }
    return replace(batch, upserts=upserts)


TURN = itertools.count(1)
NOTHING = {}
RECALLERS = {
    "test_what_was_never_written_finds_nothing": (anew(Fresh), "never written has a position", NOTHING),
    "test_writing_a_document_again_replaces_all_its_chunks": (anew(applying(added)), "was written again", NOTHING),
    "test_a_deleted_document_is_gone": (
        anew(applying(lambda _r, b: replace(b, deletes=()))),
        "d1 was deleted",
        NOTHING,
    ),
    "test_a_document_without_chunks_is_gone": (anew(applying(not_emptied)), "replaced by no chunks", NOTHING),
    "test_applying_a_batch_twice_changes_nothing": (anew(Doubled), "applied twice changed", NOTHING),
    "test_the_position_is_that_of_the_last_batch_that_had_one": (anew(Forgetful), "was last given, seq 4", NOTHING),
    "test_a_later_process_answers_alike": (shared(Inspected), "is built anew, yet says", NOTHING),
    "test_a_batch_that_fails_leaves_no_trace": (anew(InCatalog), "rolled back is still found", NOTHING),
    "test_no_texts_no_rankings": (anew(Talkative), "0 texts gave 1 rankings", NOTHING),
    "test_several_texts_are_answered_as_each_alone": (anew(Together), "answered otherwise beside", NOTHING),
    "test_the_limit_counts_documents": (anew(recalling(chunks_as_documents)), "found 1, not 5", NOTHING),
    "test_equal_scores_are_ordered_by_document_even_where_the_limit_cuts": (
        anew(recalling(last_kept)),
        "must be kept",
        {"limit": 40},
    ),
    "test_a_small_limit_is_the_beginning_of_a_large_one": (anew(recalling(last_kept)), "not the beginning of", NOTHING),
    "test_chunks_are_of_the_documents_that_were_written": (
        anew(recalling(lambda _s, r, *_: ChunkRanking.of((c.chunk_id, "d000", c.score) for c in r))),
        "was not written so",
        NOTHING,
    ),
    "test_the_same_question_has_the_same_answer": (
        anew(recalling(scored(lambda _self, chunk: chunk.score + next(TURN)))),
        "answered in two ways",
        NOTHING,
    ),
    "test_a_blank_text_finds_nothing": (anew(recalling(never_blank)), "a blank text finds", {"text": " "}),
    "test_what_no_document_holds_is_no_error": (anew(recalling(by_facets)), "no document holds", {"text": "Draft"}),
    "test_the_syntax_of_an_engine_means_nothing": (anew(Parsing), "unterminated string", {"text": '"volume'}),
    "test_no_text_is_an_error": (anew(Parsing), "unterminated string", NOTHING),
    "test_four_threads_search_while_one_writes": (anew(Halved), "half written", NOTHING),
    "test_filters_find_what_a_plain_comparison_finds": (
        anew(recalling(without(type_ids=()))),
        "too many",
        NOTHING,
    ),
    "test_filters_come_before_ranking": (anew(recalling(filtered_late)), "applied after ranking", NOTHING),
    "test_bounds_of_time_are_inclusive_and_exact": (anew(recalling(exclusive)), "should find .'at'", NOTHING),
    "test_its_abilities_are_tried": (anew(Inspected), "inherit .'DropContract', 'InspectionContract'", NOTHING),
    "test_changed_facets_take_effect": (anew(applying(first_facets)), "after a change", NOTHING),
}

DROPPED = {
    "test_it_can_be_dropped": (anew(Undroppable), r"no method drop"),
    "test_dropped_it_is_as_if_never_written": (anew(Marked), "still has a position"),
    "test_it_can_be_written_again": (anew(Sticky), "holds something else"),
    "test_a_later_process_finds_it_dropped": (shared(Sticky), "finds documents again"),
}


class Overfull(Inspected):
    def inventory(self, tx):
        return [*super().inventory(tx), (99_999, "unknown")]


class Anxious(Inspected):
    def damage(self, tx):
        return ["something"]


class Blind(Inspected):
    def faults(self, entries, tx):
        return []


class Meddling(Inspected):
    def faults(self, entries, tx):
        self.held.clear()
        return []


INSPECTED = {
    "test_it_lists_what_was_written": (anew(Overfull), "too many"),
    "test_a_sound_index_has_no_fault": (anew(Anxious), "called damaged"),
    "test_other_facets_are_a_fault": (anew(Blind), "should be told"),
    "test_looking_changes_nothing": (anew(Meddling), "missing"),
}


class Lexical(RecallerContract):
    lexical = True


@pytest.fixture
def shelf_of(tmp_path):
    made = []

    def make(maker):
        made.append(Shelf(maker(), tmp_path))
        return made[-1]

    yield make
    made[0].close()


@pytest.mark.parametrize("law", RECALLERS)
def test_the_contract_of_recallers_notices(notices, shelf_of, law):
    maker, words, given = RECALLERS[law]
    notices(Lexical, law, words, shelf=shelf_of(maker), **given)


@pytest.mark.parametrize("law", DROPPED)
def test_the_contract_of_dropping_notices(notices, shelf_of, law):
    maker, words = DROPPED[law]
    notices(DropContract, law, words, shelf=shelf_of(maker))


@pytest.mark.parametrize("law", INSPECTED)
def test_the_contract_of_inspection_notices(notices, shelf_of, law):
    maker, words = INSPECTED[law]
    notices(InspectionContract, law, words, shelf=shelf_of(maker))


def test_no_law_of_recallers_is_untried(laws_of):
    assert laws_of(RecallerContract) == set(RECALLERS)
    assert laws_of(DropContract) == set(DROPPED)
    assert laws_of(InspectionContract) == set(INSPECTED)


FIELDS = ["project_ids", "type_ids", "statuses", "modified_after", "modified_before"]


@pytest.mark.parametrize("field", FIELDS)
def test_every_filter_that_is_not_applied_is_noticed(notices, shelf_of, field):
    maker = anew(recalling(without(**{field: getattr(Filters(), field)})))
    notices(RecallerContract, "test_filters_find_what_a_plain_comparison_finds", "too many", shelf=shelf_of(maker))


def test_what_an_engine_forgets_is_noticed(notices, shelf_of):
    class External(Inspected):
        def __init__(self):
            super().__init__("external")

    notices(RecallerContract, "test_a_later_process_answers_alike", "position was lost", shelf=shelf_of(anew(External)))


class TestInspectedRecaller(RecallerContract, DropContract, InspectionContract):
    """What is made wrong above is right without it."""

    lexical = True

    @pytest.fixture
    def make_recaller(self):
        return anew(Inspected)()
