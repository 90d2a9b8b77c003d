"""A published tool: plain schemas, strict arguments, errors in words."""

from typing import Annotated

import pytest
from mcp import Client
from mcp.server import MCPServer
from pydantic import BaseModel, Field

from reqall import InputError, SourceTool
from reqall.serving.published import publish
from reqall.tools_sync import Id

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Row(BaseModel):
    title: str = Field(description="A property that has a keyword's name")


class Answer(BaseModel):
    rows: list[Row] = Field(default_factory=list, description="Told in the reference")
    title: str = ""


def find(
    title: Annotated[Id, Field(description="What to find")], top_k: Annotated[int, Field(description="How many")] = 3
) -> Answer:
    if title == "mistake":
        raise InputError("there is no mistake", "name another")
    if title == "crash":
        raise RuntimeError("the password is 12345")
    return Answer(rows=[Row(title=title)] * top_k)


TOOL = publish(SourceTool("find_x", "Find", "Finds.", find, lambda answer: f"{len(answer.rows)} rows", "search"))


async def call(**arguments):
    async with Client(MCPServer("x", tools=[TOOL])) as client:
        result = await client.call_tool("find_x", arguments)
    return result.is_error, result.content[0].text, result.structured_content


async def test_an_answer_is_typed_and_has_a_short_text():
    assert await call(title=51, top_k="2") == (False, "2 rows", {"rows": [{"title": "51"}] * 2, "title": ""})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"title": "a", "topk": 3}, "find_x has no argument 'topk'; did you mean 'top_k'?; it has: title, top_k"),
        ({"title": "a", "context": {}}, "find_x has no argument 'context'; it has: title, top_k"),
        ({}, "find_x was not called: title: Field required"),
        ({"title": "a", "top_k": "many of the secret things"}, "find_x was not called: top_k: Input should be a valid"),
        ({"title": "mistake"}, "there is no mistake"),
        ({"title": "crash"}, "Error executing tool find_x"),
    ],
)
async def test_a_mistake_is_told_in_words_without_the_value(arguments, told):
    is_error, text, content = await call(**arguments)
    assert is_error
    assert content is None
    assert told in text
    for hidden in ("secret", "password", "pydantic.dev", "Traceback"):
        assert hidden not in text


def test_schemas_have_no_words_that_tell_nothing():
    assert TOOL.parameters == {
        "type": "object",
        "properties": {
            "title": {"description": "What to find", "type": "string"},
            "top_k": {"description": "How many", "type": "integer", "default": 3},
        },
        "required": ["title"],
    }
    assert TOOL.output_schema == {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}, "title": {"type": "string"}},
        "$defs": {"Row": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}},
    }
