"""Built-in components, built as the host does."""

import pytest

from reqall import Services
from reqall.app import BUILT_INS
from reqall.core.host import PluginHost


@pytest.fixture(scope="session")
def built_ins():
    """A host with the built-in plugins alone."""
    return PluginHost(BUILT_INS, installed=False)


@pytest.fixture(scope="session")
def build(built_ins):
    """Build a built-in component by kind and name; `services` and options as they are given."""

    def make(kind, name, services=None, **options):
        registration = built_ins.find(kind, name)
        return registration.build(registration.options(**options), services or Services(name))

    return make
