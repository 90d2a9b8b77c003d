"""Near-duplicates and missing links as a stock MCP client meets them."""

import json
import sys

import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.anyio

MOST_CHARACTERS = 5600
"""Both tools in the answer of tools/list: some 1,400 tokens."""


@pytest.fixture
def anyio_backend():
    return "asyncio"


def server(settings):
    return StdioServerParameters(command=sys.executable, args=["-m", "reqall.server"], env=settings)


async def test_a_client_finds_near_duplicates_and_missing_links(home):
    async with Client(server(home)) as client:
        found = await client.call_tool("find_similar_jama_items", {"project_id": 51, "item_id": "AIP-TSTRN-8"})
        assert [each["document_key"] for each in found.structured_content["results"]] == ["AIP-TSTRN-14", "AIP-TC-10"]
        number = int(found.structured_content["results"][0]["document_id"])
        text = found.content[0].text
        assert "AIP-TSTRN-14" in text
        assert "14 -> 15" in text
        back = await client.call_tool("find_similar_jama_items", {"project_id": "AIP", "item_id": number, "top_k": 1})
        assert [each["document_key"] for each in back.structured_content["results"]] == ["AIP-TSTRN-8"]

        arguments = {"project_id": "AIP", "item_id": "AIP-SYSR-12", "item_type": "Test Case"}
        found = await client.call_tool("suggest_jama_links", arguments)
        assert not found.is_error
        results = found.structured_content["results"]
        assert "AIP-TC-7" in [each["document_key"] for each in results]
        assert "AIP-TC-9" not in [each["document_key"] for each in results]
        assert {each["direction"] for each in results} == {"downstream"}
        assert "AIP-TC-9" in found.content[0].text.split("suggested:")[0]


async def test_a_client_is_told_what_to_do(home):
    async with Client(server(home)) as client:
        for tool in ("find_similar_jama_items", "suggest_jama_links"):
            for arguments, told in (
                ({"project_id": "AIP", "item_id": "AIP-TC-99"}, "no item 'AIP-TC-99'"),
                ({"project_id": "NOPE", "item_id": 1}, "init_jama_project"),
                ({"project_id": "AIP", "item_id": "AIP-TC-1", "top_k": 0}, "top_k goes from 1 to 50"),
            ):
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                assert told in result.content[0].text


async def test_both_tools_are_short_and_flat(home):
    async with Client(server(home)) as client:
        tools = [t for t in (await client.list_tools()).tools if "similar" in t.name or "suggest" in t.name]
        assert len(tools) == 2
        assert sum(len(json.dumps(t.model_dump(exclude_none=True, by_alias=True))) for t in tools) < MOST_CHARACTERS
        for tool in tools:
            (row,) = tool.output_schema["$defs"].values()
            assert "$ref" not in json.dumps(row)
