"""Clients written by others, against real Jamas, read the simulator without a change: every call."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import py_jama_client.apis
import pytest
from py_jama_client.client import JamaClient as CommunityClient
from py_jama_client.exceptions import APIException as CommunityError
from py_jama_rest_client.client import APIException as VendorError
from py_jama_rest_client.client import JamaClient as VendorClient

from reqall.testing.jama_simulator import JamaSimulator, tiny_project

# Ids of the tiny project. A call that returns nothing proves nothing, so all of these find something.
VENDOR_CALLS: dict[str, tuple[Any, ...]] = {
    "get_abstract_item": (106,),
    "get_abstract_item_versions": (301,),
    "get_abstract_items": ([2],),
    "get_abstract_items_from_doc_key": (["TNY-REQ-1", "OTH-REQ-2"],),
    "get_abstract_versioned_item": (301, 1),
    "get_abtract_item_version": (301, 1),
    "get_allowed_results_per_page": (),
    "get_attachment": (107,),
    "get_available_endpoints": (),
    "get_baseline": (7,),
    "get_baselines": (2,),
    "get_baselines_versioneditems": (7,),
    "get_current_user": (),
    "get_filter_results": (10, 2),
    "get_item": (1001,),
    "get_item_children": (100,),
    "get_item_lock": (103,),
    "get_item_tags": (1001,),
    "get_item_type": (24,),
    "get_item_types": (),
    "get_item_version": (301, 2),
    "get_item_versions": (301,),
    "get_item_workflow_transitions": (1001,),
    "get_items": (2,),
    "get_items_downstream_related": (1001,),
    "get_items_downstream_relationships": (1001,),
    "get_items_synceditems": (1001,),
    "get_items_synceditems_status": (1001, 301),
    "get_items_upstream_related": (103,),
    "get_items_upstream_relationships": (103,),
    "get_pick_list": (61,),
    "get_pick_list_option": (293,),
    "get_pick_list_options": (61,),
    "get_pick_lists": (),
    "get_projects": (),
    "get_relationship": (1,),
    "get_relationship_rule_set": (3,),
    "get_relationship_rule_set_projects": (3,),
    "get_relationship_rule_sets": (),
    "get_relationship_type": (4,),
    "get_relationship_types": (),
    "get_tagged_items": (9,),
    "get_tags": (2,),
    "get_test_cycle": (105,),
    "get_testruns": (105,),
    "get_user": (15,),
    "get_users": (),
    "get_versioned_item": (301, 1),
}
VENDOR_CANNOT: dict[str, tuple[tuple[Any, ...], str]] = {
    # It has never heard of lastId; only a Jama of before 2024 (a switch) answers it.
    "get_relationships": ((2,), "lastId parameter is now required"),
}
COMMUNITY_CALLS: dict[str, tuple[Any, ...]] = {
    "AbstractItemsAPI.get_abstract_item": (106,),
    "AbstractItemsAPI.get_abstract_item_version": (301, 1),
    "AbstractItemsAPI.get_abstract_item_versions": (301,),
    "AbstractItemsAPI.get_abstract_items": (),
    "AbstractItemsAPI.get_abstract_versioned_item": (301, 1),
    "AbstractItemsAPI.get_abstract_versioned_relationships": (301, "2025-01-01T00:00:00.000+0000"),
    "ActivitiesAPI.get_activities": (2,),
    "ActivitiesAPI.get_activity": (1,),
    "ActivitiesAPI.get_activity_affected_items": (1,),
    "AttachmentsAPI.get_attachment": (107,),
    "AttachmentsAPI.get_attachment_lock": (107,),
    "AttachmentsAPI.get_attachment_version": (107, 1),
    "AttachmentsAPI.get_attachment_versions": (107,),
    "BaselinesAPI.get_baseline": (7,),
    "BaselinesAPI.get_baseline_versioned_item": (7, 103),
    "BaselinesAPI.get_baseline_versioned_item_relationships": (7, 103),
    "BaselinesAPI.get_baseline_versioned_items": (7,),
    "BaselinesAPI.get_baselines": (2,),
    "FiltersAPI.get_filter_results": (10, 2),
    "ItemTypesAPI.get_item_type": (24,),
    "ItemTypesAPI.get_item_types": (),
    "ItemsAPI.get_item": (1001,),
    "ItemsAPI.get_item_children": (100,),
    "ItemsAPI.get_item_lock": (103,),
    "ItemsAPI.get_item_tags": (1001,),
    "ItemsAPI.get_item_version": (301, 2),
    "ItemsAPI.get_item_versions": (301,),
    "ItemsAPI.get_item_workflow_transitions": (1001,),
    "ItemsAPI.get_items": (2,),
    "ItemsAPI.get_items_downstream_related": (1001,),
    "ItemsAPI.get_items_downstream_relationships": (1001,),
    "ItemsAPI.get_items_synceditems": (1001,),
    "ItemsAPI.get_items_synceditems_status": (1001, 301),
    "ItemsAPI.get_items_upstream_related": (103,),
    "ItemsAPI.get_items_upstream_relationships": (103,),
    "ItemsAPI.get_tagged_items": (9,),
    "ItemsAPI.get_versioned_item": (301, 1),
    "JamaClient.get_all": ("projects",),
    "JamaClient.get_page": ("projects", 0),
    "PickListOptionsAPI.get_pick_list_option": (293,),
    "PickListsAPI.get_pick_list": (61,),
    "PickListsAPI.get_pick_list_options": (61,),
    "PickListsAPI.get_pick_lists": (),
    "ProjectsAPI.get_project_by_id": (2,),
    "ProjectsAPI.get_projects": (),
    "ProjectsAPI.get_relationship_rule_set_projects": (3,),
    "RelationshipsAPI.get_all_lastid": ("relationships", {"project": 2}),
    "RelationshipsAPI.get_page_lastid": ("relationships", 0, {"project": 2}),
    "RelationshipsAPI.get_relationship": (1,),
    "RelationshipsAPI.get_relationship_rule_set": (3,),
    "RelationshipsAPI.get_relationship_rule_sets": (),
    "RelationshipsAPI.get_relationship_type": (4,),
    "RelationshipsAPI.get_relationship_types": (),
    "RelationshipsAPI.get_relationships": (2,),
    "ReleasesAPI.get_release": (75,),
    "ReleasesAPI.get_releases": (2,),
    "TagsAPI.get_tag": (9,),
    "TagsAPI.get_tag_items": (9,),
    "TagsAPI.get_tags": (2,),
    "TestCyclesAPI.get_test_cycle": (105,),
    "TestCyclesAPI.get_test_cycle_runs": (105,),
    "UsersAPI.get_current_user": (),
    "UsersAPI.get_current_user_favorite_filters": (),
    "UsersAPI.get_user": (15,),
    "UsersAPI.get_users": (),
}
COMMUNITY_CANNOT: dict[str, tuple[tuple[Any, ...], str]] = {
    # For administrators, and no source tells what it returns.
    "ActivitiesAPI.get_admin_activities": ((), "not found"),
    # It asks /files, which wants an address, with an id.
    "AttachmentsAPI.get_attachment_file": ((107,), "400"),
    # It asks .../versionedItem; the path is .../versioneditem.
    "AttachmentsAPI.get_attachment_version_item": ((107, 1), "not found"),
    # Younger than the specification, and no source tells what it returns.
    "BaselinesAPI.get_baseline_review_link": ((7,), "not found"),
    # It sends the client's id and secret as a user's name and password.
    "JamaClient.get_available_endpoints": ((), "credentials"),
}


@pytest.fixture(scope="module")
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(70)) as running:
        running.world.comment(1001, "<p>Seen.</p>")
        yield running
        assert running.writes == []


@pytest.fixture(scope="module")
def vendor(jama: JamaSimulator) -> Iterator[VendorClient]:
    client = VendorClient(jama.url, credentials=(jama.client_id, jama.client_secret), oauth=True)
    with client._JamaClient__core._Core__session:
        yield client


@pytest.fixture(scope="module")
def community(jama: JamaSimulator) -> Iterator[CommunityClient]:
    with CommunityClient(jama.url, credentials=(jama.client_id, jama.client_secret), oauth=True) as client:
        yield client


def gets_of(kind: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name.startswith("get_")]


def community_classes() -> dict[str, type]:
    modules = [
        importlib.import_module(f"py_jama_client.apis.{found.name}")
        for found in pkgutil.iter_modules(py_jama_client.apis.__path__)
    ]
    found = [kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)]
    return {kind.__name__: kind for kind in [CommunityClient, *found] if kind.__module__.startswith("py_jama_client")}


def community_call(client: CommunityClient, name: str) -> Any:
    kind, _, method = name.partition(".")
    return getattr(client if kind == "JamaClient" else community_classes()[kind](client), method)


def test_every_reading_call_is_in_the_tables() -> None:
    assert set(gets_of(VendorClient)) == VENDOR_CALLS.keys() | VENDOR_CANNOT.keys()
    calls = {f"{name}.{call}" for name, kind in community_classes().items() for call in gets_of(kind)}
    assert calls == COMMUNITY_CALLS.keys() | COMMUNITY_CANNOT.keys()


@pytest.mark.parametrize("name", VENDOR_CALLS)
def test_the_vendors_client_reads(vendor: VendorClient, name: str) -> None:
    assert getattr(vendor, name)(*VENDOR_CALLS[name])


@pytest.mark.parametrize("name", VENDOR_CANNOT)
def test_the_vendors_client_fails_as_in_life(vendor: VendorClient, name: str) -> None:
    arguments, message = VENDOR_CANNOT[name]
    with pytest.raises(VendorError, match=message):
        getattr(vendor, name)(*arguments)


@pytest.mark.parametrize("name", COMMUNITY_CALLS)
def test_the_communitys_client_reads(community: CommunityClient, name: str) -> None:
    assert community_call(community, name)(*COMMUNITY_CALLS[name]).data


@pytest.mark.parametrize("name", COMMUNITY_CANNOT)
def test_the_communitys_client_fails_as_in_life(community: CommunityClient, name: str) -> None:
    arguments, message = COMMUNITY_CANNOT[name]
    with pytest.raises(CommunityError, match=message):
        community_call(community, name)(*arguments)


def test_what_the_clients_read_is_complete(
    jama: JamaSimulator, vendor: VendorClient, community: CommunityClient
) -> None:
    assert len({row["id"] for row in vendor.get_items(2)}) == len(vendor.get_items(2)) == 74
    assert len(vendor.get_abstract_items(project=[2])) == 78
    assert vendor.get_abstract_items(contains=["volume step 70"])[0]["documentKey"] == "TNY-REQ-70"
    jama.faults.legacy_relationships = True
    assert len(vendor.get_relationships(2)) == 70
    jama.faults.legacy_relationships = False
    get_items = community_call(community, "ItemsAPI.get_items")
    items = get_items(2, params={"include": "data.itemType"}, allowed_results_per_page=50)
    assert len({row["id"] for row in items.data}) == len(items.data) == 74
    assert items.linked["itemtypes"]["24"]["display"] == "Requirement"
    get_relationships = community_call(community, "RelationshipsAPI.get_relationships")
    rows = get_relationships(2, allowed_results_per_page=50).data
    assert [row["id"] for row in rows] == list(range(1, 71))
