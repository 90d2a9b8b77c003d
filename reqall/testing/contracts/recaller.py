"""What every recaller keeps, wherever it stores."""

import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import IndexBatch, IndexEntry, Position
from reqall.testing.contracts.abilities import require_abilities_tried
from reqall.testing.contracts.examples import examples
from reqall.testing.contracts.recaller_filters import FilterLaws
from reqall.testing.contracts.recaller_setting import WORDS, RecallerSetting, sample
from reqall.testing.contracts.shelf import FINGERPRINT, Shelf
from reqall.testing.contracts.threads import in_threads
from reqall.testing.strategies import BLANK_TEXTS, ODD_TEXTS, query_texts

_TEXT = "brake engine"
_PATIENCE = 30.0


class WritingLaws(RecallerSetting):
    """What holds of `apply` and `position`."""

    def test_what_was_never_written_finds_nothing(self, shelf: Shelf) -> None:
        """A new index has no position and no entries."""
        assert shelf.recaller.storage in {"catalog", "external", "memory"}, f"no storage: {shelf.recaller.storage!r}"
        assert shelf.recaller.position() is None, "an index that was never written has a position"
        assert shelf.find(_TEXT) == [], "an index that was never written finds documents"

    def test_writing_a_document_again_replaces_all_its_chunks(self, shelf: Shelf) -> None:
        """Of a document in `upserts` nothing that was there before is found."""
        shelf.put("d1", "volume level", "brake engine")
        shelf.put("d2", "valve")
        shelf.write([shelf.entry("d1", "pressure sensor", number=77)])
        for text in ("volume level", "brake engine", "pressure sensor"):
            chunks = [chunk.chunk_id for chunk in shelf.ranking(text) if chunk.document_id == "d1"]
            assert chunks in ([], [77]), f"{text!r} finds chunks of a document that was written again: {chunks}"
        assert shelf.find("pressure sensor")[:1] == ["d1"], "a document that was written again is not found"

    def test_a_deleted_document_is_gone(self, shelf: Shelf) -> None:
        """Deleting what was never there is no error."""
        shelf.put("d1", "volume level")
        shelf.put("d2", "volume level")
        shelf.write([], deletes=["d1", "never there"])
        assert shelf.find("volume level") == ["d2"], "d1 was deleted, d2 was not"

    def test_a_document_without_chunks_is_gone(self, shelf: Shelf) -> None:
        """An upsert of no entries replaces all that was there by nothing."""
        shelf.put("d1", "volume level")
        shelf.put("d2", "volume level")
        shelf.apply(IndexBatch({"d1": []}), shelf.recaller.prepare([]))
        assert shelf.find("volume level") == ["d2"], "d1 was replaced by no chunks, d2 was not"

    def test_applying_a_batch_twice_changes_nothing(self, shelf: Shelf) -> None:
        """A process that died after writing writes again."""
        shelf.write(sample(shelf))
        batch, prepared = shelf.write([shelf.entry("d001", "volume sync"), shelf.entry("new", "volume")], ["d002"], 3)
        before = shelf.ranking("volume sync")
        shelf.apply(batch, prepared)
        assert shelf.ranking("volume sync") == before, "the same batch applied twice changed the answer"
        assert shelf.recaller.position() == Position(FINGERPRINT, 3), "the same batch applied twice moved the position"

    def test_the_position_is_that_of_the_last_batch_that_had_one(self, shelf: Shelf) -> None:
        """A batch without a position leaves what is remembered."""
        for seq, remembered in ((4, 4), (None, 4), (9, 9)):
            shelf.write([shelf.entry(f"d{seq}", "volume")], seq=seq)
            found = shelf.recaller.position()
            assert found == Position(FINGERPRINT, remembered), (
                f"position() must return what apply() was last given, seq {remembered}; it returned {found}"
            )

    def test_a_later_process_answers_alike(self, shelf: Shelf) -> None:
        """What is stored is there again; what is in memory says that it holds nothing."""
        shelf.write(sample(shelf), seq=7)
        shelf.write([], ["d003"], seq=8)
        before = shelf.ranking(_TEXT, 9)
        shelf.reopen()
        if shelf.recaller.storage == "memory":
            assert shelf.recaller.position() is None, (
                "an index in memory is built anew, yet says that it holds something"
            )
            return
        assert shelf.recaller.position() == Position(FINGERPRINT, 8), "the position was lost when the index was closed"
        assert shelf.ranking(_TEXT, 9) == before, "opened again the index answers otherwise"

    def test_a_batch_that_fails_leaves_no_trace(self, shelf: Shelf) -> None:
        """What is written in the catalog's transaction goes with it."""
        if shelf.recaller.storage != "catalog":
            return
        shelf.write(sample(shelf))
        before = shelf.ranking(_TEXT, 9)
        batch = IndexBatch({"d001": [shelf.entry("d001", _TEXT)]}, ["d002"], Position(FINGERPRINT, 9))
        prepared = shelf.recaller.prepare(batch.entries)
        with suppress(ZeroDivisionError), shelf.database.writing() as tx:
            shelf.recaller.apply(batch, prepared, tx)
            raise ZeroDivisionError
        assert shelf.ranking(_TEXT, 9) == before, "a batch whose transaction was rolled back is still found"
        assert shelf.recaller.position() is None, "a batch whose transaction was rolled back left its position"


