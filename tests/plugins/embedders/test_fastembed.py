import shutil
import sys

import pytest

from reqall import ConfigError, EmbedderError, ModelError, ModelStore, PluginError, Services
from reqall.plugins.embedders.fastembed import (
    FastembedEmbedder,
    FastembedOptions,
    build_fastembed,
    fastembed_weights,
)
from reqall.plugins.embedders.fastembed_models import hub_model

pytest.importorskip("fastembed", reason="needs the extra fastembed")

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = ["The volume is the same in all speakers.", "登录 timeout", "", "The door closes. " * 40]


def embedder(models=None, **options):
    return FastembedEmbedder(FastembedOptions(**{"max_tokens": 256, **options}), models or ModelStore({}))


@pytest.fixture
def copy(minilm_folder, tmp_path):
    shutil.copytree(minilm_folder, tmp_path / "model", symlinks=True)
    return tmp_path / "model"


def test_a_folder_gives_the_vectors_that_minilm_gives(minilm_folder, build):
    ours = build("embedder", "minilm")
    local = embedder(folder=str(minilm_folder), batch_size=2)
    assert local.embed_documents(TEXTS) == pytest.approx(ours.embed_documents(TEXTS), abs=1e-3)
    assert local.dimensions == 384
    assert [local.count_tokens(text) for text in TEXTS] == [ours.count_tokens(text) for text in TEXTS]


def test_a_model_of_the_catalogue_is_fetched_once_and_then_found_without_the_hub(
    minilm_folder, hub_of, store_of, build
):
    hub = hub_of(**{hub_model(MINILM, "main").name.replace("/", "__"): minilm_folder})
    named = embedder(store_of(hub), model=MINILM)
    assert named.dimensions == 384
    assert hub.requests == []
    vectors = named.embed_query(TEXTS)
    assert vectors == pytest.approx(build("embedder", "minilm").embed_query(TEXTS), abs=1e-3)
    asked = len(hub.requests)
    again = embedder(store_of(hub, HF_HUB_OFFLINE="1"), model=MINILM)
    assert again.embed_query(TEXTS) == pytest.approx(vectors, abs=1e-6)
    assert len(hub.requests) == asked > 0


def test_a_hub_that_does_not_answer_is_told_with_a_remedy(hub_of, store_of):
    hub = hub_of()
    with pytest.raises(ModelError, match="answered 404"):
        embedder(store_of(hub), model=MINILM).embed_query(["volume"])
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE forbids"):
        embedder(store_of(hub, HF_HUB_OFFLINE="1"), model=MINILM).embed_query(["volume"])


def test_the_model_that_is_fetched_is_told_beforehand(copy):
    (model,) = fastembed_weights(FastembedOptions(model=MINILM))
    assert (model.name, model.revision) == (hub_model(MINILM, "main").name, "main")
    assert fastembed_weights(FastembedOptions(folder=str(copy))) == []


def test_a_name_that_the_catalogue_lacks_names_those_near_to_it():
    with pytest.raises(ConfigError, match="no model 'BAAI/bge-smal") as told:
        assert embedder(model="BAAI/bge-smal-en-v1.5").dimensions
    assert "BAAI/bge-small-en-v1.5" in told.value.remedy


def test_a_model_that_reads_less_than_max_tokens_is_refused(copy):
    with pytest.raises(EmbedderError, match="reads 256 tokens, not 512") as told:
        embedder(folder=str(copy), max_tokens=512).embed_query(["volume"])
    assert "max_tokens: 256" in told.value.remedy


def test_prefixes_follow_the_name_of_the_model_and_can_be_given(copy, build):
    ours = build("embedder", "minilm")
    e5 = embedder(folder=str(copy), model="intfloat/e5-small-v2")
    assert e5.embed_query(["volume"]) == pytest.approx(ours.embed_query(["query: volume"]), abs=1e-3)
    assert e5.embed_documents(["volume"]) == pytest.approx(ours.embed_query(["passage: volume"]), abs=1e-3)
    assert e5.count_tokens("volume") == ours.count_tokens("passage: volume")
    bare = embedder(folder=str(copy), model="intfloat/e5-small-v2", query_prefix="", document_prefix="")
    assert bare.embed_query(["volume"]) == pytest.approx(ours.embed_query(["volume"]), abs=1e-3)
    assert bare.identity != e5.identity


def test_pooling_is_that_of_the_folder_or_as_told(copy):
    assert "mean" in embedder(folder=str(copy)).identity
    mean = embedder(folder=str(copy)).embed_query(TEXTS[:1])
    (copy / "1_Pooling").mkdir()
    (copy / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = embedder(folder=str(copy))
    assert "cls" in first.identity
    assert first.embed_query(TEXTS[:1]) != pytest.approx(mean, abs=1e-2)
    assert embedder(folder=str(copy), pooling="mean").embed_query(TEXTS[:1]) == pytest.approx(mean, abs=1e-6)
    (copy / "1_Pooling" / "config.json").write_text("[")
    with pytest.raises(ConfigError, match="1_Pooling"):
        assert embedder(folder=str(copy)).identity


def test_identity_tells_all_apart_that_changes_vectors(copy):
    several = [
        embedder(),
        embedder(model=MINILM),
        embedder(revision="v2"),
        embedder(max_tokens=128),
        embedder(query_prefix="q: "),
        embedder(folder=str(copy)),
        embedder(folder=str(copy), pooling="cls"),
    ]
    assert len({each.identity for each in several}) == len(several)
    assert embedder(batch_size=3, threads=1).identity == embedder().identity


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_an_incomplete_folder_is_a_configuration_error(copy, missing):
    (copy / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        embedder(folder=str(copy))


def test_a_folder_that_fastembed_cannot_load_is_an_embedder_error(copy):
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(EmbedderError, match="cannot be loaded by fastembed"):
        embedder(folder=str(copy)).embed_query(["volume"])


def test_a_config_json_of_another_model_is_refused(copy):
    (copy / "config.json").write_text('{"hidden_size": 768, "pad_token_id": 0}')
    with pytest.raises(EmbedderError, match="gives 384 dimensions, not 768"):
        embedder(folder=str(copy)).embed_query(["volume"])


def test_dimensions_of_a_folder_that_does_not_say_them_are_those_of_the_model(copy):
    (copy / "config.json").write_text('{"pad_token_id": 0}')
    assert embedder(folder=str(copy)).dimensions == 384


def test_without_the_package_the_remedy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(PluginError, match="fastembed is not installed") as told:
        build_fastembed(FastembedOptions(), Services())
    assert "reqall[fastembed]" in told.value.remedy
