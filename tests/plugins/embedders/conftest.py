"""Models on disk, small or installed, for the embedders that read folders."""

import shutil

import pytest

from reqall import ModelStore
from reqall.plugins.embedders.model_files import packaged_model, packaged_tokenizer
from reqall.testing.model_hub import ModelHub

WORDS = ["the", "a", "of", "volume", "level", "door", "train", "battery", "login", "user", "speaker", "starts"]


@pytest.fixture(scope="session")
def minilm_folder(tmp_path_factory):
    """The packaged model with the files beside it that an export for fastembed has."""
    folder = tmp_path_factory.mktemp("models") / "minilm"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(packaged_model().path)
    shutil.copy(packaged_tokenizer().path, folder / "tokenizer.json")
    (folder / "config.json").write_text('{"hidden_size": 384, "pad_token_id": 0}')
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 256, "pad_token": "[PAD]"}')
    return folder


@pytest.fixture(scope="session")
def tiny_bert_folder(tmp_path_factory):
    """A transformer of two small layers with random weights, as sentence-transformers saves it."""
    pytest.importorskip("sentence_transformers", reason="needs the extra sentence-transformers")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *map(chr, range(33, 127))]
    vocabulary += [f"##{chr(code)}" for code in range(33, 127)]
    words = folder / "words"
    words.mkdir(parents=True)
    (words / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)), encoding="utf-8")
    torch.manual_seed(7)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(dict.fromkeys(vocabulary)), max_position_embeddings=64, **sizes)
    BertModel(config).save_pretrained(words)
    BertTokenizerFast(str(words / "vocab.txt")).save_pretrained(words)
    transformer = Transformer(str(words), max_seq_length=64)
    model = SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu")
    model.save_pretrained(str(folder / "model"))
    return folder / "model"


@pytest.fixture
def hub_of(monkeypatch):
    """Serve folders as a hub."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    started = []

    def serve(**repositories):
        hub = ModelHub({name.replace("__", "/"): folder for name, folder in repositories.items()}).__enter__()
        started.append(hub)
        return hub

    yield serve
    for hub in started:
        hub.__exit__(None, None, None)


@pytest.fixture
def store_of(tmp_path):
    """A store of models that fetches from a hub into one cache."""

    def make(hub, **environment):
        return ModelStore({"HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(tmp_path / "cache"), **environment})

    return make
