"""Models are found, fetched once, taken up where a download broke off, and checked."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from reqall import ConfigError, HubModel, ModelError, ModelStore
from reqall.core.weights import INDEX, missing_files
from reqall.testing.model_hub import COMMIT, ModelHub

TINY = HubModel("acme/tiny")
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
LARGE = 24 * 1024 * 1024


@pytest.fixture
def repository(tmp_path):
    """A model as its authors uploaded it; the weights are no weights, as nobody loads them."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "tiny"}', encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "README.md").write_text("not asked for", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 1000)
    return folder


@pytest.fixture
def hub(repository):
    with ModelHub({"acme/tiny": repository}) as server:
        yield server


@pytest.fixture
def settings(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}


def ended(store, model=TINY):
    """Wait for a download in the background; the error that a search would see, or the folder."""
    for _ in range(2000):
        try:
            return store.folder(model)
        except ModelError as error:
            if "is being fetched" not in error.message:
                return error
        time.sleep(0.01)
    raise AssertionError("the download did not end")


def test_a_model_is_fetched_and_found_without_the_hub(settings, hub, repository):
    store, seen = ModelStore(settings), []
    assert store.find(TINY) is None
    folder = store.pull(TINY, lambda done, total: seen.append((done, total)))
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "model.safetensors"}
    assert (folder / "model.safetensors").read_bytes() == (repository / "model.safetensors").read_bytes()
    total = sum((repository / name).stat().st_size for name in TINY.files)
    assert seen[0] == (0, total)
    assert seen[-1] == (total, total)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    asked = len(hub.requests)
    again = ModelStore(settings | {"HF_HUB_OFFLINE": "1"})
    assert again.find(TINY) == again.folder(TINY) == folder
    assert len(hub.requests) == asked


def test_shards_are_fetched_and_each_must_be_there(settings, repository):
    (repository / "model.safetensors").unlink()
    for name in SHARDS:
        (repository / name).write_bytes(name.encode())
    index = {"weight_map": {f"layer.{number}": name for number, name in enumerate(SHARDS)}}
    (repository / INDEX).write_text(json.dumps(index), encoding="utf-8")
    folder = ModelStore(settings).pull(TINY)
    assert missing_files(folder, TINY) == []
    (folder / SHARDS[1]).unlink()
    assert missing_files(folder, TINY) == [SHARDS[1]]
    assert ModelStore(settings).find(TINY) is None
    (folder / INDEX).unlink()
    assert missing_files(folder, TINY) == ["model.safetensors"]


def test_missing_weights_begin_one_download_and_say_how_far_it_is(settings, hub, repository):
    (repository / "model.safetensors").write_bytes(bytes(LARGE))
    hub.pause_after = LARGE // 2
    store, told = ModelStore(settings), []

    def ask():
        try:
            store.folder(TINY)
        except ModelError as error:
            told.append(error.message)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 6
    assert all("acme/tiny is being fetched from 127.0.0.1" in message for message in told)
    assert hub.paused.wait(20)
    ask()
    assert "of 25.2 MB" in told[-1]
    hub.go_on.set()
    assert (ended(store) / "config.json").is_file()
    fetched = [request.path for request in hub.requests if request.method == "GET"]
    assert len([path for path in fetched if path.endswith("model.safetensors")]) == 1


def test_a_download_that_was_killed_is_taken_up_where_it_was(settings, hub, repository):
    content = os.urandom(LARGE)
    (repository / "model.safetensors").write_bytes(content)
    hub.pause_after = LARGE - 2 * 1024 * 1024
    script = "from reqall import HubModel, ModelStore; ModelStore().pull(HubModel('acme/tiny'))"
    child = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, **settings})
    assert hub.paused.wait(60)
    parts = lambda: list((hub_cache(settings) / "blobs").glob("*.incomplete"))  # noqa: E731 - asked twice
    for _ in range(1000):
        if parts() and parts()[0].stat().st_size > 0:
            break
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    child.wait()
    had = parts()[0].stat().st_size
    assert 0 < had < LARGE
    hub.go_on.set()
    folder = ModelStore(settings).pull(TINY)
    assert (folder / "model.safetensors").read_bytes() == content
    ranges = [request.headers["range"] for request in hub.requests if "range" in request.headers]
    assert ranges == [f"bytes={had}-"]
    assert parts() == []


