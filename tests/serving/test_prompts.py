"""Prompts and what completes their arguments, through a client."""

import re

import pytest
from mcp import Client
from mcp.types import PromptReference

from reqall.app import PACKAGED, App, Overrides
from reqall.core.environment import Environment
from reqall.server import build
from reqall.serving.toolsets import Selection

pytestmark = pytest.mark.anyio

ARGUMENTS = {"project_id": "AIP", "item": "AIP-SYSR-12", "change": "the limit is 3 s", "item_type": "Test Case"}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def app(home, tmp_path):
    app = App(Overrides(config=str(PACKAGED)), Environment(home, tmp_path / ".env"))
    yield app
    app.close()


async def test_each_prompt_names_tools_that_exist(app):
    async with Client(build(app)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        listed = (await client.list_prompts()).prompts
        assert {prompt.name for prompt in listed} == {
            "impact_of_jama_change",
            "coverage_of_jama_item",
            "review_jama_item",
        }
        for prompt in listed:
            given = {argument.name: ARGUMENTS[argument.name] for argument in prompt.arguments}
            assert all(argument.description for argument in prompt.arguments)
            (message,) = (await client.get_prompt(prompt.name, given)).messages
            named = set(re.findall(r"\b\w+_jama_\w+", message.content.text))
            assert named <= tools
            assert all(value in message.content.text for value in given.values())


async def test_without_search_there_are_no_prompts(app):
    async with Client(build(app, Selection(["sync"]))) as client:
        assert (await client.list_prompts()).prompts == []


@pytest.mark.parametrize(
    ("argument", "begun", "given", "completed"),
    [
        ("project_id", "a", {}, ["AIP", "ADS"]),
        ("project_id", "ds", {}, ["ADS"]),
        ("item_type", "test", {"project_id": "AIP"}, ["Test Case"]),
        ("item_type", "test", {"project_id": "NOPE"}, []),
        ("item", "AIP", {}, []),
    ],
)
async def test_arguments_are_completed_from_the_catalog(app, argument, begun, given, completed):
    async with Client(build(app)) as client:
        reference = PromptReference(name="review_jama_item")
        found = await client.complete(reference, {"name": argument, "value": begun}, given)
    assert found.completion.values[: len(completed)] == completed
    assert len(found.completion.values) == len(completed) or argument == "item_type"
