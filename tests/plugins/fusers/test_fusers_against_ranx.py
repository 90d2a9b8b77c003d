"""The built-in fusers give what ranx gives: as it was written down once, and anew where ranx is installed.

Where ours differ on purpose: a ranking of equal scores counts as found (1) with min-max, in ranx as last (0);
with z-scores a document that a ranking lacks has that ranking's least score, in ranx its mean; a ranking of weight 0
has no part in N of CombMNZ nor in the candidates of Borda. None of that is in the cases, or it is said below.
"""

import json
import os
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

from reqall import DocumentRanking

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "ranx_reference.py"
WRITTEN = json.loads((Path(__file__).parent / "ranx_reference.json").read_text(encoding="utf-8"))
CASES = WRITTEN["cases"]

OURS = {
    "rrf": ("rrf", {}),
    "rrf k=5": ("rrf", {"k": 5}),
    "isr": ("isr", {}),
    "borda": ("borda", {}),
    "borda weighted": ("borda", {}),
    "combsum": ("combsum", {}),
    "combsum none": ("combsum", {"normalise": "none"}),
    "combsum weighted": ("combsum", {}),
    "combmnz": ("combmnz", {}),
    "combmnz none": ("combmnz", {"normalise": "none"}),
    "combmnz weighted": ("combmnz", {}),
}
"""Our component for each way in which ranx fused."""


@pytest.fixture(params=range(len(CASES)))
def case(request):
    return CASES[request.param]


def fused(fuser, case, weights):
    rankings = [DocumentRanking.of(scores.items()) for scores in case["rankings"]]
    return {document.document_id: document.score for document in fuser.fuse(rankings, weights)}


def assert_same(build, name, case, expected):
    if name.endswith("none") and min(score for scores in case["rankings"] for score in scores.values()) < 0:
        return  # in ranx a document that is not found is then ahead of one that is found
    component, options = OURS[name]
    weights = case["weights"] if name.endswith("weighted") else [1.0] * len(case["rankings"])
    assert fused(build("fuser", component, **options), case, weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_all_that_was_written_is_compared():
    assert WRITTEN["ranx"] == "0.3.21"
    assert len(CASES) >= 12
    assert all(case["fused"].keys() == OURS.keys() for case in CASES)
    assert any(min(score for scores in case["rankings"] for score in scores.values()) > 0 for case in CASES)


@pytest.mark.parametrize("name", OURS)
def test_a_fuser_gives_what_ranx_gave(build, name, case):
    assert_same(build, name, case, case["fused"][name])


def test_convex_is_the_mean_of_what_ranx_sums(build, case):
    total = sum(case["weights"])
    expected = {key: score / total for key, score in case["fused"]["combsum weighted"].items()}
    assert fused(build("fuser", "convex"), case, case["weights"]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def summed(case, rescaled):
    """Add what `rescaled` makes of ranx's z-scores of each ranking, by weight."""
    sums = dict.fromkeys((key for scores in case["rankings"] for key in scores), 0.0)
    for z_scores, weight in zip(case["z_scores"], case["weights"], strict=True):
        for key, score in rescaled(z_scores).items():
            sums[key] += weight * score
    return sums


def test_z_scores_are_those_of_ranx_counted_from_the_least(build, case):
    expected = summed(case, lambda z_scores: {key: z - min(z_scores.values()) for key, z in z_scores.items()})
    ours = fused(build("fuser", "combsum", normalise="z-score"), case, case["weights"])
    assert ours == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_dbsf_maps_z_scores_of_3_to_0_and_1(build, case):
    """In ranx there is no DBSF; its z-scores give it."""
    expected = summed(case, lambda z_scores: {key: (z + 3) / 6 for key, z in z_scores.items()})
    assert fused(build("fuser", "dbsf"), case, case["weights"]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.skipif(
    find_spec("ranx") is None or os.environ.get("NUMBA_DISABLE_JIT") != "1",
    reason="needs ranx, and NUMBA_DISABLE_JIT=1: compiled it takes minutes",
)
def test_a_fuser_gives_what_ranx_gives_now(build):
    spec = spec_from_file_location("ranx_reference", SCRIPT)
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    for case in script.cases(Random(), 100):
        expected = script.reference(case["rankings"], case["weights"])
        assert expected.keys() == OURS.keys()
        for name in OURS:
            assert_same(build, name, case, expected[name])
