"""Pseudo-relevance feedback: the words of what a first search finds best are searched with too.

The relevance model RM1 is that of Lavrenko and Croft 2001 (doi:10.1145/383952.383972), its mixture with the
query, RM3, that of Abdul-Jaleel et al. 2004 (UMass at TREC 2004: Novelty and HARD). Documents are taken without
smoothing, as in Anserini. Words that say nothing are known by how many candidates hold them, in any language.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from reqall import Document, FoundDocument, PluginOptions, Query
from reqall.plugins.expanders.distinct import LIMIT, distinct
from reqall.plugins.expanders.terms import terms_of

MOST_WORDS = 240
"""Longest text that is made, in words: a lexical index walks the occurrences of each of them."""

_RESOLUTION = 2
"""Occurrences per term, in the mean, by which weights are told apart."""

_ROUNDING = 1e-9


class Rm3Options(PluginOptions):
    """Options of `rm3`."""

    documents: int = Field(default=10, ge=1, le=100, description="Documents of the first search that are read.")
    terms: int = Field(default=10, ge=1, le=100, description="Words of theirs that are searched with.")
    original: float = Field(
        default=0.5, ge=0, le=1, description="Share of the query's own words in the new text; the rest is the terms'."
    )
    common: float = Field(
        default=0.5, gt=0, le=1, description="A word that more than this share of all candidates holds says nothing."
    )


class Rm3:
    """Adds one text: the query and the terms, each as often as it weighs. For lexical indexes."""

    def __init__(self, options: Rm3Options) -> None:
        """Take the sizes from the options."""
        self._options = options

    def expand(self, query: Query) -> Sequence[str]:
        """Return the user's text and the client's sub-queries: nothing was found to learn from."""
        return distinct([query.text, *query.sub_queries])

    def expand_from(self, query: Query, found: Sequence[FoundDocument]) -> Sequence[str]:
        """Return these and, last, the new text, if what was found holds a term."""
        given = self.expand(query)
        text = self._text(query.text, self.relevance(found))
        return distinct([*given, text], LIMIT + 1)

    def relevance(self, found: Sequence[FoundDocument]) -> dict[str, float]:
        """Estimate P(word | relevance) from the best documents; the most probable words, summing to 1."""
        counts = [Counter(terms_of(_text_of(each.document))) for each in found]
        held = Counter(word for each in counts for word in each)
        most = max(self._options.common * len(counts), 1)
        best = found[: self._options.documents]
        model: dict[str, float] = {}
        for likelihood, words in zip(_likelihoods(best), counts, strict=False):
            for word, count in words.items():
                if held[word] <= most and not word.isdecimal():
                    model[word] = model.get(word, 0.0) + likelihood * count / words.total()
        top = sorted(model.items(), key=lambda item: (-item[1], item[0]))[: self._options.terms]
        total = math.fsum(weight for _, weight in top)
        return {word: weight / total for word, weight in top}

    def _text(self, text: str, model: Mapping[str, float]) -> str:
        """Repeat query and terms so that their occurrences are to each other as their weights."""
        share, length = self._options.original, max(len(terms_of(text)), 1)
        if not model or share == 1:
            return ""
        wanted = _RESOLUTION * len(model)
        repeats = math.ceil(wanted * share / (1 - share) / length - _ROUNDING)
        repeats = min(repeats, max(int(MOST_WORDS * share / length), 1 if share else 0))
        added = round(min(repeats * length * (1 - share) / share, MOST_WORDS)) if share else wanted
        return " ".join([*[text] * repeats, *_repeated(model, added)]) if added else ""


def _likelihoods(found: Sequence[FoundDocument]) -> list[float]:
    """Take fused scores for P(query | document), as far as they can be: else every document counts the same."""
    scores = [each.score for each in found]
    if not scores or min(scores) <= 0 or math.isinf(max(scores)):
        scores = [1.0] * len(scores)
    total = math.fsum(scores)
    return [score / total for score in scores]


def _repeated(model: Mapping[str, float], count: int) -> list[str]:
    """Share `count` occurrences among the words by the largest remainders (Hamilton's method)."""
    shares = {word: weight * count for word, weight in model.items()}
    whole = {word: int(share) for word, share in shares.items()}
    left = count - sum(whole.values())
    for word in sorted(shares, key=lambda word: (whole[word] - shares[word], word))[: max(left, 0)]:
        whole[word] += 1
    return [word for word, times in whole.items() for _ in range(times)]


def _text_of(document: Document) -> str:
    return "\n".join([document.name, *document.sections.values()])
