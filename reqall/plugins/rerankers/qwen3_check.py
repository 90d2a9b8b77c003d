"""Does a loaded model judge as it should? Two known pairs tell a good one from a broken one.

What has gone wrong elsewhere: a template without its suffix or with other roles (every passage the same score, or
scores by chance), weights whose `yes` and `no` were lost in a conversion, and float16 that overflows (NaN).
"""

from reqall import RerankerError
from reqall.plugins.rerankers.qwen3_model import QwenScorer
from reqall.plugins.rerankers.qwen3_template import WEB_INSTRUCTION

QUERY = "What is the capital of China?"
RELEVANT = "The capital of China is Beijing."
IRRELEVANT = (
    "Gravity is a force that attracts two bodies towards each other. It gives weight to physical objects and is"
    " responsible for the movement of planets around the sun."
)
"""Query and passages of the model's own documentation, to be judged with its own instruction."""

AT_LEAST, AT_MOST = 0.9, 0.1
"""What a sound model exceeds for the one and stays below for the other, by far."""

_SAME = 1e-6


def self_check(scorer: QwenScorer, model: str) -> None:
    """Refuse a model that does not tell the pairs apart. Raises RerankerError with the reason."""
    good, bad = scorer.score(WEB_INSTRUCTION, QUERY, [RELEVANT, IRRELEVANT])
    if abs(good - bad) < _SAME:
        reason = f"two unlike passages get the same score, {good:.3f}"
    elif good < AT_LEAST:
        reason = f"a passage that answers its query gets {good:.3f}, not {AT_LEAST} or more"
    elif bad > AT_MOST:
        reason = f"a passage that has nothing to do with its query gets {bad:.3f}, not {AT_MOST} or less"
    else:
        return
    raise RerankerError(
        f"the model {model} failed its self-check: {reason}",
        "`reqall models verify` says whether its files are whole; `dtype` float32 excludes rounding."
        " Name a Qwen3-Reranker; other models of the type qwen3 do not judge.",
    )