def hub_cache(settings):
    return ModelStore(settings).hub.cache / "models--acme--tiny"


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_with_another_checksum_is_refused_and_removed(settings, hub, name):
    hub.spoilt.add(name)
    with pytest.raises(ModelError, match=f"{name} of acme/tiny did not arrive as it is listed"):
        ModelStore(settings).pull(TINY)
    assert ModelStore(settings).find(TINY) is None
    hub.spoilt.clear()
    assert ModelStore(settings).pull(TINY).is_dir()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_that_changed_on_disk_is_found_and_fetched_again(settings, repository, name):
    store = ModelStore(settings)
    folder = store.pull(TINY)
    assert [file.problem for file in store.verify(TINY)] == ["", "", ""]
    before = store.fingerprint(TINY)
    content = (folder / name).read_bytes()
    (folder / name).resolve().write_bytes(content[:-1] + b"\1")
    assert [file.name for file in store.verify(TINY) if file.problem] == [name]
    assert store.fingerprint(TINY) != before
    assert (store.pull(TINY) / name).read_bytes() == content
    assert [file.problem for file in store.verify(TINY)] == ["", "", ""]


def test_what_is_not_there_has_no_fingerprint_and_nothing_to_verify(settings, repository):
    store = ModelStore(settings)
    assert store.fingerprint(TINY) == ""
    with pytest.raises(ModelError, match="not on this machine"):
        store.verify(TINY)
    with pytest.raises(ModelError, match="no checksums"):
        store.verify(HubModel(str(repository)))


def test_offline_nothing_is_asked(settings, hub):
    store = ModelStore(settings | {"HF_HUB_OFFLINE": "1"})
    for attempt in (store.folder, store.pull):
        with pytest.raises(ModelError, match="HF_HUB_OFFLINE forbids"):
            attempt(TINY)
    assert hub.requests == []


def test_a_failed_download_is_told_and_not_tried_again_at_once(settings, hub):
    store = ModelStore(settings)
    other = HubModel("acme/other")
    assert "answered 404" in ended(store, other).message
    asked = len(hub.requests)
    with pytest.raises(ModelError, match="answered 404"):
        store.folder(other)
    assert len(hub.requests) == asked


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (HubModel("acme/none"), "answered 404"),
        (HubModel("acme/tiny", revision="v9"), "answered 404"),
        (HubModel("acme/tiny", files=("config.json", "onnx/model.onnx")), r"has no onnx/model\.onnx"),
    ],
)
def test_what_the_hub_does_not_have_is_an_error_in_words(settings, model, told):
    with pytest.raises(ModelError, match=told) as failed:
        ModelStore(settings).pull(model)
    assert failed.value.remedy


def test_a_token_is_sent_and_never_told(settings, hub):
    hub.token = "hf_secret_token"
    with pytest.raises(ModelError, match="answered 401") as failed:
        ModelStore(settings | {"HF_TOKEN": "hf_wrong_token"}).pull(TINY)
    assert "hf_wrong" not in str(failed.value)
    assert "HF_TOKEN" in failed.value.remedy
    assert ModelStore(settings | {"HF_TOKEN": "hf_secret_token"}).pull(TINY).name == COMMIT


def test_a_hub_that_cannot_be_reached_is_an_error_in_words(settings):
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9 could not be asked") as failed:
        ModelStore(settings | {"HF_ENDPOINT": "http://127.0.0.1:9"}).pull(TINY)
    assert "HF_ENDPOINT" in failed.value.remedy


def test_a_folder_is_taken_as_it_is(repository, tmp_path):
    store, model = ModelStore({}), HubModel(str(repository))
    assert store.find(model) == store.folder(model) == store.pull(model) == repository
    (repository / "config.json").unlink()
    for attempt in (store.folder, store.pull):
        with pytest.raises(ConfigError, match=r"lacks config\.json"):
            attempt(model)


@pytest.mark.parametrize("name", ["tiny", "a/b/c", "", "https://huggingface.co/acme/tiny"])
def test_a_name_that_is_neither_model_nor_folder_is_a_mistake(name):
    with pytest.raises(ConfigError, match="neither a model of a hub nor a folder"):
        ModelStore({}).find(HubModel(name))


def test_what_is_shared_is_made_once():
    store, made = ModelStore({}), []

    def make():
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    found = []
    threads = [threading.Thread(target=lambda: found.append(store.shared("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert found == made * 8
    assert store.shared("other", make) is not made[0]


def test_what_could_not_be_made_is_tried_again():
    store = ModelStore({})
    with pytest.raises(ZeroDivisionError):
        store.shared("key", lambda: 1 // 0)
    assert store.shared("key", lambda: 5) == 5
