"""Several processes and threads on one folder."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

from reqall import CatalogError, Filters, Position

HOLDER = """
import sys
from pathlib import Path
from reqall import Services
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

recaller = build_tantivy(TantivyOptions(), Services(folder=Path(sys.argv[1])))
with recaller._folder.writing():
    print("held", flush=True)
    sys.stdin.readline()
"""

WRITER = """
import sys
from pathlib import Path
from reqall import Chunk, Facets, IndexBatch, IndexEntry, Position, Services
from reqall_tantivy.options import TantivyOptions
from reqall_tantivy.recaller import build_tantivy

recaller = build_tantivy(TantivyOptions(), Services(folder=Path(sys.argv[1])))
first, count = int(sys.argv[2]), int(sys.argv[3])
for number in range(first, first + count):
    entry = IndexEntry(Chunk("", "", "valve", number, f"d{number}", 0), "", "", Facets("p", "t"))
    recaller.apply(IndexBatch({f"d{number}": [entry]}, (), Position("f", number)), None, None)
    print(number, flush=True)
"""


@pytest.fixture
def child():
    """Start Python on a text; what still runs at the end is killed."""
    started = []

    def start(code, *arguments):
        command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def held(shelf, child):
    """A shelf on whose folder another process has a writer."""
    shelf.write([shelf.entry("d1", "valve")], seq=1)
    process = child(HOLDER, shelf.services.folder)
    assert process.stdout.readline() == "held\n"
    return shelf, process


def hurried(shelf):
    return build_tantivy(TantivyOptions(lock_seconds=0.2), shelf.services)


def test_a_second_writer_waits_and_then_says_why(held):
    shelf, _ = held
    shelf.recaller = hurried(shelf)
    for write in (lambda: shelf.put("d2", "valve"), shelf.drop):
        with pytest.raises(CatalogError, match="by another process") as caught:
            write()
        assert "lock_seconds" in caught.value.remedy
    assert shelf.recaller.position() == Position("f", 1)
    assert shelf.find("valve") == ["d1"]


def test_a_second_writer_goes_on_when_the_first_is_done(held):
    shelf, process = held
    threading.Timer(0.3, lambda: (process.stdin.write("\n"), process.stdin.flush())).start()
    shelf.put("d2", "valve")
    assert shelf.find("valve") == ["d1", "d2"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_a_writer_that_is_killed_holds_no_lock(held):
    shelf, process = held
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    shelf.recaller = hurried(shelf)
    shelf.put("d2", "valve")
    assert shelf.find("valve") == ["d1", "d2"]


def test_what_another_process_committed_is_seen_at_once(shelf, child):
    process = child(WRITER, shelf.services.folder, 1, 5)
    for number in range(1, 6):
        assert process.stdout.readline() == f"{number}\n"
        found = shelf.find("valve")
        assert f"d{number}" in found
        assert shelf.recaller.position().seq >= number


def test_what_another_process_dropped_is_gone(shelf):
    shelf.write([shelf.entry("d1", "valve")], seq=1)
    assert shelf.find("valve") == ["d1"]
    build_tantivy(TantivyOptions(), shelf.services).drop(None)
    assert shelf.recaller.position() is None
    assert shelf.find("valve") == []


def test_what_another_process_built_anew_is_found(shelf):
    shelf.write([shelf.entry("d1", "valve")], seq=1)
    assert shelf.find("valve") == ["d1"]
    other = build_tantivy(TantivyOptions(), shelf.services)
    other.drop(None)
    batch, _ = shelf.write([shelf.entry("d2", "valve")], seq=2)
    assert other.position() == batch.position
    assert shelf.find("valve") == ["d2"]


def test_two_processes_write_while_four_threads_search(shelf, child):
    """Nothing is lost, no search fails while files are merged away under it."""
    failures, done = [], threading.Event()

    def search():
        recaller = build_tantivy(TantivyOptions(), shelf.services)
        try:
            while not done.is_set():
                found = recaller.recall(["valve"], 99, Filters())[0].best_chunks
                assert all(document_id == f"d{chunk_id}" for document_id, chunk_id in found.items())
                list(recaller.inventory(None))
                assert recaller.damage(None) == []
        except Exception as error:  # noqa: BLE001 - a thread's error is told by the test
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    writers = [child(WRITER, shelf.services.folder, first, 15) for first in (100, 200)]
    for writer in writers:
        out, _ = writer.communicate(timeout=60)
        assert len(out.splitlines()) == 15
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    wanted = [*range(100, 115), *range(200, 215)]
    assert list(shelf.recaller.inventory(None)) == [(number, f"d{number}") for number in wanted]


def test_two_processes_may_make_the_index_at_once(shelf, child):
    writers = [child(WRITER, shelf.services.folder, first, 1) for first in (1, 2, 3)]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert sorted(shelf.find("valve")) == ["d1", "d2", "d3"]


def test_a_search_does_not_wait_for_a_writer(held):
    shelf, _ = held
    assert hurried(shelf).recall(["valve"], 5, Filters())[0].chunks