class AskingLaws(RecallerSetting):
    """What holds of `recall`."""

    def test_no_texts_no_rankings(self, shelf: Shelf) -> None:
        """One ranking per text; for none, none."""
        shelf.write(sample(shelf))
        shelf.rankings([])

    def test_several_texts_are_answered_as_each_alone(self, shelf: Shelf) -> None:
        """In the order of the texts, the same text twice too."""
        shelf.write(sample(shelf))
        texts = ["brake engine", "", "login", "brake engine", "zebra", "volume"]
        together = shelf.rankings(texts, 7)
        for text, ranking in zip(texts, together, strict=True):
            assert ranking == shelf.ranking(text, 7), f"{text!r} is answered otherwise beside other texts than alone"
        assert together[0].chunks, "texts whose words are in the index find nothing"

    def test_the_limit_counts_documents(self, shelf: Shelf) -> None:
        """Many chunks of one document must not keep the others out."""
        for number in range(6):
            shelf.put(f"d{number}", *(f"volume level {WORDS[part % 9]}" for part in range(40)))
        for limit, count in ((0, 0), (1, 1), (5, 5), (50, 6)):
            found = shelf.find("volume level", limit)
            assert len(found) == count, (
                f"limit {limit} of 6 documents with 40 chunks each found {len(found)}, not {count}"
            )

    @pytest.mark.parametrize("limit", [1, 40, 99])
    def test_equal_scores_are_ordered_by_document_even_where_the_limit_cuts(self, shelf: Shelf, limit: int) -> None:
        """Which of a hundred equal documents is kept must not be chance."""
        shelf.put("best", "volume", number=1000)
        shelf.write([shelf.entry(f"other{number}", f"brake {number}", number=2000 + number) for number in range(150)])
        shelf.write([shelf.entry(f"d{number:03}", "volume level", number=300 - number) for number in range(120)])
        wanted = ["best", *(f"d{number:03}" for number in range(120))][:limit]
        found = shelf.find("volume", limit)
        assert found == wanted, "of documents of equal score the first by id must be kept: read on past the limit"

    @examples(40)
    @given(
        text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        limit=st.integers(1, 15),
        more=st.integers(0, 30),
    )
    def test_a_small_limit_is_the_beginning_of_a_large_one(
        self, shelf: Shelf, text: str, limit: int, more: int
    ) -> None:
        """`recall(text, 5)` is the first five documents of `recall(text, 20)`."""
        _fill_once(shelf)
        few, many = shelf.find(text, limit), shelf.find(text, limit + more)
        assert few == many[:limit], f"limit {limit} is not the beginning of limit {limit + more}"

    def test_chunks_are_of_the_documents_that_were_written(self, shelf: Shelf) -> None:
        """No chunk is invented, none is moved to another document."""
        owners = {entry.chunk.id: entry.chunk.document_id for entry in _fill_once(shelf)}
        for chunk in shelf.ranking("shared volume", 99):
            assert owners.get(chunk.chunk_id) == chunk.document_id, f"chunk {chunk.chunk_id} was not written so"

    def test_the_same_question_has_the_same_answer(self, shelf: Shelf) -> None:
        """Asked again, and asked in four threads at once."""
        _fill_once(shelf)
        before = shelf.ranking(_TEXT, 9)
        assert shelf.ranking(_TEXT, 9) == before, "the same question was answered in two ways"
        got = in_threads(lambda: shelf.ranking(_TEXT, 9))
        assert all(each == before for each in got), "four threads that ask at once got different answers"

    @pytest.mark.parametrize("text", BLANK_TEXTS, ids=repr)
    def test_a_blank_text_finds_nothing(self, shelf: Shelf, text: str) -> None:
        """There is nothing to look for."""
        _fill_once(shelf)
        assert shelf.find(text) == [], "a blank text finds documents"

    @pytest.mark.parametrize("text", ["zebra", "?!", "\u2014\u2026", "p0", "Draft"])
    def test_what_no_document_holds_is_no_error(self, shelf: Shelf, text: str) -> None:
        """A lexical index finds nothing, not even by facets; a vector index what is nearest."""
        _fill_once(shelf)
        found = shelf.find(text, 5)
        assert not (self.lexical and found), f"no document holds {text!r}, yet {found} were found"

    @pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: repr(text[:12]))
    def test_the_syntax_of_an_engine_means_nothing(self, shelf: Shelf, text: str) -> None:
        """A query holds whatever a user sends, and a document whatever a source holds."""
        _fill_once(shelf)
        readable = text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
        shelf.put("odd", readable, name=readable, key=readable[:20])
        shelf.find(text, 3)

    @examples(60)
    @given(text=query_texts())
    def test_no_text_is_an_error(self, shelf: Shelf, text: str) -> None:
        """Whatever characters it has."""
        _fill_once(shelf)
        shelf.find(text, 3)

    def test_four_threads_search_while_one_writes(self, shelf: Shelf) -> None:
        """Every answer of an index in this process holds all documents, each as before or after a batch."""
        names = [f"d{number:02}" for number in range(20)]
        shelf.write([shelf.entry(name, "volume level") for name in names])
        begun, done = threading.Event(), threading.Event()
        answers: list[list[str]] = []

        def search() -> None:
            while not done.is_set():
                answers.append(sorted(shelf.find("volume level", 30)))
                begun.set()

        writer = threading.Thread(target=_rewrite, args=(shelf, names, begun, done))
        writer.start()
        in_threads(search)
        writer.join()
        strange = [answer for answer in answers if not set(answer) <= set(names)]
        assert not strange, f"a search found what was never written: {strange[:1]}"
        partial = [answer for answer in answers if answer != names and shelf.recaller.storage != "external"]
        assert not partial, f"a search saw a batch half written: {len(partial[:1][0])} of {len(names)} documents"


class RecallerContract(WritingLaws, AskingLaws, FilterLaws):
    """Laws of a `Recaller`. Override the fixture `make_recaller`; set `lexical` for one that finds words."""

    def test_its_abilities_are_tried(self, shelf: Shelf) -> None:
        """Dropping and inspection have contracts of their own."""
        require_abilities_tried(shelf.recaller, type(self))


def _fill_once(shelf: Shelf) -> list[IndexEntry]:
    """Write the sample where nothing was written yet; examples of one law share it."""
    entries = sample(shelf)
    if shelf.recaller.position() is None:
        shelf.write(entries, seq=1)
    return entries


def _rewrite(shelf: Shelf, names: list[str], begun: threading.Event, done: threading.Event) -> None:
    """Write all documents again and again, from the first answer on."""
    try:
        begun.wait(_PATIENCE)
        for turn in range(25):
            shelf.write([shelf.entry(name, f"volume level {WORDS[turn % 9]}") for name in names], seq=turn)
    finally:
        done.set()
