"""What the fakes do beyond the contracts that they keep."""

import subprocess
import sys

import numpy as np  # noqa: TID253 - a test may

from reqall import Embedder
from reqall.testing.fakes import HashingEmbedder


def test_rows_have_length_one_and_shared_words_are_near():
    embedder: Embedder = HashingEmbedder(512)
    vectors = embedder.embed_documents(["volume level", "Level volume!", "volume brake", "", "登录"])
    assert (vectors.shape, vectors.dtype) == ((5, 512), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    cosines = vectors @ vectors[0]
    assert np.isclose(cosines[1], 1)
    assert 0 < cosines[2] < 1
    assert np.array_equal(
        vectors, HashingEmbedder(512).embed_query(["volume level", "level volume", "volume brake", "", "登录"])
    )


def test_it_remembers_what_it_was_given_and_reads_no_further_than_it_says():
    embedder = HashingEmbedder(512, max_tokens=2)
    (cut,) = embedder.embed_documents(["volume level brake"])
    (whole,) = embedder.embed_query(["volume level"])
    assert np.array_equal(cut, whole)
    assert (embedder.embedded, embedder.queries) == (["volume level brake"], ["volume level"])
    assert embedder.count_tokens("volume level brake") == 3
    assert embedder.embed_documents([]).shape == (0, 512)
    assert embedder.identity != HashingEmbedder(512).identity


def test_fakes_and_the_simulator_need_no_pytest():
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "import reqall.testing.fakes, reqall.testing.jama_simulator, reqall.testing.openai_endpoint\n"
        "import reqall.testing.read_only"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
