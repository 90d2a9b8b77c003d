"""An item by its key or id, and what is said when there is none."""

import pytest

from reqall.core.errors import InputError, NotFoundError
from reqall.core.lookup import find_item
from reqall.core.types import Project

HERE, THERE = Project("s:p", "s", "P", "Here"), Project("s:q", "s", "Q", "There")


@pytest.fixture
def find(bench, document):
    bench.commit(document(1), document(2), document(3, project_id="s:q"), document(4, key="twin"))
    bench.commit(document(5, key="TWIN", name="other"), deleted=["s:2"])
    return lambda text, *projects, note="": find_item(bench.catalog, bench.log, text, projects or (HERE,), note)


@pytest.mark.parametrize("text", ["P-1", " p-1 ", "1", "s:1"])
def test_an_item_goes_by_key_and_id(find, text):
    assert find(text).id == "s:1"


def test_an_item_of_any_of_the_projects_is_found(find):
    assert find("3", HERE, THERE).id == "s:3"


def test_why_an_item_is_not_found(find):
    with pytest.raises(NotFoundError, match=r"no item 'P-9' in project P\n.*sync"):
        find("P-9")
    with pytest.raises(NotFoundError, match="deleted in its source"):
        find("2")
    with pytest.raises(NotFoundError, match=r"'P-3' is not in project P\n.*s:q"):
        find("P-3")
    with pytest.raises(NotFoundError, match=r"no item '9' in project P \(still being indexed\)"):
        find("9", note="still being indexed")
    with pytest.raises(InputError, match=r"'Twin' names 2 items\n.*4 name4, 5 other"):
        find("Twin")
    with pytest.raises(InputError, match="no item is named"):
        find(" ")
