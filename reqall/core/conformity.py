"""Checks a component against its protocol: that it has the members, and in a search what it returns.

Each check of an answer raises PluginError with a message that goes on after the component's name. Nothing is
walked without an end, as a generator may have none.
"""

from collections.abc import Iterable, Mapping, Sequence
from inspect import getattr_static
from itertools import islice, pairwise
from math import inf, isfinite, isnan
from numbers import Real
from typing import Any

from reqall.core.errors import PluginError
from reqall.core.expanding import QueryExpander, Variant
from reqall.core.protocols import Chunker, Embedder, Fuser, Recaller, Reranker, Source
from reqall.core.ranking import ChunkRanking, DocumentRanking, RankedChunk, RankedDocument

PROTOCOLS = {
    "source": Source,
    "chunker": Chunker,
    "embedder": Embedder,
    "expander": QueryExpander,
    "recaller": Recaller,
    "fuser": Fuser,
    "reranker": Reranker,
}

MAX_TEXTS = 50
"""Most texts of one search: each is searched with in every arm."""


def missing_members(kind: str, component: object) -> list[str]:
    """List what a component of a kind lacks of its protocol; nothing of it is called, as that may load a model."""
    members = [name for name in vars(PROTOCOLS[kind]) if not name.startswith("_")]
    return [name for name in members if not _has(component, name)]


def variants(found: Any) -> list[Variant]:
    """Return what an expander gave: texts, each once, with their weights."""
    given = [Variant(each) if isinstance(each, str) else each for each in _listed(found, MAX_TEXTS)]
    if not all(isinstance(each, Variant) and isinstance(each.text, str) for each in given):
        raise PluginError("it returned texts that are no str")
    if not all(isinstance(each.weight, int | float) and 0 <= each.weight < inf for each in given):
        raise PluginError("it returned a weight that is no number of 0 or more")
    if len(given) > MAX_TEXTS:
        raise PluginError(f"it returned more than {MAX_TEXTS} texts")
    return list({each.text: each for each in reversed(given)}.values())[::-1]


def chunk_rankings(found: Any, count: int) -> list[ChunkRanking]:
    """Return what a recaller gave: one ranking of chunks per text."""
    rankings = _listed(found, count)
    if len(rankings) != count:
        number = f"more than {count}" if len(rankings) > count else str(len(rankings))
        raise PluginError(f"it returned {number} rankings for {count} texts")
    for ranking in rankings:
        _require(ranking, ChunkRanking)
        chunks = _ranked(ranking.chunks, RankedChunk)
        _unique([chunk.chunk_id for chunk in chunks], int)
        if not all(isinstance(chunk.document_id, str) for chunk in chunks):
            raise PluginError("it returned ids of documents that are no str")
    return rankings


def fused(found: Any, rankings: Iterable[DocumentRanking]) -> DocumentRanking:
    """Return what a fuser gave: a ranking of documents that stand in one of its inputs."""
    ranking = _documents(found)
    if not ranking.by_id.keys() <= {ranked.document_id for given in rankings for ranked in given}:
        raise PluginError("it returned documents that it was not given")
    return ranking


def reranked(found: Any, document_ids: Iterable[str]) -> DocumentRanking:
    """Return what a reranker gave: a permutation of the documents that it was given."""
    ranking = _with_parts(_documents(found))
    if ranking.by_id.keys() != set(document_ids):
        raise PluginError("it returned other documents than it was given")
    return ranking


def reranked_in_part(found: Any, document_ids: Sequence[str]) -> DocumentRanking:
    """Return what a reranker gave within its time: an order of the first documents that it was given."""
    ranking = _with_parts(_documents(found))
    if ranking.by_id.keys() != set(document_ids[: len(ranking)]):
        raise PluginError("it returned other documents than the first that it was given")
    return ranking


def scores(found: Any, count: int) -> list[float]:
    """Return what a scorer gave: one finite number per passage, such as an array of one dimension."""
    given = _listed(found, count)
    if len(given) != count:
        number = f"more than {count}" if len(given) > count else str(len(given))
        raise PluginError(f"it returned {number} scores for {count} passages")
    if not all(isinstance(score, Real) for score in given):
        raise PluginError("it returned a score that is no number")
    if not all(map(isfinite, given)):
        raise PluginError("it returned a score that is not finite")
    return [float(score) for score in given]


def _documents(found: Any) -> DocumentRanking:
    _require(found, DocumentRanking)
    _unique([ranked.document_id for ranked in _ranked(found.documents, RankedDocument)], str)
    ranking: DocumentRanking = found
    return ranking


def _with_parts(ranking: DocumentRanking) -> DocumentRanking:
    """Check the parts, as they are shown."""
    groups = ranking.parts.values() if isinstance(ranking.parts, Mapping) else [None]
    if not all(isinstance(parts, Mapping) for parts in groups):
        raise PluginError("it returned parts of scores that are no mapping")
    values = [value for parts in groups for pair in parts.items() for value in pair[1:]]
    if not all(isinstance(value, Real) and isfinite(value) for value in values):
        raise PluginError("it returned parts of scores that are no finite numbers")
    return ranking


def _has(component: object, name: str) -> bool:
    """Look a member up without running a property; what answers by `__getattr__` is asked."""
    is_dynamic = getattr_static(component, "__getattr__", None) is not None
    return getattr_static(component, name, None) is not None or (is_dynamic and hasattr(component, name))


def _listed(found: Any, most: int) -> list[Any]:
    """Take one more than may be there, so that too many are noticed."""
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise PluginError(f"it returned a {type(found).__name__}, not a list")
    return list(islice(found, most + 1))


def _require(found: Any, kind: type) -> None:
    if not isinstance(found, kind):
        raise PluginError(f"it returned a {type(found).__name__}, not a {kind.__name__}")


def _ranked(entries: Sequence[Any], kind: type) -> Sequence[Any]:
    """Check what `of` of a ranking sees to: one built without it may hold anything."""
    if not isinstance(entries, tuple) or not all(isinstance(entry, kind) for entry in entries):
        raise PluginError(f"it returned a ranking that is no tuple of {kind.__name__}")
    scores = [entry.score for entry in entries]
    try:
        if any(map(isnan, scores)):
            raise PluginError("it returned a score that is not a number (NaN)")
        is_sorted = all(higher >= lower for higher, lower in pairwise(scores))
    except TypeError:
        raise PluginError("it returned a score that is no number") from None
    if not is_sorted or any(entry.rank != rank for rank, entry in enumerate(entries, start=1)):
        raise PluginError("it returned a ranking whose ranks do not count from 1, best first")
    return entries


def _unique(ids: Sequence[Any], kind: type) -> None:
    if not all(isinstance(each, kind) for each in ids):
        raise PluginError(f"it returned ids that are no {kind.__name__}")
    if len(set(ids)) < len(ids):
        raise PluginError("it returned an id twice in one ranking")
