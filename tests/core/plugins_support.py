"""Plugins for tests of the seam: a built-in module of tiny components, and distributions installed into a folder.

A test module that needs these fixtures says `pytest_plugins = ["tests.core.plugins_support"]`.
"""

import importlib
import sys
from pathlib import Path

import pytest

from reqall.core.environment import Environment
from reqall.core.host import PluginHost

TINY = "tiny_parts"
DISTRIBUTIONS = Path(__file__).with_name("distributions")


@pytest.fixture(scope="session")
def tiny():
    """A host whose only plugin is `distributions/tiny_parts.py`, loaded as a built-in."""
    sys.path.insert(0, str(DISTRIBUTIONS))
    try:
        yield PluginHost([TINY], installed=False)
    finally:
        sys.path.remove(str(DISTRIBUTIONS))
        sys.modules.pop(TINY, None)


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """An environment in which nothing is set."""
    return Environment({}, tmp_path_factory.mktemp("bare") / ".env")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on sys.path, as site-packages is."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def install(site):
    """Install a distribution of one module, as an installer leaves it behind: module and .dist-info."""
    modules = []

    def install(name, source, *, version="1.0", folder=site, target=None):
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
        record = folder / f"{name}-{version}.dist-info"
        record.mkdir()
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (record / "entry_points.txt").write_text(f"[reqall]\n{name} = {target or name}\n")
        importlib.invalidate_caches()
        modules.append(name)

    yield install
    for name in modules:
        sys.modules.pop(name, None)
