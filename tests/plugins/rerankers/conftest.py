"""Small models, built here and saved as a hub would: random weights, real architectures and tokenizers."""

import json

import pytest

SENTENCES = [
    "yes no yes no",
    "the system shall measure the pressure of the pump",
    "how is the pressure of the pump measured",
    "the user is logged out after ten minutes",
]
WORDS = sorted({word for line in SENTENCES for word in line.split()} | {"sensor", "invoices", "customer"})


def needs_torch():
    """Skip where the extra is not installed; CI installs it with `make models`."""
    pytest.importorskip("torch", reason="PyTorch is not installed: `make models` does that")
    pytest.importorskip("transformers", reason="transformers is not installed: `make models` does that")


def byte_level_tokenizer(folder, specials=("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")):
    """Save a byte-level BPE in which `yes` and `no` are a token each; return its number of tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=list(specials), show_progress=False
    )
    tokenizer.train_from_iterator([*("yes", "no") * 20, *SENTENCES], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return tokenizer.get_vocab_size()


def save_qwen3(folder, seed=2):
    """Save a Qwen3 of two layers with random weights and its tokenizer."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=byte_level_tokenizer(folder),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)


def pair_tokenizer(folder):
    """Save a tokenizer of whole words that marks the two texts of a pair, as BERT's does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return len(vocabulary)


def save_word_matcher(folder, labels=1, name="onnx/model.onnx"):
    """Save an ONNX model whose logit is the number of words that query and passage share, less three.

    With more labels the others are zero, before it.
    """
    pytest.importorskip("onnx", reason="onnx is not installed: the extra `test` has it")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    pair_tokenizer(folder)
    config = {"model_type": "bert", "pad_token_id": 0, "max_position_embeddings": 64}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def constant(label, values, kind):
        return numpy_helper.from_array(np.array(values, dtype=kind), label)

    nodes = [
        helper.make_node("Greater", ["input_ids", "three"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["word"], to=TensorProto.INT64),
        helper.make_node("Mul", ["word", "attention_mask"], ["read"]),
        helper.make_node("Mul", ["read", "token_type_ids"], ["passage"]),
        helper.make_node("Sub", ["read", "passage"], ["query"]),
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["is_same"]),
        helper.make_node("Cast", ["is_same"], ["same"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["query", "last"], ["query_down"]),
        helper.make_node("Unsqueeze", ["passage", "middle"], ["passage_across"]),
        helper.make_node("Mul", ["same", "query_down"], ["of_query"]),
        helper.make_node("Mul", ["of_query", "passage_across"], ["of_both"]),
        helper.make_node("ReduceSum", ["of_both", "both"], ["count"], keepdims=0),
        helper.make_node("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["number", "middle"], ["column"]),
        helper.make_node("MatMul", ["column", "spread"], ["spread_out"]),
        helper.make_node("Add", ["spread_out", "less"], ["logits"]),
    ]
    weights = [
        constant("three", 3, np.int64),
        constant("last", [2], np.int64),
        constant("middle", [1], np.int64),
        constant("both", [1, 2], np.int64),
        constant("spread", [[0.0] * (labels - 1) + [1.0]], np.float32),
        constant("less", [0.0] * (labels - 1) + [-3.0], np.float32),
    ]
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"])
        for each in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])
    graph = helper.make_graph(nodes, "word_matcher", inputs, [output], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / name).parent.mkdir(exist_ok=True)
    save(model, str(folder / name))


@pytest.fixture(scope="session")
def qwen3_folder(tmp_path_factory):
    """A folder with a small Qwen3 that nobody trained."""
    needs_torch()
    folder = tmp_path_factory.mktemp("qwen3")
    save_qwen3(folder)
    return folder


@pytest.fixture(scope="session")
def matcher_folder(tmp_path_factory):
    """A folder with a cross-encoder in ONNX that counts shared words."""
    folder = tmp_path_factory.mktemp("matcher")
    save_word_matcher(folder)
    return folder


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory):
    """A folder with a small BERT for sequence classification that nobody trained."""
    needs_torch()
    import torch
    from transformers import BertConfig, BertForSequenceClassification
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=pair_tokenizer(folder),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=1,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def save_matcher():
    """Save such a cross-encoder with other labels, or under another name."""
    return save_word_matcher
