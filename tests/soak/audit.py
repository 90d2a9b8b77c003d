"""What may be found in a catalog's file at any instant, be the process that wrote it alive, dead or done.

Always: documents and links as the source has shown them; indexes that hold documents whole and nothing
else, and all that they say they hold; no progress that was not made; a watermark that moves only when
all before it is stored. Texts are embedded once: whoever is killed loses what it embedded since its
last commit, which is one call of the embedder and no more. After a sync that is done, all is as in the source.
"""

import shutil
from collections import Counter, defaultdict
from contextlib import contextmanager
from itertools import chain

from reqall.core.integrity import inspect
from reqall.core.jobs import Jobs
from tests.soak.counting_embedder import calls, counted, identify
from tests.soak.doomed import kept_beside
from tests.soak.full_stops import pieces
from tests.soak.truth import PROJECT, differences, held_documents, held_links, true_documents, true_links

BATCH = 64
"""Documents that may be embedded between two commits: what a kill may cost."""

TNY = f"jama:{PROJECT}"


class Audit:
    """Looks at a copy of the file, so that the next process finds what the last one left."""

    def __init__(self, household, world):
        self.household, self.world = household, world
        self.lost = []
        self.largest_call = self.documents = 0
        self.looked_at = 0
        self._shown = defaultdict(set)
        self._seen = []
        self._synced = None
        self._held, self._ever_held = set(), set()
        self._calls = self._unwanted = 0
        self._embedded = {}

    @property
    def is_synced(self):
        """Whether a sync was ever done."""
        return self._synced is not None

    @property
    def again(self):
        """How many texts were embedded that had been before."""
        texts = counted(self.household.texts)
        return texts.total() - len(texts)

    def look(self):
        """Remember what the source shows to syncs from now on."""
        documents = true_documents(self.world)
        for key, told in documents.items():
            self._shown[key].add(told)
        self._seen.append((documents, true_links(self.world)))

    def broken_off(self):
        """Assert what holds at any instant; a process was killed or frozen since the last look."""
        self._on_the_way()
        with self._copy() as assembly:
            self._always(assembly)
            self._texts(assembly.indexer(), is_broken_off=True)

    def done(self, *, was_overtaken=False):
        """Assert that nothing is lost."""
        self._on_the_way()
        with self._copy() as assembly:
            indexer, jobs = assembly.indexer(), Jobs(assembly.database).history()
            self._always(assembly)
            self._texts(indexer, is_broken_off=was_overtaken)
            assert assembly.problems() == {}
            assert (found := differences(indexer.catalog, self.world)) == [], found
            assert all(indexer.is_level(index) for index in indexer.indexes), "an index stayed behind"
            assert self._held == self._texts_wanted(), "vectors are not those of the source's texts"
            assert {job.status for job in jobs} == {"DONE"}, jobs

    def _on_the_way(self):
        """Look at the copies that the last process left: a kill would have left the same."""
        kept = kept_beside(self.household.catalog)
        for folder in sorted(kept.iterdir(), key=lambda folder: int(folder.name)) if kept.exists() else ():
            with self._opened(folder) as assembly:
                self._always(assembly)
        shutil.rmtree(kept, ignore_errors=True)

    def _always(self, assembly):
        self.looked_at += 1
        indexer, catalog = assembly.indexer(), assembly.catalog
        assert (problems := inspect(indexer, TNY).problems) == [], problems
        for index in _begun(indexer):
            _holds_whole_documents(indexer, index)
        held = held_documents(catalog)
        strange = [key for key, told in held.items() if told not in self._shown[key]]
        assert strange == [], f"{strange} are as the source never showed them"
        if catalog.has_level_links(TNY):
            assert (held, held_links(catalog)) in self._seen, "the links are not level with the documents"
        state = catalog.project(TNY)
        synced = state and state.synced and (state.watermark, state.synced)
        if synced != self._synced:
            assert differences(catalog, self.world) == [], "the watermark moved before all was stored"
        self._synced, self.documents = synced, len(held)
        self._jobs(Jobs(assembly.database).history())

    def _jobs(self, jobs):
        assert {job.status for job in jobs[1:]} <= {"DONE"}, jobs
        assert all(job.done <= self.documents for job in jobs[:1] if job.phase == "documents"), (jobs, self.documents)
        self._embedded |= {job.job_id: job.embedded for job in jobs}

    def _texts(self, indexer, *, is_broken_off):
        """Compare what was embedded since the last look with the vectors that are new in the file."""
        made = calls(self.household.texts)[self._calls :]
        self._calls += len(made)
        assert all(len(call) <= _texts_of(BATCH, indexer) for call in made), "more than a batch is embedded at once"
        self.largest_call = max([self.largest_call, *map(len, made)])
        held, texts = _texts_held(indexer), Counter(chain.from_iterable(made))
        assert not texts.keys() & self._held, "a text was embedded whose vector was stored"
        lost = texts - Counter(held - self._held)
        # What a document lost, or was deleted with, while it was embedded is nobody's loss.
        wanted = self._texts_wanted()
        calls_lost = [[], *(made if is_broken_off else [])]
        assert any(not wanted & (lost - Counter(call)).keys() for call in calls_lost), "more than a call was lost"
        if is_broken_off:
            self.lost.append(lost.total())
        assert self.again <= sum(self.lost), "more was embedded again than was lost"
        self._progress(held, sum(number for text, number in lost.items() if text not in wanted))

    def _progress(self, held, unwanted):
        """Compare what the jobs say that they embedded with the vectors that ever were in the file."""
        self._held = held
        self._ever_held |= held
        self._unwanted += unwanted
        told, stored = sum(self._embedded.values()), len(self._ever_held)
        assert stored <= told <= stored + self._unwanted, "progress is told otherwise than it was made"

    def _texts_wanted(self):
        """Identify the texts of all documents that the source shows."""
        documents = true_documents(self.world).values()
        return {identify(piece.text) for told in documents for piece in pieces(told.name, told.text)}

    @contextmanager
    def _copy(self):
        folder = self.household.folder / "copy"
        folder.mkdir()
        for file in self.household.folder.glob("catalog.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        with self._opened(folder) as assembly:
            yield assembly

    @contextmanager
    def _opened(self, folder):
        assembly = self.household.assembly(folder / "catalog.db")
        try:
            yield assembly
        finally:
            assembly.database.close()
            shutil.rmtree(folder)


def _begun(indexer):
    """Return the indexes that hold anything at all."""
    return [index for index in indexer.indexes if index.recaller.position() is not None]


def _holds_whole_documents(indexer, index):
    """Assert that an index has all chunks of a document or none, each once, and nothing that the catalog has not."""
    held = list(index.recaller.inventory(indexer.catalog.database.reader()))
    assert len(held) == len(set(held)), f"{index.name} holds a chunk twice"
    stored = indexer.log.chunks_of({document for _, document in held}, index.chunking)
    expected = {(chunk.id, key) for key, chunks in stored.items() for chunk in chunks}
    assert set(held) == expected, f"{index.name} holds {set(held) ^ expected} otherwise than the catalog"


def _texts_held(indexer):
    """Identify the texts whose vectors are stored."""
    reader = indexer.catalog.database.reader()
    vectors = [index for index in _begun(indexer) if index.embedder is not None]
    numbers = [number for index in vectors for number, _ in index.recaller.inventory(reader)]
    return {identify(chunk.text) for chunk in indexer.log.chunks(numbers).values()}


def _texts_of(number, indexer):
    """Count the texts that so many documents have at most."""
    counts = indexer.catalog.database.query(
        "SELECT count(*) AS pieces FROM chunk GROUP BY document_id, chunking ORDER BY pieces DESC LIMIT ?", (number,)
    )
    return sum(pieces for (pieces,) in counts)
