"""A tool as the MCP server publishes it: a schema of few words, strict arguments, a typed answer."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from reqall.core.errors import ReqallError
from reqall.core.protocols import SourceTool
from reqall.core.wording import did_you_mean, one_of
from reqall.serving.progress import Progress
from reqall.tools_sync import Report

_NAMED = ("properties", "$defs")
"""Keywords whose keys are names that a schema gives: `title` may be one of them."""


class PublishedTool(Tool):
    """A tool that refuses arguments which it does not know; the SDK's own would drop them in silence."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Check the arguments by name and value, then call. Raises ToolError in words, without the value."""
        known = self.parameters["properties"]
        if unknown := sorted(arguments.keys() - known.keys()):
            raise ToolError(
                f"{self.name} has no argument {unknown[0]!r}{did_you_mean(unknown[0], known)}; it has: {one_of(known)}"
            )
        try:
            return await super().run(arguments, context, convert_result=convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{self.name} was not called: {_in_words(error.__cause__)}") from error
            raise


def publish(tool: SourceTool) -> PublishedTool:
    """Wrap a tool's function for the SDK, which runs it in a thread."""
    published = PublishedTool.from_function(
        _callable(tool),
        name=tool.name,
        title=tool.title,
        description=tool.description,
        annotations=ToolAnnotations(
            read_only_hint=tool.toolset not in ("sync", "setup") or tool.name.startswith(("get_", "validate_")),
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=tool.toolset == "browse",
        ),
    )
    assert isinstance(published, PublishedTool)
    # Without `additionalProperties: false`, at which some hosts stop: the tool itself refuses what it does not know.
    published.parameters = _without(published.parameters, {"title"})
    if (answer := published.fn_metadata.output_schema) is not None:
        # What the fields mean stands in the reference; in a list of tools every word costs each conversation.
        published.fn_metadata.output_schema = _without(answer, {"title", "description", "default"})
    return published


def _callable(tool: SourceTool) -> Callable[..., CallToolResult]:
    """Return what the SDK calls: typed result beside a short text, our errors in words, all others hidden.

    A parameter `report` is given what sends progress to the client.
    """
    hints = get_type_hints(tool.call, include_extras=True)
    reports = hints.get("report") == Report

    def call(**arguments: Any) -> CallToolResult:
        if reports:
            arguments["report"] = Progress(arguments["report"])
        try:
            result = tool.call(**arguments)
        except ReqallError as error:
            raise ToolError(str(error)) from error
        text = TextContent(type="text", text=tool.summary(result))
        return CallToolResult(content=[text], structured_content=result.model_dump(mode="json"))

    if reports:
        hints["report"] = Context
    answer = Annotated[CallToolResult, hints["return"]]
    call.__name__ = tool.name
    call.__annotations__ = {**hints, "return": answer}
    signature = inspect.signature(tool.call)
    parameters = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters, return_annotation=answer)  # type: ignore[attr-defined]
    return call


def _in_words(error: ValidationError) -> str:
    """Say what is wrong with which argument; the value stays out, it may be a text of any length."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_input=False))


def _without(schema: Mapping[str, Any], keywords: set[str]) -> dict[str, Any]:
    """Copy a JSON Schema without some keywords, at every depth."""
    return {
        keyword: {name: _pruned(each, keywords) for name, each in value.items()}
        if keyword in _NAMED
        else _pruned(value, keywords)
        for keyword, value in schema.items()
        if keyword not in keywords
    }


def _pruned(value: Any, keywords: set[str]) -> Any:
    if isinstance(value, Mapping):
        return _without(value, keywords)
    return [_pruned(each, keywords) for each in value] if isinstance(value, list) else value
