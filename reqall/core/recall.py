"""The first half of a search: every arm is asked with every text, all arms at once.

An arm that fails, hangs or answers wrongly is left out with a warning; the others answer.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from reqall.core.conformity import chunk_rankings
from reqall.core.errors import PluginError, ReqallError
from reqall.core.expansion import Asked
from reqall.core.guard import Call, Component, Guard, Workers
from reqall.core.index import Index
from reqall.core.indexing import Indexer
from reqall.core.ranking import ChunkRanking, DocumentRanking
from reqall.core.trace import Trace
from reqall.core.types import Filters


@dataclass(frozen=True, slots=True)
class Arm:
    """One leg of recall: an index and its weight in the fusion; `component` is who answers for it."""

    index: Index
    weight: float = 1.0
    required: bool = False
    component: Component | None = None

    @property
    def called(self) -> Component:
        """The component as warnings name it: by its index, which is what stands in the YAML."""
        name = f"index {self.index.name!r}"
        by = self.component
        return Component(f"{name} ({by.name})", by.timeout) if by else Component(name)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What one arm found with one text."""

    arm: Arm
    asked: Asked
    chunks: ChunkRanking
    documents: DocumentRanking


@dataclass
class _Answer:
    """What one arm found with each text, and what is to be told of it."""

    found: list[Recalled] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)


def fusion_weights(recalled: Sequence[Recalled]) -> list[float]:
    """Weigh each ranking by its arm and its text: arm.weight x the text's weight.

    Where one arm is asked with more texts than another, the other's count more in proportion: what an arm
    weighs beside others does not hang on how many texts it was asked with.
    """
    masses: dict[int, float] = {}
    for found in recalled:
        masses[id(found.arm)] = masses.get(id(found.arm), 0.0) + found.asked.weight
    fullest = max(masses.values(), default=0.0)
    shares = {arm: fullest / mass if mass else 1.0 for arm, mass in masses.items()}
    return [found.arm.weight * found.asked.weight * shares[id(found.arm)] for found in recalled]


class Recall:
    """The arms of a pipeline. Thread-safe."""

    def __init__(self, indexer: Indexer, arms: Sequence[Arm], workers: Workers) -> None:
        """Guard each arm by itself."""
        self._indexer = indexer
        self._arms = [(arm, Guard(arm.called, workers)) for arm in arms]

    def find(
        self, asked: Sequence[Asked], limit: int, filters: Filters, trace: Trace, known: Sequence[Recalled] = ()
    ) -> list[Recalled]:
        """Ask every arm with the texts that are for it; what was `known`, then what they found, in the arms' order.

        `limit` counts documents. Raises ReqallError when a required arm fails, or every arm and nothing is known.
        """
        wanted = [(arm, guard, [each for each in asked if each.reaches(arm.index.name)]) for arm, guard in self._arms]
        calls = [(arm, guard, self._begin(arm, guard, own, limit, filters)) for arm, guard, own in wanted if own]
        found: list[Recalled] = [*known]
        failures: list[ReqallError] = []
        for arm, guard, call in calls:
            try:
                answer = call.result()
            except Exception as error:
                told = guard.told(error)
                failures.append(guard.failure(error, told))
                if arm.required:
                    raise failures[-1] from error
                trace.warnings.append(f"{guard.subject} was left out: {told}")
            else:
                found += answer.found
                trace.add(answer.trace)
        if failures and not found:
            raise failures[0]
        return found

    def _begin(self, arm: Arm, guard: Guard, asked: Sequence[Asked], limit: int, filters: Filters) -> Call[_Answer]:
        texts = [each.text for each in asked]

        def work(call: Call[_Answer]) -> _Answer:
            answer = _Answer()
            with self._snapshot(call, arm.index):
                self._catch_up(call, arm.index, filters, answer.trace)
                with answer.trace.stage(f"recall.{arm.index.name}"):
                    found = arm.index.recaller.recall(texts, limit, filters)
                    rankings = chunk_rankings(found, len(texts))
                self._refuse_strangers(arm.index, rankings)
            answer.found += [
                Recalled(arm, each, chunks, chunks.collapse().top(limit))
                for each, chunks in zip(asked, rankings, strict=True)
            ]
            if any(len(chunks.best_chunks) > limit for chunks in rankings):
                answer.trace.warnings.append(f"{guard.subject} returned more than {limit} documents; the rest was cut")
            return answer

        return guard.begin(work)

    @contextmanager
    def _snapshot(self, call: Call[_Answer], index: Index) -> Iterator[None]:
        """Let an index in the catalog's file read it as it is at one moment; a call that is left lets go of it."""
        if index.recaller.storage != "catalog":
            yield
            return
        database = self._indexer.catalog.database
        with database.reading() as connection:
            call.when_left(lambda: database.cut(connection))
            yield

    def _catch_up(self, call: Call[_Answer], index: Index, filters: Filters, trace: Trace) -> None:
        """Fill an index that lives in memory; say of any other how far it is behind."""
        if self._indexer.is_level(index):
            return
        if index.recaller.storage == "memory":
            self._indexer.level(index, lambda _tx, _done: call.progress())
        elif lag := self._indexer.lag(index, filters.project_ids):
            trace.warnings.append(
                f"index {index.name!r} does not hold {lag} documents as they are now; a running server"
                " or `reqall backfill` brings it level"
            )

    def _refuse_strangers(self, index: Index, rankings: Sequence[ChunkRanking]) -> None:
        """Refuse documents that the catalog never had; those that it has no more are dropped later.

        An index that is behind, or lives in memory, may hold some that were deleted and that `gc` has forgotten.
        """
        ids = {document_id for ranking in rankings for document_id in ranking.best_chunks}
        strangers = len(ids) - len(self._indexer.log.places(ids))
        is_late = strangers and (index.recaller.storage == "memory" or not self._indexer.is_level(index))
        if strangers and (not is_late or strangers == len(ids)):
            raise PluginError(f"it returned documents that the catalog never had: {strangers}")
