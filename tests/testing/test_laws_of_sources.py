"""Each law of sources is broken once by one that is wrong in that way alone."""

import itertools
from dataclasses import replace
from datetime import datetime

import pytest

from reqall import ItemType, Link, Page, Project
from reqall.testing.contracts import (
    CountContract,
    DeletionsContract,
    LinkChangesContract,
    PresenceContract,
    SourceContract,
    ValidationContract,
    WaitingContract,
)
from reqall.testing.fakes import ListSource


class Able(ListSource):
    """A source in memory with every ability."""

    def __init__(self):
        super().__init__()
        self.gone = []
        self.relinked = []
        self.on_wait = None

    def remove(self, native):
        self.gone.append((self.tick().isoformat(), f"{self.name}:{native}"))
        return super().remove(native)

    def link(self, from_native, to_native, type_name="verifies"):
        self.relinked += [(self.tick().isoformat(), f"{self.name}:{native}") for native in (from_native, to_native)]
        super().link(from_native, to_native, type_name)

    def count(self, project):
        return len(self._of(project))

    def deleted(self, project, since):
        yield Page([key for time, key in self.gone if since is None or time >= since])

    def present(self, project, document_ids):
        return Page([key for key in document_ids if key in self.held])

    def validate(self, *, live):
        return []

    def changed_links(self, project, since, changed, shown):
        keys = dict.fromkeys([*changed, *(key for time, key in self.relinked if time >= since)])
        return Page([(key, [link for link in self.linked if key in (link.from_id, link.to_id)]) for key in keys])


def filled(source):
    for number in range(1, 8):
        parent = "list:1" if number > 1 else None
        source.put(str(number), f"Text {number}.", parent_id=parent, fields={"owner": "ada"})
    source.link("1", "2")
    source.link("3", "1", "derives")
    return source


def documented(**changes):
    """A source whose document 3 is another."""

    class Documented(Able):
        def documents(self, project, since):
            for page in super().documents(project, since):
                yield replace(page, items=[replace(d, **changes) if d.id == "list:3" else d for d in page.items])

    return Documented


def paged(change):
    """A source whose pages of documents are others; `change(self, page)`."""

    class Paged(Able):
        def documents(self, project, since):
            for page in super().documents(project, since):
                yield change(self, page)

    return Paged


def linked(*extra):
    class Linked(Able):
        def links(self, project):
            yield from super().links(project)
            yield Page(list(extra))

    return Linked


def listing(*projects):
    class Listing(Able):
        def projects(self):
            return list(projects)

    return Listing


class Repeating(Able):
    def documents(self, project, since):
        yield from super().documents(project, since)
        yield from super().documents(project, since)


TURN = itertools.count()


def renamed(_source, page):
    return replace(page, items=[replace(document, name=f"Name {next(TURN)}") for document in page.items])


class LosingIds(Able):
    def document_ids(self, project):
        yield from itertools.islice(super().document_ids(project), 1)


class Deaf(Able):
    """Gives nothing after the first walk."""

    def documents(self, project, since):
        yield from super().documents(project, since) if since is None else [Page([], since)]


class Backwards(Able):
    """Takes an old watermark for that of a walk without changes."""

    def documents(self, project, since):
        for page in super().documents(project, since):
            yield page if since is None else replace(page, watermark="2024-01-01T00:00:01+00:00")


class Altered(Able):
    """Tells other documents since a watermark than in a whole walk."""

    def documents(self, project, since):
        for page in super().documents(project, since):
            yield page if since is None else replace(page, items=[replace(d, key="K") for d in page.items])


class Flickering(Able):
    def links(self, project):
        yield from super().links(project) if next(TURN) % 2 else ()


class Undescribed(Able):
    def describe(self, project):
        return [ItemType("t1", "Requirement")]


class Marked(Able):
    def documents(self, project, since):
        for page in super().documents(project, since):
            yield replace(page, items=[replace(d, sections={"description": f"<p>{d.name}</p>"}) for d in page.items])


