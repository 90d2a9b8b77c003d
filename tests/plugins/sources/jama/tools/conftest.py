"""The native tools, called as a server calls them: through their own annotations."""

import inspect
from functools import cache

import pytest
from pydantic import create_model

from reqall.plugins.sources import jama as plugin


@pytest.fixture(name="tools_of", scope="session")
def _tools_of():
    """List the tools of a source; `build` is called when one of them first needs the source."""

    def listed(name, build):
        (registration,) = plugin.register_sources()
        return registration.tools(name, build)

    return listed


@pytest.fixture
def files():
    """Options for a source that is built by hand: without the host, defaults stay as written, `${VAR}` and all."""
    return dict.fromkeys(("ca_bundle", "client_cert", "client_key"), "")


@pytest.fixture(name="tool")
def _tool(source_of, tools_of, files):
    """Call a tool by its name and return its result, with `both` also the tool itself."""
    sources = cache(lambda url: source_of(url, **files))

    def call(url, name, /, *, both=False, **arguments):
        (found,) = [each for each in tools_of("jama", lambda: sources(url)) if each.name == name]
        parameters = inspect.signature(found.call).parameters
        fields = {
            key: (each.annotation, ... if each.default is inspect.Parameter.empty else each.default)
            for key, each in parameters.items()
        }
        assert not arguments.keys() - fields.keys()
        checked = create_model("Arguments", **fields)(**arguments)
        result = found.call(**dict(checked))
        return (result, found) if both else result

    return call


@pytest.fixture(name="chain")
def _chain(tool):
    """Follow a tool's cursor to the end; every page is checked for what it says about itself."""

    def follow(url, name, rows, /, **arguments):
        pages, cursor = [], ""
        while True:
            page = tool(url, name, cursor=cursor, **arguments)
            assert page.returned == len(getattr(page, rows))
            pages.append(page)
            cursor = page.cursor
            if not cursor:
                break
            assert len(pages) < 200
        found = [row for page in pages for row in getattr(page, rows)]
        assert {page.total for page in pages} <= {-1, len(found)}
        assert pages[-1].total == len(found)
        return found, pages

    return follow
