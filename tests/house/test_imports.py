"""Importing reqall stays light: heavy libraries come at first use.

Each check runs in an interpreter of its own, as this one has long loaded most of them.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODELS = {"torch", "transformers", "llama_index", "openai", "onnxruntime", "tokenizers", "numpy", "apscheduler", "bs4"}
HEAVY = MODELS | {"mcp", "requests"}

PROBE = """
import importlib, json, pkgutil, sys
package, deep = sys.argv[1], sys.argv[2] == "deep"
module = importlib.import_module(package)
names = [package]
if deep:
    def fail(name):
        raise
    names += [found.name for found in pkgutil.walk_packages(module.__path__, package + ".", onerror=fail)]
    for name in names:
        importlib.import_module(name)
print(json.dumps([names, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def load(package, depth="shallow"):
    """Import a package, `deep`: with all that is below; return the modules asked for and all packages loaded."""
    command = [sys.executable, "-c", PROBE, package, depth]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    names, loaded = json.loads(done.stdout)
    return names, set(loaded)


@pytest.mark.parametrize(
    "module", ["reqall", "reqall.core.metrics", "reqall.core.collection", "reqall.plugins.sources.jsonl"]
)
def test_a_module_loads_nothing_heavy(module):
    _, loaded = load(module)
    assert "reqall" in loaded
    assert not loaded & HEAVY


def test_the_whole_core_loads_nothing_heavy():
    names, loaded = load("reqall.core", "deep")
    assert "reqall.core.metrics" in names
    assert not loaded & HEAVY


def test_the_built_in_plugins_load_no_model_library():
    # The Jama source may import its HTTP client at once: it is small, and every call needs it.
    names, loaded = load("reqall.plugins", "deep")
    assert "reqall.plugins.sources.jsonl" in names
    assert not loaded & (HEAVY - {"requests"})


@pytest.mark.parametrize("library", ["numpy", "requests", "bs4"])
def test_the_probe_notices_a_library_that_is_loaded(library):
    assert library in load(library)[1] & HEAVY
