"""cross_encoder gives a model's own scores, by ONNX Runtime and by transformers."""

import math
import shutil
import sys

import pytest

from reqall import ConfigError, ModelStore, Passage, PluginError, RerankerError, Services
from reqall.plugins.rerankers.cross_encoder import CrossEncoderOptions, build_cross_encoder

QUERY = "how is the pressure of the pump measured"
TEXTS = [
    "the user is logged out",
    "the pressure of the pump",
    "",
    "no",
    "the system shall measure the pressure of the pump " * 12,
    "invoices",
]


def build(folder, models=None, **options):
    settings = {"model": str(folder), "threads": 1, **options}
    return build_cross_encoder(CrossEncoderOptions(**settings), Services(models=models or ModelStore({})))


def passages(texts):
    return [Passage(f"s:{number}", text) for number, text in enumerate(texts)]


def shared(text, tokens=64):
    """What the word matcher answers: the pairs of equal words, less three, as a probability."""
    query, passage = QUERY.split(), text.split()
    while len(query) + len(passage) + 3 > tokens:
        (passage if len(passage) >= len(query) else query).pop()
    logit = sum(word == other for word in query for other in passage) - 3
    return 1 / (1 + math.exp(-logit))


def test_scores_are_those_of_the_exported_model(matcher_folder):
    reranker = build(matcher_folder)
    assert reranker.score(QUERY, passages(TEXTS)) == pytest.approx([shared(text) for text in TEXTS], abs=1e-6)
    assert reranker.score(QUERY, []) == []


@pytest.mark.parametrize("batch_tokens", [16, 40, 8192])
def test_batches_change_no_score(matcher_folder, batch_tokens):
    found = build(matcher_folder, batch_tokens=batch_tokens).score(QUERY, passages(TEXTS))
    assert found == pytest.approx([shared(text) for text in TEXTS], abs=1e-6)


def test_long_passages_are_cut_and_the_query_stays(matcher_folder):
    found = build(matcher_folder, max_tokens=24, self_check=False).score(QUERY, passages(TEXTS))
    assert found == pytest.approx([shared(text, 24) for text in TEXTS], abs=1e-6)


def test_equal_scores_keep_the_fused_order(matcher_folder):
    given_order = [Passage("s:9", "no"), Passage("s:1", "yes"), Passage("s:5", "pump pressure"), Passage("s:0", "no")]
    ranked = build(matcher_folder).rerank(QUERY, given_order)
    assert [each.document_id for each in ranked] == ["s:5", "s:9", "s:1", "s:0"]


def test_of_two_labels_the_second_says_yes(save_matcher, tmp_path):
    save_matcher(tmp_path, labels=2, name="model.onnx")
    found = build(tmp_path, onnx_file="model.onnx").score(QUERY, passages(TEXTS))
    assert found == pytest.approx([shared(text) for text in TEXTS], abs=1e-6)


def test_more_labels_are_no_reranker(save_matcher, tmp_path):
    save_matcher(tmp_path, labels=3)
    with pytest.raises(RerankerError, match="3 labels"):
        build(tmp_path).rerank(QUERY, passages(TEXTS))


@pytest.fixture
def copied(matcher_folder, tmp_path):
    return shutil.copytree(matcher_folder, tmp_path / "copy")


def test_a_model_that_is_wrong_about_the_known_pairs_is_refused(copied):
    # With all words unknown to the tokenizer, every passage has nothing in common with the query.
    text = (copied / "tokenizer.json").read_text(encoding="utf-8")
    for word in ("the", "pump", "pressure", "measured", "of", "is"):
        text = text.replace(f'"{word}":', f'"{word}-":')
    (copied / "tokenizer.json").write_text(text, encoding="utf-8")
    reranker = build(copied)
    for _ in range(2):
        with pytest.raises(RerankerError, match="failed its self-check"):
            reranker.rerank(QUERY, passages(TEXTS))
    assert len(build(copied, self_check=False).rerank(QUERY, passages(TEXTS))) == len(TEXTS)


@pytest.mark.parametrize("name", ["tokenizer.json", "onnx/model.onnx"])
def test_a_file_that_is_not_whole_is_an_error_in_words(copied, name):
    (copied / name).write_bytes(b"not whole")
    with pytest.raises(RerankerError, match="cannot be"):
        build(copied).rerank(QUERY, passages(TEXTS))


def test_a_folder_without_an_export_says_so(copied):
    (copied / "onnx" / "model.onnx").unlink()
    with pytest.raises(ConfigError, match=r"lacks onnx/model\.onnx"):
        build(copied).rerank(QUERY, passages(TEXTS))


def test_a_name_that_is_neither_model_nor_folder_is_refused_when_built():
    with pytest.raises(ConfigError, match="neither a model of a hub nor a folder"):
        build("minilm")


@pytest.mark.parametrize(("runtime", "missing"), [("onnx", "onnxruntime"), ("transformers", "torch")])
def test_without_its_library_it_says_what_to_install(monkeypatch, runtime, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(PluginError, match=rf"{missing} is not installed(.|\n)*pip install"):
        build("/nowhere", runtime=runtime)


def test_transformers_gives_the_scores_of_the_weights(bert_folder):
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForSequenceClassification

    tokenizer = Tokenizer.from_file(str(bert_folder / "tokenizer.json"))
    tokenizer.enable_truncation(64, strategy="longest_first")
    model = AutoModelForSequenceClassification.from_pretrained(bert_folder).eval()
    expected = []
    for text in TEXTS:
        pair = tokenizer.encode(QUERY, text)
        with torch.no_grad():
            logits = model(torch.tensor([pair.ids]), token_type_ids=torch.tensor([pair.type_ids])).logits
        expected.append(torch.sigmoid(logits)[0, 0].item())
    options = {"runtime": "transformers", "self_check": False, "device": "cpu", "dtype": "float32"}
    for batch_tokens in (16, 8192):
        found = build(bert_folder, batch_tokens=batch_tokens, **options).score(QUERY, passages(TEXTS))
        assert found == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.05


def test_identity_tells_models_and_runtimes_apart(matcher_folder, copied):
    first = build(matcher_folder).identity
    assert first == build(matcher_folder, batch_size=3, revision="main").identity
    assert build(matcher_folder, batch_size=3).batch_size == 3
    (copied / "config.json").write_text('{"pad_token_id": 0}', encoding="utf-8")
    assert len({first, build(copied).identity, build(matcher_folder, max_tokens=32).identity, ""}) == 4
    assert build("/nowhere").identity == ""
