"""Clients written by others, against real Jamas, read the simulator without a change."""

from collections.abc import Iterator

import pytest
from py_jama_client.apis.abstract_items_api import AbstractItemsAPI
from py_jama_client.apis.item_types_api import ItemTypesAPI
from py_jama_client.apis.items_api import ItemsAPI
from py_jama_client.apis.projects_api import ProjectsAPI
from py_jama_client.apis.relationships_api import RelationshipsAPI
from py_jama_client.client import JamaClient as CommunityClient
from py_jama_rest_client.client import APIClientException
from py_jama_rest_client.client import JamaClient as VendorClient

from reqall.testing.jama_simulator import JamaSimulator, tiny_project


@pytest.fixture(scope="module")
def jama() -> Iterator[JamaSimulator]:
    with JamaSimulator(project=tiny_project(70)) as running:
        yield running


def test_the_vendors_client(jama: JamaSimulator) -> None:
    client = VendorClient(jama.url, credentials=(jama.client_id, jama.client_secret), oauth=True)
    session = client._JamaClient__core._Core__session
    with session:
        assert {row["id"] for row in client.get_projects()} == set(jama.world.collections["projects"])
        assert len(client.get_item_types()) == len(jama.world.collections["itemtypes"])
        assert len(client.get_items(2)) == len({row["id"] for row in client.get_items(2)}) == 74
        assert len(client.get_abstract_items(project=[2])) == 78
        assert client.get_abstract_items(contains=["volume step 70"])[0]["documentKey"] == "TNY-REQ-70"
        assert client.get_item(1001)["fields"]["name"] == "Volume step 1"
        assert [row["id"] for row in client.get_item_children(100)] == [101, 103]
        assert client.get_current_user()["username"] == "ada"
        assert client.get_testruns(105)[0]["id"] == 106
        assert client.get_available_endpoints()
        with pytest.raises(APIClientException, match="lastId parameter is now required"):
            client.get_relationships(2)
        jama.faults.legacy_relationships = True
        assert len(client.get_relationships(2)) == 70
        jama.faults.legacy_relationships = False


def test_the_communitys_client(jama: JamaSimulator) -> None:
    with CommunityClient(jama.url, credentials=(jama.client_id, jama.client_secret), oauth=True) as client:
        assert {row["id"] for row in ProjectsAPI(client).get_projects().data} == set(jama.world.collections["projects"])
        assert len(ItemTypesAPI(client).get_item_types().data) == len(jama.world.collections["itemtypes"])
        items = ItemsAPI(client).get_items(2, params={"include": "data.itemType"}, allowed_results_per_page=50)
        assert len({row["id"] for row in items.data}) == len(items.data) == 74
        assert items.linked["itemtypes"]["24"]["display"] == "Requirement"
        assert len(AbstractItemsAPI(client).get_abstract_items(params={"project": 2}).data) == 78
        relationships = RelationshipsAPI(client).get_relationships(2, allowed_results_per_page=50)
        assert [row["id"] for row in relationships.data] == sorted(jama.world.collections["relationships"])
    assert jama.writes == []
