"""Indexing under interleaving: random histories, several processes, threads that search, sudden death."""

import itertools
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from reqall import Filters, JobError
from reqall.core.batch import Committed
from reqall.core.indexing import LEVEL_BATCH
from reqall.core.turn import Turn
from reqall.testing.fakes import HashingEmbedder

TEXTS = ("alarm", "battery", "alarm\nbattery", "siren\nfilter\nalarm", "")
STATUSES = (None, "Draft", "Approved")
WORDS = ("alarm", "battery", "siren", "filter")
ITEMS = st.dictionaries(
    st.integers(1, 6), st.tuples(st.sampled_from(TEXTS), st.sampled_from(STATUSES)), min_size=1, max_size=3
)


NUMBERS = itertools.count()


def stop(*_):
    raise InterruptedError


class Histories(RuleBasedStateMachine):
    """Edits, deletes and levels in any order, and knows what must be found."""

    @initialize()
    def open(self):
        self.bench = self.make_bench(f"catalog{next(NUMBERS)}")
        self.texts = {}

    @rule(items=ITEMS, eager=st.booleans())
    def commit(self, items, eager):
        self.bench.commit(*self.documents(items), eager=eager)
        self.texts |= items

    @rule(items=ITEMS, eager=st.booleans())
    def fail(self, items, eager):
        before = self.bench.dump()
        try:
            self.bench.commit(*self.documents(items), deleted=["s:1"], eager=eager, within=stop)
        except InterruptedError:
            assert self.bench.dump() == before

    @rule(gone=st.sets(st.integers(1, 6), min_size=1, max_size=2))
    def delete(self, gone):
        self.bench.commit(deleted=[f"s:{number}" for number in gone])
        self.texts = {number: held for number, held in self.texts.items() if number not in gone}

    @rule(name=st.sampled_from(["words", "meaning"]))
    def level(self, name):
        self.bench.level(getattr(self.bench, name))

    @rule(items=ITEMS, eager=st.booleans())
    def overtake_levelling(self, items, eager):
        self.bench.embedder.before = lambda _texts: self.commit(items, eager)
        self.bench.level(self.bench.meaning)
        self.bench.embedder.before = None

    @rule(name=st.sampled_from(["words", "meaning"]))
    def lose(self, name):
        with self.bench.database.writing() as tx:
            getattr(self.bench, name).recaller.drop(tx)

    def documents(self, items):
        return [self.document(number, text, status=status) for number, (text, status) in items.items()]

    def expected(self, word, status=None):
        known = sorted(self.texts.items())
        return [f"s:{n}" for n, (text, has) in known if word in text and (status is None or has == status)]

    @invariant()
    def nothing_stale_is_found(self):
        for index in self.bench.indexer.indexes if hasattr(self, "bench") else ():
            for word in WORDS:
                assert set(self.bench.find(index, word)) <= set(self.expected(word)), (index.name, word)

    def teardown(self):
        if not hasattr(self, "bench"):
            return
        self.bench.level()
        for index in self.bench.indexer.indexes:
            assert self.bench.held(index) == self.bench.chunks()
            for word in WORDS:
                assert self.bench.find(index, word) == self.expected(word)
                assert self.bench.find(index, word, statuses=("Draft",)) == self.expected(word, "Draft")
        self.bench.database.close()


