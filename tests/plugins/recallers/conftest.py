"""The built-in recallers, each in a catalog file of its own, with a small, deterministic embedder."""

import itertools

import pytest

from reqall.testing.contracts import Shelf


@pytest.fixture
def recaller_of(build):
    """Return what builds a recaller by its name from `Services`."""

    def maker(name, **options):
        needed = {"embedder": "e"} if name == "sqlite_vec" else {}
        return lambda services: build("recaller", name, services, **needed, **options)

    return maker


@pytest.fixture
def make_shelf(tmp_path, recaller_of):
    """Build shelves; each call has a file of its own."""
    made, numbers = [], itertools.count()

    def make(name, embedder=None, **options):
        folder = tmp_path / f"shelf{next(numbers)}"
        folder.mkdir()
        made.append(Shelf(recaller_of(name, **options), folder, embedder))
        return made[-1]

    yield make
    for shelf in made:
        shelf.close()