NAIVE = datetime(2024, 1, 1)  # noqa: DTZ001 - that is the mistake
SOURCES = {
    "test_projects_have_ids_of_the_source": (listing(Project("1", "list", "P", "P")), "lacks 'list:'"),
    "test_documents_have_ids_of_the_source": (Repeating, "come twice in one walk"),
    "test_two_walks_give_the_same": (paged(renamed), "two walks gave other documents"),
    "test_the_ids_are_those_of_the_documents": (LosingIds, "documents only: .'list:4'"),
    "test_a_total_is_what_the_walk_holds": (paged(lambda _s, page: replace(page, total=99)), r"a total of \[99\]"),
    "test_a_walk_from_the_watermark_gives_what_is_known": (Altered, "these are new or other"),
    "test_watermarks_never_go_back": (Backwards, "leads further back"),
    "test_what_is_edited_comes_with_the_next_walk": (Deaf, "the walk from its watermark lacks it"),
    "test_links_name_documents": (linked(Link("list:1", "list:1", "is")), "linked with itself"),
    "test_two_walks_of_the_links_give_the_same": (Flickering, "two walks gave other links"),
    "test_parents_are_documents_of_the_project": (documented(parent_id="list:99"), "no document of the project"),
    "test_the_path_is_left_empty": (documented(path=("Root",)), "a path of their own"),
    "test_types_and_fields_are_described": (Undescribed, "lacks fields of list:1"),
    "test_times_are_in_utc": (documented(created=NAIVE), "created of list:3 is not aware"),
    "test_every_document_has_a_name_or_a_key": (documented(name=" ", key=""), "neither name nor key"),
    "test_texts_are_clean": (documented(name="Bell\x07"), "name of list:3 holds control characters"),
    "test_texts_are_not_markup": (Marked, "7 of 7 sections hold HTML tags"),
    "test_fields_are_values_of_json": (documented(fields={"owner": {1}}), "not values of JSON"),
    "test_its_abilities_are_tried": (Able, "inherit .'CountContract', 'DeletionsContract'"),
    "test_addresses_are_whole": (documented(url="/items/3"), "url of list:3 is none"),
}
MORE = [
    ("test_projects_have_ids_of_the_source", listing(), "lists no project"),
    ("test_projects_have_ids_of_the_source", listing(*[Project("list:1", "list", "P", "P")] * 2), "share an id"),
    ("test_projects_have_ids_of_the_source", listing(Project("list:", "list", "P", "P")), "no native id"),
    ("test_projects_have_ids_of_the_source", listing(Project("list:1", "list", "", "")), "neither key nor name"),
    ("test_documents_have_ids_of_the_source", documented(id="3"), "lacks 'list:'"),
    ("test_documents_have_ids_of_the_source", documented(source="other"), "says source 'other'"),
    ("test_documents_have_ids_of_the_source", documented(project_id="list:2"), "says project 'list:2'"),
    ("test_documents_have_ids_of_the_source", paged(lambda _s, page: page.items), "yields Pages, not list"),
    ("test_documents_have_ids_of_the_source", paged(lambda _s, _page: Page([])), "has no documents"),
    ("test_links_name_documents", linked(Link("1", "list:2", "is")), "names '1'"),
    ("test_links_name_documents", linked(Link("list:98", "list:99", "is")), "no end in the project"),
    ("test_links_name_documents", linked(Link("list:1", "list:2", " ")), "has no type"),
    ("test_parents_are_documents_of_the_project", documented(parent_id="list:3"), "its own ancestor"),
    ("test_types_and_fields_are_described", documented(type_id="t9"), "lacks the type 't9'"),
    ("test_types_and_fields_are_described", documented(type_name="Story"), "calls its type 'Requirement'"),
    ("test_texts_are_clean", documented(sections={"a": "b\r\nc"}), "section 'a' of list:3"),
    ("test_texts_are_clean", documented(fields={"owner": "\ud800"}), "field 'owner' of list:3"),
]


@pytest.mark.parametrize(
    ("law", "broken", "words"),
    [*((law, *rest) for law, rest in SOURCES.items()), *MORE],
    ids=lambda value: str(value)[:50],
)
def test_the_contract_of_sources_notices(notices, law, broken, words):
    source = filled(broken())
    alone = ("test_projects_have_ids_of_the_source", "test_its_abilities_are_tried")
    given = {} if law in alone else {"project": source.project}
    if "edited" in law:
        given["edit_document"] = lambda: source.put("3", "Edited.").id
    notices(SourceContract, law, words, source=source, **given)


