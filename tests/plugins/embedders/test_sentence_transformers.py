import json
import shutil
import sys

import pytest

from reqall import ConfigError, EmbedderError, ModelStore, PluginError, Services
from reqall.plugins.embedders.sentence_transformers import (
    SentenceTransformersEmbedder,
    SentenceTransformersOptions,
    build_sentence_transformers,
)

TEXTS = ["the volume of the speaker", "the door starts", "a train"]


def embedder(models=None, **options):
    return SentenceTransformersEmbedder(
        SentenceTransformersOptions(**{"max_tokens": 64, **options}), models or ModelStore({})
    )


@pytest.fixture
def copy(tiny_bert_folder, tmp_path):
    shutil.copytree(tiny_bert_folder, tmp_path / "model")
    return tmp_path / "model"


def test_vectors_are_those_of_the_library(tiny_bert_folder):
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(tiny_bert_folder), device="cpu").encode(TEXTS, normalize_embeddings=True)
    assert embedder(folder=str(tiny_bert_folder)).embed_documents(TEXTS) == pytest.approx(reference, abs=1e-5)


def test_a_model_of_a_hub_is_fetched_without_formats_that_run_code(tiny_bert_folder, hub_of, store_of, copy):
    (copy / "pytorch_model.bin").write_bytes(b"could be anything")
    hub = hub_of(own__tiny=copy)
    named = embedder(store_of(hub), model="own/tiny")
    assert named.identity
    assert hub.requests == []
    local = embedder(folder=str(tiny_bert_folder))
    assert named.embed_query(TEXTS) == pytest.approx(local.embed_query(TEXTS), abs=1e-6)
    assert not [each for each in hub.requests if each.path.endswith(".bin")]


def test_prompts_of_the_model_are_used_counted_and_can_be_given(copy):
    file = copy / "config_sentence_transformers.json"
    before = embedder(folder=str(copy))
    unprompted, identity = before.embed_query(["volume"]), before.identity
    (file).write_text(json.dumps({**json.loads(file.read_text()), "prompts": {"query": "the ", "document": "a "}}))
    prompted = embedder(folder=str(copy))
    assert prompted.identity != identity
    assert prompted.count_tokens("volume") == before.count_tokens("a volume")
    assert prompted.embed_query(["volume"]) == pytest.approx(before.embed_query(["the volume"]), abs=1e-5)
    assert prompted.embed_documents(["volume"]) == pytest.approx(before.embed_query(["a volume"]), abs=1e-5)
    bare = embedder(folder=str(copy), query_prefix="")
    assert bare.embed_query(["volume"]) == pytest.approx(unprompted, abs=1e-5)


def test_a_model_that_reads_less_than_max_tokens_is_refused(tiny_bert_folder):
    with pytest.raises(EmbedderError, match="reads 64 tokens, not 256"):
        embedder(folder=str(tiny_bert_folder), max_tokens=256).embed_query(TEXTS)


def test_a_folder_without_a_model_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigError, match=r"modules\.json"):
        embedder(folder=str(tmp_path))


def test_damaged_weights_are_an_embedder_error(copy):
    (weights,) = copy.rglob("*.safetensors")
    weights.write_bytes(b"no weights")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        embedder(folder=str(copy)).embed_query(TEXTS)


def test_identity_tells_all_apart_that_changes_vectors():
    several = [
        embedder(),
        embedder(model="intfloat/e5-small-v2"),
        embedder(revision="v2"),
        embedder(max_tokens=32),
        embedder(document_prefix="d: "),
    ]
    assert len({each.identity for each in several}) == len(several)
    assert embedder(batch_size=3, device="cpu").identity == embedder().identity


def test_without_the_package_the_remedy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(PluginError, match="sentence-transformers is not installed") as told:
        build_sentence_transformers(SentenceTransformersOptions(), Services())
    assert "reqall[sentence-transformers]" in told.value.remedy
