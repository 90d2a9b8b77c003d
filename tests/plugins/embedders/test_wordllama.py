import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np  # noqa: TID253 - a test may
import pytest

from reqall import EmbedderError
from reqall.plugins.embedders.wordllama import DIMENSIONS, WordLlamaEmbedder, WordLlamaOptions

pytestmark = pytest.mark.skipif(find_spec("wordllama") is None, reason="needs the extra wordllama")

TEXTS = ["The volume is the same in all speakers.", "door", "登录 timeout", "a much longer text " * 30]

REFERENCE = """
import json, sys
from pathlib import Path
import wordllama
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps(model.embed(json.loads(sys.argv[1]), norm=True).tolist()))
"""


@pytest.fixture(scope="module")
def wordllama(build):
    return build("embedder", "wordllama")


def test_vectors_are_those_of_the_package(wordllama):
    """In a process of its own: importing the package sets up logging."""
    import json

    program = [sys.executable, "-c", REFERENCE, json.dumps(TEXTS)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert wordllama.embed_documents(TEXTS) == pytest.approx(np.array(json.loads(done.stdout)), abs=1e-4)


def test_nothing_is_read_beyond_max_tokens(build):
    short = build("embedder", "wordllama", max_tokens=8)
    words = "volume " * 7
    assert short.count_tokens(words + "volume door train") > 8
    whole, longer = short.embed_documents([words + "volume", words + "volume door train"])
    assert whole == pytest.approx(longer, abs=1e-6)


def test_batches_keep_texts_in_order_blank_ones_among_them(wordllama):
    texts = [f"{word} {number}" if number % 5 else "" for number in range(150) for word in ("volume",)]
    together = wordllama.embed_documents(texts)
    for row in (0, 1, 63, 64, 65, 149):
        assert together[row] == pytest.approx(wordllama.embed_documents([texts[row]])[0], abs=1e-6)


def test_the_package_itself_is_not_imported():
    program = (
        "import sys\n"
        "from reqall import Services\n"
        "from reqall.plugins.embedders.wordllama import WordLlamaOptions, build_wordllama\n"
        "e = build_wordllama(WordLlamaOptions(), Services())\n"
        "assert e.identity and e.dimensions and 'numpy' not in sys.modules\n"
        "e.embed_query(['volume'])\n"
        "assert 'wordllama' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_other_files_than_the_expected_ones_are_refused(tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "tokenizers").mkdir()
    for name in ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(EmbedderError, match="SHA-256"):
        WordLlamaEmbedder(WordLlamaOptions(), Path(tmp_path)).embed_query(["volume"])


def test_no_text_gives_no_vector(wordllama):
    assert wordllama.embed_documents([]).shape == (0, DIMENSIONS)