class Miscounting(Able):
    def count(self, project):
        return 1


class Unnamed(Able):
    def deleted(self, project, since):
        yield Page(["3"])


class Hiding(Able):
    def deleted(self, project, since):
        yield Page([])


class Optimistic(Able):
    def present(self, project, document_ids):
        return Page(document_ids)


class Stale(Able):
    """Does not notice what was deleted."""

    def present(self, project, document_ids):
        return Page([key for key in document_ids if int(key.partition(":")[2]) < 8])


class Unhappy(Able):
    def validate(self, *, live):
        return ["url is not set"] if live else []


class Unheard(Able):
    @property
    def on_wait(self):
        return None

    @on_wait.setter
    def on_wait(self, told):
        """Forget who wants to be told."""


class Partial(Able):
    """Leaves out documents that have no links, and links that come from elsewhere."""

    def changed_links(self, project, since, changed, shown):
        page = super().changed_links(project, since, changed, shown)
        return Page([(key, links) for key, links in page.items if links])


class Unaware(Able):
    def changed_links(self, project, since, changed, shown):
        return super().changed_links(project, "9999", changed, shown)


ABILITIES = {
    CountContract: {"test_the_count_is_that_of_the_walk": (Miscounting, "the walk holds 7")},
    DeletionsContract: {
        "test_deletions_are_ids_of_the_source": (Unnamed, "ids without 'list:'"),
        "test_what_is_deleted_is_told": (Hiding, "deleted.. lacks it"),
    },
    PresenceContract: {
        "test_it_returns_those_that_exist": (Optimistic, "these exist"),
        "test_what_is_deleted_is_absent": (Stale, "was deleted, and present.. returns it"),
    },
    ValidationContract: {"test_right_settings_have_no_problem": (Unhappy, "url is not set")},
    WaitingContract: {"test_who_is_told_can_be_set": (Unheard, "does not keep whom")},
    LinkChangesContract: {
        "test_changed_documents_come_with_all_their_links": (Partial, "also where they have none"),
        "test_a_changed_link_is_told": (Unaware, "changed_links.. lacks it"),
    },
}
EXTRAS = {
    "test_what_is_deleted_is_told": lambda source: {"delete_document": lambda: source.remove("5")},
    "test_what_is_deleted_is_absent": lambda source: {"delete_document": lambda: source.remove("5")},
    "test_it_returns_those_that_exist": lambda _source: {"absent_id": "list:99"},
    "test_right_settings_have_no_problem": lambda _source: {"live": True},
    "test_a_changed_link_is_told": lambda source: {"edit_links": lambda: source.link("4", "5") or "list:4"},
}


@pytest.mark.parametrize(
    ("contract", "law"), [(contract, law) for contract, laws in ABILITIES.items() for law in laws], ids=str
)
def test_the_contracts_of_abilities_notice(notices, contract, law):
    broken, words = ABILITIES[contract][law]
    source = filled(broken())
    given = {} if contract is ValidationContract else {"project": source.project}
    notices(contract, law, words, source=source, **given, **EXTRAS.get(law, lambda _source: {})(source))


def test_no_law_of_sources_is_untried(laws_of):
    assert laws_of(SourceContract) == set(SOURCES)
    for contract, laws in ABILITIES.items():
        assert laws_of(contract) == set(laws)


class TestAbleSource(
    SourceContract,
    CountContract,
    DeletionsContract,
    LinkChangesContract,
    PresenceContract,
    ValidationContract,
    WaitingContract,
):
    """What is made wrong above is right without it."""

    @pytest.fixture
    def source(self):
        return filled(Able())

    @pytest.fixture
    def edit_document(self, source):
        return lambda: source.put("3", "Edited.").id

    @pytest.fixture
    def delete_document(self, source):
        return lambda: source.remove("5")

    @pytest.fixture
    def edit_links(self, source):
        return lambda: source.link("4", "5") or "list:4"