def test_no_history_leaves_an_index_wrong(make_bench, document):
    run_state_machine_as_test(
        type("Bound", (Histories,), {"make_bench": staticmethod(make_bench), "document": staticmethod(document)}),
        settings=settings(
            max_examples=40,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


class Meeting(HashingEmbedder):
    """Waits at its first call until all others embed too; they may, as if its owner did not beat."""

    def __init__(self, barrier, database):
        super().__init__()
        self.barrier = barrier
        self.database = database

    def embed_documents(self, texts):
        if not self.embedded:
            with self.database.writing() as tx:
                tx.execute("DELETE FROM meta WHERE key GLOB 'turn:*'")
            self.barrier.wait(10)
        return super().embed_documents(texts)


def in_threads(*jobs):
    """Run all at once; the first error is raised here."""
    errors = []

    def guarded(job):
        try:
            job()
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert not any(thread.is_alive() for thread in threads)


def test_two_processes_that_level_one_index_do_not_undo_each_other(make_bench, document):
    count = 3 * LEVEL_BATCH
    benches = [make_bench(), make_bench()]
    benches[0].commit(*(document(n, f"alarm\ntext{n}") for n in range(count)), eager=False)
    barrier = threading.Barrier(2)
    indexes = [bench.index("late", Meeting(barrier, bench.database), chunking="late") for bench in benches]
    seen = []

    def level(bench, index):
        def within(_tx, done):
            if done != Committed():
                seen.append(bench.indexer.applied(index) or 0)

        bench.indexer.level(index, within)

    in_threads(*(lambda b=bench, i=index: level(b, i) for bench, index in zip(benches, indexes, strict=True)))
    assert seen == sorted(set(seen))  # no step was applied twice, none went back
    chunks = benches[0].database.query("SELECT document_id, id FROM chunk WHERE chunking = 'late'")
    assert benches[0].held(indexes[0]) == sorted(chunks)
    assert len(chunks) == 2 * count
    assert all(bench.indexer.is_level(index) for bench, index in zip(benches, indexes, strict=True))


def test_of_two_processes_that_level_one_index_one_embeds_and_the_other_waits(make_bench, document):
    benches = [make_bench(), make_bench()]
    count = 2 * LEVEL_BATCH
    benches[0].commit(*(document(n, f"text{n}") for n in range(count)), eager=False)
    waited = []

    def look(texts):
        with benches[1].database.reading() as reader:
            held = [index for (index,) in reader.execute("SELECT key FROM meta WHERE key GLOB 'turn:*'")]
        waited.extend(held)

    benches[0].embedder.before = look
    in_threads(*(lambda bench=bench: bench.level(bench.meaning) for bench in benches))
    assert sum(len(bench.embedder.embedded) for bench in benches) == count
    assert benches[1].held(benches[1].meaning) == benches[0].chunks()
    assert benches[0].database.query("SELECT key FROM meta WHERE key GLOB 'turn:*'") == []
    assert len(waited) <= 1


def test_a_wait_for_another_process_ends_when_the_job_is_cancelled(make_bench, document):
    mine, other = make_bench(), make_bench()
    mine.commit(document(1, "text"), eager=False)
    assert Turn(other.database, mine.indexer.expected(mine.meaning)).take()

    def cancelled(_tx, done):
        assert done == Committed()
        raise JobError("cancelled")

    with pytest.raises(JobError, match="cancelled"):
        mine.indexer.level(mine.meaning, cancelled)
    assert mine.embedder.embedded == []


TAKE = """
import sys
from pathlib import Path
from reqall.core.database import Database
from reqall.core.turn import Turn
assert Turn(Database(Path(sys.argv[1])), sys.argv[2]).take()
"""


def test_the_turn_of_a_process_that_was_killed_is_void(make_bench, document):
    bench = make_bench()
    bench.commit(document(1, "text"), eager=False)
    index = bench.indexer.expected(bench.meaning)
    subprocess.run([sys.executable, "-c", TAKE, str(bench.database.path), index], check=True, timeout=60)
    assert bench.level(bench.meaning) == 1


def test_two_threads_of_one_process_embed_once(bench, document):
    bench.commit(*(document(n, f"text{n}") for n in range(LEVEL_BATCH + 10)), eager=False)
    in_threads(*[lambda: bench.level(bench.meaning)] * 2)
    assert len(bench.embedder.embedded) == LEVEL_BATCH + 10
    assert bench.held(bench.meaning) == bench.chunks()


def test_indexes_that_share_chunks_may_catch_up_at_once(bench, document):
    bench.commit(*(document(n, f"alarm\ntext{n}") for n in range(LEVEL_BATCH)), eager=False)
    barrier = threading.Barrier(2)
    indexes = [bench.index(name, Meeting(barrier, bench.database), chunking="shared") for name in ("left", "right")]
    in_threads(*(lambda index=index: bench.level(index) for index in indexes))
    chunks = sorted(bench.database.query("SELECT document_id, id FROM chunk WHERE chunking = 'shared'"))
    assert bench.held(indexes[0]) == bench.held(indexes[1]) == chunks


class Interrupted:
    """Does what the object it wraps does; after the first call of `name` the given work comes in between."""

    def __init__(self, inner, name, work):
        self.inner, self.name, self.work = inner, name, work

    def __getattr__(self, name):
        method = getattr(self.inner, name)
        if name != self.name or self.work is None:
            return method

        def call(*arguments):
            answer = method(*arguments)
            work, self.work = self.work, None
            work()
            return answer

        return call


def test_an_index_that_another_process_began_meanwhile_is_not_dropped(make_bench, document):
    mine, other = make_bench(), make_bench()
    mine.commit(*(document(n, f"text{n}") for n in range(5)), eager=False)
    late = mine.index("late", mine.embedder)
    theirs = other.index("late", other.embedder)
    mine.level(replace(late, recaller=Interrupted(late.recaller, "position", lambda: other.level(theirs))))
    assert len(other.embedder.embedded) == 5
    assert mine.embedder.embedded == []
    assert mine.held(late) == mine.chunks()


def test_chunks_that_another_index_stored_meanwhile_are_taken_over(bench, document):
    bench.commit(*(document(n, f"text{n}") for n in range(5)), eager=False)
    left, right = (bench.index(name, HashingEmbedder(), chunking="shared") for name in ("left", "right"))
    bench.level(replace(left, chunker=Interrupted(left.chunker, "chunk", lambda: bench.level(right))))
    chunks = sorted(bench.database.query("SELECT document_id, id FROM chunk WHERE chunking = 'shared'"))
    assert bench.held(left) == bench.held(right) == chunks


def test_a_text_that_changes_while_the_old_one_is_cut_leaves_no_old_chunk(bench, document):
    bench.commit(*(document(n, "alarm") for n in range(3)), eager=False)
    late = bench.index("late", HashingEmbedder(), chunking="late")
    edit = Interrupted(late.chunker, "chunk", lambda: bench.commit(document(1, "siren"), eager=False))
    bench.level(replace(late, chunker=edit))
    assert bench.find(late, "alarm") == ["s:0", "s:2"]
    assert bench.find(late, "siren") == ["s:1"]
    assert bench.held(late) == sorted(bench.database.query("SELECT document_id, id FROM chunk WHERE chunking = 'late'"))


def test_searches_go_on_while_batches_commit(bench, document):
    bench.commit(*(document(n, f"alarm text{n}") for n in range(20)))
    finished = threading.Event()
    answers = []

    def write():
        for turn in range(40):
            bench.commit(document(turn % 20, f"siren turn{turn}"), eager=bool(turn % 3), deleted=[f"s:{turn % 7}"])
            bench.level()
        finished.set()

    def search():
        while not finished.is_set():
            for index in (bench.words, bench.meaning):
                rankings = index.recaller.recall(["alarm", "siren"], 10, Filters(project_ids=("s:p",)))
                ids = [chunk.document_id for ranking in rankings for chunk in ranking]
                bench.catalog.documents(ids)
                bench.log.chunks(chunk.chunk_id for ranking in rankings for chunk in ranking)
                bench.indexer.lag(index)
            answers.append(len(ids))

    def write_and_release():
        try:
            write()
        finally:
            finished.set()

    in_threads(write_and_release, *[search] * 4)
    assert len(answers) >= 4
    assert bench.held(bench.words) == bench.held(bench.meaning) == bench.chunks()


DIE = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from conftest import Bench
bench = Bench(Path(sys.argv[1]))
class Deadly(type(bench.embedder)):
    def embed_documents(self, texts):
        if len(self.embedded) >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)
bench.embedder.__class__ = Deadly
bench.level(bench.meaning)
"""


def test_a_process_that_is_killed_while_it_levels_loses_no_more_than_its_step(make_bench, document):
    bench = make_bench()
    count = 3 * LEVEL_BATCH
    bench.commit(*(document(n, f"text{n}") for n in range(count)), eager=False)
    command = [sys.executable, "-c", DIE, str(bench.database.path), str(Path(__file__).parent), str(2 * LEVEL_BATCH)]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert bench.indexer.lag(bench.meaning) == LEVEL_BATCH
    assert len(bench.held(bench.meaning)) == 2 * LEVEL_BATCH
    assert bench.level(bench.meaning) == len(bench.embedder.embedded) == LEVEL_BATCH
    assert bench.held(bench.meaning) == bench.chunks()
